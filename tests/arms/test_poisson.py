"""Poisson arms: pulls, exact sums, and what sigma does.

False alarms: four statistical comparisons, each at the level of `statistics_checks`; the seeds are
fixed.
"""

from __future__ import annotations

import numpy as np
import pytest
from laws import facts_of, sums
from scipy import stats
from statistics_checks import LEVEL, bin_edges, chi_square, counts_in, masses

from rai_sim import Butterscotch, Poisson, best_arm, bounds, simulate, trace


@pytest.mark.parametrize("mean", [-0.5, 2e9, np.nan])
def test_what_is_no_poisson_mean(mean: float) -> None:
    """Is refused by the entry's name."""
    with pytest.raises(ValueError, match=rf"means\[1\] is {mean}"):
        Poisson([1.0, mean])


def test_no_guarantee_whatever_sigma_is() -> None:
    """Nor bounds: tails are heavier than a normal's."""
    for arms in (Poisson([4.0, 1.0]), Poisson([4.0, 1.0], sigma=100.0)):
        with pytest.raises(ValueError, match="sub-Gaussian for no sigma"):
            best_arm(arms)
        assert bounds.shown(best_arm(arms, strict=False), 0.1) is None


def test_what_kernels_are_told() -> None:
    """Counts, of a length of 1 / (2 sigma); no certificate."""
    law = Poisson([4.0, 1.0], sigma=2.0).kernel_law()
    assert law.mean.tolist() == [4.0, 1.0]
    assert (law.unit, law.width, law.variance_proxy) == (0.25, np.inf, np.inf)
    assert Poisson([4.0, 1.0], sigma=2.0).rescaled.means.tolist() == [1.0, 0.25]
    assert Poisson([4.0, 1.0], sigma=2.0).rescaled.law_units() == (0.0, 0.25)


@pytest.mark.slow
def test_pulls_and_sums() -> None:
    """Chi-square against Poisson laws; the controls are moved by a twentieth of a deviation."""
    arms = Poisson([0.3, 40.0])
    for arm, k, at_once in ((0, 1, False), (0, 7, True), (1, 1, True), (1, 10**6, True)):
        mean = k * float(arms.means[arm])
        draws = sums(arms, arm, k, at_once=at_once)
        law, wrong = stats.poisson(mean), stats.poisson(mean + 0.05 * mean**0.5)
        edges = bin_edges(law, draws.size)
        assert chi_square(counts_in(edges, draws), masses(law, edges)) > LEVEL
        assert chi_square(counts_in(edges, draws), masses(wrong, edges)) < LEVEL
    assert facts_of(arms.kernel_law(), 1)[2:4] == (40.0, 1.0)


@pytest.mark.slow
def test_a_run_is_told_in_counts() -> None:
    """Means and radii of a trace are rewards; of twice the sigma there are four times
    the pulls, at least."""
    runs = [
        simulate(
            best_arm(Poisson([40.0, 36.0], sigma=sigma), strict=False),
            Butterscotch(),
            delta=0.1,
            replications=50,
            seed=0,
        )
        for sigma in (20.0, 40.0)
    ]
    assert all(run.correct.all() for run in runs)
    # four, and a little more for the union over rounds
    assert 4.0 < runs[1].pulls.mean() / runs[0].pulls.mean() < 5.0
    told = trace(runs[0].problem, Butterscotch(), 0.1, seed=0)
    counts = told.means[-1] * told.arm_pulls[-1]
    assert np.allclose(counts, np.round(counts))
    assert np.allclose(told.means[-1], [40.0, 36.0], atol=2.0)
    assert 0.5 < told.radii[-1].max() < 4.0
