"""What a driver is given and where it writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.history import History, no_history
from rai_sim.engine.stop import new_position
from rai_sim.engine.strides import ALL, ROOM


class Setting(NamedTuple):
    """What a block of replications is run with, besides the law: scalars, and arrays that kernels
    only read."""

    sizes: NDArray[np.int64]  # (m,) cluster sizes c
    required: NDArray[np.int64]  # (m,) representatives r
    cluster_of: NDArray[np.int64]  # (N,) true cluster of each arm, for judging outputs only
    delta: float
    skip_error: float
    max_pulls: int
    key: NDArray[np.uint64]  # (2,) the stream key of the seed
    strides: int = ALL  # a bit for each stride that may be used, see rai_sim.engine.strides
    origin: float = 0.0  # of law units (`rai_sim.engine.law`)


class Block(NamedTuple):
    """Where a kernel writes; row b belongs to replication first + b."""

    pulls: NDArray[np.int64]  # (B,)
    rounds: NDArray[np.int64]  # (B,)
    correct: NDArray[np.bool_]  # (B,)
    finished: NDArray[np.bool_]  # (B,)
    representatives: NDArray[np.int32]  # (B, sum of r), -1 where not finished
    # (B or 0, 2, N) as in rai_sim.engine.partition; not written if it has no rows
    settled: NDArray[np.int64]
    # (B or 0, N) pulls of each arm by the caller's index; not written if it has no rows
    arm_pulls: NDArray[np.int64]
    fault: NDArray[np.int64]  # (3,) see rai_sim.engine.faults
    # (ROOM,) rounds are added, of all replications; see rai_sim.engine.strides
    rounds_by_stride: NDArray[np.int64]
    # (K,) ascending caps on pulls, the last `Setting.max_pulls`, and (B or 0, K, sum of r) what is
    # recommended at each (`rai_sim.engine.recommendations`); not written if it has no rows
    budgets: NDArray[np.int64]
    recommended: NDArray[np.int32]
    history: History  # of the block's one replication if it is traced, else empty


def new_block(
    replications: int,
    required: int,
    arms_with_settle_rounds: int = 0,
    history: History | None = None,
    arms_with_pulls: int = 0,
    budgets: Sequence[int] = (),
) -> Block:
    """Allocate a block; settle rounds, and pulls by arm, are kept only if their number of arms is
    given, a history only if there is room for one, recommendations only if there are caps."""
    return Block(
        pulls=np.zeros(replications, np.int64),
        rounds=np.zeros(replications, np.int64),
        correct=np.zeros(replications, np.bool_),
        finished=np.zeros(replications, np.bool_),
        representatives=np.full((replications, required), -1, np.int32),
        settled=np.zeros(
            (replications if arms_with_settle_rounds else 0, 2, arms_with_settle_rounds), np.int64
        ),
        arm_pulls=np.zeros((replications if arms_with_pulls else 0, arms_with_pulls), np.int64),
        fault=np.zeros(3, np.int64),
        rounds_by_stride=np.zeros(ROOM, np.int64),
        budgets=np.array(budgets, np.int64),
        recommended=np.full(
            (replications if len(budgets) else 0, len(budgets), required), -1, np.int32
        ),
        history=no_history() if history is None else history,
    )


def part_of(block: Block, start: int, stop: int) -> Block:
    """Return a view of rows start..stop-1, with a fault record, counters and a position of its
    own."""
    rows = slice(start, stop)
    return Block(
        pulls=block.pulls[rows],
        rounds=block.rounds[rows],
        correct=block.correct[rows],
        finished=block.finished[rows],
        representatives=block.representatives[rows],
        settled=block.settled[rows],
        arm_pulls=block.arm_pulls[rows],
        fault=np.zeros(3, np.int64),
        rounds_by_stride=np.zeros(ROOM, np.int64),
        budgets=block.budgets,
        recommended=block.recommended[rows],
        history=block.history._replace(position=new_position()),
    )


def copy_of(block: Block) -> Block:
    """Return a block of its own memory, so that a few rows do not keep a large one alive."""
    arrays: list[Any] = [array.copy() for array in block[:-1]]
    return Block._make([*arrays, block.history])
