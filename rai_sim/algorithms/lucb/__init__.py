"""LUCB: rounds that pull only the arms on which the open questions hinge.

Here are the options and the guarantee; `loop` runs a replication, `rule` is what a round judges and
picks, `run` what a replication is given and its clock, and each stride (`strides`), a way of making
rounds, has a file: `plain`, `in_step`, `lanes`, `challenge` (the last arm in question, between the
lines of `challenge_lines`) and `corridors` (with the walk in them, `corridor_walk`); `view` keeps
the few arms of many that a round may look at, `view_guards` whether they decide it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.base import Algorithm
from rai_sim.algorithms.lucb.loop import new_run, new_scratch, run_block
from rai_sim.algorithms.lucb.run import Rule
from rai_sim.engine.blocks import Block, Setting

if TYPE_CHECKING:
    from rai_sim.problem import Problem


@dataclass(frozen=True)
class LUCB(Algorithm):
    """Lower and upper confidence bounds (arXiv 2408.14195, Algorithm 3, in a form that is
    delta-PC).

    After one pull of every arm, each round ranks and cuts the active arms, settles those whose
    confidence interval is clear of all clusters before and after, and for each cluster that still
    lacks representatives pulls the arm closest to being settled, the two arms that stand most in
    the way (the least LCB before the cluster, the greatest UCB after it), and the cluster's own
    weakest arms. The radius of an arm with n pulls in round R is sqrt(ln(pi^2 R^3 N / (3 delta)) /
    (2 n)).

    Parameters
    ----------
    as_printed : bool, default False
        Follow the printed pseudo-code, its slips mended: look at the neighbouring clusters only and
        leave the cluster's own weakest arms alone. **Not delta-PC**: on the mirrored table instance
        with r = (3, 0, 0) it errs in about 20 % of runs at delta = 1 %; and a run in which an
        unlucky arm is never pulled again may not end: cap it with `max_pulls`. For study.

    Raises
    ------
    TypeError
        If `as_printed` is not a boolean.

    Examples
    --------
    >>> import rai_sim as rai
    >>> result = rai.simulate(rai.table_problem(task=1), rai.LUCB(), delta=0.01, replications=100, seed=1)
    >>> bool(3_000 < result.pulls.mean() < 6_000)
    True
    """

    looks_at_most_rounds: ClassVar[bool] = True
    as_printed: bool = False

    def radius(
        self, rounds: NDArray[np.int64], pulls: NDArray[np.int64], problem: Problem, delta: float
    ) -> NDArray[np.float64]:
        """Return sqrt(ln(pi^2 R^3 N / (3 delta)) / (2 n))."""
        return np.asarray(
            np.sqrt(
                np.log(math.pi**2 * np.asarray(rounds, float) ** 3 * problem.n_arms / (3.0 * delta))
                / (2.0 * pulls)
            )
        )

    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Run len(block.pulls) replications from index `first` on and write them into `block`."""
        rule = Rule(math.pi**2 * setting.cluster_of.size / (3.0 * setting.delta), self.as_printed)
        run_block(new_run(law, rule, setting, block), new_scratch(setting), first, block)
