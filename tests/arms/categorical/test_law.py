"""The law of sums of categorical pulls.

False alarms: fewer than 60 statistical comparisons, each at the level of `statistics_checks`;
the seeds are fixed.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from laws import sums
from scipy import stats
from statistics_checks import (
    LEVEL,
    bin_edges,
    chi_square,
    convolved_law,
    counts_in,
    fit,
    masses,
    same_law,
    z_test,
)

from rai_sim import Categorical

STARS = Categorical(
    np.arange(6) / 5,
    [
        [0.1, 0.0, 0.2, 0.3, 0.25, 0.15],
        [0.0, 0.9, 0.0, 0.0, 0.1, 0.0],
        [0.02, 0.03, 0.05, 0.1, 0.3, 0.5],
    ],
)


@pytest.mark.parametrize("arm", [0, 1, 2])
def test_categorical_sums(arm: int) -> None:
    """Chi-square against convolutions, pull by pull for small k and by counts: 8 comparisons an
    arm.

    Negative control: three hundredths of the probability moved to another value.
    """
    p = STARS.probabilities[arm]
    off = p.copy()
    off[np.argmax(p)] -= 0.03
    off[5 - np.argmax(p)] += 0.03
    cases = [
        (1, True),
        (2, True),
        (5, True),
        (40, True),
        (1000, True),
        (1, False),
        (8, False),
        (40, False),
    ]
    for k, at_once in cases:
        draws = sums(STARS, arm, k, at_once=at_once)
        edges = bin_edges(convolved_law(p, k), draws.size)
        assert chi_square(counts_in(edges, draws), masses(convolved_law(p, k), edges)) > LEVEL
        assert chi_square(counts_in(edges, draws), masses(convolved_law(off, k), edges)) < LEVEL


def test_categorical_counts_agree_with_single_pulls() -> None:
    """Two samples of sums of 40 pulls, by multinomial counts and pull by pull: one comparison a
    law.

    Negative control: sums of 41 pulls.
    """
    off_lattice = Categorical([0.0, math.sqrt(0.5), 1.0], [[0.2, 0.3, 0.5]])
    assert off_lattice.kernel_law().unit == 1.0
    for arms in (STARS, off_lattice):
        single, counted, longer = (
            np.round(sums(arms, 0, k, at_once=at_once), 9)
            for k, at_once in ((40, False), (40, True), (41, True))
        )
        assert same_law(single, counted) > LEVEL
        assert same_law(single, longer) < LEVEL


@pytest.mark.parametrize("k", [10**6, 10**9, 10**12])
def test_categorical_sums_of_many_pulls(k: int) -> None:
    """Mean, variance and, but for a skewness below 1e-3, a normal shape: three comparisons an
    arm."""
    law = STARS.kernel_law()
    for arm in (0, 2):
        p, steps = STARS.probabilities[arm], np.arange(6)
        mean, variance = float(p @ steps), float(p @ steps**2 - (p @ steps) ** 2)
        assert law.mean[arm] == pytest.approx(mean, rel=1e-15)
        z = (sums(STARS, arm, k) - k * mean) / math.sqrt(k * variance)
        assert z_test(float(z.mean()), 0.0, 1.0 / math.sqrt(z.size)) > LEVEL
        assert z_test(float((z**2).mean()), 1.0, math.sqrt(2.0 / z.size)) > LEVEL
        assert fit(stats.norm, z, whole=False) > LEVEL
        assert z_test(float((z + 0.05).mean()), 0.0, 1.0 / math.sqrt(z.size)) < LEVEL
        assert z_test(float((1.05 * z**2).mean()), 1.0, math.sqrt(2.0 / z.size)) < LEVEL


def test_categorical_sums_off_the_lattice() -> None:
    """Three pulls of three irrational values: ten sums of multinomial probabilities; two
    comparisons."""
    values, p = np.array([0.0, 1 / math.e, 1.0]), np.array([0.5, 0.2, 0.3])
    arms = Categorical(values, [p])
    counts = [count for count in product(range(4), repeat=3) if sum(count) == 3]
    chances = stats.multinomial.pmf(counts, 3, p)
    possible = np.array(counts) @ values
    for at_once in (True, False):
        draws = sums(arms, 0, 3, at_once=at_once)
        nearest = np.argmin(abs(draws[:, None] - possible), axis=1)
        assert abs(draws - possible[nearest]).max() < 1e-12
        assert chi_square(np.bincount(nearest, minlength=10), chances) > LEVEL
        assert chi_square(np.bincount(nearest, minlength=10), chances[::-1]) < LEVEL


def test_impossible_values_never_come() -> None:
    """Levels without probability, by single pulls and by counts."""
    arms = Categorical([0.0, 1.0, 1000.0], [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    for k in (1, 30):
        assert sums(arms, 0, k).max() <= k
        assert sums(arms, 0, k, at_once=False).max() <= k
        assert (sums(arms, 1, k, 100) == 1000.0 * k).all()
