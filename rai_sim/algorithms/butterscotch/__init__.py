"""Butterscotch round robin: the width halves from round to round, the pulls follow.

Here are the options and the schedule; `loop` runs a replication, `tables` draws sums that every
replication asks for. Without the stride `CHECKS` rounds are made as Vanilla's are, one sum an arm
(`rai_sim.engine.round_robin`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.base import Algorithm
from rai_sim.algorithms.butterscotch import loop
from rai_sim.algorithms.butterscotch.strides import CHECKS
from rai_sim.engine import schedule as operations
from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.jit import implements
from rai_sim.engine.round_robin.loop import run_block
from rai_sim.engine.strides import holds


@dataclass(frozen=True)
class Butterscotch(Algorithm):
    """Butterscotch round robin (arXiv 2408.14195, Algorithm 2).

    After round R every active arm has t_R = ceil(2^(2R+5) ln(pi^2 R^2 N / (3 delta))) pulls, and an
    arm is settled when it is apart by more than w_R = 2^-(R+2) from all arms of the other clusters.
    It is delta-PC: the probability of a wrong output is at most delta (Theorem 3 bounds its pulls).

    Parameters
    ----------
    merging : bool, default True
        Whether neighbouring clusters of which nothing more is asked are merged, so that arms near
        their border need not be told apart.

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

    def radius(
        self, rounds: NDArray[np.int64], pulls: NDArray[np.int64], n_arms: int, delta: float
    ) -> NDArray[np.float64]:
        """Return w_R / 2 = 2^-(R+3)."""
        return np.asarray(2.0 ** -(np.asarray(rounds, float) + 3.0) + 0.0 * pulls)

    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Run len(block.pulls) replications from index `first` on and write them into `block`."""
        schedule = _schedule(setting.cluster_of.size, setting.delta)
        run = loop.run_block if holds(setting.strides, CHECKS) else run_block
        run(law, schedule, self.merging, setting, first, block)


@lru_cache(maxsize=16)
def _schedule(N: int, delta: float) -> ButterscotchSchedule:
    """Tabulate t_R and W(R); round 32 is past 2^62 pulls an arm."""
    R = np.arange(1.0, 33.0)
    pulls = np.ceil(2.0 ** (2.0 * R + 5.0) * np.log(math.pi**2 * R**2 * N / (3.0 * delta)))
    return ButterscotchSchedule(pulls, pulls * 2.0 ** -(R + 2.0))


class ButterscotchSchedule(NamedTuple):
    """What kernels know, by round from 1 on: t_R, and t_R w_R (32,)."""

    pulls: NDArray[np.float64]
    widths: NDArray[np.float64]


@implements(operations.every_round, ButterscotchSchedule)
def _every_round(schedule: ButterscotchSchedule) -> bool:
    return False


@implements(operations.pulls_after, ButterscotchSchedule)
def _pulls_after(schedule: ButterscotchSchedule, R: float) -> float:
    return schedule.pulls[int(R) - 1]


@implements(operations.threshold, ButterscotchSchedule)
def _threshold(schedule: ButterscotchSchedule, R: float) -> float:
    return schedule.widths[int(R) - 1]


@implements(operations.threshold_after, ButterscotchSchedule)
def _threshold_after(schedule: ButterscotchSchedule, R0: float, W0: float, R: float) -> float:
    return W0  # W grows; no more is needed, as rounds of many pulls are not skipped
