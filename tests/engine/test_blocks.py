"""Blocks: their shapes, and which memory is whose."""

from __future__ import annotations

import numpy as np

from rai_sim.engine.blocks import Block, copy_of, new_block, part_of
from rai_sim.engine.history import History, new_history
from rai_sim.engine.stop import new_position
from rai_sim.engine.strides import ROOM

#: Fields with a row for each replication.
ROWS = ("pulls", "rounds", "correct", "finished", "representatives", "settled")


def filled(replications: int) -> Block:
    """Return a block with other numbers in every row, a fault and counted rounds."""
    block = new_block(replications, 2, arms_with_settle_rounds=3)
    for array in block[:-1]:
        array[...] = np.arange(array.size).reshape(array.shape) % 7
    return block


def test_a_block_has_a_row_for_each_replication() -> None:
    """Nothing finished, nothing named; settle rounds and a history only where they are asked for."""
    block = new_block(5, 3)
    assert {name: getattr(block, name).shape for name in ROWS} == {
        "pulls": (5,),
        "rounds": (5,),
        "correct": (5,),
        "finished": (5,),
        "representatives": (5, 3),
        "settled": (0, 2, 0),
    }
    assert (block.representatives == -1).all()
    assert not block.finished.any()
    assert (block.fault.size, block.rounds_by_stride.size) == (3, ROOM)
    assert block.history.means.size == 0
    assert new_block(5, 3, arms_with_settle_rounds=4).settled.shape == (5, 2, 4)
    history = new_history(np.array([1, 2]), 4)
    assert new_block(1, 3, history=history).history is history


def test_a_part_is_written_into_its_block() -> None:
    """Its own rows only; faults, counters and position are its own, so that parts can run side by
    side; the rest of the history is the block's."""
    block, untouched = filled(6), filled(6)
    part = part_of(block, 2, 5)
    for name in ROWS:
        assert np.array_equal(getattr(part, name), getattr(untouched, name)[2:5])
        getattr(part, name)[...] = 1
        assert (getattr(block, name)[2:5] == 1).all()
        for rows in (slice(0, 2), slice(5, 6)):
            assert np.array_equal(getattr(block, name)[rows], getattr(untouched, name)[rows])
    assert (part.fault.tolist(), part.rounds_by_stride.sum()) == ([0, 0, 0], 0)
    part.fault[:], part.rounds_by_stride[:] = 9, 9
    assert np.array_equal(block.fault, untouched.fault)
    assert np.array_equal(block.rounds_by_stride, untouched.rounds_by_stride)
    for name in History._fields:
        shared = getattr(part.history, name) is getattr(block.history, name)
        assert shared == (name != "position"), name
    part.history.position[:] = 9
    assert np.array_equal(block.history.position, new_position())


def test_a_copy_keeps_nothing_else_alive() -> None:
    """The same numbers in memory of its own, also of a part; only a history is shared."""
    block = filled(6)
    part = part_of(block, 1, 3)
    copy = copy_of(part)
    assert np.array_equal(copy.representatives, block.representatives[1:3])
    for name in Block._fields[:-1]:
        mine, theirs = getattr(copy, name), getattr(block, name)
        assert mine.base is None, name
        assert mine.dtype == theirs.dtype
        assert not np.shares_memory(mine, theirs)
    assert copy.history is part.history
