"""Words of up to sixteen arms: sums, ranking and bounds without a branch that hangs on rewards.

What `rai_sim.engine.words` does with any number of arms, and with the same results. A short
replication looks at its words some twenty times, and what it finds there no processor can foresee:
who passes whom, and how many arms are near a border. So a look at few arms does the same whatever it
finds: sums, one arm a lane, grow by the bits set in the words; an arm's rank is the number of keys
above its own; and bounds are taken over all arms on a side, as an arm that is too far off to matter
does not move them (`suspects_of_few`).

Lanes are laid out when words are drawn and are by label (`rai_sim.engine.sum_vectors`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.certificates import Constraints
from rai_sim.engine.jit import inlined
from rai_sim.engine.ranking import Standings
from rai_sim.engine.sum_vectors import (
    ARMS,
    add_rewards,
    counts_ahead,
    keep_lanes,
    lowered_ahead,
    raised_ahead,
    rank_of,
    write_leads,
    write_sums,
)
from rai_sim.engine.vectors import LANES, address_of, lanes_above, new_vectors

#: The best sum less the worst, from which on keys might not be 32 bits long.
_FARTHEST = 2.0**24
_0, _1 = np.uint64(0), np.uint64(1)
#: Bytes of a row of counts, of a lane, and of a vector of lanes.
_ROW, _LANE, _VECTOR = (np.uint64(v) for v in (LANES, 4, 4 * ARMS))


class Few(NamedTuple):
    """The lanes of one race, by label."""

    starts: NDArray[np.int32]  # (16,) the sums when the words began, less the base
    keys: NDArray[np.int32]  # (16,) of the sums by now
    sums: NDArray[np.float64]  # (16,)
    leads: NDArray[np.int32]  # (2, 16) four equal bytes each
    base: NDArray[np.float64]  # (1,)
    active: NDArray[np.int64]  # (1,) how many arms have keys; 0 where lanes are not in use


def new_few() -> Few:
    """Allocate, at once: a block may be short."""
    lanes = new_vectors((6, ARMS), np.int32)
    return Few(
        starts=lanes[0],
        keys=lanes[1],
        leads=lanes[2:4],
        sums=lanes[4:].reshape(-1).view(np.float64),
        base=np.zeros(1),
        active=np.zeros(1, np.int64),
    )


@inlined
def lay_out(few: Few, standings: Standings, n: int) -> None:
    """Give each active arm its lane, at the beginning of a word, if all arms have one."""
    order, total, base = standings.order, standings.total, standings.total[0]
    starts, keys = few.starts, few.keys
    few.active[0] = 0
    if total.size > ARMS or base - total[np.uint64(n - 1)] >= _FARTHEST:
        return
    few.active[0], few.base[0] = n, base
    keep_lanes(address_of(keys), _0)
    for x in range(np.uint64(n)):
        label = order[x]
        start = int(total[x] - base)
        starts[np.uint64(label)] = start
        keys[np.uint64(label)] = 64 * start - label


@inlined
def advance_few(
    few: Few, bits: NDArray[np.uint64], standings: Standings, n: int, mask: np.uint64
) -> None:
    """Add the rewards under a mask to the sums; rank the n active arms anew. What stands in the
    ranking behind them means nothing."""
    order, total, sums = standings.order, standings.total, few.sums
    keys = address_of(few.keys)
    if n != few.active[0]:  # some were settled since
        few.active[0], active = n, _0
        for x in range(np.uint64(n)):
            active |= _1 << np.uint64(order[x])
        keep_lanes(keys, active)
    new_keys = add_rewards(keys, address_of(bits), mask)
    write_sums(new_keys, few.base[0], address_of(sums))
    # settled arms, whose keys are the lowest but for lanes without an arm, come behind the ranking
    for label in range(np.uint64(total.size)):
        rank = rank_of(new_keys, keys + label * _LANE)
        order[rank], total[rank] = label, sums[label]


@inlined
def suspects_of_few(
    few: Few,
    counts: NDArray[np.uint8],
    standings: Standings,
    constraints: Constraints,
    n: int,
    j: int,
    whole: float,
    intercept: int,
    slope: int,
) -> np.uint64:
    """Return the rounds of the word, as lanes, in which some constraint's bound exceeds whole + floor
    ((intercept + (lane + 1) slope) / 256); those of the first j mean nothing.

    The bound is the most of the sums now ranked at x or later less the least of those now ranked at
    y or before. All arms of a side are taken, also those that are too far off to matter, which
    `rai_sim.engine.words` stops at: one that is still `whole` behind the arm at y when the word ends
    is no reason to exceed, and one that is ahead of it by more than the rounds left is not the least.
    So where a lead is no byte the nearest one does as well, as long as no constrained gap exceeds W
    when the look begins.
    """
    order, total = standings.order, standings.total
    start, starts = address_of(counts), address_of(few.starts)
    ahead = address_of(few.leads)
    behind, suspects = ahead + _VECTOR, _0
    for i in range(np.uint64(constraints.number[0])):
        high, low = np.uint64(constraints.high[i]), np.uint64(constraints.low[i])
        reference = total[low]
        if total[high] - reference - whole + (LANES - j) <= 0.0:
            continue
        # from where the word began, whence counts are
        over = int(reference - few.base[0])
        write_leads(starts, over + int(whole), ahead)
        write_leads(starts, over, behind)
        label = np.uint64(order[high])
        most = counts_ahead(start + label * _ROW, ahead + label * _LANE)
        for x in range(high + _1, np.uint64(n)):
            label = np.uint64(order[x])
            most = raised_ahead(most, start + label * _ROW, ahead + label * _LANE)
        label = np.uint64(order[low])
        least = counts_ahead(start + label * _ROW, behind + label * _LANE)
        for y in range(low):
            label = np.uint64(order[y])
            least = lowered_ahead(least, start + label * _ROW, behind + label * _LANE)
        suspects |= lanes_above(most, least, intercept, slope)
    return suspects
