"""Near the threshold, for rewards 0 and 1: 64 rounds of an arm as the lanes of one vector.

An arm's 64 rewards are the bits of a word, and the vector of its running counts holds its sum after
each of the rounds. All of them are judged together, after the fact: a pass over the arms near
the border bounds the constrained gap of every round at once (see `rai_sim.engine.certificates`: the
best of the arms now ranked at x or later, less the worst of those now ranked at y or before), and
the first round in which it exceeds a lower bound of W is visited; the rounds before hold no event.
Until then nothing depends on the bits of later rounds, so these remain the arms' next rewards.

Up to sixteen arms are looked at by `rai_sim.engine.few_arms`, with the same results.

Bytes suffice: an arm farther than 64 from where it would matter cannot get there in 64 rounds.

Legend as in `rai_sim.engine.certificates`; j is the number of the word's rounds that are over.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine import law as laws
from rai_sim.engine.certificates import Race
from rai_sim.engine.few_arms import Few, advance_few, lay_out, new_few, suspects_of_few
from rai_sim.engine.jit import for_words, in_place, inlined, kernel
from rai_sim.engine.ranking import ranks_before, repair
from rai_sim.engine.sampling import bits_set, lanes
from rai_sim.engine.streams import State
from rai_sim.engine.sum_vectors import ARMS
from rai_sim.engine.vectors import (
    LANES,
    LONGEST_RISE,
    address_of,
    counts_plus,
    first_lane,
    lanes_above,
    lowered_to,
    new_vectors,
    raised_to,
    store_counts,
)

#: A word of 64 rounds an arm costs about as much as a jump; stretches shorter than this are better
#: walked by words (measured).
WORTH_A_JUMP = 500.0
_VECTOR = np.uint64(LANES)
_NONE, _ALL = np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF)
#: Longer rankings may need more than an insertion sort.
_SHORT = 64
#: Rows of counts that a word's rounds are worth looking at, an arm: to judge each of its rounds by
#: itself costs about as much; and at most, for nobody looks in between whether to stop.
_WORTH_LOOKING, _MOST_LOOKED_AT = 2000, 4_000_000
#: From so many constraints on, so many of them tell beforehand about how many rows all need.
_MANY_CONSTRAINTS, _TRIED = 128, 16


class Words(NamedTuple):
    """The words of N arms, by label."""

    bits: NDArray[np.uint64]  # (max(N, 16),)
    counts: NDArray[np.uint8]  # (N, 64) how many bits are set up to each
    tied: NDArray[np.uint64]  # (2, N + 1) room to draw in
    few: Few  # the sums of up to 16 arms


def new_words(N: int) -> Words:
    """Allocate for N arms."""
    bits = new_vectors((max(N, ARMS),), np.uint64)
    # where there is no arm it stays so: nothing is added to its key; memory that is not written costs
    # many arms nothing
    bits[:ARMS] = 0
    return Words(
        bits=bits,
        counts=new_vectors((N, LANES), np.uint8),
        tied=np.empty((2, N + 1), np.uint64),
        few=new_few(),
    )


# Compiled for laws without words, whose callers come to none of what follows.
def _no_words(race: Race, n: int, pulls: int, state: State) -> State:
    return state


def _no_rounds(race: Race, n: int, j: int, until: int) -> None:
    return None


def _no_suspect(race: Race, n: int, j: int, W: float, W_end: float) -> int:
    return LANES


@for_words(_no_words)
@in_place
def draw_words(race: Race, n: int, pulls: int, state: State) -> State:
    """Draw 64 rewards of each active arm."""
    standings, words = race.standings, race.words
    state = laws.words(
        race.law, standings.order, n, standings.arm_of, pulls, words.bits, words.tied, state
    )
    count_words(words, standings.order, n)
    lay_out(words.few, standings, n)
    return state


@inlined
def count_words(words: Words, labels: NDArray[np.int64], n: int) -> None:
    """Write the running counts of the words of the first n labels."""
    start, bits = address_of(words.counts), words.bits
    for x in range(np.uint64(n)):
        label = labels[x]
        store_counts(_row(start, label), bits[np.uint64(label)])


@inlined
def _row(start: np.uint64, label: int) -> np.uint64:
    """Return the address of an arm's running counts, `start` that of the first label's."""
    return start + np.uint64(label) * _VECTOR


@for_words(_no_rounds)
@in_place
def advance(race: Race, n: int, j: int, until: int) -> None:
    """Add the rewards of the word's rounds j+1..until to the sums and repair the ranking."""
    words, mask = race.words, lanes(j, until - j)
    if words.few.active[0] > 0:
        advance_few(words.few, words.bits, race.standings, n, mask)
    else:
        _advance(race, n, mask)


@kernel
def _advance(race: Race, n: int, mask: np.uint64) -> None:
    """Add the rewards under a mask to the sums and repair the ranking, if it is short in one pass."""
    standings, bits = race.standings, race.words.bits
    order, total = standings.order, standings.total
    if n > _SHORT:
        for x in range(n):
            total[x] += bits_set(bits[np.uint64(order[x])] & mask)
        repair(order, total, n, standings.spare_order, standings.spare_total)
        return
    last_key, last = np.inf, -1  # of the ranks before x: at hand, where memory was just written
    for x in range(n):
        label = order[x]
        key = total[x] + bits_set(bits[np.uint64(label)] & mask)
        if not ranks_before(key, label, last_key, last):
            last_key, last = key, label
            total[x], order[x] = key, label
            continue
        total[x], order[x] = last_key, last
        y = x - 1
        while y > 0 and ranks_before(key, label, total[y - 1], order[y - 1]):
            total[y], order[y] = total[y - 1], order[y - 1]
            y -= 1
        total[y], order[y] = key, label


@inlined
def _before(counts: NDArray[np.uint8], label: int, j: int) -> int:
    """Return the sum of rewards of the word's first j rounds."""
    return int(counts[np.uint64(label), np.uint64(j - 1)]) if j > 0 else 0


@kernel
def _rows_needed(race: Race, n: int, j: int, whole: float) -> float:
    """Return about how many rows of counts `first_suspect` would look at, by some constraints."""
    constraints, total = race.constraints, race.standings.total
    number, rows = constraints.number[0], 0
    for k in range(_TRIED):
        high, low = constraints.high[k * number // _TRIED], constraints.low[k * number // _TRIED]
        least = total[low] + whole - (LANES - j)
        if total[high] <= least:
            continue
        x, y = high + 1, low - 1
        while x < n and total[x] > least:
            x += 1
        while y >= 0 and total[y] - total[low] < LANES - j:
            y -= 1
        rows += x - high + low - y
    return rows * (number / _TRIED)


@for_words(_no_suspect)
@in_place
def first_suspect(race: Race, n: int, j: int, W: float, W_end: float) -> int:
    """Return how many of the word's rounds there are before the first, after the j-th, that may
    hold an event; 64 if none may. Where thousands of clusters share a range of sums it would take
    too long to tell: then the very next may.

    W and W_end are the widths after j rounds and after all 64; their chord is a lower bound of W,
    which is concave.
    """
    whole = np.floor(W)
    slope = int((W_end - W) * 256.0 / (LANES - j))
    slope = min(slope, LONGEST_RISE)
    intercept = int((W - whole) * 256.0) - j * slope
    few, counts = race.words.few, race.words.counts
    if few.active[0] > 0:
        suspects = suspects_of_few(
            few, counts, race.standings, race.constraints, n, j, whole, intercept, slope
        )
    else:
        suspects = _suspects(race, n, j, whole, intercept, slope)
    if j > 0:
        suspects &= ~lanes(0, j)
    return first_lane(suspects)


@kernel
def _suspects(race: Race, n: int, j: int, whole: float, intercept: int, slope: int) -> np.uint64:
    """Return the rounds, as lanes, in which a constraint's bound exceeds the chord; all of them where
    it would take too long to tell. Those of the first j mean nothing."""
    counts, constraints = race.words.counts, race.constraints
    order, total = race.standings.order, race.standings.total
    suspects = _NONE
    start = address_of(counts)
    looked_at, room = 0, min(_WORTH_LOOKING * n, _MOST_LOOKED_AT)
    if constraints.number[0] >= _MANY_CONSTRAINTS and _rows_needed(race, n, j, whole) > room:
        return _ALL
    # unsigned: no test for indices from the end
    for i in range(np.uint64(constraints.number[0])):
        high, low = constraints.high[i], constraints.low[i]
        last, first = high, low
        reference = total[np.uint64(low)]
        lead = total[np.uint64(high)] - reference - whole
        if lead + (LANES - j) <= 0.0:
            continue
        label = order[np.uint64(high)]
        most = counts_plus(_row(start, label), int(lead) - _before(counts, label, j))
        for x in range(np.uint64(high + 1), np.uint64(n)):
            lead = total[x] - reference - whole
            if lead + (LANES - j) <= 0.0:
                break
            last, label = int(x), order[x]
            most = raised_to(most, _row(start, label), int(lead) - _before(counts, label, j))
        label = order[np.uint64(low)]
        least = counts_plus(_row(start, label), -_before(counts, label, j))
        for down in range(np.uint64(low)):
            y = np.uint64(low - 1) - down
            lead = total[y] - reference
            if lead >= LANES - j:
                break
            first, label = int(y), order[y]
            least = lowered_to(least, _row(start, label), int(lead) - _before(counts, label, j))
        suspects |= lanes_above(most, least, intercept, slope)
        looked_at += last - high + low - first
        if looked_at > room:
            return _ALL
    return suspects
