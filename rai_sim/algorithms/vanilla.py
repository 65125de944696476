"""Vanilla round robin: one pull an active arm and round, a check after every round."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.base import Algorithm
from rai_sim.engine import schedule as operations
from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.jit import implements
from rai_sim.engine.round_robin.loop import run_block


@dataclass(frozen=True)
class Vanilla(Algorithm):
    """Vanilla round robin (arXiv 2408.14195, Algorithm 1).

    After round R every active arm has R pulls, and an arm is settled when it is apart by more than
    w_R = 2 sqrt(ln(pi^2 R^2 N / (3 delta)) / (2 R)) from all arms of the other clusters. It is
    delta-PC: the probability of a wrong output is at most delta (Theorem 2 bounds its pulls).

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
    >>> result = rai.simulate(rai.table_problem(task=1), rai.Vanilla(), delta=0.01, replications=200, seed=1)
    >>> bool(4_000 < result.pulls.mean() < 5_500)
    True
    """

    merging: bool = True

    upper_bound = ("vanilla", "Theorem 2")

    def radius(
        self, rounds: NDArray[np.int64], pulls: NDArray[np.int64], n_arms: int, delta: float
    ) -> NDArray[np.float64]:
        """Return w_R / 2 = sqrt(ln(pi^2 R^2 N / (3 delta)) / (2 R))."""
        R = np.asarray(rounds, float)
        return np.asarray(
            np.sqrt(np.log(math.pi**2 * R**2 * n_arms / (3.0 * delta)) / (2.0 * R)) + 0.0 * pulls
        )

    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Run len(block.pulls) replications from index `first` on and write them into `block`."""
        schedule = VanillaSchedule(math.pi**2 * setting.cluster_of.size / (3.0 * setting.delta))
        run_block(law, schedule, self.merging, setting, first, block, crowds=True)


class VanillaSchedule(NamedTuple):
    """What kernels know: pi^2 N / (3 delta)."""

    scale: float


@implements(operations.every_round, VanillaSchedule)
def _every_round(schedule: VanillaSchedule) -> bool:
    return True


@implements(operations.pulls_after, VanillaSchedule)
def _pulls_after(schedule: VanillaSchedule, R: float) -> float:
    return R


@implements(operations.threshold, VanillaSchedule)
def _threshold(schedule: VanillaSchedule, R: float) -> float:
    return math.sqrt(2.0 * R * math.log(schedule.scale * R * R))


@implements(operations.threshold_after, VanillaSchedule)
def _threshold_after(schedule: VanillaSchedule, R0: float, W0: float, R: float) -> float:
    # W(R)^2 / (2 R) = W(R0)^2 / (2 R0) + 2 log(1 + x); the logarithm's series, cut off after a
    # negative term, lies below it.
    x = (R - R0) / R0
    logarithm = x * (1.0 - x * (1.0 / 2.0 - x * (1.0 / 3.0 - x * (1.0 / 4.0))))
    return math.sqrt(W0 * W0 * (1.0 + x) + 4.0 * R * logarithm)
