"""Which arms of a level of LUCB's view the next level has: from each cluster the most extreme ones in
each of six ways, or those that a sample suggests are about as many.

Which arms are chosen is a matter of speed alone; guards decide whether they will do
(`rai_sim.algorithms.lucb.view_guards`, whose legend is used here).
"""

from __future__ import annotations

import math

import numpy as np

from rai_sim.algorithms.lucb.view_guards import (
    BEST,
    BY_L,
    BY_U,
    DEPTH,
    HIGH,
    LOW,
    WAYS,
    WORST,
    View,
)
from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.partition import Partition

#: Arms that a view keeps of each cluster: for the least LCB or greatest UCB; for small gaps, if
#: wanted or not; next to a border, a level: where levels are many a view is dear (measured).
_ROLE, _GAP, _QUIET, _BORDER = 40, 6, 2, 3
#: Arms from which it is guessed how extreme the most extreme ones are, and how many of those must
#: be such.
_SAMPLE, _OF_SAMPLE = 48, 3
#: How many times as many the level above has (measured).
RATIO = 8


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
def choose(v: View, part: Partition, level: int, c: float) -> None:
    """Mark the arms of S_level that are extreme enough for the next level."""
    m, factor, j = v.first.size, 1, 0
    for _ in range(v.state[DEPTH] - level - 1):
        factor *= RATIO
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
