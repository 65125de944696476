"""Top two by information: the best answer and the cheapest instance on which it is wrong share the
pulls; `loop` runs a replication."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rai_sim.algorithms.base import Algorithm
from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.stopping import Threshold
from rai_sim.support.errors import ArgumentValueError

if TYPE_CHECKING:
    from rai_sim.problem import Problem

#: Every pull looks for the best answer anew, which for more arms takes too long.
_MOST_ARMS = 100


@dataclass(frozen=True)
class TopTwo(Algorithm):
    """A top-two algorithm with information-directed selection, pull by pull: what adaptive pulling
    can do, as a reference for what can be simulated faster.

    Every arm is pulled once. Then each round asks whether to stop, and makes one pull:

    1. *Leader*: the answer that costs most to make wrong if all arms are pulled equally often, n_j
       pulls of arm j of mean x_j costing n_j 2 (x_j - theta)^2 nats if its mean were theta.
    2. *Challenger*: the alternative that makes the leader wrong for least at the pulls made. It
       moves a named arm k, and others, to a common mean theta.
    3. An arm j of those moved is pulled with probability proportional to n_j 2 (x_j - theta)^2
       (information-directed selection: You, Qin, Wang and Yang 2023). With the threshold "pairs"
       these are k and the moved arms beyond the border that k would pass: of the others none need
       be beaten. Where the alternative costs nothing, as k's mean is that of an arm beyond the
       border, the least pulled of all arms of this mean is pulled.
    4. *Forced exploration*: if an arm has fewer than 1.5 sqrt(t / N) of the t pulls made, the least
       pulled arm is pulled instead: less of that leaves an arm that was unlucky at first where it
       is, and some runs take ten times as long. Of arms pulled equally often it is the first one in the opening
       permutation, by which also equal means are ranked.

    There are no intervals: `radius` is NaN, and in a trace all arms that are named are settled in
    the last round, the others never.

    Parameters
    ----------
    threshold : {"pairs", "gk16-unproven"}, default "pairs"
        When to stop. "pairs": when in every cluster i, r_i arms beat N - C_i arms and are beaten by
        C_{i-1}; it is delta-PC (formulas, and the proof, which holds for any rule of pulling, in
        `rai_sim.engine.stopping`). "gk16-unproven": when the challenger costs ln((1 + ln t) / delta)
        nats or more. This is what experiments in the literature use, and **nobody has proved that it
        keeps the error below delta**: for comparison.

    Raises
    ------
    TypeError
        If `threshold` is no text.
    ValueError
        If there is no such threshold, or a problem has more than 100 arms.

    Examples
    --------
    >>> import rai_sim as rai
    >>> problem, rule = rai.table_problem(task=1), rai.TopTwo(threshold="gk16-unproven")
    >>> result = rai.simulate(problem, rule, delta=0.01, replications=100, seed=1)
    >>> bool(310 < result.pulls.mean() < 400)
    True
    """

    threshold: Threshold = "pairs"

    sharper = ({}, {"threshold": "gk16-unproven"})

    def check_problem(self, problem: Problem, delta: float) -> None:
        """Refuse more arms than it is for."""
        if problem.n_arms > _MOST_ARMS:
            raise ArgumentValueError(
                "problem",
                f"problem has {problem.n_arms:,} arms; TopTwo looks for the best answer at every "
                f"pull, and is for {_MOST_ARMS} arms at most: take Vanilla(width='mixture')",
            )

    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Run len(block.pulls) replications from index `first` on and write them into `block`."""
        # here: kernels that most programs never ask for
        from rai_sim.algorithms.stopping.run import new_run
        from rai_sim.algorithms.top_two.loop import run_block

        run_block(new_run(law, self.threshold, setting, block), first, block)
