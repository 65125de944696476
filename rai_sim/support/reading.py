"""Small files from outside, text and tables of numbers: read as they stand or refused, whatever a
parser would make of them."""

from __future__ import annotations

import tokenize
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

#: How much text is read, in bytes.
MOST_TEXT = 2**30


def read_text(path: Path, most: int = MOST_TEXT) -> str:
    """Return the text of a file in UTF-8, without a byte order mark; line ends stay as they are.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is not in UTF-8, or holds more than `most` bytes.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = path.write_bytes(b"\\xef\\xbb\\xbfgaps")
    >>> read_text(path)
    'gaps'
    """
    with open(path, "rb") as file:  # bounded, for a name may be that of a device without end
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"it holds more than {most:,} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"it is no text in UTF-8: byte {data[error.start]:#04x} at {error.start:,}"
        ) from None


def read_array(path: Path) -> NDArray[np.float64]:
    """Return the numbers of a text file, or of a .npy file as stored.

    A text file has one number a line, which makes it one-dimensional, or rows of as many numbers,
    separated by commas if there is one and else by white space. Empty lines and lines that begin
    with # are passed over.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it holds anything but real numbers, rows of different lengths, nothing, or more than a
        .npy file says it does.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "means.csv"
    >>> _ = path.write_text("# sorted\\n0.9, 0.5\\n0.8, 0.25\\n")
    >>> read_array(path)
    array([[0.9 , 0.5 ],
           [0.8 , 0.25]])
    """
    return _stored_array(path) if path.suffix.lower() == ".npy" else _typed_array(path)


def _typed_array(path: Path) -> NDArray[np.float64]:
    # Comments are taken out beforehand: what follows a # within a line would be dropped in silence.
    lines = read_text(path).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lines = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        raise ValueError("it is empty")
    comma = any("," in line for line in lines)
    table = np.loadtxt(lines, delimiter="," if comma else None, comments=None, ndmin=2)
    return table[:, 0] if table.shape[1] == 1 else table


def _stored_array(path: Path) -> NDArray[np.float64]:
    with open(path, "rb") as file:
        try:
            array = np.lib.format.read_array(file, allow_pickle=False)
        except (
            TypeError,
            EOFError,
            SyntaxError,
            RecursionError,
            OverflowError,
            tokenize.TokenError,
        ) as error:
            raise ValueError(f"its header is damaged: {error}") from None
        except MemoryError:
            raise ValueError("its header tells of more numbers than memory holds") from None
        if file.read(1):
            raise ValueError(
                "it holds more bytes than its header says, which is an array of shape "
                f"{array.shape}"
            )
    if array.dtype.kind not in "biuf":  # text, dates and complex numbers would be converted
        raise ValueError(f"it holds values of type {array.dtype}, which are no real numbers")
    # a number beyond doubles becomes infinite, which every law refuses
    with np.errstate(over="ignore"):
        return array.astype(np.float64)
