"""LUCB while one arm only is in question, its cluster's last, for rewards 0 and 1: rounds by the
word.

Legend as in `rai_sim.algorithms.lucb.rule`. One cluster still wants an arm and has one left, v. So
v is nearest, weakest and strongest, and a round pulls v, the arm l of least LCB among all ranked
before v and the arm u of greatest UCB among all ranked after (one of them may be missing). The best
arm of many is found like that, and the last arm of any task. Only the cuts of the ranking matter
here, not the order of arms within a cluster.

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

The first j after which some arm may be off its chords ends the stretch. Whether it is reached is
known from the first j bits of the three words, so the bits after them remain the arms' next
rewards.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.lucb.corridors import exit_budget
from rai_sim.algorithms.lucb.rule import Ranking, compute_bounds, see_ranked
from rai_sim.algorithms.lucb.run import JUMPS, MOST, PICKS, PULLS, RANKED, ROUND, SAME, WORTH, Run
from rai_sim.engine import law as laws
from rai_sim.engine.history import keep_state, next_asked
from rai_sim.engine.jit import for_words, inlined
from rai_sim.engine.partition import Partition
from rai_sim.engine.sampling import bits_set, lanes
from rai_sim.engine.stop import raised
from rai_sim.engine.streams import State
from rai_sim.engine.vectors import LANES, LONGEST_RISE, first_lane, walk_above

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_0 = np.uint64(0)
#: Arms with more pulls are left to corridors: their chords could not be compared in 256ths.
_MOST_TAKEN = 2.0**40
#: Taken off a room, in rewards, for all rounding.
_MARGIN = 2.0 / 256.0
#: Rows of `Challenge.lines`: limits of a pick's sum now and J pulls later.
_UP, _UP_END, _DOWN, _DOWN_END = 0, 1, 2, 3


class Challenge(NamedTuple):
    """Memory of a block."""

    # By rank: rewards that have been drawn and not used, lowest bit first, and how many, up to 128.
    next: NDArray[np.uint64]
    after: NDArray[np.uint64]
    drawn: NDArray[np.int64]
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
    lines: NDArray[np.float64]  # (4, 3)


def new_challenge(N: int, m: int) -> Challenge:
    """Allocate."""
    return Challenge(
        np.empty(N, np.uint64),
        np.empty(N, np.uint64),
        np.empty(N, np.int64),
        np.empty(m, np.int64),
        np.empty(m),
        np.empty(m),
        np.empty(m),
        np.empty(3, np.int64),
        np.empty(3, np.int64),
        np.empty((4, 3)),
    )


@inlined
def arm_in_question(run: Run) -> int:
    """Return the rank of the one arm on which all open questions hinge, -1 if there is none."""
    part, rank, p0 = run.part, -1, 0
    if run.rule.as_printed or run.clock[RANKED] < 2 or not laws.has_words(run.law):
        return -1
    for i in range(part.open_sizes.size):
        if part.found[i] < part.required[i]:
            if rank >= 0 or part.open_sizes[i] != 1:
                return -1
            rank = p0
        p0 += part.open_sizes[i]
    return rank


@inlined
def _have_word(law: Any, s: Ranking, k: Challenge, x: int, state: State) -> State:
    """Draw rewards until 64 are there."""
    have = k.drawn[x]
    if have < LANES:
        word, state = laws.word(law, s.arm_of[s.order[x]], int(s.taken[x]) + have, state)
        if have == 0:
            k.next[x] = word
        else:
            k.next[x] |= word << np.uint64(have)
            k.after[x] = word >> np.uint64(LANES - have)
        k.drawn[x] = have + LANES
    return state


@inlined
def _take(s: Ranking, k: Challenge, x: int, j: int) -> None:
    """Pull arm x j times, 1 to 64."""
    s.total[x] += bits_set(k.next[x] & lanes(0, j))
    s.taken[x] += j
    s.mean[x] = s.total[x] / s.taken[x]
    left = k.drawn[x] - j
    after = k.after[x] if k.drawn[x] > LANES else _0
    if j == LANES:
        k.next[x] = after
    else:
        k.next[x] = (k.next[x] >> np.uint64(j)) | (after << np.uint64(LANES - j))
        k.after[x] = after >> np.uint64(j)
    k.drawn[x] = left


@inlined
def _steps_inside(k: Challenge, p: int, word: np.uint64, S: float, J: int) -> int:
    """Return after how many of J pulls the sum of pick p may first be off its lines."""
    rise, fall = (
        (k.lines[_UP_END, p] - k.lines[_UP, p]) / J,
        (k.lines[_DOWN_END, p] - k.lines[_DOWN, p]) / J,
    )
    suspects = _over(word, k.lines[_UP, p] - S, rise) | _over(
        ~word, S - k.lines[_DOWN, p], 1.0 - fall
    )
    return min(first_lane(suspects) + 1, J)


@inlined
def _over(steps: np.uint64, room: float, slope: float) -> np.uint64:
    """Return the pulls after which the steps may have reached room + j slope."""
    start = room - _MARGIN
    if slope < 0.0:
        start, slope = start + LANES * slope, 0.0
    if start >= LANES:
        return _0
    if start < 0.0:
        return _ALL
    return walk_above(steps, _0, int(start * 256.0), min(int(slope * 256.0), LONGEST_RISE))


@inlined
def _middle(low: float, at_low: float, high: float, at_high: float) -> float:
    """Return a number between two, farther from the one whose arm moves more."""
    return low + (high - low) * at_low / (at_low + at_high)


@inlined
def _set_borders(k: Challenge, s: Ranking, clusters: int) -> bool:
    """Put a border between the means of neighbouring clusters; False if arms have crossed or
    met."""
    x, low, at_low = 0, np.inf, 0
    for c in range(clusters):
        next_low, at_next_low, high, at_high = np.inf, 0, -np.inf, 0
        while x < k.end[c]:
            mean = s.mean[x]
            if mean < next_low:
                next_low, at_next_low = mean, x
            if mean > high:
                high, at_high = mean, x
            x += 1
        if c > 0:
            if low <= high:
                return False
            k.border[c - 1] = _middle(
                high, s.ucb[at_high] - s.lcb[at_high], low, s.ucb[at_low] - s.lcb[at_low]
            )
        low, at_low = next_low, at_next_low
    return True


@inlined
def _find_clusters(k: Challenge, part: Partition, v: int) -> tuple[int, int]:
    """Note where the open clusters end; return how many there are, and which one holds v."""
    clusters, home, p1 = 0, 0, 0
    for i in range(part.open_sizes.size):
        if part.open_sizes[i] > 0:
            if p1 == v:
                home = clusters
            p1 += part.open_sizes[i]
            k.end[clusters] = p1
            clusters += 1
    return clusters, home


@inlined
def _most_extreme(
    k: Challenge, bound: NDArray[np.float64], side: float, x: int, first: int, stop: int
) -> tuple[int, int, bool]:
    """Return of the arms in clusters first..stop-1, ranked from x on, the one of least bound (side
    1) or greatest (side -1).

    That is its rank, -1 if there is no arm; its cluster; and whether another arm has the same
    bound.
    """
    extreme, home, tied = -1, 0, False
    for c in range(first, stop):
        while x < k.end[c]:
            if extreme < 0 or side * bound[x] < side * bound[extreme]:
                extreme, home, tied = x, c, False
            elif bound[x] == bound[extreme]:
                tied = True
            x += 1
    return extreme, home, tied


@inlined
def _gather_bystanders(
    k: Challenge, s: Ranking, clusters: int, v: int, least: int, greatest: int
) -> None:
    """Find the least LCB of the clusters before each, and the greatest UCB of those after it, of
    arms that are not picked."""
    low, x = np.inf, 0
    for c in range(clusters):
        k.least_before[c], high = low, -np.inf
        while x < k.end[c]:
            if x != v and x != least and x != greatest:
                low, high = min(low, s.lcb[x]), max(high, s.ucb[x])
            x += 1
        k.greatest_after[c] = high
    high = -np.inf
    for c in range(clusters - 1, -1, -1):
        k.greatest_after[c], high = high, max(high, k.greatest_after[c])


@inlined
def _held(k: Challenge, s: Ranking, x: int, c: int) -> bool:
    """Whether an arm that is not picked, of cluster c, is kept from being settled by others
    such."""
    return s.lcb[x] <= k.greatest_after[c] or s.ucb[x] >= k.least_before[c]


@inlined
def _limits(
    k: Challenge,
    s: Ranking,
    v: int,
    extreme: int,
    home_extreme: int,
    side: float,
    x: int,
    first: int,
    stop: int,
    growth: float,
) -> tuple[float, float]:
    """Return T and M of the arms before v (side 1), in clusters first..stop-1 and ranked from x on;
    or T' and M' of those after it."""
    bound = s.lcb if side > 0.0 else s.ucb
    T, M = np.inf, side * bound[extreme]
    for c in range(first, stop):
        while x < k.end[c]:
            if x != extreme:
                T = min(T, side * bound[x] - growth * 0.5 * (s.ucb[x] - s.lcb[x]))
                if (c <= home_extreme if side > 0.0 else c >= home_extreme) and not _held(
                    k, s, x, c
                ):
                    M = max(M, side * bound[x])
            x += 1
    low, high = (extreme, v) if side > 0.0 else (v, extreme)
    T = min(
        T,
        side * _middle(s.lcb[low], s.ucb[low] - s.lcb[low], s.ucb[high], s.ucb[high] - s.lcb[high]),
    )
    return side * T, side * max(M, T)


@inlined
def _stay_in_cluster(k: Challenge, s: Ranking, p: int, clusters: int, J: int) -> None:
    """Start pick p's lines: its mean stays within its cluster's borders."""
    taken, home = s.taken[k.pick[p]], k.home[p]
    for row in range(4):
        k.lines[row, p] = np.inf if row < _DOWN else -np.inf
    if home > 0:
        k.lines[_UP, p], k.lines[_UP_END, p] = (
            taken * k.border[home - 1],
            (taken + J) * k.border[home - 1],
        )
    if home < clusters - 1:
        k.lines[_DOWN, p], k.lines[_DOWN_END, p] = (
            taken * k.border[home],
            (taken + J) * k.border[home],
        )


@inlined
def _stay_beyond(
    k: Challenge, s: Ranking, p: int, bound: float, side: float, root: float, J: int
) -> None:
    """Narrow pick p's lines: its LCB stays below a bound (side 1), or its UCB above it (side
    -1)."""
    row, taken = _UP if side > 0.0 else _DOWN, s.taken[k.pick[p]]
    k.lines[row, p] = side * min(
        side * k.lines[row, p], side * taken * bound + root * math.sqrt(0.5 * taken)
    )
    after = taken + J
    k.lines[row + 1, p] = side * min(
        side * k.lines[row + 1, p], side * after * bound + root * math.sqrt(0.5 * after)
    )


@inlined
def _watch(
    k: Challenge,
    s: Ranking,
    p: int,
    extreme: int,
    home: int,
    T: float,
    M: float,
    side: float,
    clusters: int,
    root: float,
    J: int,
) -> bool:
    """Let `extreme` be pick p, whose bound stays beyond T, that of v beyond M; False if v's is
    not."""
    v = k.pick[0]
    if (s.ucb[v] if side > 0.0 else -s.lcb[v]) <= side * M:
        return False
    k.pick[p], k.home[p] = extreme, home
    _stay_in_cluster(k, s, p, clusters, J)
    _stay_beyond(k, s, p, T, side, root, J)
    _stay_beyond(k, s, 0, M, -side, root, J)
    return True


@inlined
def _draw_lines(
    run: Run, k: Challenge, v: int, home: int, clusters: int, J: int, log_term: float
) -> bool:
    """Find the picks of round ROUND + 1 and the lines within which J rounds pull them; False if it
    must be judged by the rule.

    v is in `home`, one of the open clusters, whose ends are known.
    """
    s = run.ranking
    if not _set_borders(k, s, clusters):
        return False
    growth, root = 1.5 * J / (log_term * (run.clock[ROUND] + 1)), math.sqrt(log_term)
    k.pick[0], k.home[0] = v, home
    _stay_in_cluster(k, s, 0, clusters, J)
    least, home_least, tied_least = _most_extreme(k, s.lcb, 1.0, 0, 0, home)
    greatest, home_greatest, tied_greatest = _most_extreme(
        k, s.ucb, -1.0, v + 1, home + 1, clusters
    )
    if tied_least or tied_greatest:
        return False
    _gather_bystanders(k, s, clusters, v, least, greatest)
    if least >= 0:
        T, M = _limits(k, s, v, least, home_least, 1.0, 0, 0, home, growth)
        if not _watch(k, s, 1, least, home_least, T, M, 1.0, clusters, root, J):
            return False
    if greatest >= 0:
        T, M = _limits(k, s, v, greatest, home_greatest, -1.0, v + 1, home + 1, clusters, growth)
        if not _watch(
            k, s, 2 if least >= 0 else 1, greatest, home_greatest, T, M, -1.0, clusters, root, J
        ):
            return False
    return True


@inlined
def _narrowest(k: Challenge, s: Ranking, number: int) -> float:
    """Return the smallest distance of a pick's sum from its lines."""
    H = np.inf
    for p in range(number):
        S = s.total[k.pick[p]]
        H = min(H, min(k.lines[_UP, p] - S, S - k.lines[_DOWN, p]))
    return H


@inlined
def _longest_stretch(law: Any, s: Ranking, n: int, R: int) -> int:
    """Return for how many rounds after R lines are drawn: few at first, as radii change fast, and
    never more than the rewards there are."""
    J = np.float64(LANES if R >= 16 * LANES else max(R // 16, 1))
    most = min(np.float64(laws.pulls_available(law)), _MOST_TAKEN)
    for x in range(n):
        J = min(J, most - s.taken[x])
    return int(J)


def _no_rounds(run: Run, k: Challenge, same_if_wide: int, state: State) -> State:
    return state


@for_words(_no_rounds)
def advance(run: Run, k: Challenge, same_if_wide: int, state: State) -> State:
    """Judge the rounds that follow and pull their picks. The arms are to be ranked again.

    It stops before a round that may settle an arm or change a cluster, that the cap or the
    recording does not pay for, and where corridors would take the picks much further; these then
    count as having been the same for `same_if_wide` rounds.
    """
    law, s, clock, history = run.law, run.ranking, run.clock, run.history
    n, v = clock[RANKED], arm_in_question(run)
    clusters, home = _find_clusters(k, run.part, v)
    budget = exit_budget(law, clock[PICKS], run.setting.skip_error, clock[JUMPS] + 1)
    worth = run.terms[WORTH]
    number = 1 + (v > 0) + (v < n - 1)
    clock[SAME] = 0
    for x in range(n):
        k.drawn[x] = 0
    while not raised(history.stop):
        R = clock[ROUND] + 1
        if next_asked(history) <= R:
            see_ranked(history, s, n, clock[PULLS])
            keep_state(history, R)
        log_term = math.log(run.rule.scale * R * R * R)
        compute_bounds(s, n, log_term, 1.0)
        J = min(_longest_stretch(law, s, n, R), (clock[MOST] - clock[PULLS]) // number)
        if J < 1:  # more pulls than lines can be drawn for: corridors can
            clock[SAME] = same_if_wide
            break
        if not _draw_lines(run, k, v, home, clusters, J, log_term):
            break
        H = _narrowest(k, s, number)
        if max(H, H * H / budget) > worth:
            clock[SAME] = same_if_wide
            break
        j = J
        for p in range(number):
            x = k.pick[p]
            state = _have_word(law, s, k, x, state)
            j = min(j, _steps_inside(k, p, k.next[x], s.total[x], J))
        for p in range(number):
            _take(s, k, k.pick[p], j)
        clock[ROUND] += j
        clock[PULLS] += j * number
    return state
