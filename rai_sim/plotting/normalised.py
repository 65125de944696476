"""Mean pulls over ln(1/delta): what an answer costs for each unit of confidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
from rai_sim.support.checks import check_switch

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The axes become logarithmic where values differ by more than these factors.
_WIDE_X, _WIDE_Y = 30.0, 12.0


def normalised_pulls(results: Results, ax: Axes | None = None, *, bounds: bool = True) -> Axes:
    """Draw mean pulls over ln(1/delta), with 95 % intervals, against ln(1/delta).

    As delta goes to 0, no algorithm that errs with probability at most delta comes below a level
    that the problem alone decides, 1 / D(mu) (`rai_sim.bounds.degenne_koolen`): it is drawn, and so
    is the lower bound at each delta. An algorithm whose line comes down to the level is
    asymptotically optimal; one whose line goes level above it pays a constant factor. There is a
    line for each algorithm, and for each value of what else differs.

    Parameters
    ----------
    results : Result, sequence or dict of label to Result, or StudyResults
        What to draw, a point each, at several deltas.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when None.
    bounds : bool, default True
        Whether to draw the level and the bound, where they are had in passing
        (`rai_sim.bounds.shown`).

    Returns
    -------
    matplotlib Axes
        The axes drawn into.

    Raises
    ------
    TypeError, ValueError
        If `results` holds something else, a point has two values, or there are more than 10 lines
        (`StudyResults.select` takes some of a study).

    Examples
    --------
    >>> import rai_sim as rai
    >>> from matplotlib.figure import Figure
    >>> runs = [rai.simulate(rai.table_problem(2), rai.Vanilla(), delta=delta, replications=50, seed=0) for delta in (0.1, 1e-10)]
    >>> ax = normalised_pulls(runs, Figure().subplots())
    >>> [round(float(x), 1) for x in ax.get_lines()[0].get_xdata()]
    [2.3, 23.0]
    """
    check_switch("bounds", bounds)
    cases = cases_of(results)
    lines = lines_of(cases, "delta")
    with axes_or_new(ax) as axes:
        draw_over(axes, lines, _confidence, _confidence)
        if bounds:
            draw_theory(
                axes,
                lines,
                _confidence,
                lambda case: case.theory.bound / _confidence(case),
                label="lower bound at δ",
                color="0.25",
                linewidth=1.3,
                linestyle=(0, (1, 1.2)),
                zorder=1.5,
            )
            draw_theory(
                axes,
                lines,
                _confidence,
                lambda case: case.theory.asymptotic / _confidence(case),
                label="its level as δ → 0",
                color="0.25",
                linewidth=1.4,
                zorder=1.5,
            )
            say_whose_bounds(
                axes, (case for case in cases if math.isfinite(case.theory.asymptotic))
            )
        xs = [_confidence(case) for case in cases]
        scale_axis(axes, "x", xs, _WIDE_X)
        scale_axis(axes, "y", heights(axes), _WIDE_Y)
        if axes.get_yscale() == "linear":
            axes.set_ylim(bottom=0.0)
        axes.set(xlabel="ln(1/δ)", ylabel="mean pulls / ln(1/δ)")
        names = {case.instance for case in cases}
        return finish(axes, one_family("Cost of confidence", names))


def bound_words(cases: Sequence[Case]) -> str:
    """Return which bound is drawn of some cases, for a caption; nothing if none is known."""
    level = any(math.isfinite(case.theory.asymptotic) for case in cases)
    if any(math.isfinite(case.theory.bound) for case in cases):
        return ", with the lower bound and its level"
    return ", with the level of the lower bound as δ → 0" if level else ""


def _confidence(case: Case) -> float:
    return -math.log(case.experiment.delta)
