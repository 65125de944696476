"""What algorithms share that pull as they like and stop by a threshold: the arms' standings, the
best answer on them, and whether it may be given (`rai_sim.engine.stopping`).

Arms are ranked by empirical mean, equal ones in the order of the replication's opening permutation.
The best answer names in every cluster the arms that cost most to make wrong, of arms that cost the
same those of better rank (`rai_sim.engine.best_response`, Gaussian arms of standard deviation 1/2,
whatever the law). There are two of them: at the pulls made, of which GK16 asks how much it costs;
and the *leader*, at equally many pulls of every arm, for which pulls are made. Without the latter
an arm that was unlucky at first is pulled no more, and another one, that is harder to tell from
those of other clusters, is named late.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine import best_response
from rai_sim.engine import law as laws
from rai_sim.engine.best_response import GAUSSIAN, Moves, find_cheapest_moves
from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.faults import (
    NONE,
    NOT_FINITE,
    RECORDING_RAN_OUT,
    STOPPED,
    TOO_MANY_PULLS,
    finite,
    report,
    went_well,
)
from rai_sim.engine.history import History, keep_state, see_arm, stopped_at, traced
from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.pairs import pairs_to_order
from rai_sim.engine.partition import (
    Partition,
    new_partition,
    open_partition,
    record_arm_pulls,
    record_outcome,
    settle_arm,
)
from rai_sim.engine.recommendations import (
    Budgets,
    cap_of,
    left,
    new_budgets,
    note_arm,
    recommend,
    record_recommendations,
)
from rai_sim.engine.stop import say_begun
from rai_sim.engine.stopping import (
    Threshold,
    evidence_of,
    gk16_level_of,
    growth_of,
    precision_of,
    tuned_rho,
)
from rai_sim.engine.streams import State, new_generators, replication_stream, shuffle

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


# --------------------------------------------------------------------------------------------------
# A replication begins and ends
# --------------------------------------------------------------------------------------------------


@kernel
def begin(run: Run, replication: int) -> State:
    """Draw the opening permutation and set all sums to zero; return the random state."""
    clock = run.clock
    say_begun(run.history.position, replication, run.arm_of.size)
    state = replication_stream(run.setting.key, replication, run.generators)
    state = shuffle(run.arm_of, state)
    open_partition(run.part, run.setting.sizes)
    clock[ROUND], clock[PULLS] = 0, 0
    clock[MOST] = cap_of(run.budgets, run.setting.max_pulls)
    for label in range(run.arm_of.size):
        run.taken[label], run.total[label], run.order[label] = 0, 0.0, label
        run.pairs.wins[label], run.pairs.losses[label] = 0, 0
        for other in range(run.arm_of.size):
            run.pairs.judged[label, other] = label == other
    return state


@kernel
def end(run: Run, block: Block, b: int, finished: bool) -> bool:
    """Record a replication in row b of the block; return whether the next one may begin."""
    if not went_well(run.fault, b):
        return False
    cluster_of, clock = run.setting.cluster_of, run.clock
    record_outcome(block, b, run.part, cluster_of, finished, clock[ROUND], clock[PULLS])
    record_arm_pulls(block, b, run.arm_of, run.taken)
    record_recommendations(block, b, run.budgets, run.part)
    return True


@inlined
def goes_on(run: Run) -> bool:
    """Whether nothing went wrong and nobody asks to stop."""
    clock = run.clock
    if run.fault[0] == NONE and stopped_at(
        run.history, clock[ROUND], clock[PULLS], run.arm_of.size
    ):
        report(run.fault, STOPPED, 0, 0)
    return run.fault[0] == NONE


@kernel
def within_caps(run: Run, pulls: float) -> bool:
    """Whether so many more pulls may be made: within the last cap at least. At those before it the
    leader is recommended, if the caller asks for it."""
    while not _affordable(run, pulls):
        if left(run.budgets) == 0:
            return False
        _recommend(run)
        run.clock[MOST] = cap_of(run.budgets, run.setting.max_pulls)
        if left(run.budgets) == 0:
            return False
    return True


@inlined
def _affordable(run: Run, pulls: float) -> bool:
    """Whether the cap pays for so many more pulls; a double, for they may be beyond integers."""
    enough = pulls <= float(run.clock[MOST] - run.clock[PULLS])
    if not enough and run.setting.max_pulls < 0:
        report(run.fault, TOO_MANY_PULLS, 0, 0)
    return enough


@inlined
def pull(run: Run, label: int, k: int, state: State) -> State:
    """Make k >= 1 more pulls of an arm, if the recording has them."""
    arm, taken = run.arm_of[label], run.taken[label]
    available = laws.pulls_available(run.law)
    if k > available - taken:
        report(run.fault, RECORDING_RAN_OUT, arm, available + 1)
        return state
    total, state = _sum_after(run, label, k, state)
    if not finite(total):
        report(run.fault, NOT_FINITE, arm, taken + k)
    run.total[label], run.taken[label] = total, taken + k
    run.clock[PULLS] += k
    return state


@inlined
def _sum_after(run: Run, label: int, k: int, state: State) -> tuple[float, State]:
    """Return an arm's sum after k more pulls."""
    arm, total, taken = run.arm_of[label], run.total[label], run.taken[label]
    if k == 1:
        return laws.one_pull(run.law, arm, total, taken, state)
    return laws.more_pulls(run.law, arm, total, taken, k, state)


# --------------------------------------------------------------------------------------------------
# A round is judged
# --------------------------------------------------------------------------------------------------


@kernel
def judge(run: Run, pulled: int) -> bool:
    """Rank the arms, and give an answer if one may be given; whether that was so. `pulled` is the
    label of the one arm that was pulled since the last round, -1 if several were."""
    run.clock[ROUND] += 1
    _rank(run)
    if traced(run.history):
        _see_arms(run)
    if run.rule.threshold == PAIRS:
        _compare(run, pulled)
        if _give_placed(run):
            return True
    _find_leader(run)
    _find_moves(run, run.counts)
    if run.rule.threshold == PAIRS:
        return False
    least = _choose(run, run.answer.chosen)
    if least >= gk16_level_of(run.rule.level, np.float64(run.clock[PULLS])):
        _give_chosen(run)
        return True
    return False


@inlined
def _rank(run: Run) -> None:
    """Sort the arms by mean, from the order of the last round; ties go to the smaller label."""
    order, mean, unit = run.order, run.mean, laws.unit(run.law)
    for p in range(order.size):
        label = order[p]
        x, q = unit * (run.total[label] / run.taken[label]), p
        while q > 0 and (mean[q - 1] < x or (mean[q - 1] == x and order[q - 1] > label)):
            mean[q], order[q] = mean[q - 1], order[q - 1]
            q -= 1
        mean[q], order[q] = x, label
    for p in range(order.size):
        run.counts[p] = np.float64(run.taken[order[p]])


@kernel
def _see_arms(run: Run) -> None:
    """Keep the state of the round, for a trace."""
    for label in range(run.arm_of.size):
        taken = run.taken[label]
        see_arm(run.history, run.arm_of[label], run.total[label] / taken, taken, run.clock[PULLS])
    keep_state(run.history, run.clock[ROUND])


@inlined
def settle(run: Run, i: int, label: int) -> None:
    """Name an arm for cluster i."""
    settle_arm(run.part, i, run.arm_of[label], run.clock[ROUND])


# By pairs


@kernel
def _compare(run: Run, pulled: int) -> None:
    """Judge the pairs that may have changed: those of the arm that was pulled, or all."""
    pairs, n, unit = run.pairs, run.arm_of.size, laws.unit(run.law)
    first, stop = (0, n) if pulled < 0 else (pulled, pulled + 1)
    for a in range(first, stop):
        taken = np.float64(run.taken[a])
        pairs.mean[a] = unit * (run.total[a] / taken)
        pairs.precision[a] = precision_of(taken, run.rule.rho)
        pairs.growth[a] = growth_of(taken, run.rule.rho)
    for a in range(first, stop):
        for b in range(a + 1 if pulled < 0 else 0, n):
            if not pairs.judged[a, b] and _differ(run, a, b):
                better, worse = (a, b) if pairs.mean[a] > pairs.mean[b] else (b, a)
                pairs.wins[better] += 1
                pairs.losses[worse] += 1
                pairs.judged[a, b] = pairs.judged[b, a] = True


@inlined
def _differ(run: Run, a: int, b: int) -> bool:
    """Whether one of two arms beats the other."""
    pairs = run.pairs
    gap = abs(pairs.mean[a] - pairs.mean[b])
    nats = evidence_of(gap, pairs.precision[a], pairs.precision[b])
    return gap > 0.0 and nats >= run.rule.level + pairs.growth[a] + pairs.growth[b]


@kernel
def _give_placed(run: Run) -> bool:
    """Name in every cluster the best ranked arms that beat and are beaten by as many arms as it
    takes, if there are enough of them; whether that was so."""
    if not _enough_placed(run):
        return False
    above = 0
    for i in range(run.setting.sizes.size):
        below, missing = run.mean.size - above - run.setting.sizes[i], run.setting.required[i]
        for p in range(run.mean.size):
            if missing > 0 and _placed(run, run.order[p], above, below):
                settle(run, i, run.order[p])
                missing -= 1
        above += run.setting.sizes[i]
    return True


@inlined
def _enough_placed(run: Run) -> bool:
    """Whether every cluster has as many arms as it is asked for."""
    above = 0
    for i in range(run.setting.sizes.size):
        below, missing = run.mean.size - above - run.setting.sizes[i], run.setting.required[i]
        if missing > 0:
            for label in range(run.mean.size):
                missing -= _placed(run, label, above, below)
            if missing > 0:
                return False
        above += run.setting.sizes[i]
    return True


@inlined
def _placed(run: Run, label: int, above: int, below: int) -> bool:
    """Whether an arm beats so many arms, and is beaten by so many."""
    return run.pairs.wins[label] >= below and run.pairs.losses[label] >= above


# By what answers cost


@kernel
def _find_moves(run: Run, counts: NDArray[np.float64]) -> None:
    """Find the cheapest move of every arm that may be named, at numbers of pulls by rank."""
    answer = run.answer
    find_cheapest_moves(
        GAUSSIAN,
        counts,
        run.mean,
        answer.asked,
        answer.others,
        np.inf,
        answer.moves,
        answer.scratch,
        answer.ends,
    )


@inlined
def _find_leader(run: Run) -> None:
    """Choose the leader."""
    if run.answer.several:
        _find_moves(run, run.answer.even)
        _choose(run, run.answer.leads)


@kernel
def _choose(run: Run, chosen: NDArray[np.bool_]) -> float:
    """Choose in every cluster the arms whose moves cost most; return the least of these costs."""
    values, sizes, required = run.answer.moves.values, run.setting.sizes, run.setting.required
    least, first = np.inf, 0
    for j in range(chosen.size):
        chosen[j] = False
    for i in range(sizes.size):
        if required[i] > 0:
            for _ in range(required[i]):
                best = -1
                for j in range(first, first + sizes[i]):
                    if not chosen[j] and (best < 0 or values[j] > values[best]):
                        best = j
                chosen[best] = True
                least = min(least, values[best])
            first += sizes[i]
    return least


@kernel
def _give_chosen(run: Run) -> None:
    """Name the chosen arms."""
    answer, sizes, first = run.answer, run.setting.sizes, 0
    for i in range(sizes.size):
        if run.setting.required[i] > 0:
            for j in range(first, first + sizes[i]):
                if answer.chosen[j]:
                    settle(run, i, run.order[answer.asked[j]])
            first += sizes[i]


@kernel
def _recommend(run: Run) -> None:
    """Recommend the leader of the round that was judged; before round 1, when nothing is known, what
    the opening permutation says."""
    answer, part, budgets, sizes = run.answer, run.part, run.budgets, run.setting.sizes
    if run.clock[ROUND] == 0:
        for label in range(run.arm_of.size):
            note_arm(budgets, label, label, 0.0)
        recommend(budgets, part, part.open_sizes, run.arm_of, run.arm_of.size)
        return
    row, first, at = budgets.passed[0], 0, 0
    for i in range(sizes.size):
        if part.required[i] > 0:
            for j in range(first, first + sizes[i]):
                if answer.leads[j]:
                    budgets.named[row, at] = run.arm_of[run.order[answer.asked[j]]]
                    at += 1
            first += sizes[i]
    budgets.passed[0] += 1


@inlined
def challenger(run: Run) -> int:
    """Return the row of the cheapest move that makes the leader wrong."""
    values, leads, row = run.answer.moves.values, run.answer.leads, -1
    for j in range(leads.size):
        if leads[j] and (row < 0 or values[j] < values[row]):
            row = j
    return row
