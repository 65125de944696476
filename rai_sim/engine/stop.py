"""A flag by which whoever waits for a kernel asks it to stop: a replication may take minutes, and
Ctrl-C must not.

Kernels look at it wherever they go round: once a check, a jump or a word. Who sees it raised
leaves; what the replication did so far is thrown away, so nothing needs to be in order. The flag is
read as an atomic, for a compiler may take any other load that nobody writes to out of a loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray


def new_flag() -> NDArray[np.int64]:
    """Allocate a flag, lowered: (1,) int64."""
    return np.zeros(1, np.int64)


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
