"""Values in words: what is shown, and what is cut, in the one way there is."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rai_sim.support.wording import (
    all_but,
    and_more,
    count,
    ends,
    interrupted,
    json_safe,
    listed,
    number,
    percent,
    printable,
    quoted,
    short,
    shortened,
)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "n/a"),
        (math.nan, "n/a"),
        (7, "7"),
        (1234567, "1,234,567"),
        (2**62, "4,611,686,018,427,387,904"),
        (7.0, "7.0"),
        (999.94, "999.9"),
        (1000.4, "1,000"),
        (-12.345, "-12.3"),
        (-1234.5, "-1,234"),
        (math.inf, "inf"),
    ],
)
def test_numbers(value: float | None, words: str) -> None:
    """Integers whole, others with a decimal below 1,000; what is not known is n/a."""
    assert number(value) == words


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (None, "n/a"),
        (math.nan, "n/a"),
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.01, "1 %"),
        (0.012345, "1.23 %"),
        (1e-7, "1e-05 %"),
    ],
)
def test_percents(share: float | None, words: str) -> None:
    """Three digits that count."""
    assert percent(share) == words


@pytest.mark.parametrize(
    ("n", "words"), [(0, "0 arms"), (1, "1 arm"), (2, "2 arms"), (1000, "1,000 arms")]
)
def test_counts(n: int, words: str) -> None:
    """One thing, several things."""
    assert count(n, "arm") == words


@given(st.text(max_size=200), st.integers(4, 160))
def test_a_shortened_text_is_no_longer_than_it_may_be(text: str, most: int) -> None:
    """What fits stays as it is; the rest is its beginning and three dots, exactly full."""
    found = shortened(text, most)
    if len(text) <= most:
        assert found == text
    else:
        assert len(found) == most
        assert found.endswith("...")
        assert text.startswith(found[:-3])


def test_quoted_values_are_written_as_python_does() -> None:
    """Texts in quotes, so that blanks are seen; long values cut."""
    assert quoted(" a") == "' a'"
    assert quoted([0.5, True]) == "[0.5, True]"
    assert quoted("x" * 100) == "'" + "x" * 56 + "..."
    assert len(quoted(list(range(1000)), 120)) == 120


@pytest.mark.parametrize(
    ("n", "words"),
    [(0, ""), (1, "0"), (8, "0, 1, 2, 3, 4, 5, 6, 7"), (9, "0, 1, 2, 3, 4, 5, 6, 7, ...")],
)
def test_lists_name_the_first_eight(n: int, words: str) -> None:
    """Eight are all; of nine the ninth is left out."""
    assert listed(range(n)) == words


def test_lists_say_of_others_what_they_are_told() -> None:
    """Only where there are others."""
    assert listed((1, 2, 3), 3, ",", " and more") == "1,2,3"
    assert listed((1, 2, 3, 4), 3, ",", " and more") == "1,2,3 and more"
    assert listed((1, 2, 3, 4), 3, ",") == "1,2,3,..."


def test_short_values_are_one_line_of_bounded_length() -> None:
    """A dozen entries of a sequence; of an integer too long to write, how long it is."""
    assert short.repr(tuple(range(12))) == repr(tuple(range(12)))
    assert short.repr(tuple(range(13))) == f"{repr(tuple(range(12)))[:-1]}, ...)"
    assert short.repr(1 << 20_000) == "an integer of 20001 bits"


def test_json_has_no_words_for_nan() -> None:
    """At every depth NaN and infinities become null, keys texts, tuples lists; all else stays."""
    value = {0.5: (1, math.nan, [math.inf, {"a": -math.inf}]), "b": "nan", "c": None, "d": True}
    safe = json_safe(value)
    assert safe == {"0.5": [1, None, [None, {"a": None}]], "b": "nan", "c": None, "d": True}
    assert json.loads(json.dumps(safe, allow_nan=False)) == safe


def test_what_steers_a_terminal_is_written_out() -> None:
    """Letters of any alphabet stay, as does what is asked for."""
    assert printable("a\nb\tc\x1b[31m\r\x9b\u2028δ 日本\u00a0") == (
        "a\\nb\\tc\\x1b[31m\\r\\x9b\\u2028δ 日本\u00a0"
    )
    assert printable("a\nb\x1b", "\n") == "a\nb\\x1b"
    document = json.dumps({"x": "".join(map(chr, range(400)))}, indent=2)
    assert printable(document, "\n") == document


def test_an_interval_that_is_not_known_is_told_once() -> None:
    """One whose upper end alone is unknown is told whole."""
    assert ends(percent(None), percent(None)) == "n/a"
    assert ends(percent(0.0), percent(0.031)) == "0 % to 3.1 %"
    assert ends(number(1.0), number(None)) == "1.0 to n/a"


def test_nothing_is_certain_that_is_not() -> None:
    """1 - delta is written out where its digits would be those of 1."""
    assert [all_but(delta) for delta in (0.3, 1e-5, 1e-7, 1e-200)] == [
        "0.7",
        "0.99999",
        "1 - 1e-07",
        "1 - 1e-200",
    ]
    assert [all_but(alpha, percent) for alpha in (0.01, 1e-4)] == ["99 %", "1 - 0.0001"]


def test_one_thing_is_one() -> None:
    """What more there is, and what an interruption leaves."""
    assert and_more(1, "task", "all there") == "... and 1 more task; all there"
    assert and_more(1200, "task", "all there") == "... and 1,200 more tasks; all there"
    assert and_more(0, "task", "all there") == and_more(-3, "task", "all there") == ""
    assert interrupted(1, "in .result") == "interrupted; in .result: 1 finished replication"
    assert interrupted(0, "in .result") == "interrupted before a replication was finished"
