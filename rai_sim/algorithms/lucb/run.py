"""A replication of LUCB that is being run: what it is given, and the numbers that change from round
to round.

Strides are given a `Run`, room of their own and the random state, and say what they did in
`Run.clock`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.lucb.rule import Ranking, new_ranking
from rai_sim.engine import law as laws
from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.faults import NONE, STOPPED, TOO_MANY_PULLS, report
from rai_sim.engine.history import History, stopped_at
from rai_sim.engine.jit import inlined
from rai_sim.engine.partition import Partition, new_partition
from rai_sim.engine.recommendations import Budgets, cap_of, new_budgets

#: Cells of `Run.clock`: the last round that was judged, or whose pulls are made; the pulls made so
#: far, of all arms; the most there may be; the outputs that are missing; the active arms in the
#: ranking, and those outside of it, where the ranking is a view; the ranks among `Ranking.picks`.
ROUND, PULLS, MOST, MISSING, RANKED, COLD, PICKS = 0, 1, 2, 3, 4, 5, 6
#: The jumps that were certified up to an error; the stride that suits the open clusters; for how
#: many rounds the picks were the same, a number made of them, -1 if the next picks count as the
#: same, and for how many rounds the corridors that are open certify the picks.
JUMPS, SUITED, SAME, KNOWN, CERTIFIED = 7, 8, 9, 10, 11
_CELLS = 12
#: Cells of `Run.terms`: ln(pi^2 R^3 N / (3 delta)) of the last round judged; the rounds that
#: corridors must promise to be tried next; and of `bridges` -ln of a certificate's error, and up to
#: which jump that holds.
LOG_TERM, WORTH, NATS, UNTIL = 0, 1, 2, 3
_TERMS = 4
#: Certified stretches shorter than this are better walked by words, for laws that have them
#: (measured).
WORTH_A_STRETCH = 150.0


class Rule(NamedTuple):
    """What the rule of `rai_sim.algorithms.lucb.rule` depends on besides the law's unit."""

    scale: float  # pi^2 N / (3 delta)
    as_printed: bool


class Run(NamedTuple):
    """One replication after another."""

    law: Any
    rule: Rule
    setting: Setting
    ranking: Ranking
    part: Partition
    budgets: Budgets
    views: Any  # `View` or `NoView`; Numba has ideas of its own about an attribute `view`
    history: History
    fault: NDArray[np.int64]
    clock: NDArray[np.int64]
    terms: NDArray[np.float64]
    # (N,) pulls by the caller's index, as of the last look; (0,) if they are not kept
    arm_pulls: NDArray[np.int64]


def allocate_run(law: Any, rule: Rule, views: Any, setting: Setting, block: Block) -> Run:
    """Allocate for a block of replications; `views` are a `View` or `NoView`."""
    return Run(
        law=law,
        rule=rule,
        setting=setting,
        ranking=new_ranking(setting.cluster_of.size, setting.sizes.size),
        part=new_partition(setting),
        budgets=new_budgets(block, setting),
        views=views,
        history=block.history,
        fault=block.fault,
        clock=new_clock(),
        terms=new_terms(),
        arm_pulls=new_arm_pulls(block),
    )


def new_clock() -> NDArray[np.int64]:
    """Allocate a clock."""
    return np.zeros(_CELLS, np.int64)


def new_terms() -> NDArray[np.float64]:
    """Allocate what goes with it."""
    return np.zeros(_TERMS)


def new_arm_pulls(block: Block) -> NDArray[np.int64]:
    """Allocate for the pulls by arm of one replication, if the block keeps them."""
    return np.zeros(block.arm_pulls.shape[1], np.int64)


@inlined
def start_clock(run: Run, missing: int) -> None:
    """Set the clock to the time when every arm has been pulled once."""
    clock, n = run.clock, run.ranking.order.size
    for cell in range(clock.size):
        clock[cell] = 0
    clock[PULLS], clock[RANKED], clock[MISSING] = n, n, missing
    clock[MOST] = cap_of(run.budgets, run.setting.max_pulls)
    run.terms[WORTH] = WORTH_A_STRETCH
    run.terms[UNTIL] = -1.0


@inlined
def rounds_left(run: Run) -> int:
    """Return for how many rounds like this one, from this one on, the cap and the recording
    suffice."""
    s, clock = run.ranking, run.clock
    rounds, available = (
        (clock[MOST] - clock[PULLS]) // clock[PICKS],
        np.float64(laws.pulls_available(run.law)),
    )
    for j in range(clock[PICKS]):
        room = available - s.taken[s.picks[j]]
        if room < rounds:  # counts near 2^62 must not become doubles, which might round them up
            rounds = int(room)
    return rounds


@inlined
def goes_on(run: Run) -> bool:
    """Whether nothing went wrong and nobody asks to stop."""
    clock = run.clock
    active = clock[RANKED] + clock[COLD]
    if run.fault[0] == NONE and stopped_at(run.history, clock[ROUND], clock[PULLS], active):
        report(run.fault, STOPPED, 0, 0)
    return run.fault[0] == NONE


@inlined
def affordable(run: Run) -> bool:
    """Whether the cap pays for the round's pulls; the recording is looked at when they are made."""
    enough = run.clock[PICKS] <= run.clock[MOST] - run.clock[PULLS]
    if not enough and run.setting.max_pulls < 0:
        report(run.fault, TOO_MANY_PULLS, 0, 0)
    return enough


@inlined
def count_same(run: Run, settled: int) -> None:
    """Count for how many rounds the picks have been the same."""
    s, clock, these = run.ranking, run.clock, 0
    for j in range(clock[PICKS]):
        label = s.order[s.picks[j]] + 1
        these += label * label  # likely another number for other arms
    known = clock[KNOWN] < 0 or these == clock[KNOWN]
    clock[SAME] = clock[SAME] + 1 if known and settled == 0 else 0
    clock[KNOWN] = these
