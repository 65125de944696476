"""Uniform arms: ends, the variance proxy, pulls and their sums.

False alarms: three statistical comparisons, each at the level of `statistics_checks`; the seeds are
fixed.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from laws import sums
from scipy import stats
from statistics_checks import LEVEL, bin_edges, chi_square, counts_in, masses

from rai_sim import Uniform, Vanilla, best_arm, simulate


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        ([0.0, 0.5], [1.0, 0.5], r"high\[1\] is 0.5 but low\[1\] is 0.5; give an interval"),
        ([0.0, 0.5], [1.0], "high has 1 entries but low has 2"),
        ([np.nan], [1.0], r"low\[0\] is nan"),
        ([], [], "low must be"),
    ],
)
def test_what_is_no_uniform_law(low: list[float], high: list[float], message: str) -> None:
    """Is refused by the entry's name."""
    with pytest.raises(ValueError, match=message):
        Uniform(low, high)


def test_how_wide_a_uniform_law_may_be() -> None:
    """sqrt(12) sigma, the widest arm counts."""
    assert Uniform([0.0, 0.0], [1.0, math.sqrt(3.0)]).why_not_sub_gaussian() is None
    flaw = Uniform([0.0, 0.0], [1.0, 1.7321]).why_not_sub_gaussian()
    assert flaw == "the interval of arm 1 is 1.7321 wide, more than sqrt(12) times sigma, 1/2"
    for width in (0.1, 2.0, 7.3):
        narrow = Uniform([0.0], [width], sigma=width / math.sqrt(12.0))
        assert narrow.why_not_sub_gaussian() is None
        assert Uniform([0.0], [width], sigma=width / 3.47).why_not_sub_gaussian() is not None


def test_what_kernels_know() -> None:
    """Of arms apart the range is that of all, the proxy that of the widest; with sigma, over 2
    sigma."""
    law = Uniform([0.0, 0.25], [0.5, 1.0]).kernel_law()
    assert (law.width, law.variance_proxy) == (1.0, 0.75**2 / 12.0)
    assert law.mean.tolist() == [0.25, 0.625]
    t = np.geomspace(0.01, 300.0, 500)
    cumulant = np.log(np.sinh(t / 2.0) / (t / 2.0))  # of width 1
    assert (cumulant <= t**2 / 24.0).all()
    assert not (cumulant <= 0.999 * t**2 / 24.0).all()
    told = Uniform([0.0, 1.0], [2.0, 4.0], sigma=1.0).kernel_law()
    assert (told.width, told.low.tolist(), told.widths.tolist()) == (2.0, [0.0, 0.5], [1.0, 1.5])


@pytest.mark.slow
def test_pulls_and_sums() -> None:
    """Chi-square of one pull, and of two against the triangular law; the controls end a hundredth
    later."""
    arms = Uniform([0.0, -1.0], [0.5, 3.0])
    for arm, k, law, wrong in (
        (0, 1, stats.uniform(0.0, 0.5), stats.uniform(0.0, 0.505)),
        (1, 1, stats.uniform(-1.0, 4.0), stats.uniform(-1.0, 4.04)),
        (1, 2, stats.triang(0.5, -2.0, 8.0), stats.triang(0.5, -2.0, 8.16)),
    ):
        draws = sums(arms, arm, k)
        edges = bin_edges(law, draws.size, whole=False)
        assert chi_square(counts_in(edges, draws), masses(law, edges)) > LEVEL
        assert chi_square(counts_in(edges, draws), masses(wrong, edges)) < LEVEL


@pytest.mark.slow
def test_a_run_with_sigma() -> None:
    """Is one of rescaled intervals, number for number."""
    low, high = np.array([1.0, 0.0, 0.0]), np.array([5.0, 4.0, 2.5])
    ours, theirs = (
        simulate(best_arm(arms), Vanilla(), delta=0.1, replications=100, seed=2)
        for arms in (Uniform(low, high, sigma=1.5), Uniform(low / 3.0, high / 3.0))
    )
    assert ours.pulls.tolist() == theirs.pulls.tolist()
    assert ours.correct.all()
