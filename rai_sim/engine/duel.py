"""The last two arms, in different clusters: most pulls of a run are theirs, so their rounds get a loop of scalars and longer jumps.

Legend as in `rai_sim.engine.certificates`; n = 2, so the constraint is |S_a - S_b| <= W(R) and there are two pairs, (a,
b) and (b, a).

W itself costs a logarithm and a root. As W is concave, its chord from one round to another one lies below it, and over
3 % of R by less than 2^-15 of W; so distances are measured from chords, and W is computed only when a chord is used up
or crossed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rai_sim.engine import law as laws
from rai_sim.engine import schedule as schedules
from rai_sim.engine.certificates import LONGEST, certified, next_look, pair_budget
from rai_sim.engine.jit import kernel
from rai_sim.engine.sampling import bits_set, lanes
from rai_sim.engine.streams import State

#: A word of 64 rounds an arm costs about as much as a jump; stretches shorter than this are better walked by words (measured).
WORTH_A_JUMP = 100.0
#: Takes more off the sure bound than rounding can add to it.
_CAUTION = 1.0 - 1e-9
#: A chord of W spans this share of R.
_CHORD = 1.0 / 32.0

@kernel
def duel(
    law: Any, schedule: Any, a: int, b: int, S_a: float, S_b: float, R: int, last: int, skip_error: float,
    jumps: int, state: State,
) -> tuple[int, float, float, int, State]:  # fmt: skip
    """Pull arms a and b from round R on, up to the first round with |S_a - S_b| > W or to round `last`.

    Return the round, the sums, the number of jumps so far and the random state.
    """
    unit, spread = laws.unit(law), laws.spread(law)
    drift = laws.mean_of(law, a) - laws.mean_of(law, b)
    budget = pair_budget(law, 2, skip_error, jumps + 1)
    R0 = R1 = R
    W0, rise = 0.0, 0.0
    while last > R:
        gap = S_a - S_b
        if R >= R1:
            R0, R1 = R, R + 1 + int(R * _CHORD)
            W0 = schedules.threshold(schedule, np.float64(R0)) / unit
            rise = (schedules.threshold(schedule, np.float64(R1)) / unit - W0) / (R1 - R0)
        W = W0 + (R - R0) * rise
        if abs(gap) > W:
            W = schedules.threshold(schedule, np.float64(R)) / unit
            if abs(gap) > W:
                break
        D = W - abs(gap)
        k = int(D * _CAUTION / spread)
        reach = D * D / budget  # about the length that bound 2 certifies
        if max(k, reach) < WORTH_A_JUMP and last >= R + 64 and laws.has_words(law):
            A, state = laws.word(law, a, R, state)
            B, state = laws.word(law, b, R, state)
            rounds, change = _walk(schedule, A, B, gap, R, W)
            S_a += bits_set(A & lanes(0, rounds))
            S_b = S_a - (gap + change)
            R += rounds
            continue
        if 4.0 * reach > k:
            jumps += 1
            if (jumps + 1) & jumps == 0:  # the next jump's number is a power of two, where the budget of a jump is cut
                budget = pair_budget(law, 2, skip_error, jumps + 1)
            k = max(k, _jump(R, W, gap, drift, budget))
        k = min(k + 1, last - R)
        S_a, state = laws.more_pulls(law, a, S_a, R, k, state)
        S_b, state = laws.more_pulls(law, b, S_b, R, k, state)
        R += k
    return R, S_a, S_b, jumps, state


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
        k, uncapped = certified(D, D_K, K, budget)
        longest = max(longest, k)
        K = next_look(D, K, k, uncapped, budget)
    return int(longest)


@kernel
def _walk(schedule: Any, A: np.uint64, B: np.uint64, gap: float, R: int, W: float) -> tuple[int, float]:
    """Go through 64 rounds of two arms with rewards 0 and 1; W is at most W(R).

    Return after how many rounds the first with |gap| > W comes, 64 if none, and the gap's change up to there. Over any stretch the gap
    rises by at most the rounds in which a alone gives 1 and falls by at most those in which b alone does.
    """
    up, down = A & ~B, B & ~A
    change, j = 0.0, 0
    while j < 64:
        step, certain = 64 - j, 1 + int(max(W - abs(gap + change), 0.0))
        while step > certain:
            ups, downs = bits_set(up & lanes(j, step)), bits_set(down & lanes(j, step))
            if gap + change + ups <= W and downs - gap - change <= W:
                break
            step >>= 1
        step = min(max(step, certain), 64 - j)
        change += bits_set(up & lanes(j, step)) - bits_set(down & lanes(j, step))
        j += step
        if abs(gap + change) > W:
            W = schedules.threshold(schedule, np.float64(R + j))
            if abs(gap + change) > W:
                break
    return j, change
