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
from rai_sim.engine.certificates import FIRST_JUMPS, longest_jump, pair_budget, sure_rounds
from rai_sim.engine.faults import NONE, STOPPED, report, went_well
from rai_sim.engine.history import stopped_at, traced
from rai_sim.engine.jit import driver, inlined, kernel
from rai_sim.engine.partition import open_partition, record_outcome
from rai_sim.engine.recommendations import left, record_recommendations
from rai_sim.engine.references import by_reference
from rai_sim.engine.round_robin.caps import has_later_cap, meet_cap
from rai_sim.engine.round_robin.crowd import stride as _by_words  # noqa: F401
from rai_sim.engine.round_robin.many import in_crowd, leave, worth_a_crowd, worth_leaving
from rai_sim.engine.round_robin.roster import stride as _by_roster  # noqa: F401
from rai_sim.engine.round_robin.rounds import advance_by
from rai_sim.engine.round_robin.rule import judge, note_gap
from rai_sim.engine.round_robin.run import (
    ACTIVE,
    BUDGET,
    GAP,
    JUMPS,
    LEAST_BUDGET,
    MISSING,
    OVER,
    PULLS,
    QUIET,
    ROUND,
    WIDTH,
    Run,
    by_words,
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
from rai_sim.engine.words import WORTH_A_JUMP


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
            if short == 0 or not has_later_cap(run):
                made[stride] += short
                state = meet_cap(run, short, state)
                if left(run.budgets) == 0 or run.fault[0] != NONE:
                    return False
                continue
            # the stretch is cut in two: what is left of it up to the cap is made like any other
            stride, rounds = SUMS, short
        rounds, state = advance_by(run, stride, rounds, last, state)
        made[stride] += rounds
        if stride != CROWD:  # a crowd judges its rounds itself
            judge(run, stride, tracing)
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
    note_gap(run)


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
