"""Error rates of what is recommended at caps on pulls, against the caps: what a budget buys."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rai_sim.plotting.efficiency import one_family
from rai_sim.plotting.inputs import Case, Results, cases_at_caps
from rai_sim.plotting.intervals import aside, room_for
from rai_sim.plotting.lines import lines_of
from rai_sim.plotting.style import Look, axes_or_new, finish, looks_of_lines, plain
from rai_sim.plotting.ticks import set_ticks
from rai_sim.simulation.intervals import clopper_pearson
from rai_sim.support.errors import ArgumentValueError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Transform

#: Room on either side of the axes as a factor, at least.
_ROOM = 1.4


def budgets(results: Results, ax: Axes | None = None) -> Axes:
    """Draw error rates of what is recommended at caps on pulls, against the caps.

    The rates are of all replications: of those that stopped before the cap, of what they named
    (`Result.recommended`). Intervals are Clopper and Pearson's, of one point each. Where no
    replication erred an open mark shows the interval's upper end. Marks of several algorithms stand
    side by side about their cap.

    Parameters
    ----------
    results : Result, sequence or dict of label to Result, or StudyResults
        What to draw, a point each run that has a cap; `Study.grid(..., max_pulls=[100, 1000])`
        makes such ones.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when None.

    Returns
    -------
    matplotlib Axes
        The axes drawn into, both logarithmic.

    Raises
    ------
    TypeError, ValueError
        If `results` holds something else, or no run with a cap, a point has two values, or there
        are more than 10 lines (`StudyResults.select` takes some of a study).

    Examples
    --------
    >>> import rai_sim as rai
    >>> from matplotlib.figure import Figure
    >>> problem = rai.table_problem(2)
    >>> runs = [rai.simulate(problem, rai.LUCB(), max_pulls=cap, replications=200) for cap in (100, 1000)]
    >>> ax = budgets(runs, Figure().subplots())
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('pulls allowed', 'error rate of what is recommended')
    """
    cases = cases_at_caps(results)
    if not cases:
        raise ArgumentValueError(
            "results",
            "results has no run with a cap of which it is known what is recommended there; draw "
            "runs with max_pulls",
        )
    lines = lines_of(cases, "max_pulls")
    ends = {id(case): clopper_pearson(_errors(case), case.replications) for case in cases}
    seen = [_rate(case) for case in cases if _errors(case)] + [high for _, high in ends.values()]
    with axes_or_new(ax) as axes:
        axes.set(xscale="log", yscale="log")
        caps = [_cap(case) for case in cases]
        room = room_for(axes, caps, len(lines), _ROOM)
        axes.set_xlim(min(caps) / room, max(caps) * room)
        axes.set_ylim(min(seen) / (2.0 * _ROOM), min(max(seen) * _ROOM, 1.2))
        chosen = looks_of_lines({label: points[0].label for label, points in lines.items()})
        for place, (label, points) in enumerate(lines.items()):
            ordered = sorted(points, key=_cap)
            moved, of_points = aside(axes, place, len(lines)), [ends[id(case)] for case in ordered]
            _draw_line(axes, label, ordered, of_points, chosen[label], moved)
        said = "bar: 95 % interval (Clopper-Pearson)"
        axes.plot([], [], color="0.5", marker="|", markersize=9, linestyle="none", label=said)
        if not all(map(_errors, cases)):
            words = "open: no error, upper end"
            axes.plot([], [], color="0.5", marker="o", mfc="none", ls="none", label=words)
        set_ticks(axes, "x")
        set_ticks(axes, "y")
        axes.set(xlabel="pulls allowed", ylabel="error rate of what is recommended")
        return finish(axes, one_family("Error against budget", {case.instance for case in cases}))


def _errors(case: Case) -> int:
    return case.errors_at_cap or 0


def _rate(case: Case) -> float:
    return _errors(case) / case.replications


def _cap(case: Case) -> int:
    return case.experiment.max_pulls or 0


def _draw_line(
    ax: Axes,
    label: str,
    points: Sequence[Case],
    ends: Sequence[tuple[float, float]],
    look: Look,
    moved: Transform,
) -> None:
    """Draw an algorithm's rates, in the order of the caps, moved aside so that none hides another."""
    bottom, caps = ax.get_ylim()[0], [_cap(case) for case in points]
    how: dict[str, Any] = {"color": look.colour, "transform": moved, "clip_on": True}
    rates = [_rate(case) if _errors(case) else math.nan for case in points]
    mark: dict[str, Any] = {"marker": look.marker, "markersize": 5.5}
    ax.plot(caps, rates, ls=look.line, lw=1.2, label=plain(label), **mark, **how)
    lows = [max(low, bottom) for low, _ in ends]
    ax.vlines(caps, lows, [high for _, high in ends], linewidth=1.3, **how)
    none = [
        (_cap(case), high)
        for case, (_, high) in zip(points, ends, strict=True)
        if not _errors(case)
    ]
    if none:
        at = zip(*none, strict=True)
        ax.plot(*at, mfc="white", ls="none", zorder=2.5, **mark, **how)
