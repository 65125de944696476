"""Thresholds: the formulas against what they are made of, kernels against plain Python."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

from rai_sim.engine import stopping
from rai_sim.engine.jit import exposed


@pytest.mark.parametrize("n", [1, 7, 300])
@pytest.mark.parametrize("rho", [0.3, 2.0])
def test_a_mixture_is_what_precision_and_growth_say(n: int, rho: float) -> None:
    """Its logarithm is A (x - mu)^2 / 2 less the growth: an integral over normal slopes."""
    v, excess = n / 4.0, 0.3 * math.sqrt(n)  # S - n mu

    def at(y: float) -> float:
        prior = math.exp(-(y**2) * rho / 2.0) * math.sqrt(rho / (2.0 * math.pi))
        return prior * math.exp(y * excess - y * y * v / 2.0)

    exact, _ = quad(at, -60.0, 60.0, points=[0.0, excess / (v + rho)], limit=200)
    x = excess / n
    found = 0.5 * stopping.precision(n, rho) * x * x - stopping.growth(n, rho)
    assert found == pytest.approx(math.log(exact), rel=1e-9)


@pytest.mark.parametrize(("a", "b", "gap"), [(3.0, 3.0, 0.5), (40.0, 2.0, 0.1), (1e9, 5e3, 1e-3)])
def test_evidence_is_the_least_of_what_both_arms_tell(a: float, b: float, gap: float) -> None:
    """Over all means that are in the other order, of which those that are equal tell least."""
    least = minimize_scalar(
        lambda mu: 0.5 * a * (gap - mu) ** 2 + 0.5 * b * mu**2, (0.0, gap), options={"xtol": 1e-10}
    )
    assert stopping.evidence(gap, a, b) == pytest.approx(least.fun, rel=1e-9)
    worse = 0.5 * a * (gap - 0.4 * gap) ** 2 + 0.5 * b * (0.6 * gap) ** 2
    assert worse >= stopping.evidence(gap, a, b)


def test_rho_makes_a_mixture_tight_at_thirty_pulls() -> None:
    """What an arm's sum must reach alone at v = 30 / 4 is near its least over rho; for tiny levels
    the formula is that of 1/2."""

    def reached(rho: float, level: float) -> float:
        v = 30.0 / 4.0
        inside = math.sqrt((v + rho) / rho) * math.exp(level) / 2.0 + 1.0
        return math.sqrt(2.0 * (v + rho) * math.log(inside))

    for level in (2.0, 7.0, 230.0):
        least = min(reached(rho, level) for rho in np.geomspace(1e-3, 100.0, 2000))
        assert reached(stopping.tuned_rho(level), level) < 1.01 * least
    assert stopping.tuned_rho(0.1) == stopping.tuned_rho(math.log(2.0))


def test_gk16() -> None:
    """ln((1 + ln t) / delta), also for a delta whose inverse is no double."""
    assert stopping.gk16_level(math.log(100.0), 1000.0) == pytest.approx(
        math.log((1.0 + math.log(1000.0)) * 100.0)
    )
    assert stopping.gk16_level(750.0, 1.0) == 750.0


def test_kernels_and_arrays_do_the_same() -> None:
    """Number for number."""
    n = np.array([1.0, 16.0, 1e9])
    kernels: list[tuple[Any, Any]] = [
        (stopping.precision, stopping.precision_of),
        (stopping.growth, stopping.growth_of),
    ]
    for plain, compiled in kernels:
        one_by_one = [exposed(compiled)(x, 0.5) for x in n.tolist()]
        assert one_by_one == pytest.approx(plain(n, 0.5).tolist(), rel=1e-15)
    one_by_one = [exposed(stopping.evidence_of)(0.1, x, 40.0) for x in n.tolist()]
    told = stopping.evidence(np.full(3, 0.1), n, np.full(3, 40.0))
    assert one_by_one == pytest.approx(told.tolist(), rel=1e-15)
    found = exposed(stopping.gk16_level_of)(4.6, 100.0)
    assert found == pytest.approx(stopping.gk16_level(4.6, 100.0), rel=1e-15)
