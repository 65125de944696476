"""The last two arms' loop: runs with certified jumps against runs without, the whole law of pulls.

False alarms: four comparisons by Kolmogorov and Smirnov's test and four of means, each at 1e-6:
with fresh seeds one in 1.2e5 runs of the file; the seeds are fixed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from rai_sim import Bernoulli, Categorical, Gaussian, Vanilla, best_arm, simulate
from rai_sim.arms.base import Arms

LEVEL = 1e-6
REPLICATIONS = 5_000
VALUES = np.linspace(0.1, 1.0, 10)


def ten_levels(mean: float) -> NDArray[np.float64]:
    """Return probabilities of .1, .2, .. 1 with the given mean, by tilting them linearly."""
    tilt = (mean - 0.55) / float(((VALUES - 0.55) ** 2).sum())
    return 0.1 + tilt * (VALUES - 0.55)


def two_arms(kind: str, gap: float) -> Arms:
    """Return arms at 1/2 plus and minus half the gap."""
    means = [0.5 + gap / 2, 0.5 - gap / 2]
    if kind == "Categorical":
        return Categorical(VALUES, [ten_levels(mean) for mean in means])
    return Gaussian(means) if kind == "Gaussian" else Bernoulli(means)


def pulls(arms: Arms, seed: int, skip_error: float) -> NDArray[np.int64]:
    """Return the pulls of independent runs."""
    return simulate(
        best_arm(arms),
        Vanilla(),
        delta=0.01,
        replications=REPLICATIONS,
        seed=seed,
        skip_error=skip_error,
    ).pulls


def p_values(first: NDArray[Any], second: NDArray[Any]) -> tuple[float, float]:
    """Return the p-values of equal laws and of equal means."""
    return float(stats.ks_2samp(first, second).pvalue), float(
        stats.ttest_ind(first, second, equal_var=False).pvalue
    )


@pytest.mark.parametrize(
    ("kind", "gap"),
    [("Categorical", 0.1), ("Categorical", 0.05), ("Gaussian", 0.1), ("Bernoulli", 0.05)],
)
def test_certified_jumps_leave_the_law_alone(kind: str, gap: float) -> None:
    """5,000 runs with the default budget against 5,000 by the sure bound alone; Gaussians, without
    one, go round by round."""
    arms = two_arms(kind, gap)
    assert min(p_values(pulls(arms, 1, 1e-12), pulls(arms, 2, 0.0))) > LEVEL
