"""The law of pulls, held against an oracle's."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rai_sim.bounds import Threshold
from rai_sim.plotting.distributions import Curve, draw_ecdf
from rai_sim.plotting.inputs import Case, Results, few_cases
from rai_sim.plotting.style import axes_or_new, finish, scale_axis
from rai_sim.simulation.intervals import clopper_pearson
from rai_sim.simulation.theory import THRESHOLDS
from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.values import is_choice, short
from rai_sim.support.wording import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Curves in one figure, at most.
_CURVES = 10


def law(results: Results, ax: Axes | None = None, *, threshold: Threshold = "pairs") -> Axes:
    """Draw the distribution of pulls over those of an oracle, each algorithm with the interval of
    its error rate beside its name.

    The oracle knows how to share its pulls and stops by a threshold (`rai_sim.bounds.practical`).
    An algorithm that is left of another one needs fewer pulls; the error rates say whether it
    pays for that. Bands hold the whole curve with probability 95 % (see
    `rai_sim.plotting.distribution`), error rates have Clopper-Pearson intervals of 95 %.

    Parameters
    ----------
    results : Result, sequence or dict of label to Result, or StudyResults
        What to draw, a curve each, up to 10.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when None.
    threshold : {"pairs", "paper", "gk16-unproven"}, default "pairs"
        What the oracle stops by.

    Returns
    -------
    matplotlib Axes
        The axes drawn into.

    Raises
    ------
    TypeError, ValueError
        If `results` holds something else, no finished replication, more than 10 experiments, or
        problems for which no such oracle is known (many arms, see `rai_sim.bounds.shown`, a single
        cluster, or arms that are not sub-Gaussian with the parameter that algorithms are told); or `threshold` is unknown.

    Examples
    --------
    >>> import rai_sim as rai
    >>> from matplotlib.figure import Figure
    >>> result = rai.simulate(rai.table_problem(2), rai.Vanilla(), replications=100, seed=0)
    >>> ax = law(result, Figure().subplots())
    >>> ax.get_xlabel(), ax.get_legend_handles_labels()[1][0]
    ("pulls over an oracle's (pairs: 13,423)", 'Vanilla, wrong 0 to 3.62 %')
    """
    if not is_choice(threshold, THRESHOLDS):
        raise ArgumentValueError(
            "threshold",
            f"threshold is {short.repr(threshold)}; choose one of "
            f"{', '.join(map(repr, THRESHOLDS))}",
        )
    chosen = few_cases(results, _CURVES)
    oracle = [case.theory.practical(threshold) for case, _, _ in chosen]
    if not all(0.0 < pulls < math.inf for pulls in oracle):
        raise ArgumentValueError(
            "results",
            "results has problems for which no oracle is known: many arms (rai_sim.bounds.shown), a "
            "single cluster, or arms that are not sub-Gaussian with their sigma, or 1/2; choose others",
        )
    curves = []
    for (case, label, look), pulls in zip(chosen, oracle, strict=True):
        values, counts = case.distribution()
        curves.append(
            Curve(f"{label}, {_errors(case)}", look, values / pulls, counts, case.replications)
        )
    with axes_or_new(ax) as axes:
        scale_axis(axes, "x", np.concatenate([[1.0], *(curve.values for curve in curves)]), 5.0)
        draw_ecdf(axes, curves)
        axes.axvline(
            1.0, color="0.35", linestyle=(0, (2, 2)), linewidth=1.0, zorder=0.5, label="1: oracle"
        )
        which = f"{threshold}: {oracle[0]:,.0f}" if len(set(oracle)) == 1 else threshold
        axes.set(xlabel=f"pulls over an oracle's ({which})", ylabel="share of replications")
        return finish(axes, "Pulls of a replication, and errors")


def _errors(case: Case) -> str:
    """Return the interval of the error rate, in words."""
    low, high = clopper_pearson(case.errors, case.finished)
    return f"wrong {100.0 * low:.3g} to {percent(high)}"
