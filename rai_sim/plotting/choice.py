"""Which figures a study gets, by what varies in it, and how a figure becomes a file."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from rai_sim.algorithms.lucb import LUCB
from rai_sim.plotting.arms import pulls_by_gap
from rai_sim.plotting.distributions import distribution
from rai_sim.plotting.inputs import Case, cases_of, setting_words
from rai_sim.plotting.means import abscissa, family_of, mean_pulls, swept_parameters
from rai_sim.plotting.ratios import ratio_rows, ratios, size_for
from rai_sim.plotting.style import SIZE, house_style, own_axes, title_axes

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

    from rai_sim.study import StudyResults

#: Figures of one kind, at most; lines of one figure; rows of a comparison.
_MOST, _LINES, _ROWS = 3, 10, 40
#: Pulls are counted by arm in so many replications, of at most so many arms; of LUCB, which looks at most of its rounds, in as many as have
#: so many pulls together, but at least two.
_REPLICATIONS, _ARMS, _LUCB_PULLS = 100, 500, 2e7


@dataclass(frozen=True)
class Drawing:
    """A figure to be drawn.

    Attributes
    ----------
    name : str
        For a file's name.
    caption : str
        What it shows, and what was left out.
    draw : callable
        Takes the axes.
    size : (float, float)
        Inches, without the legend.
    """

    name: str
    caption: str
    draw: Callable[[Axes], Axes]
    size: tuple[float, float] = SIZE


def choose(results: StudyResults, summary: pl.DataFrame | None = None) -> list[Drawing]:
    """Return the figures that suit a study: means against whatever varies, comparisons, distributions, and pulls by arm.

    Parameters
    ----------
    results : StudyResults
        The study's.
    summary : polars.DataFrame, optional
        `results.summary()`, if it has been made.

    Raises
    ------
    ValueError
        If no replication finished.

    Examples
    --------
    >>> import tempfile
    >>> import rai_sim as rai
    >>> study = rai.Study.grid([rai.table_problem()], [rai.Vanilla(), rai.LUCB()], [0.1, 0.01], replications=20)
    >>> [drawing.name for drawing in choose(study.run(tempfile.mkdtemp()))]
    ['pulls-against-delta', 'ratios', 'distribution', 'histogram', 'pulls-by-gap']
    """
    cases = cases_of(results, summary)
    found = [*_sweeps(cases), *_comparison(cases), *_distributions(cases), *_by_arm(cases)]
    names: dict[str, int] = {}
    numbered = []
    for drawing in found:
        names[drawing.name] = names.get(drawing.name, 0) + 1
        number = names[drawing.name]
        name = drawing.name if number == 1 else f"{drawing.name}-{number}"
        numbered.append(Drawing(name, drawing.caption, drawing.draw, drawing.size))
    return numbered


def render(drawing: Drawing, kind: str, dpi: int = 150) -> bytes:
    """Return a figure as a file of a kind that matplotlib writes: png, svg or pdf; equal input gives equal bytes."""
    with house_style():
        return figure_bytes(drawing.draw(own_axes(drawing.size)), kind, dpi)


def figure_bytes(ax: Axes, kind: str, dpi: int = 150) -> bytes:
    """Return the figure of some axes as a file, without a date."""
    file = io.BytesIO()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    figure: Any = ax.get_figure(root=True)
    figure.savefig(file, format=kind, dpi=dpi, metadata=undated)
    return file.getvalue()


def _some(groups: Sequence[list[Case]]) -> tuple[Sequence[list[Case]], str]:
    """Return a few groups, the first, the last and some between, and words for the others."""
    if len(groups) <= _MOST:
        return groups, ""
    chosen = [groups[i * (len(groups) - 1) // (_MOST - 1)] for i in range(_MOST)]
    return chosen, f" ({_MOST} of {len(groups)} such figures; rai_sim.plotting draws the others.)"


def _sweeps(cases: Sequence[Case]) -> Iterator[Drawing]:
    """Yield mean pulls against everything of which a family of cases has at least two values."""
    for against in dict.fromkeys(["delta", *(name for case in cases for name in swept_parameters(case)), *_unnamed(cases)]):
        groups: dict[tuple[Any, ...], list[Case]] = {}
        for case in cases:
            varied = against == "delta" or against in swept_parameters(case) or not case.parameters
            if varied and (against != "gap" or math.isfinite(case.experiment.problem.bottleneck_gap)):
                groups.setdefault(_group(case, against), []).append(case)
        groups = {key: group for key, group in groups.items() if len({abscissa(case, against) for case in group}) > 1}
        shown, more = _some([group if against == "delta" else _smallest_delta(group) for group in groups.values()])
        for group in shown:
            group = _few_lines(group)
            what = {"delta": "the error probability", "n": "the number of arms", "gap": "the bottleneck gap"}.get(against, against)
            where = _title(group, against, cases)
            caption = f"{where}: mean pulls against {what}, with bounds.{more}"
            yield Drawing(f"pulls-against-{against}", caption, partial(_draw_means, group, against, where))


def _draw_means(group: Sequence[Case], against: str, title: str, ax: Axes) -> Axes:
    drawn = mean_pulls(group, ax, against=against)
    title_axes(drawn, title)
    return drawn


def _unnamed(cases: Sequence[Case]) -> list[str]:
    """Return n and gap if instances made by hand differ in them."""
    by_hand = [case.experiment.problem for case in cases if not case.parameters]
    values: dict[str, set[float]] = {"n": {p.n_arms for p in by_hand}, "gap": {p.bottleneck_gap for p in by_hand}}
    varies = [name for name, different in values.items() if len(different) > 1]
    return varies if len(varies) == 1 else []


def _group(case: Case, against: str) -> tuple[Any, ...]:
    """Return what cases of one figure have in common."""
    e = case.experiment
    others = tuple((name, case.parameters[name]) for name in swept_parameters(case) if name != against)
    problem = e.problem.identity() if against == "delta" else ""
    return family_of(case, against), problem, others, e.seed, e.skip_error, e.max_pulls


def _few_lines(group: list[Case]) -> list[Case]:
    """Return the cases of the first algorithms, no more than a figure shows."""
    labels = list(dict.fromkeys(case.label for case in group))[:_LINES]
    return [case for case in group if case.label in labels]


def _title(group: Sequence[Case], against: str, cases: Sequence[Case]) -> str:
    words = [family_of(group[0], against)]
    if against != "delta":
        words += [f"{name} = {group[0].parameters[name]}" for name in swept_parameters(group[0]) if name != against]
        words.append(f"δ = {group[0].experiment.delta:g}")
    return ", ".join([*words, *_setting(group[0], cases)])


def _setting(case: Case, cases: Sequence[Case]) -> list[str]:
    """Return a case's seed, cap and skip_error, as far as they vary in the study."""
    columns = zip(*map(setting_words, cases), strict=True)
    return [words for words, column in zip(setting_words(case), columns, strict=True) if len(set(column)) > 1]


def _where(group: Sequence[Case], cases: Sequence[Case]) -> str:
    return ", ".join([group[0].instance, f"δ = {group[0].experiment.delta:g}", *_setting(group[0], cases)])


def _comparison(cases: Sequence[Case]) -> Iterator[Drawing]:
    """Yield a comparison of all algorithms with the first one."""
    cases, more = [case for case in cases if case.finished > 1], ""
    rows = ratio_rows(cases)
    if rows > _ROWS:
        delta = min(case.experiment.delta for case in cases)
        cases, more = [case for case in cases if case.experiment.delta == delta], f" At δ = {delta:g} alone."
        instances = list(dict.fromkeys(case.instance for case in cases))
        while (rows := ratio_rows(cases)) > _ROWS and len(instances) > 1:
            instances = instances[: len(instances) // 2]
            cases = [case for case in cases if case.instance in instances]
            more = f" At δ = {delta:g} and for the first {len(instances)} instances alone."
    if 0 < rows <= _ROWS:
        base = cases[0].label
        caption = f"Mean pulls of each algorithm over those of {base}, same instance and δ.{more}"
        yield Drawing("ratios", caption, partial(ratios, cases), size_for(cases))


def _at_smallest_delta(cases: Sequence[Case]) -> list[list[Case]]:
    """Return the cases of each instance at its smallest error probability."""
    by_instance: dict[tuple[Any, ...], list[Case]] = {}
    for case in cases:
        by_instance.setdefault((case.instance, case.experiment.problem.identity(), *setting_words(case)), []).append(case)
    return [_smallest_delta(group) for group in by_instance.values()]


def _smallest_delta(group: Sequence[Case]) -> list[Case]:
    """Return the cases of the smallest error probability, which most studies are about."""
    delta = min(case.experiment.delta for case in group)
    return [case for case in group if case.experiment.delta == delta]


def _distributions(cases: Sequence[Case]) -> Iterator[Drawing]:
    shown, more = _some(_at_smallest_delta(cases))
    for group in shown:
        where = _where(group, cases)
        few = group[:_LINES]
        yield Drawing("distribution", f"{where}: distribution of pulls.{more}", partial(_draw_distribution, few, "ecdf", where))
        yield Drawing("histogram", f"{where}: histogram of pulls.{more}", partial(_draw_distribution, few, "histogram", where))


def _draw_distribution(group: Sequence[Case], kind: str, title: str, ax: Axes) -> Axes:
    drawn = distribution(group, ax, kind=kind)
    title_axes(drawn, title)
    return drawn


def _by_arm(cases: Sequence[Case]) -> Iterator[Drawing]:
    """Yield pulls by arm for instances of a few arms of which rows are kept."""
    def suits(case: Case) -> bool:
        problem = case.experiment.problem
        return 2 < problem.n_arms <= _ARMS and math.isfinite(problem.bottleneck_gap) and case.keeps_rows

    groups = [group for group in _at_smallest_delta(cases) if suits(group[0])]
    shown, more = _some(groups)
    for group in shown:
        where = _where(group, cases)
        caption = f"{where}: pulls of each arm against its gap, in replications that were run again for it.{more}"
        yield Drawing("pulls-by-gap", caption, partial(_draw_by_arm, group[:6], where))


def _draw_by_arm(group: Sequence[Case], title: str, ax: Axes) -> Axes:
    drawn = pulls_by_gap(group, ax, replications=_affordable(group))
    title_axes(drawn, title)
    return drawn


def _affordable(group: Sequence[Case]) -> int:
    """Return how many replications of each case are run again: a function of what the study found, not of the machine."""
    dearest = max((case.mean for case in group if isinstance(case.experiment.algorithm, LUCB)), default=0.0)
    return max(2, min(_REPLICATIONS, int(_LUCB_PULLS / dearest) if dearest else _REPLICATIONS))
