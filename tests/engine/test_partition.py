"""The clusters' bookkeeping, against lists."""

from __future__ import annotations

import numpy as np
import pytest

from rai_sim.engine import partition as partitions
from rai_sim.engine.blocks import Setting, new_block
from rai_sim.engine.jit import exposed
from rai_sim.engine.partition import Partition, new_partition
from rai_sim.engine.streams import stream_key

open_partition, settle_arm = exposed(partitions.open_partition), exposed(partitions.settle_arm)
merge_with_previous = exposed(partitions.merge_with_previous)
all_correct, record_outcome = exposed(partitions.all_correct), exposed(partitions.record_outcome)


def opened(sizes: list[int], required: list[int]) -> tuple[Partition, Setting]:
    """Return the partition of a new replication; arms are numbered cluster by cluster."""
    setting = Setting(
        sizes=np.array(sizes),
        required=np.array(required),
        cluster_of=np.repeat(np.arange(len(sizes)), sizes),
        delta=0.1,
        skip_error=0.0,
        max_pulls=-1,
        key=stream_key(1),
    )
    part = new_partition(setting)
    assert open_partition(part, setting.sizes) == sum(required)
    return part, setting


def test_arms_leave_their_clusters_for_outputs_with_room() -> None:
    """300 replications: arms leave in any order, from any cluster that has one, and clusters merge
    in between; sizes, outputs and what is missing are those of lists."""
    rng = np.random.default_rng(1)
    merged = crowded = 0
    for _ in range(300):
        sizes = rng.integers(1, 5, rng.integers(1, 5)).tolist()
        required = [int(rng.integers(size + 1)) for size in sizes]
        part, _ = opened(sizes, required)
        open_sizes, outputs = list(sizes), [list[int]() for _ in sizes]
        for round_, arm in enumerate(rng.permutation(sum(sizes)).tolist(), start=1):
            i = int(rng.choice(np.flatnonzero(open_sizes)))
            room = len(outputs[i]) < required[i]
            assert settle_arm(part, i, arm, round_) == room
            open_sizes[i] -= 1
            outputs[i] += [arm] * room
            crowded += not room
            assert part.settled[:, arm].tolist() == [round_, i if room else -1 - i]
            if rng.random() < 0.5:
                k = int(rng.integers(len(sizes)))
                full = [len(output) == r for output, r in zip(outputs, required, strict=True)]
                moves = k > 0 and full[k - 1] and full[k]
                assert merge_with_previous(part, k) == (moves and open_sizes[k - 1] > 0)
                if moves:
                    merged += open_sizes[k - 1]
                    open_sizes[k] += open_sizes[k - 1]
                    open_sizes[k - 1] = 0
            assert part.open_sizes.tolist() == open_sizes
        named = [
            part.outputs[start : start + found].tolist()
            for start, found in zip(part.offset, part.found, strict=True)
        ]
        assert named == outputs
    assert min(merged, crowded) > 50


def test_a_new_replication_forgets_the_last() -> None:
    """Nobody is settled or named, and every arm is active again."""
    part, setting = opened([2, 1], [1, 1])
    for arm, cluster in ((2, 1), (0, 0), (1, 0)):
        settle_arm(part, cluster, arm, 5)
    assert open_partition(part, setting.sizes) == 2
    assert (part.open_sizes.tolist(), part.found.tolist()) == ([2, 1], [0, 0])
    assert part.outputs.tolist() == [-1, -1]
    assert part.settled[0].tolist() == [0, 0, 0]


@pytest.mark.parametrize(("named", "right"), [((1, 3), True), ((2, 3), False), ((0, 1), False)])
def test_an_outcome_is_written_into_its_row(named: tuple[int, int], right: bool) -> None:
    """Right if each cluster's arms are its own; no other row is touched."""
    part, setting = opened([2, 2], [1, 1])
    for cluster, arm in enumerate(named):
        settle_arm(part, cluster, arm, 4)
    block = new_block(3, 2, arms_with_settle_rounds=4)
    record_outcome(block, 1, part, setting.cluster_of, True, 4, 16)
    assert all_correct(part, setting.cluster_of) is right
    assert block.correct.tolist() == [False, right, False]
    assert block.finished.tolist() == [False, True, False]
    assert block.representatives.tolist() == [[-1, -1], list(named), [-1, -1]]
    assert (block.pulls.tolist(), block.rounds.tolist()) == ([0, 16, 0], [0, 4, 0])
    assert block.settled[1, 0].tolist() == [4 if arm in named else 0 for arm in range(4)]
    assert not block.settled[[0, 2]].any()


def test_what_is_not_finished_names_nobody() -> None:
    """Capped after one of two arms was found, in a block that keeps no settle rounds."""
    part, setting = opened([2, 2], [1, 1])
    settle_arm(part, 0, 1, 4)
    block = new_block(1, 2)
    record_outcome(block, 0, part, setting.cluster_of, False, 6, 22)
    assert not block.finished[0]
    assert not block.correct[0]
    assert block.representatives.tolist() == [[-1, -1]]
    assert (block.pulls.tolist(), block.rounds.tolist()) == ([22], [6])
