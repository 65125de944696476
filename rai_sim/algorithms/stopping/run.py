"""A replication that is being run: what it is given, when it may stop, and what is known of the
arms."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine import best_response
from rai_sim.engine.best_response import Moves
from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.history import History
from rai_sim.engine.jit import inlined
from rai_sim.engine.pairs import pairs_to_order
from rai_sim.engine.partition import Partition, new_partition, settle_arm
from rai_sim.engine.recommendations import Budgets, new_budgets
from rai_sim.engine.stopping import Threshold, tuned_rho
from rai_sim.engine.streams import new_generators

#: `Rule.threshold`.
PAIRS, GK16 = 0, 1
#: Cells of `Run.clock`: the last round that was judged; the pulls made so far, of all arms; the most
#: there may be.
ROUND, PULLS, MOST = 0, 1, 2
_CELLS = 3


class Rule(NamedTuple):
    """When to stop."""

    threshold: int
    level: float  # ln(P / delta), or ln(1 / delta)
    rho: float


class Answer(NamedTuple):
    """The best answer, and what it is found with; K arms may be named by their ranks."""

    asked: NDArray[np.int64]  # (K,) ranks, all those of clusters that are asked for arms
    others: NDArray[np.int64]  # (K, 2) how many others make each wrong, by being as good or as bad
    moves: Moves  # (K,) the cheapest move of each
    chosen: NDArray[np.bool_]  # (K,) whether the best answer names it, at the pulls made
    leads: NDArray[np.bool_]  # (K,) whether the leader does
    several: bool  # whether there is more than one answer
    even: NDArray[np.float64]  # (N,) ones
    scratch: NDArray[np.float64]
    ends: NDArray[np.float64]


class Pairs(NamedTuple):
    """Who beats whom, once and for all; by label."""

    judged: NDArray[np.bool_]  # (N, N) whether one of the two beats the other
    wins: NDArray[np.int64]
    losses: NDArray[np.int64]
    mean: NDArray[np.float64]  # rewards
    precision: NDArray[np.float64]  # A of `rai_sim.engine.stopping`
    growth: NDArray[np.float64]


class Run(NamedTuple):
    """One replication after another."""

    law: Any
    setting: Setting
    rule: Rule
    part: Partition
    budgets: Budgets
    answer: Answer
    pairs: Pairs
    history: History
    fault: NDArray[np.int64]
    generators: NDArray[np.uint64]
    clock: NDArray[np.int64]
    arm_of: NDArray[np.int64]  # by label: the caller's index
    taken: NDArray[np.int64]  # by label: pulls
    total: NDArray[np.float64]  # by label: sum of rewards, law units
    order: NDArray[np.int64]  # by rank: label
    mean: NDArray[np.float64]  # by rank: empirical mean, rewards
    counts: NDArray[np.float64]  # by rank: pulls
    nats: NDArray[np.float64]  # by rank: room


def new_rule(threshold: Threshold, setting: Setting) -> Rule:
    """Return when to stop at an error probability."""
    log = -math.log(setting.delta)
    if threshold == "gk16-unproven":
        return Rule(GK16, log, 1.0)
    pairs = pairs_to_order(setting.sizes.tolist(), setting.required.tolist(), True)
    level = log + math.log(pairs)
    return Rule(PAIRS, level, tuned_rho(level))


def new_moves(rows: int, N: int) -> Moves:
    """Allocate."""
    return Moves(
        arms=np.zeros(rows, np.int64),
        signs=np.zeros(rows),
        distances=np.zeros(rows),
        values=np.zeros(rows),
        sets=np.zeros((rows, N), np.uint8),
    )


def new_answer(sizes: NDArray[np.int64], required: NDArray[np.int64]) -> Answer:
    """Allocate for clusters."""
    N, last = int(sizes.sum()), np.cumsum(sizes)
    cluster = np.repeat(np.arange(sizes.size), sizes)
    asked = np.flatnonzero(required[cluster] > 0)
    after, before = last[cluster[asked]], (last - sizes)[cluster[asked]]
    down, up = np.where(after < N, after, 0), np.where(before > 0, N - before, 0)
    return Answer(
        asked=asked,
        others=np.ascontiguousarray(np.stack([down, up], axis=1)),
        moves=new_moves(asked.size, N),
        chosen=np.zeros(asked.size, np.bool_),
        leads=np.ones(asked.size, np.bool_),
        several=bool(((required > 0) & (required < sizes)).any()),
        even=np.ones(N),
        scratch=np.empty((best_response.SCRATCH, N)),
        ends=np.empty(best_response.OPEN),
    )


def new_pairs(N: int) -> Pairs:
    """Allocate."""
    return Pairs(
        judged=np.zeros((N, N), np.bool_),
        wins=np.zeros(N, np.int64),
        losses=np.zeros(N, np.int64),
        mean=np.empty(N),
        precision=np.empty(N),
        growth=np.empty(N),
    )


def new_run(law: Any, threshold: Threshold, setting: Setting, block: Block) -> Run:
    """Allocate for a block of replications."""
    N = setting.cluster_of.size
    return Run(
        law=law,
        setting=setting,
        rule=new_rule(threshold, setting),
        part=new_partition(setting),
        budgets=new_budgets(block, setting),
        answer=new_answer(setting.sizes, setting.required),
        pairs=new_pairs(N),
        history=block.history,
        fault=block.fault,
        generators=new_generators(),
        clock=np.zeros(_CELLS, np.int64),
        arm_of=np.empty(N, np.int64),
        taken=np.zeros(N, np.int64),
        total=np.zeros(N),
        order=np.empty(N, np.int64),
        mean=np.empty(N),
        counts=np.empty(N),
        nats=np.empty(N),
    )


@inlined
def settle(run: Run, i: int, label: int) -> None:
    """Name an arm for cluster i."""
    settle_arm(run.part, i, run.arm_of[label], run.clock[ROUND])
