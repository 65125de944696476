"""Small files from outside, text and tables of numbers: read as they stand or refused, whatever a
parser would make of them."""

from __future__ import annotations

import io
import os
import stat
import tokenize
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from rai_sim.support.wording import count, quoted

#: How much text is read, in bytes.
MOST_TEXT = 2**30


@dataclass(frozen=True)
class _Inputs:
    """What was read: regular files, and the content of those that give it once, such as pipes."""

    files: list[os.stat_result] = field(default_factory=list)
    given_once: dict[tuple[int, int], bytes] = field(default_factory=dict)


_INPUTS: ContextVar[_Inputs | None] = ContextVar("inputs", default=None)


@contextmanager
def inputs_noted() -> Iterator[None]:
    """Note which files are read meanwhile, for `was_read`, and keep what a pipe gave, which may be
    read again then.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = path.write_text("gaps")
    >>> with inputs_noted():
    ...     text = read_text(path)
    ...     was_read(path), was_read(path.with_name("b.txt"))
    (True, False)
    """
    if _INPUTS.get() is not None:  # whoever asked first needs all
        yield
        return
    token = _INPUTS.set(_Inputs())
    try:
        yield
    finally:
        _INPUTS.reset(token)


def was_read(path: Path) -> bool:
    """Return whether a name, its links followed, stands for a file that was read under
    `inputs_noted`."""
    inputs = _INPUTS.get()
    if inputs is None:
        return False
    try:
        there = os.stat(path)
    except (OSError, ValueError):  # ValueError: a name with a null byte
        return False
    return any(os.path.samestat(there, one) for one in inputs.files)


@contextmanager
def _opened(path: Path, most: int) -> Iterator[BinaryIO]:
    """Open a file, noted; of what is no regular one `most` bytes and one more can be read."""
    inputs = _INPUTS.get()
    # looked at first: to open a pipe that was read to its end would wait for another writer
    found = os.stat(path)
    if inputs is None or stat.S_ISREG(found.st_mode):
        if inputs is not None:
            inputs.files.append(found)
        with open(path, "rb") as file:
            yield file
        return
    which = found.st_dev, found.st_ino
    if which not in inputs.given_once:
        with open(path, "rb") as file:
            inputs.given_once[which] = file.read(most + 1)
    yield io.BytesIO(inputs.given_once[which])


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
    with _opened(path, most) as file:  # bounded, for a name may be that of a device without end
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
    text = read_text(path).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lines = {
        number: line
        for number, line in enumerate(text, 1)
        if line.strip() and not line.lstrip().startswith("#")
    }
    if not lines:
        raise ValueError("it is empty")
    between = "," if any("," in line for line in lines.values()) else None
    try:
        table = np.loadtxt([*lines.values()], delimiter=between, comments=None, ndmin=2)
    except ValueError as error:
        raise ValueError(_flaw_of(lines, between) or str(error)) from None
    return table[:, 0] if table.shape[1] == 1 else table


def is_number(cell: str) -> bool:
    """Return whether a text is a number, NaN and infinities included.

    Examples
    --------
    >>> is_number(" 1e-3"), is_number("0,5"), is_number("1_0")
    (True, False, False)
    """
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # Python takes 0_9 for 9


def _flaw_of(lines: dict[int, str], between: str | None) -> str:
    """Return what is wrong with lines of numbers, "" if nothing is found."""
    first, widths = next(iter(lines)), {}
    for number, line in lines.items():
        cells = line.split(between)
        widths[number] = len(cells)
        for cell in cells:
            if not is_number(cell):
                return f"line {number:,} holds {quoted(cell.strip(' '))}, which is no number"
        if widths[number] != widths[first]:
            return (
                f"line {number:,} holds {count(widths[number], 'number')}, "
                f"line {first:,} {widths[first]:,}"
            )
    return ""


def _in_words(flaw: str) -> str:
    """Return what NumPy says of a .npy file, without its arguments, which nobody can pass here."""
    if flaw.startswith("Object arrays"):
        return "it holds values of type object, which are no real numbers"
    if "allow_pickle" in flaw or "max_header_size" in flaw:
        return "its header is longer than that of any array of numbers"
    return flaw


def _stored_array(path: Path) -> NDArray[np.float64]:
    with _opened(path, MOST_TEXT) as file:
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
        except ValueError as error:
            raise ValueError(_in_words(str(error))) from None
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
