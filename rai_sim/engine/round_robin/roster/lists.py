"""The arrays of the roster, and how arms get from the ranking onto it and back.

An arm that is *on duty* is pulled in every round. One that rests stands in the list of those who are
*due* in the same round: there is a list for each of the next rounds.

While there is a roster there is no ranking. `Standings.order` then holds the arms on duty, by the
caller's index, and `Roster.sums` their sums; `Standings.total` has, by the caller's index, the sums of
those at rest as of the round in which each began to.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.jit import implements, inlined, kernel
from rai_sim.engine.order_statistics import BUCKETS
from rai_sim.engine.partition import Partition
from rai_sim.engine.ranking import Standings, merge_sort
from rai_sim.engine.round_robin import many
from rai_sim.engine.round_robin.crowd import places
from rai_sim.engine.round_robin.crowd.places import BORDERS, MOST_BORDERS, note_labels

#: Lists, a power of two: an arm is due within fewer rounds. Four times as many, or a quarter, buy
#: nothing (measured).
LISTS = 4096
_LAST = np.int64(LISTS - 1)
#: The end of a list; and an arm at rest behind no number of borders: it is on duty.
NOBODY, ON_DUTY = -1, -1
#: From so many active arms on a roster is made, as a crowd is; and below so many it is left.
FEW = 50
#: What a round costs besides its looks at arms, in looks (measured: half or twice as many are alike).
A_ROUND = 8

#: Cells of `Roster.cells`, of which number 1 is `BORDERS`: whether the arms are on the roster; how
#: many are on duty; how many names `members` holds; whether all are due in the next round.
INSIDE, ON, MEMBERS, ALL_DUE = 0, 2, 3, 4
#: The round as of which fences are set; how many arms were looked at since then, and a round in the
#: time before; how many times the active arms are to be looked at before all are called; the round
#: since which the sums beside borders are known.
FENCED, LOOKS, USUAL, PATIENCE, KNOWN_AT = 5, 6, 7, 8, 9
#: Whether the roster is to be left; the jump whose share of the budget is used, and how many arms
#: share it; whether labels are known.
LEAVING, JUMP, SHARERS, LABELLED = 10, 11, 12, 13
#: What is measured, see above.
ENTERED_FROM, LEFT_BELOW, PER_BORDER, PER_ROUND = 14, 15, 16, 17
_CELLS = 18
assert BORDERS == 1


class Roster(NamedTuple):
    """Room for a roster of N arms.

    Borders are numbered from the best cluster on. Number 2 b of what is told beside borders is of
    the last arm above border b, number 2 b + 1 of the first arm below.
    """

    cells: NDArray[np.int64]
    label_of: NDArray[np.int64]  # (N,) by the caller's index: breaks ties among outputs
    members: NDArray[np.int64]  # (N,) who was active when all were called last, ascending
    # (N,) by the caller's index, of those at rest: since which round; behind how many borders;
    # whose name follows in the list
    since: NDArray[np.int64]
    behind: NDArray[np.int8]
    follower: NDArray[np.int32]
    first: NDArray[np.int32]  # (LISTS,) by round, modulo: whose name is first in the list
    at_rest: NDArray[np.int64]  # (borders + 1,) how many are, by the borders that they are behind
    sums: NDArray[np.float64]  # (N,) of those on duty
    # by border: how many active arms stand above it, the clusters above and, in the end, below
    ranks: NDArray[np.int64]
    cluster_above: NDArray[np.int64]
    # (2 * borders,) beside borders: places among those on duty, the greatest sum first, and sums
    places: NDArray[np.int64]
    beside: NDArray[np.float64]
    # (2 * borders,) fences: as of the round in which they were set, how fast they rise, where they
    # are now; how far from the sums they are set; sums of a while ago, to tell how fast they rise
    set_at: NDArray[np.float64]
    paces: NDArray[np.float64]
    fences: NDArray[np.float64]
    margins: NDArray[np.float64]
    known: NDArray[np.float64]
    buckets: NDArray[np.int64]  # to find sums by
    # who is settled in a round: label, sum, behind how many borders
    label: NDArray[np.int64]
    sum_: NDArray[np.float64]
    number: NDArray[np.int64]


def allocate_roster(N: int) -> Roster:
    """Allocate for N arms."""
    borders = MOST_BORDERS
    cells = np.zeros(_CELLS, np.int64)
    cells[ENTERED_FROM], cells[PER_BORDER] = places.MANY, places.A_BORDER
    cells[LEFT_BELOW], cells[PER_ROUND] = FEW, A_ROUND
    return Roster(
        cells=cells,
        label_of=np.empty(N, np.int64),
        members=np.empty(N, np.int64),
        since=np.empty(N, np.int64),
        behind=np.empty(N, np.int8),
        follower=np.empty(N, np.int32),
        first=np.full(LISTS, NOBODY, np.int32),
        at_rest=np.zeros(borders + 1, np.int64),
        sums=np.empty(N),
        ranks=np.zeros(borders, np.int64),
        cluster_above=np.zeros(borders + 1, np.int64),
        places=np.zeros(2 * borders, np.int64),
        beside=np.zeros(2 * borders),
        set_at=np.zeros(2 * borders),
        paces=np.zeros(2 * borders),
        fences=np.zeros(2 * borders),
        margins=np.zeros(2 * borders),
        known=np.zeros(2 * borders),
        buckets=np.zeros(BUCKETS, np.int64),
        label=np.empty(N, np.int64),
        sum_=np.empty(N),
        number=np.empty(N, np.int64),
    )


@implements(many.start, Roster)
def _start(roster: Roster) -> None:
    roster.cells[INSIDE] = roster.cells[LABELLED] = 0


@kernel
def enter(roster: Roster, standings: Standings, part: Partition, n: int) -> None:
    """Put the active arms, the first n of the ranking, on duty, by the caller's index."""
    cells, order, total, arm_of = roster.cells, standings.order, standings.total, standings.arm_of
    note_labels(roster, LABELLED, arm_of)
    for x in range(n):
        roster.sums[x] = total[x]
    for x in range(n):
        total[arm_of[order[x]]] = roster.sums[x]
    place = 0
    for arm in range(arm_of.size):
        if part.settled[0, arm] == 0:
            roster.members[place] = order[place] = arm
            roster.sums[place], roster.behind[arm] = total[arm], ON_DUTY
            place += 1
    cells[INSIDE], cells[ON], cells[MEMBERS] = 1, n, n
    cells[ALL_DUE], cells[LEAVING] = 1, 0
    nobody_rests(roster)


@kernel
def nobody_rests(roster: Roster) -> None:
    """Empty all lists."""
    for x in range(LISTS):
        roster.first[x] = NOBODY
    for k in range(roster.at_rest.size):
        roster.at_rest[k] = 0


@inlined
def rest(roster: Roster, arm: int, k: int, R: int, due: int) -> None:
    """Let an arm rest after round R, behind k borders, until it is due: within `LISTS` - 1
    rounds."""
    roster.since[arm], roster.behind[arm] = R, k
    roster.follower[arm] = roster.first[due & _LAST]
    roster.first[due & _LAST] = arm
    roster.at_rest[k] += 1


@inlined
def take_list(roster: Roster, R: int) -> int:
    """Return who is first in the list of those due in a round, which is empty then."""
    arm = roster.first[R & _LAST]
    roster.first[R & _LAST] = NOBODY
    return arm


@implements(many.leave, Roster)
def _leave(roster: Roster, standings: Standings, n: int) -> None:
    order, total = standings.order, standings.total
    for x in range(n):
        order[x], total[x] = roster.label_of[order[x]], roster.sums[x]
    merge_sort(order, total, n, standings.spare_order, standings.spare_total)
    roster.cells[INSIDE] = 0
