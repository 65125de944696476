"""Who beats whom, for good, and which pairs are looked at again."""

from __future__ import annotations

import numpy as np
import pytest
from adaptive import ALL, setting_of

import rai_sim as rai
from rai_sim.algorithms.base import Algorithm
from rai_sim.algorithms.stopping import comparisons
from rai_sim.algorithms.stopping.run import Run, new_run
from rai_sim.engine.blocks import new_block
from rai_sim.engine.jit import exposed
from rai_sim.engine.stopping import evidence, growth, precision

compare = exposed(comparisons.compare)


@pytest.mark.landing
def test_who_has_beaten_another_has_done_so_for_good() -> None:
    """A pair is judged once: rewards that turn later change nothing of it."""
    first = [[1.0] * 40 + [0.0] * 500, [0.0] * 40 + [1.0] * 500]
    problem = rai.best_arm(rai.Recorded(np.array(first), means=[0.6, 0.4]))
    run = rai.simulate(problem, rai.TopTwo(), delta=0.1, replications=1)
    assert run.finished[0]
    assert run.pulls[0] < 80
    assert run.representatives[0].tolist() == [0]


def standings(taken: list[int], means: list[float]) -> Run:
    """Return a run of five coins, of which a round has not been judged yet."""
    problem = rai.Problem(rai.Bernoulli([0.9, 0.7, 0.5, 0.3, 0.1]), (2, 3), (1, 1))
    run = new_run(problem.arms.kernel_law(), "pairs", setting_of(problem), new_block(1, 2))
    run.pairs.judged[:] = np.eye(5, dtype=bool)
    run.taken[:], run.total[:] = taken, np.multiply(taken, means)
    return run


def beaten(run: Run) -> set[tuple[int, int]]:
    """Return who beats whom by the formula: labels, the better one first."""
    n, rho = run.taken.astype(float), run.rule.rho
    mean, a, h = run.total / n, precision(n, rho), growth(n, rho)
    nats = evidence(mean[:, None] - mean, a[:, None], a)
    apart = nats >= run.rule.level + h[:, None] + h
    return {(x, y) for x, y in np.argwhere(apart).tolist() if mean[x] > mean[y]}


def counted(pairs: set[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Return how often each of five beats another, and is beaten."""
    wins, losses = [0] * 5, [0] * 5
    for better, worse in pairs:
        wins[better] += 1
        losses[worse] += 1
    return wins, losses


def test_wins_and_losses_are_those_of_the_formula() -> None:
    """Of all pairs once, then of those of the one arm that was pulled: others that would differ by
    now are left for the round in which one of theirs is pulled."""
    run = standings([60, 90, 20, 70, 80], [0.8, 0.5, 0.45, 0.4, 0.1])
    compare(run, -1)
    first = beaten(run)
    assert 0 < len(first) < 10
    assert (run.pairs.wins.tolist(), run.pairs.losses.tolist()) == counted(first)
    for label in (2, 3):  # both are pulled, and one of them is said to be
        run.total[label] *= 4_000 / run.taken[label]
        run.taken[label] = 4_000
    compare(run, 3)
    now = beaten(run) | first
    seen = first | {pair for pair in now if 3 in pair}
    assert first < seen < now
    assert (run.pairs.wins.tolist(), run.pairs.losses.tolist()) == counted(seen)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", [one for one in ALL if one.threshold == "pairs"], ids=str)
def test_the_proven_threshold_is_certified_near_ties(algorithm: Algorithm) -> None:
    """Near ties, and arms that are equal, delta 0.1: the error rate is below delta, with confidence
    99 %."""
    hard = rai.hard_problems(0.1, pulls=5_000)
    problems = {
        name: problem
        for name, problem in hard.items()
        if name.startswith("near ties") or name == "equal means: top three of six"
    }
    assert len(problems) == 5
    found = rai.certify(algorithm, 0.1, problems=problems, replications=600, seed=5)
    assert found.passed, found.headline
