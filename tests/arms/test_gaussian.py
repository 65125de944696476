"""Gaussian arms: the law of sums.

False alarms: fewer than 20 statistical comparisons, each at the level of `statistics_checks`;
the seeds are fixed.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from laws import facts_of, sums, sums_between
from scipy import stats
from statistics_checks import (
    LEVEL,
    bin_edges,
    chi_square,
    counts_in,
    masses,
)

from rai_sim import LUCB, Gaussian, best_arm, simulate
from rai_sim.arms.gaussian import GaussianByArmLaw


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


@pytest.mark.parametrize(
    ("sd", "message"),
    [
        ([0.5], "sd has 1 entries for 2 arms; give one an arm, or one number"),
        ([0.5, 0.0], r"sd\[1\] is 0.0; it must be a positive finite standard deviation"),
        ([0.5, np.inf], r"sd\[1\] is inf"),
        ([[0.5, 0.5]], "sd must be a one-dimensional sequence"),
    ],
)
def test_what_are_no_deviations(sd: list[float], message: str) -> None:
    """Are refused by the entry's name."""
    with pytest.raises(ValueError, match=message):
        Gaussian([1.0, 0.0], sd=sd)


def test_equal_deviations_are_one() -> None:
    """One law has one identity, and the faster kernels; the largest is the variance proxy of others."""
    assert Gaussian([1.0, 0.0], sd=[0.25, 0.25]) == Gaussian([1.0, 0.0], sd=0.25)
    assert Gaussian([1.0, 0.0], sd=[0.25, 0.25]).sd == 0.25
    unequal = Gaussian([1.0, 0.0], sd=[0.25, 0.75])
    assert unequal != Gaussian([1.0, 0.0], sd=0.25)
    law = unequal.kernel_law()
    assert isinstance(law, GaussianByArmLaw)
    assert law.variance_proxy == 0.5625
    assert repr(unequal) == "Gaussian(2 arms, means [1, 0], sd [0.25, 0.75])"


@pytest.mark.slow
def test_sums_of_deviations_by_arm() -> None:
    """Chi-square against normals: four comparisons, each with the control that the other arm's
    deviation is taken."""
    arms, deviations = Gaussian([0.25, -3.0], sd=[0.75, 0.7]), (0.75, 0.7)
    for arm, k, at_once in [(0, 1, True), (1, 64, True), (0, 1, False), (1, 9, False)]:
        mean, right, wrong = k * arms.means[arm], deviations[arm], deviations[1 - arm]
        draws = sums(arms, arm, k, at_once=at_once)
        edges = bin_edges(stats.norm(mean, right * math.sqrt(k)), draws.size, whole=False)
        counts = counts_in(edges, draws)
        for sd, fits in ((right, True), (wrong, False)):
            p = chi_square(counts, masses(stats.norm(mean, sd * math.sqrt(k)), edges))
            assert (p > LEVEL) is fits
    assert facts_of(arms.kernel_law(), 1)[1:] == (math.inf, -3.0, 1.0, 0.5625)


@pytest.mark.slow
def test_deviations_by_arm_draw_what_one_deviation_draws() -> None:
    """Kernels of deviations by arm and of one deviation use the same normals: arms that differ in a
    deviation of no consequence have the same pulls."""
    one = Gaussian([0.75, 0.25, -200.0], sd=0.5)
    several = Gaussian([0.75, 0.25, -200.0], sd=[0.5, 0.5, 0.25])
    ours, theirs = (
        simulate(best_arm(arms), LUCB(), delta=0.1, replications=50, seed=1)
        for arms in (one, several)
    )
    assert ours.pulls.tolist() == theirs.pulls.tolist()
