"""Butterscotch round robin: the width halves from round to round, the pulls follow.

Here are the options and the schedule; `loop` runs a replication, `tables` draws sums that every
replication asks for. Without the stride `CHECKS` rounds are made as Vanilla's are, one sum an arm
(`rai_sim.engine.round_robin`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.base import Algorithm, option
from rai_sim.algorithms.butterscotch.strides import CHECKS
from rai_sim.engine import schedule as operations
from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.jit import implements
from rai_sim.engine.pairs import pairs_to_order
from rai_sim.engine.strides import holds

if TYPE_CHECKING:
    from rai_sim.problem import Problem


@dataclass(frozen=True)
class Butterscotch(Algorithm):
    """Butterscotch round robin (arXiv 2408.14195, Algorithm 2), with the paper's pulls or fewer.

    After round R every active arm has t_R pulls, and an arm is settled when it is apart by more than
    w_R = 2^-(R+2) from all arms of the other clusters. It is delta-PC: the probability of a wrong
    output is at most delta. Theorem 3 bounds the paper's pulls.

    Parameters
    ----------
    merging : bool, default True
        Whether neighbouring clusters of which nothing more is asked are merged, so that arms near
        their border need not be told apart.
    width : {"paper", "pairwise"}, default "paper"
        What t_R makes w_R the width of: an arm's interval twice over, t_R = ceil(2^(2R+5) ln(pi^2
        R^2 N / (3 delta))); or a difference of two arms, t_R = ceil(2^(2R+4) ln(pi^2 R^2 P / (6
        delta))), P the pairs of arms in different clusters: half the pulls. *Proof* for the latter.
        The difference of t pulls each is t/2-sub-Gaussian, so it is beyond its mean by t w with
        probability at most exp(-t w^2) (Hoeffding), which for t_R and w_R is 6 delta / (pi^2 R^2 P);
        the sum over rounds and pairs is delta, and that is enough (`pairs_to_order`).

    Raises
    ------
    TypeError
        If an option is of another kind.
    ValueError
        If there is no such width.

    Examples
    --------
    >>> import rai_sim as rai
    >>> result = rai.simulate(rai.table_problem(task=1), rai.Butterscotch(), delta=0.01, replications=100, seed=1)
    >>> int(result.pulls.min())  # all ten arms take t_1 = 1037 pulls
    10370
    """

    merging: bool = True
    width: Literal["paper", "pairwise"] = option("paper")

    upper_bound = ("butterscotch", "Theorem 3")
    sharper = ({"width": "pairwise"},)
    of_the_paper = True

    @property
    def theorem(self) -> tuple[str, str] | None:
        """Return what bounds the pulls: nothing that is proved but for the paper's."""
        return self.upper_bound if self.width == "paper" else None

    def radius(
        self, rounds: NDArray[np.int64], pulls: NDArray[np.int64], problem: Problem, delta: float
    ) -> NDArray[np.float64]:
        """Return w_R / 2 = 2^-(R+3)."""
        return np.asarray(2.0 ** -(np.asarray(rounds, float) + 3.0) + 0.0 * pulls)

    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Run len(block.pulls) replications from index `first` on and write them into `block`."""
        if self.width == "paper":
            schedule = paper(setting.cluster_of.size, setting.delta)
        else:
            pairs = pairs_to_order(setting.sizes.tolist(), setting.required.tolist(), self.merging)
            schedule = _schedule(4.0, pairs, 6.0 * setting.delta)
        # here: kernels, which the import of the package need not wait for
        if holds(setting.strides, CHECKS):
            from rai_sim.algorithms.butterscotch.loop import run_block
        else:
            from rai_sim.engine.round_robin.loop import run_block
        run_block(law, schedule, self.merging, setting, first, block)


def paper(N: int, delta: float) -> ButterscotchSchedule:
    """Return the paper's pulls and widths."""
    return _schedule(5.0, N, 3.0 * delta)


@lru_cache(maxsize=16)
def _schedule(power: float, count: int, share: float) -> ButterscotchSchedule:
    """Tabulate t_R = ceil(2^(2R + power) ln(pi^2 R^2 count / share)) and W(R); round 32 is past
    2^62 pulls an arm."""
    R = np.arange(1.0, 33.0)
    pulls = np.ceil(2.0 ** (2.0 * R + power) * np.log(math.pi**2 * R**2 * count / share))
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


@implements(operations.shift, ButterscotchSchedule)
def _shift(schedule: ButterscotchSchedule) -> float:
    return np.inf


@implements(operations.leaps, ButterscotchSchedule)
def _leaps(schedule: ButterscotchSchedule) -> bool:
    return False
