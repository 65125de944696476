"""Error rates against delta: whether algorithms err as seldom as they promise, and how much more
seldom."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.transforms import Transform

from rai_sim.certification.verdicts import ALPHA, Seen, level_of_each
from rai_sim.plotting.efficiency import one_family
from rai_sim.plotting.inputs import Case, Results, cases_of
from rai_sim.plotting.intervals import aside, room_for
from rai_sim.plotting.lines import lines_of
from rai_sim.plotting.style import Look, axes_or_new, finish, looks_of_lines, plain
from rai_sim.plotting.ticks import set_ticks
from rai_sim.simulation.intervals import clopper_pearson
from rai_sim.simulation.statistics import ABOVE
from rai_sim.support.wording import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Room on either side of the axes as a factor, at least.
_ROOM = 1.6


def calibration(results: Results, ax: Axes | None = None) -> Axes:
    """Draw error rates against delta, with 95 % intervals, and the line where both are the same.

    An algorithm keeps its promise where the rate is below the line. Intervals are Clopper and
    Pearson's, exact for any number of replications, of one point each: of many, one in forty lies
    above the line by chance where the error probability is delta itself. Rings mark points of which
    it is known all the same, corrected for the number of a study's tasks, or of the results that
    are drawn (`rai_sim.certification.verdicts`): with probability 0.95, a study's 1 - alpha, not
    one of them is wrong. Where no replication erred an open mark shows the interval's upper end.
    Rates are of replications that finished.

    Parameters
    ----------
    results : Result, sequence or dict of label to Result, or StudyResults
        What to draw, a point each.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when None.

    Returns
    -------
    matplotlib Axes
        The axes drawn into, both logarithmic, with delta growing to the right.

    Raises
    ------
    TypeError, ValueError
        If `results` holds something else, a point has two values, or there are more than 10 lines
        (`StudyResults.select` takes some of a study).

    Examples
    --------
    >>> import rai_sim as rai
    >>> from matplotlib.figure import Figure
    >>> problem, printed = rai.table_problem(2), rai.LUCB(as_printed=True)
    >>> runs = [rai.simulate(problem, printed, delta=delta, replications=200, seed=0) for delta in (0.2, 0.02)]
    >>> ax = calibration(runs, Figure().subplots())
    >>> ax.get_xlabel(), ax.get_legend_handles_labels()[1][:2]
    ('error probability δ', ['LUCB (as_printed=True)', 'error rate = δ'])
    """
    cases = cases_of(results)
    lines = lines_of(cases, "delta")
    ends = {id(case): clopper_pearson(case.errors, case.finished) for case in cases}
    above = {id(case) for case in cases if _verdict(case, len(cases)) == ABOVE}
    deltas = [case.experiment.delta for case in cases]
    # Of rates that are shown: an interval's lower end may be as good as 0.
    seen = [_rate(case) for case in cases if case.errors] + [ends[id(case)][1] for case in cases]
    with axes_or_new(ax) as axes:
        axes.set(xscale="log", yscale="log")
        room = room_for(axes, deltas, len(lines), _ROOM)
        x = min(deltas) / room, min(max(deltas) * room, 1.0)
        y = max(min(*seen, min(deltas)) / 4.0, 1e-300), min(max(*seen, max(deltas)) * _ROOM, 1.0)
        axes.set_xlim(x)
        axes.set_ylim(y)
        chosen = looks_of_lines({label: points[0].label for label, points in lines.items()})
        for place, (label, points) in enumerate(lines.items()):
            moved = aside(axes, place, len(lines))
            of_points = [ends[id(case)] for case in points]
            _draw_line(axes, label, points, of_points, chosen[label], moved)
            ringed = [(c.experiment.delta, _rate(c)) for c in points if id(c) in above]
            if ringed:
                axes.plot(*zip(*ringed, strict=True), transform=moved, **_RING)
        axes.plot(x, x, color="0.25", linewidth=1.2, zorder=1.5, label="error rate = δ")
        said = "bar: 95 % interval (Clopper-Pearson)"
        axes.plot([], [], color="0.5", marker="|", markersize=9, linestyle="none", label=said)
        if not all(case.errors for case in cases):
            words = "open: no error, upper end"
            axes.plot([], [], color="0.5", marker="o", mfc="none", ls="none", label=words)
        if above:
            axes.plot([], [], **_RING, label=f"above δ ({_sure(cases)})")
        set_ticks(axes, "x", deltas)
        set_ticks(axes, "y")
        axes.set(xlabel="error probability δ", ylabel="error rate")
        names = {case.instance for case in cases}
        return finish(axes, one_family("Calibration", names))


#: What marks a point that lies above delta for certain.
_RING: dict[str, Any] = {
    "marker": "o",
    "mfc": "none",
    "mec": "#B00020",
    "mew": 1.3,
    "markersize": 12.0,
    "linestyle": "none",
}


def _rate(case: Case) -> float:
    return case.errors / case.finished


def _verdict(case: Case, drawn: int) -> str:
    """Return on which side of delta a rate lies, as far as is known of all at once: of its study's
    tasks, or of what is drawn."""
    if case.verdict is not None:
        return case.verdict
    counts = Seen(case.replications, case.errors, case.replications - case.finished)
    return counts.finding(case.experiment.delta, level_of_each(ALPHA, drawn))


def _sure(cases: Sequence[Case]) -> str:
    """Return how sure the rings are, all at once."""
    alphas = {ALPHA if case.study is None else case.study[0].alpha for case in cases}
    return f"all at once: {percent(1.0 - max(alphas))}"


def _draw_line(
    ax: Axes,
    label: str,
    points: Sequence[Case],
    ends: Sequence[tuple[float, float]],
    look: Look,
    moved: Transform,
) -> None:
    """Draw an algorithm's rates, moved aside so that none hides another."""
    how: dict[str, Any] = {"color": look.colour, "transform": moved, "clip_on": True}
    order = np.argsort([case.experiment.delta for case in points])
    ordered = [(points[i], *ends[i]) for i in order]
    x = [case.experiment.delta for case, _, _ in ordered]
    rates = [_rate(case) if case.errors else math.nan for case, _, _ in ordered]
    bottom = ax.get_ylim()[0]
    capped = ", finished runs only" if any(case.note for case in points) else ""
    ax.plot(
        x,
        rates,
        marker=look.marker,
        markersize=5.5,
        linestyle=look.line,
        linewidth=1.2,
        label=plain(label + capped),
        **how,
    )
    ax.vlines(
        x,
        [max(low, bottom) if case.errors else bottom for case, low, _ in ordered],
        [high for _, _, high in ordered],
        linewidth=1.3,
        **how,
    )
    none = [(case.experiment.delta, high) for case, _, high in ordered if not case.errors]
    if none:
        mark: dict[str, Any] = {"markersize": 5.5, "linestyle": "none", "zorder": 2.5}
        ax.plot(*zip(*none, strict=True), marker=look.marker, mfc="white", **mark, **how)
        ax.plot([at for at, _ in none], [bottom] * len(none), marker=7, **mark, **how)
