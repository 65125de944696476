"""LUCB's loop over rounds: judge, close ranks, choose how the next rounds are made.

Legend, after the paper: R round, n_a pulls of arm a, LCB and UCB = mean -+ radius, L_i the smallest LCB before cluster
i, U_i the largest UCB after it. Ranks count from 0, the best empirical mean; everything is in law units (see `rai_sim.engine.law`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.lucb.challenge import Challenge, arm_in_question, new_challenge, run_challenge
from rai_sim.algorithms.lucb.corridors import WORTH_A_JUMP, Corridors, exit_budget, new_corridors, open_corridors, stay_inside
from rai_sim.algorithms.lucb.in_step import all_in_step, run_in_step
from rai_sim.algorithms.lucb.lanes import Lanes, fit_lanes, new_lanes, run_in_lanes
from rai_sim.algorithms.lucb.rule import (
    Ranking,
    close_ranks,
    compute_bounds,
    find_opponents,
    mend,
    new_ranking,
    see_ranked,
    settle_and_choose,
)
from rai_sim.algorithms.lucb.strides import CORRIDORS, IN_STEP, LANES, LAST_ARM, PLAIN, VIEW
from rai_sim.algorithms.lucb.view import NoView, new_view, note_settled, open_view, renew_view, see_cold, view_decides, worth_a_view
from rai_sim.engine import law as laws
from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.certificates import Constraints, new_constraints
from rai_sim.engine.faults import (
    MOST_PULLS,
    NONE,
    NOT_FINITE,
    RECORDING_RAN_OUT,
    STOPPED,
    TOO_MANY_PULLS,
    finite,
    report,
)
from rai_sim.engine.history import History, keep_state, next_asked, traced
from rai_sim.engine.jit import driver, inlined, kernel
from rai_sim.engine.partition import Partition, new_partition, open_partition, record_outcome
from rai_sim.engine.ranking import merge_sort
from rai_sim.engine.stop import raised
from rai_sim.engine.streams import State, replication_stream, shuffle
from rai_sim.engine.strides import allowed, holds

#: Rounds that must have had the same picks before a longer stretch of them is worth looking for (measured).
_SAME_BEFORE_A_TRY = 5
#: The same where rounds are cheap, in lanes.
_SAME_IN_LANES = 30


class Memory(NamedTuple):
    """What a block works in."""

    ranking: Ranking
    part: Partition
    view: Any  # `View` or `NoView`
    lanes: Lanes
    challenge: Challenge
    corridors: Corridors
    constraints: Constraints


def new_memory(setting: Setting) -> Memory:
    """Allocate for a task."""
    N, m = setting.cluster_of.size, setting.sizes.size
    view = new_view(N, setting.sizes) if holds(setting.strides, VIEW) else NoView(N)
    return Memory(
        new_ranking(N, m), new_partition(setting), view, new_lanes(), new_challenge(N, m), new_corridors(N),
        new_constraints(N, m),
    )  # fmt: skip


@driver
def run_block(law: Any, scale: float, as_printed: bool, setting: Setting, first: int, block: Block, memory: Memory) -> None:
    """Run len(block.pulls) replications, indices from `first` on; scale is pi^2 N / (3 delta)."""
    for b in range(block.pulls.size):
        state = replication_stream(setting.key, first + b, memory.ranking.generators)
        finished, R, pulls = _run_one(law, scale, as_printed, setting, memory, block.history, block.fault, block.rounds_by_stride, state)
        if block.fault[0] == STOPPED:
            block.fault[1] = b
        if block.fault[0] != NONE:
            return
        record_outcome(block, b, memory.part, setting.cluster_of, finished, R, pulls)


@kernel
def _run_one(
    law: Any, scale: float, as_printed: bool, setting: Setting, memory: Memory, history: History, fault: NDArray[np.int64],
    made: NDArray[np.int64], state: State,
) -> tuple[bool, int, int]:  # fmt: skip
    """Run one replication; return whether it finished, its rounds and its pulls."""
    s, part, view, lanes, challenge, corridors, constraints = memory
    n, unit, available = s.order.size, laws.unit(law), np.float64(laws.pulls_available(law))
    state = shuffle(s.arm_of, state)
    missing = open_partition(part, setting.sizes)
    most = setting.max_pulls if setting.max_pulls >= 0 else MOST_PULLS
    if n > most:
        return False, 0, 0
    state = _first_pulls(law, s, fault, state)
    if fault[0] != NONE:
        return False, 0, n
    R, pulls, jumps, last_picks, same = 0, n, 0, 0, 0
    by_step, by_lanes = allowed(setting.strides, IN_STEP), allowed(setting.strides, LANES)
    by_words, by_corridors = allowed(setting.strides, LAST_ARM), allowed(setting.strides, CORRIDORS)
    in_step = by_step and all_in_step(s, part, n, as_printed)
    fit, worth = by_lanes and fit_lanes(law, part, n, as_printed), WORTH_A_JUMP
    v = arm_in_question(law, part, n, as_printed) if by_words else -1
    cold, views = 0, worth_a_view(view, n)  # active arms outside of the ranking, which then is a view
    if views:
        open_view(view, s, part)
    while True:
        if raised(history.stop):
            report(fault, STOPPED, 0, 0)
            return False, R, pulls
        R += 1
        log_term = math.log(scale * R * R * R)
        if cold == 0:
            views = worth_a_view(view, n)
        doubt, renewed = views and cold == 0, False
        while True:
            if doubt:
                renewed = True
                n, cold = renew_view(view, s, part, n, R, scale, unit, as_printed)
            compute_bounds(s, n, log_term, unit)
            find_opponents(s, n, part.open_sizes, as_printed)
            doubt = cold > 0 and not view_decides(view, s, part, n, R, as_printed)
            if not doubt:
                break
        settled, supplied, picks = settle_and_choose(s, part, n, R, as_printed)
        missing -= supplied
        if traced(history) and (settled > 0 or next_asked(history) <= R):
            if cold > 0 and (next_asked(history) <= R or missing == 0):
                see_cold(view, history, s, pulls)
            see_ranked(history, s, n, pulls)
            keep_state(history, R)
        if missing == 0:
            for x in range(n):
                s.settled[x] = False
            made[PLAIN] += 1
            return True, R, pulls
        if settled > 0:
            if views:
                note_settled(view, s, n)
            n = close_ranks(s, n, picks)
            in_step = False
        if picks > most - pulls:
            if setting.max_pulls < 0:
                report(fault, TOO_MANY_PULLS, 0, 0)
            made[PLAIN] += 1
            return False, R, pulls
        if in_step and settled == 0:
            rounds = _at_most((most - pulls) // n, available - s.taken[0])
            if rounds > 0:
                k, jumps, state = run_in_step(
                    law, scale, setting.skip_error, s, corridors.counts, part, constraints, n, R, rounds, pulls, history,
                    fault, jumps, state,
                )  # fmt: skip
                if fault[0] != NONE:
                    return False, R, pulls
                made[IN_STEP] += k
                R, pulls = R + k - 1, pulls + k * n
                mend(s, n)
                continue
        room, these_picks = available, 0
        for j in range(picks):
            x = s.picks[j]
            room = min(room, available - s.taken[x])
            these_picks += (s.order[x] + 1) * (s.order[x] + 1)  # likely another number for other arms
        k = 0
        known = last_picks < 0 or these_picks == last_picks
        same = same + 1 if known and settled == 0 else 0
        if by_corridors and cold == 0 and same >= _SAME_BEFORE_A_TRY:
            k = open_corridors(
                corridors, s, n, picks, part.open_sizes, as_printed, log_term, unit, R, _at_most((most - pulls) // picks, room)
            )
        last_picks = these_picks
        if k > 1:
            stride, worth = CORRIDORS, WORTH_A_JUMP
            k, jumps, state = stay_inside(law, corridors, s, picks, k, setting.skip_error, history.stop, fault, jumps, state)
        else:
            k, stride = 1, PLAIN
            if same >= _SAME_BEFORE_A_TRY and (fit or v >= 0):
                same, worth = 0, 4.0 * worth
            for j in range(picks):
                x = s.picks[j]
                if s.taken[x] >= available:
                    report(fault, RECORDING_RAN_OUT, s.arm_of[s.order[x]], int(s.taken[x]) + 1)
                    return False, R, pulls
                s.total[x], state = laws.one_pull(law, s.arm_of[s.order[x]], s.total[x], int(s.taken[x]), state)
                if not finite(s.total[x]):
                    report(fault, NOT_FINITE, s.arm_of[s.order[x]], int(s.taken[x]) + 1)
        if fault[0] != NONE:
            return False, R, pulls
        for j in range(picks):
            x = s.picks[j]
            s.taken[x] += k
            s.mean[x] = s.total[x] / s.taken[x]
        made[stride] += k
        R += k - 1
        pulls += k * picks
        mend(s, n)
        if (settled > 0 or renewed) and cold == 0:
            in_step = by_step and all_in_step(s, part, n, as_printed)
            fit = by_lanes and fit_lanes(law, part, n, as_printed)
            v = arm_in_question(law, part, n, as_printed) if by_words else -1
        if cold > 0 or in_step or same >= _SAME_BEFORE_A_TRY:
            continue
        before = R
        if v >= 0:
            budget = exit_budget(law, picks, setting.skip_error, jumps + 1)
            R, pulls, wide, state = run_challenge(law, scale, budget, worth, s, part, challenge, v, n, R, pulls, most, history, state)
            same = _SAME_BEFORE_A_TRY if wide else 0
            made[LAST_ARM] += R - before
        elif fit:
            R, pulls, same, state = run_in_lanes(law, scale, s, part, lanes, n, R, pulls, most, _SAME_IN_LANES, history, state)
            made[LANES] += R - before
        else:
            continue
        mend(s, n)
        last_picks = -1


@inlined
def _at_most(count: int, room: float) -> int:
    """Return the smaller of the two; counts near 2^62 must not become doubles, which might round them up."""
    return int(room) if room < count else count


@inlined
def _first_pulls(law: Any, s: Ranking, fault: NDArray[np.int64], state: State) -> State:
    """Pull every arm once and rank the arms."""
    n = s.order.size
    for x in range(n):
        s.mean[x], state = laws.one_pull(law, s.arm_of[x], 0.0, 0, state)
        if not finite(s.mean[x]):
            report(fault, NOT_FINITE, s.arm_of[x], 1)
        s.order[x], s.taken[x] = x, 1.0
    merge_sort(s.order, s.mean, n, s.picks, s.lcb)  # the latter two are free as yet
    for x in range(n):
        s.total[x] = s.mean[x]
    return state
