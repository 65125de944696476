"""Butterscotch's loop: a few long rounds, each of which is a check.

The arms are held by the caller's index (`Standings.arm_of` stays as it is), few of them in the
order of their means, which is nearly that of their sums, so that the ranking is nearly sorted; many
as the caller has them, so that what the law knows of them is read in order. Two ways to judge a
round, with the same outcome:

- the arms are ranked;
- many arms with few borders between their clusters need no ranking. Whether an arm is settled is a
  question of its sum and of the two sums beside each border, which are found by counting
  (`rai_sim.engine.order_statistics`). For let A be the least sum above an arm's cluster and B the greatest below it. It is
  settled if A - S > W and S - B > W, one of these where the other side is empty; and an arm of which
  that holds lies in the cluster, as W >= 0 and it is strictly between A and B.

Arms with equal sums are told apart by the opening permutation, but only when they are settled: the
sums beside a border do not hang on it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.butterscotch.strides import CHECKS
from rai_sim.algorithms.butterscotch.tables import pull, tables_of
from rai_sim.engine import law as laws
from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.faults import NONE, STOPPED, report
from rai_sim.engine.history import stopped_at, traced
from rai_sim.engine.jit import driver, inlined, kernel
from rai_sim.engine.order_statistics import BUCKETS, greatest_first, order_statistics
from rai_sim.engine.partition import (
    merge_with_previous,
    open_partition,
    settle_arm,
)
from rai_sim.engine.ranking import merge_sort, repair
from rai_sim.engine.recommendations import left, note_arm, recommend
from rai_sim.engine.references import by_reference
from rai_sim.engine.round_robin.caps import stop_short
from rai_sim.engine.round_robin.loop import begin, end
from rai_sim.engine.round_robin.rule import audit, see_arms, settle_round
from rai_sim.engine.round_robin.run import (
    ACTIVE,
    LAST_PAID,
    LAST_RECORDED,
    MISSING,
    PER_ROUND,
    PULLS,
    ROUND,
    TAKEN,
    WIDTH,
    Run,
    count_rounds,
    last_round,
    new_run,
    start_clock,
    width,
)
from rai_sim.engine.streams import State, shuffle

#: From so many active arms on selection is faster than a ranking, with at most so many borders
#: (measured).
MANY, MOST_BORDERS = 256, 16
#: Up to so many arms are held in the order of their means, which costs a block a sort.
_SORTED = 1024


class Ties(NamedTuple):
    """The opening permutation; O(N)."""

    arm_at: NDArray[np.int32]  # by label: the caller's index
    label_of: NDArray[np.int32]  # by the caller's index, if it is known in this replication
    known: NDArray[np.int64]  # (1,) whether it is


class Borders(NamedTuple):
    """What is known of the borders between clusters with active arms, and room to find it in."""

    many: NDArray[np.int64]  # (1,) `MANY`
    # of border b: of the last arm above it, 2 b, and of the first below, 2 b + 1
    ranks: NDArray[np.int64]
    sums: NDArray[np.float64]
    # (1,) the rank of the last arm that a cluster wants of those it settles, and its sum
    wanted: NDArray[np.int64]
    worst: NDArray[np.float64]
    buckets: NDArray[np.int64]
    room: NDArray[np.float64]  # (N,)
    room_order: NDArray[np.int64]  # (N,)


class Work(NamedTuple):
    """One replication after another."""

    run: Run
    tables: Any  # `Tables` or `NoTables`
    # (N,) the order in which a replication begins, of few arms; (0,) if it is the caller's
    opening: NDArray[np.int64]
    ties: Ties
    borders: Borders


def run_block(
    law: Any, schedule: Any, merging: bool, setting: Setting, first: int, block: Block
) -> None:
    """Run len(block.pulls) replications, indices from `first` on."""
    N = setting.cluster_of.size
    work = Work(
        run=new_run(law, schedule, merging, setting, block),
        tables=tables_of(law, schedule.pulls, N),
        opening=np.empty(N if N <= _SORTED else 0, np.int64),
        ties=Ties(np.empty(N, np.int32), np.empty(N, np.int32), np.zeros(1, np.int64)),
        borders=Borders(
            many=np.array([MANY]),
            ranks=np.empty(2 * MOST_BORDERS, np.int64),
            sums=np.empty(2 * MOST_BORDERS),
            wanted=np.empty(1, np.int64),
            worst=np.empty(1),
            buckets=np.empty(BUCKETS, np.int64),
            room=np.empty(N),
            room_order=np.empty(N, np.int64),
        ),
    )
    _run_block(work, first, block)


@driver
def _run_block(given: Work, first: int, block: Block) -> None:
    work = by_reference(given)
    _choose_opening(work)
    for b in range(block.pulls.size):
        state = begin(work.run, first + b)
        if not end(work.run, block, b, _run_one(work, block.rounds_by_stride, state)):
            return


@kernel
def _choose_opening(work: Work) -> None:
    """Sort the arms by their means, if there are not too many; name arms by their own indices."""
    standings, opening = work.run.race.standings, work.opening
    for arm in range(standings.arm_of.size):
        standings.arm_of[arm] = arm
    for arm in range(opening.size):
        opening[arm], standings.total[arm] = arm, laws.mean_of(work.run.race.law, arm)
    repair(opening, standings.total, opening.size, standings.spare_order, standings.spare_total)


@kernel
def _run_one(work: Work, made: NDArray[np.int64], state: State) -> bool:
    """Run one replication; return whether it finished."""
    run = work.run
    clock, tracing = run.clock, traced(run.history)
    state = _start(work, state)
    while True:
        if stopped_at(run.history, clock[ROUND], clock[PULLS], clock[ACTIVE]):
            report(run.fault, STOPPED, 0, 0)
            return False
        if clock[ROUND] + 1 > last_round(run):
            if not _meet_cap(work):
                return False
            continue
        state = _make_round(work, state)
        made[CHECKS] += 1
        # a sum that is not finite stays so: no round may be judged by it
        if not audit(run):
            return False
        if tracing:
            see_arms(run)
        _judge(work)
        if clock[MISSING] == 0:
            return True
        count_rounds(run)


@kernel
def _meet_cap(work: Work) -> bool:
    """Recommend, if the caller asks for it; return whether there is a later cap. No round is so long
    that a part of it would be made."""
    run, standings, ties = work.run, work.run.race.standings, work.ties
    if left(run.budgets) <= 1 or run.clock[LAST_RECORDED] < run.clock[LAST_PAID]:
        stop_short(run)
    if left(run.budgets) == 0 or run.fault[0] != NONE:
        return False
    order, n = standings.order, run.clock[ACTIVE]
    _to_labels(ties, order, n)
    for x in range(n):
        note_arm(run.budgets, x, order[x], standings.total[x])
    _to_arms(ties, order, n)
    recommend(run.budgets, run.part, run.part.open_sizes, ties.arm_at, n)
    count_rounds(run)
    return left(run.budgets) > 0


@inlined
def _start(work: Work, state: State) -> State:
    """Draw the opening permutation and set all sums to zero."""
    run, standings = work.run, work.run.race.standings
    for x in range(standings.order.size):
        standings.order[x], standings.total[x] = x, 0.0
    for x in range(work.opening.size):
        standings.order[x] = work.opening[x]
    work.ties.known[0] = 0
    start_clock(run, open_partition(run.part, run.setting.sizes))
    return shuffle(work.ties.arm_at, state)


@inlined
def _make_round(work: Work, state: State) -> State:
    """Make the pulls of a round."""
    run, clock = work.run, work.run.clock
    state = pull(work.tables, run, state)
    clock[ROUND] += 1
    clock[TAKEN] += clock[PER_ROUND]
    clock[PULLS] += clock[ACTIVE] * clock[PER_ROUND]
    run.terms[WIDTH] = width(run, clock[ROUND])
    return state


@inlined
def _judge(work: Work) -> None:
    """Settle arms and merge clusters."""
    run = work.run
    borders = _place_borders(work)
    if borders >= 0:
        standings = run.race.standings
        if order_statistics(
            standings.total,
            run.clock[ACTIVE],
            work.borders.ranks,
            2 * borders,
            work.borders.sums,
            work.borders.buckets,
            work.borders.room,
        ):
            _settle_unranked(work)
            return
    _rank(work)
    settle_round(run)


# --------------------------------------------------------------------------------------------------
# By a ranking
# --------------------------------------------------------------------------------------------------


@inlined
def _rank(work: Work) -> None:
    """Sort the arms by their sums, equal ones in the order of the opening permutation."""
    standings, n = work.run.race.standings, work.run.clock[ACTIVE]
    order, total = standings.order, standings.total
    spare_order, spare_total = standings.spare_order, standings.spare_total
    repair(order, total, n, spare_order, spare_total)
    tied = False
    for x in range(1, n):
        tied |= total[x] == total[x - 1]
    if tied:
        _to_labels(work.ties, order, n)
        repair(order, total, n, spare_order, spare_total)
        _to_arms(work.ties, order, n)


@kernel
def _to_labels(ties: Ties, order: NDArray[np.int64], n: int) -> None:
    """Put labels in place of the caller's indices."""
    if ties.known[0] == 0:
        ties.known[0] = 1
        for label in range(ties.arm_at.size):
            ties.label_of[ties.arm_at[label]] = label
    for x in range(n):
        order[x] = ties.label_of[order[x]]


@inlined
def _to_arms(ties: Ties, order: NDArray[np.int64], n: int) -> None:
    """Put them back."""
    for x in range(n):
        order[x] = ties.arm_at[order[x]]


# --------------------------------------------------------------------------------------------------
# By selection
# --------------------------------------------------------------------------------------------------


@kernel
def _place_borders(work: Work) -> int:
    """Note the ranks beside each border; return how many borders there are, -1 if a ranking is
    better."""
    n, open_sizes, ranks = work.run.clock[ACTIVE], work.run.part.open_sizes, work.borders.ranks
    if n < work.borders.many[0]:
        return -1
    borders, above = 0, 0
    for i in range(open_sizes.size):
        above += open_sizes[i]
        if open_sizes[i] > 0 and above < n:
            if borders == MOST_BORDERS:
                return -1
            ranks[2 * borders], ranks[2 * borders + 1] = above - 1, above
            borders += 1
    return borders


@kernel
def _settle_unranked(work: Work) -> None:
    """Judge every active arm by the sums beside the borders, remove the settled, merge."""
    run, sums = work.run, work.borders.sums
    part, clock, standings, W = run.part, run.clock, run.race.standings, run.terms[WIDTH]
    order, total, n = standings.order, standings.total, clock[ACTIVE]
    p0, border = 0, 0  # arms and borders above the cluster
    for i in range(part.open_sizes.size):
        p1 = p0 + part.open_sizes[i]
        if p1 > p0:
            above = sums[2 * border - 2] if p0 > 0 else np.inf
            below = sums[2 * border + 1] if p1 < n else -np.inf
            count = 0
            for x in range(n):
                if above - total[x] > W and total[x] - below > W:
                    standings.spare_order[count], standings.spare_total[count] = order[x], total[x]
                    count += 1
            _settle_cluster(work, i, count)
            border += 1
        if run.merging:
            merge_with_previous(part, i)
        p0 = p1
    kept = 0
    for x in range(n):
        if part.settled[0, order[x]] == 0:
            order[kept], total[kept] = order[x], total[x]
            kept += 1
    clock[ACTIVE] = kept


@kernel
def _settle_cluster(work: Work, i: int, count: int) -> None:
    """Settle the arms that are noted, those first that are best, as far as they are wanted."""
    run, borders, ties = work.run, work.borders, work.ties
    part, clock, standings = run.part, run.clock, run.race.standings
    order, total = standings.spare_order, standings.spare_total
    wanted = part.required[i] - part.found[i]
    if wanted > 0 and count > 1:
        best = count
        if wanted < count:
            borders.wanted[0] = wanted - 1
            if order_statistics(
                total, count, borders.wanted, 1, borders.worst, borders.buckets, borders.room
            ):
                best = greatest_first(order, total, count, borders.worst[0])
        _to_labels(ties, order, best)
        merge_sort(order, total, best, borders.room_order, borders.room)
        _to_arms(ties, order, best)
    for x in range(count):
        clock[MISSING] -= settle_arm(part, i, order[x], clock[ROUND])
