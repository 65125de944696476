"""Arrays, numbers and texts from outside: accepted with exactly their value, or refused by name."""

from __future__ import annotations

import array
import math
from collections import deque
from collections.abc import Callable
from decimal import Decimal
from enum import IntEnum, StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unchecked import unchecked

import rai_sim
from rai_sim.cli.options import read_option, whole_number
from rai_sim.simulation.simulate import checked_experiment
from rai_sim.study.opening import open_study
from rai_sim.study.task import Task
from rai_sim.support import values
from rai_sim.support.errors import BadInput
from rai_sim.support.parsing import parse_array
from rai_sim.support.values import entries, is_choice, path_of

masked = np.ma.masked
#: Without types: they are given what they are not meant for.
rai: Any = rai_sim
ma: Any = np.ma
instances: Any = rai_sim.instances
Bernoulli, Categorical, Gaussian, Recorded = (
    rai.Bernoulli,
    rai.Categorical,
    rai.Gaussian,
    rai.Recorded,
)
Problem, Vanilla, task_of = rai.Problem, rai.Vanilla, cast(Any, Task)
Make = Callable[[], object]
PAIR = Problem(Bernoulli([0.75, 0.25]), (1, 1), (1, 0))
SPAN, DAY = np.timedelta64(1, "s"), np.datetime64("2020-01-01")


class Colour(IntEnum):
    """Integers of another class."""

    RED = 1


class Word(StrEnum):
    """Texts of another class."""

    A = "a"


class Share(float):
    """Doubles of another class."""


# Arrays of real numbers
# --------------------------------------------------------------------------------------------------

SAME: list[tuple[Any, list[float]]] = [
    (ma.array([0.5, 0.25]), [0.5, 0.25]),
    (ma.array([0.5, 0.25], mask=[False, False]), [0.5, 0.25]),
    ([np.float32(0.1), 1], [0.10000000149011612, 1.0]),
    (np.array([0.1, 0.2], np.float16), [0.0999755859375, 0.199951171875]),
    (np.array([0.1, 0.5], ">f8"), [0.1, 0.5]),
    (np.array([0.5, 0.25], np.longdouble), [0.5, 0.25]),
    (np.array([0.5, 9.0, 0.25, 9.0])[::2], [0.5, 0.25]),
    (np.array([0, 1], np.uint8), [0.0, 1.0]),
    (
        np.array(
            [Fraction(1, 3), Decimal("0.1"), 1, True, np.bool_(False), np.float32(0.5)], object
        ),
        [1 / 3, 0.1, 1.0, 1.0, 0.0, 0.5],
    ),
    ([Share(0.5), Colour.RED], [0.5, 1.0]),
    ([np.array(0.5), 0.25], [0.5, 0.25]),
    (np.array([True, False]), [1.0, 0.0]),
    (array.array("d", [0.5, 0.25]), [0.5, 0.25]),
    (memoryview(array.array("d", [0.5, 0.25])), [0.5, 0.25]),
    (pl.Series([0.5, 0.25]), [0.5, 0.25]),
    (range(2), [0.0, 1.0]),
    ([5e-324, -0.0, 1 - 2.0**-53], [5e-324, 0.0, 1 - 2.0**-53]),
]


@pytest.mark.parametrize(("given", "expected"), SAME)
def test_numbers_keep_their_value(given: Any, expected: list[float]) -> None:
    """To the bit, or to the nearest double, in an array of its own."""
    means = Bernoulli(given).means
    assert means.dtype == np.float64
    assert [value.hex() for value in means.tolist()] == [value.hex() for value in expected]
    if isinstance(given, np.ndarray):
        assert not np.shares_memory(means, given)


REFUSED: list[tuple[Make, type[Exception], list[str]]] = [
    (
        lambda: Bernoulli(ma.array([0.5, 0.4, 0.95], mask=[0, 0, 1])),
        ValueError,
        ["means[2] is masked", "leave out that arm"],
    ),
    (lambda: Bernoulli([0.5, masked]), ValueError, ["means is masked"]),
    (lambda: Bernoulli(np.array([0.5, masked], object)), ValueError, ["means is masked"]),
    (lambda: Bernoulli((0.5, ma.array(0.4, mask=True))), ValueError, ["means is masked"]),
    (
        lambda: Recorded(ma.array([[0, 1], [1, 0]], mask=[[0, 0], [1, 0]])),
        ValueError,
        ["rewards[1, 0] is masked"],
    ),
    (lambda: Recorded([[0, 1], ma.array([1, 0], mask=[0, 1])]), ValueError, ["rewards is masked"]),
    (
        lambda: Categorical(ma.array([0, 1], mask=[1, 0]), [[0.5, 0.5]]),
        ValueError,
        ["values[0] is masked"],
    ),
    (
        lambda: Categorical([0, 1], ma.array([[0.5, 0.5]], mask=True)),
        ValueError,
        ["probabilities[0, 0] is masked"],
    ),
    (
        lambda: Recorded([[0, 1]], means=ma.array([0.5], mask=True)),
        ValueError,
        ["means[0] is masked"],
    ),
    (
        lambda: Bernoulli(np.array(["0.5", "0.25"], object)),
        TypeError,
        ["means must be numbers", "'0.5'"],
    ),
    (
        lambda: Bernoulli(np.array([0.5, b"0.25"], object)),
        TypeError,
        ["means must be numbers", "b'0.25'"],
    ),
    (
        lambda: Bernoulli(np.array([0.5, None], object)),
        TypeError,
        ["means must be numbers", "None"],
    ),
    (lambda: Bernoulli([0.5, SPAN]), TypeError, ["means must be numbers", "timedelta64"]),
    (lambda: Gaussian(np.array([1, 2], "m8[ns]")), TypeError, ["means must be numbers"]),
    (lambda: Gaussian(np.array([1, 2], "M8[D]")), TypeError, ["means must be numbers"]),
    (
        lambda: Gaussian(np.array([(1.0,), (2.0,)], [("a", float)])),
        TypeError,
        ["means must be numbers"],
    ),
    (lambda: Gaussian(bytearray(b"ab")), TypeError, ["means must be numbers", "bytearray"]),
    (lambda: Gaussian(b"ab"), TypeError, ["means must be numbers", "b'ab'"]),
    (lambda: Gaussian(pl.Series(["0.5"])), TypeError, ["means must be numbers"]),
    (lambda: Gaussian(pl.Series([0.5, None])), ValueError, ["means[1] is nan", "finite"]),
    (lambda: Gaussian([0.5, Decimal("sNaN")]), TypeError, ["means must be numbers"]),
    (lambda: Gaussian([0.5, Decimal("NaN")]), ValueError, ["means[1] is nan"]),
    (lambda: Gaussian([0.5, np.float32("inf")]), ValueError, ["means[1] is inf", "finite"]),
    (
        lambda: Gaussian(np.array([0.5, -np.inf], np.float16)),
        ValueError,
        ["means[1] is -inf", "finite"],
    ),
    (lambda: Gaussian([np.longdouble("1e4000")]), ValueError, ["means[0] is inf", "finite"]),
    (lambda: Gaussian([Fraction(10**400)]), ValueError, ["means", "range of doubles"]),
    (lambda: Gaussian([Decimal("1e400")]), ValueError, ["means[0] is inf", "finite"]),
    (
        lambda: Gaussian([0.5], sd=np.float32("inf")),
        ValueError,
        ["sd is np.float32(inf)", "positive finite"],
    ),
    (
        lambda: Gaussian([0.5], sd=np.float16("nan")),
        ValueError,
        ["sd is np.float16(nan)", "positive finite"],
    ),
    (
        lambda: Gaussian([0.5], sd=Decimal("sNaN")),
        ValueError,
        ["sd is Decimal('sNaN')", "positive finite"],
    ),
    (
        lambda: Gaussian([0.5], sd=Fraction(1, 10**400)),
        ValueError,
        ["sd is Fraction(1", "positive finite"],
    ),
    (lambda: Gaussian([0.5], sd=SPAN), TypeError, ["sd must be a positive number", "timedelta64"]),
    (lambda: Gaussian([0.5], sd=np.bool_(True)), TypeError, ["sd must be a positive number"]),
    (lambda: Gaussian([0.5], sd=masked), TypeError, ["sd must be a positive number"]),
]


@pytest.mark.parametrize(("make", "error", "words"), REFUSED)
def test_what_is_no_real_number_is_refused(
    make: Make, error: type[Exception], words: list[str]
) -> None:
    """The number under a mask, a text, a date, a truth value as a deviation; the message is one
    line that names the argument."""
    with pytest.raises(error) as refusal:
        make()
    assert [word for word in words if word not in str(refusal.value)] == []
    assert "\n" not in str(refusal.value)


def test_single_precision_deviations_are_taken_as_they_are() -> None:
    """Without a warning, at their own value."""
    for sd in (
        np.float32(0.3),
        np.float16(0.3),
        np.longdouble(0.3),
        Fraction(3, 10),
        Decimal("0.3"),
        Share(0.3),
    ):
        assert Gaussian([0.5], sd=sd).sd == float(sd)
        assert type(Gaussian([0.5], sd=sd).sd) is float


NUMBERS = st.one_of(
    st.floats(-2.0, 2.0),
    st.floats(),
    st.integers(-3, 3),
    st.integers(),
    st.fractions(),
    st.decimals(allow_nan=False),
    st.floats(width=32).map(np.float32),
    st.floats(width=16).map(np.float16),
    st.integers(-128, 127).map(np.int8),
    st.booleans(),
    st.integers(0, 2**64 - 1).map(np.uint64),
)
_ODD = ["0.5", b"1", 1j, SPAN, DAY, masked, object, ma.array(0.5, mask=True), np.complex64(1)]
OTHERS = st.one_of(
    st.none(), st.text(max_size=3), st.integers(0, len(_ODD) - 1).map(lambda i: _ODD[i])
)


def nearest(number: Any) -> float:
    """Return the double nearest to a number."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


@pytest.mark.slow
@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    st.lists(NUMBERS, min_size=1, max_size=4),
    st.lists(OTHERS, max_size=1),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_any_list_is_accepted_with_its_values_or_refused(
    numbers: list[Any], others: list[Any], boxed: bool, random: Any
) -> None:
    """As a list or an array of objects: with anything else than real numbers of at most 1e50 in it,
    refused by name."""
    entries = [*numbers, *others]
    random.shuffle(entries)
    given: Any = entries
    if boxed:
        given = np.empty(len(entries), object)
        for i, entry in enumerate(entries):
            given[i] = entry
    fine = not others and all(abs(nearest(number)) <= 1e50 for number in numbers)
    if fine:
        assert Gaussian(given).means.tolist() == [nearest(number) for number in entries]
    else:
        with pytest.raises((TypeError, ValueError), match=r"^means"):
            Gaussian(given)


# Single numbers
# --------------------------------------------------------------------------------------------------

_STRANGE = [
    10**5000,
    Colour.RED,
    Share(0.5),
    np.bool_(True),
    np.array(0.5),
    np.array([3]),
    np.array(True),
    [0.5],
]
SCALARS = st.one_of(
    NUMBERS,
    OTHERS,
    st.floats(0.0, 1.0),
    st.floats(0.0, 1e-3),
    st.integers(0, 2**70),
    st.integers(-9, 2**62).map(np.int64),
    st.integers(0, 255).map(lambda n: np.array(n, np.uint8)),
    st.integers(0, 9).map(lambda n: ma.array(n, mask=True)),
    st.integers(0, len(_STRANGE) - 1).map(lambda i: _STRANGE[i]),
)


def is_real(value: Any) -> bool:
    """Whether a scalar is what doubles stand for."""
    kinds = (int, float, Fraction, Decimal, np.integer, np.floating)
    return isinstance(value, kinds) and not isinstance(value, bool | np.timedelta64)


def whole(value: Any) -> int | None:
    """Return the integer that a value is."""
    if (
        isinstance(value, np.ndarray)
        and value.ndim == 0
        and value.dtype.kind in "iu"
        and not np.ma.is_masked(value)
    ):
        return int(value)
    return int(value) if isinstance(value, int | np.integer) and is_real(value) else None


@pytest.mark.landing
@settings(max_examples=300, deadline=None, derandomize=True)
@given(SCALARS)
def test_any_scalar_is_accepted_with_its_value_or_refused(value: Any) -> None:
    """As delta, skip_error, precision, sd, seed, max_pulls and number of arms: by type, then by
    range, with the value of the scalar."""
    fixed: dict[str, Any] = {"delta": 0.5, "seed": 0, "skip_error": 0.0, "max_pulls": 9}
    real = (
        nearest(value)
        if is_real(value) and not (isinstance(value, Decimal) and value.is_snan())
        else math.nan
    )
    number = whole(value)
    expected: dict[str, bool] = {
        "delta": 1e-200 <= real < 1.0,
        "skip_error": 0.0 <= real <= 1e-3,
        "sd": 0.0 < real <= 1e50,
        "seed": value is None or (number is not None and 0 <= number < 2**2048),
        "max_pulls": value is None or (number is not None and 1 <= number <= 2**62),
    }
    if value is not None:  # which stands for the default
        expected["precision"] = 1e-6 <= real < 1.0
    if np.ndim(value) == 1:  # deviations by arm, of which tests of Gaussian arms tell
        del expected["sd"]
    if number is None or not 64 < number <= 10**8:  # what would fill memory is not tried
        expected["n"] = number is not None and 1 <= number <= 64
    takes: dict[str, Callable[[], Any]] = {
        "sd": lambda: Gaussian([0.0], sd=value).sd,
        "n": lambda: instances.random_means(value, seed=1).size,
        "precision": lambda: rai.Study.grid([PAIR], [Vanilla()], [0.5], precision=value).precision,
    }
    for name, fine in expected.items():
        take = takes.get(
            name,
            lambda name=name: getattr(
                checked_experiment(PAIR, Vanilla(), **fixed | {name: value}), name
            ),
        )
        if not fine:
            with pytest.raises((TypeError, ValueError), match=f"^{name} "):
                take()
        elif value is None:
            assert take() is None or name == "seed"
        else:
            taken = take()
            assert taken == (real if name in ("delta", "skip_error", "sd", "precision") else number)
            assert type(taken) in (float, int)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: Problem(PAIR.arms, ma.array([1, 1], mask=[0, 1]), (1, 0)),
            ["clusters is", "masked"],
        ),
        (lambda: Problem(PAIR.arms, (1, masked), (1, 0)), ["clusters is", "masked"]),
        (lambda: Problem(PAIR.arms, (1, SPAN), (1, 0)), ["clusters[1] is", "timedelta64"]),
        (
            lambda: Problem(PAIR.arms, np.array([1, 1], "m8[ns]"), (1, 0)),
            ["clusters is", "sequence"],
        ),
        (
            lambda: Problem(PAIR.arms, np.array([1, 1], "M8[ns]"), (1, 0)),
            ["clusters is", "sequence"],
        ),
        (
            lambda: Problem(PAIR.arms, bytearray(b"\1\1"), (1, 0)),
            ["clusters is bytearray", "sequence"],
        ),
        (
            lambda: Problem(PAIR.arms, (1, 1), np.array(["1", "0"], object)),
            ["required[0] is '1'", "give integers"],
        ),
        (
            lambda: Problem(PAIR.arms, (1, 1), pl.Series([1.0, 0.0])),
            ["required[0] is 1.0", "give integers"],
        ),
        (lambda: rai.top(PAIR.arms, SPAN), ["k is", "timedelta64"]),
        (
            lambda: rai.simulate(PAIR, Vanilla(), seed=ma.array(5, mask=True)),
            ["seed must be an integer"],
        ),
        (
            lambda: rai.simulate(PAIR, Vanilla(), max_pulls=ma.array([5, 6], mask=True)[0]),
            ["max_pulls must be an integer"],
        ),
        (
            lambda: rai.simulate(PAIR, Vanilla(), replications=SPAN),
            ["replications must be an integer"],
        ),
        (lambda: rai.simulate(PAIR, Vanilla(), skip_error=SPAN), ["skip_error must be a number"]),
        (
            lambda: rai.trace(PAIR, Vanilla(), rounds=ma.array([1, 2], mask=[0, 1])),
            ["rounds is", "from 1 on"],
        ),
        (
            lambda: rai.trace(PAIR, Vanilla(), rounds=[1, True]),
            ["rounds is [1, True]", "from 1 on"],
        ),
        (lambda: instances.evenly_spaced(2, high=np.bool_(True)), ["high must be a number"]),
        (lambda: instances.shares(9, ma.array([1, 2], mask=[1, 0])), ["proportions is", "masked"]),
    ],
)
def test_what_is_no_integer_is_refused(make: Make, words: list[str]) -> None:
    """Masked, a time span, characters, floats: each a TypeError that names the argument."""
    with pytest.raises(TypeError) as refusal:
        make()
    assert [word for word in words if word not in str(refusal.value)] == []


def test_integers_of_every_kind_are_the_same_problem() -> None:
    """Tuples, arrays of any integer type, columns and objects."""
    for ones in (
        (1, 1),
        np.ones(2, np.uint8),
        np.ones(2, ">i8"),
        np.array([1, 1], object),
        pl.Series([1, 1]),
        array.array("b", [1, 1]),
        deque([1, 1]),
        (np.int16(1), Colour.RED),
        ma.array([1, 1]),
    ):
        problem = Problem(PAIR.arms, ones, (1, 0))
        assert problem == PAIR
        assert [type(size) for size in problem.clusters] == [int, int]


def test_values_too_long_to_write_are_named_all_the_same() -> None:
    """Python refuses to write 10^5000 in digits; the message says so many bits."""
    for name in ("seed", "max_pulls", "replications", "n_jobs"):
        with pytest.raises(ValueError, match=f"^{name} is an integer of 16610 bits"):
            rai.simulate(PAIR, Vanilla(), **{name: 10**5000})
    largest = checked_experiment(PAIR, Vanilla(), 0.5, 2**2048 - 1, 0.0, None)
    assert largest.seed == 2**2048 - 1
    assert len(largest.identity()) > 600


@pytest.mark.parametrize(
    ("family", "arguments", "message"),
    [
        ("evenly_spaced", {"high": 1e308, "low": -1e308}, r"high is 1e\+308; beyond 1e\+50"),
        (
            "evenly_spaced",
            {"gap": 1e50},
            r"gap is 1e\+50, the smallest of 3, which add up to 3\.\d+e\+50; beyond 1e\+50",
        ),
        (
            "geometric_gaps",
            {"ratio": 1e-40, "gap": 1e40},
            r"gap is 1e\+40, the smallest of 3, which add up to 1\.\d+e\+120",
        ),
        (
            "geometric_gaps",
            {"ratio": 1e-50, "gap": 1e45, "n": 7},
            r"gap is 1e\+45, the smallest of 6, which add up to ",
        ),
        (
            "geometric_gaps",
            {"ratio": 1e50, "n": 9},
            r"ratio is 1e\+50 with n = 9; its powers leave",
        ),
        (
            "random_means",
            {"seed": 1, "high": 1e308, "low": -1e308},
            r"high is 1e\+308; beyond 1e\+50",
        ),
    ],
)
def test_families_stay_within_what_laws_accept(
    family: str, arguments: dict[str, Any], message: str
) -> None:
    """No NaN, no overflow, no warning: the argument at fault is named."""
    with pytest.raises(ValueError, match=f"^{message}"):
        getattr(instances, family)(**{"n": 4} | arguments)


def test_numbers_on_the_command_line_and_in_files(tmp_path: Path) -> None:
    """Integers are exact, and .npy files of other kinds refused."""
    assert whole_number("9007199254740993.0") == 9007199254740993
    assert (whole_number("1e22"), whole_number("1e+3"), whole_number("-5")) == (10**22, 1000, -5)
    for text in ("1e800", "nan", "inf", "1.5", "1e-3", "x", "1e99999999999999999999"):
        with pytest.raises(Exception, match="is not an integer"):
            whole_number(text)
    for number, kind in enumerate(
        [
            np.array([1j]),
            np.array(["0.5"]),
            np.array([1], "M8[D]"),
            np.array([1], "m8[s]"),
            np.array([(1.0,)], [("a", float)]),
        ]
    ):
        path = tmp_path / f"{number}.npy"
        np.save(path, kind)
        with pytest.raises(
            BadInput, match=r"--means .* cannot be used: it holds .*, which are no real numbers"
        ):
            read_option("means", parse_array, str(path))
    np.save(tmp_path / "fine.npy", np.array([1, 0], np.uint8))
    assert read_option("means", parse_array, str(tmp_path / "fine.npy")).tolist() == [1.0, 0.0]


# Names, ids, texts
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "ids", "error", "message"),
    [
        (
            ["A", "B"],
            [2**70, 1],
            ValueError,
            r"ids\[0\] is 1180591620717411303424; an id is kept in 64 bits",
        ),
        (
            ["A", "B"],
            [0, -(2**63) - 1],
            ValueError,
            r"ids\[1\] is -9223372036854775809; an id is kept in 64 bits",
        ),
        (
            ["A", "B"],
            np.array([2**63, 0], np.uint64),
            ValueError,
            r"ids\[0\] is 9223372036854775808; an id is kept in 64 bits",
        ),
        (
            ["A", "B"],
            [10**5000, 1],
            ValueError,
            r"ids\[0\] is an integer of 16610 bits; an id is kept",
        ),
        (["A", "B"], [1.5, 1], TypeError, r"ids\[0\] is 1\.5 of type float"),
        (["A", "B"], [1.0, 2.0], TypeError, r"ids\[0\] is 1\.0 of type float"),
        (["A", "B"], ["1", "2"], TypeError, r"ids\[0\] is '1' of type str"),
        (["A", "B"], "12", TypeError, r"ids is '12'; it must be a sequence"),
        (["A", "B"], b"12", TypeError, r"ids is b'12'; it must be a sequence"),
        (["A", "B"], [1, True], TypeError, r"ids\[1\] is True of type bool"),
        (["A", "B"], np.array([True, False]), TypeError, r"ids\[0\] is True of type bool"),
        (["A", "B"], [1, SPAN], TypeError, r"ids\[1\] is .*timedelta64"),
        (["A", "B"], np.array([1, 2], "m8[ns]"), TypeError, "ids is .*sequence"),
        (["A", "B"], ma.array([1, 2], mask=[0, 1]), TypeError, "ids is .*masked"),
        (["A", "B"], pl.Series([1, None]), TypeError, r"ids\[0\] is 1\.0 of type float"),
        (["A", "B"], {1, 2}, TypeError, r"ids is \{1, 2\}; it must be a sequence"),
        (["A", "B"], [1], ValueError, "ids has 1 entries for 2 arms"),
        (
            ["A", "B\ud800"],
            None,
            ValueError,
            r"names\[1\] is 'B\\ud800', which holds half of a surrogate pair",
        ),
        (["\udc80", "B"], None, ValueError, r"names\[0\] is '\\udc80', which holds half"),
        (["A", ""], None, ValueError, r"names\[1\] is '', which nobody would see; give a text"),
        (["  ", "B"], None, ValueError, r"names\[0\] is '  ', which nobody would see"),
        ("AB", None, TypeError, "names is 'AB'; it must be a sequence of texts"),
        ({"A", "B"}, None, TypeError, "names is .*; it must be a sequence of texts"),
        ({"A": 1, "B": 2}, None, TypeError, "names is .*; it must be a sequence of texts"),
        (3, None, TypeError, "names is 3; it must be a sequence of texts"),
        ([b"A", "B"], None, TypeError, "names holds b'A'; every entry must be a text"),
        (["A", None], None, TypeError, "names holds None; every entry must be a text"),
        (
            ma.array(["A", "B"], mask=[0, 1]),
            None,
            TypeError,
            "names holds masked; every entry must be a text",
        ),
        (
            np.array(["A", 1.0], object),
            None,
            TypeError,
            r"names holds 1\.0; every entry must be a text",
        ),
    ],
)
def test_names_and_ids_that_cannot_be_kept_are_refused(
    names: Any, ids: Any, error: type[Exception], message: str
) -> None:
    """Where they enter, by place."""
    with pytest.raises(error, match=f"^{message}"):
        PAIR.arms.with_names(names, ids)


KEPT: list[tuple[Any, Any]] = [
    (["nul \0 in it", "\0"], [2**63 - 1, -(2**63)]),
    (["\t", "line\nbreak\ttab\r\u2028\u0085"], np.array([2**63 - 1, 0], np.uint64)),
    (["\U0001f3a5 Amélie", "=1+1"], (np.int8(-1), Colour.RED)),
    (np.array(["x", "y"]), pl.Series([1, 2])),
    (pl.Series(["x", "y"]), np.array([1, 2], object)),
    ([Word.A, np.str_("b")], None),
    (["\ufeff", "\uffff"], range(2)),
]


def test_names_and_ids_come_back_from_a_store(tmp_path: Path) -> None:
    """What is accepted is stored, and read as it was: plain texts and integers."""
    for number, (names, ids) in enumerate(KEPT):
        arms = PAIR.arms.with_names(names, ids)
        plain = tuple(str.__str__(name) for name in names)
        assert arms.names == plain
        assert {type(name) for name in arms.names or ()} == {str}
        assert arms.ids == (None if ids is None else tuple(int(one) for one in ids))
        study = rai.Study.grid(
            {f"named\0{number}": Problem(arms, (1, 1), (1, 0))}, [Vanilla()], [0.5], replications=2
        )
        study.run(tmp_path / str(number))
        (task,) = open_study(tmp_path / str(number)).tasks
        assert task.instance == f"named\0{number}"
        assert (task.experiment.problem.arms.names, task.experiment.problem.arms.ids) == (
            plain,
            arms.ids,
        )


TEXTS = st.lists(st.text(st.characters(exclude_categories=()), max_size=4), min_size=2, max_size=2)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(TEXTS, st.lists(SCALARS, min_size=2, max_size=2))
def test_any_names_and_ids_are_accepted_as_they_are_or_refused(
    names: list[str], ids: list[Any]
) -> None:
    """Every text that UTF-8 holds and that is not blank, every integer of 64 bits, and nothing
    else."""
    storable = not any("\ud800" <= character <= "\udfff" for name in names for character in name)
    if storable and all(name.strip(" ") for name in names):
        assert PAIR.arms.with_names(names).names == tuple(names)
    else:
        with pytest.raises(ValueError, match=r"^names\[[01]\] is"):
            PAIR.arms.with_names(names)
    fine = all(
        isinstance(one, int | np.integer) and is_real(one) and -(2**63) <= one < 2**63
        for one in ids
    )
    if fine:
        assert PAIR.arms.with_names(["A", "B"], ids).ids == tuple(ids)
    else:
        with pytest.raises((TypeError, ValueError), match=r"^ids"):
            PAIR.arms.with_names(["A", "B"], ids)


def test_instances_of_studies_have_names_that_files_hold() -> None:
    """NumPy's texts become plain ones; half of a surrogate pair, NaN and long integers are no part
    of a study."""
    experiment = checked_experiment(PAIR, Vanilla(), 0.5, 0, 0.0, None)
    assert type(task_of(np.str_("a"), experiment).instance) is str
    for name, parameters in (
        ("a\ud800", {}),
        ("a", {"gap": math.nan}),
        ("a", {"n": 10**5000}),
        ("a", {"n": np.int64(3)}),
    ):
        with pytest.raises(
            ValueError, match=r"instance '.*' with parameters .* cannot be written down"
        ):
            task_of(name, experiment, parameters)
    for nameless in (b"a", "", 3, None):
        with pytest.raises(TypeError, match=r"instance is .*; give it a name, a text"):
            task_of(nameless, experiment)


def test_means_of_laws_from_outside_are_looked_at() -> None:
    """A law of another package that has NaN for a mean has no clusters."""
    for means in (np.array([0.5, math.nan]), np.array([[0.5, 0.25]]), np.array([1, 0]), ["a", "b"]):
        with pytest.raises(
            ValueError,
            match=r"^arms\.means is .*; means are a one-dimensional array of finite doubles: mend "
            r"the law",
        ):
            Problem(unchecked(PAIR.arms, means=means), (1, 1), (1, 0))


def test_masks_are_seen_without_a_limit_of_recursion() -> None:
    """A list within itself is refused like any other that holds no numbers."""
    endless: list[Any] = [0.5]
    endless.append(endless)
    assert not values.is_masked(endless)
    with pytest.raises((TypeError, ValueError), match=r"^means must be"):
        Gaussian(endless)


@pytest.mark.parametrize("given", ["ab", b"ab", 3, None, {"a": 1}, np.array(3)])
def test_what_is_no_list(given: object) -> None:
    """Texts and mappings would be gone through letter by letter, or by their keys."""
    with pytest.raises(TypeError, match=r"^ks is .*; give a list of numbers$"):
        entries("ks", given, "numbers")


def test_entries() -> None:
    """In order, of whatever can be gone through; each of its kind, and one at least."""
    assert entries("ks", (k for k in (3, 1)), "numbers") == [3, 1]
    assert entries("ks", np.array([3, 1]), "numbers") == [3, 1]
    with pytest.raises(ValueError, match=r"^ks is empty; give at least one number$"):
        entries("ks", [], "numbers", "number")
    with pytest.raises(TypeError, match=r"^ks holds 'a'; every entry must be an integer$"):
        entries("ks", [1, "a"], "numbers", "number", int, "an integer")


def test_paths() -> None:
    """Texts and pathlib's; what names nothing would be the working folder."""
    assert path_of("folder", "a/b") == path_of("folder", Path("a", "b")) == Path("a", "b")
    assert path_of("folder", ".") == Path()
    for wrong in (None, 3, b"a", ["a"]):
        with pytest.raises(TypeError, match=r"^folder is .*; give a path: a text"):
            path_of("folder", wrong)
    for name in ("", "a\0b"):
        with pytest.raises(ValueError, match=r"^folder is '.*', which names nothing; give a path"):
            path_of("folder", name)


def test_choices_are_texts() -> None:
    """An array of them is none, without an error about its truth value."""
    assert is_choice("a", ("a", "b"))
    assert not any(
        is_choice(one, ("a", "b")) for one in ("c", None, 1, np.array(["a", "b"]), ["a"])
    )
