"""Order statistics of many numbers, without sorting them: by counting numbers in buckets, and a
look at the few in a bucket that matters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.jit import inlined, kernel

#: Buckets of equal length between the least number and the greatest.
BUCKETS = 1024


@kernel
def order_statistics(
    values: NDArray[np.float64],
    n: int,
    ranks: NDArray[np.int64],
    count: int,
    found: NDArray[np.float64],
    buckets: NDArray[np.int64],
    room: NDArray[np.float64],
) -> bool:
    """Find the values of `count` ranks, ascending from 0 for the greatest, among n numbers; whether
    that is possible: their range must be neither 0 nor so large or small that shares of it
    overflow."""
    low = high = values[0]
    for x in range(n):
        low, high = min(low, values[x]), max(high, values[x])
    scale = (BUCKETS - 1.0) / (high - low)
    if not 0.0 < scale < np.inf:
        return False
    for b in range(BUCKETS):
        buckets[b] = 0
    for x in range(n):
        buckets[_bucket(values[x], low, scale)] += 1
    before, b, picked = 0, BUCKETS, 0
    for i in range(count):
        while ranks[i] >= before + picked:
            before += picked
            b -= 1
            picked = buckets[b]
            if ranks[i] < before + picked:
                _pick(values, n, b, low, scale, room)
        found[i] = quickselect(room, picked, ranks[i] - before)
    return True


@kernel
def values_of_ranks(
    values: NDArray[np.float64],
    n: int,
    ranks: NDArray[np.int64],
    count: int,
    found: NDArray[np.float64],
    buckets: NDArray[np.int64],
    room: NDArray[np.float64],
) -> None:
    """Find the values of ranks as `order_statistics` does, whatever the range of the numbers."""
    if order_statistics(values, n, ranks, count, found, buckets, room):
        return
    for x in range(n):
        room[x] = values[x]
    for i in range(count):
        found[i] = quickselect(room, n, ranks[i])


@inlined
def _bucket(value: float, low: float, scale: float) -> int:
    """Return a number's bucket: greater numbers are in greater ones."""
    return int((value - low) * scale)


@kernel
def _pick(
    values: NDArray[np.float64],
    n: int,
    b: int,
    low: float,
    scale: float,
    room: NDArray[np.float64],
) -> None:
    """Copy the numbers of a bucket."""
    kept = 0
    for x in range(n):
        if _bucket(values[x], low, scale) == b:
            room[kept] = values[x]
            kept += 1


@kernel
def quickselect(values: NDArray[np.float64], n: int, rank: int) -> float:
    """Return the value of a rank, 0 the greatest, among n numbers, which are put into another
    order: it then stands at its rank, none before it is less and none behind it greater."""
    first, last = 0, n - 1
    while first < last:
        pivot = values[(first + last) // 2]
        x, y = first, last
        while x <= y:
            while values[x] > pivot:
                x += 1
            while values[y] < pivot:
                y -= 1
            if x <= y:
                values[x], values[y] = values[y], values[x]
                x, y = x + 1, y - 1
        # from `first` to y none is below the pivot, from x to `last` none above; between lies it
        if rank <= y:
            last = y
        elif rank >= x:
            first = x
        else:
            return pivot
    return values[first]


@kernel
def greatest_first(
    order: NDArray[np.int64], values: NDArray[np.float64], n: int, least: float
) -> int:
    """Move the arms whose value is `least` or more to the front; return how many there are."""
    front = 0
    for x in range(n):
        if values[x] >= least:
            order[x], order[front] = order[front], order[x]
            values[x], values[front] = values[front], values[x]
            front += 1
    return front
