"""The way onto the roster and back to the ranking, and the lists of those due."""

from __future__ import annotations

import numpy as np
import pytest
from many_arms import leave, partition

from rai_sim.engine.jit import exposed
from rai_sim.engine.ranking import new_standings
from rai_sim.engine.round_robin.crowd.places import MANY
from rai_sim.engine.round_robin.roster import lists
from rai_sim.engine.round_robin.roster.lists import (
    ALL_DUE,
    ENTERED_FROM,
    FEW,
    INSIDE,
    LEFT_BELOW,
    LISTS,
    MEMBERS,
    NOBODY,
    ON,
    ON_DUTY,
    allocate_roster,
)

enter, rest, take_list = exposed(lists.enter), exposed(lists.rest), exposed(lists.take_list)
nobody_rests = exposed(lists.nobody_rests)


def test_a_roster_is_outside_at_first() -> None:
    """It is entered by as many arms as a crowd."""
    cells = allocate_roster(40).cells
    assert (cells[INSIDE], cells[ENTERED_FROM], cells[LEFT_BELOW]) == (0, MANY, FEW)


def test_onto_the_roster_and_back() -> None:
    """100 rankings, some arms settled before and some on duty: all active arms are on duty, by the
    caller's index, with their sums; back, those that are left are ranked by sum and label."""
    rng = np.random.default_rng(3)
    for N in rng.integers(2, 40, 100).tolist():
        roster, standings = allocate_roster(N), new_standings(N)
        standings.arm_of[:] = rng.permutation(N)
        settled = rng.integers(0, 2, N)
        settled[rng.integers(N)] = 0
        sums = rng.integers(0, 9, N)
        labels = [int(x) for x in np.argsort(standings.arm_of)]  # by arm
        active = [arm for arm in range(N) if not settled[arm]]
        n = len(active)
        ranked = sorted(active, key=lambda arm: (-sums[arm], labels[arm]))
        standings.order[:n] = [labels[arm] for arm in ranked]
        standings.total[:n] = sums[ranked]
        enter(roster, standings, partition(settled), n)
        assert standings.order[:n].tolist() == roster.members[:n].tolist() == active
        assert roster.sums[:n].tolist() == standings.total[active].tolist() == sums[active].tolist()
        assert roster.label_of.tolist() == labels
        assert roster.cells[[INSIDE, ON, MEMBERS, ALL_DUE]].tolist() == [1, n, n, 1]
        assert (roster.behind[active] == ON_DUTY).all()
        left = rng.permutation(active)[: 1 + n // 2].tolist()
        standings.order[: len(left)] = left
        roster.sums[: len(left)] = sums[left]
        leave(roster, standings, len(left))
        ranked = sorted(left, key=lambda arm: (-sums[arm], labels[arm]))
        assert standings.order[: len(left)].tolist() == [labels[arm] for arm in ranked]
        assert standings.total[: len(left)].tolist() == sums[ranked].tolist()
        assert roster.cells[INSIDE] == 0


@pytest.mark.boundscheck
def test_every_arm_is_due_when_it_was_said() -> None:
    """500 arms over three times as many rounds as there are lists, each resting anew when it is due, for
    one round to the most; counts of those at rest add up."""
    rng, N = np.random.default_rng(1), 500
    roster, due = allocate_roster(N), np.zeros(N, np.int64)
    borders = roster.at_rest.size
    for arm in range(N):
        due[arm] = 1 + int(rng.integers(1, LISTS - 1))
        rest(roster, arm, arm % borders, 1, int(due[arm]))
    for R in range(2, 3 * LISTS):
        arm, seen = int(take_list(roster, R)), []
        while arm != NOBODY:
            seen.append(arm)
            arm = int(roster.follower[arm])
        assert sorted(seen) == np.flatnonzero(due == R).tolist()
        for arm in seen:
            assert roster.since[arm] < R
            assert roster.behind[arm] == arm % borders
            roster.at_rest[arm % borders] -= 1
            due[arm] = R + (1, int(rng.integers(1, LISTS)), LISTS - 1)[int(rng.integers(3))]
            rest(roster, arm, arm % borders, R, int(due[arm]))
    assert roster.at_rest.sum() == N
    nobody_rests(roster)
    assert roster.at_rest.sum() == 0
    assert (roster.first == NOBODY).all()
