"""Replications run again with their history: pulls of each arm, and of what there is none."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import rai_sim as rai
from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.engine.blocks import Block, Setting
from rai_sim.tracing.history import keeps_history


def test_pulls_of_what_is_no_result_are_refused() -> None:
    """By its name."""
    with pytest.raises(TypeError, match=r"result is 3; give what rai.simulate returned"):
        rai.arm_pulls(3)  # type: ignore[arg-type]


def test_arm_pulls() -> None:
    """Row sums are the pulls of the first finished replications; those of a round-robin run follow
    from when arms were settled."""
    problem = rai.table_problem(2)
    for algorithm in (rai.Vanilla(), rai.Butterscotch(), rai.LUCB()):
        result = rai.simulate(problem, algorithm, replications=60, seed=5, max_pulls=60_000)
        pulls = rai.arm_pulls(result, 40)
        finished = np.flatnonzero(result.finished)[:40]
        assert pulls.shape == (len(finished), 10)
        assert (pulls.sum(axis=1) == result.pulls[finished]).all()
    settled = {event.arm: event.round for event in rai.trace(problem, rai.Vanilla(), seed=5).events}
    first = rai.arm_pulls(rai.simulate(problem, rai.Vanilla(), replications=1, seed=5), 1)[0]
    assert first.tolist() == [settled[arm] for arm in range(10)]


def test_an_algorithm_without_a_history() -> None:
    """It can be traced, without states, but not asked for pulls by arm."""

    @dataclass(frozen=True)
    class Hasty(Algorithm):
        def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
            block.pulls[:], block.finished[:], block.representatives[:] = 7, True, 0

    try:
        problem = rai.best_arm(rai.Bernoulli([0.9, 0.1]))
        trace = rai.trace(problem, Hasty())
        assert (trace.result.pulls[0], trace.events) == (7, ())
        assert np.isnan(trace.radii).all()
        with pytest.raises(ValueError, match=r"Hasty\(\) keeps no pulls by arm"):
            rai.arm_pulls(trace.result)
        assert not keeps_history(trace.result.experiment)
    finally:
        del ALGORITHMS["hasty"]
