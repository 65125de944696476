"""Algorithms compared: ratios of mean pulls."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rai_sim.plotting.inputs import (
    LEAST_FOR_INTERVAL,
    NO_INTERVAL,
    SELECT,
    Case,
    Results,
    cases_of,
    setting_words,
    task_words,
)
from rai_sim.plotting.style import SIZE, Look, axes_or_new, finish, looks, plain
from rai_sim.plotting.ticks import set_ticks
from rai_sim.simulation.comparison import Ratio, common_replications, paired_ratio, ratio_of_means
from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.values import is_choice, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Rows of one figure, at most.
MOST_ROWS = 40
#: Inches of a line of a row's name, of the space between two, and of an algorithm's mark.
_LINE, _LINE_SPACE, _MARK = 0.13, 0.11, 0.085


def ratios(results: Results, ax: Axes | None = None, *, baseline: str | None = None) -> Axes:
    """Draw the mean pulls of each algorithm over those of a baseline on the same instance and
    delta, with 95 % intervals.

    There is a row for each instance and delta, and in it a mark for each algorithm. Of fewer than
    30 replications no interval is drawn.

    Intervals are of pairs of replications of equal index
    (`rai_sim.simulation.comparison.paired_ratio`), of independent means where seeds differ; where a
    study keeps aggregates only, or hardly a pair finished, they are wider, so as to hold however
    the two vary together. The legend says which. Numbers are of replications that finished. An
    algorithm that pulls nothing has no place on a logarithmic axis: it is left out.

    Parameters
    ----------
    results : sequence or dict of label to Result, or StudyResults
        What to compare.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when None.
    baseline : str, optional
        Label of the algorithm that others are divided by, such as "Vanilla"; the first one when
        None.

    Returns
    -------
    matplotlib Axes
        The axes drawn into, logarithmic, with a line at 1.

    Raises
    ------
    TypeError, ValueError
        If `results` holds something else, nothing to compare, or more than 40 rows; or `baseline`
        is not among the labels of what pulls arms.

    Examples
    --------
    >>> import rai_sim as rai
    >>> from matplotlib.figure import Figure
    >>> runs = [rai.simulate(rai.table_problem(), a, replications=50, seed=0) for a in (rai.Vanilla(), rai.LUCB())]
    >>> ratios(runs, Figure().subplots()).get_xlabel()
    'mean pulls over those of Vanilla'
    """
    cases = comparable(cases_of(results))
    labels = list(dict.fromkeys(case.label for case in cases))
    if baseline is not None and not is_choice(baseline, labels):
        raise ArgumentValueError(
            "baseline",
            f"baseline is {short.repr(baseline)}; choose one of {', '.join(map(repr, labels))}",
        )
    base = baseline if baseline is not None else labels[0] if labels else ""
    rows = _rows(cases, base)
    if not rows:
        raise ArgumentValueError(
            "results",
            "results has nothing to compare; it needs two algorithms on one instance and delta "
            "with two finished replications and pulls",
        )
    if len(rows) > MOST_ROWS:
        raise ArgumentValueError(
            "results",
            f"results makes {len(rows)} rows, an instance and delta each; a figure shows at most "
            f"{MOST_ROWS}: {SELECT}",
        )
    found = [
        [(case, _ratio(case, other), bool(case.note or other.note)) for case, other in row.pairs]
        for row in rows
    ]
    chosen, compared = (
        looks(labels),
        [
            label
            for label in labels
            if any(case.label == label for row in rows for case, _ in row.pairs)
        ],
    )
    with axes_or_new(ax, size_for(cases, base)) as axes:
        for label in compared:
            _draw_algorithm(axes, label, chosen[label], rows, found, compared)
        ratios = [ratio for row in found for _, ratio, _ in row]
        kinds = dict.fromkeys(ratio.kind for ratio in ratios if _has_interval(ratio))
        if kinds:
            said = f"bar: 95 % interval ({', '.join(_KINDS[kind] for kind in kinds)})"
            axes.plot([], [], color="0.5", marker="|", markersize=10, linestyle="none", label=said)
        if not all(map(_has_interval, ratios)):
            axes.plot([], [], linestyle="none", label=NO_INTERVAL)
        axes.axvline(1.0, color="0.35", linewidth=1.0, linestyle=(0, (2, 2)), zorder=0.5)
        axes.set_xscale("log")
        set_ticks(
            axes,
            "x",
            _round_ratios(
                [
                    value
                    for r in ratios
                    for value in ((r.low, r.high) if _has_interval(r) else (r.value,))
                ]
            ),
        )
        axes.set_yticks([row.height for row in rows], [row.name for row in rows], fontsize=8)
        axes.set_ylim(rows[-1].height + rows[-1].room / 2.0, rows[0].height - rows[0].room / 2.0)
        axes.set_xlabel(f"mean pulls over those of {plain(base, 40)}")
        return finish(axes, "Algorithms compared")


#: What an interval supposes, for the legend.
_KINDS = {
    "paired": "pairs of replications",
    "independent": "other seeds: independent",
    "any dependence": "any dependence",
}


@dataclass(frozen=True)
class _Row:
    """An instance and delta: its name, its height and the room it takes in inches, and its cases
    with what they are divided by."""

    name: str
    height: float
    room: float
    pairs: Sequence[tuple[Case, Case]]


def _draw_algorithm(
    ax: Axes,
    label: str,
    look: Look,
    rows: Sequence[_Row],
    found: Sequence[Sequence[tuple[Case, Ratio, bool]]],
    compared: Sequence[str],
) -> None:
    """Draw an algorithm's ratios, in each row at its own height, so that bars of several do not lie
    upon each other."""
    shift = _MARK * (compared.index(label) - (len(compared) - 1) / 2.0)
    points = [
        (row.height + shift, ratio, capped)
        for row, ratios in zip(rows, found, strict=True)
        for case, ratio, capped in ratios
        if case.label == label
    ]
    bars = [
        (ratio.value - ratio.low, ratio.high - ratio.value)
        if _has_interval(ratio)
        else (math.nan, math.nan)
        for _, ratio, _ in points
    ]
    words = plain(
        label + (", finished runs only" if any(capped for _, _, capped in points) else "")
    )
    ax.errorbar(
        [ratio.value for _, ratio, _ in points],
        [height for height, _, _ in points],
        xerr=np.transpose(bars),
        fmt=look.marker,
        color=look.colour,
        markersize=5.5,
        capsize=2.5,
        linewidth=1.4,
        label=words,
    )


def _has_interval(ratio: Ratio) -> bool:
    return ratio.replications >= LEAST_FOR_INTERVAL


def size_for(cases: Sequence[Case], baseline: str | None = None) -> tuple[float, float]:
    """Return the inches that a comparison needs, by its rows, the lines of their names and the
    algorithms compared."""
    return SIZE[0], 1.0 + sum(
        row.room for row in _rows(cases, cases[0].label if baseline is None else baseline)
    )


def comparable(cases: Sequence[Case]) -> list[Case]:
    """Return the cases whose mean pulls have a ratio: two replications finished, with a pull."""
    return [case for case in cases if case.finished > 1 and case.mean > 0.0]


def ratio_rows(cases: Sequence[Case], baseline: str | None = None) -> int:
    """Return how many instances and deltas have ratios to the baseline, the first case's algorithm
    when None."""
    return len(_rows(cases, cases[0].label if baseline is None else baseline)) if cases else 0


def _rows(cases: Sequence[Case], baseline: str) -> list[_Row]:
    """Return a row for every instance and delta of which there is a ratio, those of one instance
    together."""
    by_place: dict[tuple[Any, ...], list[tuple[Case, Case]]] = {}
    for pair in _pairs(cases, baseline):
        by_place.setdefault((*_place(pair[0]), pair[0].experiment.seed), []).append(pair)
    instances = list(dict.fromkeys(pairs[0][0].instance for pairs in by_place.values()))
    groups = sorted(by_place.values(), key=lambda pairs: instances.index(pairs[0][0].instance))
    most = max((len(pairs) for pairs in groups), default=0)
    rows, top = [], 0.0
    for name, pairs in zip(_names([pairs[0][0] for pairs in groups]), groups, strict=True):
        room = max(_LINE * (name.count("\n") + 1) + _LINE_SPACE, _MARK * most + _LINE_SPACE)
        rows.append(_Row(name, top + room / 2.0, room, pairs))
        top += room
    return rows


def _place(case: Case) -> tuple[Any, ...]:
    e = case.experiment
    return case.instance, e.problem.identity(), e.delta, e.skip_error, e.max_pulls


def _pairs(cases: Sequence[Case], baseline: str) -> list[tuple[Case, Case]]:
    """Return every case for which there is a baseline on the same problem and delta, with it: of
    the same seed if there is one."""
    bases: dict[tuple[Any, ...], dict[int, Case]] = {}
    for case in cases:
        if case.label == baseline:
            bases.setdefault(_place(case), {})[case.experiment.seed] = case
    found = []
    for case in cases:
        same = bases.get(_place(case))
        if case.label != baseline and same:
            found.append((case, same.get(case.experiment.seed, next(iter(same.values())))))
    return found


def _ratio(case: Case, base: Case) -> Ratio:
    known = (
        case.mean,
        case.standard_error,
        case.finished,
        (base.mean, base.standard_error, base.finished),
    )
    if case.experiment.seed != base.experiment.seed:
        return ratio_of_means(*known, independent=True)
    one, other = case.rows(), base.rows()
    if one is None or other is None:
        return ratio_of_means(*known)
    # Too few pairs for an interval: the means of all that finished have one, if a wider one.
    pairs = common_replications(one, other)
    enough = pairs >= min(LEAST_FOR_INTERVAL, case.finished, base.finished)
    return paired_ratio(one, other) if enough and pairs > 1 else ratio_of_means(*known)


def _names(cases: Sequence[Case]) -> list[str]:
    """Return a row's name: the instance, where it is not that of the row before, and what else
    varies."""
    words = [
        [case.instance or task_words(case), f"δ = {case.experiment.delta:g}", *setting_words(case)]
        for case in cases
    ]
    varies = [i == 0 or len(set(column)) > 1 for i, column in enumerate(zip(*words, strict=True))]
    rows = [[word for word, shown in zip(row, varies, strict=True) if shown] for row in words]
    shorter = [
        row[1:] if i and len(row) > 1 and row[0] == rows[i - 1][0] else row
        for i, row in enumerate(rows)
    ]
    return [_wrapped(", ".join(row)) for row in shorter]


def _wrapped(text: str, width: int = 30) -> str:
    lines = textwrap.wrap(text, width)
    return "\n".join(plain(line) for line in lines[:2]) + ("…" if len(lines) > 2 else "")


def _round_ratios(values: Sequence[float]) -> list[float]:
    """Return ticks for ratios, 1 among them: of some sets the coarsest that has four; none where
    powers of ten have."""
    low, high = min(*values, 1.0), max(*values, 1.0)
    for marks in _ROUND:
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        inside = [
            mark * 10.0**decade
            for decade in decades
            for mark in marks
            if low / 1.1 <= mark * 10.0**decade <= high * 1.1
        ]
        if len(inside) >= 4:
            break
    return [] if marks == _ROUND[0] else inside


_ROUND: tuple[tuple[float, ...], ...] = (
    (1.0,),
    (1.0, 2.0, 5.0),
    (1.0, 1.5, 2.0, 3.0, 5.0, 7.0),
    (1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0),
)
