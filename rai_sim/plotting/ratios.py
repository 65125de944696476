"""Algorithms compared: ratios of mean pulls."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rai_sim.comparison import Ratio, common_replications, paired_ratio, ratio_of_means
from rai_sim.plotting.inputs import Case, Results, cases_of, setting_words
from rai_sim.plotting.style import SIZE, axes_or_new, finish, looks, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Ratios in one figure, at most.
_ROWS = 40


def ratios(results: Results, ax: Axes | None = None, *, baseline: str | None = None) -> Axes:
    """Draw the mean pulls of each algorithm over those of a baseline on the same instance and delta, with 95 % intervals.

    Intervals are of pairs of replications of equal index (`rai_sim.comparison.paired_ratio`), of independent means where seeds differ;
    where a study keeps aggregates only, or hardly a pair finished, they are wider, so as to hold however the two vary together. The legend
    says which. Numbers are of replications that finished.

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
    found = [(case, _ratio(case, other), bool(case.note or other.note)) for case, other in _pairs(cases, base)]
    if not found:
        raise ValueError("results has nothing to compare; it needs two algorithms on one instance and delta with two finished replications")
    if len(found) > _ROWS:
        raise ValueError(f"results makes {len(found)} ratios; a figure shows at most {_ROWS}: choose some")
    chosen, names = looks(labels), _names([case for case, _, _ in found])
    with axes_or_new(ax, size_for(cases, base)) as axes:
        legend: set[str] = set()
        for row, (case, ratio, capped) in enumerate(found):
            look, label = chosen[case.label], plain(case.label + (", finished runs only" if capped else ""))
            bar = [[ratio.value - ratio.low], [ratio.high - ratio.value]]
            axes.errorbar(ratio.value, row, xerr=bar, fmt=look.marker, color=look.colour, markersize=6, capsize=3, linewidth=1.6,
                          label=None if label in legend else label)
            legend.add(label)
        kinds = ", ".join(_KINDS[kind] for kind in dict.fromkeys(ratio.kind for _, ratio, _ in found))
        axes.plot([], [], color="0.5", marker="|", markersize=10, linestyle="none", label=f"bar: 95 % interval ({kinds})")
        axes.axvline(1.0, color="0.35", linewidth=1.0, linestyle=(0, (2, 2)), zorder=0.5)
        axes.set_xscale("log")
        _plain_ticks(axes, [value for _, r, _ in found for value in (r.low, r.high, 1.0)])
        axes.set_yticks(range(len(found)), names, fontsize=8)
        axes.set_ylim(len(found) - 0.4, -0.6)
        axes.set_xlabel(f"mean pulls over those of {plain(base, 40)}")
        return finish(axes, "Algorithms compared")


#: What an interval supposes, for the legend.
_KINDS = {"paired": "pairs of replications", "independent": "other seeds: independent", "any dependence": "any dependence"}


def size_for(cases: Sequence[Case], baseline: str | None = None) -> tuple[float, float]:
    """Return the inches that a comparison needs, by its rows and the lines of their names."""
    pairs = _pairs(cases, cases[0].label if baseline is None else baseline)
    lines = max((name.count("\n") + 1 for name in _names([case for case, _ in pairs])), default=1)
    return SIZE[0], 1.0 + (0.12 + 0.14 * lines) * len(pairs)


def ratio_rows(cases: Sequence[Case]) -> int:
    """Return how many ratios to the first case's algorithm there are."""
    return len(_pairs(cases, cases[0].label)) if cases else 0


def _pairs(cases: Sequence[Case], baseline: str) -> list[tuple[Case, Case]]:
    """Return every case for which there is a baseline on the same problem and delta, with it: of the same seed if there is one."""
    def place(case: Case) -> tuple[Any, ...]:
        e = case.experiment
        return case.instance, e.problem.identity(), e.delta, e.skip_error, e.max_pulls

    bases: dict[tuple[Any, ...], dict[int, Case]] = {}
    for case in cases:
        if case.label == baseline:
            bases.setdefault(place(case), {})[case.experiment.seed] = case
    found = []
    for case in cases:
        same = bases.get(place(case))
        if case.label != baseline and same:
            found.append((case, same.get(case.experiment.seed, next(iter(same.values())))))
    return found


def _ratio(case: Case, base: Case) -> Ratio:
    known = case.mean, case.standard_error, case.finished, (base.mean, base.standard_error, base.finished)
    if case.experiment.seed != base.experiment.seed:
        return ratio_of_means(*known, independent=True)
    one, other = case.rows(), base.rows()
    if one is None or other is None or common_replications(one, other) < 2:
        return ratio_of_means(*known)
    return paired_ratio(one, other)


def _names(cases: Sequence[Case]) -> list[str]:
    """Return a row's name: the instance, and what else varies."""
    words = [[case.instance or case.label, f"δ = {case.experiment.delta:g}", *setting_words(case)] for case in cases]
    varies = [i == 0 or len(set(column)) > 1 for i, column in enumerate(zip(*words, strict=True))]
    return [_wrapped(", ".join(word for word, shown in zip(row, varies, strict=True) if shown)) for row in words]


def _wrapped(text: str, width: int = 26) -> str:
    lines = textwrap.wrap(text, width)
    return "\n".join(plain(line) for line in lines[:2]) + ("…" if len(lines) > 2 else "")


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
