"""Rows of policies: what they cost, against a search over theta, and how that depends on weights."""

from __future__ import annotations

import numpy as np
import pytest
from games import FAMILIES

from rai_sim.engine.policies import OTHER, OWN, divergences, measure_policies


def measured(
    family: int, v: np.ndarray, x: np.ndarray, kinds: np.ndarray, signs: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Measure rows; the first own column is the origin."""
    origins = np.array([np.flatnonzero(row == OWN)[0] for row in kinds])
    shape = kinds.shape
    distances, values = np.zeros(shape[0]), np.empty(shape[0])
    slopes, curves = np.empty(shape), np.empty(shape)
    measure_policies(
        family, v, x, kinds, origins, signs, distances, values, slopes, curves, np.empty(shape[1])
    )
    return x[origins] - signs * distances, values, slopes, curves


def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Draw weights, means and rows with an own column and another one."""
    n, rows = int(rng.integers(2, 9)), 6
    x = rng.uniform(0.05, 0.95, n).round(int(rng.integers(1, 4)))
    kinds = rng.integers(0, 3, (rows, n)).astype(np.uint8)
    kinds[:, 0], kinds[:, -1] = OWN, OTHER
    return rng.exponential(1.0, n), x, kinds, rng.choice([-1.0, 1.0], rows)


@pytest.mark.landing
@pytest.mark.parametrize("family", [0, 1])
def test_costs_are_the_least_over_theta(family: int) -> None:
    """Against 800 thetas, in plain Python; weights times costs is the value."""
    rng = np.random.default_rng(family)
    d = FAMILIES[family][1]
    for _ in range(12):
        v, x, kinds, signs = draw(rng)
        theta, values, slopes, _ = measured(family, v, x, kinds, signs)

        def at(row: int, t: float) -> float:
            right = signs[row] * (x - t) > 0.0  # noqa: B023
            moved = ((kinds[row] == OWN) & right) | ((kinds[row] == OTHER) & ~right)  # noqa: B023
            return float(sum(v[c] * d(x[c], t) for c in np.flatnonzero(moved)))  # noqa: B023

        for row in range(len(kinds)):
            least = min(at(row, t) for t in np.linspace(x.min(), x.max(), 800))
            assert values[row] == pytest.approx(at(row, theta[row]), rel=1e-9, abs=1e-15)
            assert values[row] <= least * (1.0 + 1e-12) + 1e-25
            assert slopes[row] @ v == pytest.approx(values[row], rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("family", [0, 1])
def test_slopes_and_curves_are_derivatives(family: int) -> None:
    """By differences, where no column begins to be moved nearby."""
    rng = np.random.default_rng(family + 7)
    compared = 0
    for _ in range(20):
        v, x, kinds, signs = draw(rng)
        theta, values, slopes, curves = measured(family, v, x, kinds, signs)
        way = rng.normal(size=len(v)) * v
        near = [measured(family, v + h * way, x, kinds, signs)[1] for h in (1e-4, -1e-4)]
        for row in range(len(kinds)):
            if values[row] > 1e-3 and np.abs(x - theta[row]).min() > 3e-3:
                compared += 1
                slope = (near[0][row] - near[1][row]) / 2e-4
                bend = (near[0][row] + near[1][row] - 2.0 * values[row]) / 1e-8
                assert slope == pytest.approx(slopes[row] @ way, rel=1e-4, abs=1e-6)
                assert bend == pytest.approx(-((curves[row] @ way) ** 2), rel=1e-2, abs=1e-4)
    assert compared > 30


def test_small_gaps_keep_their_digits() -> None:
    """Two arms 1e-12 apart: 2 w1 w2 gap^2 over w1 + w2."""
    x = np.array([0.75, 0.75 - 1e-12])
    gap = x[0] - x[1]
    _, values, _, _ = measured(
        0, np.array([1.0, 3.0]), x, np.array([[OWN, OTHER]], np.uint8), np.ones(1)
    )
    assert values[0] == pytest.approx(2.0 * 0.75 * gap * gap, rel=1e-12)


def test_divergences() -> None:
    """All thetas against all arms."""
    x, thetas = np.array([0.9, 0.5, 0.0]), np.array([0.25, 0.5])
    for family, (_, d) in enumerate(FAMILIES):
        nats = np.empty((2, 3))
        divergences(family, x, thetas, nats)
        assert nats.tolist() == [pytest.approx([d(p, t) for p in x]) for t in thetas.tolist()]
