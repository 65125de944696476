"""Lengths of time and sizes on disk, from text and in words."""

from __future__ import annotations

import math
import re

from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError
from rai_sim.support.values import real, short

#: Seconds of each unit.
_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "min": 60.0, "s": 1.0}
_PIECE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(d|h|min|m|s)\s*")
_REMEDY = "give seconds, or a text such as 90s, 30m, 2h or 1h30m"


def seconds_of(name: str, value: object) -> float:
    """Return a length of time in seconds.

    Parameters
    ----------
    name : str
        Of the argument.
    value : float or str
        A positive number of seconds, also as text, or numbers with units: d, h, m or min, s.

    Raises
    ------
    TypeError, ValueError
        If it is none, or not positive.

    Examples
    --------
    >>> [seconds_of("time_limit", value) for value in ("90s", "30m", "2h", "1h30m", "1 d", 0.5, "7")]
    [90.0, 1800.0, 7200.0, 5400.0, 86400.0, 0.5, 7.0]
    """
    if isinstance(value, str):
        seconds = _of_text(value)
    else:
        try:
            seconds = real(name, value)
        except TypeError:
            raise ArgumentTypeError(name, f"{name} is {short.repr(value)}; {_REMEDY}") from None
    if not 0.0 < seconds < math.inf:
        raise ArgumentValueError(name, f"{name} is {short.repr(value)}; {_REMEDY}")
    return seconds


def _of_text(text: str) -> float:
    """Return seconds; NaN for what cannot be read, or has a unit twice or a longer one after a
    shorter."""
    if re.fullmatch(r"\s*\d+(\.\d*)?\s*", text):
        return float(text)
    at, total, before = 0, 0.0, math.inf
    while at < len(text):
        match = _PIECE.match(text, at)
        if match is None or _UNITS[match[2]] >= before:
            return math.nan
        before = _UNITS[match[2]]
        total, at = total + float(match[1]) * before, match.end()
    return total


def duration(seconds: float) -> str:
    """Return a length of time in words, to two digits or so.

    Examples
    --------
    >>> [duration(seconds) for seconds in (0.0, 0.00123, 0.5, 7.04, 65, 5400, 180_000, 1e9)]
    ['0 s', '1.2 ms', '0.5 s', '7 s', '1 min 5 s', '1 h 30 min', '2 d 2 h', '11,574 d']
    >>> duration(math.nan)
    'n/a'
    """
    if math.isnan(seconds):
        return "n/a"
    if seconds < 0.0995:
        return f"{1e3 * seconds:.2g} ms" if seconds > 0.0 else "0 s"
    if seconds < 59.5:
        return f"{seconds:.2g} s"
    for unit, part, units in ((60, 1, "min s"), (3600, 60, "h min"), (86400, 3600, "d h")):
        whole = round(seconds / part) * part
        if whole < {60: 3600, 3600: 86400, 86400: 100 * 86400}[unit]:
            large, small = divmod(whole, unit)
            first, second = units.split()
            rest = f" {small // part} {second}" if small else ""
            return f"{large} {first}{rest}"
    return f"{seconds / 86400.0:,.0f} d"


def size_on_disk(count: float) -> str:
    """Return a number of bytes in words, to two digits or so.

    Examples
    --------
    >>> [size_on_disk(count) for count in (0, 870, 12_345, 5.6e6, 2e9, 1e15)]
    ['0 B', '870 B', '12 kB', '5.6 MB', '2.0 GB', '1,000 TB']
    """
    for unit in ("B", "kB", "MB", "GB"):
        if count < 999.5:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 9.95 else f"{count:.1f} {unit}"
        count /= 1e3
    return f"{count:,.1f} TB" if count < 9.95 else f"{count:,.0f} TB"
