"""What the loops of algorithms that stop by a threshold are made of: ends of all kinds, and rounds
as a trace tells them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from adaptive import ALL, instances, setting_of
from replay import run_kernel

import rai_sim as rai
from rai_sim.algorithms.base import Algorithm
from rai_sim.engine.blocks import new_block
from rai_sim.engine.faults import STOPPED


@pytest.mark.parametrize("algorithm", ALL, ids=str)
def test_results_are_a_function_of_seed_and_replication(algorithm: Algorithm) -> None:
    """Any replication alone, and several workers, give the same; all outputs fit the claims."""
    problem = rai.table_problem(task=3)
    whole = rai.simulate(problem, algorithm, delta=0.1, replications=12, seed=4)
    assert whole.finished.all()
    for index in (0, 7):
        alone = rai.simulate(
            problem, algorithm, delta=0.1, replications=1, seed=4, first_replication=index
        )
        assert alone.pulls[0] == whole.pulls[index]
        assert np.array_equal(alone.representatives[0], whole.representatives[index])
    assert rai.simulate(problem, algorithm, delta=0.1, replications=12, seed=4, n_jobs=2) == whole


@pytest.mark.parametrize("algorithm", ALL, ids=str)
def test_a_trace_tells_all_rounds(algorithm: Algorithm) -> None:
    """Pulls by arm add up in every state, means are those of the pulls, nobody is settled before
    the last round, the named ones are then; there is no radius."""
    problem = rai.table_problem(task=3)
    trace = rai.trace(problem, algorithm, 0.1, seed=2, rounds=np.arange(1, 10_000))
    result = trace.result
    assert trace.rounds.tolist() == list(range(1, int(result.rounds[0]) + 1))
    assert (trace.arm_pulls.sum(axis=1) == trace.pulls).all()
    assert (np.diff(trace.arm_pulls, axis=0) >= 0).all()
    sums = trace.means * trace.arm_pulls
    assert np.abs(sums - np.round(sums)).max() < 1e-6
    assert trace.representatives == tuple(result.representatives[0].tolist())
    assert {event.round for event in trace.events} == {int(result.rounds[0])}
    assert [event.arm for event in trace.events if event.representative] == list(
        trace.representatives
    )
    assert trace.active.all()
    assert np.isnan(trace.radii).all()
    assert trace.pulls[-1] == result.pulls[0]
    assert (rai.arm_pulls(result).sum(axis=1) == result.pulls).all()


def test_caps() -> None:
    """A batch that the cap does not pay for is not begun, nor are the first pulls."""
    problem = rai.table_problem(task=2)
    for algorithm, first in ((rai.TopTwo(), 10), (rai.BatchedTrackAndStop(), 160)):
        for cap, pulls in ((first - 1, 0), (first, first), (first + 1, None)):
            run = rai.simulate(problem, algorithm, replications=3, seed=1, max_pulls=cap)
            assert not run.finished.any()
            wanted = pulls if pulls is not None else (11 if first == 10 else 160)
            assert (run.pulls == wanted).all()
            assert (run.rounds == (0 if wanted == 0 else 1 + (wanted > first))).all()
    # 160, then ceil(1.1 times the pulls before) as doubles have it
    run = rai.simulate(problem, rai.BatchedTrackAndStop(), replications=3, seed=1, max_pulls=200)
    assert set(run.pulls.tolist()) == {math.ceil(1.1 * math.ceil(1.1 * 160))}


@pytest.mark.landing
@pytest.mark.parametrize(
    "algorithm",
    [
        pytest.param(
            one, marks=pytest.mark.slow
        )  # whose kernel of recordings takes long to compile
        if isinstance(one, rai.BatchedTrackAndStop)
        else one
        for one in ALL
    ],
    ids=str,
)
def test_recordings_that_run_out(algorithm: Algorithm) -> None:
    """Are told by the arm and the pull that is missing."""
    rows = np.tile([[0.5, 0.25], [0.25, 0.5]], (1, 15))  # 30 pulls of two arms that are alike
    arms = rai.Recorded(rows, means=[0.6, 0.4])
    problem = rai.best_arm(arms)
    with pytest.raises(ValueError, match=r"recording of arm [01] ran out: pull 31 was asked"):
        rai.simulate(problem, algorithm, replications=1)
    capped = rai.simulate(problem, algorithm, replications=1, max_pulls=40)
    assert not capped.finished[0]


def test_a_run_that_passes_2_to_the_62() -> None:
    """Is an error unless it is capped."""
    problem = rai.best_arm(rai.Bernoulli([0.5, 0.5 - 1e-12]))
    algorithm = rai.BatchedTrackAndStop()
    for growth in (1.1, 10.0):
        with pytest.raises(OverflowError, match=r"would pass 4611686018427387904 pulls"):
            rai.simulate(problem, rai.BatchedTrackAndStop(growth=growth), replications=1)
    capped = rai.simulate(problem, algorithm, replications=1, max_pulls=10**15)
    assert 10**15 / 1.1 < capped.pulls[0] <= 10**15
    assert not capped.finished[0]


@pytest.mark.parametrize("algorithm", ALL, ids=str)
def test_a_raised_flag_ends_a_replication(algorithm: Algorithm) -> None:
    """Nothing is finished, and the block says so."""
    problem = rai.table_problem(task=2)
    block = new_block(2, 3)
    block.history.stop[0] = 1
    algorithm.run_block(problem.arms.kernel_law(), setting_of(problem), 0, block)
    assert block.fault[:2].tolist() == [STOPPED, 0]
    assert not block.finished.any()


def test_a_lone_cluster_is_over_at_once() -> None:
    """Whoever is named is right."""
    problem = rai.Problem(rai.Bernoulli([0.5, 0.4, 0.3]), (3,), (2,))
    for algorithm in ALL:
        run = rai.simulate(problem, algorithm, replications=5, seed=1)
        assert (run.rounds == 1).all()
        assert run.correct.all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "arms",
    [
        rai.Gaussian([0.8, 0.5, 0.3]),
        rai.Categorical([0.0, 0.5, 1.0], [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.6, 0.2, 0.2]]),
    ],
    ids=["gaussian", "categorical"],
)
def test_other_laws(arms: Any) -> None:
    """Are run like Bernoulli arms: right answers, and pulls of that order."""
    for algorithm in ALL:
        run = rai.simulate(rai.best_arm(arms), algorithm, delta=0.05, replications=40, seed=2)
        assert run.finished.all()
        assert run.correct.mean() > 0.8
        assert run.pulls.max() < 20_000


def test_replays_end_in_all_ways() -> None:
    """What the replays of both algorithms are made of: runs that finish, and that are capped."""
    ends = {run_kernel(rai.TopTwo(), one).finished for one in instances(5, 40)}
    assert ends == {True, False}
