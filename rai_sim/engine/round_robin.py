"""The round-robin loop that Vanilla and Butterscotch share, with the schedule as a parameter.

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

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine import law as laws
from rai_sim.engine import schedule as schedules
from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.certificates import (
    FIRST_JUMPS,
    Constraints,
    constrain,
    longest_jump,
    new_constraints,
    pair_budget,
    sure_rounds,
)
from rai_sim.engine.duel import WORTH_A_JUMP, duel
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
from rai_sim.engine.history import History, keep_state, next_asked, see_arm, traced
from rai_sim.engine.jit import driver, inlined, kernel
from rai_sim.engine.partition import (
    Partition,
    merge_with_previous,
    new_partition,
    open_partition,
    record_outcome,
    settle_arm,
)
from rai_sim.engine.ranking import repair
from rai_sim.engine.stop import raised
from rai_sim.engine.streams import State, new_generators, replication_stream, shuffle
from rai_sim.engine.strides import LAST_TWO, SUMS, WORDS, allowed
from rai_sim.engine.vectors import LANES
from rai_sim.engine.words import advance, draw_words, first_suspect, new_counts


class Scratch(NamedTuple):
    """Memory of a block, O(N): the ranking, the caller's index of each label, words a label, room
    to sort in, generators, and W by round, NaN where not yet asked for."""

    order: NDArray[np.int64]
    total: NDArray[np.float64]
    arm_of: NDArray[np.int64]
    counts: NDArray[np.uint8]
    spare_order: NDArray[np.int64]
    spare_total: NDArray[np.float64]
    generators: NDArray[np.uint64]
    widths: NDArray[np.float64]


#: W of the first rounds, where most checks are, is computed once a block.
_TABULATED = 4096


def run_block(
    law: Any, schedule: Any, merging: bool, setting: Setting, first: int, block: Block
) -> None:
    """Run len(block.pulls) replications, indices from `first` on."""
    N, m = setting.cluster_of.size, setting.sizes.size
    scratch = Scratch(
        np.empty(N, np.int64),
        np.empty(N),
        np.empty(N, np.int64),
        new_counts(N),
        np.empty(N, np.int64),
        np.empty(N),
        new_generators(),
        np.full(_TABULATED, np.nan),
    )
    _run_block(
        law,
        schedule,
        merging,
        setting,
        first,
        block,
        scratch,
        new_partition(setting),
        new_constraints(N, m),
    )


@driver
def _run_block(
    law: Any,
    schedule: Any,
    merging: bool,
    setting: Setting,
    first: int,
    block: Block,
    scratch: Scratch,
    part: Partition,
    constraints: Constraints,
) -> None:
    # a lone cluster settles its arms in round 1
    quiet = quiet_start(law, schedule) if setting.sizes.size > 1 else 0
    least_budget = pair_budget(law, 2, setting.skip_error, 1)
    for b in range(block.pulls.size):
        state = replication_stream(setting.key, first + b, scratch.generators)
        finished, R, pulls = _run_one(
            law,
            schedule,
            merging,
            setting,
            quiet,
            least_budget,
            scratch,
            part,
            constraints,
            block.history,
            block.fault,
            block.rounds_by_stride,
            state,
        )
        if block.fault[0] == STOPPED:
            block.fault[1] = b
        if block.fault[0] != NONE:
            return
        record_outcome(block, b, part, setting.cluster_of, finished, R, pulls)


@kernel
def quiet_start(law: Any, schedule: Any) -> int:
    """Return for how many rounds from the start no gap can exceed W, by the sure bound: the largest
    R with R spread <= W(R)."""
    R = 0
    if schedules.every_round(schedule):
        # W(R) / R falls with R (for two arms or more), so the largest such R is found bit by bit
        step = 1 << 40
        while step > 0:
            if (R + step) * laws.spread(law) <= schedules.threshold(
                schedule, np.float64(R + step)
            ) / laws.unit(law):
                R += step
            step >>= 1
    return R


@kernel
def _run_one(
    law: Any,
    schedule: Any,
    merging: bool,
    setting: Setting,
    quiet: int,
    least_budget: float,
    scratch: Scratch,
    part: Partition,
    constraints: Constraints,
    history: History,
    fault: NDArray[np.int64],
    made: NDArray[np.int64],
    state: State,
) -> tuple[bool, int, int]:
    """Run one replication; return whether it finished, its rounds and its pulls."""
    order, total, arm_of = scratch.order, scratch.total, scratch.arm_of
    state = _start(scratch, state)
    n = order.size
    missing = open_partition(part, setting.sizes)
    every_round, unit, tracing = schedules.every_round(schedule), laws.unit(law), traced(history)
    R, t, pulls, jumps, due = 0, 0, 0, 0, next_asked(history)
    count, G, W, W_end, audit = 0, 0.0, 0.0, 0.0, 0
    budget = -1.0  # of the next jump; negative if it has to be computed anew, as it depends on n
    word_rounds = LANES  # rounds of the drawn words that are over; no words are left at 64
    per_round, last_by_pulls, last_by_recording = _last_rounds(
        law, schedule, setting.max_pulls, n, R, t, pulls
    )
    by_words = laws.has_words(law) and allowed(setting.strides, WORDS)
    k, stride = quiet + 1, SUMS  # rounds to the next check, and how they are made
    if every_round and by_words and quiet > 0:
        k, stride = 1, WORDS
    while True:
        if raised(history.stop):
            report(fault, STOPPED, 0, 0)
            return False, R, pulls
        last = min(last_by_pulls, last_by_recording)
        if R + k > last:  # the rounds up to `last` hold no event, so they are over
            bad = _not_finite(total, n)
            if bad >= 0:
                report(fault, NOT_FINITE, arm_of[order[bad]], t)
            elif last_by_recording < last_by_pulls:
                report(
                    fault, RECORDING_RAN_OUT, _least_arm(scratch, n), laws.pulls_available(law) + 1
                )
            elif setting.max_pulls < 0:
                report(fault, TOO_MANY_PULLS, 0, 0)
            made[stride] += last - R
            return False, last, pulls + n * (last - R) * per_round
        if stride == SUMS:
            for x in range(n):
                total[x], state = laws.more_pulls(
                    law, arm_of[order[x]], total[x], t, k * per_round, state
                )
            repair(order, total, n, scratch.spare_order, scratch.spare_total)
        elif stride == WORDS:
            if word_rounds == LANES:
                state = draw_words(law, order, arm_of, n, t, scratch.counts, state)
                W_end, word_rounds = width(schedule, unit, scratch.widths, R + LANES), 0
            until = word_rounds + 1
            if R == 0:
                until = min(1 + quiet, LANES)
            elif G <= W:  # else the arms that are left may be settled in the very next round
                until = min(
                    1
                    + first_suspect(
                        scratch.counts, order, total, n, constraints, count, word_rounds, W, W_end
                    ),
                    LANES,
                )
            until = min(until, word_rounds + min(last, due) - R)
            advance(
                order,
                total,
                n,
                scratch.counts,
                word_rounds,
                until,
                scratch.spare_order,
                scratch.spare_total,
            )
            k, word_rounds = until - word_rounds, until
        else:
            k, total[0], total[1], jumps, state = duel(
                law,
                schedule,
                arm_of[order[0]],
                arm_of[order[1]],
                total[0],
                total[1],
                R,
                last,
                pulls,
                setting.skip_error,
                history,
                jumps,
                state,
            )
            k -= R
            repair(order, total, n, scratch.spare_order, scratch.spare_total)
        if merging and R == 0 and k > 1:  # round 1 is over, without an event
            _merge_all(part)
        made[stride] += k
        R, t, pulls = R + k, t + k * per_round, pulls + n * k * per_round
        W = width(schedule, unit, scratch.widths, R)
        if every_round:  # else rounds are so long that each is likely to hold an event
            count, G = constrain(constraints, total, part.open_sizes, n)
        event = not every_round or G > W or R == 1
        # a sum that is not finite stays so, and may hide in G: no round may be judged by it
        if event or stride == LAST_TWO or audit <= R:
            audit = 8 * R
            bad = _not_finite(total, n)
            if bad >= 0:
                report(fault, NOT_FINITE, arm_of[order[bad]], t)
                return False, R, pulls
        if tracing:
            _see_arms(history, scratch, n, t, pulls, R)
            due = next_asked(history)
        if event:
            n, supplied = settle_round(scratch, part, n, W, R, merging)
            missing -= supplied
            if missing == 0:
                return True, R, pulls
            if every_round:
                count, G = constrain(constraints, total, part.open_sizes, n)
            budget = -1.0
            per_round, last_by_pulls, last_by_recording = _last_rounds(
                law, schedule, setting.max_pulls, n, R, t, pulls
            )
        k, stride = 1, SUMS
        if word_rounds < LANES:
            stride = WORDS
        elif every_round and G < W:
            if n == 2 and allowed(setting.strides, LAST_TWO):
                stride = LAST_TWO
                continue
            k = 1 + sure_rounds(W - G, laws.spread(law))
            square = (W - G) * (W - G)
            few = max(np.float64(k - 1), square / least_budget) < WORTH_A_JUMP
            if few and by_words:
                k, stride = 1, WORDS
                continue
            if budget < 0.0 or jumps + 1 >= FIRST_JUMPS:
                budget = pair_budget(law, n, setting.skip_error, jumps + 1)
            # a quarter of this is about the length that bound 2 certifies when means are close
            if 4.0 * square / budget > k:
                jumps += 1
                k = max(
                    k,
                    1
                    + longest_jump(
                        law, schedule, constraints, count, order, arm_of, total, n, R, W, G, budget
                    ),
                )


@kernel
def _not_finite(total: NDArray[np.float64], n: int) -> int:
    """Return the last rank whose sum is not finite, -1 if there is none."""
    rank = -1
    for x in range(n):
        if not finite(total[x]):
            rank = x
    return rank


@inlined
def width(schedule: Any, unit: float, widths: NDArray[np.float64], R: int) -> float:
    """Return W(R) in law units, from the table if it is there."""
    if widths.size <= R:
        return schedules.threshold(schedule, np.float64(R)) / unit
    W = widths[R]
    if W != W:
        W = widths[R] = schedules.threshold(schedule, np.float64(R)) / unit
    return W


@inlined
def _start(scratch: Scratch, state: State) -> State:
    """Draw the opening permutation and set all sums to zero."""
    state = shuffle(scratch.arm_of, state)
    for x in range(scratch.order.size):
        scratch.order[x], scratch.total[x] = x, 0.0
    return state


@kernel
def _see_arms(history: History, scratch: Scratch, n: int, t: int, pulls: int, R: int) -> None:
    for x in range(n):
        see_arm(history, scratch.arm_of[scratch.order[x]], scratch.total[x] / t, t, pulls)
    keep_state(history, R)


@kernel
def _merge_all(part: Partition) -> None:
    for i in range(part.open_sizes.size):
        merge_with_previous(part, i)


@inlined
def _last_rounds(
    law: Any, schedule: Any, max_pulls: int, n: int, R: int, t: int, pulls: int
) -> tuple[int, int, int]:
    """Return the pulls an arm of the next round, and the last rounds for which the pulls and the
    recording suffice at that rate."""
    most = max_pulls if max_pulls >= 0 else MOST_PULLS
    per_round = 1
    if not schedules.every_round(schedule):
        per_round = (
            int(min(schedules.pulls_after(schedule, R + 1.0), 2.0 * MOST_PULLS - 1024.0)) - t
        )
    return (
        per_round,
        R + (most - pulls) // n // per_round,
        R + (laws.pulls_available(law) - t) // per_round,
    )


@kernel
def _least_arm(scratch: Scratch, n: int) -> int:
    arm = scratch.arm_of[scratch.order[0]]
    for x in range(1, n):
        arm = min(arm, scratch.arm_of[scratch.order[x]])
    return arm


@inlined
def settle_round(
    scratch: Scratch, part: Partition, n: int, W: float, R: int, merging: bool
) -> tuple[int, int]:
    """Judge every active arm against the opening partition, remove the settled, merge; return the
    arms left and the outputs supplied."""
    order, total = scratch.order, scratch.total
    kept, supplied, p0 = 0, 0, 0
    for i in range(part.open_sizes.size):
        p1 = p0 + part.open_sizes[i]
        # The survivors move up in the same arrays, never past the arm that is being read; only the
        # arm before the cluster may be overwritten while the cluster is judged.
        above = total[p0 - 1] if p0 > 0 else np.inf
        below = total[p1] if p1 < n else -np.inf
        for x in range(p0, p1):
            if above - total[x] > W and total[x] - below > W:
                supplied += settle_arm(part, i, scratch.arm_of[order[x]], R)
            else:
                order[kept], total[kept] = order[x], total[x]
                kept += 1
        if merging:
            merge_with_previous(part, i)
        p0 = p1
    return kept, supplied
