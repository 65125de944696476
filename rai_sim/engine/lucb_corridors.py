"""Certified jumps of LUCB: for how many rounds are the same arms pulled, and no arm is settled?

Legend as in `rai_sim.engine.lucb_rounds`. C arms picked in round R, which has been judged; an arm of C takes
one pull a round from then on as long as the picks stay the same. After j more pulls each, round R + j is
judged. X the reward of a pull, m = S / n the mean in round R, mu the law's mean.

Corridors. Give every picked arm a corridor: its sum, less j m, stays between -down and +up for j = 1..q. Then
its mean stays in (m - down / n, m + up / n), as the mean after j pulls is m + (sum - S - j m) / (n + j).
Radii are between c inv (1 - Q / 2n) and c' inv, where Q >= q bounds the stretch and c' = c + 3 Q / (2 c R) >=
c_{R+Q}: (n + j)^-1/2 >= n^-1/2 (1 - j / 2n), and c^2 grows by 3 ln(1 + j / R). The other arms' means stay
put. So each LCB and UCB is within known bounds plus what the corridor leaves. `squeeze` makes the corridors
so narrow that in rounds R+1..R+q

1. every border of the ranking keeps the arms on each side: clusters are the same sets;
2. every arg max and arg min that picks an arm keeps its winner (which need not hold between two arms that are
picked anyway, being the only candidates for another role: then the set of picks is the same whichever wins);
3. no arm is settled: an arm x of cluster i has UCB_x > LCB_l or LCB_x < UCB_u, for the arms l and u that
attain L_i and U_i in round R.

Each of these is a sum of up to four bounds being positive by D > 0, and holds if the up and down that reduce
it add up to at most D, in means. A corridor of height H in sums takes H / n of it; so H = D / (sum of the 1 /
n involved), the same for all of them.

Nearest arm v of a middle cluster against b: gap = max(UCB - L, U - LCB). If UCB_b - L is b's larger term it
suffices that UCB_v < UCB_b and that U - LCB_v < UCB_b - L; and the other way round.

How long an arm stays in its corridor.
1. Surely, for floor(H / h) pulls, if rewards lie in an interval of length h.
2. Up to eps: with X - mu sub-Gaussian of proxy v, and H_k = H - k (mu - m) for the upper wall, an exit within
k pulls has probability at most exp(-min(H_k, 2 H)^2 / (2 v k)), by the argument of bound 2 in
`rai_sim.engine.certificates`: the sum less j mu is a martingale and the wall a line. So k is certified for
all walls at once if min(H_k, 2 H)^2 >= 2 v k ln(2 |C| / eps) for each of them. eps comes from the same budget
over numbered jumps.
3. For rewards 0 and 1 the next 64 pulls are drawn as a word and the first exit is looked up. It is a stopping
time, so the bits after the pull with the exit are independent of all that is known, and are thrown away.

A jump of q certified rounds takes q + 1 pulls of each picked arm; the round after them is judged as any
other.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine import law as laws
from rai_sim.engine.jit import kernel
from rai_sim.engine.lucb_rounds import Floats, Ints
from rai_sim.engine.sampling import bits_set, lanes

#: Rows of the table of bounds, by rank.
_LCB_LO, _LCB_HI, _UCB_LO, _UCB_HI, _WEIGHT, _SURE, UP, DOWN = 0, 1, 2, 3, 4, 5, 6, 7
ROWS = 8
_LN2 = math.log(2.0)


@kernel
def bound_all(bounds: Floats, mean: Floats, inv: Floats, lcb: Floats, ucb: Floats, order: Ints, count: Ints,
picks: Ints, number: int,
              n: int, c: float, R: int, Q: float) -> None:  # fmt: skip
    """Bound each arm's LCB and UCB for Q rounds, were its mean to stay; open the corridors wide."""
    growth = 1.5 * Q / (c * R)
    for x in range(n):
        more = growth * inv[x]
        bounds[_LCB_LO, x], bounds[_LCB_HI, x] = lcb[x] - more, lcb[x]
        bounds[_UCB_LO, x], bounds[_UCB_HI, x] = ucb[x], ucb[x] + more
        bounds[_WEIGHT, x], bounds[_SURE, x], bounds[UP, x], bounds[DOWN, x] = 0.0, 0.0, np.inf, np.inf
    for j in range(number):
        x = picks[j]
        weight = 1.0 / count[order[x]]
        less = c * inv[x] * 0.5 * Q * weight
        bounds[_LCB_HI, x] += less
        bounds[_UCB_LO, x] -= less
        bounds[_WEIGHT, x] = weight


@kernel
def _keep_below(b: Floats, low: int, high: int, lo: int, hi: int) -> bool:
    """Keep `low` (its bound in row `hi`) below `high` (row `lo`); return whether it is so now."""
    D = b[lo, high] - b[hi, low]
    H = D / (b[_WEIGHT, low] + b[_WEIGHT, high])
    b[UP, low], b[DOWN, high] = min(b[UP, low], H), min(b[DOWN, high], H)
    return D > 0.0


@kernel
def squeeze(
    b: Floats, mean: Floats, roles: Ints, open_sizes: Ints, wants: NDArray[np.bool_], n: int, as_printed: bool
) -> bool:
    """Narrow the corridors until every decision of the round is safe; False if one is not safe even now."""
    _mark_sure_picks(b, open_sizes, wants, n, as_printed)
    p0, previous = 0, 0  # previous: where the arms that cluster i sees before it begin
    for i in range(open_sizes.size):
        p1 = p0 + open_sizes[i]
        if p1 > p0:
            if p1 < n and not _keep_border(b, mean, n, p1):
                return False
            if not _keep_unsettled(b, p0, p1, roles[0, i], roles[1, i]):
                return False
            following = _seen_after(open_sizes, i, p1, n, as_printed)
            if wants[i] and not _keep_roles(b, roles, i, p0, p1, previous, following, n, as_printed):
                return False
        if as_printed:
            previous = p0
        p0 = p1
    return True


@kernel
def _seen_after(open_sizes: Ints, i: int, p1: int, n: int, as_printed: bool) -> int:
    """Return where the arms end that cluster i, which ends at rank p1, sees after it."""
    if not as_printed:
        return n
    return p1 + open_sizes[i + 1] if i + 1 < open_sizes.size else p1


@kernel
def _mark_sure_picks(b: Floats, open_sizes: Ints, wants: NDArray[np.bool_], n: int, as_printed: bool) -> None:
    """Mark the arms that are the only candidates for some role."""
    p0, previous = 0, 0
    for i in range(open_sizes.size):
        p1 = p0 + open_sizes[i]
        if wants[i]:
            if p1 - p0 == 1:
                b[_SURE, p0] = 1.0
            if p0 - previous == 1:
                b[_SURE, previous] = 1.0
            if _seen_after(open_sizes, i, p1, n, as_printed) - p1 == 1:
                b[_SURE, p1] = 1.0
        if as_printed:
            previous = p0
        p0 = p1


@kernel
def _keep_border(b: Floats, mean: Floats, n: int, p: int) -> bool:
    """Keep the arms of ranks below p above all others."""
    D = mean[p - 1] - mean[p]
    if D <= 0.0:
        return False
    above, below = b[_WEIGHT, p - 1], b[_WEIGHT, p]
    share = 0.5 if above + below == 0.0 else below / (above + below)
    border = mean[p] + D * share
    for x in range(n):
        if b[_WEIGHT, x] > 0.0:
            if x < p:
                b[DOWN, x] = min(b[DOWN, x], (mean[x] - border) / b[_WEIGHT, x])
            else:
                b[UP, x] = min(b[UP, x], (border - mean[x]) / b[_WEIGHT, x])
    return True


@kernel
def _keep_unsettled(b: Floats, p0: int, p1: int, least: int, greatest: int) -> bool:
    """Keep each arm of ranks p0..p1-1 unsettled by one of its opponents, whichever leaves more room."""
    for x in range(p0, p1):
        by_l, by_u = -np.inf, -np.inf
        if least >= 0:
            D = b[_UCB_LO, x] - b[_LCB_HI, least]
            if D > 0.0:
                by_l = D / (b[_WEIGHT, x] + b[_WEIGHT, least])
        if greatest >= 0:
            D = b[_UCB_LO, greatest] - b[_LCB_HI, x]
            if D > 0.0:
                by_u = D / (b[_WEIGHT, x] + b[_WEIGHT, greatest])
        if max(by_l, by_u) <= 0.0:
            return False
        if by_l >= by_u:
            b[DOWN, x], b[UP, least] = min(b[DOWN, x], by_l), min(b[UP, least], by_l)
        else:
            b[UP, x], b[DOWN, greatest] = min(b[UP, x], by_u), min(b[DOWN, greatest], by_u)
    return True


@kernel
def _keep_roles(
    b: Floats, roles: Ints, i: int, p0: int, p1: int, previous: int, following: int, n: int, as_printed: bool
) -> bool:
    """Keep the winners of cluster i's roles."""
    least, greatest, v, weakest, strongest = roles[0, i], roles[1, i], roles[2, i], roles[3, i], roles[4, i]
    alone, safe = p1 - p0 == 1, True
    for x in range(previous, p0):
        if x != least and not (alone and b[_SURE, x] * b[_SURE, least] > 0.0):
            safe &= _keep_below(b, least, x, _LCB_LO, _LCB_HI)
    for x in range(p1, following):
        if x != greatest and not (alone and b[_SURE, x] * b[_SURE, greatest] > 0.0):
            safe &= _keep_below(b, x, greatest, _UCB_LO, _UCB_HI)
    if alone or not safe:
        return safe
    for x in range(p0, p1):
        if not as_printed:
            if p1 < n and x != weakest:
                safe &= _keep_below(b, weakest, x, _LCB_LO, _LCB_HI)
            if p0 > 0 and x != strongest:
                safe &= _keep_below(b, x, strongest, _UCB_LO, _UCB_HI)
        if x != v:
            safe &= _keep_nearest(b, v, x, least, greatest)
    return safe


@kernel
def _keep_nearest(b: Floats, v: int, x: int, least: int, greatest: int) -> bool:
    """Keep v's gap smaller than x's."""
    if least < 0:
        return _keep_below(b, x, v, _LCB_LO, _LCB_HI)
    if greatest < 0:
        return _keep_below(b, v, x, _UCB_LO, _UCB_HI)
    weights = b[_WEIGHT, x] + b[_WEIGHT, v] + b[_WEIGHT, least] + b[_WEIGHT, greatest]
    if b[_UCB_LO, x] - b[_LCB_HI, least] >= b[_UCB_LO, greatest] - b[_LCB_HI, x]:
        D = b[_UCB_LO, x] + b[_LCB_LO, v] - b[_UCB_HI, greatest] - b[_LCB_HI, least]
        H = D / weights
        b[DOWN, x], b[DOWN, v] = min(b[DOWN, x], H), min(b[DOWN, v], H)
        b[UP, greatest], b[UP, least] = min(b[UP, greatest], H), min(b[UP, least], H)
        return _keep_below(b, v, x, _UCB_LO, _UCB_HI) and D > 0.0
    D = b[_UCB_LO, greatest] + b[_LCB_LO, least] - b[_UCB_HI, v] - b[_LCB_HI, x]
    H = D / weights
    b[DOWN, greatest], b[DOWN, least] = min(b[DOWN, greatest], H), min(b[DOWN, least], H)
    b[UP, v], b[UP, x] = min(b[UP, v], H), min(b[UP, x], H)
    return _keep_below(b, x, v, _LCB_LO, _LCB_HI) and D > 0.0


@kernel
def narrowest(b: Floats, picks: Ints, number: int) -> float:
    """Return the smallest distance of a picked arm from a wall."""
    H = np.inf
    for j in range(number):
        H = min(H, b[UP, picks[j]], b[DOWN, picks[j]])
    return H


@kernel
def exit_budget(law: Any, number: int, skip_error: float, jump: int) -> float:
    """Return 2 v ln(2 |C| / eps) for jump number `jump` >= 1; infinite if nothing may be left to chance."""
    if skip_error <= 0.0:
        return np.inf
    level = 1
    while jump > 1:
        jump >>= 1
        level += 1
    return 2.0 * laws.proxy(law) * (math.log(2.0 * number / skip_error) + (2 * level - 1) * _LN2)


@kernel
def longest_stay(H: float, drift: float, budget: float) -> float:
    """Return the largest k with min(H - k drift, 2 H)^2 >= k budget."""
    most = 4.0 * H * H / budget
    under_root = budget + 4.0 * drift * H
    if under_root <= 0.0:
        return most
    root = 2.0 * H / (math.sqrt(budget) + math.sqrt(under_root))
    return min(most, root * root)


@kernel
def first_exit(word: np.uint64, m: float, up: float, down: float, most: int) -> int:
    """Return the first of pulls 1..most that takes the sum less j m to a wall, -down or up; else most + 1."""
    j, at = 0, 0.0
    # For m = 0 or 1 one of them is infinite: no single pull takes the arm that way.
    fastest_up, fastest_down = 1.0 / (1.0 - m), 1.0 / m
    while True:
        # Within so many pulls less one the arm cannot reach a wall.
        step = min((up - at) * fastest_up, (down + at) * fastest_down, 64.0)
        size = min(max(int(step), 1), most - j)
        if size <= 0:
            return most + 1
        at += bits_set(word & lanes(j, size)) - size * m
        j += size
        if at >= up or at <= -down:
            return j
