"""Round robin's loop over checks: judge, choose a stride, advance.

Legend, after the paper: R round, t pulls an active arm has, S sums, W(R) = t_R w_R the width in
units of sums, n active arms, G the largest constrained gap (see `rai_sim.engine.certificates`):
some arm is settled in round R exactly if G > W.

The loop visits *checks*: rounds in which an arm might be settled. Where every round is one pull an
arm (Vanilla) it finds out after each check for how many rounds nothing can happen, and draws those
and the next as one sum an arm. Three ranges, by the distance D = W - G:

- far: jumps certified by bound 2, whose length grows with D^2;
- near, for rewards 0 and 1: 64 rounds an arm as the lanes of one vector (`rai_sim.engine.words`);
- near, for other laws: jumps of the sure bound's length.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine import law as laws
from rai_sim.engine import schedule as schedules
from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.certificates import (
    FIRST_JUMPS,
    constrain,
    longest_jump,
    pair_budget,
    sure_rounds,
)
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
from rai_sim.engine.history import keep_state, next_asked, see_arm, stopped_at, traced
from rai_sim.engine.jit import driver, inlined, kernel
from rai_sim.engine.partition import (
    merge_all,
    merge_with_previous,
    open_partition,
    record_outcome,
    settle_arm,
)
from rai_sim.engine.ranking import repair
from rai_sim.engine.recommendations import left, note_arm, recommend, record_recommendations
from rai_sim.engine.references import by_reference
from rai_sim.engine.round_robin.crowd import stride as _by_words  # noqa: F401
from rai_sim.engine.round_robin.duel import duel
from rai_sim.engine.round_robin.many import (
    in_crowd,
    leave,
    make_rounds,
    note_sums,
    worth_a_crowd,
    worth_leaving,
)
from rai_sim.engine.round_robin.roster import stride as _by_roster  # noqa: F401
from rai_sim.engine.round_robin.run import (
    ACTIVE,
    AUDIT,
    BUDGET,
    GAP,
    JUMPS,
    LAST_PAID,
    LAST_RECORDED,
    LEAST_BUDGET,
    MISSING,
    OVER,
    PER_ROUND,
    PULLS,
    QUIET,
    ROUND,
    TAKEN,
    WIDTH,
    WIDTH_AFTER,
    Run,
    by_words,
    count_rounds,
    last_round,
    new_run,
    record_arm_pulls,
    start_clock,
    width,
)
from rai_sim.engine.stop import say_begun
from rai_sim.engine.streams import State, replication_stream, shuffle
from rai_sim.engine.strides import CROWD, LAST_TWO, SUMS, WORDS, allowed
from rai_sim.engine.vectors import LANES
from rai_sim.engine.words import WORTH_A_JUMP, advance, draw_words, first_suspect


def run_block(
    law: Any,
    schedule: Any,
    merging: bool,
    setting: Setting,
    first: int,
    block: Block,
    crowds: bool = False,
) -> None:
    """Run len(block.pulls) replications, indices from `first` on; `crowds` if a round is one pull
    an arm, so that many arms may be run as a crowd."""
    _run_block(new_run(law, schedule, merging, setting, block, crowds), first, block)


@driver
def _run_block(given: Run, first: int, block: Block) -> None:
    run = by_reference(given)
    law, setting = run.race.law, run.setting
    # a lone cluster settles its arms in round 1
    run.clock[QUIET] = quiet_start(law, run.race.schedule) if setting.sizes.size > 1 else 0
    run.terms[LEAST_BUDGET] = pair_budget(law, 2, setting.skip_error, 1)
    for b in range(block.pulls.size):
        state = begin(run, first + b)
        if not end(run, block, b, _run_one(run, block.rounds_by_stride, state)):
            return


@inlined
def begin(run: Run, replication: int) -> State:
    """Say that a replication begins; return the state of its stream."""
    say_begun(run.history.position, replication, run.setting.cluster_of.size)
    return replication_stream(run.setting.key, replication, run.generators)


@inlined
def end(run: Run, block: Block, b: int, finished: bool) -> bool:
    """Record a replication in row b of the block; return whether the next one may begin."""
    if not went_well(run.fault, b):
        return False
    cluster_of, clock = run.setting.cluster_of, run.clock
    record_outcome(block, b, run.part, cluster_of, finished, clock[ROUND], clock[PULLS])
    record_arm_pulls(run, block, b)
    record_recommendations(block, b, run.budgets, run.part)
    return True


@kernel
def quiet_start(law: Any, schedule: Any) -> int:
    """Return for how many rounds from the start no gap can exceed W, by the sure bound: the largest
    R with R spread <= W(R)."""
    R = 0
    if schedules.every_round(schedule):
        # W(R) / R falls with R (for two arms or more), so the largest such R is found bit by bit
        step = 1 << 40
        while step > 0:
            later = np.float64(R + step)
            if later * laws.spread(law) <= schedules.threshold(schedule, later) / laws.unit(law):
                R += step
            step >>= 1
    return R


@kernel
def _run_one(run: Run, made: NDArray[np.int64], state: State) -> bool:
    """Run one replication; return whether it finished."""
    clock, tracing = run.clock, traced(run.history)
    state = _start(run, state)
    stride, rounds = _first_stride(run)
    while True:
        if stopped_at(run.history, clock[ROUND], clock[PULLS], clock[ACTIVE]):
            report(run.fault, STOPPED, 0, 0)
            return False
        last = last_round(run)
        if clock[ROUND] + rounds > last:
            short = last - clock[ROUND]
            if short == 0 or not _has_later_cap(run):
                made[stride] += short
                state = _meet_cap(run, short, state)
                if left(run.budgets) == 0 or run.fault[0] != NONE:
                    return False
                continue
            # the stretch is cut in two: what is left of it up to the cap is made like any other
            stride, rounds = SUMS, short
        rounds, state = _advance(run, stride, rounds, last, state)
        made[stride] += rounds
        if stride != CROWD:  # a crowd judges its rounds itself
            _judge(run, stride, tracing)
        if clock[MISSING] == 0 or run.fault[0] != NONE:
            return clock[MISSING] == 0
        stride, rounds = _choose_stride(run)


@inlined
def _start(run: Run, state: State) -> State:
    """Draw the opening permutation and set all sums to zero."""
    standings = run.race.standings
    state = shuffle(standings.arm_of, state)
    for x in range(standings.order.size):
        standings.order[x], standings.total[x] = x, 0.0
    start_clock(run, open_partition(run.part, run.setting.sizes))
    return state


@inlined
def _first_stride(run: Run) -> tuple[int, int]:
    """Return the stride that begins with round 1, and how many rounds it is asked to make."""
    quiet = run.clock[QUIET]
    if quiet > 0 and worth_a_crowd(run.crowd, run, 0.0):
        return CROWD, 1
    if quiet > 0 and by_words(run):
        return WORDS, 1
    return SUMS, quiet + 1


@inlined
def _has_later_cap(run: Run) -> bool:
    """Whether the replication goes on from this cap to another one."""
    return left(run.budgets) > 1 and run.clock[LAST_PAID] <= run.clock[LAST_RECORDED]


@kernel
def _meet_cap(run: Run, short: int, state: State) -> State:
    """Recommend, if the caller asks for it; if at a later cap, too, be ready to go on, else make the
    last rounds, `short` of them.

    These hold no event: they are the first of a certified stretch. So they need no judgement, and
    what is drawn for them is drawn after all else, if it is asked for at all.
    """
    if _has_later_cap(run):
        state = _recommend(run, state)
        count_rounds(run)
        return state
    _say_why(run)
    asked = left(run.budgets) == 1 and run.fault[0] == NONE
    if asked and short > 0:
        state = _pull_sums(run, short, state)
    _pass_last(run)
    if asked and (short == 0 or audit(run)):
        state = _recommend(run, state)
    return state


@kernel
def _recommend(run: Run, state: State) -> State:
    """Recommend, by the sums of all active arms."""
    standings, n = run.race.standings, run.clock[ACTIVE]
    if in_crowd(run.crowd, run):
        state = note_sums(run.crowd, run, state)
    else:
        for x in range(n):
            note_arm(run.budgets, x, standings.order[x], standings.total[x])
    recommend(run.budgets, run.part, run.part.open_sizes, standings.arm_of, n)
    return state


@kernel
def stop_short(run: Run) -> int:
    """Make the last rounds for which the cap and the recording suffice: they hold no event, so no
    reward is drawn. Return their number."""
    _say_why(run)
    return _pass_last(run)


@kernel
def _say_why(run: Run) -> None:
    """Report why there are no more rounds, unless it is the caller's cap."""
    clock, fault = run.clock, run.fault
    if audit(run):
        if clock[LAST_RECORDED] < clock[LAST_PAID]:
            available = laws.pulls_available(run.race.law)
            arm = 0  # the first active one; a crowd has no ranking
            while run.part.settled[0, arm] > 0:
                arm += 1
            report(fault, RECORDING_RAN_OUT, arm, available + 1)
        elif run.setting.max_pulls < 0:
            report(fault, TOO_MANY_PULLS, 0, 0)


@inlined
def _pass_last(run: Run) -> int:
    """Count the last rounds; return their number."""
    clock = run.clock
    last, n, R = last_round(run), clock[ACTIVE], clock[ROUND]
    clock[TAKEN] += (last - R) * clock[PER_ROUND]
    clock[PULLS] += n * (last - R) * clock[PER_ROUND]
    clock[ROUND] = last
    return last - R


@inlined
def _advance(run: Run, stride: int, rounds: int, last: int, state: State) -> tuple[int, State]:
    """Make rounds by a stride: as many as asked for by sums, as far as they lead by others; return
    how many."""
    if stride == CROWD:
        return make_rounds(run.crowd, run, last, state)
    if stride == SUMS:
        state = _pull_sums(run, rounds, state)
    elif stride == WORDS:
        rounds, state = _pull_words(run, last, state)
    else:
        rounds, state = duel(run, last, state)
        _repair(run)
    _pass_rounds(run, rounds)
    return rounds, state


@inlined
def _pass_rounds(run: Run, rounds: int) -> None:
    """Count rounds whose pulls are made."""
    clock = run.clock
    if run.merging and clock[ROUND] == 0 and rounds > 1:  # round 1 is over, without an event
        merge_all(run.part)
    pulls = rounds * clock[PER_ROUND]
    clock[ROUND] += rounds
    clock[TAKEN] += pulls
    clock[PULLS] += clock[ACTIVE] * pulls


@inlined
def _pull_sums(run: Run, rounds: int, state: State) -> State:
    """Draw the pulls of some rounds as one sum an arm."""
    law, standings, clock = run.race.law, run.race.standings, run.clock
    order, total, arm_of = standings.order, standings.total, standings.arm_of
    pulls = rounds * clock[PER_ROUND]
    for x in range(clock[ACTIVE]):
        total[x], state = laws.more_pulls(
            law, arm_of[order[x]], total[x], clock[TAKEN], pulls, state
        )
    _repair(run)
    return state


@inlined
def _repair(run: Run) -> None:
    """Sort the ranking."""
    standings = run.race.standings
    repair(
        standings.order,
        standings.total,
        run.clock[ACTIVE],
        standings.spare_order,
        standings.spare_total,
    )


@inlined
def _pull_words(run: Run, last: int, state: State) -> tuple[int, State]:
    """Make rounds of the words, drawn anew if none is left, up to the first that may hold an event;
    return how many."""
    race, clock, terms = run.race, run.clock, run.terms
    R, n, over = clock[ROUND], clock[ACTIVE], clock[OVER]
    if over == LANES:
        state = draw_words(race, n, clock[TAKEN], state)
        terms[WIDTH_AFTER], over = width(run, R + LANES), 0
    until = over + 1
    if R == 0:
        until = min(1 + clock[QUIET], LANES)
    elif terms[GAP] <= terms[WIDTH]:  # else the arms left may be settled in the very next round
        suspect = first_suspect(race, n, over, terms[WIDTH], terms[WIDTH_AFTER])
        until = min(1 + suspect, LANES)
    until = min(until, over + min(last, next_asked(run.history)) - R)
    advance(race, n, over, until)
    clock[OVER] = until
    return until - over, state


@inlined
def _judge(run: Run, stride: int, tracing: bool) -> None:
    """Judge the round that a stride ended with: settle arms if it holds an event."""
    race, clock, terms = run.race, run.clock, run.terms
    every_round = schedules.every_round(race.schedule)
    R = clock[ROUND]
    W = terms[WIDTH] = width(run, R)
    event = True
    if every_round:  # else rounds are so long that each is likely to hold an event
        event = _constrain(run) > W or R == 1
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
                _constrain(run)
            terms[BUDGET] = -1.0
            count_rounds(run)


@inlined
def _constrain(run: Run) -> float:
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


@inlined
def _choose_stride(run: Run) -> tuple[int, int]:
    """Return the stride that makes the next rounds, and how many it is asked to make."""
    clock, terms, race = run.clock, run.terms, run.race
    if in_crowd(run.crowd, run):
        if not worth_leaving(run.crowd, run):
            return CROWD, 1
        _leave_crowd(run)
    if clock[OVER] < LANES:
        return WORDS, 1
    D = terms[WIDTH] - terms[GAP]
    if not (schedules.every_round(race.schedule) and D > 0.0):
        return SUMS, 1
    if clock[ACTIVE] == 2 and allowed(run.setting.strides, LAST_TWO):
        return LAST_TWO, 1
    sure = sure_rounds(D, laws.spread(race.law))
    reach = D * D / terms[LEAST_BUDGET]  # about the length that bound 2 certifies, or more
    certified = max(np.float64(sure), reach)
    if worth_a_crowd(run.crowd, run, certified):
        return CROWD, 1
    if certified < WORTH_A_JUMP and by_words(run):
        return WORDS, 1
    return SUMS, 1 + _certified(run, D, sure)


@inlined
def _leave_crowd(run: Run) -> None:
    """Go back to the ranking."""
    leave(run.crowd, run.race.standings, run.clock[ACTIVE])
    run.terms[WIDTH] = width(run, run.clock[ROUND])
    _constrain(run)


@inlined
def _certified(run: Run, D: float, sure: int) -> int:
    """Return how many of the next rounds hold no event: more than those that are sure, if it is
    worth a jump of the budget."""
    clock, terms, race = run.clock, run.terms, run.race
    n, jump = clock[ACTIVE], clock[JUMPS] + 1
    if terms[BUDGET] < 0.0 or jump >= FIRST_JUMPS:
        terms[BUDGET] = pair_budget(race.law, n, run.setting.skip_error, jump)
    # a quarter of this is about the length that bound 2 certifies when means are close
    if 4.0 * (D * D) / terms[BUDGET] <= sure + 1:
        return sure
    clock[JUMPS] = jump
    return max(sure, longest_jump(race, n, clock[ROUND], D, terms[BUDGET]))
