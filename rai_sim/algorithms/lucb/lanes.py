"""LUCB's plain rounds for few arms and few open clusters, one arm a lane of a vector.

Legend as in `rai_sim.algorithms.lucb.rule`. Rewards are 0 or 1 here and come from words. A stretch
of rounds starts from the ranking, one lane a rank, and ends before a round that may settle an arm,
that may not be pulled, or after some with the same picks, which corridors may take further. Within
it, the arms of a cluster are a mask; the ranking is not kept up, as only its cuts matter:

Cuts. Between two open clusters lies a border, and every mean above it belongs to an arm of the
clusters before it, every mean below to one of those after it. Only picks move; when one of them
reaches a border, the arms next to it are compared and exchanged as ranks are, ties going to the
smaller label, until each cluster holds the arms that the ranking would give it.

Every number that counts is computed by the operations of the definition, or by others that round
alike, so the rounds are those of `rai_sim.algorithms.lucb.rule`. Whom a round pulls is for
`rai_sim.algorithms.lucb.lane_picks` to say. The arms' numbers stay in registers; of the places where
arms are looked at one by one, the seldom ones, each puts into memory what it looks at.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rai_sim.algorithms.lucb.arm_vectors import (
    ARMS,
    MOST_TAKEN,
    VECTOR,
    Doubles,
    Words,
    any_outside,
    any_used_up,
    bounds,
    doubles_at,
    either,
    everywhere,
    greatest_in,
    lanes_at_least,
    lanes_at_most,
    least_in,
    look_ahead_8,
    look_ahead_12,
    look_ahead_16,
    near_bounds,
    near_roots,
    number_of,
    pull_lanes,
    put_doubles,
    put_words,
    seldom,
    words_at,
)
from rai_sim.algorithms.lucb.lane_picks import Lanes, find_picks, outermost, sure_picks
from rai_sim.algorithms.lucb.rule import Ranking
from rai_sim.algorithms.lucb.run import MOST, PULLS, RANKED, ROUND, SAME, Run
from rai_sim.engine import law as laws
from rai_sim.engine.history import keep_state, next_asked, see_arm, stopped_at
from rai_sim.engine.jit import for_words, inlined, kernel
from rai_sim.engine.partition import Partition
from rai_sim.engine.ranking import ranks_before
from rai_sim.engine.sampling import bits_set
from rai_sim.engine.streams import State
from rai_sim.engine.vectors import address_of, first_lane

#: Rounds whose logarithms are kept.
_KEPT = 1 << 13
#: More open clusters are better judged arm by arm (measured).
_MOST_CLUSTERS = 4
_0, _1, _63 = (np.uint64(number) for number in (0, 1, 63))
_END = np.uint64(1 << 63)
#: Rows of `Lanes.values`: n_a, sum of rewards, empirical mean, and the borders of the arm's cluster,
#: below and above its means.
_TAKEN, _TOTAL, _MEAN, _LOWER, _UPPER = 0, 1, 2, 3, 4
_ROWS = 5


def new_lanes() -> Lanes:
    """Allocate."""
    return Lanes(
        values=np.zeros((_ROWS + 1) * ARMS),
        words=np.empty(2 * ARMS, np.uint64),
        label=np.empty(ARMS, np.int64),
        logs=np.zeros(_KEPT),
        members=np.empty(_MOST_CLUSTERS, np.uint64),
        wants=np.empty(_MOST_CLUSTERS, np.bool_),
        border=np.empty(_MOST_CLUSTERS),
        greatest_at=np.empty(_MOST_CLUSTERS, np.uint64),
        beyond_at=np.empty(_MOST_CLUSTERS, np.uint64),
    )


@inlined
def fit_lanes(run: Run) -> bool:
    """Whether the active arms can be judged in lanes."""
    part = run.part
    if run.rule.as_printed or run.clock[RANKED] > ARMS or not laws.has_words(run.law):
        return False
    clusters = 0
    for i in range(part.open_sizes.size):
        clusters += part.open_sizes[i] > 0
    return clusters <= _MOST_CLUSTERS


@inlined
def _log_term(lanes: Lanes, scale: float, R: int) -> float:
    """Return ln(scale R^3)."""
    if R >= _KEPT:
        return math.log(scale * R * R * R)
    if lanes.logs[R] == 0.0:
        lanes.logs[R] = math.log(scale * R * R * R)
    return lanes.logs[R]


@inlined
def _aligned(address: np.uint64) -> np.uint64:
    return (address + _63) & ~_63


@inlined
def _row(base: np.uint64, row: int) -> np.uint64:
    """Return the address of a row of the values."""
    return base + np.uint64(row) * VECTOR


@kernel
def _cut(lanes: Lanes, clusters: int, base: np.uint64, at_mean: int) -> None:
    """Exchange arms across borders until every cluster holds those of its ranks, and set the
    borders anew."""
    means, moved = doubles_at(_row(base, _MEAN)), True
    while moved:
        moved = False
        for i in range(clusters - 1):
            above, below = lanes.members[i], lanes.members[i + 1]
            least, greatest = least_in(means, above), greatest_in(means, below)
            last, first = lanes_at_most(means, above, least), lanes_at_least(means, below, greatest)
            low, high = number_of(least), number_of(greatest)
            a, b = outermost(lanes, last, at_mean, False), outermost(lanes, first, at_mean, True)
            if ranks_before(high, lanes.label[first_lane(b)], low, lanes.label[first_lane(a)]):
                lanes.members[i], lanes.members[i + 1] = above ^ a ^ b, below ^ a ^ b
                moved = True
            lanes.border[i] = 0.5 * (low + high)
    lower, upper = everywhere(-np.inf), everywhere(np.inf)
    for i in range(clusters - 1):
        lower = either(lanes.members[i], everywhere(lanes.border[i]), lower)
        upper = either(lanes.members[i + 1], everywhere(lanes.border[i]), upper)
    put_doubles(lower, _row(base, _LOWER))
    put_doubles(upper, _row(base, _UPPER))


@inlined
def _enter(lanes: Lanes, s: Ranking, part: Partition, n: int, first: int) -> int:
    """Lay the ranking out in lanes, at index `first` of the values; return the number of open
    clusters."""
    for x in range(ARMS):
        y = min(x, n - 1)  # lanes beyond the arms hold numbers too, never looked at
        (
            lanes.values[first + _TAKEN * ARMS + x],
            lanes.values[first + _TOTAL * ARMS + x],
            lanes.values[first + _MEAN * ARMS + x],
        ) = (
            s.taken[y],
            s.total[y],
            s.mean[y],
        )
        lanes.label[x] = s.order[y]
    clusters, p1 = 0, _0
    for i in range(part.open_sizes.size):
        if part.open_sizes[i] > 0:
            p0 = p1
            p1 += np.uint64(part.open_sizes[i])
            lanes.members[clusters] = (_1 << p1) - (_1 << p0)
            lanes.wants[clusters] = part.found[i] < part.required[i]
            clusters += 1
    return clusters


@inlined
def _leave(lanes: Lanes, s: Ranking, n: int, first: int) -> None:
    """Copy the arms back, in the order of lanes; they are to be ranked again."""
    for x in range(n):
        s.taken[x], s.total[x], s.mean[x] = (
            lanes.values[first + _TAKEN * ARMS + x],
            lanes.values[first + _TOTAL * ARMS + x],
            lanes.values[first + _MEAN * ARMS + x],
        )


@inlined
def _refill(
    law: Any, s: Ranking, lanes: Lanes, picks: np.uint64, first: int, first_word: int, state: State
) -> State:
    """Draw a word for each of the picks whose word is used up; 63 of its bits are used."""
    while picks != _0:
        x = first_lane(picks)
        if lanes.words[first_word + x] == _1:
            word, state = laws.word(
                law, s.arm_of[lanes.label[x]], int(lanes.values[first + x]), state
            )
            lanes.words[first_word + x] = word | _END
        picks &= picks - _1
    return state


@inlined
def _see(
    run: Run, lanes: Lanes, n: int, base: np.uint64, first: int, taken: Doubles, mean: Doubles
) -> None:
    """Note the arms' states, for a trace."""
    put_doubles(taken, _row(base, _TAKEN))
    put_doubles(mean, _row(base, _MEAN))
    for x in range(n):
        see_arm(
            run.history,
            run.ranking.arm_of[lanes.label[x]],
            lanes.values[first + _MEAN * ARMS + x],
            int(lanes.values[first + x]),
            run.clock[PULLS],
        )


@inlined
def _look_ahead(taken: Doubles, total: Doubles, words: Words, n: int) -> tuple[Doubles, Doubles]:
    """Find what each arm's mean and root will be after one more pull.

    Whom this round pulls is not known yet: divisions and roots are under way while the bounds of
    this round are compared.
    """
    if n > 12:
        return look_ahead_16(taken, total, words)
    if n > 8:
        return look_ahead_12(taken, total, words)
    return look_ahead_8(taken, total, words)


def _no_rounds(run: Run, lanes: Lanes, same_limit: int, state: State) -> State:
    return state


@for_words(_no_rounds)
def advance(run: Run, lanes: Lanes, same_limit: int, state: State) -> State:
    """Judge the rounds that follow and pull their picks; note how often these have been the same.
    The arms are to be ranked again.

    It stops before a round that may settle an arm, that the cap or the recording does not pay for,
    and after `same_limit` rounds with the same picks; and where an arm has more pulls than
    quotients are right for: the picks then count as having been the same for so many rounds, as
    corridors can go on.
    """
    law, s, clock, history = run.law, run.ranking, run.clock, run.history
    n, R, pulls, most, scale = (
        clock[RANKED],
        clock[ROUND],
        clock[PULLS],
        clock[MOST],
        run.rule.scale,
    )
    base, word_at = _aligned(address_of(lanes.values)), _aligned(address_of(lanes.words))
    first, first_word = (
        int((base - address_of(lanes.values)) >> np.uint64(3)),
        int((word_at - address_of(lanes.words)) >> np.uint64(3)),
    )
    clusters, at_mean = _enter(lanes, s, run.part, n, first), first + _MEAN * ARMS
    available = min(np.float64(laws.pulls_available(law)), MOST_TAKEN)
    room = available
    for x in range(ARMS):
        lanes.words[first_word + x] = _1
        room = min(room, available - lanes.values[first + x])
    _cut(lanes, clusters, base, at_mean)
    taken, total, mean, words = (
        doubles_at(_row(base, _TAKEN)),
        doubles_at(_row(base, _TOTAL)),
        doubles_at(_row(base, _MEAN)),
        words_at(word_at),
    )
    root = near_roots(taken)
    picks, same, stop = _0, 0, R + int(room)
    while stop > R and not stopped_at(history, R, pulls, n):
        if seldom(next_asked(history) <= R + 1):
            clock[PULLS] = pulls
            _see(run, lanes, n, base, first, taken, mean)
            keep_state(history, R + 1)
        log_term = _log_term(lanes, scale, R + 1)
        low, high = near_bounds(mean, root, math.sqrt(log_term))
        new_mean, new_root = _look_ahead(taken, total, words, n)
        if clusters == 3:  # most often; without loops
            wanted, sure = sure_picks(lanes, 3, low, high)
        else:
            wanted, sure = sure_picks(lanes, clusters, low, high)
        if seldom(not sure):
            put_doubles(mean, _row(base, _MEAN))
            low, high = bounds(mean, taken, log_term)
            wanted = find_picks(lanes, clusters, low, high, at_mean)
        same = same + 1 if wanted == picks else 0
        picks = wanted
        number = bits_set(picks)
        if picks == _0 or number > most - pulls:
            break
        if seldom(any_used_up(words, picks)):
            put_doubles(taken, _row(base, _TAKEN))
            put_words(words, word_at)
            state = _refill(law, s, lanes, picks, first, first_word, state)
            words = words_at(word_at)
            new_mean, new_root = _look_ahead(taken, total, words, n)
        taken, total, words = pull_lanes(taken, total, words, picks)
        mean, root = either(picks, new_mean, mean), either(picks, new_root, root)
        R += 1
        pulls += number
        lower, upper = doubles_at(_row(base, _LOWER)), doubles_at(_row(base, _UPPER))
        if seldom(any_outside(mean, picks, lower, upper)):
            put_doubles(mean, _row(base, _MEAN))
            _cut(lanes, clusters, base, at_mean)
        if same >= same_limit:
            break
    if stop <= R and available == MOST_TAKEN:
        same = same_limit
    put_doubles(taken, _row(base, _TAKEN))
    put_doubles(total, _row(base, _TOTAL))
    put_doubles(mean, _row(base, _MEAN))
    _leave(lanes, s, n, first)
    clock[ROUND], clock[PULLS], clock[SAME] = R, pulls, same
    return state
