"""Mean pulls over the sum of gap^-2, as the number of arms grows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rai_sim.plotting.efficiency import (
    draw_over,
    draw_theory,
    heights,
    one_family,
    say_whose_bounds,
)
from rai_sim.plotting.inputs import Case, Results, cases_of
from rai_sim.plotting.lines import lines_of
from rai_sim.plotting.style import axes_or_new, finish, scale_axis
from rai_sim.simulation.sweeps import family_of
from rai_sim.support.errors import ArgumentValueError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def moderate_confidence(results: Results, ax: Axes | None = None) -> Axes:
    """Draw mean pulls over the sum of gap^-2, with 95 % intervals, against the number of arms.

    At a delta that is not small, what many arms cost beyond their number shows here: a level line
    pays the same for each, a rising one pays ln N or more. The lower bound is drawn, too, where it
    is had in passing (`rai_sim.bounds.shown`).

    Parameters
    ----------
    results : Result, sequence or dict of label to Result, or StudyResults
        What to draw, a point each, such as a study of `rai_sim.scaling.over_n`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when None.

    Returns
    -------
    matplotlib Axes
        The axes drawn into.

    Raises
    ------
    TypeError, ValueError
        If `results` holds something else, a problem has a single cluster, a point has two values,
        or there are more than 10 lines.

    Examples
    --------
    >>> import rai_sim as rai
    >>> from matplotlib.figure import Figure
    >>> problems = [rai.best_arm(rai.Bernoulli(rai.instances.one_apart(n))) for n in (10, 100)]
    >>> runs = [rai.simulate(problem, rai.Vanilla(), delta=0.1, replications=50, seed=0) for problem in problems]
    >>> moderate_confidence(runs, Figure().subplots()).get_xlabel()
    'number of arms N'
    """
    cases = cases_of(results)
    if not all(math.isfinite(case.experiment.problem.bottleneck_gap) for case in cases):
        raise ArgumentValueError(
            "results",
            "results is of a problem with a single cluster, whose gaps are infinite; leave it out",
        )
    lines = lines_of(cases, "n")
    with axes_or_new(ax) as axes:
        draw_over(axes, lines, _number, lambda case: case.theory.complexity)
        draw_theory(
            axes,
            lines,
            _number,
            lambda case: case.theory.bound / case.theory.complexity,
            label="lower bound, where known",
            color="0.25",
            linewidth=1.4,
            zorder=1.5,
        )
        say_whose_bounds(axes, (case for case in cases if math.isfinite(case.theory.bound)))
        xs = [_number(case) for case in cases]
        scale_axis(axes, "x", xs, 4.0, whole=True)
        scale_axis(axes, "y", heights(axes), 12.0)
        if axes.get_yscale() == "linear":
            axes.set_ylim(bottom=0.0)
        axes.set(xlabel="number of arms N", ylabel="mean pulls over the sum of gap$^{-2}$")
        deltas = {f"δ = {case.experiment.delta:g}" for case in cases}
        families = {family_of(case, "n") for case in cases}
        return finish(axes, one_family(one_family("Moderate confidence", deltas), families))


def _number(case: Case) -> float:
    return float(case.experiment.problem.n_arms)
