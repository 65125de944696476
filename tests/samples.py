"""What tests of samplers share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from replay import roomy_key
from statistics_checks import (
    LEVEL,
    Law,
    chi_square,
    masses,
)

from rai_sim.engine.jit import driver
from rai_sim.engine.sampling import beta, bits_set, gamma, poisson
from rai_sim.engine.streams import replication_stream

KEY = roomy_key(20)
#: An intrinsic, which type checkers take for its code generator.
ones_in: Any = bits_set

SHIFT = 0.05  # of the negative controls, in standard deviations

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Floats = NDArray[np.float64]


@driver
def count_ones(words: Words, mask: np.uint64, out: Ints) -> None:
    """Count the ones of each word under a mask."""
    for i in range(words.size):
        out[i] = ones_in(words[i] & mask)


@driver
def draw_variates(
    kind: int, first: float, second: float, stream: int, key: Words, out: Floats
) -> None:
    """Fill `out` with gamma variates (kind 0), beta variates (1) or Poisson counts (2): one entry
    point, as each takes seconds to compile."""
    state = replication_stream(key, stream, key[2:])
    for i in range(out.size):
        if kind == 0:
            out[i], state = gamma(first, state)
        elif kind == 1:
            out[i], state = beta(first, second, state)
        else:
            out[i], state = poisson(first, state)


def binomial_sd(k: int, p: float) -> float:
    """Return the standard deviation."""
    return math.sqrt(k * p * (1.0 - p))


def shifted(p: float, k: int) -> float:
    """Return a probability, moved towards 1/2, whose sums of k trials lie SHIFT standard deviations
    off."""
    return p + math.copysign(SHIFT * binomial_sd(k, p) / k, 0.5 - p)


def cross(rows: Ints, columns: Ints) -> Ints:
    """Return how often each pair of bins was seen."""
    width = int(columns.max()) + 1
    return np.bincount(rows * width + columns, minlength=(int(rows.max()) + 1) * width).reshape(
        -1, width
    )


def check_both(law: Law, wrong: Law, counts: Ints, edges: Floats) -> None:
    """Assert that binned draws fit their law and not the wrong one."""
    assert chi_square(counts, masses(law, edges)) > LEVEL
    assert chi_square(counts, masses(wrong, edges)) < LEVEL
