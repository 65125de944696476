"""Counts and masks of the lanes of a word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numba import types
from numba.extending import intrinsic

from rai_sim.engine.jit import kernel
from rai_sim.engine.vectors import LANES

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@intrinsic  # type: ignore[untyped-decorator]  # to mypy, Numba is untyped
def _bits_set(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


#: Return the number of ones in a uint64: the processor's own instruction.
bits_set = cast(Callable[[np.uint64], int], _bits_set)


@kernel
def lanes(first: int, count: int) -> np.uint64:
    """Return the mask of lanes first..first+count-1, 1 <= count <= 64."""
    return (_ALL >> np.uint64(LANES - count)) << np.uint64(first)
