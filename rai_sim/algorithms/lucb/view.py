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

Choosing S_j needs the cut of S_(j-1) into clusters (`rai_sim.algorithms.lucb.view_cut`); which arms
are chosen says `rai_sim.algorithms.lucb.view_choice`.

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
from rai_sim.algorithms.lucb.view_choice import RATIO, choose
from rai_sim.algorithms.lucb.view_cut import mend_cut
from rai_sim.algorithms.lucb.view_guards import (
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
from rai_sim.engine.jit import for_type, kernel
from rai_sim.engine.partition import Partition
from rai_sim.engine.ranking import repair
from rai_sim.engine.recommendations import Budgets, note_arm

#: Where guards that are made for more than a round fail at once, they are made for one for a share
#: of 2^-_TIGHT of the rounds so far.
_TIGHT = 6
#: Arms of a cluster that a view is reckoned to keep, and how many times as many active arms make a
#: view pay (measured).
_RECKONED, _WORTHWHILE = 20, 2


# --------------------------------------------------------------------------------------------------
# Making a level of the one above
# --------------------------------------------------------------------------------------------------


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
def _leave_out(v: View, level: int) -> None:
    """Make S_level of the arms that were marked, and guards of the others."""
    m, count, j = v.first.size, 0, 0
    no_guards(v, level)
    less, more = v.less[level], v.more[level]
    for i in range(m):
        row = level * GUARDS * m + i
        # the guards' `other`, below which an arm changes nothing
        low = high = by_L = by_U = -np.inf
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
    mend_cut(v, s, level - 1, c)
    if not _placed_among_cold(v, level - 1):
        return False
    if level == 1:
        _set_depth(v)
    v.state[CHOSEN + level] += 1
    _find_L_and_U(v, as_printed)
    choose(v, part, level - 1, c)
    set_bounds(v, level, R, scale)
    _leave_out(v, level)
    return True


@kernel
def _set_depth(v: View) -> None:
    """Decide on the number of levels below S_0: each is to be a few times as large as the next."""
    depth, reckoned = 1, 0
    for i in range(v.first.size):
        reckoned += min(v.size[i], _RECKONED)
    reckoned *= RATIO
    while 2 * reckoned < v.ends[0, v.first.size - 1] and depth < LEVELS - 1:
        depth += 1
        reckoned *= RATIO
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


def _none_to_add(v: NoView, budgets: Budgets, n: int) -> int:
    return n


@for_type(View, _none_to_add)
def note_cold(v: View, budgets: Budgets, n: int) -> int:
    """Note the cold arms' means for a recommendation, after the n of the ranking; return how many
    arms that are."""
    mean = budgets.spare_key
    for a in range(v.arms.shape[0]):
        mean[a] = v.arms[a, MEAN] if v.arms[a, HOME] >= 0 else np.nan
    for x in range(n):
        mean[budgets.label[x]] = np.nan
    for a in range(v.arms.shape[0]):
        if mean[a] == mean[a]:
            note_arm(budgets, n, a, mean[a])
            n += 1
    return n


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
        mend_cut(v, s, 0, 0.0)
        return _load(v, s, part, 0), 0
    v.state[ROUND], v.state[TOP] = R, first
    return _load(v, s, part, v.state[DEPTH]), combine_guards(v)
