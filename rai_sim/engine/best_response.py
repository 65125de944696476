"""The cheapest way to make a named arm wrong: the best response of the alternative in the game of
weights (Degenne and Koolen 2019).

Arms are given by rank, best first: weights or numbers of pulls w_p, means x_p. An arm k named in
cluster i is wrong where at least C_i other arms are as good ("down", C_i = c_1 + .. + c_i), or at
least N - C_{i-1} others as bad ("up", the mirror image). To move it down to theta <= x_k costs

    F(theta) = w_k d(x_k, theta) + the `others` = C_i smallest of w_p d(x_p, theta) [x_p < theta],

d(a, b) the Kullback-Leibler divergence of a law of mean b from one of mean a: 2 (a - b)^2 for
Gaussian laws of standard deviation 1/2, kl for Bernoulli laws. theta > x_k would be no better: all
costs grow. Below, theta is told by its distance e >= 0 from x_k, so that gaps keep their digits
however small they are, and `below` is x_k - x_p ("up": x_p - x_k).

For a fixed set M of others the cost is convex in theta, and where it is least theta is the weighted
mean of k and of the arms of M that are moved, for in both families the derivative of d(x, theta) is
(theta - x) / V(theta). The set changes with theta, so F has many local minima, and alternating
between set and theta finds one of them. What makes a scan exact:

1. Of two arms, which is the cheaper one changes at most once as theta grows. For x_1 < x_2 the
   difference w_1 d(x_1, .) - w_2 d(x_2, .) is not negative up to x_2, and from there its derivative
   is (w_1 (theta - x_1) - w_2 (theta - x_2)) / V(theta), positive at first and then of one sign
   change at most; so it has at most one zero, behind which it is negative.
2. Hence a set M that is one of the cheapest at both ends of an interval is so all over it: the one
   change of order of a pair in M and out of M would have to come and go. (Arms that cost nothing at
   the far end are in order of when they begin to.) On it the least cost is that of M.
3. On an interval of distances [a, b] F is at least k's own cost at a plus the others' at b. An
   interval whose bound exceeds what is looked for is passed over, another one is halved until 2
   holds.

Every M is an alternative whatever the weights, so what is found is never below the truth, and by 3
never above it by more than a relative 1e-12.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.jit import exposed, inlined, kernel

#: Families of laws.
GAUSSIAN, BERNOULLI = 0, 1
#: Relative: an alternative is not worth finding if it is cheaper by less.
_SLACK = 1e-13
#: Relative: costs that agree so far are equal, whoever of the two is in M.
_EQUAL = 1e-12
#: Relative: two distances are the same.
_NEAR = 1e-9
#: Intervals that may be open at a time: each halves the one before.
OPEN = 80
#: Rows of scratch of N numbers that `find_cheapest_moves` needs.
SCRATCH = 4


@kernel
def _excess(u: float) -> float:
    """Return u - ln(1 + u), without loss of digits near 0."""
    if abs(u) < 0.01:
        tail = 1.0 / 5.0 - u * (1.0 / 6.0 - u * (1.0 / 7.0 - u / 8.0))
        return u * u * (0.5 - u * (1.0 / 3.0 - u * (0.25 - u * tail)))
    return u - math.log1p(u) if u > -1.0 else np.inf


# Here and below: where the family is a constant of the caller, loops hold one divergence only.
@inlined
def divergence(family: int, x: float, e: float) -> float:
    """Return d(x, x + e): nats that a pull of an arm of mean x tells against the mean x + e."""
    if family == GAUSSIAN:
        return 2.0 * e * e
    return _share(x, e) + _share(1.0 - x, -e)


@kernel
def _share(x: float, e: float) -> float:
    """Return x ln(x / (x + e)) + e: one of the two terms of kl(x, x + e), never negative."""
    if x <= 0.0:
        return max(e, 0.0)
    u = e / x
    # u may be infinite for an x near the least double
    return x * _excess(u) if u < 1e3 else e - x * (math.log(x + e) - math.log(x))


@kernel
def _costs(
    family: int,
    w: NDArray[np.float64],
    x: NDArray[np.float64],
    below: NDArray[np.float64],
    k: int,
    sign: float,
    e: float,
    cost: NDArray[np.float64],
) -> None:
    """Write what it costs to move each arm to the mean at distance e from k's; inf for k, which is
    no other."""
    for p in range(len(x)):
        short = below[p] - e
        cost[p] = w[p] * divergence(family, x[p], sign * short) if short > 0.0 < w[p] else 0.0
    cost[k] = np.inf


@inlined
def _cheapest(
    cost: NDArray[np.float64],
    room: NDArray[np.float64],
    others: int,
    w: NDArray[np.float64],
    sign: float,
    chosen: NDArray[np.float64],
) -> float:
    """Choose so many of the smallest costs; return their sum.

    Of arms that cost nothing those that never will come first, then those that lie furthest beyond
    k: as the interval is left they are the last ones to cost something.
    """
    n, first, last = len(cost), 0, len(cost) - 1
    for p in range(n):
        room[p] = cost[p]
    rank = others - 1
    while first < last:
        pivot = room[(first + last) // 2]
        p, q = first, last
        while p <= q:
            while room[p] < pivot:
                p += 1
            while room[q] > pivot:
                q -= 1
            if p <= q:
                room[p], room[q] = room[q], room[p]
                p, q = p + 1, q - 1
        if rank <= q:
            last = q
        elif rank >= p:
            first = p
        else:
            break
    most, total, equal = room[rank], 0.0, others
    for p in range(n):
        chosen[p] = cost[p] < most
        if cost[p] < most:
            total += cost[p]
            equal -= 1
    total += equal * most
    for free in range(2):
        for q in range(n):
            p = q if sign > 0.0 else n - 1 - q
            if equal > 0 and cost[p] == most and (w[p] > 0.0) == free:
                chosen[p] = 1.0
                equal -= 1
    return total


@kernel
def _still_cheapest(cost: NDArray[np.float64], chosen: NDArray[np.float64]) -> bool:
    """Whether the chosen arms are still those of the smallest costs; unknown, so no, where these
    are infinite (kl(x, 0), kl(x, 1))."""
    most, least = 0.0, np.inf
    for p in range(len(cost)):
        if chosen[p] > 0.0:
            most = max(most, cost[p])
        else:
            least = min(least, cost[p])
    return most < np.inf and most <= least * (1.0 + _EQUAL)


@kernel
def _meeting(
    w: NDArray[np.float64], below: NDArray[np.float64], k: int, chosen: NDArray[np.float64]
) -> float:
    """Return the distance from k's mean to where k and the chosen arms meet most cheaply.

    There w_k e is the sum of w_p (below_p - e) over the arms that lie further down. The difference
    is concave and increases, so Newton's method from e = 0 grows towards it, and is there as soon
    as it passes no further arm: the weighted mean of k and those that are moved.
    """
    e = 0.0
    while True:
        weight, total = w[k], 0.0
        for p in range(len(below)):
            if chosen[p] > 0.0 and below[p] > e:
                weight += w[p]
                total += w[p] * below[p]
        found = total / weight if total > 0.0 else 0.0
        if not found > e:
            return e
        e = found


@kernel
def _cost_of(
    family: int,
    w: NDArray[np.float64],
    x: NDArray[np.float64],
    below: NDArray[np.float64],
    k: int,
    sign: float,
    chosen: NDArray[np.float64],
    e: float,
) -> float:
    """Return what it costs to let k and the chosen arms meet at distance e from k's mean."""
    total = w[k] * divergence(family, x[k], -sign * e) if e > 0.0 < w[k] else 0.0
    for p in range(len(x)):
        short = below[p] - e
        if chosen[p] > 0.0 and short > 0.0 < w[p]:
            total += w[p] * divergence(family, x[p], sign * short)
    return total


@kernel
def _furthest(below: NDArray[np.float64], k: int, sign: float, others: int) -> float:
    """Return the distance at which `others` arms are beyond k without being moved; not positive
    where they are so already."""
    n = len(below)
    if sign > 0.0:
        return below[others - 1 if k > others - 1 else others]
    return below[n - others if k < n - others else n - others - 1]


class Moves(NamedTuple):
    """Rows of alternatives: which arm is made wrong, in which direction (1 down, -1 up), at which
    distance from its mean the arms of the alternative meet, what that costs in nats, and the others
    that are moved if they lie further than that ((R, N) uint8)."""

    arms: NDArray[np.int64]
    signs: NDArray[np.float64]
    distances: NDArray[np.float64]
    values: NDArray[np.float64]
    sets: NDArray[np.uint8]


@kernel
def _write(
    moves: Moves, row: int, k: int, sign: float, e: float, value: float, chosen: NDArray[np.float64]
) -> None:
    """Write a row."""
    moves.arms[row], moves.signs[row] = k, sign
    moves.distances[row], moves.values[row] = e, value
    for p in range(len(chosen)):
        moves.sets[row, p] = chosen[p] > 0.0


@inlined
def _scan(
    family: int,
    w: NDArray[np.float64],
    x: NDArray[np.float64],
    k: int,
    sign: float,
    others: int,
    limit: float,
    every: bool,
    moves: Moves,
    row: int,
    scratch: NDArray[np.float64],
    ends: NDArray[np.float64],
) -> int:
    """Write k's cheapest move in one direction into a row, if it costs less than `limit`; or from
    that row on every local minimum that does, as far as there are rows. Return how many."""
    below, cost, room, chosen = scratch[0], scratch[1], scratch[2], scratch[3]
    for p in range(len(x)):
        below[p] = sign * (x[k] - x[p])
    found, value, e = 0, np.inf, 0.0
    end = max(_furthest(below, k, sign, others), 0.0)
    _costs(family, w, x, below, k, sign, end, cost)
    rest = _cheapest(cost, room, others, w, sign, chosen)
    fresh, kept = True, False  # chosen since it was last looked at; written
    ends[0], waiting = 0.0, 1
    while waiting > 0:
        start = ends[waiting - 1]
        own = w[k] * divergence(family, x[k], -sign * start) if start > 0.0 < w[k] else 0.0
        _costs(family, w, x, below, k, sign, start, cost)
        holds = False
        if own + rest < limit * (1.0 - _SLACK):
            if fresh:
                e = _meeting(w, below, k, chosen)
                value = _cost_of(family, w, x, below, k, sign, chosen, e)
                fresh = kept = False
                if value < limit and not every:
                    _write(moves, row, k, sign, e, value, chosen)
                    limit, found = value, 1
            holds = _still_cheapest(cost, chosen)
            middle = 0.5 * (start + end)
            if not holds and waiting < OPEN and start < middle < end:
                ends[waiting] = middle
                waiting += 1
                continue
            here = start * (1.0 - _NEAR) <= e <= end * (1.0 + _NEAR)
            if every and here and not kept and value < limit and row + found < len(moves.arms):
                _write(moves, row + found, k, sign, e, value, chosen)
                found, kept = found + 1, True
        end, waiting = start, waiting - 1
        if holds:
            rest = 0.0
            for p in range(len(x)):
                if chosen[p] > 0.0:
                    rest += cost[p]
        else:
            rest = _cheapest(cost, room, others, w, sign, chosen)
            fresh = True
    return found


@inlined
def find_cheapest_moves(
    family: int,
    w: NDArray[np.float64],
    x: NDArray[np.float64],
    named: NDArray[np.int64],
    others: NDArray[np.int64],
    limit: float,
    moves: Moves,
    scratch: NDArray[np.float64],
    ends: NDArray[np.float64],
) -> None:
    """Write into row i the cheapest move that makes the i-th named arm wrong; inf where none costs
    less than `limit`.

    Parameters
    ----------
    family : int
        GAUSSIAN or BERNOULLI.
    w, x : (N,) float64
        Weights or numbers of pulls, not negative, and means, by rank, best first.
    named : (K,) int64
        Ranks of the named arms.
    others : (K, 2) int64
        How many others are to be as good, C_i, and as bad, N - C_{i-1}; 0 where that cannot be, as
        there is no cluster after, or before.
    limit : float
        Nats; inf to know all costs.
    moves : Moves
        K rows.
    scratch, ends : (SCRATCH, N) and (OPEN,) float64
        Room.
    """
    for i in range(len(named)):
        moves.values[i] = np.inf
        for side in range(2):
            if others[i, side] > 0:
                k, sign, least = named[i], 1.0 - 2.0 * side, min(limit, moves.values[i])
                _scan(family, w, x, k, sign, others[i, side], least, False, moves, i, scratch, ends)


@kernel
def find_cheap_moves(
    family: int,
    w: NDArray[np.float64],
    x: NDArray[np.float64],
    named: NDArray[np.int64],
    others: NDArray[np.int64],
    limit: float,
    moves: Moves,
    scratch: NDArray[np.float64],
    ends: NDArray[np.float64],
) -> int:
    """Write every locally cheapest move of the named arms that costs less than `limit`, as far as
    there are rows, and return how many; the arguments are those of `find_cheapest_moves`."""
    row = 0
    for i in range(len(named)):
        for side in range(2):
            if others[i, side] > 0:
                k, sign = named[i], 1.0 - 2.0 * side
                row += _scan(
                    family, w, x, k, sign, others[i, side], limit, True, moves, row, scratch, ends
                )
    return row


@kernel
def measure_moves(
    family: int,
    w: NDArray[np.float64],
    x: NDArray[np.float64],
    moves: Moves,
    count: int,
    slopes: NDArray[np.float64],
    curves: NDArray[np.float64],
    scratch: NDArray[np.float64],
) -> None:
    """Write for the first `count` rows of moves, whose arms, signs and sets are given, where their arms
    meet, what that costs, and how the cost depends on the weights.

    h(w) = min over theta of the sum of w_p d(x_p, theta) is concave. Its gradient is d(x_p, theta),
    into `slopes`, (R, N); its second derivative is -c c^T, c = (theta - x_p) / sqrt(V(theta) W),
    W the weight of the arms moved, into `curves`, (R, N).
    """
    below, chosen = scratch[0], scratch[1]
    n = len(x)
    for row in range(count):
        k, sign = moves.arms[row], moves.signs[row]
        for p in range(n):
            below[p] = sign * (x[k] - x[p])
            chosen[p] = moves.sets[row, p]
            slopes[row, p] = curves[row, p] = 0.0
        e = _meeting(w, below, k, chosen)
        theta, moved, total = x[k] - sign * e, 0.0, 0.0
        variance = 0.25 if family == GAUSSIAN else theta * (1.0 - theta)
        chosen[k] = 1.0
        for p in range(n):
            short = below[p] - e
            if chosen[p] > 0.0 and (p == k or short > 0.0):
                moved += w[p]
                slopes[row, p] = divergence(family, x[p], sign * short)
                curves[row, p] = sign * short
                total += w[p] * slopes[row, p] if w[p] > 0.0 else 0.0
        scale = math.sqrt(variance * moved)
        for p in range(n):
            curves[row, p] = curves[row, p] / scale if scale > 0.0 else 0.0
        moves.distances[row], moves.values[row] = e, total


#: The same for Python.
cheapest_moves, cheap_moves = exposed(find_cheapest_moves), exposed(find_cheap_moves)
measure = exposed(measure_moves)
