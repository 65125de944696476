"""LUCB with many arms: rounds judged on a view, the few active arms on which their outcome hangs.

Legend as in `rai_sim.algorithms.lucb.rule`; c = sqrt(ln(pi^2 R^3 N / (3 delta))), q = 1 / (sqrt(2 n_a) unit), so that radius = c q up to
rounding. The *view* is the ranking that `lucb_rounds` works on. The other active arms are *cold*: none of them is pulled, so their n_a
and means stay, and as R grows their LCBs fall and their UCBs grow. `part.open_sizes` counts the arms of the view.

When a round on the view is the round. `view_holds` demands of each cluster i that has cold arms:

1. Every arm of the view in a cluster before i ranks before all cold arms of i, every one in a cluster after i behind them. Arms of the
   view are in order, and cold arms of different clusters were when they went cold. So the partition is that of all active arms.
2. The view has arms of i, so that no cluster seems empty that is not. If clusters follow i, the view's first arm of least LCB has a lower
   LCB than every cold arm of i, or the same and a better rank; likewise for the greatest UCB if clusters precede i. So L and U of all
   clusters are those of all active arms, attained by the same arms (ties go to the better rank).
3. No cold arm of i has a negative gap, so nobody else is settled: a gap is at least either of its terms UCB - L and U - LCB, and each cold
   arm is held to one of them.
4. If i wants arms, the view's nearest unsettled arm has a smaller gap than every cold arm, or the same and a better rank; and 2 holds for
   the weakest and strongest unsettled arms as well.

Bounds of cold arms. 2 asks for the least LCB and the greatest UCB up to round `until`, 3 and 4 for the least UCB and the greatest LCB from
the round of building on: so they are taken at that end, as mean -+ c q with c q a little larger or smaller (`_CAUTION`) than rounding can
make the radius; for the subtraction and those of the gaps rounding is monotone. Comparisons with them are strict.

Ties. Thousands of arms can have the same n_a and mean, as after the first pulls, and then have the same bounds in every round, to the last
bit. So a guard keeps, for the cold arm most extreme, its n_a and mean, the least label of the arms that share them, and the `other`
bound that holds for the arms which do not. An arm of the view is ahead if it is beyond the guard's bound, or if it has that n_a and mean,
a smaller label, and is beyond the other one.

Levels. S_0 are all active arms, S_1 contains S_2 .., the last is the view. S_j is chosen from S_(j-1): from each cluster the arms most
extreme in each of six ways, or those that a sample suggests are about as many. What is left out becomes cold with guards of its level,
made from sums the arms keep while they are cold. A guard that fails has the view chosen anew from the level above it, then, if guards still
fail, that level from the one above, and so on. Which arms are chosen is a matter of speed alone; guards decide. Each level is a few times
as large as the next and lasts as many times longer, so a round costs O(log N) on average. If guards fail even though all levels were chosen
in this very round, as when more arms are settled at once than a view holds, the round is judged on all active arms.

Choosing S_j needs the cut of S_(j-1) into clusters: in all levels a cluster has as many places as it had when the level was chosen, less
those settled, and arms change places within a level only (else 1 fails). So it is mended by exchanging the arms that stand on the wrong
side of a border. Arms that moved since S_(j-1) was chosen may go cold now without having been judged where they are; so statement 1 is
checked for all of S_(j-1) and the cold arms outside of it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.lucb.rule import GREATEST, LEAST, STRONGEST, WEAKEST, Ranking
from rai_sim.engine.history import History, see_arm
from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.partition import Partition
from rai_sim.engine.ranking import merge_sort, ranks_before, repair

#: A bound is taken wider by this much of the radius; far more than rounding, far less than radii differ.
_CAUTION = 1e-12
#: Arms that a view keeps of each cluster: for the least LCB or greatest UCB; for small gaps, if wanted or not; next to a border (measured).
_ROLE, _GAP, _QUIET, _BORDER = 40, 6, 2, 3
#: Arms from which it is guessed how extreme the most extreme ones are, and how many of those must be such.
_SAMPLE, _OF_SAMPLE = 48, 3
#: How many times as many the level above has (measured).
_RATIO = 8
#: Arms of a cluster that a view is reckoned to keep, and how many times as many active arms make a view pay (measured).
_RECKONED, _WORTHWHILE = 20, 2
#: Levels, S_0 and the view among them, at most; row 0 of the guards combines all levels.
_LEVELS = 12
#: Ways to be extreme: of least LCB, greatest UCB, least UCB, greatest LCB, best rank, worst rank. The first four have guards.
_LOW, _HIGH, _BY_L, _BY_U, _BEST, _WORST = 0, 1, 2, 3, 4, 5
_GUARDS, _WAYS = 4, 6
#: Cells of `View.state`: the active arms up to which there is no view, the number of levels below S_0, the round in which guards failed
#: last, the first level then chosen anew; and, for tests, how often a round was judged on all active arms, and each level was chosen.
LIMIT, _DEPTH, _ROUND, _TOP, FULL_ROUNDS, CHOSEN = 0, 1, 2, 3, 4, 5
_CELLS = CHOSEN + _LEVELS
#: Arms that are exchanged across borders one by one before a level is sorted.
_EXCHANGES = 8


class View(NamedTuple):
    """Memory of a block, O(N). Rows of guards and borders: (level * ways + way) * m + cluster; keys are larger for arms more extreme."""

    state: NDArray[np.int64]
    taken: NDArray[np.float64]  # by label, as all up to `gone`; of arms in the view they are out of date
    total: NDArray[np.float64]
    mean: NDArray[np.float64]
    q: NDArray[np.float64]
    cluster: NDArray[np.int64]
    hot: NDArray[np.bool_]  # chosen for the level that is being built
    gone: NDArray[np.bool_]  # settled
    lists: NDArray[np.int64]  # (levels, N) labels of each level's arms, grouped by clusters
    ends: NDArray[np.int64]  # (levels, m) where each cluster ends in them
    until: NDArray[np.int64]  # (levels,) the last round for which the guards hold; [0]: all of them
    margin: NDArray[np.int64]  # (levels,) how many rounds guards are made for
    cold: NDArray[np.int64]  # (levels, m) arms left out; [0]: by all levels
    key: NDArray[np.float64]  # guards: bound of the most extreme cold arm
    n_a: NDArray[np.float64]  # its pulls
    of_mean: NDArray[np.float64]  # its mean
    label: NDArray[np.int64]  # the least label of those like it, -1 if there is no arm
    other: NDArray[np.float64]  # bound of all unlike it
    edge: NDArray[np.int64]  # (2 levels m,) labels of the cold arms of best and of worst rank
    first: NDArray[np.int64]  # (m,) of a level to choose from: label of its arm of best rank, -1 if there is none
    last: NDArray[np.int64]  # (m,) of worst rank
    size: NDArray[np.int64]  # (m,) arms
    L: NDArray[np.float64]  # (m,) its L_i and U_i, up to rounding
    U: NDArray[np.float64]
    low: NDArray[np.float64]  # (m,) its least LCB and greatest UCB of cluster i
    high: NDArray[np.float64]
    keep: NDArray[np.int64]  # (6 m,) how many arms to choose
    kept: NDArray[np.int64]  # (6 m,) how many are noted, up to twice as many
    place: NDArray[np.int64]  # (6 m,) where
    chosen: NDArray[np.int64]  # (6, N) labels of the arms chosen
    chosen_key: NDArray[np.float64]


def new_view(N: int, sizes: NDArray[np.int64]) -> View:
    """Allocate; next to nothing if the view would be about as large as the ranking."""
    m = sizes.size
    limit = _WORTHWHILE * int(np.minimum(sizes, _RECKONED).sum())
    state = np.zeros(_CELLS, np.int64)
    state[LIMIT] = limit
    if limit >= N:
        N = m = 0
    rows, room = _LEVELS * _GUARDS * m, N
    return View(
        state, np.empty(N), np.empty(N), np.empty(N), np.empty(N), np.empty(N, np.int64), np.zeros(N, np.bool_), np.empty(N, np.bool_),
        np.empty((_LEVELS, N), np.int64), np.zeros((_LEVELS, m), np.int64), np.zeros(_LEVELS, np.int64), np.zeros(_LEVELS, np.int64),
        np.zeros((_LEVELS, m), np.int64), np.empty(rows), np.empty(rows), np.empty(rows), np.empty(rows, np.int64), np.empty(rows),
        np.empty(2 * _LEVELS * m, np.int64), np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m), np.empty(m),
        np.empty(m), np.empty(m), np.empty(_WAYS * m, np.int64), np.empty(_WAYS * m, np.int64), np.empty(_WAYS * m, np.int64),
        np.empty((_WAYS, room), np.int64), np.empty((_WAYS, room)),
    )  # fmt: skip


# ---------------------------------------------------------------------------------------------------
# Does the view decide the round?
# ---------------------------------------------------------------------------------------------------


@inlined
def _ahead(v: View, row: int, key: float, s: Ranking, x: int) -> bool:
    """Whether the arm at rank x of the view is more extreme, with this key, than all cold arms of a guard; of equals the better ranks."""
    return key > v.key[row] or (
        key > v.other[row] and s.taken[x] == v.n_a[row] and s.mean[x] == v.of_mean[row] and s.order[x] < v.label[row]
    )


@inlined
def view_holds(v: View, s: Ranking, part: Partition, n: int, R: int, level: int, as_printed: bool) -> bool:
    """Whether the round's outcome is that of all active arms; by the guards of one level, or of all for level 0."""
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
        if p0 > 0 and not ranks_before(s.mean[p0 - 1], s.order[p0 - 1], v.mean[best], best):
            return False
        if p1 < n and not ranks_before(v.mean[worst], worst, s.mean[p1], s.order[p1]):
            return False
        row = level * _GUARDS * m + i
        weakest, strongest = s.roles[WEAKEST, i], s.roles[STRONGEST, i]
        if p1 < n and not _ahead(v, row + _LOW * m, -s.lcb[weakest], s, weakest):
            return False
        if p0 > 0 and not _ahead(v, row + _HIGH * m, s.ucb[strongest], s, strongest):
            return False
        if not _gaps_hold(v, s, part, i, p0, p1, n, row, as_printed):
            return False
    return True


@inlined
def _gaps_hold(v: View, s: Ranking, part: Partition, i: int, p0: int, p1: int, n: int, row: int, as_printed: bool) -> bool:
    """Whether no cold arm of cluster i is settled, and none is picked; statements 3 and 4."""
    m = part.open_sizes.size
    least, greatest = s.roles[LEAST, i], s.roles[GREATEST, i]
    L, U = np.inf, -np.inf
    if least >= 0:
        L = s.lcb[least]
    if greatest >= 0:
        U = s.ucb[greatest]
    by_L, by_U = row + _BY_L * m, row + _BY_U * m
    if (v.label[by_L] >= 0 and not -v.key[by_L] - L > 0.0) or (v.label[by_U] >= 0 and not U - v.key[by_U] > 0.0):
        return False
    if part.found[i] == part.required[i]:
        return True
    nearest, weakest, strongest, small_gap, low, high = -1, -1, -1, np.inf, np.inf, -np.inf
    for x in range(p0, p1):
        gap = max(s.ucb[x] - L, U - s.lcb[x])
        if gap >= 0.0:
            if gap < small_gap:
                nearest, small_gap = x, gap
            if s.lcb[x] < low:
                weakest, low = x, s.lcb[x]
            if s.ucb[x] > high:
                strongest, high = x, s.ucb[x]
    if nearest < 0:
        return False
    like_L = s.taken[nearest] == v.n_a[by_L] and s.mean[nearest] == v.of_mean[by_L] and s.order[nearest] < v.label[by_L]
    like_U = s.taken[nearest] == v.n_a[by_U] and s.mean[nearest] == v.of_mean[by_U] and s.order[nearest] < v.label[by_U]
    if v.label[by_L] >= 0 and not (small_gap < -v.key[by_L] - L or (like_L and small_gap < -v.other[by_L] - L)):
        return False
    if v.label[by_U] >= 0 and not (small_gap < U - v.key[by_U] or (like_U and small_gap < U - v.other[by_U])):
        return False
    return as_printed or (
        (p1 == n or _ahead(v, row + _LOW * m, -low, s, weakest)) and (p0 == 0 or _ahead(v, row + _HIGH * m, high, s, strongest))
    )


# ---------------------------------------------------------------------------------------------------
# Guards
# ---------------------------------------------------------------------------------------------------


@inlined
def _fold(v: View, row: int, key: float, n_a: float, mean: float, label: int, other: float) -> float:
    """Put an arm, or the arms of another guard, under a guard; return its bound `other`."""
    if key <= v.other[row]:
        return v.other[row]
    if v.n_a[row] == n_a and v.of_mean[row] == mean and v.label[row] >= 0:
        v.label[row] = min(v.label[row], label)
        v.key[row], v.other[row] = max(v.key[row], key), max(v.other[row], other)
    elif key > v.key[row] or v.label[row] < 0:
        v.other[row] = max(v.key[row], other)
        v.key[row], v.n_a[row], v.of_mean[row], v.label[row] = key, n_a, mean, label
    else:
        v.other[row] = key
    return v.other[row]


@inlined
def _better(v: View, a: int, b: int) -> bool:
    """Whether arm a ranks before arm b."""
    return ranks_before(v.mean[a], a, v.mean[b], b)


@kernel
def _no_guards(v: View, level: int) -> None:
    m = v.first.size
    for row in range(level * _GUARDS * m, (level + 1) * _GUARDS * m):
        v.key[row] = v.other[row] = -np.inf
        v.label[row] = -1
    for i in range(m):
        v.edge[2 * (level * m + i)] = v.edge[2 * (level * m + i) + 1] = -1
        v.cold[level, i] = 0


@kernel
def _combine(v: View) -> int:
    """Make row 0 the guards of all levels; return how many arms are cold."""
    m, cold = v.first.size, 0
    _no_guards(v, 0)
    v.until[0] = v.until[1]
    for level in range(1, v.state[_DEPTH] + 1):
        v.until[0] = min(v.until[0], v.until[level])
        for i in range(m):
            if v.cold[level, i] > 0:
                v.cold[0, i] += v.cold[level, i]
                cold += v.cold[level, i]
                best, worst = v.edge[2 * (level * m + i)], v.edge[2 * (level * m + i) + 1]
                if v.edge[2 * i] < 0 or _better(v, best, v.edge[2 * i]):
                    v.edge[2 * i] = best
                if v.edge[2 * i + 1] < 0 or _better(v, v.edge[2 * i + 1], worst):
                    v.edge[2 * i + 1] = worst
        for row in range(_GUARDS * m):
            a = level * _GUARDS * m + row
            if v.label[a] >= 0:
                _fold(v, row, v.key[a], v.n_a[a], v.of_mean[a], v.label[a], v.other[a])
    return cold


# ---------------------------------------------------------------------------------------------------
# Choosing a level from the one above
# ---------------------------------------------------------------------------------------------------


@kernel
def _survey(v: View, s: Ranking, level: int, c: float) -> bool:
    """Describe a level's clusters, and copy means and q in the list's order into the ranking's room; drop arms that are gone.

    Returns whether the list is grouped by clusters; if not, only the sizes are right.
    """
    stop, kept, grouped = 0, 0, True
    for i in range(v.first.size):
        v.size[i] = 0
    for i in range(v.first.size):
        start, stop = stop, v.ends[level, i]
        first, last, best, worst, low, high = -1, -1, -np.inf, np.inf, np.inf, -np.inf
        for j in range(np.uint64(start), np.uint64(stop)):
            a = v.lists[level, j]
            if v.gone[a]:
                continue
            mean, q, cluster = v.mean[a], v.q[a], v.cluster[a]
            grouped = grouped and cluster == i
            v.size[cluster] += 1
            v.lists[level, kept], s.total[kept], s.ucb[kept] = a, mean, q
            kept += 1
            if mean > best or (mean == best and a < first):
                first, best = a, mean
            if mean < worst or (mean == worst and a > last):
                last, worst = a, mean
            low, high = min(low, mean - c * q), max(high, mean + c * q)
        v.ends[level, i] = kept
        v.first[i], v.last[i], v.low[i], v.high[i] = first, last, low, high
    return grouped


@kernel
def _group(v: View, s: Ranking, level: int) -> None:
    """Group a level's list by clusters, whose sizes are known."""
    m, place = v.first.size, 0
    count = v.ends[level, m - 1]
    for i in range(m):
        v.kept[i] = place
        place += v.size[i]
        v.ends[level, i] = place
    for j in range(count):
        a = v.lists[level, j]
        i = v.cluster[a]
        s.picks[v.kept[i]] = a
        v.kept[i] += 1
    for j in range(count):
        v.lists[level, j] = s.picks[j]


@kernel
def _find_misplaced(v: View) -> tuple[int, int]:
    """Return neighbouring clusters between which the worst before the border and the best behind it must be exchanged; or -1, -1."""
    before = -1
    for i in range(v.first.size):
        if v.size[i] > 0:
            if before >= 0 and _better(v, v.first[i], v.last[before]):
                return before, i
            before = i
    return -1, -1


@kernel
def _mend_cut(v: View, s: Ranking, level: int, c: float) -> None:
    """Survey a level and see to it that its clusters are those of its ranking."""
    patience, m = _EXCHANGES, v.first.size
    while True:
        if not _survey(v, s, level, c):
            _group(v, s, level)
            continue
        before, behind = _find_misplaced(v)
        if before < 0:
            return
        if patience > 0:
            v.cluster[v.last[before]], v.cluster[v.first[behind]] = behind, before
            patience -= 1
        else:
            count, x = v.ends[level, m - 1], 0
            for j in range(count):
                s.order[j], s.mean[j] = v.lists[level, j], s.total[j]
            merge_sort(s.order, s.mean, count, s.picks, s.lcb)
            for i in range(m):
                for _ in range(v.size[i]):
                    v.cluster[s.order[x]] = i
                    x += 1


@kernel
def _placed_among_cold(v: View, level: int) -> bool:
    """Whether a level's clusters are on the right sides of the arms left out by it and the levels above."""
    for above in range(1, level + 1):
        before, cold_before = -1, -1  # the worst arm of the clusters so far
        for i in range(v.first.size):
            row = 2 * (above * v.first.size + i)
            some, some_cold = v.size[i] > 0, v.cold[above, i] > 0
            if some_cold and before >= 0 and not _better(v, before, v.edge[row]):
                return False
            if some and cold_before >= 0 and not _better(v, cold_before, v.first[i]):
                return False
            if some:
                before = v.last[i]
            if some_cold:
                cold_before = v.edge[row + 1]
    return True


@kernel
def _find_L_and_U(v: View, as_printed: bool) -> None:
    """Estimate L_i and U_i from a level's survey."""
    m = v.first.size
    L, U = np.inf, -np.inf
    for i in range(m):
        v.L[i] = L
        L = v.low[i] if as_printed else min(L, v.low[i])
    for i in range(m - 1, -1, -1):
        v.U[i] = U
        U = v.high[i] if as_printed else max(U, v.high[i])


@kernel
def _set_shares(v: View, part: Partition, factor: int) -> None:
    """Decide how many arms of each cluster are chosen in each way."""
    m, before, behind = v.first.size, False, 0
    for i in range(m):
        behind += v.size[i] > 0
    for i in range(m):
        behind -= v.size[i] > 0
        gap = _GAP if part.found[i] < part.required[i] else _QUIET
        v.keep[_LOW * m + i] = factor * _ROLE if behind > 0 else 0
        v.keep[_HIGH * m + i] = factor * _ROLE if before else 0
        v.keep[_BY_L * m + i] = v.keep[_BY_U * m + i] = factor * gap
        v.keep[_BEST * m + i] = factor * _BORDER if before else 0
        v.keep[_WORST * m + i] = factor * _BORDER if behind > 0 else 0
        before = before or v.size[i] > 0
    for way in range(_WAYS):
        place = 0
        for i in range(m):
            row = way * m + i
            v.keep[row] = min(v.keep[row], min(v.size[i], (v.chosen.shape[1] - place) >> 1))
            v.place[row], v.kept[row] = place, 0
            place += 2 * v.keep[row]


@inlined
def _worse(way: int, key: float, a: int, other_key: float, b: int) -> bool:
    """Whether arm a is less extreme than arm b; of equals the later label, but the earlier one for the worst rank."""
    return key < other_key or (key == other_key and (a < b if way == _WORST else a > b))


@kernel
def _select(keys: NDArray[np.float64], labels: NDArray[np.int64], way: int, start: int, stop: int, last: int) -> None:
    """Move the most extreme of the arms at start..stop-1 to start..last, the least extreme of those to `last`."""
    low, high = start, stop - 1
    while low < high:
        middle = (low + high) >> 1
        key, a = keys[way, middle], labels[way, middle]
        x, y = low, high
        while x <= y:
            while _worse(way, key, a, keys[way, x], labels[way, x]):
                x += 1
            while _worse(way, keys[way, y], labels[way, y], key, a):
                y -= 1
            if x <= y:
                keys[way, x], keys[way, y] = keys[way, y], keys[way, x]
                labels[way, x], labels[way, y] = labels[way, y], labels[way, x]
                x += 1
                y -= 1
        if last <= y:
            high = y
        elif last >= x:
            low = x
        else:
            return


@inlined
def _offer(v: View, way: int, i: int, key: float, a: int, least: float) -> float:
    """Note arm a if it may be among the most extreme; return the key that an arm must have for that, `least` so far."""
    row = way * v.first.size + i
    keep, kept, place = v.keep[row], v.kept[row], v.place[row]
    if key == least and not _worse(way, key, v.chosen[way, place + keep - 1], key, a):
        return least
    v.chosen[way, place + kept], v.chosen_key[way, place + kept] = a, key
    kept += 1
    if kept == 2 * keep:
        _select(v.chosen_key, v.chosen, way, place, place + kept, place + keep - 1)
        kept, least = keep, v.chosen_key[way, place + keep - 1]
    v.kept[row] = kept
    return least


@inlined
def _none_yet(v: View, way: int, i: int) -> float:
    """Return the key that an arm must have to be chosen first."""
    return -np.inf if v.keep[way * v.first.size + i] > 0 else np.inf


@inlined
def _key(way: int, mean: float, radius: float) -> float:
    """Return the key of the first two ways."""
    return mean + radius if way == _HIGH else radius - mean


@kernel
def _guess_threshold(v: View, s: Ranking, level: int, way: int, i: int, start: int, c: float) -> tuple[float, int]:
    """Return the key and the label from which on arms of cluster i are chosen; NaN if they must be sorted out one by one.

    Which arms are chosen is a matter of speed, so a guess will do: from a sample of the cluster, whose arms begin at `start`.
    """
    row = way * v.first.size + i
    keep, size, place = v.keep[row], v.size[i], v.place[row]
    if keep == size:
        return -np.inf, 0
    if 2 * keep < _SAMPLE or keep * _SAMPLE < _OF_SAMPLE * size:
        return np.nan, 0
    for x in range(_SAMPLE):
        j = start + x * size // _SAMPLE
        a, key, y = int(v.lists[level, j]), _key(way, s.total[j], c * s.ucb[j]), place + x
        while y > place and _worse(way, v.chosen_key[way, y - 1], v.chosen[way, y - 1], key, a):
            v.chosen_key[way, y], v.chosen[way, y] = v.chosen_key[way, y - 1], v.chosen[way, y - 1]
            y -= 1
        v.chosen_key[way, y], v.chosen[way, y] = key, a
    x = place + keep * _SAMPLE // size
    return v.chosen_key[way, x], int(v.chosen[way, x])


@kernel
def _mark(
    lists: NDArray[np.int64], level: int, mean: NDArray[np.float64], q: NDArray[np.float64], hot: NDArray[np.bool_], start: int, stop: int,
    sign: float, c: float, key: float, label: int,
) -> None:  # fmt: skip
    """Mark the arms at start..stop-1 whose key is beyond a threshold. A loop by itself is faster than one that does more."""
    for j in range(np.uint64(start), np.uint64(stop)):
        of_arm = sign * mean[j] + c * q[j]
        if of_arm >= key and (of_arm > key or lists[level, j] <= label):
            hot[lists[level, j]] = True


@kernel
def _choose(v: View, s: Ranking, part: Partition, level: int, c: float) -> None:
    """Mark the arms of S_level that are extreme enough for the next level."""
    m, factor, j = v.first.size, 1, 0
    for _ in range(v.state[_DEPTH] - level - 1):
        factor *= _RATIO
    _set_shares(v, part, factor)
    for i in range(m):
        low, high, by_L = _none_yet(v, _LOW, i), _none_yet(v, _HIGH, i), _none_yet(v, _BY_L, i)
        by_U, best, worst = _none_yet(v, _BY_U, i), _none_yet(v, _BEST, i), _none_yet(v, _WORST, i)
        L, U, start = v.L[i], v.U[i], j
        key, label = _guess_threshold(v, s, level, _LOW, i, start, c)
        if not math.isnan(key):
            low = np.inf
            _mark(v.lists, level, s.total, s.ucb, v.hot, start, start + v.size[i], -1.0, c, key, label)
        key, label = _guess_threshold(v, s, level, _HIGH, i, start, c)
        if not math.isnan(key):
            high = np.inf
            _mark(v.lists, level, s.total, s.ucb, v.hot, start, start + v.size[i], 1.0, c, key, label)
        for j in range(np.uint64(start), np.uint64(start + v.size[i])):
            mean, radius = s.total[j], c * s.ucb[j]
            lcb, ucb = mean - radius, mean + radius
            if -lcb >= low:
                low = _offer(v, _LOW, i, -lcb, v.lists[level, j], low)
            if ucb >= high:
                high = _offer(v, _HIGH, i, ucb, v.lists[level, j], high)
            if ucb - L >= U - lcb:
                if -ucb >= by_L:
                    by_L = _offer(v, _BY_L, i, -ucb, v.lists[level, j], by_L)
            elif lcb >= by_U:
                by_U = _offer(v, _BY_U, i, lcb, v.lists[level, j], by_U)
            if mean >= best:
                best = _offer(v, _BEST, i, mean, v.lists[level, j], best)
            if -mean >= worst:
                worst = _offer(v, _WORST, i, -mean, v.lists[level, j], worst)
        j = start + v.size[i]
    for way in range(_WAYS):
        for i in range(m):
            place, keep, kept = v.place[way * m + i], v.keep[way * m + i], v.kept[way * m + i]
            if kept > keep:
                _select(v.chosen_key, v.chosen, way, place, place + kept, place + keep - 1)
            for x in range(place, place + min(keep, kept)):
                v.hot[v.chosen[way, x]] = True


@kernel
def _leave_out(v: View, s: Ranking, level: int, c_now: float, c_then: float) -> None:
    """Make S_level of the arms that were marked, and guards of the others; c_now and c_then are for this round and the last one."""
    m, count, j = v.first.size, 0, 0
    _no_guards(v, level)
    less, more = c_now * (1.0 - _CAUTION), c_then * (1.0 + _CAUTION)
    for i in range(m):
        row = level * _GUARDS * m + i
        low = high = by_L = by_U = -np.inf  # the guards' `other`, below which an arm changes nothing
        first, last, best, worst, cold = -1, -1, -np.inf, np.inf, 0
        L, U, start = v.L[i], v.U[i], j
        for j in range(np.uint64(start), np.uint64(start + v.size[i])):
            a = v.lists[level - 1, j]
            if v.hot[a]:
                v.hot[a] = False
                v.lists[level, count] = a
                count += 1
                continue
            mean, q = s.total[j], s.ucb[j]
            cold += 1
            if mean > best or (mean == best and a < first):
                first, best = a, mean
            if mean < worst or (mean == worst and a > last):
                last, worst = a, mean
            if more * q - mean > low:
                low = _fold(v, row + _LOW * m, more * q - mean, v.taken[a], mean, a, -np.inf)
            if mean + more * q > high:
                high = _fold(v, row + _HIGH * m, mean + more * q, v.taken[a], mean, a, -np.inf)
            lcb, ucb = mean - less * q, mean + less * q
            if ucb - L >= U - lcb:
                if -ucb > by_L:
                    by_L = _fold(v, row + _BY_L * m, -ucb, v.taken[a], mean, a, -np.inf)
            elif lcb > by_U:
                by_U = _fold(v, row + _BY_U * m, lcb, v.taken[a], mean, a, -np.inf)
        j = start + v.size[i]
        v.cold[level, i], v.edge[2 * (level * m + i)], v.edge[2 * (level * m + i) + 1] = cold, first, last
        v.ends[level, i] = count


@kernel
def _build(v: View, s: Ranking, part: Partition, level: int, R: int, scale: float, as_printed: bool) -> bool:
    """Choose S_level from the level above; False if that one does not hold the right arms any more."""
    c = math.sqrt(math.log(scale * R * R * R))
    _mend_cut(v, s, level - 1, c)
    if not _placed_among_cold(v, level - 1):
        return False
    if level == 1:
        _set_depth(v)
    v.state[CHOSEN + level] += 1
    _find_L_and_U(v, as_printed)
    _choose(v, s, part, level - 1, c)
    v.until[level] = R + v.margin[level]
    then = np.float64(v.until[level])
    _leave_out(v, s, level, c, math.sqrt(math.log(scale * then * then * then)))
    return True


@kernel
def _set_depth(v: View) -> None:
    """Decide on the number of levels below S_0: each is to be a few times as large as the next."""
    depth, reckoned = 1, 0
    for i in range(v.first.size):
        reckoned += min(v.size[i], _RECKONED)
    reckoned *= _RATIO
    while 2 * reckoned < v.ends[0, v.first.size - 1] and depth < _LEVELS - 1:
        depth += 1
        reckoned *= _RATIO
    v.state[_DEPTH] = depth


# ---------------------------------------------------------------------------------------------------
# A new view
# ---------------------------------------------------------------------------------------------------


@inlined
def worth_a_view(v: View, n: int) -> bool:
    """Whether so many active arms are worth a view."""
    return n > v.state[LIMIT]


@kernel
def open_view(v: View, s: Ranking, part: Partition) -> None:
    """Start with all arms, ranked, in the ranking."""
    for a in range(s.order.size):
        v.lists[0, a], v.gone[a] = s.order[a], False
    for level in range(_LEVELS):
        v.margin[level] = 8
    n = 0
    for i in range(part.open_sizes.size):
        n += part.open_sizes[i]
        v.ends[0, i] = n
    v.state[_ROUND] = v.state[_DEPTH] = 0


@inlined
def note_settled(v: View, s: Ranking, n: int) -> None:
    """Let the arms that the round settled leave all levels."""
    for x in range(n):
        if s.settled[x]:
            v.gone[s.order[x]] = True


@kernel
def see_cold(history: History, v: View, s: Ranking, pulls: int) -> None:
    """Note the active arms' states as the view has them, for a trace: those of cold arms are right, the ranking has the others."""
    for a in range(v.gone.size):
        if not v.gone[a]:
            see_arm(history, s.arm_of[a], v.mean[a], int(v.taken[a]), pulls)


@kernel
def _write_back(v: View, s: Ranking, part: Partition, unit: float) -> None:
    """Note what became of the arms in the view, their clusters those of its cut."""
    x = 0
    for i in range(part.open_sizes.size):
        for _ in range(part.open_sizes[i]):
            a = s.order[x]
            v.cluster[a], v.mean[a], v.total[a], v.taken[a] = i, s.mean[x], s.total[x], s.taken[x]
            v.q[a] = 1.0 / (math.sqrt(2.0 * s.taken[x]) * unit)
            x += 1


@kernel
def _load(v: View, s: Ranking, part: Partition, level: int) -> int:
    """Put a level's arms, grouped by clusters, into the ranking, and rank them; return how many."""
    m, start = v.first.size, 0
    n = v.ends[level, m - 1]
    for i in range(m):
        part.open_sizes[i] = v.ends[level, i] - start
        start = v.ends[level, i]
    for x in range(n):
        a = v.lists[level, x]
        s.order[x], s.mean[x] = a, v.mean[a]
    repair(s.order, s.mean, n, s.picks, s.lcb)
    for x in range(n):
        s.total[x], s.taken[x] = v.total[s.order[x]], v.taken[s.order[x]]
    return n


@kernel
def _level_to_build(v: View, s: Ranking, part: Partition, n: int, R: int, as_printed: bool) -> int:
    """Return the first level to choose anew now that guards have failed; 0 if only all arms will do."""
    depth = v.state[_DEPTH]
    if depth == 0:  # all arms are in the ranking
        return 1
    if v.state[_ROUND] != R:
        first = depth
        for level in range(depth, 0, -1):
            if v.until[level] < R:
                first = level
                v.margin[level] = min(2 * v.margin[level] + 1, 8 + (R >> 5))
        return first
    first = v.state[_TOP]  # from here on, all levels are of this round
    for level in range(depth, 0, -1):
        if not view_holds(v, s, part, n, R, level, as_printed):
            if level < first:
                return level
            if v.margin[level] > 0:
                v.margin[level] >>= 3
                return level
    return first - 1


@kernel
def renew_view(
    v: View, s: Ranking, part: Partition, n: int, R: int, scale: float, unit: float, as_printed: bool
) -> tuple[int, int]:  # fmt: skip
    """Choose another view for round R, in which guards have failed; return the arms in it and the cold ones.

    Called again in the same round it chooses more levels anew, and in the end takes all arms.
    """
    first = _level_to_build(v, s, part, n, R, as_printed)
    _write_back(v, s, part, unit)
    level = first
    while level > 0 and (level == 1 or level <= v.state[_DEPTH]):
        if _build(v, s, part, level, R, scale, as_printed):
            level += 1
        else:
            level -= 1
            first = min(first, level)
    if first == 0:  # all active arms
        v.state[FULL_ROUNDS] += 1
        v.state[_DEPTH] = 0
        _mend_cut(v, s, 0, 0.0)
        return _load(v, s, part, 0), 0
    v.state[_ROUND], v.state[_TOP] = R, first
    return _load(v, s, part, v.state[_DEPTH]), _combine(v)
