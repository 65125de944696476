"""Which figures a study gets, by what varies in it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from rai_sim.plotting import groups
from rai_sim.plotting.budgets import budgets
from rai_sim.plotting.by_arm import DEAR, by_arm, has_arms, too_dear
from rai_sim.plotting.calibration import calibration
from rai_sim.plotting.distributions import distribution
from rai_sim.plotting.drawing import Drawing, draw_titled
from rai_sim.plotting.efficiency import efficiency
from rai_sim.plotting.exponents import exponents, has_slope
from rai_sim.plotting.inputs import Case, cases_at_caps, cases_of
from rai_sim.plotting.law import law
from rai_sim.plotting.lines import MOST_LINES
from rai_sim.plotting.means import has_bounds, mean_pulls
from rai_sim.plotting.moderate import moderate_confidence
from rai_sim.plotting.normalised import bound_words, normalised_pulls
from rai_sim.plotting.panels import MOST_PANELS, panels
from rai_sim.plotting.panels import size_for as size_of_panels
from rai_sim.plotting.ratios import MOST_ROWS, comparable, ratio_rows, ratios, size_for
from rai_sim.simulation.sweeps import swept_parameters
from rai_sim.support.errors import ArgumentValueError, Named

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

    from rai_sim.study import StudyResults

#: Slopes are told of so many points along an axis.
_LEAST_POINTS = 3


def choose(
    results: StudyResults, summary: pl.DataFrame | None = None, *, everything: bool = False
) -> list[Drawing]:
    """Return the figures that suit a study: means against whatever varies, comparisons,
    distributions, and pulls by arm.

    Where delta varies, so are means over ln(1/delta) and, where replications are enough to tell,
    error rates, a panel for each instance; along three gaps and more the slope. Where the tight
    lower bound is known, so are means over it against what varies, distributions of
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

    Where runs have several caps, there are error rates of what is recommended against the caps.

    Raises
    ------
    ValueError
        If no replication finished, and there are not several caps on one instance at which it is
        known what is recommended.

    Examples
    --------
    >>> import tempfile
    >>> import rai_sim as rai
    >>> study = rai.Study.grid([rai.table_problem()], [rai.Vanilla(), rai.LUCB()], [0.1, 0.01], replications=20)
    >>> [drawing.name for drawing in choose(study.run(tempfile.mkdtemp()))]
    ['pulls-against-delta', 'efficiency-against-delta', 'normalised-pulls', 'ratios', 'distribution',
     'histogram', 'law', 'pulls-by-gap', 'arm-map', 'allocation']
    """
    at_caps = cases_at_caps(results, summary)
    cases = cases_of(results, summary, may_be_none=bool(at_caps))
    found = [
        *_budgets(at_caps, everything),
        *_sweeps(cases, everything),
        *_over_instances(cases, everything),
        *_comparisons(cases, everything),
        *_distributions(cases, everything),
        *_laws(cases, everything),
        *by_arm(cases, everything),
    ]
    if not found:
        raise ArgumentValueError(
            "results",
            "results has no finished replication, and no two caps on one instance, for error rates "
            "against the cap; raise ",
            Named("max_pulls"),
            ", or run with several",
        )
    names: dict[str, int] = {}
    numbered = []
    for drawing in found:
        names[drawing.name] = names.get(drawing.name, 0) + 1
        number = names[drawing.name]
        name = drawing.name if number == 1 else f"{drawing.name}-{number}"
        numbered.append(Drawing(name, drawing.caption, drawing.draw, drawing.size))
    return numbered


def _budgets(cases: Sequence[Case], everything: bool) -> Iterator[Drawing]:
    """Yield error rates of what is recommended at caps, for each instance that has several."""
    wide = groups.wide_groups(cases, "max_pulls", everything)
    for group, more in groups.some(wide, MOST_LINES, everything):
        where = groups.title(group, "max_pulls", cases)
        caption = f"{where}: error rates of what is recommended at a cap, against the cap.{more}"
        yield Drawing("error-against-budget", caption, partial(draw_titled, budgets, group, where))


def _sweeps(cases: Sequence[Case], everything: bool) -> Iterator[Drawing]:
    """Yield mean pulls against everything of which a family of cases has at least two values; over
    what theory says of them, too."""
    for against in dict.fromkeys(
        [
            "delta",
            *(name for case in cases for name in swept_parameters(case)),
            *groups.unnamed(cases),
        ]
    ):
        wide = groups.wide_groups(cases, against, everything)
        what = {
            "delta": "the error probability",
            "n": "the number of arms",
            "gap": "the bottleneck gap",
        }.get(against, against)
        for group, more in groups.some(wide, MOST_LINES, everything):
            where = groups.title(group, against, cases)
            bounds = ", with bounds" if has_bounds(group, against) else ""
            caption = f"{where}: mean pulls against {what}{bounds}.{more}"
            draw = partial(mean_pulls, against=against)
            yield Drawing(
                f"pulls-against-{against}", caption, partial(draw_titled, draw, group, where)
            )
        suits = _has_complexity if against == "n" else partial(_has_bounds, against)
        # Along delta means over ln(1/delta) say as much, of all instances.
        most = groups.MOST_BESIDE if against == "delta" else groups.MOST
        for group, more in groups.some(filter(suits, wide), MOST_LINES, everything, most):
            where = groups.title(group, against, cases)
            yield _over_theory(group, against, where, f"against {what}", more)
        if against == "gap":
            for group, more in groups.some(filter(_has_slopes, wide), MOST_LINES, everything):
                where = groups.title(group, against, cases)
                caption = f"{where}: slope of mean pulls against the gap, both logarithmic.{more}"
                draw = partial(draw_titled, exponents, group, where)
                yield Drawing("exponents-against-gap", caption, draw)


def _has_bounds(against: str, group: Sequence[Case]) -> bool:
    """Whether the tight lower bound is known at two values at least."""
    known = (case for case in group if not math.isnan(case.theory.bound))
    return groups.number_of_places(known, against) > 1


def _has_complexity(group: Sequence[Case]) -> bool:
    """Whether all of the cases have gaps."""
    return all(math.isfinite(case.experiment.problem.bottleneck_gap) for case in group)


def _over_theory(group: Sequence[Case], against: str, where: str, words: str, more: str) -> Drawing:
    """Return means over the sum of gap^-2, against the number of arms, or over the lower bound."""
    if against == "n":
        caption = f"{where}: mean pulls over the sum of gap^-2, {words}.{more}"
        return Drawing(
            "moderate-confidence", caption, partial(draw_titled, moderate_confidence, group, where)
        )
    caption = (
        f"{where}: mean pulls over the lower bound, {words}, with what an oracle pays that knows how "
        f"to share its pulls.{more}"
    )
    draw = partial(efficiency, against=against)
    return Drawing(
        f"efficiency-against-{against}", caption, partial(draw_titled, draw, group, where)
    )


def _has_slopes(group: Sequence[Case]) -> bool:
    """Whether some algorithm has points enough for a slope with an interval."""
    labels = [case.label for case in group if has_slope(case)]
    return any(labels.count(label) >= _LEAST_POINTS for label in labels)


def _over_instances(cases: Sequence[Case], everything: bool) -> Iterator[Drawing]:
    """Yield what is drawn along delta with a panel for each instance: means over ln(1/delta), and
    error rates where replications tell them from delta."""
    told = [case for case in cases if _tells_errors(case)]

    def normalised(here: Sequence[Case]) -> str:
        return f"mean pulls over ln(1/δ), against ln(1/δ){bound_words(here)}"

    def rates(_: Sequence[Case]) -> str:
        return "error rates against δ, with Clopper-Pearson intervals of 95 %"

    yield from _paneled("normalised-pulls", normalised, normalised_pulls, cases, everything)
    yield from _paneled("calibration", rates, calibration, told, everything)


def _tells_errors(case: Case) -> bool:
    """Whether an error probability of delta would have shown."""
    return case.errors > 0 or case.finished * case.experiment.delta >= 1.0


def _paneled(
    name: str,
    words: Callable[[Sequence[Case]], str],
    draw: Callable[..., Axes],
    cases: Sequence[Case],
    everything: bool,
) -> Iterator[Drawing]:
    """Yield a figure with a panel for each instance that has several deltas; of very many instances
    several, or one of the first."""
    for part, more in groups.of_few_algorithms(cases, MOST_LINES, everything):
        wide = groups.wide_groups(part, "delta", everything)
        for start in range(0, len(wide) if everything else min(len(wide), 1), MOST_PANELS):
            shown = wide[start : start + MOST_PANELS]
            if len(shown) < len(wide) and not everything:
                more += f" (The first {len(shown)} of {len(wide)} instances; {groups.MORE}.)"
            here = [case for group in shown for case in group]
            what = words(here)
            if len(wide) == 1:
                where = groups.title(shown[0], "delta", cases)
                caption = f"{where}: {what}.{more}"
                yield Drawing(name, caption, partial(draw_titled, draw, shown[0], where))
            else:
                caption = f"{what[0].upper()}{what[1:]}, by instance.{more}"
                several = partial(panels, here, draw=draw)
                yield Drawing(name, caption, several, size_of_panels(len(shown)))


def _comparisons(cases: Sequence[Case], everything: bool) -> Iterator[Drawing]:
    """Yield comparisons of all algorithms with the first one: of everything, if need be in several
    figures, or of what one figure shows."""
    cases, more = comparable(cases), ""
    if not everything and ratio_rows(cases) > MOST_ROWS:
        delta = min(case.experiment.delta for case in cases)
        cases, more = (
            [case for case in cases if case.experiment.delta == delta],
            f" At δ = {delta:g} alone; {groups.MORE}.",
        )
    pieces = list(_of_few_rows(cases))
    if not everything and len(pieces) > 1:
        shown, there = (len({case.instance for case in part}) for part in (pieces[0], cases))
        pieces, more = (
            pieces[:1],
            f" At δ = {delta:g} and for the first {shown} of {there} instances alone; {groups.MORE}.",
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
    for group in groups.places(cases, everything=True):
        if piece and ratio_rows([*piece, *group], base) > MOST_ROWS:
            yield piece
            piece = []
        piece += group
    if ratio_rows(piece, base):
        yield piece


def _distributions(cases: Sequence[Case], everything: bool) -> Iterator[Drawing]:
    for group, more in groups.some(groups.places(cases, everything), MOST_LINES, everything):
        where = groups.where(group, cases)
        yield Drawing(
            "distribution",
            f"{where}: distribution of pulls.{more}",
            partial(draw_titled, distribution, group, where),
        )
        if has_arms(group) and all(map(too_dear, group)):
            more += f" Pulls by arm are not drawn: {DEAR}."
        yield Drawing(
            "histogram",
            f"{where}: histogram of pulls.{more}",
            partial(draw_titled, partial(distribution, kind="histogram"), group, where),
        )


def _laws(cases: Sequence[Case], everything: bool) -> Iterator[Drawing]:
    """Yield distributions of several algorithms over an oracle's."""
    several = [group for group in groups.places(cases, everything) if len(group) > 1]
    known = [group for group in several if all(map(_has_oracle, group))]
    for group, more in groups.some(known, MOST_LINES, everything, groups.MOST_BESIDE):
        where = groups.where(group, cases)
        caption = (
            f"{where}: distribution of pulls over an oracle's that knows how to share its pulls, and "
            f"error rates.{more}"
        )
        yield Drawing("law", caption, partial(draw_titled, law, group, where))


def _has_oracle(case: Case) -> bool:
    """Whether an oracle's pulls are known, and some."""
    return 0.0 < case.theory.practical("pairs") < math.inf
