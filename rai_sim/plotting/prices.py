"""What an answer costs, and what for: from the lower bound to the paper's width, step by step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib.ticker import FixedLocator

from rai_sim.algorithms.base import Algorithm
from rai_sim.algorithms.top_two import TopTwo
from rai_sim.algorithms.track_and_stop import BatchedTrackAndStop
from rai_sim.algorithms.vanilla import Vanilla
from rai_sim.plotting.efficiency import say_whose_bounds
from rai_sim.plotting.inputs import SELECT, Case, Results, cases_of
from rai_sim.plotting.style import axes_or_new, finish, plain
from rai_sim.simulation.theory import Theory
from rai_sim.support.errors import ArgumentValueError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Problems of one figure, at most.
_MOST = 8
#: Inches: the steps of a problem need width.
SIZE = (6.4, 3.6)


@dataclass(frozen=True)
class Step:
    """A cause of pulls: what it leads to is theory's, or an algorithm's mean."""

    name: str
    colour: str
    theory: Callable[[Theory], float] | None = None
    algorithm: Algorithm | None = None


#: In the order in which a rule is made: each begins where the one before it ends.
STEPS = (
    Step("lower bound at this δ", "#000000", theory=lambda one: one.bound),
    Step("stopping, unproven", "#999999", theory=lambda one: one.practical("gk16-unproven")),
    Step("proof of the threshold", "#E69F00", theory=lambda one: one.practical("pairs")),
    Step("sampling (top two)", "#56B4E9", algorithm=TopTwo()),
    Step("batches (track and stop)", "#009E73", algorithm=BatchedTrackAndStop()),
    Step("round robin (mixture)", "#CC79A7", algorithm=Vanilla(width="mixture")),
    Step("the paper's width", "#D55E00", algorithm=Vanilla()),
)


def price_map(results: Results, ax: Axes | None = None) -> Axes:
    """Draw for each problem how pulls add up, from the lower bound of any algorithm's mean to what
    Vanilla takes with the paper's width.

    Each bar leads from what was reached before to what one more step costs: a stopping rule for an
    oracle that knows the best shares of pulls (Garivier and Kaufmann's, unproven; one that is
    proved), sampling without knowing them (`TopTwo`), in batches (`BatchedTrackAndStop`), as a
    round robin (`Vanilla(width="mixture")`), with the paper's width (`Vanilla()`). A hatched bar
    leads down: there the step saves pulls. Steps of which `results` has no run are left out.

    Parameters
    ----------
    results : Result, sequence or dict of label to Result, or StudyResults
        Runs of one or more problems, at one delta.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when None.

    Returns
    -------
    matplotlib Axes
        The axes drawn into.

    Raises
    ------
    TypeError, ValueError
        If `results` holds something else, several deltas, more than 8 problems, none of the
        algorithms, or a problem whose tight bound is not known in passing.

    Examples
    --------
    >>> import rai_sim as rai
    >>> from matplotlib.figure import Figure
    >>> runs = [
    ...     rai.simulate(rai.table_problem(1), algorithm, replications=30, seed=0)
    ...     for algorithm in (rai.Vanilla(width="mixture"), rai.Vanilla())
    ... ]
    >>> price_map(runs, Figure().subplots()).get_ylabel()
    'mean pulls'
    """
    cases = cases_of(results)
    deltas = {case.experiment.delta for case in cases}
    if len(deltas) > 1:
        raise ArgumentValueError("results", f"results has {len(deltas)} values of delta; {SELECT}")
    groups = _by_problem(cases)
    with axes_or_new(ax, SIZE) as axes:
        shown: set[str] = set()
        heights = [
            height
            for place, group in enumerate(groups)
            for height in _draw(axes, place, group, shown)
        ]
        say_whose_bounds(axes, (group[0] for group in groups))
        axes.set_xlim(-0.5, len(groups) - 0.5)
        axes.xaxis.set_major_locator(FixedLocator(range(len(groups))))
        axes.set_xticklabels([_name(group[0]) for group in groups])
        axes.set_yscale("log")
        axes.set_ylim(0.5 * min(heights), 1.6 * max(heights))
        axes.set_ylabel("mean pulls")
        return finish(axes, f"Price map, δ = {deltas.pop():g}")


def _by_problem(cases: Sequence[Case]) -> list[list[Case]]:
    """Return the cases of each problem that has a run of some step."""
    wanted = [step.algorithm for step in STEPS]
    groups: dict[str, list[Case]] = {}
    for case in cases:
        if case.experiment.algorithm in wanted:
            groups.setdefault(case.experiment.problem.identity(), []).append(case)
    if not groups:
        raise ArgumentValueError(
            "results",
            "results has none of the algorithms that a price map is made of; run Vanilla(), "
            "Vanilla(width='mixture'), BatchedTrackAndStop() or TopTwo()",
        )
    if len(groups) > _MOST:
        raise ArgumentValueError(
            "results",
            f"results is of {len(groups)} problems; a figure shows at most {_MOST}: {SELECT}",
        )
    for group in groups.values():
        if math.isnan(group[0].theory.bound):
            raise ArgumentValueError(
                "results",
                f"results is of {group[0].experiment.problem!r}, whose tight lower bound is not "
                "known in passing; leave it out",
            )
    return list(groups.values())


def _levels(group: Sequence[Case]) -> Iterator[tuple[Step, float, float]]:
    """Yield the steps of a problem with where they lead to, and half of an interval."""
    theory = group[0].theory
    for step in STEPS:
        if step.theory is not None:
            yield step, step.theory(theory), 0.0
        for case in group:
            if step.algorithm is not None and case.experiment.algorithm == step.algorithm:
                yield step, case.mean, (case.high - case.low) / 2.0 if case.has_interval else 0.0
                break


def _draw(axes: Axes, place: int, group: Sequence[Case], shown: set[str]) -> Iterator[float]:
    """Draw a problem's steps side by side about a place of the axis; yield what they lead to."""
    levels = list(_levels(group))
    width = 0.84 / len(levels)
    before = 1e-9 * levels[0][1]  # the bound's bar begins at the axis, wherever that is
    for i, (step, level, margin) in enumerate(levels):
        x = place - 0.42 + (i + 0.5) * width
        bottom, top = sorted((before, level))
        axes.bar(
            x,
            top - bottom,
            0.94 * width,
            bottom=bottom,
            color=step.colour,
            hatch="////" if level < before else None,
            edgecolor="white" if level < before else step.colour,
            linewidth=0.5,
        )
        if step.name not in shown:  # in the legend without a hatch
            shown.add(step.name)
            axes.bar(x, 0.0, bottom=level, color=step.colour, label=step.name)
        if margin > 0.0:
            axes.errorbar(x, level, yerr=margin, color="0.2", linewidth=1.0, capsize=1.5)
        if i + 1 < len(levels):
            axes.plot([x - width / 2, x + 1.5 * width], [level, level], color="0.5", linewidth=0.6)
        before = level
        yield level


def _name(case: Case) -> str:
    """Return what a problem is called below its steps."""
    if case.instance:
        return plain(case.instance, 16)
    required = ",".join(map(str, case.experiment.problem.required))
    return f"({plain(required, 14)})"
