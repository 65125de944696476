"""From a replication that differs to what makes it differ."""

import pytest
from locate import located, only
from pathwise import Task, misses, two_arms

from rai_sim import Vanilla
from rai_sim.engine.strides import LAST_TWO, SUMS, holds

PAIR = two_arms("words", 0.5, 0.14, 0.1)


@pytest.mark.slow
def test_nothing_is_found_where_nothing_is_wrong() -> None:
    """A line for all strides, each beside what all fall back on, and all but each."""
    lines = located(Vanilla(), PAIR, 11, 3)
    assert len(lines) == 6
    assert all(line.endswith(": nothing differs") for line in lines)


@pytest.mark.slow
def test_it_lies_where_a_certificate_is_too_confident() -> None:
    """The pair's own loop does without the proxy here, sums do not: what differs shows with all
    masks that let sums be drawn for the last two arms, and is told as `misses` tells it."""
    found = misses(Vanilla(), PAIR, 11, 40, proxy_over=30.0)
    assert found.number > 0
    example, _, said = found.examples[0].rpartition(": ")
    replication = int(example.rpartition(" ")[2])
    lines = located(Vanilla(), PAIR, 11, replication, proxy_over=30.0)
    assert lines[0] == f"all strides: {said} differs"
    assert "nothing" not in lines[1]
    assert lines[1].startswith("sums alone: ")
    assert any(line.strip().startswith("states ") for line in lines)


def test_masks_hold_what_they_are_asked_for() -> None:
    """And nothing else; twice is once."""
    mask = only(SUMS, LAST_TWO, SUMS)
    assert [holds(mask, stride) for stride in range(4)] == [True, False, True, False]


@pytest.mark.slow
def test_arms_that_never_part_are_told_by_their_task() -> None:
    """More arms, by another law."""
    four = Task("reals", (0.8, 0.6, 0.3, 0.0), (1, 2, 1), (1, 1, 1), 0.1)
    lines = located(Vanilla(), four, 11, 1, proxy_over=30.0)
    assert lines[0].startswith("all strides: settled [0, 2] 399, literally 396")
