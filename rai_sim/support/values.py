"""Numbers and texts from outside: read exactly (a real number to the nearest double) or refused,
never by a conversion's default.

NumPy's and Python's conversions take more than they should: the number under a mask, text as a
number, dates as days, True as 1. What is accepted is decided here, on the way in; what it must lie
between is said where it is used.
"""

from __future__ import annotations

import math
import numbers
import operator
import os
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError
from rai_sim.support.wording import short as short

#: What stands for a sequence of bytes or characters, not of numbers or texts.
_TEXTS = (str, bytes, bytearray)
#: Numbers of the kinds that doubles stand for: truth values, integers, floats.
_REAL_KINDS = "biuf"


def is_integer_type(kind: type) -> bool:
    """Whether values of a type are integers: no truth values, and no time spans, which NumPy counts
    among integers."""
    return issubclass(kind, int | np.integer) and not issubclass(kind, bool | np.timedelta64)


def _is_real_type(kind: type) -> bool:
    return issubclass(kind, numbers.Real | Decimal) and not issubclass(kind, np.timedelta64)


def real(name: str, value: object, what: str = "a number") -> float:
    """Return the double nearest to a real number; NaN and infinities pass, as does a number beyond
    all doubles, as an infinity.

    Raises
    ------
    TypeError
        If it is no real number: a truth value, a text, a complex number, a time span, an array.

    Examples
    --------
    >>> from fractions import Fraction
    >>> real("sd", Fraction(1, 4)), real("sd", np.float32(0.5)), real("sd", 10**400)
    (0.25, 0.5, inf)
    """
    if not _is_real_type(type(value)) or isinstance(value, bool):
        raise ArgumentTypeError(name, f"{name} must be {what}; got {short.repr(value)}")
    number: Any = value
    try:
        with np.errstate(over="ignore"):
            return float(number)
    except OverflowError:
        return math.copysign(math.inf, 1 if number > 0 else -1)
    except ValueError:  # a decimal's signalling NaN
        return math.nan


def integer(name: str, value: object) -> int:
    """Return an integer, or raise TypeError.

    Examples
    --------
    >>> integer("seed", np.uint64(7))
    7
    """
    if isinstance(value, bool | np.bool_) or is_masked(value):
        raise ArgumentTypeError(name, f"{name} must be an integer; got {short.repr(value)}")
    try:
        return int(operator.index(value))  # type: ignore[arg-type]  # what is no integer raises
    except TypeError:
        raise ArgumentTypeError(
            name,
            f"{name} must be an integer; got {short.repr(value)}{written_whole(value)}",
        ) from None


def written_whole(value: object) -> str:
    """Return how to write a whole number that is no integer, as 1e3 is none; nothing for everything
    else.

    Examples
    --------
    >>> written_whole(1e3), written_whole(0.5)
    ('; write 1000', '')
    """
    number = float(value) if isinstance(value, (float, np.floating)) else 0.5
    return f"; write {int(number)}" if number.is_integer() and abs(number) <= 1 << 62 else ""


def integers(
    name: str, value: object, each: str = "one integer a cluster, such as (3, 5, 2)"
) -> tuple[int, ...]:
    """Return the integers of a sequence or array.

    Raises
    ------
    TypeError
        If it is no one-dimensional sequence, or holds something else: floats, truth values, texts,
        dates, masked entries.

    Examples
    --------
    >>> integers("clusters", np.array([1, 2], np.uint8))
    (1, 2)
    """
    if not isinstance(value, Sequence | np.ndarray) and hasattr(value, "__array__"):
        value = np.asarray(value)  # a column of a frame
    if is_masked(value):
        raise ArgumentTypeError(
            name,
            f"{name} is {short.repr(value)}, which holds a masked entry; leave it out or fill it "
            "in",
        )
    items: Any = (
        value.tolist()
        if isinstance(value, np.ndarray) and value.ndim and value.dtype.kind not in "mM"
        else value
    )
    if not isinstance(items, Sequence) or isinstance(items, _TEXTS):
        raise ArgumentTypeError(
            name,
            f"{name} is {short.repr(value)}; it must be a sequence with {each}",
        )
    wrong = {kind for kind in set(map(type, items)) if not is_integer_type(kind)}
    if wrong:
        i = next(i for i, item in enumerate(items) if type(item) in wrong)
        raise ArgumentTypeError(
            name,
            f"{name}[{i}] is {short.repr(items[i])} of type {type(items[i]).__name__} in "
            f"{name}={short.repr(value)}{written_whole(items[i])}; give integers: {each}",
        )
    return tuple(map(int, items))


def entries(
    name: str, value: object, what: str, one: str = "value", each: type = object, must: str = ""
) -> list[Any]:
    """Return the entries of what must be several of something: a list, or whatever can be gone
    through, but a text or a mapping.

    Parameters
    ----------
    name : str
        Of the argument.
    value : object
        What was given for it.
    what, one : str
        What is to be given, such as "problems, or a dict of them", and a single one.
    each : type, default object
        What every entry must be one of; `must` says so.

    Raises
    ------
    TypeError
        If it is no such thing, or holds something else.
    ValueError
        If it is empty.

    Examples
    --------
    >>> entries("deltas", (0.1, 0.01), "error probabilities")
    [0.1, 0.01]
    """
    if isinstance(value, (*_TEXTS, Mapping)) or getattr(value, "shape", None) == ():
        found = None
    else:
        found = list(value) if isinstance(value, Iterable) else None
    if found is None:
        raise ArgumentTypeError(name, f"{name} is {short.repr(value)}; give a list of {what}")
    if not found:
        raise ArgumentValueError(name, f"{name} is empty; give at least one {one}")
    for entry in found:
        if not isinstance(entry, each):
            raise ArgumentTypeError(
                name, f"{name} holds {short.repr(entry)}; every entry must be {must}"
            )
    return found


def path_of(name: str, value: object) -> Path:
    """Return the path that is given as an argument.

    Raises
    ------
    TypeError
        If it is no path: neither a text nor a `pathlib` path.
    ValueError
        If it is empty, which would be the working folder, or no system could have it.

    Examples
    --------
    >>> path_of("folder", "runs/one.study").name
    'one.study'
    """
    text = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(text, str):
        raise ArgumentTypeError(
            name, f"{name} is {short.repr(value)}; give a path: a text, or one of pathlib's"
        )
    if not text or "\0" in text:
        raise ArgumentValueError(
            name,
            f"{name} is {text!r}, which names nothing; give a path, '.' for the working folder",
        )
    return Path(text)


def is_choice(value: object, choices: Collection[str]) -> bool:
    """Whether a value is one of some texts: an array, which every comparison makes an array of, is
    none.

    Examples
    --------
    >>> is_choice("pairs", ("pairs", "paper")), is_choice(np.array(["pairs", "paper"]), ("pairs",))
    (True, False)
    """
    return isinstance(value, str) and value in choices


def texts(name: str, value: Iterable[str]) -> tuple[str, ...]:
    """Return the texts of a sequence or array, each a plain str that a file can hold.

    Raises
    ------
    TypeError
        If it is one text itself, has no order, or holds something else.
    ValueError
        If a text is blank, or cannot be written as UTF-8: half of a surrogate pair.

    Examples
    --------
    >>> texts("names", np.array(["A", "B"]))
    ('A', 'B')
    """
    if isinstance(value, (*_TEXTS, Mapping, Set)) or not isinstance(value, Iterable):
        raise ArgumentTypeError(
            name,
            f"{name} is {short.repr(value)}; it must be a sequence of texts",
        )
    items = tuple(value)
    for i, item in enumerate(items):
        if not isinstance(item, str):
            raise ArgumentTypeError(
                name,
                f"{name} holds {short.repr(item)}; every entry must be a text: see {name}[{i}]",
            )
    plain = tuple(str.__str__(item) for item in items)
    for i, item in enumerate(plain):
        if not _storable(item):
            raise ArgumentValueError(
                name,
                f"{name}[{i}] is {item!a}, which holds half of a surrogate pair; no file can hold "
                "that: mend the text",
            )
        if not item.strip(" "):  # what else is not seen is written out where it is shown
            raise ArgumentValueError(
                name, f"{name}[{i}] is {item!r}, which nobody would see; give a text"
            )
    return plain


def _storable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_masked(value: object, depth: int = 3) -> bool:
    """Whether an array, or an array or a list in a list, has masked entries: under a mask lies a
    number that nobody meant.

    Examples
    --------
    >>> is_masked(np.ma.array([0.5, 0.25], mask=[False, True])), is_masked([0.5, np.ma.masked]), is_masked([0.5])
    (True, True, False)
    """
    if isinstance(value, np.ma.MaskedArray):
        return bool(np.ma.getmaskarray(value).any())
    if isinstance(value, np.ndarray):
        return (
            value.dtype.kind == "O" and depth > 0 and is_masked(value.ravel().tolist(), depth - 1)
        )
    if depth == 0 or not isinstance(value, list | tuple):
        return False
    nested = {kind for kind in set(map(type, value)) if issubclass(kind, np.ndarray | list | tuple)}
    return bool(nested) and any(
        is_masked(item, depth - 1) for item in value if type(item) in nested
    )


def doubles(name: str, value: object, words: str) -> NDArray[np.float64]:
    """Return a new C-contiguous array of the doubles nearest to real numbers, of any shape; truth
    values are 0 and 1.

    Raises
    ------
    TypeError
        If it does not hold real numbers; `words` say what it must be.
    ValueError
        If it is ragged, has masked entries, or holds an integer, fraction or decimal that no double
        can hold.

    Examples
    --------
    >>> doubles("means", [Decimal("0.5"), 1], "a sequence")
    array([0.5, 1. ])
    """
    if is_masked(value):
        where = ""
        if isinstance(value, np.ma.MaskedArray):
            where = f"[{', '.join(map(str, np.argwhere(np.ma.getmaskarray(value))[0]))}]"
        raise ArgumentValueError(
            name,
            f"{name}{where} is masked; every entry must be a number: leave out that arm or fill "
            "it in",
        )
    try:
        given = np.asarray(value)
    except ValueError:
        raise ArgumentValueError(
            name,
            f"{name} must be {words}; its rows differ in length: give each as many",
        ) from None
    try:
        if isinstance(value, _TEXTS) or not (
            given.dtype.kind in _REAL_KINDS or (given.dtype.kind == "O" and _all_real(given))
        ):
            raise TypeError  # texts, complex numbers and dates would be converted silently
        with np.errstate(over="ignore"):
            return np.array(given, dtype=np.float64, order="C")
    except OverflowError:
        raise ArgumentValueError(
            name,
            f"{name} holds a number beyond the range of doubles; every entry must be a finite "
            "number: remove or mend that arm",
        ) from None
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            name,
            f"{name} must be numbers, {words}; got {short.repr(value)}",
        ) from None


def _all_real(array: NDArray[Any]) -> bool:
    return all(
        _is_real_type(kind) or issubclass(kind, np.bool_)
        for kind in set(map(type, array.ravel().tolist()))
    )
