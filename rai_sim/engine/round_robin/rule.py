"""One round of round robin on the ranking: note the largest constrained gap, settle whoever is
farther apart, merge clusters.

Legend, after the paper: R round, W(R) = t_R w_R the width in units of sums, t_R the pulls an active
arm has, G the largest constrained gap (see `rai_sim.engine.certificates`): some arm is settled in
round R exactly if G > W.
"""

from __future__ import annotations

import numpy as np

from rai_sim.engine import schedule as schedules
from rai_sim.engine.certificates import constrain
from rai_sim.engine.faults import NOT_FINITE, finite, report
from rai_sim.engine.history import keep_state, see_arm
from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.partition import merge_with_previous, settle_arm
from rai_sim.engine.round_robin.run import (
    ACTIVE,
    AUDIT,
    BUDGET,
    GAP,
    MISSING,
    PULLS,
    ROUND,
    TAKEN,
    WIDTH,
    Run,
    count_rounds,
    width,
)
from rai_sim.engine.strides import LAST_TWO


@inlined
def judge(run: Run, stride: int, tracing: bool) -> None:
    """Judge the round that a stride ended with: settle arms if it holds an event."""
    race, clock, terms = run.race, run.clock, run.terms
    every_round = schedules.every_round(race.schedule)
    R = clock[ROUND]
    W = terms[WIDTH] = width(run, R)
    event = True
    if every_round:  # else rounds are so long that each is likely to hold an event
        event = note_gap(run) > W or R == 1
    # a sum that is not finite stays so, and may hide in G: no round may be judged by it
    if event or stride == LAST_TWO or clock[AUDIT] <= R:
        clock[AUDIT] = 8 * R
        if not audit(run):
            return
    if tracing:
        see_arms(run)
    if event:
        settle_round(run)
        if clock[MISSING] > 0:
            if every_round:
                note_gap(run)
            terms[BUDGET] = -1.0
            count_rounds(run)


@inlined
def note_gap(run: Run) -> float:
    """Cut the ranking; note G and return it."""
    race = run.race
    G = constrain(race.constraints, race.standings.total, run.part.open_sizes, run.clock[ACTIVE])
    run.terms[GAP] = G
    return G


@kernel
def audit(run: Run) -> bool:
    """Whether all sums are finite; if not, report the last arm, by rank, whose sum is not."""
    standings, rank = run.race.standings, -1
    for x in range(run.clock[ACTIVE]):
        if not finite(standings.total[x]):
            rank = x
    if rank >= 0:
        arm = standings.arm_of[standings.order[rank]]
        report(run.fault, NOT_FINITE, arm, run.clock[TAKEN])
    return rank < 0


@kernel
def see_arms(run: Run) -> None:
    """Keep the state of the round, for a trace."""
    clock, standings = run.clock, run.race.standings
    taken = clock[TAKEN]
    for x in range(clock[ACTIVE]):
        arm = standings.arm_of[standings.order[x]]
        see_arm(run.history, arm, standings.total[x] / taken, taken, clock[PULLS])
    keep_state(run.history, clock[ROUND])


@inlined
def settle_round(run: Run) -> None:
    """Judge every active arm against the opening partition, remove the settled, merge."""
    part, clock, arm_of = run.part, run.clock, run.race.standings.arm_of
    order, total = run.race.standings.order, run.race.standings.total
    n, R, W = clock[ACTIVE], clock[ROUND], run.terms[WIDTH]
    kept, supplied, p0 = 0, 0, 0
    for i in range(part.open_sizes.size):
        p1 = p0 + part.open_sizes[i]
        # The survivors move up in the same arrays, never past the arm that is being read; only the
        # arm before the cluster may be overwritten while the cluster is judged.
        above = total[p0 - 1] if p0 > 0 else np.inf
        below = total[p1] if p1 < n else -np.inf
        for x in range(p0, p1):
            if above - total[x] > W and total[x] - below > W:
                supplied += settle_arm(part, i, arm_of[order[x]], R)
            else:
                order[kept], total[kept] = order[x], total[x]
                kept += 1
        if run.merging:
            merge_with_previous(part, i)
        p0 = p1
    clock[ACTIVE] = kept
    clock[MISSING] -= supplied
