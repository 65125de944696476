"""LUCB: rounds that pull only the arms on which the open questions hinge.

Here are the options and the guarantee; `loop` runs a replication, `rule` is what a round judges and
picks, `run` what a replication is given and its clock, and each stride (`strides`), a way of making
rounds, has a file: `plain`, `in_step`, `lanes`, `challenge` (the last arm in question, between the
lines of `challenge_lines`) and `corridors` (with the walk in them, `corridor_walk`); `view` keeps
the few arms of many that a round may look at, `view_guards` whether they decide it. All of that is
of the paper's radius and picks; `variants` has the others, which the options choose.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rai_sim.algorithms.base import Algorithm, option
from rai_sim.algorithms.lucb.variants.named import NamedRadius
from rai_sim.algorithms.lucb.variants.picks import PicksName, choice_of, what_is_asked_for
from rai_sim.algorithms.lucb.variants.radii import RadiusName
from rai_sim.engine.blocks import Block, Setting
from rai_sim.support.errors import ArgumentValueError

if TYPE_CHECKING:
    from rai_sim.algorithms.lucb.variants.named import RadiusField
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

    With another `radius` arms have intervals that are valid at all times, however they are pulled,
    and that take a third of the pulls or less; `picks` are the classical rules on any of the
    intervals. All of them are delta-PC but `as_printed`; formulas and proofs stand in
    `rai_sim.algorithms.lucb.variants`. A variant's time grows as the root of its pulls, as rounds are
    skipped while the picks are certain to stay the same; for the best of 3 to 64 `Bernoulli` arms,
    given as two clusters, at near ties a fifth of that, as rounds in which challengers take turns are
    made at once. With "k-m", or with the paper's radius and other picks than "all", it is made round
    by round: give near ties a cap. A round that is looked at takes time in proportion to the active
    arms, some 6 ns an arm.

    Parameters
    ----------
    as_printed : bool, default False
        Follow the printed pseudo-code, its slips mended: look at the neighbouring clusters only and
        leave the cluster's own weakest arms alone. **Not delta-PC**: on the mirrored table instance
        with r = (3, 0, 0) it errs in about 20 % of runs at delta = 1 %; and a run in which an
        unlucky arm is never pulled again may not end: cap it with `max_pulls`. For study; with the
        default radius and picks only.
    radius : {"paper", "mixture", "stitched"}, default "paper"
        The paper's, which grows with the round; or a function of the arm's own pulls alone, by a
        normal mixture or by stitching (Howard, Ramdas, McAuliffe and Sekhon 2021), "stitched" being
        wider but where gaps are tiny. What is given is a text that can be called: see `Algorithm.radius`.
    picks : {"all", "lucb++", "k-m", "rank"}, default "all"
        Whom a round pulls: the arms above; or, of tasks for which that is defined, those of a
        classical rule. "lucb++" (Simchowitz, Jamieson and Recht 2017): best arm and top K, whose UCBs
        share delta / 2 among K arms and whose LCBs among N - K. "k-m" (LUCB-k-m; Roy Chaudhuri and
        Kalyanakrishnan 2019): M of the top K, any M and K. "rank" (LUCBRank; Katariya et al. 2018):
        coarse rankings, of which any clusters may be asked for whole. These pull until all is
        known, and settle no arm before.

    Raises
    ------
    TypeError
        If an option is of another kind.
    ValueError
        If there is no such radius or no such picks, or `as_printed` comes with others than the
        default; from `simulate` and whatever else is given a problem, if the picks are not defined for it.

    Examples
    --------
    >>> import rai_sim as rai
    >>> result = rai.simulate(rai.table_problem(task=1), rai.LUCB(), delta=0.01, replications=100, seed=1)
    >>> bool(3_000 < result.pulls.mean() < 6_000)
    True
    >>> sharper = rai.LUCB(radius="mixture")
    >>> sharper
    LUCB(as_printed=False, radius='mixture')
    >>> result = rai.simulate(rai.table_problem(task=1), sharper, delta=0.01, replications=100, seed=1)
    >>> bool(600 < result.pulls.mean() < 1_500)
    True
    """

    of_the_paper: ClassVar[bool] = True
    looks_at_most_rounds: ClassVar[bool] = True
    sharper = (
        {"radius": "mixture"},
        {"radius": "stitched"},
        *({"radius": "mixture", "picks": picks} for picks in ("lucb++", "k-m", "rank")),
    )
    as_printed: bool = False
    if TYPE_CHECKING:
        radius: RadiusField = RadiusField()
    else:
        radius: RadiusName = option("paper")
    picks: PicksName = option("all")

    def __post_init__(self) -> None:
        """Refuse options that do not go together."""
        super().__post_init__()
        for name, given, default in (
            ("radius", self.radius, "paper"),
            ("picks", self.picks, "all"),
        ):
            if self.as_printed and given != default:
                raise ArgumentValueError(
                    name,
                    f"LUCB: {name} is {given!r} but as_printed is True, which is the paper's rule; "
                    f"leave one of them out",
                )
        object.__setattr__(self, "radius", NamedRadius(self.radius, self.picks))

    def check_problem(self, problem: Problem, delta: float) -> None:
        """Refuse a problem for which the picks are not defined."""
        asked = what_is_asked_for(self.picks, problem.clusters, problem.required)
        if asked is not None:
            raise ArgumentValueError(
                "algorithm",
                f"algorithm is {self.label}, and these picks are for {asked}; clusters are "
                f"{problem.clusters}, required {problem.required}: choose picks='all'",
            )

    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Run len(block.pulls) replications from index `first` on and write them into `block`."""
        # here and below: kernels, which the import of the package need not wait for
        if self.radius == "paper" and self.picks == "all":
            from rai_sim.algorithms.lucb.loop import new_run, new_scratch, run_block
            from rai_sim.algorithms.lucb.run import Rule

            rule = Rule(
                math.pi**2 * setting.cluster_of.size / (3.0 * setting.delta), self.as_printed
            )
            run_block(new_run(law, rule, setting, block), new_scratch(setting), first, block)
            return
        from rai_sim.algorithms.lucb.variants import loop as variants

        choice = choice_of(
            self.radius.name,
            self.picks,
            setting.sizes.tolist(),
            setting.required.tolist(),
            setting.delta,
        )
        by_levels = variants.have_levels(law, setting, choice)
        if by_levels:
            law = variants.with_pieces(law, setting)
        variant = variants.new_variant(choice, setting.cluster_of.size, by_levels)
        given = variants.new_variant_run(law, setting, block)
        variants.run_variant_block(given, variant, first, block)
