"""The lines between which LUCB pulls the same arms while one arm only is in question.

Legend as in `rai_sim.algorithms.lucb.challenge`.

A stretch. Round R has been judged, by the operations of the definition, and C = {v, l, u} are its
picks. For as long as in rounds R+1, R+2, .. R+J

1. the mean of each arm of C lies between the borders of its cluster, numbers that separate the
   means of the clusters in round R;
2. LCB_l < T, T at most the LCB of every other arm before v in these rounds (likewise UCB_u > T' on
   the other side);
3. UCB_v > M, M at least T and LCB_x for all other arms x before v, but for those held (likewise on
   the other side). An arm is held if it is outside of C and some bystander of an earlier cluster
   has LCB <= UCB_x, or one of a later cluster UCB >= LCB_x. Bystanders are the other arms outside
   of C,

the picks are C: by 1 the clusters are the same sets of arms, by 2 l and u keep their roles, and by
3 nobody is settled: v not, as UCB_v > LCB_l >= L; no x before v, as UCB_v > LCB_x, a bound ranked
after x, or because it is held; likewise those after v. Arms outside of C keep their means, and c =
sqrt(ln(pi^2 R^3 N / (3 delta))) grows from c_R to at most c_R (1 + 3 J / (2 c_R^2 R)), so T is the
least LCB for the latter c and M the greatest for c_R. A held arm stays held: its UCB and the
bystander's grow, their LCBs fall, and LCB_l stays the least by 2. T is no higher than a number
between LCB_l and UCB_v.

Lines. Let an arm of C have n pulls and sum S, and S_j, n + j after j more. A mean below b is S_j <
(n + j) b; LCB < T is S_j < (n + j) T + c ((n + j) / 2)^1/2, for which c_R is on the safe side, as
it is in UCB > M, S_j > (n + j) M - c ((n + j) / 2)^1/2. The right sides are straight, or bend away
from the chord between j = 0 and j = J towards what is allowed. So while S_j lies between two
chords, the upper one under all upper limits and the lower one above all lower limits, the
statements hold. Chords are compared in 256ths of a reward, rounded by more than 1/256 to the safe
side; as n < 2^40 that exceeds all rounding of bounds, n times 1e-15.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.lucb.rule import Ranking
from rai_sim.algorithms.lucb.run import LOG_TERM, ROUND, Run
from rai_sim.engine.jit import inlined
from rai_sim.engine.partition import Partition

#: Rows of `Lines.limits`: limits of a pick's sum now and J pulls later.
UP, UP_END, DOWN, DOWN_END = 0, 1, 2, 3


class Lines(NamedTuple):
    """Memory of a block."""

    # By open cluster, best first: the rank behind its last arm, and a mean between its own and
    # those of the next cluster.
    end: NDArray[np.int64]
    border: NDArray[np.float64]
    # Likewise: the least LCB of arms before it, and the greatest UCB of arms after it, that are not
    # picked.
    least_before: NDArray[np.float64]
    greatest_after: NDArray[np.float64]
    # By pick, of which there are at most three: its rank, its cluster among the open ones, its
    # lines.
    pick: NDArray[np.int64]
    home: NDArray[np.int64]
    limits: NDArray[np.float64]  # (4, 3)


class Side(NamedTuple):
    """The arms before v or those after it."""

    sign: float  # 1 before, -1 after: a bound times it is least for the arm that is picked
    rank: int  # of the first of them
    first: int  # their open clusters: first..stop-1
    stop: int


class Stretch(NamedTuple):
    """What lines depend on besides the arms."""

    J: int  # rounds
    root: float  # c_R
    growth: float  # by how much of it c may grow


def new_lines(m: int) -> Lines:
    """Allocate."""
    return Lines(
        end=np.empty(m, np.int64),
        border=np.empty(m),
        least_before=np.empty(m),
        greatest_after=np.empty(m),
        pick=np.empty(3, np.int64),
        home=np.empty(3, np.int64),
        limits=np.empty((4, 3)),
    )


@inlined
def find_clusters(lines: Lines, part: Partition, v: int) -> tuple[int, int]:
    """Note where the open clusters end; return how many there are, and which one holds v."""
    clusters, home, p1 = 0, 0, 0
    for i in range(part.open_sizes.size):
        if part.open_sizes[i] > 0:
            if p1 == v:
                home = clusters
            p1 += part.open_sizes[i]
            lines.end[clusters] = p1
            clusters += 1
    return clusters, home


@inlined
def _middle(low: float, at_low: float, high: float, at_high: float) -> float:
    """Return a number between two, farther from the one whose arm moves more."""
    return low + (high - low) * at_low / (at_low + at_high)


@inlined
def _set_borders(lines: Lines, s: Ranking, clusters: int) -> bool:
    """Put a border between the means of neighbouring clusters; False if arms have crossed or
    met."""
    x, low, at_low = 0, np.inf, 0
    for i in range(clusters):
        next_low, at_next_low, high, at_high = np.inf, 0, -np.inf, 0
        while x < lines.end[i]:
            mean = s.mean[x]
            if mean < next_low:
                next_low, at_next_low = mean, x
            if mean > high:
                high, at_high = mean, x
            x += 1
        if i > 0:
            if low <= high:
                return False
            lines.border[i - 1] = _middle(
                high, s.ucb[at_high] - s.lcb[at_high], low, s.ucb[at_low] - s.lcb[at_low]
            )
        low, at_low = next_low, at_next_low
    return True


@inlined
def _most_extreme(lines: Lines, bound: NDArray[np.float64], side: Side) -> tuple[int, int, bool]:
    """Return of the arms on a side the one of least bound before v, or of greatest after it.

    That is its rank, -1 if there is no arm; its cluster; and whether another arm has the same
    bound.
    """
    extreme, home, tied, x = -1, 0, False, side.rank
    for i in range(side.first, side.stop):
        while x < lines.end[i]:
            if extreme < 0 or side.sign * bound[x] < side.sign * bound[extreme]:
                extreme, home, tied = x, i, False
            elif bound[x] == bound[extreme]:
                tied = True
            x += 1
    return extreme, home, tied


@inlined
def _gather_bystanders(
    lines: Lines, s: Ranking, clusters: int, v: int, least: int, greatest: int
) -> None:
    """Find the least LCB of the clusters before each, and the greatest UCB of those after it, of
    arms that are not picked."""
    low, x = np.inf, 0
    for i in range(clusters):
        lines.least_before[i], high = low, -np.inf
        while x < lines.end[i]:
            if x != v and x != least and x != greatest:
                low, high = min(low, s.lcb[x]), max(high, s.ucb[x])
            x += 1
        lines.greatest_after[i] = high
    high = -np.inf
    for i in range(clusters - 1, -1, -1):
        lines.greatest_after[i], high = high, max(high, lines.greatest_after[i])


@inlined
def _held(lines: Lines, s: Ranking, x: int, i: int) -> bool:
    """Whether an arm that is not picked, of cluster i, is kept from being settled by others
    such."""
    return s.lcb[x] <= lines.greatest_after[i] or s.ucb[x] >= lines.least_before[i]


@inlined
def _limits(
    lines: Lines, s: Ranking, side: Side, v: int, extreme: int, home: int, growth: float
) -> tuple[float, float]:
    """Return T and M of the arms before v, or T' and M' of those after it; `extreme`, of cluster
    `home`, is the one picked."""
    sign, x = side.sign, side.rank
    bound = s.lcb if sign > 0.0 else s.ucb
    T, M = np.inf, sign * bound[extreme]
    for i in range(side.first, side.stop):
        while x < lines.end[i]:
            if x != extreme:
                T = min(T, sign * bound[x] - growth * 0.5 * (s.ucb[x] - s.lcb[x]))
                if (i <= home if sign > 0.0 else i >= home) and not _held(lines, s, x, i):
                    M = max(M, sign * bound[x])
            x += 1
    low, high = (extreme, v) if sign > 0.0 else (v, extreme)
    T = min(
        T,
        sign * _middle(s.lcb[low], s.ucb[low] - s.lcb[low], s.ucb[high], s.ucb[high] - s.lcb[high]),
    )
    return sign * T, sign * max(M, T)


@inlined
def _stay_in_cluster(lines: Lines, s: Ranking, p: int, clusters: int, J: int) -> None:
    """Start pick p's lines: its mean stays within its cluster's borders."""
    taken, home = s.taken[lines.pick[p]], lines.home[p]
    for row in range(4):
        lines.limits[row, p] = np.inf if row < DOWN else -np.inf
    if home > 0:
        lines.limits[UP, p], lines.limits[UP_END, p] = (
            taken * lines.border[home - 1],
            (taken + J) * lines.border[home - 1],
        )
    if home < clusters - 1:
        lines.limits[DOWN, p], lines.limits[DOWN_END, p] = (
            taken * lines.border[home],
            (taken + J) * lines.border[home],
        )


@inlined
def _stay_beyond(
    lines: Lines, s: Ranking, p: int, bound: float, side: float, stretch: Stretch
) -> None:
    """Narrow pick p's lines: its LCB stays below a bound (side 1), or its UCB above it (side
    -1)."""
    row, taken = UP if side > 0.0 else DOWN, s.taken[lines.pick[p]]
    lines.limits[row, p] = side * min(
        side * lines.limits[row, p], side * taken * bound + stretch.root * math.sqrt(0.5 * taken)
    )
    after = taken + stretch.J
    lines.limits[row + 1, p] = side * min(
        side * lines.limits[row + 1, p],
        side * after * bound + stretch.root * math.sqrt(0.5 * after),
    )


@inlined
def _draw_side(
    lines: Lines, s: Ranking, side: Side, p: int, clusters: int, stretch: Stretch
) -> bool:
    """Draw the lines of pick p, most extreme on a side, and with it those of v on that side; False
    if v is not beyond M."""
    v, extreme, sign = lines.pick[0], lines.pick[p], side.sign
    T, M = _limits(lines, s, side, v, extreme, lines.home[p], stretch.growth)
    if (s.ucb[v] if sign > 0.0 else -s.lcb[v]) <= sign * M:
        return False
    _stay_in_cluster(lines, s, p, clusters, stretch.J)
    _stay_beyond(lines, s, p, T, sign, stretch)
    _stay_beyond(lines, s, 0, M, -sign, stretch)
    return True


@inlined
def draw_lines(run: Run, lines: Lines, v: int, home: int, clusters: int, J: int) -> bool:
    """Find the picks of round ROUND + 1, whose bounds are known, and the lines within which J
    rounds pull them; False if it must be judged by the rule.

    v is in `home`, one of the open clusters, whose ends are known.
    """
    s, log_term = run.ranking, run.terms[LOG_TERM]
    if not _set_borders(lines, s, clusters):
        return False
    stretch = Stretch(J, math.sqrt(log_term), 1.5 * J / (log_term * (run.clock[ROUND] + 1)))
    lines.pick[0], lines.home[0] = v, home
    _stay_in_cluster(lines, s, 0, clusters, J)
    before, after = Side(1.0, 0, 0, home), Side(-1.0, v + 1, home + 1, clusters)
    least, home_least, tied_least = _most_extreme(lines, s.lcb, before)
    greatest, home_greatest, tied_greatest = _most_extreme(lines, s.ucb, after)
    if tied_least or tied_greatest:
        return False
    _gather_bystanders(lines, s, clusters, v, least, greatest)
    if least >= 0:
        lines.pick[1], lines.home[1] = least, home_least
        if not _draw_side(lines, s, before, 1, clusters, stretch):
            return False
    if greatest >= 0:
        p = 2 if least >= 0 else 1
        lines.pick[p], lines.home[p] = greatest, home_greatest
        if not _draw_side(lines, s, after, p, clusters, stretch):
            return False
    return True


@inlined
def narrowest(lines: Lines, s: Ranking, number: int) -> float:
    """Return the smallest distance of a pick's sum from its lines."""
    H = np.inf
    for p in range(number):
        S = s.total[lines.pick[p]]
        H = min(H, min(lines.limits[UP, p] - S, S - lines.limits[DOWN, p]))
    return H
