"""The jumps of LUCB: recordings that make them long, the law of pulls, what they reach, and jumps
that are too long."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from mutants import LENGTHENED_LUCB, SHOWN_BY, pathwise_findings_of_mutant
from replay import Instance, draw_instance, lucb_length, mismatches, run_kernel, run_known, run_twin
from scipy import stats

import rai_sim as rai
from rai_sim import LUCB

RULES = [LUCB(as_printed=False), LUCB(as_printed=True)]


def instances(seed: int, count: int, gaps: tuple[float, float], most_arms: int) -> list[Instance]:
    """Draw instances for LUCB."""
    rng = np.random.default_rng(seed)
    return [draw_instance(rng, lucb_length, gaps, most_arms=most_arms) for _ in range(count)]


@pytest.mark.parametrize("count", [100, pytest.param(500, marks=pytest.mark.slow)])
@pytest.mark.parametrize("algorithm", RULES, ids=str)
def test_replay_of_few_arms(algorithm: LUCB, count: int) -> None:
    """skip_error = 0: up to four arms, whose pulls soon follow a pattern; runs agree in
    all numbers."""
    drawn = instances(31 + algorithm.as_printed, count, (0.25, 0.9), 4)
    assert mismatches(drawn, partial(run_kernel, algorithm), partial(run_twin, algorithm)) == []


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", RULES, ids=str)
def test_replay_of_small_gaps(algorithm: LUCB) -> None:
    """Known means, gaps that make jumps long: one of the 60 runs differs with probability 6e-11 at
    most."""
    drawn = instances(33 + algorithm.as_printed, 30, (0.07, 0.2), 5)
    assert mismatches(drawn, partial(run_known, algorithm), partial(run_twin, algorithm)) == []


@pytest.mark.landing
@pytest.mark.parametrize("task", ["one border", "middle", "in step", "printed", "gaussian"])
def test_the_budget_does_not_show(task: str) -> None:
    """The law of pulls with the default budget and with sure jumps only: 3,000 against 3,000, five
    tests.

    Kolmogorov-Smirnov and a two-sample t, each at 1e-5: the false-alarm rate of all ten is 1e-4.
    """
    problem, rule = {
        "one border": (rai.best_arm(rai.Bernoulli([0.75, 0.5, 0.45, 0.4])), LUCB()),
        "middle": (
            rai.Problem(rai.Bernoulli([0.95, 0.6, 0.4, 0.05]), (1, 2, 1), (0, 2, 0)),
            LUCB(),
        ),
        "in step": (rai.full_ranking(rai.Bernoulli([0.2, 0.5, 0.8])), LUCB()),
        "printed": (rai.top(rai.Bernoulli([0.8, 0.75, 0.4, 0.35]), 2), LUCB(as_printed=True)),
        "gaussian": (rai.best_arm(rai.Gaussian([0.7, 0.4, 0.3], sd=0.4)), LUCB()),
    }[task]
    samples = [
        rai.simulate(
            problem, rule, delta=0.05, replications=3_000, seed=seed, skip_error=skip_error
        ).pulls
        for seed, skip_error in ((1, 1e-12), (2, 0.0))
    ]
    assert stats.ks_2samp(*samples).pvalue > 1e-5
    assert stats.ttest_ind(*samples, equal_var=False).pvalue > 1e-5


def test_a_ranking_of_twenty_arms_with_small_gaps() -> None:
    """Gaps of 1e-3 take 1e9 pulls and a few milliseconds; all ten replications are right."""
    result = rai.simulate(
        rai.full_ranking(rai.Bernoulli(0.7 - 0.001 * np.arange(20))),
        LUCB(),
        delta=0.01,
        replications=10,
        seed=1,
    )
    assert result.correct.all()
    assert result.pulls.mean() > 1e9


@pytest.mark.slow
def test_jumps_that_are_too_long_are_caught(tmp_path: Path) -> None:
    """Negative control: by words in a challenge and in corridors, in corridors left and certified,
    and in step; see `mutants`.

    scripts/verify.py makes each change alone.
    """
    found, _ = pathwise_findings_of_mutant(tmp_path, LENGTHENED_LUCB, SHOWN_BY)
    assert min(found) >= 5, found
