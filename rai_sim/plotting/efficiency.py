"""Mean pulls over the lower bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from matplotlib.ticker import NullLocator
from numpy.typing import NDArray

from rai_sim.bounds import Threshold
from rai_sim.bounds.laws import borrowed_laws
from rai_sim.plotting.inputs import NO_INTERVAL, Case, Results, cases_of
from rai_sim.plotting.lines import lines_of
from rai_sim.plotting.style import Look, axes_or_new, finish, looks_of_lines, plain, scale_axis
from rai_sim.plotting.ticks import TickFormatter, TickLocator
from rai_sim.simulation.sweeps import abscissa, family_of
from rai_sim.simulation.theory import THRESHOLDS
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError
from rai_sim.support.values import is_choice, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: From a case to where it lies on the horizontal axis.
Place: TypeAlias = Callable[[Case], float]
#: How thresholds are called in legends, and their dashes.
_THRESHOLDS: Mapping[Threshold, tuple[str, Any]] = {
    "paper": ("the paper's width", (0, (9, 2))),
    "pairs": ("pairs of arms", (0, (4, 2))),
    "gk16-unproven": ("GK16 (unproven)", (0, (1, 1.5))),
}
#: Powers of ten at which an axis of ever smaller deltas may have ticks, the most at first.
_POWERS = (
    (1, 2, 3, 5, 10, 20, 50, 100, 200),
    (1, 2, 5, 10, 30, 100, 300),
    (1, 3, 10, 100),
    (1, 10, 100),
)
#: Share of the axis of deltas that is left free on either side.
_MARGIN = 0.05
#: Deltas are taken to lie in here, so that ln ln(1/delta) is finite.
_LEAST, _MOST = 1e-320, 1.0 - 1e-15
_AXES = {"n": "number of arms N", "gap": "bottleneck gap", "k": "K", "m": "M"}


def efficiency(
    results: Results,
    ax: Axes | None = None,
    *,
    against: str = "delta",
    practical: Sequence[str] = ("paper", "pairs", "gk16-unproven"),
) -> Axes:
    """Draw mean pulls over the tight lower bound, with 95 % intervals, against delta, the gap, or
    another axis.

    No algorithm is below 1 (`rai_sim.bounds.at_delta`). Dashed lines are what an oracle pays that
    knows how to share its pulls, under a stopping threshold (`rai_sim.bounds.practical`): what is
    below a line is the price of the threshold, what is above it that of sampling and rounds. There
    is a line for each algorithm, and for each value of what else differs.

    Parameters
    ----------
    results : Result, sequence or dict of label to Result, or StudyResults
        What to draw, a point each, such as a study of `rai_sim.scaling.over_delta`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when None.
    against : str, default "delta"
        "delta", along which ln(1/delta) grows by equal factors; "n", "gap", or a numeric parameter
        of a study's instances. What makes a problem harder lies to the right.
    practical : sequence of str
        Thresholds whose lines are drawn: "paper", "pairs", "gk16-unproven"; none of them for an
        empty one.

    Returns
    -------
    matplotlib Axes
        The axes drawn into.

    Raises
    ------
    TypeError, ValueError
        If `results` holds something else, a point has two values, there are more than 10 lines, a
        threshold is unknown, or the bound is known of no problem: where it takes long
        (`rai_sim.bounds.shown`), of arms that are not sub-Gaussian with the parameter that algorithms
        are told, and where it is 0.

    Examples
    --------
    >>> import rai_sim as rai
    >>> from matplotlib.figure import Figure
    >>> runs = [rai.simulate(rai.table_problem(2), rai.Vanilla(), delta=delta, replications=50, seed=0) for delta in (0.1, 1e-10)]
    >>> efficiency(runs, Figure().subplots()).get_ylabel()
    'mean pulls over the lower bound'
    """
    wanted = _thresholds(practical)
    every = cases_of(results)
    lines_of(every, against)  # refuses what makes no lines
    cases = [case for case in every if not math.isnan(case.theory.bound)]
    if not cases:
        raise ArgumentValueError(
            "results",
            "results has no problem whose tight lower bound is known and positive: of some 20 to "
            "100 arms at most (rai_sim.bounds.shown), sub-Gaussian with their sigma, or 1/2, in two "
            "clusters or more",
        )
    with axes_or_new(ax) as axes:
        lines = lines_of(cases, against)

        def place(case: Case) -> float:
            return abscissa(case, against)

        draw_over(axes, lines, place, lambda case: case.theory.bound)
        for threshold in wanted:
            _draw_practical(axes, lines, place, threshold)
        axes.axhline(1.0, color="0.25", linewidth=1.4, zorder=1.5, label="1: lower bound")
        say_whose_bounds(axes, cases)
        if len(cases) < len(every):
            axes.plot([], [], linestyle="none", label="no bound known at other points")
        scale_axis(axes, "y", heights(axes))
        _scale(axes, [place(case) for case in cases], against)
        axes.set(ylabel="mean pulls over the lower bound")
        families = {family_of(case, against) for case in cases}
        return finish(axes, one_family("Efficiency", families))


def one_family(title: str, families: set[str]) -> str:
    """Return a title with the name of the only family of instances, if there is one."""
    return ", ".join(filter(None, [title, *(families if len(families) == 1 else ())]))


def _thresholds(practical: object) -> list[Threshold]:
    if isinstance(practical, str):
        raise ArgumentTypeError(
            "practical", f"practical is {practical!r}; give a list such as [{practical!r}]"
        )
    if not isinstance(practical, Iterable):
        raise ArgumentTypeError(
            "practical", f"practical is {short.repr(practical)}; give a list of thresholds"
        )
    wanted = list(practical)
    for one in wanted:
        if not is_choice(one, THRESHOLDS):
            raise ArgumentValueError(
                "practical",
                f"practical holds {short.repr(one)}; choose among "
                f"{', '.join(map(repr, THRESHOLDS))}",
            )
    return wanted


def draw_over(
    ax: Axes,
    lines: Mapping[str, Sequence[Case]],
    place: Place,
    unit: Callable[[Case], float],
) -> None:
    """Draw means in a unit, with their intervals; of what was capped nothing, for it is biased."""
    chosen: dict[str, Look] = looks_of_lines({name: line[0].label for name, line in lines.items()})
    shown = [case for line in lines.values() for case in line if not case.note]
    for name, line in lines.items():
        points = sorted((case for case in line if not case.note), key=place)
        look, x = chosen[name], [place(case) for case in points]
        words = name if len(points) == len(line) else f"{name}, finished points only"
        mean = [case.mean / unit(case) for case in points]
        ax.plot(x, mean, **look.line_options(), linewidth=1.8, markersize=5.5, label=plain(words))
        ends = [
            (case.low / unit(case), case.high / unit(case))
            if case.has_interval
            else (math.nan,) * 2
            for case in points
        ]
        low, high = [low for low, _ in ends], [high for _, high in ends]
        ax.fill_between(x, low, high, color=look.colour, alpha=0.22, linewidth=0)
        ax.vlines(x, low, high, color=look.colour, linewidth=1.8)
    if any(case.has_interval for case in shown):
        ax.fill_between([], [], color="0.6", alpha=0.4, linewidth=0, label="band: 95 % interval")
    if not all(case.has_interval for case in shown):
        ax.plot([], [], linestyle="none", label=NO_INTERVAL)


def _draw_practical(
    ax: Axes, lines: Mapping[str, Sequence[Case]], place: Place, threshold: Threshold
) -> None:
    """Draw what an oracle pays over the lower bound."""
    words, dashes = _THRESHOLDS[threshold]
    draw_theory(
        ax,
        lines,
        place,
        lambda case: case.theory.practical(threshold) / case.theory.bound,
        label=f"oracle, {words}",
        color="0.4",
        linewidth=1.1,
        linestyle=dashes,
        zorder=2.3,
    )


def draw_theory(
    ax: Axes,
    lines: Mapping[str, Sequence[Case]],
    place: Place,
    height: Callable[[Case], float],
    *,
    label: str,
    **how: Any,
) -> None:
    """Draw what theory says of the cases of each line, where it says something; what several
    algorithms share once."""
    drawn: list[set[tuple[float, float]]] = []
    for line in sorted(lines.values(), key=len, reverse=True):
        points = [(place(case), height(case)) for case in sorted(line, key=place)]
        points = [point for point in points if math.isfinite(point[1])]
        if not points or any(set(points) <= one for one in drawn):
            continue
        marker = "" if len(points) > 1 else "_"
        ax.plot(*zip(*points, strict=True), marker=marker, label=None if drawn else label, **how)
        drawn.append(set(points))


def say_whose_bounds(ax: Axes, cases: Iterable[Case]) -> None:
    """Say in the legend of which laws the lower bounds of some cases are, where these are not the laws
    of their own arms."""
    cases = list(cases)
    laws = [borrowed_laws(case.experiment.problem) for case in cases]
    borrowed = {one for one in laws if one}
    if borrowed:
        words = borrowed.pop() if len(borrowed) == 1 else "Gaussian arms of sd σ"
        which = "lower bounds" if all(laws) else "lower bounds of other laws"
        ax.plot([], [], linestyle="none", label=f"{which}: as for {words}")


def heights(ax: Axes) -> list[float]:
    """Return the heights of all points that are drawn."""
    return [value for line in ax.get_lines() for value in np.asarray(line.get_ydata(), float)]


def _scale(ax: Axes, xs: Sequence[float], against: str) -> None:
    """Scale the horizontal axis; what makes a problem harder lies to the right."""
    if against == "delta":
        ax.set_xscale("function", functions=(_rise, _fall))
        ax.xaxis.set_major_locator(_DeltaLocator(xs))
        ax.xaxis.set_major_formatter(TickFormatter())
        ax.xaxis.set_minor_locator(NullLocator())
        ends = _rise(np.array([max(xs), min(xs)]))
        room = _MARGIN * (ends[0] - ends[1]) or 1.0
        ax.set_xlim(*_fall(ends + np.array([room, -room])).tolist())
        ax.set_xlabel("error probability δ, ln(1/δ) on a logarithmic scale")
    else:
        whole = against in ("n", "k", "m")
        scale_axis(ax, "x", xs, 1.5 if against == "gap" else 4.0, wanted=xs, whole=whole)
        ax.set_xlabel(_AXES.get(against, plain(against)))
    if against == "gap" and not ax.xaxis_inverted():
        ax.invert_xaxis()


def _rise(delta: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return -ln ln(1/delta)."""
    inside: NDArray[np.float64] = np.clip(delta, _LEAST, _MOST)
    return -np.log(-np.log(inside))


def _fall(place: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the delta of `_rise`."""
    with np.errstate(over="ignore", under="ignore"):
        delta: NDArray[np.float64] = np.exp(-np.exp(-np.asarray(place, float)))
    return delta


class _DeltaLocator(TickLocator):
    """Ticks at the deltas themselves, if they are few, else at powers of ten."""

    def _candidates(self, low: float, high: float) -> Iterator[Sequence[float]]:
        yield self._wanted
        if len(self._wanted) == 1:
            return
        for powers in _POWERS:
            yield [float(f"1e-{power}") for power in reversed(powers)]
        yield [self._wanted[0], self._wanted[-1]]
