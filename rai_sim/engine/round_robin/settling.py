"""Settling arms where there is no ranking of all: those who are settled in a round, ranked among
themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.history import see_arm, traced
from rai_sim.engine.jit import kernel
from rai_sim.engine.partition import merge_all, settle_arm
from rai_sim.engine.round_robin.run import ACTIVE, MISSING, PULLS, ROUND, Run


@kernel
def settle_ranked(
    run: Run,
    label: NDArray[np.int64],
    total: NDArray[np.float64],
    behind: NDArray[np.int64],
    settled: int,
) -> bool:
    """Settle arms in the order of a ranking, each in the cluster that lies behind so many borders,
    and merge clusters; return whether a cluster is emptied or merged."""
    crowd: Any = run.crowd
    part, clock, arm_of = run.part, run.clock, run.race.standings.arm_of
    R, supplied, changed = clock[ROUND], 0, False
    for x in range(settled):
        i, arm = crowd.cluster_above[behind[x]], arm_of[label[x]]
        if traced(run.history):
            see_arm(run.history, arm, total[x] / R, R, clock[PULLS])
        supplied += settle_arm(part, i, arm, R)
        changed |= part.open_sizes[i] == 0
    if run.merging:
        changed |= merge_all(part)
    clock[ACTIVE] -= settled
    clock[MISSING] -= supplied
    return changed
