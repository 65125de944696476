"""Gaussian arms: the law of sums.

False alarms: fewer than 20 statistical comparisons, each at the level of `statistics_checks`;
the seeds are fixed.
"""

from __future__ import annotations

import math

from laws import sums, sums_between
from scipy import stats
from statistics_checks import (
    LEVEL,
    bin_edges,
    chi_square,
    counts_in,
    masses,
)

from rai_sim import Gaussian


def test_gaussian_sums() -> None:
    """Chi-square against normals: six comparisons, each with a control."""
    arms = Gaussian([0.25, -3.0], sd=0.75)
    for arm, k, at_once in [
        (0, 1, True),
        (1, 64, True),
        (1, 10**9, True),
        (0, 1, False),
        (1, 1, False),
        (1, 9, False),
    ]:
        mean, sd = k * arms.means[arm], 0.75 * math.sqrt(k)
        draws = sums(arms, arm, k, at_once=at_once)
        edges = bin_edges(stats.norm(mean, sd), draws.size, whole=False)
        assert chi_square(counts_in(edges, draws), masses(stats.norm(mean, sd), edges)) > LEVEL
        assert (
            chi_square(counts_in(edges, draws), masses(stats.norm(mean + 0.05 * sd, sd), edges))
            < LEVEL
        )


def test_sums_between_two_known_ones() -> None:
    """Chi-square against the law of a sum given a later one: three comparisons, each with a control."""
    arms = Gaussian([0.25, -3.0], sd=0.75)
    for k, later, later_k in [(1, 0.0, 2), (40, 25.0, 64), (10**8, 10**9, 10**9)]:
        mean = 3.0 + (later - 3.0) * k / later_k
        sd = 0.75 * math.sqrt(k * (later_k - k) / later_k)
        draws = sums_between(arms, 1, k, later, later_k)
        edges = bin_edges(stats.norm(mean, sd), draws.size, whole=False)
        found = counts_in(edges, draws)
        assert chi_square(found, masses(stats.norm(mean, sd), edges)) > LEVEL
        assert chi_square(found, masses(stats.norm(mean, 1.05 * sd), edges)) < LEVEL
