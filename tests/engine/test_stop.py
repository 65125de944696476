"""The flag by which a kernel is asked to stop, and the cells in which it says how far it is."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rai_sim.engine import stop
from rai_sim.engine.jit import driver, exposed

#: Intrinsics, which type checkers take for their code generators.
raised: Any = stop.raised
say: Any = stop.say
say_begun = exposed(stop.say_begun)
#: Looks at the flag that take seconds.
LIMIT = 20_000_000_000


@driver
def looks(flag: NDArray[np.int64], limit: int, begun: NDArray[np.int64]) -> int:
    """Return how often the flag was looked at before it was seen raised; the limit if it was not."""
    begun[0], seen = 1, 0
    # the look comes first: a load that may be taken out of a loop is taken out of this one
    while not raised(flag):
        seen += 1
        if seen >= limit:
            break
    return seen


@pytest.mark.parametrize(("value", "seen"), [(1, 0), (-1, 0), (1 << 62, 0), (0, 5)])
def test_any_other_number_than_zero_is_raised(value: int, seen: int) -> None:
    """A new flag is lowered."""
    flag = stop.new_flag()
    assert flag.dtype == np.int64
    assert flag.tolist() == [0]
    flag[0] = value
    assert looks(flag, 5, stop.new_flag()) == seen


def test_a_flag_is_seen_while_a_kernel_runs() -> None:
    """Raised by another thread, in a loop that has nothing to do but look: no compiler took it
    out."""
    flag, begun, found = stop.new_flag(), stop.new_flag(), list[int]()
    looks(flag, 1, begun)  # compiles
    begun[0] = 0
    kernel = threading.Thread(target=lambda: found.append(looks(flag, LIMIT, begun)))
    kernel.start()
    while not begun[0]:
        kernel.join(0.001)
    kernel.join(0.05)
    assert kernel.is_alive()
    flag[0] = 1
    kernel.join(60)
    assert 0 < found[0] < LIMIT


@driver
def counts(flag: NDArray[np.int64], limit: int, position: NDArray[np.int64]) -> int:
    """Count in a cell of a position until a flag is raised, or to a limit."""
    n = 0
    while n < limit and not raised(flag):
        n += 1
        say(position, 1, n)
    return n


def test_what_is_said_is_seen_while_a_kernel_runs() -> None:
    """By another thread, from a loop in which nobody else reads it: no compiler took it out."""
    flag, position, found = stop.new_flag(), stop.new_position(), list[int]()
    assert position.dtype == np.int64
    assert position.tolist() == [stop.NOT_SAID] * 4
    assert counts(flag, 5, position) == 5
    assert position.tolist() == [-1, 5, -1, -1]
    kernel = threading.Thread(target=lambda: found.append(counts(flag, LIMIT, position)))
    kernel.start()
    seen = [5]
    for _ in range(1000):
        kernel.join(0.005)
        if position[1] > seen[-1]:
            seen.append(int(position[1]))
        if len(seen) == 5:
            break
    flag[0] = 1
    kernel.join(60)
    assert len(seen) == 5
    assert seen[-1] <= found[0] == position[1] < LIMIT


def test_a_replication_begins_with_nothing_done() -> None:
    """All cells are its own from then on."""
    position = stop.new_position()
    position[:] = 3, 1000, 5000, 1
    say_begun(position, 4, 9)
    assert position.tolist() == [4, 0, 0, 9]
