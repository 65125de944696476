"""The loop of a user's own rule: on fixed rewards, the numbers of other programs."""

import numpy as np
import pytest
from own_rules import EachOften, Elimination

import rai_sim as rai


def recorded(rng: np.random.Generator, N: int, T: int) -> rai.Recorded:
    """Record rewards of two levels that are not 0 and 1, or of many."""
    means = np.sort(rng.uniform(0.1, 0.9, N))[::-1]
    means[0] = min(means[1] + 0.25, 1.0)
    rewards = (rng.random((N, T)) < means[:, None]).astype(float)
    return rai.Recorded(rewards, means)


@pytest.mark.landing
def test_elimination_is_vanilla() -> None:
    """60 recordings, 3 replications each: for the best arm both say the same in every number.

    Negative control: with 0.9 of the width they do not.
    """
    rng = np.random.default_rng(1)
    narrower = 0
    for _ in range(60):
        problem = rai.best_arm(recorded(rng, int(rng.integers(2, 7)), 4000))
        runs = [
            rai.simulate(problem, rule, delta=0.1, replications=3, seed=4, skip_error=0.0)
            for rule in (Elimination(), rai.Vanilla(), Elimination(0.9))
        ]
        for name in ("pulls", "rounds", "representatives", "correct"):
            ours, theirs, _ = (getattr(run, name) for run in runs)
            assert ours.tolist() == theirs.tolist()
        narrower += runs[2].pulls.tolist() != runs[1].pulls.tolist()
    assert narrower > 40


@pytest.mark.slow
def test_sums_are_of_rewards() -> None:
    """Of arms on a lattice that begins at 0.5, in steps of 0.25: the rule sees rewards."""

    class Seen(rai.OwnRule, known=False):
        @staticmethod
        def step(task, counts, sums, scratch, arms):  # type: ignore[no-untyped-def]
            arms[0], arms[1] = 0, 1
            if counts[0] < 3:
                return 2
            return 0 if sums[0] == 0.75 * counts[0] else -1

    sure = rai.Categorical([0.5, 0.75], [[0.0, 1.0], [0.0, 1.0]])
    problem = rai.Problem(sure, (2,), (1,), strict=False)
    assert rai.simulate(problem, Seen(), replications=2, seed=1).pulls.tolist() == [6, 6]


def test_labels_are_in_a_random_order() -> None:
    """A rule that names its arm 0 names each of four equally often: chi-square at 1e-6."""
    problem = rai.best_arm(rai.Bernoulli([0.9, 0.5, 0.5, 0.5]))
    named = rai.simulate(problem, EachOften(each=0), replications=8_000, seed=1).representatives
    counts = np.bincount(named[:, 0], minlength=4)
    assert np.sum((counts - 2_000) ** 2 / 2_000) < 30.7


@pytest.mark.slow
def test_rewards_have_their_law() -> None:
    """Sums of 20 pulls of three laws, 4,000 replications: means within 5 standard errors, which a
    rule that stops at them tells."""

    class Sum(rai.OwnRule, known=False):
        @staticmethod
        def step(task, counts, sums, scratch, arms):  # type: ignore[no-untyped-def]
            arms[0] = 0
            if counts[0] < 20:
                return 1
            # so many further pulls of the other arm as the sum has tenths
            arms[0] = 1
            return 0 if counts[1] >= round(10.0 * sums[0]) else 1

    thirds = rai.Categorical([0.2, 0.4, 0.9], [[0.3, 0.3, 0.4]] * 2)
    for arms, variance in (
        (rai.Bernoulli([0.3, 0.3]), 0.21),
        (rai.Gaussian([0.3, 0.3], sd=0.4), 0.16),
        (thirds, 0.3 * 0.04 + 0.3 * 0.16 + 0.4 * 0.81 - 0.54**2),
    ):
        problem = rai.Problem(arms, (2,), (1,), strict=False)
        pulls = rai.simulate(problem, Sum(), replications=4_000, seed=2).pulls
        sums, mean = (pulls - 20) / 10.0, 20 * float(arms.means[0])
        assert abs(sums.mean() - mean) < 5 * np.sqrt(20 * variance / 4_000) + 0.001
        assert abs(sums.var() / (20 * variance) - 1.0) < 0.15
