"""How pulls are shared among the arms, beside the shares that would be best."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rai_sim import bounds
from rai_sim.bounds.laws import borrowed_laws, natural_family
from rai_sim.plotting.counted import ArmPulls, counted, interval_words
from rai_sim.plotting.inputs import Results, few_cases_of_one_problem
from rai_sim.plotting.style import Look, axes_or_new, finish, plain
from rai_sim.plotting.ticks import set_ticks
from rai_sim.support.checks import check_count
from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.wording import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Curves in one figure, at most, and arms.
_CURVES, MOST_ARMS = 6, 60
#: Of so many arms each has its number below the axis, or its name.
_MOST_NAMED = 12
#: How much of an arm's room its bar takes, and the marks beside each other.
_BAR, _MARKS = 0.84, 0.62


def allocation(results: Results, ax: Axes | None = None, *, replications: int = 100) -> Axes:
    """Draw each arm's share of the pulls, with 95 % intervals, beside the best shares.

    The share is E[pulls of the arm] / E[pulls]. The best shares are those of the tight lower bound
    (`rai_sim.bounds.degenne_koolen`): an algorithm that meets the bound as delta goes to 0 shares
    its pulls so. Arms stand in the order of their means, best first, dashed lines between clusters.

    Pulls by arm are those of all finished replications where they are kept (`keep` in
    `rai_sim.simulate` and `rai_sim.Study`); else the first finished replications of each experiment
    are run again (`rai_sim.arm_pulls`). Of fewer than 30, and of sums, no intervals are drawn, and
    the legend says so.

    Parameters
    ----------
    results : Result, sequence or dict of label to Result, or StudyResults that keep rows or pulls by arm
        What to draw, up to 6 experiments on one problem of at most 60 arms.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when None.
    replications : int, default 100
        How many of each experiment are run again, at most, where pulls by arm are not kept.

    Returns
    -------
    matplotlib Axes
        The axes drawn into.

    Raises
    ------
    TypeError, ValueError
        If `results` holds something else, several problems, one with a single cluster, more than 60
        arms or unknown best shares (`rai_sim.bounds.shown`), more than 6 experiments, aggregates
        only, or no finished replication; or `replications` is no positive integer.

    Examples
    --------
    >>> import rai_sim as rai
    >>> from matplotlib.figure import Figure
    >>> result = rai.simulate(rai.table_problem(2), rai.LUCB(), replications=20, seed=0)
    >>> allocation(result, Figure().subplots()).get_ylabel()
    'share of pulls'
    """
    number = check_count("replications", replications, 1)
    chosen, problem = few_cases_of_one_problem(results, _CURVES)
    if problem.n_arms > MOST_ARMS or math.isnan(chosen[0][0].theory.asymptotic):
        raise ArgumentValueError(
            "results",
            f"results is of {count(problem.n_arms, 'arm')} of which no best shares are known, or "
            f"which cannot be told apart; they are known of up to {MOST_ARMS} (of several right "
            "answers 20) arms that are sub-Gaussian with their sigma, or 1/2, in two clusters or more",
        )
    order = np.argsort(-problem.arms.means, kind="stable")
    found = counted([case for case, _, _ in chosen], number, order)
    places = np.arange(1.0, problem.n_arms + 1.0)
    borders = np.cumsum(problem.clusters)[:-1] + 0.5
    with axes_or_new(ax) as axes:
        family = natural_family(problem)
        best = bounds.degenne_koolen(problem, family).weights[order]
        laws = borrowed_laws(problem)
        said = f"best shares (lower bound{f', as for {laws}' if laws else ''})"
        axes.bar(places, best, _BAR, color="0.85", zorder=0.8, label=said)
        for place, ((_, label, look), pulls) in enumerate(zip(chosen, found, strict=True)):
            aside = _MARKS * ((place + 0.5) / len(chosen) - 0.5)
            words = f"{label} ({count(pulls.number, 'replication')})"
            _draw_shares(axes, places + aside, pulls, look, words)
        for words, marker in interval_words(found, "share"):
            axes.plot([], [], color="0.5", marker=marker, markersize=10, ls="none", label=words)
        for border in borders:
            axes.axvline(border, color="0.35", linestyle=(0, (2, 2)), linewidth=1.0, zorder=0.5)
        axes.set_xlim(0.4, problem.n_arms + 0.6)
        axes.set_ylim(bottom=0.0)
        set_ticks(axes, "x", places.tolist() if problem.n_arms <= _MOST_NAMED else (), whole=True)
        if problem.arms.names is not None and problem.n_arms <= _MOST_NAMED:
            names = [plain(problem.arms.name(arm), 18) for arm in order.tolist()]
            axes.set_xticks(places, names, rotation=30, ha="right")
        axes.set(xlabel="arm, best first, clusters by dashed lines", ylabel="share of pulls")
        return finish(axes, "Shares of pulls")


def _draw_shares(ax: Axes, x: NDArray[np.float64], pulls: ArmPulls, look: Look, label: str) -> None:
    """Draw the arms' shares of all pulls, with intervals if there are replications enough."""
    ax.errorbar(
        x,
        pulls.share,
        yerr=pulls.error_of_share(),
        fmt=look.marker,
        color=look.colour,
        markersize=4.5,
        capsize=2.0,
        linewidth=1.2,
        label=label,
    )
