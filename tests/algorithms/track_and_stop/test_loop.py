"""A replication of BatchedTrackAndStop: batches add up, many of an arm are one sum, and the law of
its pulls."""

from __future__ import annotations

import math
from random import Random

import naive
import naive_adaptive
import numpy as np
import pytest
from adaptive import shares_of
from replay import Instance, standard_errors_apart

import rai_sim as rai


def test_batches() -> None:
    """Pulls after each round are ceil(growth t), whatever the shares were, and every arm has its
    part of the even share."""
    problem = rai.table_problem(task=4)
    for growth in (1.1, 2.0, 10.0):
        algorithm = rai.BatchedTrackAndStop(growth=growth)
        trace = rai.trace(problem, algorithm, 1e-6, seed=3, rounds=np.arange(1, 1000))
        t, expected = 160, list[int]()
        while len(expected) < len(trace.rounds):
            expected.append(t)
            t = max(math.ceil(growth * t), t + 1)
        assert trace.pulls.tolist() == expected
        assert (trace.arm_pulls[0] == 16).all()
        assert trace.arm_pulls[-1].min() > 0.8 * 0.02 / 10 * trace.pulls[-1]


@pytest.mark.landing
def test_the_law_of_pulls_is_the_twins() -> None:
    """Bernoulli arms whose batches the twin draws one by one: means of 300 runs each are four
    standard errors apart at most, which for equal laws fails once in 16,000."""
    means, clusters, required, delta = (0.8, 0.6, 0.4), (1, 2), (1, 0), 0.1
    problem = rai.Problem(rai.Bernoulli(means), clusters, required)
    ours = rai.simulate(problem, rai.BatchedTrackAndStop(), delta=delta, replications=300, seed=8)
    none = np.zeros((3, 1))
    instance = Instance(none, np.array(means), clusters, required, delta, None, 1.0, 0, 0)
    rng, theirs = Random(8), []
    for _ in range(300):
        order = [0, 1, 2]
        rng.shuffle(order)
        outcome = naive_adaptive.track_and_stop(
            naive.bernoulli(means, rng),
            3,
            clusters,
            required,
            delta,
            order=order,
            shares=shares_of(instance),
        )
        theirs.append(outcome.pulls)
    assert standard_errors_apart(ours.pulls, np.array(theirs)) < 4.0
