"""Algorithms compared: ratios of mean pulls."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rai_sim.comparison import Ratio, paired_ratio, ratio_of_means
from rai_sim.plotting.inputs import Case, Results, cases_of
from rai_sim.plotting.style import axes_or_new, finish, looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Ratios in one figure, at most.
_ROWS = 40


def ratios(results: Results, ax: Axes | None = None, *, baseline: str | None = None) -> Axes:
    """Draw the mean pulls of each algorithm over those of a baseline on the same instance and delta, with 95 % intervals.

    Intervals are of pairs of replications of equal index (`rai_sim.comparison.paired_ratio`); where a study keeps aggregates only they are
    wider, so as to hold however the two vary together.

    Parameters
    ----------
    results : sequence or dict of label to Result, or StudyResults
        What to compare.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when None.
    baseline : str, optional
        Label of the algorithm that others are divided by, such as "Vanilla"; the first one when None.

    Returns
    -------
    matplotlib Axes
        The axes drawn into, logarithmic, with a line at 1.

    Raises
    ------
    TypeError, ValueError
        If `results` holds something else, nothing to compare, or more than 40 ratios; or `baseline` is not among the labels.

    Examples
    --------
    >>> import rai_sim as rai
    >>> from matplotlib.figure import Figure
    >>> runs = [rai.simulate(rai.table_problem(), a, replications=50, seed=0) for a in (rai.Vanilla(), rai.LUCB())]
    >>> ratios(runs, Figure().subplots()).get_xlabel()
    'mean pulls over those of Vanilla'
    """
    cases = [case for case in cases_of(results) if case.finished > 1]
    labels = list(dict.fromkeys(case.label for case in cases))
    if baseline is not None and baseline not in labels:
        raise ValueError(f"baseline is {baseline!r}; choose one of {', '.join(map(repr, labels))}")
    base = baseline if baseline is not None else labels[0] if labels else ""
    found = [(case, _ratio(case, other)) for case, other in _pairs(cases, base)]
    if not found:
        raise ValueError("results has nothing to compare; it needs two algorithms on one instance and delta with two finished replications")
    if len(found) > _ROWS:
        raise ValueError(f"results makes {len(found)} ratios; a figure shows at most {_ROWS}: choose some")
    chosen = looks(labels)
    with axes_or_new(ax, (5.0, 1.0 + 0.26 * len(found))) as axes:
        named: set[str] = set()
        for row, (case, ratio) in enumerate(found):
            look = chosen[case.label]
            axes.errorbar(ratio.value, row, xerr=[[ratio.value - ratio.low], [ratio.high - ratio.value]], fmt=look.marker,
                          color=look.colour, markersize=6, capsize=3, linewidth=1.6, label=None if case.label in named else case.label)
            named.add(case.label)
        kind = "pairs of replications" if all(ratio.paired for _, ratio in found) else "any dependence"
        axes.plot([], [], color="0.5", marker="|", markersize=10, linestyle="none", label=f"bar: 95 % interval ({kind})")
        axes.axvline(1.0, color="0.35", linewidth=1.0, linestyle=(0, (2, 2)), zorder=0.5)
        axes.set_xscale("log")
        _plain_ticks(axes, [value for _, r in found for value in (r.low, r.high, 1.0)])
        axes.set_yticks(range(len(found)), _names([case for case, _ in found]), fontsize=8)
        axes.set_ylim(len(found) - 0.4, -0.6)
        axes.set_xlabel(f"mean pulls over those of {base}")
        return finish(axes, "Algorithms compared")


def ratio_rows(cases: Sequence[Case]) -> int:
    """Return how many ratios to the first case's algorithm there are."""
    return len(_pairs(cases, cases[0].label)) if cases else 0


def _pairs(cases: Sequence[Case], baseline: str) -> list[tuple[Case, Case]]:
    """Return every case for which there is a baseline on the same problem, delta and seed, with it."""
    def place(case: Case) -> tuple[str, str, float, int]:
        e = case.experiment
        return case.instance, e.problem.identity(), e.delta, e.seed

    bases = {place(case): case for case in cases if case.label == baseline}
    return [(case, bases[place(case)]) for case in cases if case.label != baseline and place(case) in bases]


def _ratio(case: Case, base: Case) -> Ratio:
    one, other = case.rows(), base.rows()
    if one is not None and other is not None:
        return paired_ratio(one, other)
    return ratio_of_means(case.mean, case.standard_error, case.finished, (base.mean, base.standard_error, base.finished))


def _names(cases: Sequence[Case]) -> list[str]:
    """Return a row's name: the instance, and delta where it varies."""
    several = len({case.experiment.delta for case in cases}) > 1
    names = []
    for case in cases:
        words = [case.instance or case.label]
        if several:
            words.append(f"δ = {case.experiment.delta:g}")
        names.append(_wrapped(", ".join(words)))
    return names


def _wrapped(text: str, width: int = 26) -> str:
    return "\n".join(textwrap.wrap(text, width)) or text


def _plain_ticks(ax: Axes, values: Sequence[float]) -> None:
    """Label a logarithmic axis that spans less than a factor of 30 with plain numbers."""
    from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator, StrMethodFormatter

    low, high = min(values), max(values)
    if high > 30.0 * low:
        return
    marks = [0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0]
    inside = [mark for mark in marks if low / 1.3 <= mark <= high * 1.3]
    while len(inside) > 6:
        inside = [mark for i, mark in enumerate(inside) if mark == 1.0 or i % 2 == inside.index(1.0) % 2]
    ax.xaxis.set_major_locator(FixedLocator(inside))
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_minor_formatter(NullFormatter())
