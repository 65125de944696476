"""LUCB with many arms: rounds judged on a view, the few active arms on which their outcome hangs,
and how those are chosen.

When a view decides a round is shown in `rai_sim.algorithms.lucb.view_guards`, whose legend and
numbered statements are used here.

Levels. S_0 are all active arms, S_1 contains S_2 .., the last is the view. S_j is chosen from
S_(j-1): from each cluster the arms most extreme in each of six ways, or those that a sample
suggests are about as many. What is left out becomes cold with guards of its level, made from sums
the arms keep while they are cold. Guards that are out of date are carried on, which costs the same
however many arms they are of; so a level lasts until the arms in it have been pulled out of what
they were chosen for. A guard that fails has the view chosen anew from the level above it, then, if
guards still fail, that level from the one above, and so on. Which arms are chosen is a matter of
speed alone; guards decide. Each level is a few times as large as the next and lasts as many times
longer, so a round costs O(log N) on average. If guards fail even though all levels were
chosen in this very round, as when more arms are settled at once than a view holds, the round is
judged on all active arms.

Choosing S_j needs the cut of S_(j-1) into clusters: in all levels a cluster has as many places as
it had when the level was chosen, less those settled, and arms change places within a level only
(else 1 fails). So where some stand on the wrong side of a border it is cut anew (`_cut`).

Memory. Each level has a list of its arms' labels, means, q and clusters, read from its beginning to
its end: read by label, 100,000 of a million arms cost a miss of the cache a number and arm. What
becomes of an arm in the view is written to its record (`View.arms`) when the view is chosen anew,
and told to the lists from the last level up to the one that is chosen from (`_tell`), each of which
knows where its arms stand in the list above; lists further up are told when they are needed.

Arms that moved since S_(j-1) was chosen may go cold now without having been judged where they are;
so statement 1 is checked for all of S_(j-1) and the cold arms outside of it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.lucb.rule import Ranking
from rai_sim.algorithms.lucb.view_guards import (
    BEST,
    BY_L,
    BY_U,
    CHOSEN,
    DEPTH,
    FULL_ROUNDS,
    GUARDS,
    HIGH,
    HOME,
    LEVELS,
    LIMIT,
    LOW,
    MEAN,
    ROUND,
    TAKEN,
    TIGHT,
    TOP,
    TOTAL,
    WAYS,
    WORST,
    View,
    allocate_view,
    better,
    carry_on,
    combine_guards,
    fold_in,
    no_guards,
    set_bounds,
    view_holds,
)
from rai_sim.engine.history import History, see_arm
from rai_sim.engine.jit import for_type, inlined, kernel
from rai_sim.engine.partition import Partition
from rai_sim.engine.ranking import ranks_before, repair

#: Arms that a view keeps of each cluster: for the least LCB or greatest UCB; for small gaps, if
#: wanted or not; next to a border, a level: where levels are many a view is dear (measured).
_ROLE, _GAP, _QUIET, _BORDER = 40, 6, 2, 3
#: Arms from which it is guessed how extreme the most extreme ones are, and how many of those must
#: be such.
_SAMPLE, _OF_SAMPLE = 48, 3
#: How many times as many the level above has (measured).
_RATIO = 8
#: Where guards that are made for more than a round fail at once, they are made for one for a share
#: of 2^-_TIGHT of the rounds so far.
_TIGHT = 6
#: Arms of a cluster that a view is reckoned to keep, and how many times as many active arms make a
#: view pay (measured).
_RECKONED, _WORTHWHILE = 20, 2


# --------------------------------------------------------------------------------------------------
# Choosing a level from the one above
# --------------------------------------------------------------------------------------------------


@kernel
def _is_grouped(v: View, level: int) -> bool:
    """Whether a level's list is grouped by clusters and nobody in it is gone; note the sizes of
    clusters, and tell the level above who is gone."""
    stop, grouped = 0, True
    for i in range(v.first.size):
        v.size[i] = 0
    for i in range(v.first.size):
        start, stop, at_home = stop, v.ends[level, i], 0
        for j in range(np.uint64(start), np.uint64(stop)):
            home = np.int64(v.homes[level, j])
            if home == i:
                at_home += 1
                continue
            grouped = False
            if home >= 0:
                v.size[home] += 1
            elif level > 0:
                v.homes[level - 1, v.above[level, j]] = -1
        v.size[i] += at_home
    return grouped


@kernel
def _group(v: View, s: Ranking, level: int) -> None:
    """Group a level's list by clusters, whose sizes are known, and drop arms that are gone."""
    m, place, stop = v.first.size, 0, 0
    for i in range(m):
        v.kept[i] = place
        place += v.size[i]
    for i in range(m):
        start, stop, x = stop, v.ends[level, i], v.kept[i]
        for j in range(np.uint64(start), np.uint64(stop)):
            home, y = np.int64(v.homes[level, j]), x
            if home == i:
                x += 1
            elif home >= 0:
                y = v.kept[home]
                v.kept[home] += 1
            else:
                continue
            y = np.uint64(y)
            s.order[y], s.picks[y] = v.lists[level, j], v.above[level, j]
            s.mean[y], s.total[y] = v.means[level, j], v.qs[level, j]
        v.kept[i] = x
    for j in range(place):
        v.lists[level, j], v.above[level, j] = s.order[j], s.picks[j]
    for j in range(place):
        v.means[level, j], v.qs[level, j] = s.mean[j], s.total[j]
    stop = 0
    for i in range(m):
        start, stop = stop, stop + v.size[i]
        for j in range(start, stop):
            v.homes[level, j] = i
        v.ends[level, i] = stop


@kernel
def _survey(v: View, level: int, c: float) -> None:
    """Describe a level's clusters."""
    stop = 0
    for i in range(v.first.size):
        start, stop = stop, v.ends[level, i]
        first, last, best, worst, low, high = -1, -1, -np.inf, np.inf, np.inf, -np.inf
        for j in range(np.uint64(start), np.uint64(stop)):
            mean, radius = v.means[level, j], c * v.qs[level, j]
            if mean >= best:
                a = int(np.int64(v.lists[level, j]))
                if mean > best or a < first:
                    first, best = a, mean
            if mean <= worst:
                a = int(np.int64(v.lists[level, j]))
                if mean < worst or a > last:
                    last, worst = a, mean
            low, high = min(low, mean - radius), max(high, mean + radius)
        v.first[i], v.last[i], v.low[i], v.high[i] = first, last, low, high


@kernel
def _in_order(v: View) -> bool:
    """Whether the arms of each cluster, as surveyed, rank before those of the next one."""
    before = -1
    for i in range(v.first.size):
        if v.size[i] > 0:
            if before >= 0 and better(v, v.first[i], v.last[before]):
                return False
            before = i
    return True


@kernel
def _cut(v: View, s: Ranking, count: int) -> None:
    """Give the arms in the ranking's room their clusters, whose sizes are known: a quicksort that
    leaves alone what no border cuts.

    On the stack are ends of stretches all of whose arms rank before those behind, the nearest on
    top.
    """
    stack, top, border = s.picks, 0, 0
    stack[0] = count
    for i in range(v.first.size):
        start = border
        border += v.size[i]
        while top >= 0 and stack[top] <= border:
            top -= 1
        low, high = start, stack[max(top, 0)] - 1
        while top >= 0 and low < border:
            middle = (low + high) >> 1
            mean, a = s.mean[middle], s.order[middle]
            x, y = low, high
            while x <= y:
                while ranks_before(s.mean[x], s.order[x], mean, a):
                    x += 1
                while ranks_before(mean, a, s.mean[y], s.order[y]):
                    y -= 1
                if x <= y:
                    s.mean[x], s.mean[y] = s.mean[y], s.mean[x]
                    s.order[x], s.order[y] = s.order[y], s.order[x]
                    x += 1
                    y -= 1
            if border <= y:
                high = y
                top += 1
                stack[top] = y + 1
            elif border > x:
                low = x
            else:
                break
        for x in range(start, border):
            v.arms[s.order[x], HOME] = i


@kernel
def _cut_anew(v: View, s: Ranking, level: int) -> None:
    """Give a level's arms, as surveyed, their clusters anew.

    An arm that ranks behind all arms of the clusters before its own, and before all of those after
    it, is where it belongs, and so do as many arms of its cluster belong there as before. So only
    the others, mostly few, need a cut, into as many of each cluster.
    """
    m, count, after, before, stop = v.first.size, 0, -1, -1, 0
    for i in range(m - 1, -1, -1):
        v.place[i] = after
        if v.size[i] > 0 and (after < 0 or better(v, v.first[i], after)):
            after = v.first[i]
    for i in range(m):
        start, stop, others, after = stop, v.ends[level, i], count, v.place[i]
        most, least = np.inf, -np.inf
        if before >= 0:
            most = v.arms[before, MEAN]
        if after >= 0:
            least = v.arms[after, MEAN]
        for j in range(np.uint64(start), np.uint64(stop)):
            mean = v.means[level, j]
            if least < mean < most:
                continue
            a = int(np.int64(v.lists[level, j]))
            if (before >= 0 and ranks_before(mean, a, most, before)) or (
                after >= 0 and ranks_before(least, after, mean, a)
            ):
                s.order[count], s.mean[count], v.chosen[0, count] = a, mean, j
                count += 1
        if v.size[i] > 0 and (before < 0 or better(v, before, v.last[i])):
            before = v.last[i]
        v.kept[i], v.size[i] = v.size[i], count - others
    _cut(v, s, count)
    for x in range(count):
        j = v.chosen[0, x]
        v.homes[level, j] = np.int32(v.arms[v.lists[level, j], HOME])
    for i in range(m):
        v.size[i] = v.kept[i]


@kernel
def _mend_cut(v: View, s: Ranking, level: int, c: float) -> None:
    """Survey a level and see to it that its clusters are those of its ranking."""
    if not _is_grouped(v, level):
        _group(v, s, level)
    _survey(v, level, c)
    if not _in_order(v):
        _cut_anew(v, s, level)
        _group(v, s, level)
        _survey(v, level, c)


@kernel
def _placed_among_cold(v: View, level: int) -> bool:
    """Whether a level's clusters are on the right sides of the arms left out by it and the levels
    above."""
    for above in range(1, level + 1):
        before, cold_before = -1, -1  # the worst arm of the clusters so far
        for i in range(v.first.size):
            row = 2 * (above * v.first.size + i)
            some, some_cold = v.size[i] > 0, v.cold[above, i] > 0
            if some_cold and before >= 0 and not better(v, before, v.edge[row]):
                return False
            if some and cold_before >= 0 and not better(v, cold_before, v.first[i]):
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
    m, before, behind, border = v.first.size, False, 0, factor * _BORDER * v.state[DEPTH]
    for i in range(m):
        behind += v.size[i] > 0
    for i in range(m):
        behind -= v.size[i] > 0
        gap = _GAP if part.found[i] < part.required[i] else _QUIET
        v.keep[LOW * m + i] = factor * _ROLE if behind > 0 else 0
        v.keep[HIGH * m + i] = factor * _ROLE if before else 0
        v.keep[BY_L * m + i] = v.keep[BY_U * m + i] = factor * gap
        v.keep[BEST * m + i] = border if before else 0
        v.keep[WORST * m + i] = border if behind > 0 else 0
        before = before or v.size[i] > 0
    for way in range(WAYS):
        place = 0
        for i in range(m):
            row = way * m + i
            v.keep[row] = min(v.keep[row], min(v.size[i], (v.chosen.shape[1] - place) >> 1))
            v.place[row], v.kept[row] = place, 0
            place += 2 * v.keep[row]


@inlined
def _worse(v: View, level: int, way: int, key: float, j: int, other_key: float, k: int) -> bool:
    """Whether the arm at place j of a level is less extreme than the one at k; of equals the later
    label, but the earlier one for the worst rank."""
    if key != other_key:
        return key < other_key
    a, b = v.lists[level, j], v.lists[level, k]
    return a < b if way == WORST else a > b


@kernel
def _select(v: View, level: int, way: int, start: int, stop: int, last: int) -> None:
    """Move the most extreme of the arms noted at start..stop-1 to start..last, the least extreme of
    those to `last`."""
    keys, places, low, high = v.chosen_key, v.chosen, start, stop - 1
    while low < high:
        middle = (low + high) >> 1
        key, j = keys[way, middle], places[way, middle]
        x, y = low, high
        while x <= y:
            while _worse(v, level, way, key, j, keys[way, x], places[way, x]):
                x += 1
            while _worse(v, level, way, keys[way, y], places[way, y], key, j):
                y -= 1
            if x <= y:
                keys[way, x], keys[way, y] = keys[way, y], keys[way, x]
                places[way, x], places[way, y] = places[way, y], places[way, x]
                x += 1
                y -= 1
        if last <= y:
            high = y
        elif last >= x:
            low = x
        else:
            return


@inlined
def _offer(v: View, level: int, way: int, i: int, key: float, j: int, least: float) -> float:
    """Note the arm at place j if it may be among the most extreme; return the key that an arm must
    have for that, `least` so far."""
    row = way * v.first.size + i
    keep, kept, place = v.keep[row], v.kept[row], v.place[row]
    if key == least and not _worse(v, level, way, key, v.chosen[way, place + keep - 1], key, j):
        return least
    v.chosen[way, place + kept], v.chosen_key[way, place + kept] = j, key
    kept += 1
    if kept == 2 * keep:
        _select(v, level, way, place, place + kept, place + keep - 1)
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
    return mean + radius if way == HIGH else radius - mean


@kernel
def _guess_threshold(
    v: View, level: int, way: int, i: int, start: int, c: float
) -> tuple[float, int]:
    """Return the key and the label from which on arms of cluster i are chosen; NaN if they must be
    sorted out one by one.

    Which arms are chosen is a matter of speed, so a guess will do: from a sample of the cluster,
    whose arms begin at `start`.
    """
    row = way * v.first.size + i
    keep, size, place = v.keep[row], v.size[i], v.place[row]
    if keep == size:
        return -np.inf, 0
    if 2 * keep < _SAMPLE or keep * _SAMPLE < _OF_SAMPLE * size:
        return np.nan, 0
    for x in range(_SAMPLE):
        j = start + x * size // _SAMPLE
        key, y = _key(way, v.means[level, j], c * v.qs[level, j]), place + x
        while y > place and _worse(
            v, level, way, v.chosen_key[way, y - 1], v.chosen[way, y - 1], key, j
        ):
            v.chosen_key[way, y], v.chosen[way, y] = v.chosen_key[way, y - 1], v.chosen[way, y - 1]
            y -= 1
        v.chosen_key[way, y], v.chosen[way, y] = key, j
    x = place + keep * _SAMPLE // size
    return v.chosen_key[way, x], int(np.int64(v.lists[level, v.chosen[way, x]]))


@kernel
def _mark(
    v: View, level: int, start: int, stop: int, sign: float, c: float, key: float, label: int
) -> None:
    """Mark the arms at start..stop-1 whose key is beyond a threshold. A loop by itself is faster
    than one that does more."""
    for j in range(np.uint64(start), np.uint64(stop)):
        of_arm = sign * v.means[level, j] + c * v.qs[level, j]
        if of_arm >= key and (of_arm > key or v.lists[level, j] <= label):
            v.hot[j] = True


@kernel
def _choose(v: View, part: Partition, level: int, c: float) -> None:
    """Mark the arms of S_level that are extreme enough for the next level."""
    m, factor, j = v.first.size, 1, 0
    for _ in range(v.state[DEPTH] - level - 1):
        factor *= _RATIO
    _set_shares(v, part, factor)
    for i in range(m):
        low, high, by_L = _none_yet(v, LOW, i), _none_yet(v, HIGH, i), _none_yet(v, BY_L, i)
        by_U, best, worst = _none_yet(v, BY_U, i), _none_yet(v, BEST, i), _none_yet(v, WORST, i)
        L, U, start = v.L[i], v.U[i], j
        key, label = _guess_threshold(v, level, LOW, i, start, c)
        if not math.isnan(key):
            low = np.inf
            _mark(v, level, start, start + v.size[i], -1.0, c, key, label)
        key, label = _guess_threshold(v, level, HIGH, i, start, c)
        if not math.isnan(key):
            high = np.inf
            _mark(v, level, start, start + v.size[i], 1.0, c, key, label)
        for j in range(np.uint64(start), np.uint64(start + v.size[i])):
            mean, radius = v.means[level, j], c * v.qs[level, j]
            lcb, ucb = mean - radius, mean + radius
            if -lcb >= low:
                low = _offer(v, level, LOW, i, -lcb, j, low)
            if ucb >= high:
                high = _offer(v, level, HIGH, i, ucb, j, high)
            if ucb - L >= U - lcb:
                if -ucb >= by_L:
                    by_L = _offer(v, level, BY_L, i, -ucb, j, by_L)
            elif lcb >= by_U:
                by_U = _offer(v, level, BY_U, i, lcb, j, by_U)
            if mean >= best:
                best = _offer(v, level, BEST, i, mean, j, best)
            if -mean >= worst:
                worst = _offer(v, level, WORST, i, -mean, j, worst)
        j = start + v.size[i]
    for way in range(WAYS):
        for i in range(m):
            place, keep, kept = v.place[way * m + i], v.keep[way * m + i], v.kept[way * m + i]
            if kept > keep:
                _select(v, level, way, place, place + kept, place + keep - 1)
            for x in range(place, place + min(keep, kept)):
                v.hot[v.chosen[way, x]] = True


@kernel
def _leave_out(v: View, level: int) -> None:
    """Make S_level of the arms that were marked, and guards of the others."""
    m, count, j = v.first.size, 0, 0
    no_guards(v, level)
    less, more = v.less[level], v.more[level]
    for i in range(m):
        row = level * GUARDS * m + i
        low = high = by_L = (
            by_U
        ) = -np.inf  # the guards' `other`, below which an arm changes nothing
        first, last, best, worst, cold = -1, -1, -np.inf, np.inf, 0
        least_q, most_q = np.inf, 0.0
        L, U, start = v.L[i], v.U[i], j
        for j in range(np.uint64(start), np.uint64(start + v.size[i])):
            a, mean, q = (
                int(np.int64(v.lists[level - 1, j])),
                v.means[level - 1, j],
                v.qs[level - 1, j],
            )
            if v.hot[j]:
                v.hot[j] = False
                v.lists[level, count], v.means[level, count], v.qs[level, count] = a, mean, q
                v.homes[level, count], v.above[level, count] = i, j
                count += 1
                continue
            cold += 1
            least_q, most_q = min(least_q, q), max(most_q, q)
            if mean > best or (mean == best and a < first):
                first, best = a, mean
            if mean < worst or (mean == worst and a > last):
                last, worst = a, mean
            if more * q - mean > low:
                low = fold_in(
                    v, row + LOW * m, more * q - mean, v.arms[a, TAKEN], mean, q, a, -np.inf
                )
            if mean + more * q > high:
                high = fold_in(
                    v, row + HIGH * m, mean + more * q, v.arms[a, TAKEN], mean, q, a, -np.inf
                )
            lcb, ucb = mean - less * q, mean + less * q
            if ucb - L >= U - lcb:
                if -ucb > by_L:
                    by_L = fold_in(v, row + BY_L * m, -ucb, v.arms[a, TAKEN], mean, q, a, -np.inf)
            elif lcb > by_U:
                by_U = fold_in(v, row + BY_U * m, lcb, v.arms[a, TAKEN], mean, q, a, -np.inf)
        j = start + v.size[i]
        v.cold[level, i], v.edge[2 * (level * m + i)], v.edge[2 * (level * m + i) + 1] = (
            cold,
            first,
            last,
        )
        v.ends[level, i], v.least_q[level, i], v.most_q[level, i] = count, least_q, most_q


@kernel
def _build(
    v: View, s: Ranking, part: Partition, level: int, R: int, scale: float, as_printed: bool
) -> bool:
    """Choose S_level from the level above; False if that one does not hold the right arms any
    more."""
    c = math.sqrt(math.log(scale * R * R * R))
    _mend_cut(v, s, level - 1, c)
    if not _placed_among_cold(v, level - 1):
        return False
    if level == 1:
        _set_depth(v)
    v.state[CHOSEN + level] += 1
    _find_L_and_U(v, as_printed)
    _choose(v, part, level - 1, c)
    set_bounds(v, level, R, scale)
    _leave_out(v, level)
    return True


@kernel
def _set_depth(v: View) -> None:
    """Decide on the number of levels below S_0: each is to be a few times as large as the next."""
    depth, reckoned = 1, 0
    for i in range(v.first.size):
        reckoned += min(v.size[i], _RECKONED)
    reckoned *= _RATIO
    while 2 * reckoned < v.ends[0, v.first.size - 1] and depth < LEVELS - 1:
        depth += 1
        reckoned *= _RATIO
    v.state[DEPTH] = depth


# --------------------------------------------------------------------------------------------------
# A new view
# --------------------------------------------------------------------------------------------------


class NoView(NamedTuple):
    """In place of a `View` where one would be about as large as the ranking: nothing below is
    compiled then."""

    limit: int


def new_view(N: int, sizes: NDArray[np.int64]) -> View | NoView:
    """Allocate what a task of N arms in clusters of such sizes needs."""
    limit = _WORTHWHILE * int(np.minimum(sizes, _RECKONED).sum())
    return NoView(limit) if limit >= N else allocate_view(N, sizes.size, limit)


# Each function of `View` that the loop calls follows what stands in for it where there is none.


def _never(v: NoView, n: int) -> bool:
    return False


@for_type(View, _never)
def worth_a_view(v: View, n: int) -> bool:
    """Whether so many active arms are worth a view."""
    return n > v.state[LIMIT]


def _no_start(v: NoView, s: Ranking, part: Partition) -> None:
    pass


@for_type(View, _no_start)
def open_view(v: View, s: Ranking, part: Partition) -> None:
    """Start with all arms, ranked, in the ranking."""
    x = 0
    for i in range(part.open_sizes.size):
        v.kept[i] = x
        for _ in range(part.open_sizes[i]):
            v.arms[s.order[x], HOME] = i
            x += 1
        v.ends[0, i] = x
    for a in range(s.order.size):  # in the order in which the arms lie in memory
        i = int(v.arms[a, HOME])
        v.lists[0, v.kept[i]] = a
        v.kept[i] += 1
    v.state[ROUND] = v.state[TIGHT] = v.state[DEPTH] = 0


def _nothing_to_note(v: NoView, s: Ranking, n: int) -> None:
    pass


@for_type(View, _nothing_to_note)
def note_settled(v: View, s: Ranking, n: int) -> None:
    """Let the arms that the round settled leave all levels."""
    for x in range(n):
        if s.settled[x]:
            v.arms[s.order[x], HOME] = -1


def _none_cold(v: NoView, history: History, s: Ranking, pulls: int) -> None:
    pass


@for_type(View, _none_cold)
def see_cold(v: View, history: History, s: Ranking, pulls: int) -> None:
    """Note the active arms' states as the view has them, for a trace: those of cold arms are right,
    the ranking has the others."""
    for a in range(v.arms.shape[0]):
        if v.arms[a, HOME] >= 0:
            see_arm(history, s.arm_of[a], v.arms[a, MEAN], int(v.arms[a, TAKEN]), pulls)


@kernel
def _write_back(v: View, s: Ranking, part: Partition) -> None:
    """Note what became of the arms in the view, their clusters those of its cut."""
    x = 0
    for i in range(part.open_sizes.size):
        for _ in range(part.open_sizes[i]):
            a = s.order[x]
            v.arms[a, TAKEN], v.arms[a, TOTAL] = s.taken[x], s.total[x]
            v.arms[a, MEAN], v.arms[a, HOME] = s.mean[x], i
            x += 1


@kernel
def _tell(v: View, level: int, unit: float) -> None:
    """Tell the lists of S_level .., up from the last level, what became of the arms of the level
    below, which has all that were in the view since it was chosen."""
    m, depth = v.first.size, v.state[DEPTH]
    for j in range(v.ends[depth, m - 1]):
        a = v.lists[depth, j]
        v.means[depth, j], v.homes[depth, j] = v.arms[a, MEAN], np.int32(v.arms[a, HOME])
        v.qs[depth, j] = 1.0 / (math.sqrt(2.0 * v.arms[a, TAKEN]) * unit)
    for below in range(depth, level, -1):
        _hand_up(v, below)


@kernel
def _hand_up(v: View, level: int) -> None:
    """Tell the list of the level above what a level's list knows."""
    for j in range(v.ends[level, v.first.size - 1]):
        x = v.above[level, j]
        v.means[level - 1, x], v.qs[level - 1, x] = v.means[level, j], v.qs[level, j]
        v.homes[level - 1, x] = v.homes[level, j]


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
        s.order[x], s.mean[x] = a, v.means[level, x]
    repair(s.order, s.mean, n, s.picks, s.lcb)
    for x in range(n):
        a = s.order[x]
        s.total[x], s.taken[x] = v.arms[a, TOTAL], v.arms[a, TAKEN]
    return n


@kernel
def _level_to_build(v: View, s: Ranking, part: Partition, n: int, R: int, as_printed: bool) -> int:
    """Return the first level to choose anew now that guards have failed; 0 if only all arms will
    do."""
    depth = v.state[DEPTH]
    if depth == 0:  # all arms are in the ranking
        return 1
    if v.state[ROUND] != R:
        return depth
    first = v.state[TOP]  # from here on, all levels are of this round
    for level in range(depth, 0, -1):
        if not view_holds(v, s, part, n, R, level, as_printed):
            if level < first:
                return level
            if v.until[level] > R:
                v.state[TIGHT] = R + (R >> _TIGHT)
                return level
    return first - 1


def _always(v: NoView, s: Ranking, part: Partition, n: int, R: int, as_printed: bool) -> bool:
    return True


@for_type(View, _always)
def view_decides(v: View, s: Ranking, part: Partition, n: int, R: int, as_printed: bool) -> bool:
    """Whether the round's outcome is that of all active arms, by the guards of all levels."""
    return view_holds(v, s, part, n, R, 0, as_printed)


def _all_in_view(
    v: NoView,
    s: Ranking,
    part: Partition,
    n: int,
    R: int,
    scale: float,
    unit: float,
    as_printed: bool,
) -> tuple[int, int]:
    return n, 0


@for_type(View, _all_in_view)
def renew_view(
    v: View,
    s: Ranking,
    part: Partition,
    n: int,
    R: int,
    scale: float,
    unit: float,
    as_printed: bool,
) -> tuple[int, int]:
    """Choose another view for round R, in which guards have failed; return the arms in it and the
    cold ones.

    Called again in the same round it chooses more levels anew, and in the end takes all arms.
    """
    if v.state[DEPTH] > 0 and v.until[0] < R:
        for level in range(1, v.state[DEPTH] + 1):
            if v.until[level] < R:
                carry_on(v, level, R, scale)
        return n, combine_guards(v)
    first = _level_to_build(v, s, part, n, R, as_printed)
    _write_back(v, s, part)
    _tell(v, max(first - 1, 0), unit)
    level = first
    while level > 0 and (level == 1 or level <= v.state[DEPTH]):
        if _build(v, s, part, level, R, scale, as_printed):
            level += 1
        else:
            level -= 1
            first = min(first, level)
            _hand_up(v, level)
    if first == 0:  # all active arms
        v.state[FULL_ROUNDS] += 1
        v.state[DEPTH] = 0
        _mend_cut(v, s, 0, 0.0)
        return _load(v, s, part, 0), 0
    v.state[ROUND], v.state[TOP] = R, first
    return _load(v, s, part, v.state[DEPTH]), combine_guards(v)
