"""LUCB's loop over rounds: judge, close ranks, choose the stride that makes the next ones.

Legend, after the paper: R round, n_a pulls of arm a, LCB and UCB = mean -+ radius, L_i the smallest
LCB before cluster i, U_i the largest UCB after it. Ranks count from 0, the best empirical mean;
everything is in law units (see `rai_sim.engine.law`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.lucb import challenge, corridor_walk, corridors, in_step, lanes
from rai_sim.algorithms.lucb.arm_pulls import keeps_arm_pulls, note_ranked
from rai_sim.algorithms.lucb.caps import begins, within_caps
from rai_sim.algorithms.lucb.lane_picks import Lanes
from rai_sim.algorithms.lucb.plain import pull_all_once, pull_picks
from rai_sim.algorithms.lucb.replications import begin, end
from rai_sim.algorithms.lucb.rule import (
    close_ranks,
    compute_bounds,
    find_opponents,
    mend,
    see_ranked,
    settle_and_choose,
)
from rai_sim.algorithms.lucb.run import (
    CERTIFIED,
    COLD,
    KNOWN,
    LOG_TERM,
    MISSING,
    PICKS,
    PULLS,
    RANKED,
    ROUND,
    SAME,
    SUITED,
    WORTH,
    WORTH_A_STRETCH,
    Rule,
    Run,
    allocate_run,
    count_same,
    goes_on,
    rounds_left,
    start_clock,
)
from rai_sim.algorithms.lucb.strides import CORRIDORS, IN_STEP, LANES, LAST_ARM, PLAIN, VIEW
from rai_sim.algorithms.lucb.view import (
    NoView,
    new_view,
    note_settled,
    open_view,
    renew_view,
    see_cold,
    view_decides,
    worth_a_view,
)
from rai_sim.engine import law as laws
from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.certificates import Constraints, new_constraints
from rai_sim.engine.faults import NONE
from rai_sim.engine.history import keep_state, next_asked, traced
from rai_sim.engine.jit import driver, inlined, kernel
from rai_sim.engine.partition import open_partition
from rai_sim.engine.references import by_reference
from rai_sim.engine.streams import State, shuffle
from rai_sim.engine.strides import allowed, holds

#: Rounds that must have had the same picks before a longer stretch of them is worth looking for
#: (measured).
_SAME_BEFORE_A_TRY = 5
#: The same where rounds are cheap, in lanes.
_SAME_IN_LANES = 30


class Scratch(NamedTuple):
    """What some strides work in, beside a `Run`."""

    lanes: Lanes
    challenge: challenge.Challenge
    corridors: corridors.Corridors
    constraints: Constraints


def new_run(law: Any, rule: Rule, setting: Setting, block: Block) -> Run:
    """Allocate for a block of replications."""
    N = setting.cluster_of.size
    views = new_view(N, setting.sizes) if holds(setting.strides, VIEW) else NoView(N)
    return allocate_run(law, rule, views, setting, block)


def new_scratch(setting: Setting) -> Scratch:
    """Allocate for a task."""
    N, m = setting.cluster_of.size, setting.sizes.size
    return Scratch(
        lanes=lanes.new_lanes(),
        challenge=challenge.new_challenge(N, m),
        corridors=corridors.new_corridors(N),
        constraints=new_constraints(N, m),
    )


@driver
def run_block(given: Run, room: Scratch, first: int, block: Block) -> None:
    """Run len(block.pulls) replications, indices from `first` on."""
    run, scratch = by_reference(given), by_reference(room)
    for b in range(block.pulls.size):
        state = begin(run, first + b)
        if not end(run, block, b, _run_one(run, scratch, block.rounds_by_stride, state)):
            return


@kernel
def _run_one(run: Run, scratch: Scratch, made: NDArray[np.int64], state: State) -> bool:
    """Run one replication; return whether it finished."""
    clock = run.clock
    started, state = _start(run, state)
    while started and goes_on(run):
        settled, renewed = _judge_round(run)
        if run.fault[0] != NONE:
            return False
        if settled > 0:
            note_settled(run.views, run.ranking, clock[RANKED])
            clock[RANKED] = close_ranks(run.ranking, clock[RANKED], clock[PICKS])
        finished, R = clock[MISSING] == 0, clock[ROUND]
        if finished or not within_caps(run):
            made[PLAIN] += 1
            return finished
        stride = _choose_stride(run, scratch, settled, renewed)
        if stride == IN_STEP:
            state = in_step.pull_all(run, scratch.corridors.in_step, scratch.constraints, state)
        elif stride == CORRIDORS:
            state = corridor_walk.advance(run, scratch.corridors, state)
        else:
            # of lanes and the last arm, too: they judge all rounds after this one
            state = pull_picks(run, state)
            if stride != PLAIN and run.fault[0] == NONE:
                mend(run.ranking, clock[RANKED])
                clock[KNOWN] = -1
                if stride == LAST_ARM:
                    state = challenge.advance(run, scratch.challenge, _SAME_BEFORE_A_TRY, state)
                else:
                    state = lanes.advance(run, scratch.lanes, _SAME_IN_LANES, state)
        made[stride] += clock[ROUND] - R + 1
        mend(run.ranking, clock[RANKED])
    return False


@inlined
def _start(run: Run, state: State) -> tuple[bool, State]:
    """Draw the opening permutation, pull every arm once and rank the arms; False if the cap does
    not pay for that."""
    s, n = run.ranking, run.ranking.order.size
    state = shuffle(s.arm_of, state)
    start_clock(run, open_partition(run.part, run.setting.sizes))
    if not begins(run):
        return False, state
    state = pull_all_once(run, state)
    run.clock[SUITED] = _suited(run)
    if worth_a_view(run.views, n):
        open_view(run.views, s, run.part)
    return True, state


@inlined
def _judge_round(run: Run) -> tuple[int, bool]:
    """Judge the next round, on a view if there is one; return how many arms are settled, and
    whether the view was chosen anew."""
    s, part, view, clock, history, rule = (
        run.ranking,
        run.part,
        run.views,
        run.clock,
        run.history,
        run.rule,
    )
    clock[ROUND] += 1
    R, n, cold, unit = clock[ROUND], clock[RANKED], clock[COLD], laws.unit(run.law)
    log_term = math.log(rule.scale * R * R * R)
    run.terms[LOG_TERM] = log_term
    doubt, renewed = cold == 0 and worth_a_view(view, n), False
    while True:
        if doubt:
            renewed = True
            if not goes_on(run):  # of a million arms, a view may take a fifth of a second
                return 0, renewed
            n, cold = renew_view(view, s, part, n, R, rule.scale, unit, rule.as_printed)
        compute_bounds(s, n, log_term, unit)
        find_opponents(s, part.open_sizes, rule.as_printed)
        doubt = cold > 0 and not view_decides(view, s, part, n, R, rule.as_printed)
        if not doubt:
            break
    settled, supplied, picks = settle_and_choose(s, part, n, R, rule.as_printed)
    clock[RANKED], clock[COLD], clock[PICKS] = n, cold, picks
    clock[MISSING] -= supplied
    if settled > 0 and keeps_arm_pulls(run):
        note_ranked(run, n)
    if traced(history) and (settled > 0 or next_asked(history) <= R):
        if cold > 0 and (next_asked(history) <= R or clock[MISSING] == 0):
            see_cold(view, history, s, clock[PULLS])
        see_ranked(history, s, n, clock[PULLS])
        keep_state(history, R)
    return settled, renewed


@inlined
def _choose_stride(run: Run, scratch: Scratch, settled: int, renewed: bool) -> int:
    """Choose the stride that begins with the round that was judged."""
    clock = run.clock
    if clock[SUITED] == IN_STEP and settled == 0 and rounds_left(run) > 0:
        return IN_STEP
    count_same(run, settled)
    if (
        clock[COLD] == 0
        and clock[SAME] >= _SAME_BEFORE_A_TRY
        and allowed(run.setting.strides, CORRIDORS)
    ):
        clock[CERTIFIED] = corridors.open_corridors(run, scratch.corridors)
        if clock[CERTIFIED] > 1:
            run.terms[WORTH] = WORTH_A_STRETCH
            return CORRIDORS
    if clock[SAME] >= _SAME_BEFORE_A_TRY and (clock[SUITED] == LANES or clock[SUITED] == LAST_ARM):
        clock[SAME] = 0
        run.terms[WORTH] *= 4.0
    if (settled > 0 or renewed) and clock[COLD] == 0:
        clock[SUITED] = _suited(run)
    if clock[COLD] > 0 or clock[SAME] >= _SAME_BEFORE_A_TRY or clock[SUITED] == IN_STEP:
        return PLAIN
    return clock[SUITED]


@kernel
def _suited(run: Run) -> int:
    """Return the stride that suits the open clusters, from the next round on."""
    strides = run.setting.strides
    if allowed(strides, IN_STEP) and in_step.all_in_step(run):
        return IN_STEP
    if allowed(strides, LAST_ARM) and challenge.arm_in_question(run) >= 0:
        return LAST_ARM
    if allowed(strides, LANES) and lanes.fit_lanes(run):
        return LANES
    return PLAIN
