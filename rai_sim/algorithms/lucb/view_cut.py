"""The cut of a level of LUCB's view into clusters.

Choosing S_j (see `rai_sim.algorithms.lucb.view`) needs the cut of S_(j-1) into clusters. In all
levels a cluster has as many places as it had when the level was chosen, less those settled, and
arms change places within a level only, or statement 1 of `rai_sim.algorithms.lucb.view_guards`
fails. So where some stand on the wrong side of a border the level is cut anew.

Legend: `s`, the ranking, lends its room.
"""

from __future__ import annotations

import numpy as np

from rai_sim.algorithms.lucb.rule import Ranking
from rai_sim.algorithms.lucb.view_guards import HOME, MEAN, View, better
from rai_sim.engine.jit import kernel
from rai_sim.engine.ranking import ranks_before


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
def cut(v: View, s: Ranking, count: int) -> None:
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
    cut(v, s, count)
    for x in range(count):
        j = v.chosen[0, x]
        v.homes[level, j] = np.int32(v.arms[v.lists[level, j], HOME])
    for i in range(m):
        v.size[i] = v.kept[i]


@kernel
def mend_cut(v: View, s: Ranking, level: int, c: float) -> None:
    """Survey a level and see to it that its clusters are those of its ranking."""
    if not _is_grouped(v, level):
        _group(v, s, level)
    _survey(v, level, c)
    if not _in_order(v):
        _cut_anew(v, s, level)
        _group(v, s, level)
        _survey(v, level, c)
