"""The arrays of the crowd's stride, and how arms get from the ranking into them and back.

While a crowd is run there is no ranking. `Standings.order` then holds the active arms by the
caller's index, where they are many in its order, so that what the law knows of them is read in
order; `Standings.total` their sums as of the beginning of the word that is being used. A place is
an index into these. While arms sleep, those awake come first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.jit import implements, kernel
from rai_sim.engine.order_statistics import BUCKETS
from rai_sim.engine.partition import Partition
from rai_sim.engine.ranking import Standings, merge_sort
from rai_sim.engine.round_robin import many
from rai_sim.engine.sampling import bits_set
from rai_sim.engine.vectors import LANES

#: From so many active arms on, a crowd of up to three clusters is faster than the ranking where
#: rounds are judged one by one, and below so many it is left for the ranking (measured). With more
#: borders, levels cost more: then it is from so many arms a border and border on.
MANY, FEW = 1000, 400
A_BORDER = 125
#: A crowd has at most so many clusters, and so many borders between them.
MOST_CLUSTERS = 9
MOST_BORDERS = MOST_CLUSTERS - 1
#: Windows of levels: two a border, of at most so many levels each.
MOST_WINDOWS, MOST_LEVELS = 2 * MOST_BORDERS, 32
#: Arms that are sorted, at most, and arms awake up to which it is tried: without, late rounds of top
#: halves of 3,000 to 30,000 arms take twice to four times as long; half or twice as many are alike.
MOST_SORTED, FEW_AWAKE = 24, 100
#: Where fewer than one in so many arms are active, they are taken in as they are ranked.
_THIN = 16
#: Sums at which a settled arm is marked until it is taken out.
GONE = -1.0

#: From this round on arms may sleep, and then from so many active arms on a crowd is entered, and
#: below so many left. A third or three times the rounds, half or four times the arms take as long, as
#: far as can be told; from round 1,000,000 on, 10,000 arms and more take up to twice as long.
RESTED = 30_000
MANY_RESTED, FEW_RESTED = 200, 100

#: Cells of `Crowd.cells`: whether the arms are in a crowd; how many borders there are; whether the
#: sums beside them have to be found anew; how far from them levels are counted, and for how many
#: whole words in a row that was far enough; how many windows there are; whether the word in use has
#: settled somebody; whether a word is over that has not, and the next event is far.
INSIDE, BORDERS, STALE, MARGIN, STEADY, WINDOWS, EVENTFUL, QUIET_AHEAD = range(8)
#: What is measured, see above.
ENTERED_FROM, LEFT_BELOW, PER_BORDER, RESTED_FROM, ENTERED_RESTED_FROM, LEFT_RESTED_BELOW = range(
    8, 14
)
#: Of sleep (see `rai_sim.engine.round_robin.crowd.sleep`): how many arms are awake, how many
#: asleep, and at which place these begin; the rounds since which and until which they sleep;
#: whether they must be woken; the lane in which a border leaves its fences; the round from which on
#: sleep is tried again; whether labels are known in this replication.
AWAKE, ASLEEP, FIRST_ASLEEP, ASLEEP_SINCE, ASLEEP_UNTIL, ALARM, LEAVES_AT, TRIED_AGAIN = range(
    14, 22
)
LABELLED = 22
#: How many sleeps there were in this replication; whether the sums beside the borders were found by
#: sorting; `FEW_AWAKE`.
SLEEPS, SORTED, SORTED_UP_TO = 23, 24, 25
_CELLS = 26
#: Values of `ALARM`: in the next round a border leaves its fences; the crowd is to be left.
FENCES, LEAVING = 1, 2


class Crowd(NamedTuple):
    """Room for a crowd of N arms.

    Borders are numbered from the best cluster on. Lanes are the rounds of the word.
    """

    cells: NDArray[np.int64]
    words: NDArray[np.uint64]  # (N,) by place: 64 rewards
    label_of: NDArray[np.int64]  # (N,) by the caller's index: breaks ties among outputs
    # by border: how many active arms stand above it, the cluster above it, and the sums of the
    # arms beside it as of the rounds that are over
    ranks: NDArray[np.int64]
    cluster_above: NDArray[np.int64]
    upper_now: NDArray[np.int64]
    lower_now: NDArray[np.int64]
    # by border: how fast these sums grow, and the sums and the round from which that is known
    pace: NDArray[np.float64]  # (2, borders)
    known: NDArray[np.int64]  # (2, borders)
    known_at: NDArray[np.int64]  # (1,)
    # (borders, 64) the sums beside each border after each of the rounds
    upper: NDArray[np.int64]
    lower: NDArray[np.int64]
    # (2, borders) the window in which each of them is looked for
    window_of: NDArray[np.int64]
    sorted_sums: NDArray[np.uint8]  # (sorted arms, 64) sums by lane, the greatest first
    # by window: the sum that its first level starts from, how many levels there are, the sum from
    # which an arm reaches all of them in all rounds, and how many arms do
    base: NDArray[np.int64]
    levels: NDArray[np.int64]
    top: NDArray[np.int64]
    whole: NDArray[np.int64]
    lines: NDArray[np.uint8]  # (windows * levels, 64) levels, less the window's base, plus 64
    tally: NDArray[np.uint8]  # of the same shape: how many arms reach each; emptied into the next
    reached: NDArray[np.int64]
    # by border, above it and then below: from which sums on an arm is clear of the other side, as
    # lines, with the least and the greatest of each line as sums
    edges: NDArray[np.uint8]  # (2 * borders, 64)
    edge_range: NDArray[np.int64]  # (2 * borders, 2)
    clearance: NDArray[np.int64]  # (64,) F, the least difference of sums that is more than W
    counts: NDArray[np.uint8]  # (64,) one arm's running counts
    # events found: places, and lanes; the same sorted by lane
    event_place: NDArray[np.int64]
    event_lane: NDArray[np.int64]
    sorted_place: NDArray[np.int64]
    first_of_lane: NDArray[np.int64]  # (65,)
    # (2 * borders,) the ranks beside the borders, and their sums; and buckets to find them by
    beside: NDArray[np.int64]
    sums_beside: NDArray[np.float64]
    buckets: NDArray[np.int64]
    values: NDArray[np.float64]  # (N,) to work in
    # by border: how many of those asleep are above it; its fences above and below as of the round
    # since which they sleep, and how fast these rise
    asleep_above: NDArray[np.int64]
    fences: NDArray[np.float64]  # (2, borders)
    fence_pace: NDArray[np.float64]


def may_be_many(N: int, m: int) -> bool:
    """Whether N arms in m clusters may become a crowd."""
    return N >= MANY and 2 <= m <= MOST_CLUSTERS


def allocate_crowd(N: int) -> Crowd:
    """Allocate for N arms."""
    borders, windows = MOST_BORDERS, MOST_WINDOWS
    cells = np.zeros(_CELLS, np.int64)
    cells[ENTERED_FROM], cells[LEFT_BELOW], cells[PER_BORDER] = MANY, FEW, A_BORDER
    cells[RESTED_FROM], cells[SORTED_UP_TO] = RESTED, FEW_AWAKE
    cells[ENTERED_RESTED_FROM], cells[LEFT_RESTED_BELOW] = MANY_RESTED, FEW_RESTED
    return Crowd(
        cells=cells,
        words=np.empty(N, np.uint64),
        label_of=np.empty(N, np.int64),
        ranks=np.zeros(borders, np.int64),
        cluster_above=np.zeros(borders + 1, np.int64),
        upper_now=np.zeros(borders, np.int64),
        lower_now=np.zeros(borders, np.int64),
        pace=np.zeros((2, borders)),
        known=np.zeros((2, borders), np.int64),
        known_at=np.zeros(1, np.int64),
        upper=np.zeros((borders, LANES), np.int64),
        lower=np.zeros((borders, LANES), np.int64),
        window_of=np.zeros((2, borders), np.int64),
        sorted_sums=np.zeros((MOST_SORTED, LANES), np.uint8),
        base=np.zeros(windows, np.int64),
        levels=np.zeros(windows, np.int64),
        top=np.zeros(windows, np.int64),
        whole=np.zeros(windows, np.int64),
        lines=np.zeros((windows * MOST_LEVELS, LANES), np.uint8),
        tally=np.zeros((windows * MOST_LEVELS, LANES), np.uint8),
        reached=np.zeros((windows * MOST_LEVELS, LANES), np.int64),
        edges=np.zeros((2 * borders, LANES), np.uint8),
        edge_range=np.zeros((2 * borders, 2), np.int64),
        clearance=np.zeros(LANES, np.int64),
        counts=np.zeros(LANES, np.uint8),
        event_place=np.empty(N, np.int64),
        event_lane=np.empty(N, np.int64),
        sorted_place=np.empty(N, np.int64),
        first_of_lane=np.zeros(LANES + 1, np.int64),
        beside=np.zeros(2 * borders, np.int64),
        sums_beside=np.zeros(2 * borders),
        buckets=np.zeros(BUCKETS, np.int64),
        values=np.empty(N),
        asleep_above=np.zeros(borders, np.int64),
        fences=np.zeros((2, borders)),
        fence_pace=np.zeros(borders),
    )


@kernel
def note_labels(crowd: Any, cell: int, arm_of: NDArray[np.int64]) -> None:
    """Note every arm's label, once a replication."""
    if crowd.cells[cell] == 0:
        for label in range(arm_of.size):
            crowd.label_of[arm_of[label]] = label
        crowd.cells[cell] = 1


@kernel
def enter(crowd: Crowd, standings: Standings, part: Partition, n: int) -> None:
    """Take the active arms, the first n of the ranking, into the crowd."""
    order, arm_of, cells = standings.order, standings.arm_of, crowd.cells
    note_labels(crowd, LABELLED, arm_of)
    for x in range(n):
        order[x] = arm_of[order[x]]
    if n > arm_of.size // _THIN:
        _sort_by_arm(crowd, standings, part, n)
    for x in range(n):
        crowd.words[x] = np.uint64(0)
    cells[INSIDE], cells[STALE], cells[EVENTFUL], cells[QUIET_AHEAD] = 1, 1, 0, 0
    cells[MARGIN], cells[STEADY] = 1, 0
    cells[AWAKE], cells[ASLEEP], cells[ALARM], cells[TRIED_AGAIN] = n, 0, 0, 0
    crowd.asleep_above[:] = 0
    crowd.known_at[0] = -1


@kernel
def _sort_by_arm(crowd: Crowd, standings: Standings, part: Partition, n: int) -> None:
    """Sort the active arms by the caller's index, so that what the law knows is read in order."""
    order, total = standings.order, standings.total
    for x in range(n):
        crowd.values[order[x]] = total[x]
    place = 0
    for arm in range(order.size):
        if part.settled[0, arm] == 0:
            order[place], total[place] = arm, crowd.values[arm]
            place += 1


@implements(many.start, Crowd)
def _start(crowd: Crowd) -> None:
    for cell in (INSIDE, LABELLED, SLEEPS):
        crowd.cells[cell] = 0


@implements(many.leave, Crowd)
def _leave(crowd: Crowd, standings: Standings, n: int) -> None:
    """Rank the n active arms again; all rounds of their words are over, and nobody sleeps.

    Their labels become 0..n-1, in the order that they were in: counts are kept by label, and those
    of a few arms of a million would be spread over 64 MB.
    """
    order, total, arm_of = standings.order, standings.total, standings.arm_of
    by_label, label_of, place = crowd.values, crowd.label_of, 0
    for x in range(n):
        while total[place] == GONE:
            place += 1
        label = label_of[order[place]]
        by_label[label] = total[place] + bits_set(crowd.words[place])
        order[x], total[x] = label, 0.0
        place += 1
    merge_sort(order, total, n, standings.spare_order, standings.spare_total)
    for x in range(n):
        label = order[x]
        arm_of[x], arm_of[label] = arm_of[label], arm_of[x]
        label_of[arm_of[x]] = order[x] = x
        total[x] = by_label[label]
    merge_sort(order, total, n, standings.spare_order, standings.spare_total)
    crowd.cells[INSIDE] = 0
