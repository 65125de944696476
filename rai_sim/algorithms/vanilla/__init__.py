"""Vanilla round robin: one pull an active arm and round, a check after every round.

Here are the options; `widths` has what two arms must differ by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.base import Algorithm, option
from rai_sim.algorithms.vanilla.widths import VanillaSchedule, Width, schedule_of, widths_of
from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.pairs import pairs_to_order
from rai_sim.support.errors import ArgumentValueError

if TYPE_CHECKING:
    from rai_sim.problem import Problem

#: The default of `tuned_rounds`.
_TUNED_ROUNDS = 30


@dataclass(frozen=True)
class Vanilla(Algorithm):
    """Vanilla round robin (arXiv 2408.14195, Algorithm 1), with the paper's width or a narrower one.

    After round R every active arm has R pulls, and an arm is settled when it is apart by more than
    w_R from all arms of the other clusters. It is delta-PC with each width: the probability of a
    wrong output is at most delta. Theorem 2 bounds its pulls with the paper's.

    Parameters
    ----------
    merging : bool, default True
        Whether neighbouring clusters of which nothing more is asked are merged, so that arms near
        their border need not be told apart.
    width : {"paper", "mixture", "stitched"}, default "paper"
        w_R: the paper's, 2 sqrt(ln(pi^2 R^2 N / (3 delta)) / (2 R)); or what a difference of two arms
        passes in no round at all with probability 1 - delta / P, by a normal mixture or by stitching
        (Howard, Ramdas, McAuliffe and Sekhon 2021), P the pairs of arms in different clusters. These
        ask for a fifth of the pulls, "stitched" for more than "mixture" but where gaps are tiny.
        Formulas and proofs stand in `rai_sim.algorithms.vanilla.widths`.
    tuned_rounds : int, default 30
        About which round the width "mixture" is the narrowest.

    Raises
    ------
    TypeError
        If an option is of another kind.
    ValueError
        If there is no such width, `tuned_rounds` is below 1, or it is given for a width that it does
        not belong to.

    Examples
    --------
    >>> import rai_sim as rai
    >>> result = rai.simulate(rai.table_problem(task=1), rai.Vanilla(), delta=0.01, replications=200, seed=1)
    >>> bool(4_000 < result.pulls.mean() < 5_500)
    True
    >>> sharper = rai.Vanilla(width="mixture")
    >>> sharper
    Vanilla(merging=True, width='mixture')
    >>> result = rai.simulate(rai.table_problem(task=1), sharper, delta=0.01, replications=200, seed=1)
    >>> bool(800 < result.pulls.mean() < 1_000)
    True
    """

    merging: bool = True
    width: Width = option("paper")
    tuned_rounds: int = option(_TUNED_ROUNDS)

    upper_bound = ("vanilla", "Theorem 2")
    sharper = ({"width": "mixture"}, {"width": "stitched"})
    of_the_paper = True

    def __post_init__(self) -> None:
        """Refuse options that do not go together."""
        super().__post_init__()
        if self.tuned_rounds < 1:
            raise ArgumentValueError(
                "tuned_rounds", f"Vanilla: tuned_rounds is {self.tuned_rounds}; give at least 1"
            )
        if self.width != "mixture" and self.tuned_rounds != _TUNED_ROUNDS:
            raise ArgumentValueError(
                "tuned_rounds",
                f"Vanilla: tuned_rounds is {self.tuned_rounds} but width is {self.width!r}, which is "
                "not tuned; leave it out, or choose width='mixture'",
            )

    @property
    def theorem(self) -> tuple[str, str] | None:
        """Return what bounds the pulls: nothing that is proved but for the paper's width."""
        return self.upper_bound if self.width == "paper" else None

    def radius(
        self, rounds: NDArray[np.int64], pulls: NDArray[np.int64], problem: Problem, delta: float
    ) -> NDArray[np.float64]:
        """Return w_R / 2."""
        R = np.asarray(rounds, float)
        schedule = self._schedule(problem.n_arms, problem.clusters, problem.required, delta)
        return np.asarray(widths_of(schedule, R) / (2.0 * R) + 0.0 * pulls)

    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Run len(block.pulls) replications from index `first` on and write them into `block`."""
        # here: kernels, which the import of the package need not wait for
        from rai_sim.engine.round_robin.loop import run_block

        schedule = self._schedule(
            setting.cluster_of.size,
            setting.sizes.tolist(),
            setting.required.tolist(),
            setting.delta,
        )
        run_block(law, schedule, self.merging, setting, first, block, crowds=True)

    def _schedule(self, n_arms: int, clusters: Any, required: Any, delta: float) -> VanillaSchedule:
        pairs = pairs_to_order(clusters, required, self.merging)
        return schedule_of(self.width, n_arms, pairs, delta, self.tuned_rounds)
