"""Vose's alias tables: a uniform column, then its own outcome with a probability, else another one.

Of a few outcomes in Python, of many compiled.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.jit import driver


def alias_tables(p: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return Vose's alias tables of every row: the share of a column that keeps its own level, and
    the other level."""
    n_arms, n_levels = p.shape
    keep, alias = np.ones((n_arms, n_levels)), np.tile(np.arange(n_levels), (n_arms, 1))
    for arm in range(n_arms):
        scaled = p[arm] * n_levels
        small = [i for i in range(n_levels) if scaled[i] < 1.0]
        large = [i for i in range(n_levels) if scaled[i] >= 1.0]
        while small and large:
            low, high = small.pop(), large[-1]
            keep[arm, low], alias[arm, low] = scaled[low], high
            scaled[high] -= 1.0 - scaled[low]
            if scaled[high] < 1.0:
                small.append(large.pop())
    return keep, alias


@driver
def fill_cells(
    plan: NDArray[np.int64],
    masses: NDArray[np.float64],
    cells: NDArray[np.float64],
    small: NDArray[np.int64],
    large: NDArray[np.int64],
) -> None:
    """Write Vose's alias table of each row of `plan`; the masses are used up; `small` and `large`
    are room for the longest."""
    for table in range(plan.shape[0]):
        start, size = plan[table, 0], 1 << plan[table, 1]
        p, cell = masses[start : start + size], cells[2 * start : 2 * (start + size)]
        smalls = larges = 0
        for column in range(size):
            p[column] *= size
            cell[2 * column], cell[2 * column + 1] = 1.0, column
            if p[column] < 1.0:
                small[smalls] = column
                smalls += 1
            else:
                large[larges] = column
                larges += 1
        while smalls > 0 and larges > 0:
            smalls -= 1
            low, high = small[smalls], large[larges - 1]
            cell[2 * low], cell[2 * low + 1] = p[low], high
            p[high] -= 1.0 - p[low]
            if p[high] < 1.0:
                larges -= 1
                small[smalls] = high
                smalls += 1
