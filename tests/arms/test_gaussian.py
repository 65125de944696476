"""Gaussian arms: the law of sums.

False alarms: fewer than 20 statistical comparisons, each at the level of `statistics_checks`;
the seeds are fixed.
"""

from __future__ import annotations

import math

from laws import sums
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
