"""A round of the picks `lucb++`, `rank` and `k-m`, judged on the ranking.

Legend as in `rai_sim.algorithms.lucb.variants.picks`; ranks as in `rai_sim.algorithms.lucb.rule`.
Whoever is settled is marked in `Ranking.settled`, whoever is to be pulled stands in `Ranking.picks`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.lucb.rule import GREATEST, LEAST, Ranking, find_opponents
from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.partition import Partition, settle_arm


class Sorted(NamedTuple):
    """The arms of `k-m`, by where they stand in a ranking that is not sorted; (N,) each."""

    by_lcb: NDArray[np.int64]  # greatest first
    by_ucb: NDArray[np.int64]


def new_sorted(N: int) -> Sorted:
    """Allocate."""
    return Sorted(np.arange(N), np.arange(N))


@inlined
def judge_borders(s: Ranking, part: Partition, n: int, R: int) -> tuple[int, int]:
    """Judge `lucb++` and `rank`; return the outputs supplied, all or none, and the picks."""
    find_opponents(s, part.open_sizes, False)
    m, picks = part.open_sizes.size, 0
    for i in range(m - 1):
        if part.required[i] > 0 or part.required[i + 1] > 0:
            h, below = s.roles[LEAST, i + 1], s.roles[GREATEST, i]
            if not s.lcb[h] > s.ucb[below]:
                picks = _pick(s, below, _pick(s, h, picks))
    for j in range(picks):
        s.chosen[s.picks[j]] = False
    if picks > 0:
        return 0, picks
    supplied, p1 = 0, 0
    for i in range(m):
        p0 = p1
        p1 += part.open_sizes[i]
        for x in range(p0, p1 if part.required[i] > 0 else p0):
            s.settled[x] = True
            supplied += settle_arm(part, i, s.arm_of[s.order[x]], R)
    return supplied, 0


@inlined
def _pick(s: Ranking, x: int, picks: int) -> int:
    """Have an arm pulled that is not to be pulled yet; return the picks."""
    if s.chosen[x]:
        return picks
    s.chosen[x] = True
    s.picks[picks] = x
    return picks + 1


@inlined
def judge_within(s: Ranking, by: Sorted, part: Partition, n: int, R: int) -> tuple[int, int]:
    """Judge `k-m`; return the outputs supplied, all or none, and the picks."""
    sort_again(by.by_lcb, s.lcb, s.order, n)
    sort_again(by.by_ucb, s.ucb, s.order, n)
    M, between = part.required[0], part.open_sizes[0] - part.required[0]
    for j in range(M):
        s.chosen[by.by_lcb[j]] = True
    h, below, fewest, seen = by.by_lcb[M - 1], -1, -1, 0
    for j in range(n):
        x = by.by_ucb[j]
        if not s.chosen[x]:
            if seen == between:
                below = x
                break
            if fewest < 0 or s.taken[x] < s.taken[fewest]:
                fewest = x
            seen += 1
    for j in range(M):
        s.chosen[by.by_lcb[j]] = False
    if s.lcb[h] > s.ucb[below]:
        supplied = 0
        for j in range(M):
            x = by.by_lcb[j]
            s.settled[x] = True
            supplied += settle_arm(part, 0, s.arm_of[s.order[x]], R)
        return supplied, 0
    s.picks[0], s.picks[1], s.picks[2] = h, below, fewest
    return 0, 3 if fewest >= 0 else 2


@kernel
def sort_again(
    by: NDArray[np.int64], key: NDArray[np.float64], label: NDArray[np.int64], n: int
) -> None:
    """Sort by key, greatest first, ties to the smaller label: by insertion, as few have moved."""
    for j in range(1, n):
        x, k = by[j], j
        while k > 0:
            y = by[k - 1]
            if key[y] > key[x] or (key[y] == key[x] and label[y] < label[x]):
                break
            by[k] = y
            k -= 1
        by[k] = x
