"""Track and stop in batches: the shares of pulls that are best on the means so far, followed for a
tenth of the pulls at a time; `shares` finds them, `loop` runs a replication."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rai_sim.algorithms.base import Algorithm
from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.stopping import Threshold
from rai_sim.support.errors import ArgumentValueError

if TYPE_CHECKING:
    from rai_sim.problem import Problem

#: For more arms finding the shares takes too long.
_MOST_ARMS = 200
#: A batch is at most so many times what was pulled before.
_MOST_GROWTH = 10.0


@dataclass(frozen=True)
class BatchedTrackAndStop(Algorithm):
    """Track and stop (Garivier and Kaufmann 2016) for any clusters, in batches that grow with what
    was pulled.

    A batch of an arm is one sum, so a replication costs time by its batches, whose number grows with
    the logarithm of the pulls: any law, any gap, any delta, without a certificate.

    Round 1 makes t_1 = 16 N pulls, 16 of every arm. Every round asks whether to stop; if not,

    1. it finds the shares w of pulls at which the *leader* costs most to make wrong on the means so
       far, to 1 % or as far as it gets (`rai_sim.algorithms.track_and_stop.shares`). The leader is
       the answer that costs most to make wrong if all arms are pulled equally often. Where two arms
       at a border have the same mean, all shares are equal;
    2. it takes 0.98 w + 0.02 / N for w, so that every arm is pulled more and more often;
    3. it raises the numbers of pulls n_j towards t' w, t' = ceil(growth t): the t' - t pulls of the
       batch are shared in proportion to max(t' w_j - n_j, 0), rounded so that they add up.

    The guarantee is the threshold's, whatever the shares are. There are no intervals: `radius` is
    NaN, and in a trace all arms that are named are settled in the last round, the others never.

    Parameters
    ----------
    growth : float, default 1.1
        Pulls after a batch over those before it, above 1 and at most 10: some growth - 1 of the
        pulls are made too many, on average half of that.
    threshold : {"pairs", "gk16-unproven"}, default "pairs"
        When to stop. "pairs": when in every cluster i, r_i arms beat N - C_i arms and are beaten by
        C_{i-1}; it is delta-PC (formulas, and the proof, which holds for any rule of pulling, in
        `rai_sim.engine.stopping`). "gk16-unproven": when making the best answer wrong costs ln((1 +
        ln t) / delta) nats or more. This is what experiments in the literature use, and **nobody has
        proved that it keeps the error below delta**: for comparison.

    Raises
    ------
    TypeError
        If an option is of another kind.
    ValueError
        If `growth` is not above 1 and at most 10, there is no such threshold, or a problem has more
        than 200 arms.

    Examples
    --------
    >>> import rai_sim as rai
    >>> problem = rai.best_arm(rai.Bernoulli([0.5, 0.4999, 0.49, 0.4, 0.3]))
    >>> result = rai.simulate(problem, rai.BatchedTrackAndStop(), delta=1e-100, replications=4, seed=1)
    >>> bool(result.correct.all()), bool(1e10 < result.pulls.mean() < 1e11)
    (True, True)
    """

    growth: float = 1.1
    threshold: Threshold = "pairs"

    sharper = ({}, {"threshold": "gk16-unproven"})

    def __post_init__(self) -> None:
        """Refuse a growth that is none, or of which nobody has any use."""
        super().__post_init__()
        if not 1.0 < self.growth <= _MOST_GROWTH:
            raise ArgumentValueError(
                "growth",
                f"BatchedTrackAndStop: growth is {self.growth}; give a number above 1 and at most "
                f"{_MOST_GROWTH:g}, such as 1.1: pulls after a batch over those before it",
            )

    def check_problem(self, problem: Problem, delta: float) -> None:
        """Refuse more arms than it is for."""
        if problem.n_arms > _MOST_ARMS:
            raise ArgumentValueError(
                "problem",
                f"problem has {problem.n_arms:,} arms; BatchedTrackAndStop solves a game of all arms in every "
                f"round, and is for {_MOST_ARMS} arms at most: take Vanilla(width='mixture')",
            )

    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Run len(block.pulls) replications from index `first` on and write them into `block`."""
        # here: kernels that most programs never ask for
        from rai_sim.algorithms.stopping.run import new_run
        from rai_sim.algorithms.track_and_stop.loop import run_block
        from rai_sim.algorithms.track_and_stop.shares import new_game

        N = setting.cluster_of.size
        game = new_game(N, int(setting.required.sum()))
        run_block(new_run(law, self.threshold, setting, block), game, self.growth, first, block)
