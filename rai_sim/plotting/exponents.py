"""The slope of mean pulls along an axis, both logarithmic: whether they grow as theory says."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rai_sim.plotting.efficiency import one_family
from rai_sim.plotting.inputs import Case, Results, cases_of
from rai_sim.plotting.intervals import aside
from rai_sim.plotting.lines import lines_of
from rai_sim.plotting.style import Look, axes_or_new, finish, looks_of_lines, plain, scale_axis
from rai_sim.plotting.ticks import set_ticks
from rai_sim.scaling.fits import LEAST_REPLICATIONS, fit, local_exponents
from rai_sim.simulation.sweeps import family_of
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Transform

    from rai_sim.study import StudyResults

#: What pulls are a power of, in words; and the power that they are to have in the limit, with where
#: the limit is.
_VARIABLES = {"delta": "ln(1/δ)", "gap": "1/gap", "n": "N", "k": "K", "m": "M"}
_LIMITS: Mapping[str, tuple[float, str]] = {
    "gap": (2.0, "2: pulls as gap$^{-2}$"),
    "delta": (1.0, "1: pulls as ln(1/δ)"),
    "n": (1.0, "1: pulls as N"),
}
_AXES = {"delta": "ln(1/δ)", "gap": "gap", "n": "number of arms N", "k": "K", "m": "M"}


def exponents(results: Results, ax: Axes | None = None, *, against: str = "gap") -> Axes:
    """Draw the slope of ln(mean pulls) between neighbouring points along an axis, with 95 %
    intervals, and that of the line through all of them.

    Pulls that grow as gap^-2 have slope 2. Marks stand about midway, side by side, between the two
    points that they are of (`rai_sim.scaling.local_exponents`); where they drift pulls follow no power, or not yet. The
    band, and the numbers in the legend, are the one slope for all points with its 95 % interval,
    which accounts for errors of means and lack of fit (`rai_sim.scaling.fit`). Points of fewer than
    10 replications, or of which some were capped, are left out.

    Parameters
    ----------
    results : StudyResults
        Of a study along the axis, such as one of `rai_sim.scaling.over_gap`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when None.
    against : str, default "gap"
        "gap"; "delta", of which the slope is that against ln(1/delta); "n"; or a numeric parameter of
        the study's instances. What makes a problem harder lies to the right.

    Returns
    -------
    matplotlib Axes
        The axes drawn into.

    Raises
    ------
    TypeError, ValueError
        If `results` is no study's, no line has two points, a point has two values, or there are
        more than 10 lines (`StudyResults.select` takes some of a study).

    Examples
    --------
    >>> import tempfile
    >>> import rai_sim as rai
    >>> from matplotlib.figure import Figure
    >>> study = rai.scaling.over_gap(gaps=[0.1, 0.01, 0.001], algorithms=[rai.Vanilla()], replications=200)
    >>> ax = exponents(study.run(tempfile.mkdtemp()), Figure().subplots())
    >>> ax.get_ylabel(), ax.get_legend_handles_labels()[1][-1]
    ('slope of ln(mean pulls) in ln(1/gap)', 'Vanilla: 2.13 (1.97 to 2.30)')
    """
    cases = cases_of(results)
    slopes = {
        label: found
        for label, points in lines_of(cases, against).items()
        if (found := _slopes_of(points, against)) is not None
    }
    if not slopes:
        raise ArgumentValueError(
            "results",
            f"results has no line with two points against {against!r} of {LEAST_REPLICATIONS} replications each "
            "that all finished; run more, or more values along the axis",
        )
    with axes_or_new(ax) as axes:
        chosen = looks_of_lines({label: one.algorithm for label, one in slopes.items()})
        for place, (label, one) in enumerate(slopes.items()):
            _draw_line(axes, label, one, chosen[label], aside(axes, place, len(slopes)))
        if against in _LIMITS:
            level, words = _LIMITS[against]
            axes.axhline(level, color="0.25", linewidth=1.2, zorder=1.5, label=words)
        axes.plot([], [], color="0.5", marker="|", markersize=9, ls="none", label=_BAR)
        axes.fill_between([], [], color="0.6", alpha=0.4, linewidth=0, label=_BAND)
        at = [place for one in slopes.values() for place in one.points]
        scale_axis(axes, "x", at, 1.5 if against == "gap" else 4.0, at)
        set_ticks(axes, "y")
        if against == "gap" and not axes.xaxis_inverted():
            axes.invert_xaxis()
        name = _VARIABLES.get(against, plain(against))
        logarithm = "ln ln(1/δ)" if against == "delta" else f"ln({name})"
        axes.set(
            xlabel=_AXES.get(against, plain(against)),
            ylabel=f"slope of ln(mean pulls) in {logarithm}",
        )
        families = {family_of(case, against) for case in cases}
        return finish(axes, one_family("Exponent of pulls", families))


_BAR, _BAND = "bar: 95 %, two neighbours", "band: 95 %, all points"


def has_slope(case: Case) -> bool:
    """Whether a point is good for a slope: all of it finished, and of replications enough."""
    return case.finished == case.replications and case.finished >= LEAST_REPLICATIONS


@dataclass(frozen=True)
class _Slopes:
    """The slopes of a line through some points: between neighbours, each with its interval, and the
    one for all of them."""

    algorithm: str
    points: Sequence[float]
    between: Sequence[tuple[float, float, float]]
    whole: tuple[float, float, float]


def _slopes_of(points: Sequence[Case], against: str) -> _Slopes | None:
    """Return the slopes of a line of cases; None where too few points can be used."""
    some = _results_of(points)
    try:
        whole, pairs = fit(some, against), local_exponents(some, against)
    except ArgumentValueError:
        return None
    rows = pairs.rows(named=True)
    return _Slopes(
        points[0].label,
        [_place(at, against) for at in (rows[0]["first"], *(row["last"] for row in rows))],
        [_interval(row) for row in rows],
        _interval(whole.row(0, named=True)),
    )


def _interval(row: Mapping[str, Any]) -> tuple[float, float, float]:
    return row["exponent"], row["exponent_low_95"], row["exponent_high_95"]


def _place(at: float, against: str) -> float:
    """Return where a value of the axis is drawn."""
    return -math.log(at) if against == "delta" else at


def _results_of(points: Sequence[Case]) -> StudyResults:
    """Return a study's results of some of its tasks alone."""
    studies = [case.study for case in points if case.study is not None]
    if len(studies) < len(points):
        raise ArgumentTypeError(
            "results",
            "results is of no study, of which slopes are told; run one, such as "
            "rai.scaling.over_gap(...).run(folder)",
        )
    some = copy.copy(studies[0][0])
    some.tasks = tuple(task for _, task in studies)
    return some


def _draw_line(ax: Axes, label: str, slopes: _Slopes, look: Look, moved: Transform) -> None:
    exponent, low, high = slopes.whole
    ends = slopes.points[0], slopes.points[-1]
    ax.fill_between(ends, low, high, color=look.colour, alpha=0.13, linewidth=0)
    ax.plot(ends, [exponent] * 2, color=look.colour, linewidth=1.2, linestyle=look.line)
    values = [value for value, _, _ in slopes.between]
    off = [(value - below, above - value) for value, below, above in slopes.between]
    bars = ax.errorbar(
        [math.sqrt(one * other) for one, other in itertools.pairwise(slopes.points)],
        values,
        yerr=list(zip(*off, strict=True)),
        fmt=look.marker,
        color=look.colour,
        markersize=5.0,
        capsize=2.5,
        linewidth=1.3,
        label=plain(f"{label}: {exponent:.2f} ({low:.2f} to {high:.2f})"),
    )
    for artist in bars.get_children():  # now, not while they are made: limits are those of the data
        artist.set_transform(moved)
