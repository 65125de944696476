"""Sums are exact, whatever the pieces."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from rai_sim.simulation.statistics import Aggregate, stretches_of
from rai_sim.simulation.sums import bin_edges, bin_of

Columns = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]


def columns(pulls: list[int], seed: int = 0) -> Columns:
    """Return columns with these pulls, some not finished, some wrong."""
    rng = np.random.default_rng(seed)
    many = np.array(pulls, np.int64)
    finished = rng.random(len(pulls)) < 0.8
    return many, many // 3 + 1, finished & (rng.random(len(pulls)) < 0.7), finished


def by_hand(some: Columns) -> dict[str, Any]:
    """Return the sums by Python's integers, one replication after the other."""
    rows = [(int(p), int(r), bool(c)) for p, r, c, f in zip(*some, strict=True) if f]
    pulls = [p for p, _, _ in rows]
    return {
        "replications": len(some[0]),
        "finished": len(rows),
        "errors": sum(not c for _, _, c in rows),
        "pulls_sum": sum(pulls),
        "pulls_squares": sum(p * p for p in pulls),
        "rounds_sum": sum(r for _, r, _ in rows),
        "pulls_least": min(pulls, default=0),
        "pulls_most": max(pulls, default=0),
    }


numbers = st.one_of(st.integers(1, 600), st.integers(1, 2**40), st.integers(2**61, 2**62))


@given(st.lists(numbers, min_size=1, max_size=60), st.integers(0, 5))
def test_sums_are_those_of_integers(pulls: list[int], seed: int) -> None:
    """Also where squares and sums pass int64."""
    some = columns(pulls, seed)
    made = Aggregate.of(*some)
    assert {name: getattr(made, name) for name in by_hand(some)} == by_hand(some)
    assert made.counts.sum() == made.finished
    assert made.bins.tolist() == sorted(set(bin_of(some[0][some[3]]).tolist()))


@pytest.mark.landing
@given(st.lists(numbers, min_size=2, max_size=60), st.integers(0, 5), st.data())
def test_pieces_add_up_in_any_order(pulls: list[int], seed: int, data: st.DataObject) -> None:
    """Cut anywhere, added in any order: the same to the bit; many stretches at once give each its
    own."""
    some = columns(pulls, seed)
    cuts = sorted(data.draw(st.sets(st.integers(1, len(pulls) - 1), max_size=5)))
    starts = np.array([0, *cuts])
    ends = [*cuts, len(pulls)]
    pieces = [
        Aggregate.of(some[0][a:b], some[1][a:b], some[2][a:b], some[3][a:b])
        for a, b in zip(starts, ends, strict=True)
    ]
    assert stretches_of(*some, starts).aggregates() == pieces
    order = data.draw(st.permutations(pieces))
    total = order[0]
    for piece in order[1:]:
        total = total + piece
    assert total == Aggregate.of(*some)


@pytest.mark.landing
def test_long_and_large_columns_agree_with_integers() -> None:
    """More than 2^20 numbers near 2^62, which are summed digit by digit in parts."""
    pulls = np.random.default_rng(1).integers(2**61, 2**62, (1 << 20) + 5)
    yes = np.ones(len(pulls), bool)
    made = Aggregate.of(pulls, pulls, yes, yes)
    assert made.pulls_squares == sum(p * p for p in pulls.tolist())
    assert made.pulls_sum == made.rounds_sum == sum(pulls.tolist())


def test_statistics_are_numpys() -> None:
    """Mean, standard deviation and error, where doubles hold everything; NaN where there is too
    little."""
    pulls = np.random.default_rng(2).integers(1000, 9000, 500)
    yes = np.ones(500, bool)
    made = Aggregate.of(pulls, pulls // 2, yes, yes)
    assert made.mean == pulls.mean()
    assert made.standard_deviation == pytest.approx(pulls.std(ddof=1), rel=1e-14)
    assert made.standard_error == pytest.approx(pulls.std(ddof=1) / math.sqrt(500), rel=1e-14)
    assert made.mean_rounds == (pulls // 2).mean()
    one = Aggregate.of(pulls[:1], pulls[:1], yes[:1], yes[:1])
    assert one.mean == pulls[0]
    assert math.isnan(one.standard_deviation)
    assert math.isnan(one.standard_error)
    none = Aggregate.of(pulls, pulls, ~yes, ~yes)
    assert all(
        math.isnan(x)
        for x in (none.mean, none.mean_rounds, none.standard_deviation, none.quantile(0.5))
    )
    assert none + made == made + none
    assert (none + made).pulls_least == made.pulls_least


@settings(max_examples=30)
@given(st.lists(st.integers(1, 2**62), min_size=1, max_size=300))
def test_quantiles_are_those_of_the_numbers_to_within_a_bin(pulls: list[int]) -> None:
    """At most 1/512 beside the inverted distribution function; exact below 512 and at the top."""
    many, yes = np.array(pulls), np.ones(len(pulls), bool)
    made = Aggregate.of(many, many, yes, yes)
    for share in (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0):
        true = sorted(pulls)[max(math.ceil(share * len(pulls)), 1) - 1]
        found = made.quantile(share)
        assert abs(found - true) <= (0 if true < 512 else true / 512 + 1)
    assert made.quantile(1.0) == float(max(pulls))


@given(st.integers(0, 2**62))
def test_bins_hold_their_numbers(pulls: int) -> None:
    """Edges enclose the number; the next number beyond them lies in the next bin."""
    number = int(bin_of(np.array([pulls]))[0])
    low, high = bin_edges(number)
    assert low <= pulls <= high
    assert bin_of(np.array([high + 1])).tolist() == [number + 1]
    assert (high - low + 1) * 256 <= max(low, 256)


def test_bins_near_powers_of_two_beyond_2_53() -> None:
    """Where the conversion to doubles rounds up to the next power of two."""
    for exponent in range(50, 62):
        below, at = bin_of(np.array([2**exponent - 1, 2**exponent])).tolist()
        assert at == below + 1
