"""What a replication recommends at caps on its pulls: the answer that it would give there.

The rule, one for all algorithms but those that have a leader of their own (`TopTwo`,
`BatchedTrackAndStop`). Arms that are settled stay where they were named. The active ones are ranked
by empirical mean (by sums in round robin, where all have equally many pulls), equal ones in the order
of the replication's opening permutation; the ranking is cut into the clusters' open sizes. A cluster that
lacks arms takes, of its part of the ranking, those that are *clearest* of the other clusters: an
arm's clearance is its distance from the last arm above the part or from the first below, whichever
is less. Down the part clearances rise and then fall: the least clear arm at an end leaves until as
many are left as are lacking, of two that are alike the last. These are the arms that round robin
would settle first if its width shrank. They are named in the order of the ranking, after those that
were settled.

Where nothing has been pulled yet all clearances are 0, so that the opening permutation decides.

A replication may be asked at several caps, one after another: it goes on from each of them, and what
is certified to hold no event is cut in two there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.faults import MOST_PULLS
from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.partition import Partition
from rai_sim.engine.ranking import merge_sort


class Budgets(NamedTuple):
    """The caps at which recommendations are asked for, and what was recommended; N arms or, where
    nothing is asked for, none."""

    pulls: NDArray[np.int64]  # (K,) ascending; the last is the replication's cap
    passed: NDArray[np.int64]  # (1,) how many of them are behind
    named: NDArray[np.int32]  # (K, sum of r) the caller's arm indices
    open_sizes: NDArray[
        np.int64
    ]  # (m,) room: the active arms of each cluster, where they are counted
    # by place among those noted, then by rank: label, and sum or mean
    label: NDArray[np.int64]
    key: NDArray[np.float64]
    spare_label: NDArray[np.int64]
    spare_key: NDArray[np.float64]


def new_budgets(block: Block, setting: Setting) -> Budgets:
    """Allocate for the caps that a block has rows for."""
    asked = block.recommended.shape[0] > 0
    N, K = (setting.cluster_of.size, block.budgets.size) if asked else (0, 0)
    return Budgets(
        pulls=block.budgets[:K],
        passed=np.zeros(1, np.int64),
        named=np.full((K, block.representatives.shape[1]), -1, np.int32),
        open_sizes=np.empty(setting.sizes.size, np.int64),
        label=np.empty(N, np.int64),
        key=np.empty(N),
        spare_label=np.empty(N, np.int64),
        spare_key=np.empty(N),
    )


@inlined
def left(budgets: Budgets) -> int:
    """Return how many caps are not behind, the one under way counted; 0 where none is asked for."""
    return budgets.pulls.size - budgets.passed[0]


@inlined
def cap_of(budgets: Budgets, max_pulls: int) -> int:
    """Return the most pulls that there may be: up to the next cap that is asked for, if there is
    one."""
    if budgets.pulls.size > 0 and budgets.passed[0] < budgets.pulls.size:
        return budgets.pulls[budgets.passed[0]]
    return max_pulls if max_pulls >= 0 else MOST_PULLS


@inlined
def note_arm(budgets: Budgets, place: int, label: int, key: float) -> None:
    """Note an active arm's sum or mean, in any order; places count from 0."""
    budgets.label[place], budgets.key[place] = label, key


@kernel
def count_open(budgets: Budgets, part: Partition, sizes: NDArray[np.int64]) -> None:
    """Count the active arms of each cluster, which no merge has moved."""
    for i in range(sizes.size):
        budgets.open_sizes[i] = sizes[i]
    for arm in range(part.settled.shape[1]):
        if part.settled[0, arm] > 0:
            i = part.settled[1, arm]
            budgets.open_sizes[i if i >= 0 else -1 - i] -= 1


@kernel
def recommend(
    budgets: Budgets,
    part: Partition,
    open_sizes: NDArray[np.int64],
    arm_of: NDArray[np.int64] | NDArray[np.int32],
    n: int,
) -> None:
    """Write down what is recommended at the cap, the n active arms having been noted; the cap is
    then behind. `open_sizes` are those of all active arms, `arm_of` has the caller's index by
    label."""
    label, key, row, p0 = budgets.label, budgets.key, budgets.passed[0], 0
    merge_sort(label, key, n, budgets.spare_label, budgets.spare_key)
    for i in range(open_sizes.size):
        p1, at = p0 + open_sizes[i], part.offset[i]
        for j in range(at, at + part.found[i]):
            budgets.named[row, j] = part.outputs[j]
        at += part.found[i]
        first, lacking = p0, part.required[i] - part.found[i]
        if lacking > 0:
            first = clearest(key, p0, p1, n, lacking)
        for j in range(lacking):
            budgets.named[row, at + j] = arm_of[label[first + j]]
        p0 = p1
    budgets.passed[0] += 1


@kernel
def clearest(key: NDArray[np.float64], p0: int, p1: int, n: int, wanted: int) -> int:
    """Return the first of the `wanted` consecutive ranks of p0..p1-1 that are clearest of the others:
    those before p0, and p1..n-1."""
    first, last = p0, p1 - 1
    while last - first + 1 > wanted:
        if _clearance(key, first, p0, p1, n) < _clearance(key, last, p0, p1, n):
            first += 1
        else:
            last -= 1
    return first


@inlined
def _clearance(key: NDArray[np.float64], x: int, p0: int, p1: int, n: int) -> float:
    """Return the clearance of rank x in the part p0..p1-1."""
    nearest = np.inf
    # equal keys may be infinite: of arms without pulls
    if p0 > 0:
        nearest = 0.0 if key[p0 - 1] == key[x] else key[p0 - 1] - key[x]
    if p1 < n:
        nearest = min(nearest, 0.0 if key[x] == key[p1] else key[x] - key[p1])
    return nearest


@inlined
def record_recommendations(block: Block, b: int, budgets: Budgets, part: Partition) -> None:
    """Write a replication's recommendations into row b, if any are asked for, and be ready for the
    next replication."""
    if budgets.pulls.size > 0:
        _write(block, b, budgets, part)


@kernel
def _write(block: Block, b: int, budgets: Budgets, part: Partition) -> None:
    """Write what is recommended at each cap: at those that were not reached what was named."""
    for k in range(budgets.pulls.size):
        reached = k < budgets.passed[0]
        for j in range(part.outputs.size):
            block.recommended[b, k, j] = budgets.named[k, j] if reached else part.outputs[j]
    budgets.passed[0] = 0
