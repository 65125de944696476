"""LUCB's plain rounds for few arms and few open clusters, one arm a lane of a vector.

Legend as in `rai_sim.algorithms.lucb.rule`. Rewards are 0 or 1 here and come from words. A stretch
of rounds starts from the ranking, one lane a rank, and ends before a round that may settle an arm,
that may not be pulled, or after some with the same picks, which corridors may take further. Within
it, the arms of a cluster are a mask; the ranking is not kept up, as only its cuts matter:

Cuts. Between two open clusters lies a border, and every mean above it belongs to an arm of the
clusters before it, every mean below to one of those after it. Only picks move; when one of them
reaches a border, the arms next to it are compared and exchanged as ranks are, ties going to the
smaller label, until each cluster holds the arms that the ranking would give it.

Every number is computed by the operations of the definition, or by others that round alike, and
among equals the first in the ranking is taken, so the rounds are those of `rai_sim.algorithms.lucb.rule`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.lucb.arm_vectors import (
    ARMS,
    HIGH,
    LOW,
    MEAN,
    MOST_TAKEN,
    ROWS,
    TAKEN,
    TOTAL,
    VECTOR,
    first_bounds,
    greatest_in,
    lanes_at_least,
    lanes_at_most,
    least_gap,
    least_in,
    look_ahead_4,
    look_ahead_8,
    pull_lanes,
    used_up,
)
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
#: Half of a vector, in lanes and in bytes.
_HALF, _HALF_BYTES = ARMS // 2, np.uint64(4 * ARMS)


class Lanes(NamedTuple):
    """Memory of a block. A vector begins at a multiple of 64 bytes, so the arrays are a little
    longer."""

    values: NDArray[np.float64]  # by lane: the rows of `arm_vectors`
    words: NDArray[np.uint64]  # by lane: rewards to come, lowest first, and a 1 behind the last
    label: NDArray[np.int64]  # by lane
    # by round: ln(pi^2 R^3 N / (3 delta)), 0 where not yet computed; a block has but one N / delta
    logs: NDArray[np.float64]
    # By open cluster, best first:
    members: NDArray[np.uint64]  # lanes
    wants: NDArray[np.bool_]
    border: NDArray[np.float64]  # between its means and those of the next one
    greatest: NDArray[np.float64]  # UCB
    greatest_at: NDArray[np.uint64]  # lanes that attain it
    beyond: NDArray[np.float64]  # U_i
    beyond_at: NDArray[np.uint64]  # lanes that attain it


def new_lanes() -> Lanes:
    """Allocate."""
    return Lanes(
        values=np.zeros((ROWS + 1) * ARMS),
        words=np.empty(2 * ARMS, np.uint64),
        label=np.empty(ARMS, np.int64),
        logs=np.zeros(_KEPT),
        members=np.empty(_MOST_CLUSTERS, np.uint64),
        wants=np.empty(_MOST_CLUSTERS, np.bool_),
        border=np.empty(_MOST_CLUSTERS),
        greatest=np.empty(_MOST_CLUSTERS),
        greatest_at=np.empty(_MOST_CLUSTERS, np.uint64),
        beyond=np.empty(_MOST_CLUSTERS),
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
def _first_of(lanes: Lanes, tied: np.uint64, at_mean: int) -> np.uint64:
    """Return the one of some lanes that is first in the ranking."""
    return tied if tied & (tied - _1) == _0 else _outermost(lanes, tied, at_mean, True)


@kernel
def _outermost(lanes: Lanes, tied: np.uint64, at_mean: int, first: bool) -> np.uint64:
    """Return the one of some lanes, at least one, that is first or last in the ranking."""
    found = first_lane(tied)
    rest = tied & (tied - _1)
    while rest != _0:
        x = first_lane(rest)
        if first == ranks_before(
            lanes.values[at_mean + x],
            lanes.label[x],
            lanes.values[at_mean + found],
            lanes.label[found],
        ):
            found = x
        rest &= rest - _1
    return _1 << np.uint64(found)


@kernel
def _cut(lanes: Lanes, clusters: int, mean: np.uint64, at_mean: int) -> None:
    """Exchange arms across borders until every cluster holds those of its ranks, and set the
    borders anew."""
    moved = True
    while moved:
        moved = False
        for i in range(clusters - 1):
            above, below = lanes.members[i], lanes.members[i + 1]
            low, last = least_in(mean, above)
            high, first = greatest_in(mean, below)
            a, b = _outermost(lanes, last, at_mean, False), _outermost(lanes, first, at_mean, True)
            if ranks_before(high, lanes.label[first_lane(b)], low, lanes.label[first_lane(a)]):
                lanes.members[i], lanes.members[i + 1] = above ^ a ^ b, below ^ a ^ b
                moved = True
            lanes.border[i] = 0.5 * (low + high)


@inlined
def _enter(lanes: Lanes, s: Ranking, part: Partition, n: int, first: int) -> int:
    """Lay the ranking out in lanes, at index `first` of the values; return the number of open
    clusters."""
    for x in range(ARMS):
        y = min(x, n - 1)  # lanes beyond the arms hold numbers too, never looked at
        (
            lanes.values[first + TAKEN * ARMS + x],
            lanes.values[first + TOTAL * ARMS + x],
            lanes.values[first + MEAN * ARMS + x],
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
            lanes.values[first + TAKEN * ARMS + x],
            lanes.values[first + TOTAL * ARMS + x],
            lanes.values[first + MEAN * ARMS + x],
        )


@inlined
def _refill(
    law: Any, s: Ranking, lanes: Lanes, empty: np.uint64, first: int, first_word: int, state: State
) -> State:
    """Draw a word for each of some lanes; 63 of its bits are used."""
    while empty != _0:
        x = first_lane(empty)
        word, state = laws.word(law, s.arm_of[lanes.label[x]], int(lanes.values[first + x]), state)
        lanes.words[first_word + x] = word | _END
        empty &= empty - _1
    return state


@kernel
def _look_ahead(base: np.uint64, words: np.uint64, n: int, log_term: float) -> None:
    """Find what each arm's mean and bounds will be in the next round, pulled or not.

    Whom this round pulls is not known yet: divisions and roots, of which there are four an arm,
    are under way while the bounds of this round are compared.
    """
    look_ahead_8(base, words, log_term)
    if n > _HALF + _HALF // 2:
        look_ahead_8(base + _HALF_BYTES, words + _HALF_BYTES, log_term)
    elif n > _HALF:
        look_ahead_4(base + _HALF_BYTES, words + _HALF_BYTES, log_term)


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
    law, s, part, clock, history = run.law, run.ranking, run.part, run.clock, run.history
    n, R, pulls, most, scale = (
        clock[RANKED],
        clock[ROUND],
        clock[PULLS],
        clock[MOST],
        run.rule.scale,
    )
    base, words = _aligned(address_of(lanes.values)), _aligned(address_of(lanes.words))
    first, first_word = (
        int((base - address_of(lanes.values)) >> np.uint64(3)),
        int((words - address_of(lanes.words)) >> np.uint64(3)),
    )
    mean, low, high = (
        base + np.uint64(MEAN) * VECTOR,
        base + np.uint64(LOW) * VECTOR,
        base + np.uint64(HIGH) * VECTOR,
    )
    clusters = _enter(lanes, s, part, n, first)
    at_mean = first + MEAN * ARMS
    available = min(np.float64(laws.pulls_available(law)), MOST_TAKEN)
    room = available
    for x in range(ARMS):
        lanes.words[first_word + x] = _1
        room = min(room, available - lanes.values[first + x])
    _cut(lanes, clusters, mean, at_mean)
    first_bounds(base, _log_term(lanes, scale, R + 1))
    picks, same, stop = _0, 0, R + int(room)
    while stop > R and not stopped_at(history, R, pulls, n):
        if next_asked(history) <= R + 1:
            for x in range(n):
                see_arm(
                    history,
                    s.arm_of[lanes.label[x]],
                    lanes.values[at_mean + x],
                    int(lanes.values[first + x]),
                    pulls,
                )
            keep_state(history, R + 1)
        log_term = _log_term(lanes, scale, R + 2)
        _look_ahead(base, words, n, log_term)
        wanted = _find_picks(lanes, clusters, low, high, at_mean)
        same = same + 1 if wanted == picks else 0
        picks = wanted
        number = bits_set(picks)
        if picks == _0 or number > most - pulls:
            break
        empty = used_up(words) & picks
        if empty != _0:
            state = _refill(law, s, lanes, empty, first, first_word, state)
            _look_ahead(base, words, n, log_term)
        pull_lanes(base, words, picks)
        R += 1
        pulls += number
        crossed, above = _0, _0
        for i in range(clusters - 1):
            above |= lanes.members[i]
            crossed |= lanes_at_most(mean, picks & above, lanes.border[i]) | lanes_at_least(
                mean, picks & ~above, lanes.border[i]
            )
        if crossed != _0:
            _cut(lanes, clusters, mean, at_mean)
        if same >= same_limit:
            break
    if stop <= R and available == MOST_TAKEN:
        same = same_limit
    _leave(lanes, s, n, first)
    clock[ROUND], clock[PULLS], clock[SAME] = R, pulls, same
    return state


@inlined
def _find_picks(
    lanes: Lanes, clusters: int, low: np.uint64, high: np.uint64, at_mean: int
) -> np.uint64:
    """Return the lanes to pull, none if an arm may be settled.

    That is `rule.find_opponents` and `rule.settle_and_choose`, minus the settling, with a vector
    for each of the latter's loops: `L` and `before` are its L_i and who attains it, `U` and
    `beyond` U_i; `least_gap` is its nearest arm. An arm of a cluster that wants none may be settled
    if UCB <= L and LCB >= U. Its exceptions, that the first and the last cluster have no strongest
    and weakest arm of their own, are the tests for i; that its picks leave out settled arms does
    not matter, as there are none.
    """
    U, beyond = -np.inf, _0
    for i in range(clusters - 1, -1, -1):
        lanes.beyond[i], lanes.beyond_at[i] = U, beyond
        if i > 0:
            lanes.greatest[i], lanes.greatest_at[i] = greatest_in(high, lanes.members[i])
            if lanes.greatest[i] >= U:
                U, beyond = lanes.greatest[i], lanes.greatest_at[i]
    L, before, picks, settled = np.inf, _0, _0, False
    for i in range(clusters):
        own, U = lanes.members[i], lanes.beyond[i]
        least, least_at = np.inf, _0
        if i < clusters - 1:
            least, least_at = least_in(low, own)
        if lanes.wants[i]:
            gap, nearest = least_gap(low, high, own, L, U)
            settled = settled or gap <= 0.0
            picks |= _first_of(lanes, nearest, at_mean)
            if i > 0:
                picks |= _first_of(lanes, before, at_mean) | _first_of(
                    lanes, lanes.greatest_at[i], at_mean
                )
            if i < clusters - 1:
                picks |= _first_of(lanes, lanes.beyond_at[i], at_mean) | _first_of(
                    lanes, least_at, at_mean
                )
        elif lanes_at_most(high, own, L) & lanes_at_least(low, own, U) != _0:
            settled = True
        if least < L:
            L, before = least, least_at
    return _0 if settled else picks
