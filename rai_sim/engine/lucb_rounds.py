"""One round of LUCB, with as few operations as a scan of the ranking needs.

Legend, after the paper: R round, n_a pulls of arm a, c = sqrt(ln(scale R^3)), radius = c inv_a with inv_a = 1
/ sqrt(2 n_a), LCB and UCB = mean -+ radius, L_i the smallest LCB before cluster i, U_i the largest UCB after
it. Ranks count from 0, the best empirical mean; everything is in law units.

Two versions of a round make the same decisions. `exact_round` here computes every radius as the definition
has it, settles and chooses. `rai_sim.engine.lucb_quick` multiplies c by cached factors, which is right up to
rounding, and only chooses. Rounding matters where two compared numbers are equal, or would be without it.
LCBs and UCBs of two arms are equal, but for accidents of probability zero, only if counts and means are, and
then their quick versions are equal too and the ranking decides, as it should. Two gaps UCB_a - L and U -
LCB_b can be equal without that (same counts, a symmetric picture), and rounding decides by the definition's
own operations. So the quick round gives up, and the exact one is done, if the two smallest gaps of a cluster
are within `SLACK` of each other, or if some arm seems settled or within `SLACK` of it.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.jit import kernel
from rai_sim.engine.partition import Partition, settle_arm

#: Far more than the rounding of a gap, relative to the numbers it is made of; far less than gaps differ.
SLACK = 1e-12


class Scratch(NamedTuple):
    """Memory of a block, O(N): by rank, by the replication's own label, and by cluster."""

    order: NDArray[np.int64]  # by rank: label
    mean: NDArray[np.float64]  # by rank: empirical mean
    inv: NDArray[np.float64]  # by rank: 1 / sqrt(2 n_a), in law units
    lcb: NDArray[np.float64]  # by rank
    ucb: NDArray[np.float64]  # by rank
    settled: NDArray[np.bool_]  # by rank: settled this round; only exact rounds use it
    chosen: NDArray[np.bool_]  # by rank: to be pulled this round; False outside of a round's choice
    # (N + 1,) the ranks to be pulled, in no order; one place is for a pick that turns out to be known
    picks: NDArray[np.int64]
    arm_of: NDArray[np.int64]  # by label: the caller's arm index
    total: NDArray[np.float64]  # by label: sum of rewards
    taken: NDArray[np.int64]  # by label: pulls
    wants: NDArray[np.bool_]  # by cluster: whether representatives are missing
    # (5, m) ranks: attains L_i, attains U_i (-1 if no arm is looked at), nearest, weakest, strongest
    roles: NDArray[np.int64]
    bounds: NDArray[np.float64]  # (.., N) see rai_sim.engine.lucb_corridors
    words: NDArray[np.uint64]  # by label: 64 pulls
    sums: NDArray[np.float64]  # by rank: sum of rewards, while arms are pulled in step
    spare_order: NDArray[np.int64]
    spare_mean: NDArray[np.float64]


def new_scratch(N: int, m: int) -> Scratch:
    """Allocate."""
    return Scratch(
        np.empty(N, np.int64), np.empty(N), np.empty(N), np.empty(N), np.empty(N), np.zeros(N, np.bool_),
        np.zeros(N, np.bool_),
        np.empty(N + 1, np.int64), np.empty(N, np.int64), np.empty(N), np.empty(N, np.int64), np.empty(m,
        np.bool_),
        np.empty((5, m), np.int64), np.empty((8, N)),
        np.empty(N, np.uint64), np.empty(N), np.empty(N, np.int64), np.empty(N),
    )  # fmt: skip


Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]


@kernel
def pick(chosen: Flags, picks: Ints, x: int, count: int) -> int:
    """Add rank x to the picks if it is not among them; return their number."""
    picks[count] = x
    new = not chosen[x]
    chosen[x] = True
    return count + new


@kernel
def opponents(
    lcb: Floats, ucb: Floats, roles: Ints, n: int, open_sizes: Ints, as_printed: bool
) -> None:
    """Find, for each cluster, the arms that attain L_i and U_i; among equals the first in the ranking."""
    best, p0 = -1, 0
    for i in range(open_sizes.size):
        roles[0, i] = best
        if as_printed:
            best = -1  # only cluster i itself will count for cluster i + 1
        for x in range(p0, p0 + open_sizes[i]):
            if best < 0 or lcb[x] < lcb[best]:
                best = x
        p0 += open_sizes[i]
    best, p1 = -1, n
    for i in range(open_sizes.size - 1, -1, -1):
        roles[1, i] = best
        if as_printed:
            best = -1
        for x in range(p1 - 1, p1 - 1 - open_sizes[i], -1):
            if best < 0 or ucb[x] >= ucb[best]:
                best = x
        p1 -= open_sizes[i]


@kernel
def _limits(s: Scratch, i: int) -> tuple[float, float]:
    """Return L_i and U_i."""
    L = s.lcb[s.roles[0, i]] if s.roles[0, i] >= 0 else np.inf
    U = s.ucb[s.roles[1, i]] if s.roles[1, i] >= 0 else -np.inf
    return L, U


@kernel
def exact_round(
    s: Scratch, part: Partition, n: int, log_term: float, unit: float, R: int, as_printed: bool
) -> tuple[int, int, int]:
    """Settle and choose; return the arms left, the outputs supplied and the picks (ranks of arms left)."""
    for x in range(n):
        radius = math.sqrt(log_term / (2.0 * s.taken[s.order[x]])) / unit
        s.lcb[x], s.ucb[x] = s.mean[x] - radius, s.mean[x] + radius
    opponents(s.lcb, s.ucb, s.roles, n, part.open_sizes, as_printed)
    _judge(s, part.open_sizes)
    supplied, picks, p0 = 0, 0, 0
    for i in range(part.open_sizes.size):
        p1 = p0 + part.open_sizes[i]
        for x in range(p0, p1):
            if s.settled[x]:
                supplied += settle_arm(part, i, s.arm_of[s.order[x]], R)
        if part.found[i] < part.required[i]:
            picks = _exact_choice(s, i, p0, p1, n, picks, as_printed)
        p0 = p1
    for j in range(picks):
        s.chosen[s.picks[j]] = False
    return _close_ranks(s, n, picks), supplied, picks


@kernel
def _judge(s: Scratch, open_sizes: NDArray[np.int64]) -> None:
    """Mark the arms that are settled, all against the opening partition."""
    p0 = 0
    for i in range(open_sizes.size):
        L, U = _limits(s, i)
        for x in range(p0, p0 + open_sizes[i]):
            s.settled[x] = s.lcb[x] > U and s.ucb[x] < L
        p0 += open_sizes[i]


@kernel
def _exact_choice(s: Scratch, i: int, p0: int, p1: int, n: int, picks: int, as_printed: bool) -> int:
    """Add what cluster i, ranks p0..p1-1, wants pulled; return the picks so far."""
    L, U = _limits(s, i)
    nearest, weakest, strongest = -1, -1, -1
    nearest_gap = np.inf
    for x in range(p0, p1):
        if s.settled[x]:
            continue
        gap = max(s.ucb[x] - L, U - s.lcb[x])
        if nearest < 0 or gap < nearest_gap:
            nearest, nearest_gap = x, gap
        if weakest < 0 or s.lcb[x] < s.lcb[weakest]:
            weakest = x
        if strongest < 0 or s.ucb[x] > s.ucb[strongest]:
            strongest = x
    picks = pick(s.chosen, s.picks, nearest, picks)
    if s.roles[0, i] >= 0 and not s.settled[s.roles[0, i]]:
        picks = pick(s.chosen, s.picks, s.roles[0, i], picks)
    if s.roles[1, i] >= 0 and not s.settled[s.roles[1, i]]:
        picks = pick(s.chosen, s.picks, s.roles[1, i], picks)
    if not as_printed:
        if p1 < n:
            picks = pick(s.chosen, s.picks, weakest, picks)
        if p0 > 0:
            picks = pick(s.chosen, s.picks, strongest, picks)
    return picks


@kernel
def _close_ranks(s: Scratch, n: int, picks: int) -> int:
    """Close the ranking over the settled arms; return the arms left."""
    kept = 0
    for x in range(n):
        if s.settled[x]:
            for j in range(picks):  # later ranks move up; the picks already renumbered are below `kept`
                s.picks[j] -= s.picks[j] > kept
        else:
            s.order[kept], s.mean[kept], s.inv[kept] = s.order[x], s.mean[x], s.inv[x]
            kept += 1
    return kept


@kernel
def mend_ranking(order: Ints, mean: Floats, inv: Floats, n: int) -> None:
    """Sort the ranking again after a few arms have moved."""
    for x in range(1, n):
        key, arm = mean[x], order[x]
        if mean[x - 1] > key or (mean[x - 1] == key and order[x - 1] < arm):
            continue
        factor, y = inv[x], x
        while y > 0 and (key > mean[y - 1] or (key == mean[y - 1] and arm < order[y - 1])):
            mean[y], order[y], inv[y] = mean[y - 1], order[y - 1], inv[y - 1]
            y -= 1
        mean[y], order[y], inv[y] = key, arm, factor


@kernel
def refresh(order: Ints, mean: Floats, inv: Floats, total: Floats, count: Ints, n: int, unit: float) -> None:
    """Compute what the arms show from their totals and counts, and sort the nearly sorted ranking."""
    for x in range(n):
        n_a = np.float64(count[order[x]])
        mean[x], inv[x] = total[order[x]] / n_a, 1.0 / (math.sqrt(2.0 * n_a) * unit)
    mend_ranking(order, mean, inv, n)
