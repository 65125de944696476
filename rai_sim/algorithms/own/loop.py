"""A user's own rule, pull by pull.

Legend. R steps that pulled; counts and sums by label: an arm's place in the replication's opening
permutation, which is all that the rule knows of it, so that no arm is the first one always.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine import law as laws
from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.faults import (
    NONE,
    NOT_FINITE,
    RECORDING_RAN_OUT,
    STOPPED,
    WRONG_ARM,
    WRONG_COUNT,
    finite,
    report,
    went_well,
)
from rai_sim.engine.history import History, keep_state, see_arm, stopped_at, traced
from rai_sim.engine.jit import WHOLE, driver, inlined, kernel, of_types
from rai_sim.engine.partition import (
    Partition,
    new_partition,
    open_partition,
    record_arm_pulls,
    record_outcome,
    settle_arm,
)
from rai_sim.engine.recommendations import (
    Budgets,
    cap_of,
    left,
    new_budgets,
    note_arm,
    recommend,
    record_recommendations,
)
from rai_sim.engine.references import by_reference
from rai_sim.engine.stop import say_begun
from rai_sim.engine.streams import State, new_generators, replication_stream, shuffle, uniform
from rai_sim.engine.strides import SUMS
from rai_sim.engine.tags import seen

#: Cells of `Work.clock`: steps that pulled, and pulls of all arms.
ROUND, PULLS = 0, 1


def step(
    task: Any,
    counts: NDArray[np.int64],
    sums: NDArray[np.float64],
    scratch: NDArray[np.float64],
    arms: NDArray[np.int64],
) -> int:
    """Return how many of `arms` to pull, or 0 if they are the answer: the user's, by the type of
    `task`."""
    raise TypeError(f"step was given {type(task).__name__}; call the rule's own")


@of_types(*WHOLE)
def whole(count: Any) -> int:
    """Return what `step` returned, which must be an integer: half an arm is never pulled."""
    return np.int64(count)  # type: ignore[return-value]  # of compiled code, where it is an int


class Work(NamedTuple):
    """One replication after another; N arms, by label where not said otherwise."""

    law: Any
    task: Any  # of a class that stands for the rule (`rai_sim.engine.tags`)
    setting: Setting
    part: Partition  # by the caller's indices
    budgets: Budgets
    history: History
    fault: NDArray[np.int64]
    generators: NDArray[np.uint64]
    arm_of: NDArray[np.int64]  # (N,) the caller's index
    counts: NDArray[np.int64]  # (N,) pulls
    total: NDArray[np.float64]  # (N,) sums in law units
    sums: NDArray[np.float64]  # (N,) sums of rewards
    counts_seen: NDArray[np.int64]  # the same memory as the rule has it, which must not write there
    sums_seen: NDArray[np.float64]
    scratch: NDArray[np.float64]  # the rule's own, zero when a replication begins
    arms: NDArray[np.int64]  # (N,) what the rule asks for
    named: NDArray[np.bool_]  # (N,) which labels an answer has named
    clock: NDArray[np.int64]


def new_work(law: Any, task: Any, scratch: int, setting: Setting, block: Block) -> Work:
    """Allocate for a block of replications."""
    N = setting.cluster_of.size
    counts, sums = np.zeros(N, np.int64), np.zeros(N)
    return Work(
        law=law,
        task=task,
        setting=setting,
        part=new_partition(setting),
        budgets=new_budgets(block, setting),
        history=block.history,
        fault=block.fault,
        generators=new_generators(),
        arm_of=np.zeros(N, np.int64),
        counts=counts,
        total=np.zeros(N),
        sums=sums,
        counts_seen=seen(counts),
        sums_seen=seen(sums),
        scratch=np.zeros(scratch),
        arms=np.zeros(N, np.int64),
        named=np.zeros(N, np.bool_),
        clock=np.zeros(2, np.int64),
    )


@driver
def run_block(given: Work, first: int, block: Block) -> None:
    """Run len(block.pulls) replications, indices from `first` on."""
    work = by_reference(given)
    for b in range(block.pulls.size):
        finished = _run_one(work, first + b)
        if not went_well(work.fault, b):
            return
        R, pulls = work.clock[ROUND], work.clock[PULLS]
        block.rounds_by_stride[SUMS] += R
        record_outcome(block, b, work.part, work.setting.cluster_of, finished, R, pulls)
        record_arm_pulls(block, b, work.arm_of, work.counts)
        record_recommendations(block, b, work.budgets, work.part)


@kernel
def _run_one(work: Work, replication: int) -> bool:
    """Run one replication; return whether it finished."""
    clock, arms = work.clock, work.arms
    counts, sums, scratch = work.counts_seen, work.sums_seen, work.scratch
    tracing, N = traced(work.history), work.arm_of.size
    state = _begin(work, replication)
    while True:
        if stopped_at(work.history, clock[ROUND], clock[PULLS], N):
            report(work.fault, STOPPED, 0, 0)
            return False
        for j in range(work.task.uniforms.size):
            work.task.uniforms[j], state = uniform(state)
        k = whole(step(work.task, counts, sums, scratch, arms))
        if k == 0:
            return _answer(work)
        if not _may_pull(work, k):
            return False
        for j in range(k):
            state = _pull(work, arms[j], state)
        clock[ROUND] += 1
        clock[PULLS] += k
        if tracing:
            _see(work)
        if work.fault[0] != NONE:
            return False


@inlined
def _begin(work: Work, replication: int) -> State:
    """Draw the opening permutation; set all that is kept to zero."""
    say_begun(work.history.position, replication, work.arm_of.size)
    state = replication_stream(work.setting.key, replication, work.generators)
    open_partition(work.part, work.setting.sizes)
    work.clock[ROUND], work.clock[PULLS] = 0, 0
    for label in range(work.counts.size):
        work.counts[label], work.total[label], work.sums[label] = 0, 0.0, 0.0
    for place in range(work.scratch.size):
        work.scratch[place] = 0.0
    return shuffle(work.arm_of, state)


@kernel
def _may_pull(work: Work, k: int) -> bool:
    """Whether a step's pulls can be made: they are of arms, the cap pays for all of them, the
    recording holds them."""
    N = work.arm_of.size
    if k < 0 or k > N:
        report(work.fault, WRONG_COUNT, k, 0)
        return False
    for j in range(k):
        if work.arms[j] < 0 or work.arms[j] >= N:
            report(work.fault, WRONG_ARM, work.arms[j], j)
            return False
    while work.clock[PULLS] + k > cap_of(work.budgets, work.setting.max_pulls):
        if left(work.budgets) == 0:
            return False
        recommend_by_means(work)
        if left(work.budgets) == 0:
            return False
    return True


@kernel
def recommend_by_means(work: Work) -> None:
    """Recommend, whatever the rule's memory says, by the means so far; arms without pulls rank last."""
    for label in range(work.arm_of.size):
        taken = work.counts[label]
        note_arm(work.budgets, label, label, work.total[label] / taken if taken > 0 else -np.inf)
    recommend(work.budgets, work.part, work.part.open_sizes, work.arm_of, work.arm_of.size)


@inlined
def _pull(work: Work, label: int, state: State) -> State:
    """Pull an arm once."""
    law, setting, taken = work.law, work.setting, work.counts[label]
    arm = work.arm_of[label]
    if taken >= laws.pulls_available(law):
        report(work.fault, RECORDING_RAN_OUT, arm, taken + 1)
        return state
    total, state = laws.one_pull(law, arm, work.total[label], taken, state)
    if not finite(total):
        report(work.fault, NOT_FINITE, arm, taken + 1)
    work.total[label], work.counts[label] = total, taken + 1
    work.sums[label] = setting.origin * (taken + 1) + laws.unit(law) * total
    return state


@kernel
def _answer(work: Work) -> bool:
    """Name the arms of an answer, cluster after cluster; return whether it is one."""
    part, N, place = work.part, work.arm_of.size, 0
    for label in range(N):
        work.named[label] = False
    for i in range(part.required.size):
        for _ in range(part.required[i]):
            label = work.arms[place]
            if label < 0 or label >= N or work.named[label]:
                report(work.fault, WRONG_ARM, label, place)
                return False
            work.named[label] = True
            settle_arm(part, i, work.arm_of[label], max(work.clock[ROUND], 1))
            place += 1
    return True


@kernel
def _see(work: Work) -> None:
    """Keep the state of the step, for a trace: what an answer is judged by is the last one."""
    R, pulls = work.clock[ROUND], work.clock[PULLS]
    for label in range(work.arm_of.size):
        taken = work.counts[label]
        mean = work.total[label] / taken if taken > 0 else np.nan
        see_arm(work.history, work.arm_of[label], mean, taken, pulls)
    keep_state(work.history, R)
