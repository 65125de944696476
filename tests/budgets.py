"""What kernels recommend at several caps of one run, beside runs of the literal twin that are cut
short at each: on recordings, which leave nothing to chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import adaptive
import numpy as np
import replay
from numpy.typing import NDArray
from pathwise import Task
from replay import Instance, run_kernel
from stack import kept_apart

from rai_sim import BatchedTrackAndStop, TopTwo
from rai_sim.algorithms.base import Algorithm
from rai_sim.engine.blocks import Block, new_block
from rai_sim.engine.strides import ALL, ROOM

Named = list[tuple[int, ...]]


def caps_of(instance: Instance) -> list[int]:
    """Return caps from before the first pull to what the recording holds."""
    N, T = instance.rewards.shape
    shares = (0.001, 0.01, 0.03, 0.1, 0.11, 0.3, 0.8)
    return sorted({1, max(N - 1, 1), N, 2 * N + 1, *(max(int(s * N * T), 1) for s in shares)})


def of_kernel(
    algorithm: Algorithm, instance: Instance, caps: Sequence[int], **options: Any
) -> Named | None:
    """Return what is recommended at each cap of a run, None if the recording does not suffice;
    options are those of `replay.run_kernel`."""
    N = instance.n_arms
    block = new_block(1, sum(instance.required), N, arms_with_pulls=N, budgets=caps)
    run = run_kernel(algorithm, instance, max_pulls=caps[-1], block=block, **options)
    assert sum(run.counts) == run.pulls
    return None if run.ran_out_at else [tuple(row) for row in block.recommended[0].tolist()]


def of_twin(algorithm: Algorithm, instance: Instance, caps: Sequence[int]) -> Named | None:
    """Return the same of runs of the literal twin, one a cap, which is all they know of."""
    adapt = isinstance(algorithm, (TopTwo, BatchedTrackAndStop))
    run: Callable[..., replay.Run] = adaptive.run_twin if adapt else replay.run_twin
    runs = [run(algorithm, instance, max_pulls=cap) for cap in caps]
    return None if runs[-1].ran_out_at else [one.recommended for one in runs]


def unlike(
    algorithm: Algorithm, instances: Sequence[Instance], **options: Any
) -> tuple[list[str], int]:
    """Return where the two differ, and at how many caps they were compared."""
    found, compared = [], 0
    for number, instance in enumerate(instances):
        caps = caps_of(instance)
        ours = of_kernel(algorithm, instance, caps, **options)
        theirs = of_twin(algorithm, instance, caps)
        for k, cap in enumerate(caps):
            alone = of_kernel(algorithm, instance, [cap], **options)
            if ours is not None and alone is not None and alone[0] != ours[k]:
                found.append(f"{number}: cap {cap} {alone} alone, {ours} with others")
        if ours != theirs:
            task = f"c={instance.clusters} r={instance.required} caps={caps}"
            found.append(f"{number}: {task}\n {ours}\n {theirs}")
        compared += len(caps) if ours is not None else 0
    return found, compared


def of_task(
    algorithm: Algorithm,
    task: Task,
    caps: Sequence[int],
    count: int,
    strides: int = ALL,
    seed: int = 5,
    skip_error: float = 1e-12,
) -> Block:
    """Run replications of a task whose rewards are a function of (replication, arm, pull), with
    recommendations at caps, if there are any."""
    block = new_block(count, sum(task.required), budgets=caps)
    setting = task.block_setting(seed, skip_error, caps[-1] if caps else -1, strides)
    with kept_apart():
        algorithm.run_block(task.stack(), setting, 0, block)
    assert block.fault[0] == 0
    return block


def depend_on_strides(
    algorithm: Algorithm, tasks: Sequence[Task], count: int, plain: int
) -> tuple[list[str], int, NDArray[np.int64]]:
    """Return the tasks of which recommendations are others with the strides of the mask `plain`
    alone, how many were compared, and the rounds by stride."""
    found, compared, made = [], 0, np.zeros(ROOM, np.int64)
    for task in tasks:
        whole = of_task(algorithm, task, (), count)
        most = int(whole.pulls.max())
        caps = sorted({max(int(most * share), 1) for share in (0.02, 0.1, 0.2, 0.35, 0.6, 0.8, 1)})
        ours = of_task(algorithm, task, caps, count)
        theirs = of_task(algorithm, task, caps, count, plain)
        if not np.array_equal(ours.recommended, theirs.recommended):
            found.append(f"{task.name}, caps {caps}")
        assert np.array_equal(ours.recommended[whole.finished][:, -1], whole.representatives)
        compared += ours.recommended.shape[0] * len(caps)
        made += ours.rounds_by_stride
    return found, compared, made
