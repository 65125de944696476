"""Tables of the sums of 2^j pulls, for values on a short lattice."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.arms.categorical.alias import fill_cells

#: Sums of at most 2^11 pulls have tables, of at most so many entries each, and of at most so many
#: in all: sixteen bytes an entry.
_MOST_DOUBLINGS, _WIDEST_TABLE, _MOST_ENTRIES = 11, 4096, 1 << 17
#: What may be cut off each end of a sum's law. Each doubling doubles it, and it stays far below the
#: grain of the tables.
_CUT = 1e-25


class Sums(NamedTuple):
    """The law of a sum: the smallest one possible, and the masses from there on."""

    first: int
    masses: NDArray[np.float64]

    def digits(self) -> int:
        """Return the binary digits that number the columns of a table, at least one."""
        return max(1, (self.masses.size - 1).bit_length())


def sum_tables(
    steps: NDArray[np.float64], probabilities: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the alias tables of the sums of 2^j pulls, j = 0..J, as many as fit into memory; none
    if the steps are no short lattice.

    The first array, (N, J + 1, 3), tells of a table where it starts, how many binary digits number
    its columns, and which sum column 0 stands for. The second holds two numbers a column, its share
    and the other column (see `rai_sim.arms.categorical.law`). Arms with the same probabilities
    share tables.
    """
    rows, row_of = np.unique(probabilities, axis=0, return_inverse=True)
    doublings = _laws_of_doublings(steps, rows)
    plan = _plan(doublings, len(rows))
    cells = _cells(doublings, plan)
    plan[:, :, 0] *= 2  # a column is two numbers
    return plan.transpose(1, 0, 2)[row_of.ravel()].astype(np.float64), cells


def _laws_of_doublings(steps: NDArray[np.float64], rows: NDArray[np.float64]) -> list[list[Sums]]:
    """Return the laws of the sums of 2^j pulls, by j and row, as many as fit into memory.

    The law of twice as many pulls is the convolution of a law with itself: sums of positive
    products, so every mass is right but for a few roundings.
    """
    width, entries = float(np.ptp(steps)), 0
    doublings: list[list[Sums]] = []
    fits = (
        bool((steps == np.floor(steps)).all())
        and width < _WIDEST_TABLE
        and width * len(rows) < _MOST_ENTRIES
    )
    while fits and len(doublings) <= _MOST_DOUBLINGS:
        laws = (
            [_doubled(law) for law in doublings[-1]]
            if doublings
            else [_one_pull(steps, row) for row in rows]
        )
        entries += sum(1 << law.digits() for law in laws)
        fits = max(law.masses.size for law in laws) <= _WIDEST_TABLE and entries <= _MOST_ENTRIES
        if fits:
            doublings.append(laws)
    return doublings


def _one_pull(steps: NDArray[np.float64], p: NDArray[np.float64]) -> Sums:
    possible = steps[p > 0.0].astype(np.int64)
    first = int(possible.min())
    masses = np.bincount(possible - first, weights=p[p > 0.0]).astype(np.float64)
    return Sums(first, masses)


def _doubled(law: Sums) -> Sums:
    """Return the law of twice as many pulls, without its ends of mass below _CUT."""
    masses = np.convolve(law.masses, law.masses)
    low = int(np.searchsorted(np.cumsum(masses), _CUT))
    high = masses.size - int(np.searchsorted(np.cumsum(masses[::-1]), _CUT))
    return Sums(2 * law.first + low, masses[low:high])


def _plan(doublings: list[list[Sums]], n_rows: int) -> NDArray[np.int64]:
    """Return (J + 1, rows, 3): in which column of all a table starts, its digits, its first sum."""
    plan = np.zeros((len(doublings), n_rows, 3), np.int64)
    for j, laws in enumerate(doublings):
        plan[j, :, 1] = [law.digits() for law in laws]
        plan[j, :, 2] = [law.first for law in laws]
    sizes = 1 << plan[:, :, 1]
    plan[:, :, 0] = np.cumsum(sizes).reshape(sizes.shape) - sizes
    return plan


def _cells(doublings: list[list[Sums]], plan: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the columns of all tables, two numbers each."""
    if not doublings:
        return np.empty(0)
    sizes = 1 << plan[:, :, 1]
    masses = np.zeros(int(sizes.sum()))
    for j, laws in enumerate(doublings):
        for row, law in enumerate(laws):
            start = plan[j, row, 0]
            masses[start : start + law.masses.size] = law.masses / law.masses.sum()
    cells = np.empty(2 * masses.size)
    room = np.empty((2, int(sizes.max())), np.int64)
    fill_cells(plan.reshape(-1, 3), masses, cells, room[0], room[1])
    return cells
