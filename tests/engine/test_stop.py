"""The flag by which a kernel is asked to stop."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rai_sim.engine import stop
from rai_sim.engine.jit import driver

#: An intrinsic, which type checkers take for its code generator.
raised: Any = stop.raised
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
