"""Near the threshold, for rewards 0 and 1: 64 rounds of an arm as the bits of one word.

Any stretch inside the 64 rounds can be looked at after the fact: an arm's sum over it is a count of ones, and S_a - S_b
rises over any beginning of the stretch by at most the number of rounds in which a gives 1 and b gives 0. That certifies
stretches with certainty, and longer ones than the sure bound, which must allow for a rise in every round. The bits
after a round with an event are thrown away: they are independent of all that led to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine import schedule as schedules
from rai_sim.engine.certificates import Constraints, constrain
from rai_sim.engine.jit import kernel
from rai_sim.engine.ranking import ranks_before
from rai_sim.engine.sampling import bits_set, lanes

#: With more arms than this, looking at all pairs costs more than the checks that it saves (measured).
_FEW = 3


@kernel
def walk_words(
    schedule: Any, order: NDArray[np.int64], total: NDArray[np.float64], words: NDArray[np.uint64], n: int, c: Constraints,
    count: int, open_sizes: NDArray[np.int64], R: int, W: float, G: float,
) -> int:  # fmt: skip
    """Advance sums and ranking by up to 64 rounds, but not past the first with G > W; return by how many.

    `words` is indexed by rank, like `total`; W and G are those of round R.
    """
    j = 0
    while True:
        step = 1 + max(int(W - G), 0)  # no event in the rounds before, by the sure bound
        size = 64 - j
        while size > step and n <= _FEW:
            if _quiet(total, words, n, c, count, W, lanes(j, size)):
                step = size
            size >>= 1
        step = min(step, 64 - j)
        _advance(order, total, words, n, lanes(j, step))
        j += step
        if j == 64:
            return j
        G = _constrained_gap(total, c, count)
        if G > W:
            # Perhaps only the cut of a middle cluster is out of date, or W itself.
            count, G = constrain(c, total, open_sizes, n)
            W = schedules.threshold(schedule, np.float64(R + j))
            if G > W:
                return j


@kernel
def _advance(order: NDArray[np.int64], total: NDArray[np.float64], words: NDArray[np.uint64], n: int, mask: np.uint64) -> None:
    """Add the rounds under the mask to the sums and repair the ranking, in one pass."""
    for x in range(n):
        label, word = order[x], words[x]
        key = total[x] + bits_set(word & mask)
        y = x
        while y > 0 and ranks_before(key, label, total[y - 1], order[y - 1]):
            total[y], order[y], words[y] = total[y - 1], order[y - 1], words[y - 1]
            y -= 1
        total[y], order[y], words[y] = key, label, word


@kernel
def _constrained_gap(total: NDArray[np.float64], c: Constraints, count: int) -> float:
    """Return the largest gap of the constraints as they are cut."""
    G = -np.inf
    for j in range(count):
        G = max(G, total[c.high[j]] - total[c.low[j]])
    return G


@kernel
def _quiet(
    total: NDArray[np.float64], words: NDArray[np.uint64], n: int, c: Constraints, count: int, W: float, mask: np.uint64
) -> bool:
    """Whether no constraint can break in any of the rounds under the mask, W being the width before them."""
    most = bits_set(mask)
    for j in range(count):
        high, low = c.high[j], c.low[j]
        for x in range(high, n):
            if total[x] - total[low] + most <= W:
                break  # nor can the arms ranked after x reach that far
            for y in range(low, -1, -1):
                gap = total[x] - total[y]
                if gap + most <= W:
                    break
                if x != y and gap + bits_set(words[x] & ~words[y] & mask) > W:
                    return False
    return True
