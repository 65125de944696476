"""LUCB's plain round: the pulls of one round, and what stops it."""

import dataclasses

import numpy as np
from standings import Standing, draw_any, run_of, state_of

from rai_sim.algorithms.lucb import plain
from rai_sim.algorithms.lucb.run import PICKS, PULLS, ROUND, Run
from rai_sim.engine.faults import NONE, NOT_FINITE, RECORDING_RAN_OUT
from rai_sim.engine.jit import exposed

pull_picks = exposed(plain.pull_picks)


def pulled(standing: Standing, picks: list[int]) -> Run:
    """Pull the arms at some ranks."""
    run = run_of(standing)
    run.clock[PICKS] = len(picks)
    run.ranking.picks[: len(picks)] = picks
    pull_picks(run, state_of(run))
    return run


def test_each_pick_gets_its_next_reward() -> None:
    """300 standings: picks have the sum, the number and the mean of one pull more, others theirs;
    no rank is mended and no round counted."""
    rng = np.random.default_rng(1)
    for _ in range(300):
        standing = draw_any(rng, more=1)
        n = standing.taken.size
        picks = rng.permutation(n)[: rng.integers(n + 1)].tolist()
        before, run = run_of(standing), pulled(standing, picks)
        s, taken = run.ranking, standing.taken.copy()
        taken[before.ranking.order[picks]] += 1
        after = dataclasses.replace(standing, taken=taken)
        assert run.fault[0] == NONE
        assert np.array_equal(s.order, before.ranking.order)
        assert np.array_equal(s.taken, taken[s.order])
        assert np.array_equal(s.total, after.total[s.order])
        assert np.array_equal(s.mean, after.total[s.order] / taken[s.order])
        assert run.clock[PULLS] == taken.sum()
        assert run.clock[ROUND] == standing.R


def test_a_recording_that_has_run_out() -> None:
    """It is told which pull of which arm is missing; counts stay as they were."""
    standing = Standing((1, 1), (1, 0), np.ones((2, 5)), np.array([4, 5]), 5)
    run = pulled(standing, [0, 1])
    assert run.fault.tolist() == [RECORDING_RAN_OUT, 1, 6]
    assert run.clock[PULLS] == 9
    assert run.ranking.taken.tolist() == [4.0, 5.0]
    assert pulled(standing, [0]).fault[0] == NONE


def test_a_sum_that_is_not_finite() -> None:
    """It is told of which arm, and nothing counts."""
    rewards = np.array([[1.0, 0.0, np.inf], [0.0, 1.0, 0.0]])
    run = pulled(Standing((1, 1), (1, 0), rewards, np.array([2, 2]), 2), [0, 1])
    assert run.fault.tolist() == [NOT_FINITE, 0, 3]
    assert run.clock[PULLS] == 4
