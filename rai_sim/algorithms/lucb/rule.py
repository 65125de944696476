"""One round of LUCB on the ranking: judge the arms, choose those to pull, mend the ranking after
the pulls.

Legend, after the paper: R round, n_a pulls of arm a, LCB and UCB = mean -+ radius, radius =
sqrt(ln(pi^2 R^3 N / (3 delta)) / (2 n_a)), L_i the smallest LCB before cluster i, U_i the largest
UCB after it. Ranks count from 0, the best empirical mean; everything is in law units (see
`rai_sim.engine.law`).

All that a round reads lies by rank, next to each other, and the functions are inlined: a round of
ten arms takes less than a hundred nanoseconds, and handing a dozen arrays on to a function takes
half of that.
"""

from __future__ import annotations

import math
from typing import NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.history import History, see_arm
from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.partition import Partition, settle_arm
from rai_sim.engine.streams import new_generators

#: The roles for which a cluster has arms pulled, rows of `Ranking.roles`: the arms that attain L_i
#: and U_i, the arm nearest to being settled, and the cluster's own arms of least LCB and of
#: greatest UCB.
LEAST, GREATEST, NEAREST, WEAKEST, STRONGEST = 0, 1, 2, 3, 4
ROLES = 5


class Ranking(NamedTuple):
    """The active arms of a replication, O(N), by rank unless said otherwise; arms have the
    replication's own labels."""

    order: NDArray[np.int64]  # label
    mean: NDArray[np.float64]  # empirical mean
    total: NDArray[np.float64]  # sum of rewards
    taken: NDArray[np.float64]  # n_a, exact below 2^53
    lcb: NDArray[np.float64]
    ucb: NDArray[np.float64]
    settled: NDArray[np.bool_]  # in the round just judged
    # True while a round's choice is made, for arms already among the picks
    chosen: NDArray[np.bool_]
    # (N + 1,) ranks to pull, in no order; one place is for a pick that turns out to be known
    picks: NDArray[np.int64]
    # (5, m) rank of the arm in each role of each cluster; -1 where no arm is looked at
    roles: NDArray[np.int64]
    arm_of: NDArray[np.int64]  # by label: the caller's arm index
    generators: NDArray[np.uint64]  # of the replication's stream


def new_ranking(N: int, m: int) -> Ranking:
    """Allocate."""
    return Ranking(
        order=np.empty(N, np.int64),
        mean=np.empty(N),
        total=np.empty(N),
        taken=np.empty(N),
        lcb=np.empty(N),
        ucb=np.empty(N),
        settled=np.zeros(N, np.bool_),
        chosen=np.zeros(N, np.bool_),
        picks=np.empty(N + 1, np.int64),
        roles=np.empty((ROLES, m), np.int64),
        arm_of=np.empty(N, np.int64),
        generators=new_generators(),
    )


@inlined
def compute_bounds(s: Ranking, n: int, log_term: float, unit: float) -> None:
    """Compute every active arm's LCB and UCB, by the operations of the definition; log_term is
    ln(pi^2 R^3 N / (3 delta))."""
    if unit == 1.0:  # a division less an arm
        for x in range(n):
            radius = math.sqrt(log_term / (2.0 * s.taken[x]))
            s.lcb[x], s.ucb[x] = s.mean[x] - radius, s.mean[x] + radius
    else:
        for x in range(n):
            radius = math.sqrt(log_term / (2.0 * s.taken[x])) / unit
            s.lcb[x], s.ucb[x] = s.mean[x] - radius, s.mean[x] + radius


@inlined
def find_opponents(s: Ranking, open_sizes: NDArray[np.int64], as_printed: bool) -> None:
    """Find each cluster's weakest and strongest arms, and those that attain L_i and U_i; among
    equals the first in the ranking."""
    m, p1 = open_sizes.size, np.uint64(0)
    for i in range(m):
        p0 = p1
        p1 += np.uint64(open_sizes[i])
        weakest, strongest, low, high = np.int64(-1), np.int64(-1), np.inf, -np.inf
        for x in range(p0, p1):
            lcb, ucb = s.lcb[x], s.ucb[x]
            if lcb < low:
                weakest, low = np.int64(x), lcb
            if ucb > high:
                strongest, high = np.int64(x), ucb
        s.roles[WEAKEST, i], s.roles[STRONGEST, i] = weakest, strongest
    best = -1
    for i in range(m):
        s.roles[LEAST, i] = best
        x_i = s.roles[WEAKEST, i]
        if as_printed or best < 0 or (x_i >= 0 and s.lcb[x_i] < s.lcb[best]):
            best = x_i  # as printed, only cluster i itself counts for cluster i + 1
    best = -1
    for i in range(m - 1, -1, -1):
        s.roles[GREATEST, i] = best
        x_i = s.roles[STRONGEST, i]
        if as_printed or best < 0 or (x_i >= 0 and s.ucb[x_i] >= s.ucb[best]):
            best = x_i


@inlined
def opposing_bounds(s: Ranking, i: int) -> tuple[float, float]:
    """Return L_i and U_i, infinite where nobody attains them."""
    least, greatest = s.roles[LEAST, i], s.roles[GREATEST, i]
    L, U = np.inf, -np.inf
    if least >= 0:
        L = s.lcb[least]
    if greatest >= 0:
        U = s.ucb[greatest]
    return L, U


@inlined
def gap_of(s: Ranking, x: int, L: float, U: float) -> float:
    """Return the gap of the arm at rank x, given L_i and U_i of its cluster: it is settled where
    that is negative."""
    return max(s.ucb[x] - L, U - s.lcb[x])


@inlined
def find_unsettled(
    s: Ranking, p0: SupportsIndex, p1: SupportsIndex, L: float, U: float
) -> tuple[int, int, int]:
    """Return of the arms at ranks p0..p1-1 that are not settled the nearest, the weakest and the
    strongest, -1 if there is none."""
    nearest, weakest, strongest, small_gap, low, high = -1, -1, -1, np.inf, np.inf, -np.inf
    for x in range(p0, p1):
        gap = gap_of(s, x, L, U)
        if gap >= 0.0:
            if gap < small_gap:
                nearest, small_gap = x, gap
            if s.lcb[x] < low:
                weakest, low = x, s.lcb[x]
            if s.ucb[x] > high:
                strongest, high = x, s.ucb[x]
    return nearest, weakest, strongest


@inlined
def settle_and_choose(
    s: Ranking, part: Partition, n: int, R: int, as_printed: bool
) -> tuple[int, int, int]:
    """Judge all arms against the opening partition; return the arms settled, the outputs they
    supply and the picks.

    This is the rule's only statement; strides look for rounds in which it would do as it did, as
    their files derive from it. An arm is settled if its gap max(UCB - L_i, U_i - LCB) is negative.
    Settled arms keep their ranks until `close_ranks`; none of them is a pick.
    """
    number, settled, supplied, p1 = 0, 0, 0, np.uint64(0)
    for i in range(part.open_sizes.size):
        p0 = p1
        p1 += np.uint64(part.open_sizes[i])
        L, U = opposing_bounds(s, i)
        nearest, small_gap = np.int64(-1), np.inf
        for x in range(p0, p1):
            gap = gap_of(s, x, L, U)
            if gap < small_gap:
                nearest, small_gap = np.int64(x), gap
        if small_gap < 0.0:
            left, s.roles[WEAKEST, i], s.roles[STRONGEST, i] = find_unsettled(
                s, np.int64(p0), np.int64(p1), L, U
            )
            nearest = np.int64(left)
            for x in range(p0, p1):
                if gap_of(s, x, L, U) < 0.0:
                    s.settled[x] = True
                    settled += 1
                    supplied += settle_arm(part, i, s.arm_of[s.order[x]], R)
        s.roles[NEAREST, i] = -1
        if part.found[i] < part.required[i]:
            s.roles[NEAREST, i] = nearest
            if as_printed or p1 == np.uint64(n):
                s.roles[WEAKEST, i] = nearest
            if as_printed or p0 == np.uint64(0):
                s.roles[STRONGEST, i] = nearest
            for role in range(ROLES):
                y = s.roles[role, i]
                if y >= 0 and not s.chosen[y]:
                    s.chosen[y] = True
                    s.picks[number] = y
                    number += 1
    kept = 0
    # a pick of one cluster may be an arm that another cluster settled, before or after
    for j in range(number):
        y = s.picks[j]
        s.chosen[y] = False
        s.picks[kept] = y
        kept += not s.settled[y]
    return settled, supplied, kept


@inlined
def close_ranks(s: Ranking, n: int, picks: int) -> int:
    """Close the ranking over the settled arms and renumber the picks; return the arms left."""
    kept = 0
    for x in range(n):
        if s.settled[x]:
            s.settled[x] = False
            # the ranks after x move up; after `kept` arms were kept, x would have got rank `kept`
            for j in range(picks):
                s.picks[j] -= s.picks[j] > kept
        else:
            s.order[kept], s.mean[kept], s.total[kept], s.taken[kept] = (
                s.order[x],
                s.mean[x],
                s.total[x],
                s.taken[x],
            )
            kept += 1
    return kept


@kernel
def see_ranked(history: History, s: Ranking, n: int, pulls: int) -> None:
    """Note the ranked arms' states, for a trace, when `pulls` pulls have been made in all."""
    for x in range(n):
        see_arm(history, s.arm_of[s.order[x]], s.mean[x], int(s.taken[x]), pulls)


@inlined
def mend(s: Ranking, n: int) -> None:
    """Sort the ranking again, by insertion, after a few arms have moved a little; ties go to the
    smaller label."""
    for x in range(1, n):
        key = s.mean[x]
        if s.mean[x - 1] > key or (s.mean[x - 1] == key and s.order[x - 1] < s.order[x]):
            continue
        label, total, taken = s.order[x], s.total[x], s.taken[x]
        y = x
        while y > 0 and (key > s.mean[y - 1] or (key == s.mean[y - 1] and label < s.order[y - 1])):
            s.mean[y], s.order[y], s.total[y], s.taken[y] = (
                s.mean[y - 1],
                s.order[y - 1],
                s.total[y - 1],
                s.taken[y - 1],
            )
            y -= 1
        s.mean[y], s.order[y], s.total[y], s.taken[y] = key, label, total, taken
