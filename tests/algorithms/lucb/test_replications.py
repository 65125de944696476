"""What a block keeps of a replication of LUCB at its end, and what is said of one that was stopped."""

import numpy as np
from standings import draw_any, run_of

from rai_sim.algorithms.lucb import replications
from rai_sim.algorithms.lucb.run import PULLS, ROUND
from rai_sim.engine.blocks import new_block
from rai_sim.engine.faults import NONE, NOT_FINITE, STOPPED
from rai_sim.engine.jit import exposed

begin, end = exposed(replications.begin), exposed(replications.end)


def test_a_replication_that_ends_fills_its_row() -> None:
    """And no other one; the next may begin. One that was cut short names nobody."""
    run = run_of(draw_any(np.random.default_rng(1)))
    block = new_block(3, run.part.outputs.size)
    assert end(run, block, 1, False)
    assert block.pulls.tolist() == [0, run.clock[PULLS], 0]
    assert block.rounds.tolist() == [0, run.clock[ROUND], 0]
    assert not block.finished.any()
    assert (block.representatives == -1).all()
    run.part.outputs[:] = np.arange(run.part.outputs.size)
    assert end(run, block, 2, True)
    assert block.finished.tolist() == [False, False, True]
    assert block.representatives[2].tolist() == list(range(run.part.outputs.size))


def test_one_that_went_wrong_leaves_its_row() -> None:
    """And no other one begins; where it was stopped from outside, it is said at which row."""
    run = run_of(draw_any(np.random.default_rng(2)))
    block = new_block(3, run.part.outputs.size)
    for fault, row in ((STOPPED, 2), (NOT_FINITE, 7)):
        run.fault[:] = fault, 7, 0
        assert not end(run, block, 2, True)
        assert run.fault.tolist() == [fault, row, 0]
    assert not block.pulls.any()
    assert not block.finished.any()
    run.fault[0] = NONE
    assert end(run, block, 2, True)


def test_streams_are_those_of_replications() -> None:
    """The same for the same index, whatever was before; another for another."""
    run = run_of(draw_any(np.random.default_rng(3)))
    states = [begin(run, index) for index in (0, 1, 2**40, 0)]
    assert states[0] == states[3]
    assert len(set(states)) == 3
