"""Rankings of the active arms.

`order[x]` is the arm at rank x (0 is best) and `total[x]` its key, a sum or a mean; both have room
for N and use the first n entries. Arms here are the replication's own labels 0..N-1: positions in
its random opening permutation. Ties in the key go to the smaller label. So a ranking is a function
of the keys alone, whatever rankings went before, and the true order never breaks a tie.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.jit import inlined, kernel

#: Moves an arm that the insertion sort may spend before the merge sort takes over; between two
#: checks few arms change places.
_PATIENCE = 16


class Standings(NamedTuple):
    """The active arms by rank with their sums, and room to sort in; O(N)."""

    order: NDArray[np.int64]  # label
    total: NDArray[np.float64]  # sum of rewards
    arm_of: NDArray[np.int64]  # by label: the caller's arm index
    spare_order: NDArray[np.int64]
    spare_total: NDArray[np.float64]


def new_standings(N: int) -> Standings:
    """Allocate."""
    return Standings(
        order=np.empty(N, np.int64),
        total=np.empty(N),
        arm_of=np.empty(N, np.int64),
        spare_order=np.empty(N, np.int64),
        spare_total=np.empty(N),
    )


@inlined
def ranks_before(key: float, arm: int, other_key: float, other: int) -> bool:
    """Whether an arm stands before another."""
    return key > other_key or (key == other_key and arm < other)


@kernel
def repair(
    order: NDArray[np.int64],
    total: NDArray[np.float64],
    n: int,
    spare_order: NDArray[np.int64],
    spare_total: NDArray[np.float64],
) -> None:
    """Sort a nearly sorted ranking in place."""
    moves_left = _PATIENCE * n
    for x in range(1, n):
        key, arm = total[x], order[x]
        y = x
        while y > 0 and ranks_before(key, arm, total[y - 1], order[y - 1]):
            total[y], order[y] = total[y - 1], order[y - 1]
            y -= 1
        total[y], order[y] = key, arm
        moves_left -= x - y
        if moves_left < 0:
            merge_sort(order, total, n, spare_order, spare_total)
            return


@kernel
def merge_sort(
    order: NDArray[np.int64],
    total: NDArray[np.float64],
    n: int,
    spare_order: NDArray[np.int64],
    spare_total: NDArray[np.float64],
) -> None:
    """Sort a ranking in place, O(n log n) whatever its state."""
    run = 1
    while run < n:
        for start in range(0, n, 2 * run):
            middle, stop = min(start + run, n), min(start + 2 * run, n)
            left, right = start, middle
            for x in range(start, stop):
                take_left = left < middle and (
                    right >= stop
                    or ranks_before(total[left], order[left], total[right], order[right])
                )
                source = left if take_left else right
                spare_total[x], spare_order[x] = total[source], order[source]
                left, right = left + take_left, right + (not take_left)
        for x in range(n):  # a loop: slice assignment would compile shape checks and their messages
            total[x], order[x] = spare_total[x], spare_order[x]
        run *= 2
