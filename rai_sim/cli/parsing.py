"""From the text of a command-line option to numbers, arrays and algorithms."""

from __future__ import annotations

import contextlib
import difflib
import os
import re
from dataclasses import MISSING, fields
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray

from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.arms.base import LAWS
from rai_sim.cli.parser import near
from rai_sim.support.reading import read_array

_BOOLEANS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
#: Kinds of files that figures are written as.
KINDS = ("png", "svg", "pdf")
#: Longer integers are no numbers of anything.
_MOST_DIGITS = 700
_FILE_REMEDY = "give a text file with one number a line or comma-separated rows, or a .npy file of numbers"


class BadInput(ValueError):
    """An option that cannot be used; the message names option, value and remedy."""


def flag(name: str) -> str:
    """Return the option of an argument's name."""
    return f"--{name.replace('_', '-')}"


def check_file(path: Path, option: str) -> None:
    """Refuse a file's name that cannot be written to."""
    if path.is_dir():
        raise BadInput(f"{option} {path} is a folder; give the name of a file")
    check_parent(path, option)


def check_folder(path: Path, option: str) -> None:
    """Refuse a name under which no folder is or can be made."""
    if path.exists() and not path.is_dir():
        raise BadInput(f"{option} {path} is a file; give a folder")
    check_parent(path, option)


def check_parent(path: Path, option: str) -> None:
    """Refuse a name in a folder that is not there, and a link, which is followed, into one."""
    for place in (path, Path(os.path.realpath(path))):
        if not place.parent.is_dir():
            raise BadInput(f"{option} {path}: there is no folder {place.parent}; make it first")


def check_law(text: str) -> str:
    """Return the name of a reward law, in lower case."""
    law = text.strip().lower()
    if law not in LAWS:
        raise BadInput(f"--law {seen(text)} is no reward law{near(law, LAWS)} choose one of {', '.join(LAWS)}")
    return law


def seen(text: str) -> str:
    """Return a text as it was given, in quotes where it would not be seen."""
    return text if text.strip() else repr(text)


def path_name(text: str | Path) -> Path:
    """Return an option's file or folder; whoever calls this names the option."""
    if not str(text).strip():
        raise typer.BadParameter(f"{str(text)!r} is no name; give that of a file or folder")
    return Path(text)


def near_file(path: Path, *suffixes: str) -> str:
    """Return `; did you mean ...?` with a file or folder of that name that ends in one of the suffixes, or `;`."""
    found = [name for suffix in suffixes if (name := path.with_name(path.name + suffix)).exists()]
    if not found and path.parent.is_dir():
        there = [name for name in os.listdir(path.parent) if name.endswith(suffixes)]
        found = [path.with_name(name) for name in difflib.get_close_matches(path.name, there, 1, 0.8)]
    return f"; did you mean {found[0]}?" if found else ";"


def real_number(text: str | float) -> float:
    """Return an option's number; whoever calls this names the option."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number; give one such as 0.01") from None


def whole_number(text: str | int) -> int:
    """Return an option's integer, also from 1e6; whoever calls this names the option."""
    try:
        return int(text)
    except ValueError:
        pass
    with contextlib.suppress(ArithmeticError):
        value = Decimal(text)  # exact, where a double would round 9007199254740993.0
        if value.is_finite() and value.adjusted() < _MOST_DIGITS and value == int(value):
            return int(value)
    raise typer.BadParameter(f"{text!r} is not an integer; give one such as 1000")


def parse_scalar(name: str, text: str) -> float:
    """Return a number."""
    return _number(name, text, text, "give one number such as 0.5")


def parse_array(name: str, text: str) -> NDArray[np.float64]:
    """Return the numbers of a text or of an @FILE (a name that ends in .csv or .npy needs no @).

    One-dimensional for 0.9,0.5 and for a file with one number a line; two-dimensional if there is a semicolon
    and for a file with several numbers a line; .npy as stored. A semicolon at the end makes a single row a
    table: "0.2,0.8;".
    """
    if text.startswith("@") or text.lower().endswith((".csv", ".npy")):
        return _read_array(name, Path(text.removeprefix("@")))
    remedy = "separate numbers by commas, rows by semicolons, or write @FILE"
    if not text.strip():
        raise BadInput(f"{flag(name)} {text!r} is empty; give numbers: {remedy}")
    if os.path.isfile(text):  # of a text too long for a name, it is False
        remedy = f"write @{text} to have that file read"
    rows = text.rstrip().removesuffix(";").split(";")
    table = [[_number(name, text, entry.strip(), remedy) for entry in row.split(",")] for row in rows]
    if len({len(row) for row in table}) > 1:
        lengths = ", ".join(str(len(row)) for row in table)
        raise BadInput(f"{flag(name)} {_short(text)} has rows of {lengths} numbers; give every row as many")
    return np.array(table if ";" in text else table[0], dtype=np.float64)


def _read_array(name: str, path: Path) -> NDArray[np.float64]:
    try:
        return read_array(path)
    except OSError as error:
        why = f"cannot be read: {error.strerror or error}"
    except ValueError as error:
        why = f"cannot be used: {str(error).rstrip('.')}"
    raise BadInput(f"{flag(name)} {path} {why}; {_FILE_REMEDY}")


def parse_integers(name: str, text: str) -> tuple[int, ...]:
    """Return the integers of a text such as 3,5,2 or of an @FILE with one row or one column."""
    table = parse_array(name, text)
    values = table.ravel()
    if values.size != max(table.shape, default=1):
        raise BadInput(f"{flag(name)} {_short(text)} is a table of shape {table.shape}; give one row of integers, one a cluster")
    wrong = np.flatnonzero(~np.isfinite(values) | (values != np.floor(values)))
    if wrong.size:
        raise BadInput(f"{flag(name)} {_short(text)} holds {values[wrong[0]]:g}; "
                       "give integers separated by commas, one a cluster")
    return tuple(int(value) for value in values)


def _number(name: str, text: str, entry: str, remedy: str) -> float:
    try:
        if "_" in entry:  # Python takes 0_9 for 9
            raise ValueError
        return float(entry)
    except ValueError:
        where = f"{flag(name)} {_short(text)}"
        raise BadInput(f"{where} holds {entry!r}, which is not a number; {remedy}") from None


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def parse_algorithm(text: str) -> Algorithm:
    """Return the algorithm of a text such as `vanilla` or `vanilla:merging=false`; commas separate options.

    Names and options come from the registry and the dataclass fields: new algorithms need no change here.
    """
    name, _, options = text.partition(":")
    cls = ALGORITHMS.get(name.strip().lower())
    if cls is None:
        several = ", ".join(part for part in re.split(r"[,;\s]+", text.lower()) if part in ALGORITHMS)
        hint = "; name one at a time" if "," in several else near(name, ALGORITHMS)
        raise BadInput(f"--algorithm {seen(text)} is no algorithm; known are {describe_algorithms()}{hint.rstrip(';')}")
    # Every algorithm is a dataclass, though its base is not.
    defaults = {field.name: field.default for field in fields(cls)}  # type: ignore[arg-type]
    values = {}
    for option in filter(None, options.split(",")):
        key, given, value = option.partition("=")
        key = key.strip().replace("-", "_")
        if key not in defaults or not given:
            what = f"{key} has no value" if key in defaults else f"there is no option {key!r}"
            raise BadInput(f"--algorithm {text}: {what}; write {describe_algorithms(name)}")
        values[key] = _option_value(text, key, value.strip(), defaults[key])
    return cls(**values)


def _option_value(text: str, key: str, value: str, default: Any) -> Any:
    """Return a value of the type that the field's default has; fields without default take text."""
    kind = str if default is MISSING else type(default)
    try:
        return _BOOLEANS[value.lower()] if kind is bool else kind(value)
    except (KeyError, ValueError):
        words = "true or false" if kind is bool else f"a value of type {kind.__name__}"
        raise BadInput(f"--algorithm {text}: {key} is {value!r}; give {words}") from None


def describe_algorithms(only: str | None = None) -> str:
    """Return the registered algorithms with options and defaults, as they are written on the command line."""
    words = []
    for name, cls in ALGORITHMS.items():
        if only is None or name == only.strip().lower():
            described = (
                f"{field.name}={'...' if field.default is MISSING else str(field.default).lower()}"
                for field in fields(cls)  # type: ignore[arg-type]
            )
            words.append(f"{name}:{','.join(described)}".rstrip(":"))
    return ", ".join(words)
