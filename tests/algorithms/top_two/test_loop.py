"""A replication of TopTwo: exploration, ties, and the law of its pulls."""

from __future__ import annotations

import math
from random import Random

import naive
import naive_adaptive
import numpy as np
import pytest
from replay import standard_errors_apart

import rai_sim as rai


def test_every_arm_is_explored() -> None:
    """From the time on when that many can have been made: 1.5 sqrt(t / N) pulls but for one."""
    problem = rai.best_arm(rai.Bernoulli([0.55, 0.45, 0.1, 0.05]))
    trace = rai.trace(problem, rai.TopTwo(), 0.01, seed=3, rounds=np.arange(1, 100_000))
    wanted = 1.5 * np.sqrt(trace.pulls / 4.0)
    late = trace.pulls > 60
    assert late.sum() > 500
    assert (trace.arm_pulls[late].min(axis=1) >= np.floor(wanted[late]) - 1).all()
    # the far arms are pulled for no other reason
    assert trace.arm_pulls[-1, 3] <= wanted[-1] + 8


@pytest.mark.landing
def test_tied_arms_are_pulled_in_turns() -> None:
    """Of two arms with equal means the least pulled one, whatever the others have."""
    rows = np.tile([[1.0], [1.0], [0.0]], (1, 400))
    problem = rai.best_arm(rai.Recorded(rows, means=[0.9, 0.8, 0.1]))
    trace = rai.trace(problem, rai.TopTwo(), 0.01, max_pulls=600, rounds=np.arange(1, 601), seed=1)
    assert not trace.result.finished[0]
    assert (np.abs(trace.arm_pulls[:, 0] - trace.arm_pulls[:, 1]) <= 1).all()
    assert trace.arm_pulls[-1, 2] <= 1.5 * math.sqrt(600 / 3) + 1


@pytest.mark.slow
def test_the_law_of_pulls_is_the_twins() -> None:
    """Bernoulli arms, among which ties abound: means of 400 runs each are four standard errors
    apart at most, which for equal laws fails once in 16,000."""
    means, clusters, required, delta = (0.9, 0.75, 0.4, 0.2), (2, 2), (1, 0), 0.1
    problem = rai.Problem(rai.Bernoulli(means), clusters, required)
    ours = rai.simulate(problem, rai.TopTwo(), delta=delta, replications=400, seed=8)
    rng, theirs = Random(8), []
    for _ in range(400):
        order = [0, 1, 2, 3]
        rng.shuffle(order)
        outcome = naive_adaptive.top_two(
            naive.bernoulli(means, rng),
            4,
            clusters,
            required,
            delta,
            order=order,
            uniforms=iter(rng.random, None),
        )
        theirs.append(outcome.pulls)
    assert standard_errors_apart(ours.pulls, np.array(theirs)) < 4.0
