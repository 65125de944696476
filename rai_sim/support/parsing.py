"""From text that someone wrote to numbers and arrays; whoever calls names the option or key it came
from.

Every function raises `BadInput` with the text, what is wrong with it, and the remedy.
"""

from __future__ import annotations

import contextlib
import difflib
import os
from collections.abc import Callable, Iterable
from decimal import Decimal
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rai_sim.support.errors import BadInput
from rai_sim.support.files import remedy_of
from rai_sim.support.reading import is_number, read_array
from rai_sim.support.wording import shortened

#: Longer integers are no numbers of anything.
_MOST_DIGITS = 700
_MOST_NEAR = 3
#: Arguments of reward laws that are tables; all other arrays of numbers are rows.
_TABLES = ("probabilities", "rewards")
_FILE_REMEDY = (
    "give a text file with one number a line or comma-separated rows, or a .npy file of numbers"
)


def seen(text: str) -> str:
    """Return a text as it was given, in quotes where it would not be seen.

    Examples
    --------
    >>> seen("vanila"), seen(" ")
    ('vanila', "' '")
    """
    return text if text.strip() else repr(text)


def near(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean ...?` with the known names that were probably meant, or `;` alone.

    The lone `;` is for what follows. Case and leading hyphens do not count; a name that begins
    like the given one is nearer than one that is merely alike.

    Examples
    --------
    >>> near("--reps", ["--replications", "--help"])
    '; did you mean --replications?'
    >>> near("RUN", ["run", "study"]), near("xyz", ["run", "study"])
    ('; did you mean run?', ';')
    """
    spoken = {word: word.strip("-").lower() for word in known}
    wanted = name.strip().strip("-").lower()
    if not wanted:
        return ";"
    found = [word for word, plain in spoken.items() if plain == wanted]
    if not found and len(wanted) > 1:
        found = [word for word, plain in spoken.items() if plain.startswith(wanted)]
    alike = difflib.get_close_matches(wanted, spoken.values(), _MOST_NEAR, 0.6)
    if not found and len(wanted) > 2:
        # Shortened in another way than by its end, as --reps for --replications.
        found = [word for word, plain in spoken.items() if plain.startswith(wanted[:3])]
    found = found or [word for plain in alike for word in spoken if spoken[word] == plain]
    return f"; did you mean {' or '.join(dict.fromkeys(found[:_MOST_NEAR]))}?" if found else ";"


def real_number(text: str | float) -> float:
    """Return a number.

    Examples
    --------
    >>> real_number("1e-2")
    0.01
    """
    try:
        return float(text)
    except ValueError:
        raise BadInput(f"{text!r} is not a number; give one such as 0.01") from None


def whole_number(text: str | int) -> int:
    """Return an integer, also from 1e6.

    Examples
    --------
    >>> whole_number("1e6"), whole_number("9007199254740993.0")
    (1000000, 9007199254740993)
    """
    try:
        return int(text)
    except ValueError:
        pass
    with contextlib.suppress(ArithmeticError):
        value = Decimal(text)  # exact, where a double would round 9007199254740993.0
        if value.is_finite() and value.adjusted() < _MOST_DIGITS and value == int(value):
            return int(value)
    raise BadInput(f"{text!r} is not an integer; give one such as 1000")


def parse_scalar(text: str) -> float:
    """Return one number.

    Examples
    --------
    >>> parse_scalar("0.5")
    0.5
    """
    return _number(text, text, "give one number such as 0.5")


def file_of(text: str) -> Path | None:
    """Return the file that a text names instead of numbers: one after @, or a .csv or .npy file.

    Examples
    --------
    >>> str(file_of("@means.txt")), str(file_of("means.csv")), file_of("0.9,0.5")
    ('means.txt', 'means.csv', None)
    """
    named = text.startswith("@") or text.lower().endswith((".csv", ".npy"))
    return Path(text.removeprefix("@")) if named else None


def parse_array(text: str) -> NDArray[np.float64]:
    """Return the numbers of a text or of the file that it names (`file_of`).

    One-dimensional for 0.9,0.5 and for a file with one number a line; two-dimensional if there is
    a semicolon and for a file with several numbers a line; .npy as stored. A semicolon at the end
    makes a single row a table: "0.2,0.8;".

    Examples
    --------
    >>> parse_array("0.9,0.5").tolist(), parse_array("0.2,0.8;1,0").tolist()
    ([0.9, 0.5], [[0.2, 0.8], [1.0, 0.0]])
    """
    file = file_of(text)
    if file is not None:
        return _read_array(file)
    remedy = "separate numbers by commas, rows by semicolons, or write @FILE"
    if not text.strip():
        raise BadInput(f"{text!r} is empty; give numbers: {remedy}")
    if os.path.isfile(text):  # of a text too long for a name, it is False
        remedy = f"write @{text} to have that file read"
    rows = text.rstrip().removesuffix(";").split(";")
    table = [[_number(text, entry.strip(), remedy) for entry in row.split(",")] for row in rows]
    if len({len(row) for row in table}) > 1:
        lengths = ", ".join(str(len(row)) for row in table)
        raise BadInput(f"{shortened(text)} has rows of {lengths} numbers; give every row as many")
    return np.array(table if ";" in text else table[0], dtype=np.float64)


def parse_row(text: str) -> NDArray[np.float64]:
    """Return the numbers of a text, or of an @FILE with one row or one column: one-dimensional.

    Examples
    --------
    >>> parse_row("0.9,0.5").tolist(), parse_row("0.9;0.5").tolist()
    ([0.9, 0.5], [0.9, 0.5])
    """
    return _one_row(text, "numbers, such as 0.9,0.5")


def reader_of(argument: str) -> Callable[[str], NDArray[np.float64]]:
    """Return what reads an array that a reward law is made from: a table, or one row.

    Examples
    --------
    >>> reader_of("probabilities")("1,0;0.5,0.5").shape, reader_of("means")("0.9;0.5").shape
    ((2, 2), (2,))
    """
    return parse_array if argument in _TABLES else parse_row


def parse_integers(text: str) -> tuple[int, ...]:
    """Return the integers of a text such as 3,5,2 or of an @FILE with one row or one column.

    Examples
    --------
    >>> parse_integers("3,5,2")
    (3, 5, 2)
    """
    values = _one_row(text, "integers, such as 3,5,2")
    wrong = np.flatnonzero(~np.isfinite(values) | (values != np.floor(values)))
    if wrong.size:
        raise BadInput(
            f"{shortened(text)} holds {values[wrong[0]]:g}; "
            "give integers separated by commas, such as 3,5,2"
        )
    return tuple(int(value) for value in values)


def _one_row(text: str, what: str) -> NDArray[np.float64]:
    """Return the numbers of one row or one column; more of them would be run together."""
    table = parse_array(text)
    if table.size != max(table.shape, default=1):
        file = file_of(text) is not None
        raise BadInput(
            f"{shortened(text)} is a table of shape {table.shape}; give one row of {what}"
            + (", or a file with one number a line, with decimal points" if file else "")
        )
    return table.ravel()


def _read_array(path: Path) -> NDArray[np.float64]:
    remedy = _FILE_REMEDY
    try:
        return read_array(path)
    except OSError as error:
        why, remedy = f"cannot be read: {error.strerror or error}", remedy_of(error) or remedy
    except ValueError as error:
        why = f"cannot be used: {str(error).rstrip('.')}"
    raise BadInput(f"{path} {why}; {remedy}")


def _number(text: str, entry: str, remedy: str) -> float:
    if not is_number(entry):
        raise BadInput(f"{shortened(text)} holds {entry!r}, which is not a number; {remedy}")
    return float(entry)
