"""What passes between a kernel that runs and who waits for it: a flag by which it is asked to stop,
for a replication may take minutes and Ctrl-C must not; and cells in which it says how far it is.

Kernels look at the flag, and write the cells, wherever they go round: once a check, a jump or a
word. Who sees the flag raised leaves; what the replication did so far is thrown away, so nothing
needs to be in order. Both are read and written as atomics: a compiler may take any other load of
what nobody writes, and any other store that nobody reads, out of a loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from rai_sim.engine.jit import inlined

#: Cells of a position: the replication's index, NOT_SAID before the first one; the last round
#: whose pulls are made, or nearly; the pulls made so far, of all arms; the active arms.
REPLICATION, ROUND, PULLS, ACTIVE = 0, 1, 2, 3
_CELLS = 4
NOT_SAID = -1


def new_flag() -> NDArray[np.int64]:
    """Allocate a flag, lowered: (1,) int64."""
    return np.zeros(1, np.int64)


def new_position() -> NDArray[np.int64]:
    """Allocate a position, of no replication: (4,) int64."""
    return np.full(_CELLS, NOT_SAID)


@intrinsic  # type: ignore[untyped-decorator]  # to mypy, Numba is untyped
def _raised(typing_context: Any, flag: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = context.make_array(flag)(context, builder, arguments[0]).data
        return builder.icmp_signed(
            "!=", builder.load_atomic(pointer, "monotonic", 8), ir.Constant(ir.IntType(64), 0)
        )

    return types.boolean(flag), generate


#: Return whether a flag is raised.
raised = cast(Callable[[NDArray[np.int64]], bool], _raised)


@intrinsic  # type: ignore[untyped-decorator]
def _say(typing_context: Any, position: Any, cell: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(position)(context, builder, arguments[0]).data
        builder.store_atomic(
            arguments[2], cgutils.gep_inbounds(builder, data, arguments[1]), "monotonic", 8
        )
        return context.get_dummy_value()

    return types.void(position, types.int64, types.int64), generate


#: Write a cell of a position.
say = cast(Callable[[NDArray[np.int64], int, int], None], _say)


@inlined
def say_begun(position: NDArray[np.int64], replication: int, arms: int) -> None:
    """Say that a replication begins; its index comes first, for whoever sees it twice takes the
    other cells for its own."""
    say(position, REPLICATION, replication)
    say(position, ROUND, 0)
    say(position, PULLS, 0)
    say(position, ACTIVE, arms)
