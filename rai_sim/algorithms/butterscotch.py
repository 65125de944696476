"""Butterscotch round robin: the width halves from round to round, the pulls follow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rai_sim.algorithms.base import Algorithm
from rai_sim.engine import schedule as operations
from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.jit import implements, kernel
from rai_sim.engine.round_robin import run_block


@dataclass(frozen=True)
class Butterscotch(Algorithm):
    """Butterscotch round robin (arXiv 2408.14195, Algorithm 2).

    After round R every active arm has t_R = ceil(2^(2R+5) ln(pi^2 R^2 N / (3 delta))) pulls, and an arm is settled when it is apart by more
    than w_R = 2^-(R+2) from all arms of the other clusters. It is delta-PC: the probability of a wrong output is at most delta (Theorem 3
    bounds its pulls).

    Parameters
    ----------
    merging : bool, default True
        Whether neighbouring clusters of which nothing more is asked are merged, so that arms near their border need not be told apart.

    Raises
    ------
    TypeError
        If `merging` is not a boolean.

    Examples
    --------
    >>> import rai_sim as rai
    >>> result = rai.simulate(rai.table_problem(task=1), rai.Butterscotch(), delta=0.01, replications=100, seed=1)
    >>> int(result.pulls.min())  # all ten arms take t_1 = 1037 pulls
    10370
    """

    merging: bool = True

    upper_bound = ("butterscotch", "Theorem 3")

    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Run len(block.pulls) replications from index `first` on and write them into `block`."""
        schedule = ButterscotchSchedule(math.pi**2 * setting.cluster_of.size / (3.0 * setting.delta))
        run_block(law, schedule, self.merging, setting, first, block)


class ButterscotchSchedule(NamedTuple):
    """What kernels know: pi^2 N / (3 delta)."""

    scale: float


@implements(operations.every_round, ButterscotchSchedule)
def _every_round(schedule: ButterscotchSchedule) -> bool:
    return False


@kernel
def _pulls(scale: float, R: float) -> float:
    return np.ceil(2.0 ** (2.0 * R + 5.0) * math.log(scale * R * R))


@implements(operations.pulls_after, ButterscotchSchedule)
def _pulls_after(schedule: ButterscotchSchedule, R: float) -> float:
    return _pulls(schedule.scale, R)


@implements(operations.threshold, ButterscotchSchedule)
def _threshold(schedule: ButterscotchSchedule, R: float) -> float:
    return _pulls(schedule.scale, R) * 2.0 ** -(R + 2.0)
