"""Values on a lattice."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rai_sim import Categorical

# What kernels are told.


@pytest.mark.parametrize(
    ("values", "unit", "steps"),
    [
        ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], 0.2, [0, 1, 2, 3, 4, 5]),  # stars out of five
        ([1.0, 2.0, 3.0, 4.0, 5.0], 1.0, [0, 1, 2, 3, 4]),
        ([k / 10 for k in range(1, 11)], 0.1, list(range(10))),  # half stars
        ([0.0, 1 / 3, 2 / 3, 1.0], 1 / 3, [0, 1, 2, 3]),
        ([1.0, 0.0, 1 / 3], 1 / 3, [3, 0, 1]),  # any order
        ([0.5, 0.0, 1 / 3], 1 / 6, [3, 0, 2]),
        ([0.2, 0.8], 0.6, [0, 1]),
        ([-1.5, 2.5, 0.5], 2.0, [0, 2, 1]),
        ([0.1, 0.7, 1.0], 0.3, [0, 2, 3]),
        ([0.25], 0.25, [0]),
        ([0.0, 1e6], 1e6, [0, 1]),
        ([1.1 - 1.0, 0.1 * 3, 0.0], 0.1, [1, 3, 0]),  # tenths but for rounding
    ],
)
def test_values_on_a_lattice_become_integers(
    values: list[float], unit: float, steps: list[int]
) -> None:
    """A value is the short fraction that it is within rounding; sums are then exact."""
    law = Categorical(values, np.full((1, len(values)), 1.0 / len(values))).kernel_law()
    assert law.unit == unit
    assert law.steps.tolist() == [steps]
    assert law.width == max(steps)
    assert law.mean == pytest.approx([np.mean(steps)], rel=1e-14)


@pytest.mark.parametrize(
    "values",
    [
        [0.0, math.sqrt(0.5), 1.0],
        [0.0, 1 / math.pi],
        [0.0, 0.2 + 1e-12, 1.0],  # close to a fifth, but no rounding
        [0.0, 1e-15],  # distinct, though both within rounding of 0
        [0.0, 1 / 9973, 1 / 9967, 1.0],  # a lattice too fine
        [-1e50, 0.5, 1.0],  # the farthest from 0 that a law accepts
        [0.0, 1e-9, 1.0],
    ],
)
def test_values_off_every_short_lattice_stay(values: list[float]) -> None:
    """Unit 1, and the values themselves."""
    law = Categorical(values, np.full((1, len(values)), 1.0 / len(values))).kernel_law()
    assert law.unit == 1.0
    assert law.steps.tolist() == [values]
