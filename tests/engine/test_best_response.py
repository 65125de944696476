"""The cheapest alternatives, against every set of arms and a search for theta."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from games import FAMILIES, alternatives, cost
from numpy.typing import NDArray

from rai_sim.engine import best_response
from rai_sim.engine.best_response import BERNOULLI, GAUSSIAN, Moves
from rai_sim.engine.jit import exposed

divergence = exposed(best_response.divergence)


def rows(count: int, n: int) -> Moves:
    """Return so many rows."""
    return Moves(
        np.zeros(count, np.int64),
        np.zeros(count),
        np.zeros(count),
        np.zeros(count),
        np.zeros((count, n), np.uint8),
    )


def others_of(clusters: list[int]) -> NDArray[np.int64]:
    """Return for every rank how many others make it wrong."""
    n, ends = sum(clusters), np.cumsum(clusters)
    last = len(clusters) - 1
    return np.array(
        [
            (ends[i] if i < last else 0, n - ends[i] + c if i else 0)
            for i, c in enumerate(clusters)
            for _ in range(c)
        ],
        np.int64,
    )


def draw(rng: np.random.Generator) -> tuple[list[int], NDArray[np.float64], NDArray[np.float64]]:
    """Draw cluster sizes, falling means, with ties in some, and weights, some of them 0."""
    n = int(rng.integers(2, 8))
    cuts = np.sort(rng.choice(np.arange(1, n), rng.integers(1, min(n, 4)), replace=False))
    x = rng.uniform(0.0, 1.0, n) if rng.random() < 0.6 else rng.integers(0, 7, n) / 6.0
    w = rng.exponential(size=n) * 10.0 ** rng.uniform(-2.0, 2.0, n)
    w[rng.random(n) < 0.15] = 0.0
    return np.diff([0, *cuts, n]).tolist(), np.sort(x)[::-1].copy(), w


def room(n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what kernels need."""
    return np.empty((best_response.SCRATCH, n)), np.empty(best_response.OPEN)


@pytest.mark.landing
@pytest.mark.boundscheck
@pytest.mark.parametrize("family", [GAUSSIAN, BERNOULLI])
@pytest.mark.parametrize("instances", [60, pytest.param(2000, marks=pytest.mark.slow)])
def test_the_cheapest_of_all_sets_is_found(family: int, instances: int) -> None:
    """Of up to 7 arms, those named being all of them, ties and weights of 0 included; its row says
    what it costs."""
    _, d = FAMILIES[family]
    rng = np.random.default_rng(instances + family)
    for _ in range(instances):
        clusters, x, w = draw(rng)
        n = len(x)
        moves = rows(n, n)
        best_response.cheapest_moves(
            family, w, x, np.arange(n), others_of(clusters), np.inf, moves, *room(n)
        )
        for k in range(n):
            exact = min(cost(d, w.tolist(), x.tolist(), one) for one in alternatives(clusters, [k]))
            assert moves.values[k] == pytest.approx(exact, rel=1e-7, abs=1e-12)
            theta = x[k] - moves.signs[k] * moves.distances[k]
            told = sum(
                w[j] * d(x[j], theta)
                for j in range(n)
                if w[j] > 0.0
                and (j == k or (moves.sets[k, j] and moves.signs[k] * (theta - x[j]) > 0.0))
            )
            assert moves.values[k] == pytest.approx(told, rel=1e-7, abs=1e-12)


def test_a_limit_passes_over_what_costs_more() -> None:
    """Arms whose cheapest move costs less are found as before, the others are said to cost inf."""
    rng = np.random.default_rng(5)
    passed = 0
    for _ in range(60):
        clusters, x, w = draw(rng)
        n = len(x)
        whole, some = rows(n, n), rows(n, n)
        given = (np.arange(n), others_of(clusters))
        best_response.cheapest_moves(0, w, x, *given, np.inf, whole, *room(n))
        limit = float(np.median(whole.values))
        best_response.cheapest_moves(0, w, x, *given, limit, some, *room(n))
        cheap = whole.values < limit * (1.0 - 1e-9)
        assert np.allclose(some.values[cheap], whole.values[cheap], rtol=1e-11)
        assert np.isinf(some.values[whole.values > limit]).all()
        passed += int((~cheap).sum())
    assert passed > 50


@pytest.mark.boundscheck
def test_all_local_minima_below_a_limit_are_found() -> None:
    """Ten challengers of one leader with even weights: each pair is one, with its own theta; as
    many are written as there are rows."""
    x, w = (
        np.array([0.9, *np.linspace(0.5, 0.4, 10)]),
        np.array([1.0, *np.geomspace(0.1, 0.16, 10)]),
    )
    w[1:] = w[1:][::-1]
    pairs = [cost(FAMILIES[0][1], w.tolist(), x.tolist(), (0, 1, (j,))) for j in range(1, 11)]
    w[1:] *= 1.0  # unequal means, weights that fall: the costs of pairs differ
    named, others = np.zeros(1, np.int64), np.array([[1, 0]])
    moves = rows(40, 11)
    count = best_response.cheap_moves(0, w, x, named, others, np.inf, moves, *room(11))
    assert min(moves.values[:count]) == pytest.approx(min(pairs), rel=1e-9)
    assert len({bytes(one) for one in moves.sets[:count]}) == count
    below = sorted(pairs)[4] * (1.0 - 1e-9)
    few = best_response.cheap_moves(0, w, x, named, others, below, moves, *room(11))
    assert (moves.values[:few] < below).all()
    assert best_response.cheap_moves(0, w, x, named, others, np.inf, rows(1, 11), *room(11)) == 1


@pytest.mark.boundscheck
@pytest.mark.parametrize("family", [GAUSSIAN, BERNOULLI])
def test_slopes_and_curves_are_the_derivatives(family: int) -> None:
    """Of what an alternative costs, by finite differences of the search."""
    d = FAMILIES[family][1]
    x, w = np.array([0.8, 0.7, 0.5, 0.3]), np.array([0.3, 0.2, 0.4, 0.7])
    for k, sign, those in [(0, 1, (2,)), (0, 1, (1, 3)), (3, -1, (2, 1)), (2, -1, (0,))]:
        moves = rows(1, 4)
        moves.arms[0], moves.signs[0], moves.sets[0, list(those)] = k, sign, 1
        slopes, curves = np.empty((1, 4)), np.empty((1, 4))
        best_response.measure(
            family, w, x, moves, len(moves.arms), slopes, curves, np.empty((4, 4))
        )

        def at(change: Any) -> float:
            return cost(d, (w + change).tolist(), x.tolist(), (k, sign, those))  # noqa: B023

        assert moves.values[0] == pytest.approx(at(0.0), rel=1e-12)
        for p in range(4):
            step = 1e-3 * np.eye(4)[p]
            assert slopes[0, p] == pytest.approx((at(step) - at(-step)) / 2e-3, rel=1e-5, abs=1e-6)
            second = (at(step) - 2.0 * at(0.0) + at(-step)) / 1e-6
            assert -(curves[0, p] ** 2) == pytest.approx(second, rel=1e-2, abs=1e-4)


@pytest.mark.parametrize(
    ("x", "e", "exact"),
    [
        (1.0, -0.75, math.log(4.0)),
        (0.0, 0.75, math.log(4.0)),
        (0.5, 0.5, math.inf),
        (0.5, -0.5, math.inf),
        (0.5, 1e-9, 2e-18),
        (0.25, 1e-12, 1e-24 / 0.375),
        (1e-300, 1e-300, 1e-300 * (1.0 - math.log(2.0))),
        (5e-324, 0.5, math.log(2.0)),
        (0.75, 0.0, 0.0),
    ],
)
def test_kl_keeps_its_digits(x: float, e: float, exact: float) -> None:
    """At the ends, and near to each other, where the textbook's formula has none left."""
    assert divergence(BERNOULLI, x, e) == pytest.approx(exact, rel=1e-9)


def test_kl_is_smooth_where_its_formula_changes() -> None:
    """A series below a hundredth, a logarithm above, another far above."""
    for u in (0.0099999, 0.0100001, -0.0099999, -0.0100001, 999.9, 1000.1):
        x = 2.0**-12
        assert divergence(BERNOULLI, x, u * x) == pytest.approx(
            FAMILIES[1][1](x, x + u * x), rel=1e-9
        )
