"""Lanes of a word."""

from __future__ import annotations

import numpy as np
from samples import count_ones

from rai_sim.engine.jit import driver
from rai_sim.engine.sampling import (
    lanes,
)


@driver
def mask_of(first: int, count: int) -> np.uint64:
    """Return the mask that kernels use."""
    return lanes(first, count)


def test_masks_and_counts_of_lanes() -> None:
    """Every mask, and the number of ones under it."""
    out, everything = np.empty(1, np.int64), np.array([2**64 - 1], np.uint64)
    for first in range(64):
        for count in range(1, 65 - first):
            mask = mask_of(first, count)
            assert mask == (2**count - 1) << first
            count_ones(everything, np.uint64(mask), out)
            assert out[0] == count
