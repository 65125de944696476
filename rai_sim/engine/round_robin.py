"""The round-robin loop that Vanilla and Butterscotch share (page-1 steps 1 to 4), with the schedule as a parameter.

Legend, after the paper: R round, t pulls an active arm has, S sums, W(R) = t_R w_R the width in units of sums, n active arms.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine import law as laws
from rai_sim.engine import schedule as schedules
from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.faults import MOST_PULLS, NONE, RECORDING_RAN_OUT, TOO_MANY_PULLS, report
from rai_sim.engine.jit import driver, kernel
from rai_sim.engine.partition import Partition, merge_with_previous, new_partition, open_partition, record_outcome, settle_arm
from rai_sim.engine.ranking import repair
from rai_sim.engine.streams import State, replication_stream, shuffle


class Scratch(NamedTuple):
    """Memory of a block, O(N): the ranking, the caller's index of each label, and room to sort in."""

    order: NDArray[np.int64]
    total: NDArray[np.float64]
    arm_of: NDArray[np.int64]
    spare_order: NDArray[np.int64]
    spare_total: NDArray[np.float64]


@driver
def run_block(law: Any, schedule: Any, merging: bool, setting: Setting, first: int, block: Block) -> None:
    """Run len(block.pulls) replications, indices from `first` on."""
    N = setting.cluster_of.size
    scratch = Scratch(
        np.empty(N, np.int64), np.empty(N), np.empty(N, np.int64), np.empty(N, np.int64), np.empty(N),
    )  # fmt: skip
    part = new_partition(setting, block)
    for b in range(block.pulls.size):
        state = replication_stream(setting.key, first + b)
        finished, R, pulls = _run_one(law, schedule, merging, setting, scratch, part, block.fault, state)
        if block.fault[0] != NONE:
            return
        record_outcome(block, b, part, setting.cluster_of, finished, R, pulls)


@kernel
def _run_one(
    law: Any, schedule: Any, merging: bool, setting: Setting, scratch: Scratch, part: Partition,
    fault: NDArray[np.int64], state: State,
) -> tuple[bool, int, int]:  # fmt: skip
    """Run one replication; return whether it finished, its rounds and its pulls."""
    order, total, arm_of = scratch.order, scratch.total, scratch.arm_of
    n = order.size
    state = shuffle(arm_of, state)
    for x in range(n):
        order[x], total[x] = x, 0.0
    missing = open_partition(part, setting.sizes)
    most = setting.max_pulls if setting.max_pulls >= 0 else MOST_PULLS
    R, t, pulls = 0, 0, 0
    while missing > 0:
        t_next = schedules.pulls_after(schedule, R + 1.0)
        if t_next - t > (most - pulls) // n:
            if setting.max_pulls < 0:
                report(fault, TOO_MANY_PULLS, 0, 0)
            return False, R, pulls
        if t_next > laws.pulls_available(law):
            report(fault, RECORDING_RAN_OUT, _least_arm(scratch, n), laws.pulls_available(law) + 1)
            return False, R, pulls
        k = np.int64(t_next) - t
        for x in range(n):
            total[x], state = laws.more_pulls(law, arm_of[order[x]], total[x], t, k, state)
        R, t, pulls = R + 1, t + k, pulls + n * k
        repair(order, total, n, scratch.spare_order, scratch.spare_total)
        W = schedules.threshold(schedule, np.float64(R)) / laws.unit(law)
        if R == 1 or largest_gap(total, part.open_sizes, n) > W:
            n, supplied = settle_round(scratch, part, n, W, R, merging)
            missing -= supplied
    return True, R, pulls


@kernel
def _least_arm(scratch: Scratch, n: int) -> int:
    arm = scratch.arm_of[scratch.order[0]]
    for x in range(1, n):
        arm = min(arm, scratch.arm_of[scratch.order[x]])
    return arm


@kernel
def largest_gap(total: NDArray[np.float64], open_sizes: NDArray[np.int64], n: int) -> float:
    """Return G: the largest, over arms, of the smaller of an arm's two gaps to its tentative cluster's neighbours.

    An arm is settled in this round exactly if G > W. Within a cluster the gap to the clusters before grows with the rank and the gap to those
    after falls, so the first cluster's best arm, the last one's worst, and in between the arms around the crossing decide.
    """
    G = -np.inf
    p0 = 0
    for i in range(open_sizes.size):
        p1 = p0 + open_sizes[i]
        for x in range(p0, p1):
            above = total[p0 - 1] - total[x] if p0 > 0 else np.inf
            below = total[x] - total[p1] if p1 < n else np.inf
            G = max(G, min(above, below))
        p0 = p1
    return G


@kernel
def settle_round(scratch: Scratch, part: Partition, n: int, W: float, R: int, merging: bool) -> tuple[int, int]:
    """Judge every active arm against the opening partition, remove the settled, merge; return the arms left and the outputs supplied."""
    order, total = scratch.order, scratch.total
    kept, supplied, p0 = 0, 0, 0
    for i in range(part.open_sizes.size):
        p1 = p0 + part.open_sizes[i]
        # The survivors move up in the same arrays, never past the arm that is being read; only the arm before the cluster may be
        # overwritten while the cluster is judged.
        above = total[p0 - 1] if p0 > 0 else np.inf
        below = total[p1] if p1 < n else -np.inf
        for x in range(p0, p1):
            if above - total[x] > W and total[x] - below > W:
                supplied += settle_arm(part, i, scratch.arm_of[order[x]], R)
            else:
                order[kept], total[kept] = order[x], total[x]
                kept += 1
        if merging:
            merge_with_previous(part, i)
        p0 = p1
    return kept, supplied
