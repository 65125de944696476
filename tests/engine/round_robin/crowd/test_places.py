"""Who may become a crowd, and the way into it and back to the ranking."""

from __future__ import annotations

import numpy as np
import pytest
from many_arms import leave, partition

from rai_sim.engine.jit import exposed
from rai_sim.engine.ranking import new_standings
from rai_sim.engine.round_robin.crowd import places
from rai_sim.engine.round_robin.crowd.places import (
    ENTERED_FROM,
    FEW,
    GONE,
    INSIDE,
    LEFT_BELOW,
    MANY,
    MOST_CLUSTERS,
    STALE,
    allocate_crowd,
    may_be_many,
)

enter = exposed(places.enter)


@pytest.mark.parametrize(
    ("N", "m", "may"),
    [
        (MANY, 2, True),
        (MANY, MOST_CLUSTERS, True),
        (MANY - 1, 2, False),
        (MANY, 1, False),
        (MANY, MOST_CLUSTERS + 1, False),
    ],
)
def test_who_may_become_a_crowd(N: int, m: int, may: bool) -> None:
    """Many arms in some clusters."""
    assert may_be_many(N, m) == may


def test_a_crowd_is_outside_at_first() -> None:
    """And there is room for all of its words."""
    crowd = allocate_crowd(MANY)
    assert crowd.cells[INSIDE] == 0
    assert crowd.words.shape == (MANY,)
    assert (crowd.cells[ENTERED_FROM], crowd.cells[LEFT_BELOW]) == (MANY, FEW)


def test_into_the_crowd_and_back() -> None:
    """100 rankings, some arms settled before and some inside: places are by the caller's index,
    sums are those of the arms, the last word's rewards are added, and the ranking is by sum and
    label; labels of those that are left are the first ones, in their order, and of all arms still
    a permutation."""
    rng = np.random.default_rng(3)
    for N in rng.integers(2, 40, 100).tolist():
        crowd, standings = allocate_crowd(N), new_standings(N)
        standings.arm_of[:] = rng.permutation(N)
        settled = rng.integers(0, 2, N)
        settled[rng.integers(N)] = 0
        part, sums = partition(settled), rng.integers(0, 9, N)
        labels = [int(x) for x in np.argsort(standings.arm_of)]  # by arm
        active = [arm for arm in range(N) if not settled[arm]]
        n = len(active)
        ranked = sorted(active, key=lambda arm: (-sums[arm], labels[arm]))
        standings.order[:n] = [labels[arm] for arm in ranked]
        standings.total[:n] = sums[ranked]
        enter(crowd, standings, part, n)
        assert standings.order[:n].tolist() == active
        assert standings.total[:n].tolist() == sums[active].tolist()
        assert crowd.words[:n].tolist() == [0] * n
        assert crowd.label_of.tolist() == labels
        assert (crowd.cells[INSIDE], crowd.cells[STALE]) == (1, 1)
        words = rng.integers(0, 2**63, n).astype(np.uint64)
        crowd.words[:n] = words
        gone = rng.random(n) < 0.3
        gone[0] = False
        standings.total[:n][gone] = GONE
        part.settled[0, np.array(active)[gone]] = 7
        after = {
            arm: sums[arm] + int(word).bit_count()
            for arm, word, left in zip(active, words, gone, strict=True)
            if not left
        }
        leave(crowd, standings, len(after))
        ranked = sorted(after, key=lambda arm: (-after[arm], labels[arm]))
        labelled = sorted(after, key=lambda arm: labels[arm])
        assert standings.arm_of[: len(after)].tolist() == labelled
        assert crowd.label_of[labelled].tolist() == list(range(len(after)))
        assert sorted(standings.arm_of.tolist()) == list(range(N))
        assert standings.arm_of[standings.order[: len(after)]].tolist() == ranked
        assert standings.total[: len(after)].tolist() == [after[arm] for arm in ranked]
        assert crowd.cells[INSIDE] == 0
