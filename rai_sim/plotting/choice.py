"""Which figures a study gets, by what varies in it, and how a figure becomes a file."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from rai_sim.plotting.allocation import MOST_ARMS, allocation
from rai_sim.plotting.arms import pulls_by_gap
from rai_sim.plotting.distributions import distribution
from rai_sim.plotting.efficiency import efficiency
from rai_sim.plotting.inputs import LEAST_FOR_INTERVAL, Case, cases_of, setting_words
from rai_sim.plotting.law import law
from rai_sim.plotting.means import mean_pulls
from rai_sim.plotting.moderate import moderate_confidence
from rai_sim.plotting.ratios import MOST_ROWS, ratio_rows, ratios, size_for
from rai_sim.plotting.style import SIZE, house_style, own_axes, title_axes
from rai_sim.simulation.sweeps import abscissa, family_of, swept_parameters
from rai_sim.tracing.trace import keeps_history

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

    from rai_sim.study import StudyResults

#: Figures of one kind, at most, unless all are asked for, and of those that show another one against
#: theory; lines of one figure, and algorithms of pulls by arm.
_MOST, _MOST_BESIDE, _LINES, _BY_ARM = 3, 1, 10, 6
#: Pulls are counted by arm in so many replications, of at most so many arms; of an algorithm that
#: looks at most of its rounds, in as many as have so many pulls together, or in as many as an
#: interval needs if those have no more than so many.
_REPLICATIONS, _ARMS, _PULLS, _MOST_PULLS = 100, 500, 2e7, 3e8


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


def choose(
    results: StudyResults, summary: pl.DataFrame | None = None, *, everything: bool = False
) -> list[Drawing]:
    """Return the figures that suit a study: means against whatever varies, comparisons,
    distributions, and pulls by arm.

    Where the tight lower bound is known, so are means over it against what varies, distributions of
    several algorithms over an oracle's, and shares of pulls beside the best ones; where the number
    of arms varies, means over the sum of gap^-2.

    Parameters
    ----------
    results : StudyResults
        The study's, or some of its tasks' (`StudyResults.select`).
    summary : polars.DataFrame, optional
        `results.summary()`, if it has been made.
    everything : bool, default False
        Whether to return all figures, not only three of a kind: the first, the last and one
        between.

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
    ['pulls-against-delta', 'efficiency-against-delta', 'ratios', 'distribution', 'histogram', 'law', 'pulls-by-gap', 'allocation']
    """
    cases = cases_of(results, summary)
    found = [
        *_sweeps(cases, everything),
        *_comparisons(cases, everything),
        *_distributions(cases, everything),
        *_laws(cases, everything),
        *_by_arm(cases, everything),
        *_shares(cases, everything),
    ]
    names: dict[str, int] = {}
    numbered = []
    for drawing in found:
        names[drawing.name] = names.get(drawing.name, 0) + 1
        number = names[drawing.name]
        name = drawing.name if number == 1 else f"{drawing.name}-{number}"
        numbered.append(Drawing(name, drawing.caption, drawing.draw, drawing.size))
    return numbered


def render(drawing: Drawing, kind: str, dpi: int = 150) -> bytes:
    """Return a figure as a file of a kind that matplotlib writes: png, svg or pdf; equal input
    gives equal bytes."""
    with house_style():
        return figure_bytes(drawing.draw(own_axes(drawing.size)), kind, dpi)


def figure_bytes(ax: Axes, kind: str, dpi: int = 150) -> bytes:
    """Return the figure of some axes as a file, without a date."""
    file = io.BytesIO()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    figure: Any = ax.get_figure(root=True)
    figure.savefig(file, format=kind, dpi=dpi, metadata=undated)
    return file.getvalue()


#: How a caption says that more could be drawn.
_MORE = "--all draws all of them, --select chooses"


def _some(
    groups: Iterable[Sequence[Case]], lines: int, everything: bool, most: int = _MOST
) -> list[tuple[Sequence[Case], str]]:
    """Return the groups of cases to be drawn, each with words for what was left out.

    Groups of more algorithms than a figure has lines are cut. Without `everything` those are the
    first, the last and one between, or the first alone.
    """
    pieces = [piece for group in groups for piece in _of_few_algorithms(group, lines, everything)]
    if everything or len(pieces) <= most:
        return pieces
    chosen = [pieces[i * (len(pieces) - 1) // max(most - 1, 1)] for i in range(most)]
    return [
        (group, f"{words} ({most} of {len(pieces)} such figures; {_MORE}.)")
        for group, words in chosen
    ]


def _of_few_algorithms(
    group: Sequence[Case], most: int, everything: bool
) -> Iterator[tuple[Sequence[Case], str]]:
    """Yield the cases of some algorithms, no more than a figure shows: of the first ones, or one
    piece after the other."""
    labels = list(dict.fromkeys(case.label for case in group))
    for start in range(0, len(labels) if everything else 1, most):
        some = labels[start : start + most]
        words = f" (Algorithms {start + 1} to {start + len(some)} of {len(labels)}{'' if everything else f'; {_MORE}'}.)"
        yield (
            [case for case in group if case.label in some],
            words if len(some) < len(labels) else "",
        )


def _sweeps(cases: Sequence[Case], everything: bool) -> Iterator[Drawing]:
    """Yield mean pulls against everything of which a family of cases has at least two values; over
    what theory says of them, too."""
    for against in dict.fromkeys(
        ["delta", *(name for case in cases for name in swept_parameters(case)), *_unnamed(cases)]
    ):
        wide = _wide_groups(cases, against, everything)
        what = {
            "delta": "the error probability",
            "n": "the number of arms",
            "gap": "the bottleneck gap",
        }.get(against, against)
        for group, more in _some(wide, _LINES, everything):
            where = _title(group, against, cases)
            caption = f"{where}: mean pulls against {what}, with bounds.{more}"
            yield Drawing(
                f"pulls-against-{against}", caption, partial(_draw_means, group, against, where)
            )
        suits = _has_complexity if against == "n" else partial(_has_bounds, against)
        for group, more in _some(filter(suits, wide), _LINES, everything):
            where = _title(group, against, cases)
            yield _over_theory(group, against, where, f"against {what}", more)


def _wide_groups(cases: Sequence[Case], against: str, everything: bool) -> list[list[Case]]:
    """Return the groups of cases that one figure shows, of those with at least two values."""
    groups: dict[tuple[Any, ...], list[Case]] = {}
    for case in cases:
        varied = against == "delta" or against in swept_parameters(case) or not case.parameters
        if varied and (against != "gap" or math.isfinite(case.experiment.problem.bottleneck_gap)):
            groups.setdefault(_group(case, against), []).append(case)
    wide = [
        group for group in groups.values() if len({abscissa(case, against) for case in group}) > 1
    ]
    if against != "delta":
        wide = [part for group in wide for part in _of_one_delta(group, everything)]
    return wide


def _has_bounds(against: str, group: Sequence[Case]) -> bool:
    """Whether the tight lower bound is known at two values at least."""
    known = (case for case in group if not math.isnan(case.theory.bound))
    return len({abscissa(case, against) for case in known}) > 1


def _has_complexity(group: Sequence[Case]) -> bool:
    """Whether all of the cases have gaps."""
    return all(math.isfinite(case.experiment.problem.bottleneck_gap) for case in group)


def _over_theory(group: Sequence[Case], against: str, where: str, words: str, more: str) -> Drawing:
    """Return means over the sum of gap^-2, against the number of arms, or over the lower bound."""
    if against == "n":
        caption = f"{where}: mean pulls over the sum of gap^-2, {words}.{more}"
        return Drawing(
            "moderate-confidence", caption, partial(_draw_titled, moderate_confidence, group, where)
        )
    caption = (
        f"{where}: mean pulls over the lower bound, {words}, with what an oracle pays that knows how "
        f"to share its pulls.{more}"
    )
    draw = partial(efficiency, against=against)
    return Drawing(
        f"efficiency-against-{against}", caption, partial(_draw_titled, draw, group, where)
    )


def _draw_titled(
    draw: Callable[[Sequence[Case], Axes], Axes], group: Sequence[Case], title: str, ax: Axes
) -> Axes:
    drawn = draw(group, ax)
    title_axes(drawn, title)
    return drawn


def _draw_means(group: Sequence[Case], against: str, title: str, ax: Axes) -> Axes:
    drawn = mean_pulls(group, ax, against=against)
    title_axes(drawn, title)
    return drawn


def _unnamed(cases: Sequence[Case]) -> list[str]:
    """Return n and gap if instances made by hand differ in them."""
    by_hand = [case.experiment.problem for case in cases if not case.parameters]
    values: dict[str, set[float]] = {
        "n": {p.n_arms for p in by_hand},
        "gap": {p.bottleneck_gap for p in by_hand},
    }
    varies = [name for name, different in values.items() if len(different) > 1]
    return varies if len(varies) == 1 else []


def _group(case: Case, against: str) -> tuple[Any, ...]:
    """Return what cases of one figure have in common."""
    e = case.experiment
    others = tuple(
        (name, case.parameters[name]) for name in swept_parameters(case) if name != against
    )
    problem = e.problem.identity() if against == "delta" else ""
    return family_of(case, against), problem, others, e.seed, e.skip_error, e.max_pulls


def _title(group: Sequence[Case], against: str, cases: Sequence[Case]) -> str:
    words = [family_of(group[0], against)]
    if against != "delta":
        words += [
            f"{name} = {group[0].parameters[name]}"
            for name in swept_parameters(group[0])
            if name != against
        ]
        words.append(f"δ = {group[0].experiment.delta:g}")
    return ", ".join([*words, *_setting(group[0], cases)])


def _setting(case: Case, cases: Sequence[Case]) -> list[str]:
    """Return a case's seed, cap and skip_error, as far as they vary in the study."""
    columns = zip(*map(setting_words, cases), strict=True)
    return [
        words
        for words, column in zip(setting_words(case), columns, strict=True)
        if len(set(column)) > 1
    ]


def _where(group: Sequence[Case], cases: Sequence[Case]) -> str:
    return ", ".join(
        [group[0].instance, f"δ = {group[0].experiment.delta:g}", *_setting(group[0], cases)]
    )


def _comparisons(cases: Sequence[Case], everything: bool) -> Iterator[Drawing]:
    """Yield comparisons of all algorithms with the first one: of everything, if need be in several
    figures, or of what one figure shows."""
    cases, more = [case for case in cases if case.finished > 1], ""
    if not everything and ratio_rows(cases) > MOST_ROWS:
        delta = min(case.experiment.delta for case in cases)
        cases, more = (
            [case for case in cases if case.experiment.delta == delta],
            f" At δ = {delta:g} alone; {_MORE}.",
        )
    pieces = list(_of_few_rows(cases))
    if not everything and len(pieces) > 1:
        shown, there = (len({case.instance for case in part}) for part in (pieces[0], cases))
        pieces, more = (
            pieces[:1],
            f" At δ = {delta:g} and for the first {shown} of {there} instances alone; {_MORE}.",
        )
    for piece in pieces:
        caption = f"Mean pulls of each algorithm over those of {cases[0].label}, same instance and δ.{more}"
        yield Drawing(
            "ratios",
            caption,
            partial(ratios, piece, baseline=cases[0].label),
            size_for(piece, cases[0].label),
        )


def _of_few_rows(cases: Sequence[Case]) -> Iterator[list[Case]]:
    """Yield the cases of consecutive instances and deltas that have as many rows of ratios as a
    figure shows."""
    piece: list[Case] = []
    base = cases[0].label if cases else ""
    for group in _places(cases, everything=True):
        if piece and ratio_rows([*piece, *group], base) > MOST_ROWS:
            yield piece
            piece = []
        piece += group
    if ratio_rows(piece, base):
        yield piece


def _by_instance(cases: Sequence[Case]) -> list[list[Case]]:
    """Return the cases of each instance, with their seed, cap and skip_error."""
    by_instance: dict[tuple[Any, ...], list[Case]] = {}
    for case in cases:
        by_instance.setdefault(
            (case.instance, case.experiment.problem.identity(), *setting_words(case)), []
        ).append(case)
    return list(by_instance.values())


def _of_one_delta(group: Sequence[Case], everything: bool) -> list[list[Case]]:
    """Return the cases of each error probability, or of the smallest one, which most studies are
    about."""
    deltas = sorted({case.experiment.delta for case in group}, reverse=True)
    return [
        [case for case in group if case.experiment.delta == delta]
        for delta in (deltas if everything else deltas[-1:])
    ]


def _distributions(cases: Sequence[Case], everything: bool) -> Iterator[Drawing]:
    for group, more in _some(_places(cases, everything), _LINES, everything):
        where = _where(group, cases)
        yield Drawing(
            "distribution",
            f"{where}: distribution of pulls.{more}",
            partial(_draw_distribution, group, "ecdf", where),
        )
        if _has_arms(group) and all(map(_too_dear, group)):
            more += f" Pulls by arm are not drawn: {_DEAR}."
        yield Drawing(
            "histogram",
            f"{where}: histogram of pulls.{more}",
            partial(_draw_distribution, group, "histogram", where),
        )


def _laws(cases: Sequence[Case], everything: bool) -> Iterator[Drawing]:
    """Yield distributions of several algorithms over an oracle's."""
    groups = [group for group in _places(cases, everything) if len(group) > 1]
    known = [group for group in groups if all(map(_has_oracle, group))]
    for group, more in _some(known, _LINES, everything, _MOST_BESIDE):
        where = _where(group, cases)
        caption = (
            f"{where}: distribution of pulls over an oracle's that knows how to share its pulls, and "
            f"error rates.{more}"
        )
        yield Drawing("law", caption, partial(_draw_titled, law, group, where))


def _has_oracle(case: Case) -> bool:
    """Whether an oracle's pulls are known, and some."""
    return 0.0 < case.theory.practical("pairs") < math.inf


def _places(cases: Sequence[Case], everything: bool) -> list[list[Case]]:
    """Return the cases of each instance at its smallest error probability, or at each."""
    return [part for group in _by_instance(cases) for part in _of_one_delta(group, everything)]


def _draw_distribution(group: Sequence[Case], kind: str, title: str, ax: Axes) -> Axes:
    drawn = distribution(group, ax, kind=kind)
    title_axes(drawn, title)
    return drawn


def _by_arm(cases: Sequence[Case], everything: bool) -> Iterator[Drawing]:
    """Yield pulls by arm for instances of a few arms of which rows are kept."""
    for group, more in _some(_counted_by_arm(cases, everything), _BY_ARM, everything):
        what = "pulls of each arm against its gap"
        yield from _arms_drawing("pulls-by-gap", what, pulls_by_gap, group, cases, more)


def _shares(cases: Sequence[Case], everything: bool) -> Iterator[Drawing]:
    """Yield shares of pulls for those of them of which the best ones are known."""
    groups = filter(_has_best_shares, _counted_by_arm(cases, everything))
    for group, more in _some(groups, _BY_ARM, everything, _MOST_BESIDE):
        what = "each arm's share of the pulls, beside the best ones"
        yield from _arms_drawing("allocation", what, allocation, group, cases, more)


def _counted_by_arm(cases: Sequence[Case], everything: bool) -> Iterator[list[Case]]:
    """Yield the cases of which pulls by arm can be counted, by place."""
    for group in _places(cases, everything):
        told = [case for case in group if keeps_history(case.experiment)]
        if told and _has_arms(told):
            yield told


def _arms_drawing(
    name: str,
    what: str,
    draw: Callable[..., Axes],
    group: Sequence[Case],
    cases: Sequence[Case],
    more: str,
) -> Iterator[Drawing]:
    """Yield a figure of those that can be run again for it, if there are any."""
    where, rest = _where(group, cases), [case for case in group if not _too_dear(case)]
    left = ", ".join(dict.fromkeys(case.label for case in group if _too_dear(case)))
    if rest:
        caption = f"{where}: {what}, in replications that were run again for it.{more}"
        if left:
            where, caption = (
                f"{where}, without {left}",
                f"{caption} Without {left}, of which {_DEAR}.",
            )
        yield Drawing(name, caption, partial(_draw_by_arm, draw, rest, where))


def _has_arms(group: Sequence[Case]) -> bool:
    """Whether pulls by arm suit an instance: it has some, not too many, with finite gaps, and rows
    are kept."""
    problem = group[0].experiment.problem
    return (
        2 < problem.n_arms <= _ARMS
        and math.isfinite(problem.bottleneck_gap)
        and group[0].keeps_rows
    )


#: Why pulls by arm are not drawn of an algorithm.
_DEAR = (
    f"{LEAST_FOR_INTERVAL} replications, the fewest that make an interval, take too long to run "
    "again for a figure; "
    "rai_sim.plotting.pulls_by_gap runs them"
)


def _has_best_shares(group: Sequence[Case]) -> bool:
    """Whether the best shares are known, of few arms."""
    few = group[0].experiment.problem.n_arms <= MOST_ARMS
    return few and not math.isnan(group[0].theory.asymptotic)


def _draw_by_arm(draw: Callable[..., Axes], group: Sequence[Case], title: str, ax: Axes) -> Axes:
    drawn = draw(group, ax, replications=min(map(replications_again, group)))
    title_axes(drawn, title)
    return drawn


def replications_again(case: Case) -> int:
    """Return how many replications of a case are run again: a function of what the study found, not
    of the machine."""
    if not case.experiment.algorithm.looks_at_most_rounds:
        return _REPLICATIONS
    affordable = max(_PULLS, min(_MOST_PULLS, LEAST_FOR_INTERVAL * case.mean))
    return min(_REPLICATIONS, int(affordable / case.mean))


def _too_dear(case: Case) -> bool:
    """Whether fewer replications can be run again than make an interval: then they are not worth
    it."""
    return replications_again(case) < LEAST_FOR_INTERVAL
