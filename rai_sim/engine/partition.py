"""The clusters' bookkeeping of one replication, of all algorithms: open sizes, outputs, removals and
merges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.jit import inlined, kernel


class Partition(NamedTuple):
    """State of the clusters; arms are named by the caller's indices here."""

    open_sizes: NDArray[np.int64]  # (m,) active arms that the ranking's cut gives each cluster
    found: NDArray[np.int64]  # (m,) |O_i|
    required: NDArray[np.int64]  # (m,) r_i
    offset: NDArray[np.int64]  # (m,) where O_i begins among the outputs
    outputs: NDArray[np.int32]  # (sum of r,) the caller's arm indices, cluster after cluster
    # (2, N) round in which each arm was settled, 0 while active; then the cluster i it joined, -1 -
    # i where i had all it was asked for
    settled: NDArray[np.int64]


def new_partition(setting: Setting) -> Partition:
    """Allocate a block's partition."""
    N, m = setting.cluster_of.size, setting.sizes.size
    return Partition(
        open_sizes=np.empty(m, np.int64),
        found=np.empty(m, np.int64),
        required=setting.required,
        offset=np.empty(m, np.int64),
        outputs=np.empty(int(setting.required.sum()), np.int32),
        settled=np.empty((2, N), np.int64),
    )


@inlined
def open_partition(part: Partition, sizes: NDArray[np.int64]) -> int:
    """Start a replication; return how many outputs are missing."""
    missing = 0
    for i in range(sizes.size):
        part.open_sizes[i] = sizes[i]
        part.found[i] = 0
        part.offset[i] = missing
        missing += part.required[i]
    for j in range(part.outputs.size):
        part.outputs[j] = -1
    for arm in range(part.settled.shape[1]):
        part.settled[0, arm] = 0
    return missing


@inlined
def settle_arm(part: Partition, cluster: int, arm: int, round_: int) -> int:
    """Take an arm out of a cluster, into its output if there is room; return how many missing
    outputs that supplies (0 or 1)."""
    part.settled[0, arm] = round_
    part.open_sizes[cluster] -= 1
    if part.found[cluster] == part.required[cluster]:
        part.settled[1, arm] = -1 - cluster
        return 0
    part.settled[1, arm] = cluster
    part.outputs[part.offset[cluster] + part.found[cluster]] = arm
    part.found[cluster] += 1
    return 1


@inlined
def merge_with_previous(part: Partition, i: int) -> bool:
    """Merge cluster i-1 into i if both have all they were asked for; whether that moved any arm."""
    if i == 0 or part.found[i - 1] < part.required[i - 1] or part.found[i] < part.required[i]:
        return False
    moved = part.open_sizes[i - 1]
    part.open_sizes[i] += moved
    part.open_sizes[i - 1] = 0
    return moved > 0


@kernel
def merge_all(part: Partition) -> bool:
    """Merge every cluster with the one before it, in order, where both have all they were asked
    for; whether that moved any arm."""
    moved = False
    for i in range(part.open_sizes.size):
        moved |= merge_with_previous(part, i)
    return moved


@inlined
def all_correct(part: Partition, cluster_of: NDArray[np.int64]) -> bool:
    """Whether every output lies in the cluster it was named for."""
    for i in range(part.required.size):
        for j in range(part.offset[i], part.offset[i] + part.found[i]):
            if cluster_of[part.outputs[j]] != i:
                return False
    return True


@inlined
def record_outcome(
    block: Block,
    b: int,
    part: Partition,
    cluster_of: NDArray[np.int64],
    finished: bool,
    R: int,
    pulls: int,
) -> None:
    """Write a replication's results into row b."""
    block.pulls[b], block.rounds[b], block.finished[b] = pulls, R, finished
    if finished:
        # loops: slice assignments would compile shape checks and their messages
        for j in range(part.outputs.size):
            block.representatives[b, j] = part.outputs[j]
        block.correct[b] = all_correct(part, cluster_of)
    if block.settled.shape[0] > 0:
        for arm in range(part.settled.shape[1]):
            block.settled[b, 0, arm], block.settled[b, 1, arm] = (
                part.settled[0, arm],
                part.settled[1, arm],
            )


@inlined
def record_arm_pulls(
    block: Block, b: int, arm_of: NDArray[np.int64], taken: NDArray[np.int64]
) -> None:
    """Write the pulls of each arm into row b, if they are kept; both arrays are by label."""
    if block.arm_pulls.shape[0] > 0:
        for label in range(arm_of.size):
            block.arm_pulls[b, arm_of[label]] = taken[label]
