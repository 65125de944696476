"""Bernoulli arms: the variance proxy of Kearns and Saul, and the law of sums.

False alarms: fewer than 40 statistical comparisons, each at the level of `statistics_checks`;
the seeds are fixed.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from laws import quotients, sums, sums_between
from scipy import stats
from statistics_checks import (
    LEVEL,
    bin_edges,
    chi_square,
    counts_in,
    fit,
    masses,
)

from rai_sim import Bernoulli
from rai_sim.arms.bernoulli import kearns_saul


@pytest.mark.parametrize(
    "p", [1e-300, 1e-12, 1e-3, 0.1, 0.4, 0.499, 0.49995, 0.5, 0.50005, 0.7, 0.999, 1 - 1e-12]
)
def test_kearns_saul_is_the_supremum(p: float) -> None:
    """Never below it, and within the 2e-8 by which the plateau around 1/2 lies above it."""
    levels, chances = np.array([-p, 1.0 - p]), np.array([1.0 - p, p])
    t = np.geomspace(3e-3, 1e5, 100_000)
    largest = max(
        p * (1.0 - p), quotients(levels, chances, t).max(), quotients(levels, chances, -t).max()
    )
    assert largest * (1.0 - 1e-9) <= kearns_saul(p) <= min(0.25, largest * (1.0 + 1e-7))


def test_kearns_saul_at_the_ends() -> None:
    """Zero where nothing is random, positive as soon as anything is, symmetric, largest at 1/2."""
    assert kearns_saul(0.0) == kearns_saul(1.0) == 0.0
    assert kearns_saul(5e-324) == pytest.approx(1.0 / (2.0 * 1074.0 * math.log(2.0)), rel=1e-12)
    assert kearns_saul(0.25) == pytest.approx(kearns_saul(0.75), rel=1e-15)
    grid = [kearns_saul(p) for p in np.linspace(0.001, 0.5, 1000)]
    assert grid == sorted(grid)


# What kernels draw.


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_certain_bernoulli_arms(p: float) -> None:
    """No chance: by single pulls, by words and by binomials."""
    for arms in (Bernoulli([p, 0.5]), Bernoulli([p, 1e-5])):
        for k in (1, 64, 65):
            assert (sums(arms, 0, k, 100) == p * k).all()
        assert (sums(arms, 0, 3, 100, at_once=False) == p * 3).all()


@pytest.mark.parametrize(
    ("arms", "wordy"),
    [(Bernoulli([0.3, 0.85, 0.0]), True), (Bernoulli([0.3, 0.85, 1e-5, 1.0]), False)],
)
def test_bernoulli_sums(arms: Bernoulli, wordy: bool) -> None:
    """Chi-square against binomials, by words where every mean allows them: 15 comparisons and 14
    controls."""
    assert arms.kernel_law().wordy == wordy
    for arm, k, at_once in [
        *product((0, 1), (1, 7, 64, 65, 1000), (True,)),
        *product((0, 1), (1, 20), (False,)),
    ]:
        p = float(arms.means[arm])
        law, wrong = stats.binom(k, p), stats.binom(k, p - 0.05 * math.sqrt(p * (1.0 - p) / k))
        draws = sums(arms, arm, k, at_once=at_once)
        edges = bin_edges(law, draws.size)
        assert chi_square(counts_in(edges, draws), masses(law, edges)) > LEVEL
        assert chi_square(counts_in(edges, draws), masses(wrong, edges)) < LEVEL
    if not wordy:
        assert fit(stats.binom(10**6, 1e-5), sums(arms, 2, 10**6)) > LEVEL


def test_sums_between_two_known_ones() -> None:
    """Chi-square against hypergeometrics: three comparisons, each with a control."""
    arms = Bernoulli([0.3, 0.8])
    for k, ones, later_k in [(3, 5, 11), (32, 50, 64), (500_000, 300_000, 1_000_000)]:
        draws = sums_between(arms, 1, k, 3.0 + ones, later_k) - 3.0
        for extra in (0, max(1, ones // 500)):
            law = stats.hypergeom(later_k, ones + extra, k)
            edges = bin_edges(law, draws.size, whole=True)
            p_value = chi_square(counts_in(edges, draws), masses(law, edges))
            assert (p_value > LEVEL) == (extra == 0)
