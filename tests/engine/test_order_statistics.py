"""Order statistics without a sort, against a sort."""

from __future__ import annotations

import numpy as np
import pytest

from rai_sim.engine import order_statistics as counted
from rai_sim.engine.jit import exposed
from rai_sim.engine.order_statistics import BUCKETS

order_statistics = exposed(counted.order_statistics)
greatest_first = exposed(counted.greatest_first)


def draw(rng: np.random.Generator, kind: str, n: int) -> np.ndarray:
    """Draw n numbers, not all the same."""
    if kind == "ties":
        return rng.integers(0, 5, n) + np.arange(n) // (n - 1) * 9.0
    if kind == "sums":
        return rng.binomial(2000, rng.random(n)).astype(float)
    if kind == "far":
        return np.append(rng.integers(0, 2 * 10**9, n - 1), 1.0)
    if kind == "outlier":  # all but one in a bucket
        return np.append(rng.random(n - 1), 1e12)
    if kind == "sorted":
        return np.sort(rng.normal(size=n))
    return rng.normal(size=n) * 10.0 ** rng.integers(-200, 200)


@pytest.mark.boundscheck
@pytest.mark.parametrize("kind", ["ties", "sums", "far", "outlier", "sorted", "reals"])
def test_values_of_ranks_are_those_of_a_sort(kind: str) -> None:
    """200 samples of 2 to 3,000 numbers, up to 12 ranks each, some asked for twice; what stands
    beyond them does not count."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        n = int(np.exp(rng.uniform(np.log(2), np.log(3000))))
        values = np.append(draw(rng, kind, n), 1e300)
        before = values.copy()
        count = int(rng.integers(1, min(n, 12) + 1))
        ranks = np.append(np.sort(rng.choice(n, count)), -1)
        found = np.full(count + 1, np.nan)
        room, buckets = np.empty(n), np.empty(BUCKETS, np.int64)
        assert order_statistics(values, n, ranks, count, found, buckets, room)
        assert np.array_equal(found[:count], np.sort(values[:n])[::-1][ranks[:count]])
        assert np.isnan(found[count])
        assert np.array_equal(values, before)


@pytest.mark.parametrize(
    "values", [[3.0], [2.0] * 9, [-1.7e308, 0.0, 1.7e308], [0.0, 5e-324, 1e-323], [1.0, np.nan]]
)
def test_ranges_that_cannot_be_shared_out_are_told(values: list[float]) -> None:
    """Nothing, or so much or so little that shares of it overflow."""
    n = len(values)
    ranks, buckets = np.zeros(1, np.int64), np.empty(BUCKETS, np.int64)
    given = np.array(values)
    assert not order_statistics(given, n, ranks, 1, np.empty(1), buckets, np.empty(n))


@pytest.mark.boundscheck
def test_the_greatest_come_to_the_front() -> None:
    """With their arms, whoever they are."""
    rng = np.random.default_rng(2)
    for n in (1, 2, 7, 500):
        values = rng.integers(0, 20, n).astype(float)
        of = dict(enumerate(values.tolist()))
        order = np.arange(n)
        least = float(rng.integers(0, 21))
        front = greatest_first(order, values, n, least)
        assert sorted(order.tolist()) == list(range(n))
        assert [of[arm] for arm in order.tolist()] == values.tolist()
        assert (values[:front] >= least).all()
        assert (values[front:] < least).all()
