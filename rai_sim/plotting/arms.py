"""What each arm cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rai_sim.plotting.counted import counted, interval_words
from rai_sim.plotting.inputs import (
    Results,
    few_cases_of_one_problem,
)
from rai_sim.plotting.intervals import aside
from rai_sim.plotting.style import axes_or_new, finish, scale_axis
from rai_sim.support.checks import check_count
from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.wording import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CURVES = 6
#: At most so many arms are drawn.
_MOST_ARMS = 1000
#: Points by which the marks of one arm stand apart.
_MARK = 4.0


def pulls_by_gap(results: Results, ax: Axes | None = None, *, replications: int = 100) -> Axes:
    """Draw each arm's mean pulls, with 95 % intervals, against its arm gap.

    Pulls by arm are those of all finished replications where they are kept (`keep` in
    `rai_sim.simulate` and `rai_sim.Study`); else the first finished replications of each experiment
    are run again (`rai_sim.arm_pulls`). Of fewer than 30, and of sums, no intervals are drawn, and
    the legend says so.
    Marks of one arm stand side by side about its gap. Of more than 1,000 arms so many are drawn,
    evenly spaced in the order of their gaps, least and greatest among them; the legend says so.

    Parameters
    ----------
    results : Result, sequence or dict of label to Result, or StudyResults that keep rows or pulls by arm
        What to draw, up to 6 experiments on one problem.
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
        If `results` holds something else, several problems, one with a single cluster (gaps are
        infinite), more than 6 experiments, aggregates only, or no finished replication; or
        `replications` is no positive integer.

    Examples
    --------
    >>> import rai_sim as rai
    >>> from matplotlib.figure import Figure
    >>> result = rai.simulate(rai.table_problem(), rai.LUCB(), replications=20, seed=0)
    >>> pulls_by_gap(result, Figure().subplots()).get_xlabel()
    'arm gap'
    """
    number = check_count("replications", replications, 1)
    chosen, problem = few_cases_of_one_problem(results, _CURVES)
    if not np.isfinite(problem.bottleneck_gap):
        raise ArgumentValueError(
            "results",
            "results is of a problem with a single cluster, whose arm gaps are infinite; there "
            "is nothing to draw against",
        )
    drawn = _drawn(problem.arm_gaps)
    found = counted([case for case, _, _ in chosen], number, drawn)
    gaps = problem.arm_gaps[drawn]
    with axes_or_new(ax) as axes:
        shown: list[NDArray[np.float64]] = []
        for place, ((_, label, look), pulls) in enumerate(zip(chosen, found, strict=True)):
            mean, error = pulls.mean, pulls.error_of_mean()
            # Where the interval reaches 0 a logarithmic axis would lose the whole bar.
            down = np.minimum(error, 0.999 * mean)
            bars = axes.errorbar(
                gaps,
                mean,
                yerr=[down, error],
                fmt=look.marker,
                color=look.colour,
                markersize=5,
                capsize=2.5,
                linewidth=1.2,
                label=f"{label} ({count(pulls.number, 'replication')})",
            )
            for (
                artist
            ) in bars.get_children():  # now, not while they are made: limits are those of the data
                artist.set_transform(aside(axes, place, len(chosen), _MARK))
            shown.append(mean)
        for words, marker in interval_words(found, "mean"):
            axes.plot([], [], color="0.5", marker=marker, markersize=10, ls="none", label=words)
        if len(drawn) < problem.n_arms:
            axes.plot([], [], linestyle="none", label=f"{len(drawn):,} of {problem.n_arms:,} arms")
        axes.axvline(
            problem.bottleneck_gap,
            color="0.35",
            linestyle=(0, (2, 2)),
            linewidth=1.0,
            zorder=0.5,
            label="bottleneck gap",
        )
        scale_axis(axes, "x", gaps, factor=4.0)
        scale_axis(axes, "y", np.concatenate(shown), factor=4.0)
        axes.set(xlabel="arm gap", ylabel="mean pulls of the arm")
        return finish(axes, "Pulls of each arm")


def _drawn(gaps: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the arms that are drawn: all, in their order, unless they are too many."""
    if len(gaps) <= _MOST_ARMS:
        return np.arange(len(gaps))
    places = np.linspace(0, len(gaps) - 1, _MOST_ARMS).round().astype(np.int64)
    return np.argsort(gaps, kind="stable")[places]
