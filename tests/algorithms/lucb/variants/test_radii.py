"""LUCB's radii: formulas, levels, and how often walks pass them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import zeta

from rai_sim.algorithms.lucb.variants import radii
from rai_sim.algorithms.lucb.variants.radii import TUNED_PULLS, Side, radii_of, side_of
from rai_sim.engine.jit import driver

#: Levels of a side; the last two far out.
LEVELS = [0.01 / 20, 0.05, 0.4, 1e-12, 1e-200]
NAMES = ["paper", "mixture", "stitched"]


@driver
def known(side: Side, R: int, n: float) -> float:
    """Return a radius as kernels compute it."""
    return radii.radius_of(side, radii.log_of_round(side, R), n)


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("level", LEVELS)
def test_formulas(name: Any, level: float, alone: bool) -> None:
    """u(n / 4) / n, or the paper's, written down by logarithms of the level; kernels and traces have
    the same numbers."""
    log = -math.log(level)
    side = side_of(name, level, alone)
    for R, n in ((1, 1.0), (7, 3.0), (1_000, 900.0), (10**9, 1e9), (10**15, 1e12)):
        v = n / 4
        if name == "paper":
            radius = math.sqrt((3 * math.log(R) + math.log(math.pi**2 / 6) + log) / (2 * n))
        elif name == "stitched":
            inside = 1.4 * math.log(math.log(2 * n)) + log
            inside += math.log(float(zeta(1.4))) - 1.4 * math.log(math.log(2))
            radius = (2**0.25 + 2**-0.25) / math.sqrt(2) * math.sqrt(v * inside) / n
        else:
            L = max(log - math.log(2), 0.5)
            rho = TUNED_PULLS / 4 / (2 * L + math.log(1 + 2 * L))
            x = 0.5 * math.log((v + rho) / rho) + log - math.log(2)
            logs = float(np.logaddexp(x, 0.0)) if alone else x
            radius = math.sqrt(2 * (v + rho) * logs) / n
        assert known(side, R, n) == pytest.approx(radius, rel=1e-12)
        told = radii_of(side, np.array([float(R)]), np.array([n]))
        assert told[0] == pytest.approx(radius, rel=1e-12)


def test_the_paper_s_radius_is_that_of_its_level() -> None:
    """At delta / (2 N) it is sqrt(ln(pi^2 R^3 N / (3 delta)) / (2 n))."""
    N, delta, R, n = 10, 0.01, 37, 12.0
    expected = math.sqrt(math.log(math.pi**2 * R**3 * N / (3 * delta)) / (2 * n))
    assert known(side_of("paper", delta / (2 * N), alone=False), R, n) == pytest.approx(expected)


def test_only_the_paper_s_radius_knows_of_rounds() -> None:
    """The others are functions of an arm's pulls."""
    for name in NAMES:
        side = side_of(name, 0.01, alone=False)  # type: ignore[arg-type]
        assert (known(side, 5, 10.0) == known(side, 5_000, 10.0)) == (name != "paper")


def test_the_mixture_is_narrowest_where_it_is_tuned() -> None:
    """Among tunings from a tenth to ten times that, to a hundredth."""
    level = 0.01 / 20
    side = side_of("mixture", level, alone=False)
    at = np.array([float(TUNED_PULLS)])
    here = radii_of(side, at, at)[0]
    others = [
        radii_of(side._replace(tuning=side.tuning * factor), at, at)[0]
        for factor in np.geomspace(0.1, 10.0, 41)
    ]
    assert here < 1.001 * min(others)
    assert max(others) > 1.05 * here


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "alone", "level"),
    [("mixture", False, 0.1), ("mixture", True, 0.2), ("stitched", True, 0.2)],
)
def test_walks_pass_as_seldom_as_they_are_said_to(name: Any, alone: bool, level: float) -> None:
    """2,000 walks of Gaussian steps, 50,000 pulls: the two sides together are passed with
    probability at most twice the level, one with the level; 99.9 % bounds.

    Negative control: two thirds of the radius is not enough.
    """
    rng = np.random.default_rng(7)
    n = np.arange(1.0, 50_001.0)
    bound = n * radii_of(side_of(name, level, alone), n, n)
    most = level if alone else 2.0 * level
    passed = narrow = 0
    for _ in range(2_000):
        walk = 0.5 * np.cumsum(rng.standard_normal(len(n)))
        walk = walk if alone else np.abs(walk)
        passed += bool((walk >= bound).any())
        narrow += bool((walk >= 2.0 / 3.0 * bound).any())
    assert stats.binomtest(passed, 2_000, most, "greater").pvalue > 1e-3
    assert passed > (0.2 if name == "mixture" else 0.02) * most * 2_000  # nor far too wide
    assert name == "stitched" or stats.binomtest(narrow, 2_000, most, "greater").pvalue < 1e-6
