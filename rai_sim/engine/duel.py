"""The last two arms, in different clusters: most pulls of a run are theirs, so their rounds get a
loop of scalars and longer jumps.

Legend as in `rai_sim.engine.certificates`; n = 2, so the constraint is |S_a - S_b| <= W(R) and
there are two pairs, (a, b) and (b, a).

W itself costs a logarithm and a root. As W is concave, its chord from one round to a later one lies
below it, by about W/32 times the square of the chord's share of R; so near the threshold distances
are measured from chords. Elsewhere W is bounded from below by its growth since a round that is at
most 1/8 of R ago. W itself is computed when a bound is crossed; what is said of the rounds after
that one needs a slope measured from there, for a line from W itself with the slope of a chord that
begins lower runs above W.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rai_sim.engine import law as laws
from rai_sim.engine import schedule as schedules
from rai_sim.engine.certificates import (
    FIRST_JUMPS,
    LONGEST,
    certified_on_line,
    next_look,
    pair_budget,
    sure_rounds,
)
from rai_sim.engine.history import History, keep_state, next_asked, see_arm
from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.sampling import bits_set, lanes
from rai_sim.engine.stop import raised
from rai_sim.engine.streams import State
from rai_sim.engine.vectors import LANES, LONGEST_RISE, first_lane, walk_above

_NONE, _ONE = np.uint64(0), np.uint64(1)

#: A word of 64 rounds an arm costs about as much as a jump; stretches shorter than this are better
#: walked by words (measured).
WORTH_A_JUMP = 500.0
#: A chord of W may be this much below it.
_SAG = 0.25
#: A chord of W, and a jump judged by the growth of W at the anchor, spans at most this share of R.
_LONGEST_CHORD = 1.0 / 8.0
#: W grows by at least W_anchor / (2 anchor) sqrt(anchor / R) a round. A jump begins at most 1/8
#: after the anchor and is at most 1/8 of R long, so R stays below 1.27 anchor.
_GROWTH = 0.44


@kernel
def duel(
    law: Any,
    schedule: Any,
    a: int,
    b: int,
    S_a: float,
    S_b: float,
    R: int,
    last: int,
    pulls: int,
    skip_error: float,
    history: History,
    jumps: int,
    state: State,
) -> tuple[int, float, float, int, State]:
    """Pull arms a and b from round R on, up to the first round with |S_a - S_b| > W or to round
    `last`.

    Of all arms `pulls` pulls were made before.
    Return the round, the sums, the number of jumps so far and the random state.
    """
    unit, spread = laws.unit(law), laws.spread(law)
    drift = laws.mean_of(law, a) - laws.mean_of(law, b)
    budget = pair_budget(law, 2, skip_error, jumps + 1)
    per_budget = 1.0 / budget
    R0 = R1 = R  # the chord reaches from R0, where it is W0, to R1
    W0, rise = 0.0, 0.0
    anchor, W_anchor = 0.0, 0.0  # a round for which W itself was computed, and W there
    # by no more than this a round |gap| is expected to approach W, up to 1.27 times the anchor
    steepest = 0.0
    due, others = next_asked(history), pulls - 2 * R
    while last > R and not raised(history.stop):
        if due <= R:
            due = _see(history, a, b, S_a, S_b, R, others)
        gap = S_a - S_b
        if (1.0 + _LONGEST_CHORD) * anchor < R:
            anchor, W_anchor = np.float64(R), schedules.threshold(schedule, np.float64(R))
            steepest = abs(drift) - _GROWTH * W_anchor / unit / anchor
        if R + LANES > R1:
            R0, R1, W0, rise = (
                R,
                R,
                schedules.threshold_after(schedule, anchor, W_anchor, np.float64(R)) / unit,
                0.0,
            )
            if (W0 - abs(gap)) * (W0 - abs(gap)) < WORTH_A_JUMP * budget:
                R1 = R + LANES + int(R * min(_LONGEST_CHORD, math.sqrt(32.0 * _SAG / W0)))
                rise = (schedules.threshold(schedule, np.float64(R1)) / unit - W0) / (R1 - R0)
        W, slope = _line(schedule, unit, gap, R, W0 + (R - R0) * rise, rise)
        if not abs(gap) <= W:  # or sums that are not finite, which the caller reports
            break
        D = W - abs(gap)
        k = sure_rounds(D, spread)
        reach = D * D * per_budget  # about the length that bound 2 certifies
        if max(k, reach) < WORTH_A_JUMP and laws.has_words(law):
            A, state = laws.word(law, a, R, state)
            B, state = laws.word(law, b, R, state)
            rounds = min(_walk(schedule, A, B, gap, R, W, slope), last - R)
            while R + rounds > due:
                j = int(due - R)
                due = _see(
                    history,
                    a,
                    b,
                    S_a + bits_set(A & lanes(0, j)),
                    S_b + bits_set(B & lanes(0, j)),
                    due,
                    others,
                )
            S_a += bits_set(A & lanes(0, rounds))
            S_b += bits_set(B & lanes(0, rounds))
            R += rounds
            continue
        if 4.0 * reach > k:
            jumps += 1
            # the budget of a jump is cut at powers of two
            if jumps + 1 >= FIRST_JUMPS and (jumps + 1) & jumps == 0:
                budget = pair_budget(law, 2, skip_error, jumps + 1)
                per_budget = 1.0 / budget
            if reach < _LONGEST_CHORD * R:
                k = max(
                    k,
                    int(
                        min(
                            certified_on_line(D, steepest, budget),
                            min(4.0 * reach, _LONGEST_CHORD * R),
                        )
                    ),
                )
            else:
                k = max(k, _jump(R, W, gap, drift, budget))
        k = laws.handy(law, min(k + 1, last - R))
        S_a, state = laws.more_pulls(law, a, S_a, R, k, state)
        S_b, state = laws.more_pulls(law, b, S_b, R, k, state)
        R += k
    return R, S_a, S_b, jumps, state


@inlined
def _line(
    schedule: Any, unit: float, gap: float, R: int, W: float, rise: float
) -> tuple[float, float]:
    """Return a lower bound of W(R) and a slope with which it bounds the 64 rounds after R: the
    chord's, or W itself where the gap crosses the chord."""
    if abs(gap) <= W:
        return W, rise
    W = schedules.threshold(schedule, np.float64(R)) / unit
    return W, (schedules.threshold(schedule, np.float64(R + LANES)) / unit - W) / LANES


@kernel
def _see(history: History, a: int, b: int, S_a: float, S_b: float, R: int, others: int) -> int:
    """Keep the state of round R, for a trace; return the next round asked for. All other arms have
    `others` pulls."""
    see_arm(history, a, S_a / R, R, others + 2 * R)
    see_arm(history, b, S_b / R, R, others + 2 * R)
    keep_state(history, R)
    return next_asked(history)


@kernel
def _jump(R: int, W: float, gap: float, drift: float, budget: float) -> int:
    """Return a number of rounds after R that bound 2 certifies; W is at most W(R).

    W(R) / sqrt(R) does not fall with R, which bounds W(R + K) from below without a logarithm.
    """
    D = W - abs(gap)
    K, longest = min(D * D / budget, LONGEST), 0.0
    for _look in range(3):
        if K < 1.0:
            break
        D_K = W * math.sqrt(1.0 + K / R) - abs(gap + K * drift)
        uncapped = certified_on_line(D, (D - D_K) / K, budget)
        k = min(K, uncapped)
        longest = max(longest, k)
        K = next_look(D, K, k, uncapped, budget)
    return int(longest)


@kernel
def _walk(
    schedule: Any, A: np.uint64, B: np.uint64, gap: float, R: int, W: float, slope: float
) -> int:
    """Return after how many of 64 rounds the first with |gap| > W comes, 64 if none; rewards are 0
    and 1.

    W + j slope is a lower bound of W(R + j). Rounds in which the gap exceeds it are visited one
    after another.
    """
    leads, trails = (A & ~B, B & ~A) if gap >= 0.0 else (B & ~A, A & ~B)
    suspects = _above(leads, trails, W - abs(gap), slope) | _above(
        trails, leads, W + abs(gap), slope
    )
    while suspects != _NONE:
        rounds = first_lane(suspects) + 1
        change = bits_set(leads & lanes(0, rounds)) - bits_set(trails & lanes(0, rounds))
        if abs(abs(gap) + change) > schedules.threshold(schedule, np.float64(R + rounds)):
            return rounds
        suspects &= suspects - _ONE
    return LANES


@inlined
def _above(up: np.uint64, down: np.uint64, room: float, slope: float) -> np.uint64:
    """Return the rounds in which a walk may be above room + j slope; its steps up and down are
    bits."""
    if room >= LANES:
        return _NONE
    return walk_above(up, down, int(room * 256.0), min(int(slope * 256.0), LONGEST_RISE))
