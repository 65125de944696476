"""The guards of LUCB's view: whether a round that was judged on a few of many active arms is the
round that all would give.

Legend as in `rai_sim.algorithms.lucb.rule`; c = sqrt(ln(pi^2 R^3 N / (3 delta))), q = 1 / (sqrt(2
n_a) unit), so that radius = c q up to rounding. The *view* is the ranking that `rule` works on. The
other active arms are *cold*: none of them is pulled, so their n_a and means stay, and as R grows
their LCBs fall and their UCBs grow. `part.open_sizes` counts the arms of the view.

When a round on the view is the round. `view_holds` demands of each cluster i that has cold arms:

1. Every arm of the view in a cluster before i ranks before all cold arms of i, every one in a
   cluster after i behind them. Arms of the view are in order, and cold arms of different clusters
   were when they went cold. So the partition is that of all active arms.
2. The view has arms of i, so that no cluster seems empty that is not. If clusters follow i, the
   view's first arm of least LCB has a lower LCB than every cold arm of i, or the same and a better
   rank; likewise for the greatest UCB if clusters precede i. So L and U of all clusters are those
   of all active arms, attained by the same arms (ties go to the better rank).
3. No cold arm of i has a negative gap, so nobody else is settled: a gap is at least either of its
   terms UCB - L and U - LCB, and each cold arm is held to one of them.
4. If i wants arms, the view's nearest unsettled arm has a smaller gap than every cold arm, or the
   same and a better rank; and 2 holds for the weakest and strongest unsettled arms as well.

Bounds of cold arms. 2 asks for the least LCB and the greatest UCB up to round `until`, 3 and 4 for
the least UCB and the greatest LCB from the round on for which guards are made: so they are taken at
that end, as mean -+ c q with c q a little larger or smaller (`CAUTION`) than rounding can make the
radius; for the subtraction and those of the gaps rounding is monotone. Comparisons with them are
strict.

Guards out of date are carried on (`carry_on`). As c grows by d, mean + c q grows by d q: at most by
d times the greatest q of the cold arms, at least by d times the least. So `other` follows, widened
by more than this rounds; the arm most extreme is known, and bounded anew. What is carried on becomes
too careful as q differ, never too bold: Lemma 10 in the README of this folder.

Ties. Thousands of arms can have the same n_a and mean, as after the first pulls, and then have the
same bounds in every round, to the last bit. So a guard keeps, for the cold arm most extreme, its
n_a and mean, the least label of the arms that share them, and the `other` bound that holds for the
arms which do not. An arm of the view is ahead if it is beyond the guard's bound, or if it has that
n_a and mean, a smaller label, and is beyond the other one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.lucb.rule import (
    STRONGEST,
    WEAKEST,
    Ranking,
    find_unsettled,
    gap_of,
    opposing_bounds,
)
from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.pages import spare
from rai_sim.engine.partition import Partition
from rai_sim.engine.ranking import ranks_before

#: A bound is taken wider by this much of the radius; far more than rounding, far less than radii
#: differ.
CAUTION = 1e-12
#: Relative to a bound and a radius, far more than the rounding of what guards grow by.
_ROUNDING = 1e-14
#: Guards are made for a share of 2^-_LASTING of the rounds so far (measured).
_LASTING = 10
#: Levels, S_0 and the view among them, at most; row 0 of the guards combines all levels.
LEVELS = 12
#: Ways to be extreme: of least LCB, greatest UCB, least UCB, greatest LCB, best rank, worst rank.
#: The first four have guards.
LOW, HIGH, BY_L, BY_U, BEST, WORST = 0, 1, 2, 3, 4, 5
GUARDS, WAYS = 4, 6
#: Cells of `View.state`: the active arms up to which there is no view, the number of levels below
#: S_0, the round in which guards failed last, the first level then chosen anew, the last round for
#: which guards are made one round at a time; and, for tests, how often a round was judged on all
#: active arms, and each level was chosen.
LIMIT, DEPTH, ROUND, TOP, TIGHT, FULL_ROUNDS, CHOSEN = 0, 1, 2, 3, 4, 5, 6
_CELLS = CHOSEN + LEVELS
#: Columns of `View.arms`.
TAKEN, TOTAL, MEAN, HOME = 0, 1, 2, 3
_FIELDS = 4


class View(NamedTuple):
    """Memory of a block, O(N). Rows of guards and borders: (level * ways + way) * m + cluster; keys
    are larger for arms more extreme."""

    state: NDArray[np.int64]
    # (N, 4) by label: pulls, sum, mean, cluster (-1: settled), next to each other, as arms are read in
    # no order; of arms in the view they are out of date
    arms: NDArray[np.float64]
    # (levels, N) each level's arms, grouped by clusters: label, and mean, q and cluster (-1: settled)
    # as far as it has been told; where the arm stands in the list of the level above
    lists: NDArray[np.int32]
    means: NDArray[np.float64]
    qs: NDArray[np.float64]
    homes: NDArray[np.int32]
    above: NDArray[np.int32]
    hot: NDArray[np.bool_]  # (N,) by place in a list: chosen for the level below it
    ends: NDArray[np.int64]  # (levels, m) where each cluster ends in them
    until: NDArray[np.int64]  # (levels,) the last round for which the guards hold; [0]: all of them
    less: NDArray[np.float64]  # (levels,) bounds of c that guards are made for
    more: NDArray[np.float64]
    cold: NDArray[np.int64]  # (levels, m) arms left out; [0]: by all levels
    least_q: NDArray[np.float64]  # (levels, m) of these
    most_q: NDArray[np.float64]
    key: NDArray[np.float64]  # guards: bound of the most extreme cold arm
    n_a: NDArray[np.float64]  # its pulls
    of_mean: NDArray[np.float64]  # its mean
    of_q: NDArray[np.float64]  # its q
    label: NDArray[np.int64]  # the least label of those like it, -1 if there is no arm
    other: NDArray[np.float64]  # bound of all unlike it
    edge: NDArray[np.int64]  # (2 levels m,) labels of the cold arms of best and of worst rank
    # (m,) of a level to choose from: label of its arm of best rank, -1 if there is none
    first: NDArray[np.int64]
    last: NDArray[np.int64]  # (m,) of worst rank
    size: NDArray[np.int64]  # (m,) arms
    L: NDArray[np.float64]  # (m,) its L_i and U_i, up to rounding
    U: NDArray[np.float64]
    low: NDArray[np.float64]  # (m,) its least LCB and greatest UCB of cluster i
    high: NDArray[np.float64]
    keep: NDArray[np.int64]  # (6 m,) how many arms to choose
    kept: NDArray[np.int64]  # (6 m,) how many are noted, up to twice as many
    place: NDArray[np.int64]  # (6 m,) where
    chosen: NDArray[np.int64]  # (6, N) places, in the level's list, of the arms chosen
    chosen_key: NDArray[np.float64]


def _records(N: int) -> NDArray[np.float64]:
    """Allocate the arms' records, none of them in two lines of the cache."""
    room = np.empty(_FIELDS * (N + 1))
    start = -room.ctypes.data // room.itemsize % _FIELDS
    return room[start : start + _FIELDS * N].reshape(N, _FIELDS)


def allocate_view(N: int, m: int, limit: int) -> View:
    """Allocate; up to `limit` active arms there is no view."""
    state = np.zeros(_CELLS, np.int64)
    state[LIMIT] = limit
    rows = LEVELS * GUARDS * m
    return View(
        state=state,
        arms=_records(N),
        # lists get shorter level by level, and few arms are chosen
        lists=spare((LEVELS, N), np.int32),
        means=spare((LEVELS, N), np.float64),
        qs=spare((LEVELS, N), np.float64),
        homes=spare((LEVELS, N), np.int32),
        above=spare((LEVELS, N), np.int32),
        hot=np.zeros(N, np.bool_),
        ends=np.zeros((LEVELS, m), np.int64),
        until=np.zeros(LEVELS, np.int64),
        less=np.zeros(LEVELS),
        more=np.zeros(LEVELS),
        cold=np.zeros((LEVELS, m), np.int64),
        least_q=np.zeros((LEVELS, m)),
        most_q=np.zeros((LEVELS, m)),
        key=np.empty(rows),
        n_a=np.empty(rows),
        of_mean=np.empty(rows),
        of_q=np.empty(rows),
        label=np.empty(rows, np.int64),
        other=np.empty(rows),
        edge=np.empty(2 * LEVELS * m, np.int64),
        first=np.empty(m, np.int64),
        last=np.empty(m, np.int64),
        size=np.empty(m, np.int64),
        L=np.empty(m),
        U=np.empty(m),
        low=np.empty(m),
        high=np.empty(m),
        keep=np.empty(WAYS * m, np.int64),
        kept=np.empty(WAYS * m, np.int64),
        place=np.empty(WAYS * m, np.int64),
        chosen=spare((WAYS, N), np.int64),
        chosen_key=spare((WAYS, N), np.float64),
    )


# --------------------------------------------------------------------------------------------------
# Does the view decide the round?
# --------------------------------------------------------------------------------------------------


@inlined
def _ahead(v: View, row: int, key: float, s: Ranking, x: int) -> bool:
    """Whether the arm at rank x of the view is more extreme, with this key, than all cold arms of a
    guard; of equals the better ranks."""
    return key > v.key[row] or (
        key > v.other[row]
        and s.taken[x] == v.n_a[row]
        and s.mean[x] == v.of_mean[row]
        and s.order[x] < v.label[row]
    )


@inlined
def view_holds(
    v: View, s: Ranking, part: Partition, n: int, R: int, level: int, as_printed: bool
) -> bool:
    """Whether the round's outcome is that of all active arms; by the guards of one level, or of all
    for level 0."""
    if v.until[level] < R:
        return False
    m, p1 = part.open_sizes.size, 0
    for i in range(m):
        p0 = p1
        p1 += part.open_sizes[i]
        if v.cold[level, i] == 0:
            continue
        if p0 == p1:
            return False
        best, worst = v.edge[2 * (level * m + i)], v.edge[2 * (level * m + i) + 1]
        if p0 > 0 and not ranks_before(s.mean[p0 - 1], s.order[p0 - 1], v.arms[best, MEAN], best):
            return False
        if p1 < n and not ranks_before(v.arms[worst, MEAN], worst, s.mean[p1], s.order[p1]):
            return False
        row = level * GUARDS * m + i
        weakest, strongest = s.roles[WEAKEST, i], s.roles[STRONGEST, i]
        if p1 < n and not _ahead(v, row + LOW * m, -s.lcb[weakest], s, weakest):
            return False
        if p0 > 0 and not _ahead(v, row + HIGH * m, s.ucb[strongest], s, strongest):
            return False
        if not _gaps_hold(v, s, part, i, p0, p1, n, row, as_printed):
            return False
    return True


@inlined
def _gaps_hold(
    v: View,
    s: Ranking,
    part: Partition,
    i: int,
    p0: int,
    p1: int,
    n: int,
    row: int,
    as_printed: bool,
) -> bool:
    """Whether no cold arm of cluster i is settled, and none is picked; statements 3 and 4."""
    m = part.open_sizes.size
    L, U = opposing_bounds(s, i)
    by_L, by_U = row + BY_L * m, row + BY_U * m
    if (v.label[by_L] >= 0 and not -v.key[by_L] - L > 0.0) or (
        v.label[by_U] >= 0 and not U - v.key[by_U] > 0.0
    ):
        return False
    if part.found[i] == part.required[i]:
        return True
    nearest, weakest, strongest = find_unsettled(s, p0, p1, L, U)
    if nearest < 0:
        return False
    small_gap = gap_of(s, nearest, L, U)
    like_L = (
        s.taken[nearest] == v.n_a[by_L]
        and s.mean[nearest] == v.of_mean[by_L]
        and s.order[nearest] < v.label[by_L]
    )
    like_U = (
        s.taken[nearest] == v.n_a[by_U]
        and s.mean[nearest] == v.of_mean[by_U]
        and s.order[nearest] < v.label[by_U]
    )
    if v.label[by_L] >= 0 and not (
        small_gap < -v.key[by_L] - L or (like_L and small_gap < -v.other[by_L] - L)
    ):
        return False
    if v.label[by_U] >= 0 and not (
        small_gap < U - v.key[by_U] or (like_U and small_gap < U - v.other[by_U])
    ):
        return False
    return as_printed or (
        (p1 == n or _ahead(v, row + LOW * m, -s.lcb[weakest], s, weakest))
        and (p0 == 0 or _ahead(v, row + HIGH * m, s.ucb[strongest], s, strongest))
    )


# --------------------------------------------------------------------------------------------------
# Guards
# --------------------------------------------------------------------------------------------------


@inlined
def fold_in(
    v: View, row: int, key: float, n_a: float, mean: float, q: float, label: int, other: float
) -> float:
    """Put an arm, or the arms of another guard, under a guard; return its bound `other`."""
    if key <= v.other[row]:
        return v.other[row]
    if v.n_a[row] == n_a and v.of_mean[row] == mean and v.label[row] >= 0:
        v.label[row] = min(v.label[row], label)
        v.key[row], v.other[row] = max(v.key[row], key), max(v.other[row], other)
    elif key > v.key[row] or v.label[row] < 0:
        v.other[row] = max(v.key[row], other)
        v.key[row], v.n_a[row], v.of_mean[row], v.of_q[row], v.label[row] = key, n_a, mean, q, label
    else:
        v.other[row] = key
    return v.other[row]


@inlined
def better(v: View, a: int, b: int) -> bool:
    """Whether arm a ranks before arm b."""
    return ranks_before(v.arms[a, MEAN], a, v.arms[b, MEAN], b)


@kernel
def no_guards(v: View, level: int) -> None:
    """Let a level's guards be of no arm."""
    m = v.first.size
    for row in range(level * GUARDS * m, (level + 1) * GUARDS * m):
        v.key[row] = v.other[row] = -np.inf
        v.label[row] = -1
    for i in range(m):
        v.edge[2 * (level * m + i)] = v.edge[2 * (level * m + i) + 1] = -1
        v.cold[level, i] = 0


@kernel
def set_bounds(v: View, level: int, R: int, scale: float) -> None:
    """Say for which rounds a level's guards are made, from R on."""
    until = R if v.state[TIGHT] >= R else R + (R >> _LASTING)
    now, then = np.float64(R), np.float64(until)
    v.until[level] = until
    v.less[level] = math.sqrt(math.log(scale * now * now * now)) * (1.0 - CAUTION)
    v.more[level] = math.sqrt(math.log(scale * then * then * then)) * (1.0 + CAUTION)


@kernel
def carry_on(v: View, level: int, R: int, scale: float) -> None:
    """Make a level's guards, which are out of date, hold for later rounds, from R on.

    Row 0 is not, as it is made of all levels' guards (`combine_guards`).
    """
    m, less, more = v.first.size, v.less[level], v.more[level]
    set_bounds(v, level, R, scale)
    sooner, later = v.less[level], v.more[level]
    for i in range(m):
        least_q, most_q = v.least_q[level, i], v.most_q[level, i]
        rounding = _ROUNDING * later * most_q
        for way in range(GUARDS):
            row = (level * GUARDS + way) * m + i
            if v.label[row] < 0:
                continue
            mean, q = v.of_mean[row], v.of_q[row]
            if way == LOW:
                key, growth = later * q - mean, (later - more) * most_q
            elif way == HIGH:
                key, growth = mean + later * q, (later - more) * most_q
            elif way == BY_L:
                key, growth = -(mean + sooner * q), (less - sooner) * least_q
            else:
                key, growth = mean - sooner * q, (less - sooner) * least_q
            if v.other[row] > -np.inf:
                v.other[row] += growth + (rounding + _ROUNDING * abs(v.other[row]))
            v.key[row] = max(key, v.other[row])


@kernel
def combine_guards(v: View) -> int:
    """Make row 0 the guards of all levels; return how many arms are cold."""
    m, cold = v.first.size, 0
    no_guards(v, 0)
    v.until[0] = v.until[1]
    for level in range(1, v.state[DEPTH] + 1):
        v.until[0] = min(v.until[0], v.until[level])
        for i in range(m):
            if v.cold[level, i] > 0:
                v.cold[0, i] += v.cold[level, i]
                cold += v.cold[level, i]
                best, worst = v.edge[2 * (level * m + i)], v.edge[2 * (level * m + i) + 1]
                if v.edge[2 * i] < 0 or better(v, best, v.edge[2 * i]):
                    v.edge[2 * i] = best
                if v.edge[2 * i + 1] < 0 or better(v, v.edge[2 * i + 1], worst):
                    v.edge[2 * i + 1] = worst
        for row in range(GUARDS * m):
            a = level * GUARDS * m + row
            if v.label[a] >= 0:
                fold_in(v, row, v.key[a], v.n_a[a], v.of_mean[a], v.of_q[a], v.label[a], v.other[a])
    return cold
