"""What a traced replication leaves behind, against lists."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from rai_sim.engine import history as histories
from rai_sim.engine.history import NEVER, History, new_history, no_history, states_kept
from rai_sim.engine.jit import exposed
from rai_sim.engine.stop import REPLICATION
from rai_sim.support.limits import MOST_PULLS

keep_state, see_arm = exposed(histories.keep_state), exposed(histories.see_arm)
next_asked, traced = exposed(histories.next_asked), exposed(histories.traced)
stopped_at = exposed(histories.stopped_at)


def visit(history: History, R: int, active: list[int]) -> None:
    """See the active arms after round R, as a kernel that has just judged it."""
    for arm in active:
        see_arm(history, arm, R / 8 + arm, R, 100 * R)
    keep_state(history, R)


def test_the_first_round_after_one_that_was_asked_for_stands_for_it() -> None:
    """200 replications: rounds asked for and rounds that the kernel stops at are drawn; arms that
    are settled keep the state seen last."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        asked = np.sort(rng.choice(60, rng.integers(0, 12), replace=False)) + 1
        visited = (np.sort(rng.choice(60, rng.integers(1, 30), replace=False)) + 1).tolist()
        history, seen, kept = new_history(asked, 3), [0, 0, 0], list[tuple[int, list[int]]]()
        for before, R in pairwise([0, *visited]):
            active = [0, 1, 2] if R <= 20 else [2]
            for arm in active:
                seen[arm] = R
            if any(before < wanted <= R for wanted in asked):
                kept.append((R, list(seen)))
            visit(history, R, active)
            assert next_asked(history) == min([*asked[asked > R].tolist(), NEVER])
        assert states_kept(history) == len(kept)
        assert history.rounds[: len(kept)].tolist() == [R for R, _ in kept]
        for row, (_, rounds) in enumerate(kept):
            assert history.pulls[row, 0].tolist() == rounds
            assert history.pulls[row, 1].tolist() == [100 * R for R in rounds]
            means = [R / 8 + arm if R else np.nan for arm, R in enumerate(rounds)]
            assert np.array_equal(history.means[row], means, equal_nan=True)
        assert history.pulls[-1, 0].tolist() == seen


def test_a_round_stands_for_all_that_were_jumped_over() -> None:
    """Rounds 3, 4 and 6 were asked for; after round 8 there is one state more, and no fourth is
    kept later."""
    history = new_history(np.array([1, 3, 4, 6]), 2)
    for R in (1, 2, 8, 9, 10):
        visit(history, R, [0, 1])
    assert history.rounds[: states_kept(history)].tolist() == [1, 8]
    assert next_asked(history) == NEVER


@pytest.mark.parametrize("stop", [0, 1])
def test_who_looks_whether_to_stop_says_how_far_it_is(stop: int) -> None:
    """Traced or not; the replication's index stays."""
    for history in (no_history(), new_history(np.array([1, 3]), 2)):
        history.stop[0] = stop
        history.position[REPLICATION] = 7
        assert stopped_at(history, 1 << 40, 1 << 50, 3) == bool(stop)
        assert history.position.tolist() == [7, 1 << 40, 1 << 50, 3]


def test_without_a_trace_nothing_is_asked_for() -> None:
    """Nor ever due: a word of rounds may be added to the round that is never reached."""
    history = no_history()
    assert not traced(history)
    assert traced(new_history(np.zeros(0, np.int64), 2))
    assert next_asked(history) == next_asked(new_history(np.zeros(0, np.int64), 2)) == NEVER
    keep_state(history, MOST_PULLS)
    assert states_kept(history) == 0
    assert MOST_PULLS < NEVER < NEVER + 64 <= np.iinfo(np.int64).max
