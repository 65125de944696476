"""How values are put into words: numbers and counts, and long texts, lists and values cut short."""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Callable, Sequence
from typing import Any


class _Short(reprlib.Repr):
    """Values in messages: a dozen entries of a long sequence, and of a long integer its ends."""

    def __init__(self) -> None:
        super().__init__()
        self.maxtuple = self.maxlist = 12
        self.maxother = 60

    def repr_int(self, x: int, level: int) -> str:
        """Return the digits, or the length of an integer that Python refuses to write in
        decimal."""
        try:
            return super().repr_int(x, level)
        except ValueError:
            return f"an integer of {x.bit_length()} bits"

    def repr_instance(self, x: object, level: int) -> str:
        """Return one line, also of a table."""
        return " ".join(super().repr_instance(x, level).split())


#: Control characters, and those that end lines.
_STEERING = re.compile("[\x00-\x1f\x80-\x9f\u2028\u2029]")
#: Values as messages repeat them: `short.repr(value)`.
short = _Short()


def printable(text: str, besides: str = "") -> str:
    r"""Return a text in which characters that steer a terminal stand as Python writes them, so that
    names keep to their line and cell; those in `besides` stay.

    Examples
    --------
    >>> print(printable("two\narms\x1b[31m"))
    two\narms\x1b[31m
    """
    return _STEERING.sub(
        lambda found: found[0] if found[0] in besides else repr(found[0])[1:-1], text
    )


def shortened(text: str, most: int = 60) -> str:
    """Return a text of at most `most` characters: itself, or its beginning and three dots.

    Examples
    --------
    >>> shortened("0.1,0.2"), shortened("0.1,0.2,0.3", most=10)
    ('0.1,0.2', '0.1,0.2...')
    """
    return text if len(text) <= most else f"{text[: most - 3]}..."


def quoted(value: object, most: int = 60) -> str:
    """Return how Python writes a value, `shortened`.

    Examples
    --------
    >>> quoted("a"), quoted([1, 2, 3, 4], most=10)
    ("'a'", '[1, 2, ...')
    """
    return shortened(repr(value), most)


def listed(
    values: Sequence[object], most: int = 8, between: str = ", ", more: str | None = None
) -> str:
    """Return values in words, of more than `most` the first ones and `more`, dots if it is None.

    Examples
    --------
    >>> listed((3, 5, 2)), listed(range(100), 4), listed("abc", 2, "-", " and others")
    ('3, 5, 2', '0, 1, 2, 3, ...', 'a-b and others')
    """
    words = between.join(map(str, values[:most]))
    if len(values) <= most:
        return words
    return words + (f"{between}..." if more is None else more)


def number(value: float | None) -> str:
    """Return a number of pulls or rounds with thousands separators, one decimal below 1,000.

    An integer has no decimal; None and NaN are n/a.

    Examples
    --------
    >>> number(12345.6), number(12.34), number(12), number(None)
    ('12,346', '12.3', '12', 'n/a')
    """
    if value is None or math.isnan(value):
        return "n/a"
    whole = isinstance(value, int) or abs(value) >= 1000.0
    return f"{value:,.0f}" if whole else f"{value:,.1f}"


def rough(n: int) -> str:
    """Return a count, from a million on with three digits.

    Examples
    --------
    >>> rough(123456), rough(3_123_456), rough(9_999_999)
    ('123,456', '3.12e6', '1.00e7')
    """
    if n < 1_000_000:
        return f"{n:,}"
    digits, _, exponent = f"{n:.2e}".partition("e+")
    return f"{digits}e{int(exponent)}"


def percent(share: float | None) -> str:
    """Return a share in percent with three significant digits; None and NaN are n/a.

    Examples
    --------
    >>> percent(0.12345), percent(1.0), percent(None)
    ('12.3 %', '100 %', 'n/a')
    """
    return "n/a" if share is None or math.isnan(share) else f"{100.0 * share:.3g} %"


def ends(low: str, high: str) -> str:
    """Return an interval in words, of one that is not known n/a.

    Examples
    --------
    >>> ends("0 %", "3.1 %"), ends(number(None), number(None))
    ('0 % to 3.1 %', 'n/a')
    """
    return low if low == high == number(None) else f"{low} to {high}"


def count(n: int, thing: str) -> str:
    """Return n things in words.

    Examples
    --------
    >>> count(1000, "replication"), count(1, "arm")
    ('1,000 replications', '1 arm')
    """
    return f"{n:,} {thing}" + ("" if n == 1 else "s")


def and_more(left: int, thing: str, where: str) -> str:
    """Return that a list goes on, and where all of it is; nothing if it does not.

    Examples
    --------
    >>> and_more(1, "task", "to_frame() has all"), and_more(0, "task", "to_frame() has all")
    ('... and 1 more task; to_frame() has all', '')
    """
    return f"... and {count(left, f'more {thing}')}; {where}" if left > 0 else ""


def all_but(share: float, form: Callable[[float], str] = "{:g}".format) -> str:
    """Return 1 - share in words, which never are those of 1: nothing is said to be certain that is not.

    Examples
    --------
    >>> all_but(0.01), all_but(1e-10), all_but(0.05, percent)
    ('0.99', '1 - 1e-10', '95 %')
    """
    words = form(1.0 - share)
    return f"1 - {share:g}" if words == form(1.0) else words


def interrupted(finished: int, where: str) -> str:
    """Return what an interruption of some replications is called, with where those are that were
    finished.

    Examples
    --------
    >>> interrupted(3, "in .result"), interrupted(0, "in .result")
    ('interrupted; in .result: 3 finished replications', 'interrupted before a replication was finished')
    """
    if not finished:
        return "interrupted before a replication was finished"
    return f"interrupted; {where}: {count(finished, 'finished replication')}"


def json_safe(value: Any) -> Any:
    """Return a value of numbers, texts, lists and dicts as JSON can hold it.

    NaN and infinities, for which JSON has no words, become None; keys become texts, tuples lists.

    Examples
    --------
    >>> json_safe({0.5: (1.0, math.nan)})
    {'0.5': [1.0, None]}
    """
    if isinstance(value, dict):
        return {str(key): json_safe(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [json_safe(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
