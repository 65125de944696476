"""Mean pulls against what was varied, with the theory's bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rai_sim import bounds as theory
from rai_sim.plotting.efficiency import say_whose_bounds
from rai_sim.plotting.inputs import NO_INTERVAL, Case, Results, cases_of
from rai_sim.plotting.intervals import alone, draw_band
from rai_sim.plotting.lines import lines_of
from rai_sim.plotting.style import Look, axes_or_new, finish, looks_of_lines, plain, scale_axis
from rai_sim.simulation.sweeps import abscissa
from rai_sim.support.checks import check_switch

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: A style of lines, as Matplotlib has it.
_Style = str | tuple[float, tuple[float, ...]]
_BOUND_MARKERS = "+x1"
_AXES = {"delta": "error probability δ", "n": "number of arms N", "gap": "bottleneck gap"}


def mean_pulls(
    results: Results, ax: Axes | None = None, *, against: str = "delta", bounds: bool = True
) -> Axes:
    """Draw mean pulls with 95 % intervals against delta, the number of arms, the gap, or a
    parameter of the instances.

    There is a line for each algorithm, and for each value of what else differs. Of fewer than 30
    finished replications no interval is drawn, and the legend says so.

    Parameters
    ----------
    results : Result, sequence or dict of label to Result, or StudyResults
        What to draw, a point each.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when None.
    against : str, default "delta"
        "delta"; "n", the number of arms; "gap", the bottleneck gap; or a numeric parameter of a
        study's instances. What makes a problem harder lies to the right: delta and gap fall along
        the axis.
    bounds : bool, default True
        Whether to draw the lower bounds of the mean (the tight one at each delta, where it is had
        in passing, see `rai_sim.bounds.shown`, and Theorem 1's, asymptotic) and the algorithms'
        upper bounds (Theorems 2 and 3, which a replication exceeds with probability at most delta).
        Of arms that are not sub-Gaussian with the parameter that algorithms are told (sigma, or 1/2),
        for which none holds, there are none.

    Returns
    -------
    matplotlib Axes
        The axes drawn into.

    Raises
    ------
    TypeError, ValueError
        If `results` holds something else, `against` is no parameter of all instances, a point has
        two values, or there are more than 10 lines (`StudyResults.select` takes some of a study).

    Examples
    --------
    >>> import rai_sim as rai
    >>> from matplotlib.figure import Figure
    >>> runs = [rai.simulate(rai.table_problem(), rai.Vanilla(), delta=delta, replications=50, seed=0) for delta in (0.1, 0.01)]
    >>> mean_pulls(runs, Figure().subplots(), against="delta").get_ylabel()
    'mean pulls'
    """
    check_switch("bounds", bounds)
    cases = cases_of(results)
    lines = lines_of(cases, against)
    with axes_or_new(ax) as axes:
        falling, xs = against in ("delta", "gap"), [abscissa(case, against) for case in cases]
        chosen = looks_of_lines({label: points[0].label for label, points in lines.items()})
        for label, points in lines.items():
            _draw_line(
                axes,
                label,
                sorted(points, key=lambda case: abscissa(case, against)),
                against,
                chosen[label],
            )
        if any(case.has_interval for case in cases):
            axes.fill_between(
                [], [], color="0.6", alpha=0.4, linewidth=0, label="band: 95 % interval"
            )
        if not all(case.has_interval for case in cases):
            axes.plot([], [], linestyle="none", label=NO_INTERVAL)
        if bounds:
            _draw_bounds(axes, lines, against, chosen)
        # ticks where the points are
        scale_axis(axes, "x", xs, 1.5 if falling else 4.0, wanted=xs, whole=against == "n")
        scale_axis(
            axes,
            "y",
            [value for line in axes.get_lines() for value in np.asarray(line.get_ydata(), float)],
        )
        if falling and not axes.xaxis_inverted():  # a caller may draw into axes twice
            axes.invert_xaxis()
        axes.set(xlabel=_AXES.get(against, plain(against)), ylabel="mean pulls")
        return finish(axes, "Sample complexity")


def _draw_line(ax: Axes, label: str, points: Sequence[Case], against: str, look: Look) -> None:
    x = [abscissa(case, against) for case in points]
    capped = ", finished runs only" if any(case.note for case in points) else ""
    ax.plot(
        x,
        [case.mean for case in points],
        **look.line_options(),
        linewidth=1.8,
        markersize=6,
        label=plain(label + capped),
    )
    ends = [(case.low, case.high) if case.has_interval else (math.nan, math.nan) for case in points]
    low, high = zip(*ends, strict=True)
    draw_band(ax, x, low, high, look.colour)


def _lower_bounds(points: Sequence[Case]) -> Iterator[tuple[str, _Style, list[float]]]:
    """Yield lower bounds of the mean: name, style of the line, pulls at the points; the tight one
    where it says something at some point."""
    pairs = [(case.experiment.problem, case.experiment.delta) for case in points]
    tight = [theory.shown(problem, delta) for problem, delta in pairs]
    known = [math.nan if one is None or one.pulls == 0.0 else one.pulls for one in tight]
    if not all(map(math.isnan, known)):
        yield "lower bound at δ (tight)", "solid", known
    # 0 of a single cluster
    asymptotic = [theory.lower(problem, delta) or math.nan for problem, delta in pairs]
    if not all(map(math.isnan, asymptotic)):
        yield "Theorem 1 (δ → 0)", (0, (4, 1, 1, 1)), asymptotic


def has_bounds(cases: Sequence[Case], against: str) -> bool:
    """Whether there are bounds to be drawn: of a line all of whose arms they hold for."""
    return any(
        case.upper[1] is not None or _has_gap(case)
        for points in lines_of(cases, against).values()
        if all(one.guarded for one in points)
        for case in points
    )


def _has_gap(case: Case) -> bool:
    """Whether there is something to tell apart, so that lower bounds are above 0."""
    return math.isfinite(case.experiment.problem.bottleneck_gap)


def _why_none(cases: Sequence[Case]) -> str:
    """Return why some have no bounds."""
    arms = [case.experiment.problem.arms for case in cases if not case.guarded]
    if not any(one.means_known for one in arms):
        return "no bounds of a law that is not known here"
    told = {"1/2" if one.sigma is None else f"{one.sigma:g}" for one in arms if one.means_known}
    return f"no bounds where rewards are not {told.pop() if len(told) == 1 else 'σ'}-sub-Gaussian"


def _draw_bounds(
    ax: Axes, lines: dict[str, list[Case]], against: str, chosen: dict[str, Look]
) -> None:
    """Draw each different lower bound once, and each line's upper bound in its own colour."""
    drawn: set[tuple[str | float, ...]] = set()
    theorems: dict[str, str] = {}
    cases = [case for points in lines.values() for case in points]
    if not all(case.guarded for case in cases):
        ax.plot([], [], linestyle="none", label=_why_none(cases))
    say_whose_bounds(ax, [case for case in cases if case.guarded and _has_gap(case)])
    for label, points in lines.items():
        if not all(case.guarded for case in points):
            continue
        ordered = sorted(points, key=lambda case: abscissa(case, against))
        x = [abscissa(case, against) for case in ordered]
        for name, style, lower in _lower_bounds(ordered):
            key: tuple[str | float, ...] = (name, *x, *lower)
            if key not in drawn:
                lone = alone(~np.isnan(lower))
                ax.plot(
                    x,
                    lower,
                    color="0.25",
                    linewidth=1.4,
                    linestyle=style,
                    zorder=1.5,
                    marker="_" if lone.any() else "",
                    markevery=np.flatnonzero(lone).tolist(),
                    label=None if any(name == one[0] for one in drawn) else name,
                )
                drawn.add(key)
        theorem, _ = ordered[0].upper
        if theorem is not None:
            upper = [case.upper[1] for case in ordered]
            said = f"{theorem} (w.p. 1 − δ)"
            new = said not in theorems
            marker = theorems.setdefault(said, _BOUND_MARKERS[len(theorems) % len(_BOUND_MARKERS)])
            ax.plot(
                x,
                [math.nan if value is None else value for value in upper],
                color=chosen[label].colour,
                linewidth=1.0,
                linestyle=(0, (1, 2)),
                marker=marker,
                markersize=6,
                zorder=1.5,
                label=said if new else None,
            )
