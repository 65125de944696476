"""Exact skipping as a whole: what it reaches, and that a skip too long by a round does not go
unnoticed."""

import math
from pathlib import Path

import numpy as np
import pytest
from mutants import LENGTHENED_SKIP, pulls_of_mutant
from scipy import stats

import rai_sim as rai
from rai_sim.algorithms.base import Algorithm


def predicted_pulls(gap: float, delta: float) -> float:
    """Pulls of two arms when the gap's mean meets the width: 2 R with W(R) = gap R."""
    R = 1.0 / gap**2
    for _ in range(50):
        R = 2.0 / gap**2 * math.log(math.pi**2 * R**2 * 2 / (3 * delta))
    return 2.0 * R


def test_a_gap_of_one_millionth() -> None:
    """3e14 pulls a replication: the mean of 1,000 is within 2 % of where W(R) = gap R (standard
    error: 1e-6)."""
    problem = rai.best_arm(rai.Bernoulli([0.5 + 5e-7, 0.5 - 5e-7]))
    result = rai.simulate(problem, rai.Vanilla(), delta=0.01, replications=1_000, seed=1)
    assert result.correct.all()
    assert result.pulls.mean() == pytest.approx(predicted_pulls(1e-6, 0.01), rel=0.02)
    assert result.pulls.mean() > 2e14


@pytest.mark.parametrize("law", ["bernoulli", "gaussian", "categorical", "two arms"])
def test_the_budget_does_not_show(law: str) -> None:
    """The law of pulls with the default budget and with sure skips only: 4,000 against 4,000, four
    tests.

    Kolmogorov-Smirnov and a two-sample t, each at 1e-5: the false-alarm rate of all eight is 8e-5.
    """
    means = [0.75, 0.55, 0.4]
    arms: dict[str, rai.Bernoulli | rai.Gaussian | rai.Categorical] = {
        "bernoulli": rai.Bernoulli(means),
        "gaussian": rai.Gaussian(means, sd=0.4),
        "categorical": rai.Categorical(
            [0.0, 0.25, 1.0], [[0.2, 0.1, 0.7], [0.3, 0.2, 0.5], [0.5, 0.15, 0.35]]
        ),
        "two arms": rai.Bernoulli([0.58, 0.42]),
    }
    problem = rai.best_arm(arms[law])
    samples = [
        rai.simulate(
            problem, rai.Vanilla(), delta=0.05, replications=4_000, seed=seed, skip_error=skip_error
        ).pulls
        for seed, skip_error in ((1, 1e-12), (2, 0.0))
    ]
    assert stats.ks_2samp(*samples).pvalue > 1e-5
    assert stats.ttest_ind(*samples, equal_var=False).pvalue > 1e-5


@pytest.mark.parametrize(
    "algorithm", [rai.Vanilla(), rai.Butterscotch(), rai.LUCB(), rai.LUCB(as_printed=True)], ids=str
)
@pytest.mark.parametrize("skip_error", [0.0, 1e-12])
def test_arms_without_any_chance(algorithm: Algorithm, skip_error: float) -> None:
    """Rewards that are certain leave nothing to chance: every run is the same and right."""
    result = rai.simulate(
        rai.best_arm(rai.Bernoulli([1.0, 0.0, 0.0])),
        algorithm,
        replications=20,
        seed=1,
        skip_error=skip_error,
    )
    assert result.correct.all()
    assert np.unique(result.rounds).size == 1


@pytest.mark.slow
def test_a_skip_too_long_by_a_round_is_caught(tmp_path: Path) -> None:
    """Negative control: the same two tests reject a kernel that checks a round late, and not the
    kernel itself.

    Three arms and two, whose rounds are walked by different code; both problems are so easy that a
    round shows.
    """
    problems = [
        "rai.top(rai.Bernoulli([0.97, 0.96, 0.04]), 2)",
        "rai.best_arm(rai.Bernoulli([0.9, 0.1]))",
    ]
    mutant = pulls_of_mutant(
        tmp_path, LENGTHENED_SKIP, problems, "rai.Vanilla()", delta=0.3, replications=20_000, seed=3
    )
    for problem, late in zip(problems, mutant, strict=True):
        ours, again = (
            rai.simulate(
                eval(problem), rai.Vanilla(), delta=0.3, replications=20_000, seed=seed
            ).pulls
            for seed in (1, 2)
        )
        assert stats.ks_2samp(ours, again).pvalue > 1e-5
        assert stats.ks_2samp(ours, late).pvalue < 1e-5
        assert stats.ttest_ind(ours, late, equal_var=False).pvalue < 1e-5
        assert np.mean(late) > np.mean(ours)
