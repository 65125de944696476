"""The game of an answer: both certificates by hand, and its value by a linear program on a grid."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from games import FAMILIES, alternatives, cost, value_on_grid
from numpy.typing import NDArray

from rai_sim.bounds.game import Board, solve


def board_of(family: int, means: NDArray[np.float64], clusters: list[int]) -> Board:
    """Return the board of means by rank."""
    n, ends = sum(clusters), np.cumsum(clusters)
    down = np.where(ends < n, ends, 0)
    up = np.where(ends > clusters, n - ends + clusters, 0)
    return Board(family, means, np.repeat(np.stack([down, up], 1), clusters, axis=0))


CASES = [
    ([0.8, 0.6, 0.5], [1, 2], [0]),
    ([0.8, 0.6, 0.5, 0.5], [2, 2], [0, 1]),
    ([0.9, 0.7, 0.6, 0.55, 0.3], [2, 2, 1], [1, 3]),
    ([0.95, 0.6, 0.6, 0.4, 0.35, 0.1], [1, 4, 1], [1, 2]),
    ([0.9, 0.8, 0.7, 0.3, 0.2, 0.1], [1, 1, 1, 1, 1, 1], [0, 1, 2, 3, 4, 5]),
]


@pytest.mark.parametrize("family", [0, 1])
@pytest.mark.parametrize(("x", "clusters", "named"), CASES)
def test_certificates_hold(
    family: int, x: list[float], clusters: list[int], named: list[int]
) -> None:
    """The weights leave every set of movers at least `low`; the mixture makes no pull worth more
    than `high`; and both agree."""
    d = FAMILIES[family][1]
    found = solve(board_of(family, np.array(x), clusters), np.array(named))
    w = found.weights.tolist()
    assert sum(w) == pytest.approx(1.0)
    worst = min(cost(d, w, x, move) for move in alternatives(clusters, named))
    assert found.low == pytest.approx(worst, rel=1e-7)
    worth = np.zeros(len(x))
    for row, share in enumerate(found.mixture):
        k, sign = int(found.moves.arms[row]), found.moves.signs[row]
        assert k in named
        theta = x[k] - sign * found.moves.distances[row]
        beyond = [j for j in range(len(x)) if j != k and sign * (x[j] - theta) >= -1e-15]
        moved = [
            j for j in range(len(x)) if found.moves.sets[row, j] and sign * (theta - x[j]) > 0.0
        ]
        i = next(i for i in range(len(clusters)) if k < sum(clusters[: i + 1]))
        wanted = sum(clusters[: i + 1]) if sign > 0 else len(x) - sum(clusters[:i])
        assert len({*beyond, *moved}) >= wanted  # so k is wrong there
        for j in (k, *moved):
            worth[j] += share * d(x[j], theta)
    assert found.mixture.sum() == pytest.approx(1.0)
    assert found.high == pytest.approx(worth.max(), rel=1e-9)
    assert found.low <= found.high * (1.0 + 1e-12)
    assert found.high / found.low < 1.0 + 1e-8


def test_a_game_is_left_as_soon_as_it_is_lost() -> None:
    """Its upper bound below what another answer guarantees says enough."""
    board = board_of(0, np.array([0.8, 0.6, 0.5]), [1, 2])
    whole = solve(board, np.array([0]))
    left = solve(board, np.array([0]), enough=10.0 * whole.high)
    assert left.low == 0.0
    assert whole.low <= left.high < 10.0 * whole.high


@pytest.mark.parametrize("instances", [6, pytest.param(200, marks=pytest.mark.slow)])
def test_values_agree_with_a_linear_program(instances: int) -> None:
    """Random instances of up to 7 arms; alternatives on 25 points between means."""
    rng = np.random.default_rng(instances)
    for family in itertools.islice(itertools.cycle((0, 1)), instances):
        n = int(rng.integers(2, 8))
        cuts = np.sort(rng.choice(np.arange(1, n), int(rng.integers(1, min(n, 4))), replace=False))
        clusters = np.diff([0, *cuts, n]).tolist()
        x = np.sort(rng.uniform(0.05, 0.95, n))[::-1].copy()
        named = sorted(rng.choice(n, int(rng.integers(1, min(n, 3) + 1)), replace=False).tolist())
        found = solve(board_of(family, x, clusters), np.array(named, np.int64))
        exact = value_on_grid(FAMILIES[family][1], x.tolist(), clusters, named, 25)
        assert found.high <= exact * (1.0 + 1e-7)
        assert found.high >= exact * 0.99
