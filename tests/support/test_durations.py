"""Lengths of time from text, and in words."""

import math

import pytest

from rai_sim.support.durations import duration, seconds_of, size_on_disk


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90.0),
        ("30m", 1800.0),
        ("30min", 1800.0),
        ("2h", 7200.0),
        ("1h30m", 5400.0),
        ("1h 30m 5s", 5405.0),
        ("2d", 172_800.0),
        ("1.5h", 5400.0),
        (".5s", 0.5),
        ("120", 120.0),
        (" 2 h ", 7200.0),
        (7, 7.0),
        (0.25, 0.25),
    ],
)
def test_lengths_of_time(text: object, seconds: float) -> None:
    """Numbers with units, the longer ones first, or seconds alone."""
    assert seconds_of("time_limit", text) == seconds


@pytest.mark.parametrize(
    "text",
    ["", "h", "2x", "30m1h", "1h1h", "-5s", "2h-", "1e3s", "0s", "nan", 0, -1.0, math.inf, "1:30"],
)
def test_what_is_none(text: object) -> None:
    """The argument, its value and the remedy."""
    with pytest.raises(
        ValueError,
        match=r"^time_limit is .*; give seconds, or a text such as 90s, 30m, 2h or 1h30m$",
    ):
        seconds_of("time_limit", text)


def test_other_kinds() -> None:
    """Of no time, by type."""
    for wrong in (None, True, [1]):
        with pytest.raises(TypeError, match=r"^time_limit is .*; give seconds"):
            seconds_of("time_limit", wrong)


def test_words_turn_at_their_borders() -> None:
    """What is rounded up to the next unit is said in it."""
    assert [duration(x) for x in (0.0996, 59.4, 59.6, 3599.6, 86399.0)] == [
        "0.1 s",
        "59 s",
        "1 min",
        "1 h",
        "1 d",
    ]
    assert [size_on_disk(x) for x in (999.4, 999.6, 9949.0, 9951.0)] == [
        "999 B",
        "1.0 kB",
        "9.9 kB",
        "10 kB",
    ]
