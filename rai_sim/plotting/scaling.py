"""The figures of a scaling study."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from rai_sim.plotting.allocation import MOST_ARMS, allocation
from rai_sim.plotting.by_arm import run_again_for, too_dear
from rai_sim.plotting.drawing import Drawing
from rai_sim.plotting.efficiency import efficiency
from rai_sim.plotting.exponents import exponents, has_slope
from rai_sim.plotting.groups import number_of_places
from rai_sim.plotting.inputs import Case, cases_of
from rai_sim.plotting.law import law
from rai_sim.plotting.means import has_bounds, mean_pulls
from rai_sim.plotting.moderate import moderate_confidence
from rai_sim.plotting.normalised import bound_words, normalised_pulls
from rai_sim.simulation.sweeps import abscissa
from rai_sim.tracing.history import keeps_history

if TYPE_CHECKING:
    from rai_sim.study import StudyResults


def choose_along(results: StudyResults, against: str) -> list[Drawing]:
    """Return the figures of a study along an axis: means, slopes, efficiency, and at the hardest point
    where theory has something to compare with, the law of pulls and their shares; against n the
    price of many arms.

    Parameters
    ----------
    results : StudyResults
        Of `rai_sim.scaling.over_delta` and its like: one line an algorithm.
    against : str
        "delta", "n", "gap", or a numeric parameter of the instances.

    Raises
    ------
    ValueError
        If no replication finished, or an instance has no such parameter.

    Examples
    --------
    >>> import tempfile
    >>> import rai_sim as rai
    >>> study = rai.scaling.over_delta(deltas=[0.1, 1e-3], replications=10)
    >>> [drawing.name for drawing in choose_along(study.run(tempfile.mkdtemp()), "delta")]
    ['pulls-against-delta', 'normalised-pulls', 'efficiency', 'law', 'allocation']
    """
    cases = cases_of(results)
    return [*_along(cases, against), *_at_the_end(cases, against)]


def _along(cases: Sequence[Case], against: str) -> Iterator[Drawing]:
    """Yield the figures of all points."""
    bounds = ", with bounds" if has_bounds(cases, against) else ""
    yield Drawing(
        f"pulls-against-{against}",
        f"Mean pulls against {against}{bounds}.",
        partial(mean_pulls, cases, against=against),
    )
    if against == "delta":
        caption = f"Mean pulls over ln(1/δ){bound_words(cases)}."
        yield Drawing("normalised-pulls", caption, partial(normalised_pulls, cases))
    if number_of_places(filter(has_slope, cases), against) > 2:
        caption = f"Slope of mean pulls against {against}, both logarithmic, between neighbours and of all points."
        yield Drawing(
            f"exponents-against-{against}", caption, partial(exponents, cases, against=against)
        )
    if any(not math.isnan(case.theory.bound) for case in cases):
        caption = f"Mean pulls over the tight lower bound, against {against}; dashed: oracles under stopping thresholds."
        yield Drawing("efficiency", caption, partial(efficiency, cases, against=against))
    if against == "n":
        caption = "Mean pulls over the sum of gap^-2, against the number of arms."
        yield Drawing("moderate-confidence", caption, partial(moderate_confidence, cases))


def _at_the_end(cases: Sequence[Case], against: str) -> Iterator[Drawing]:
    """Yield the figures of the hardest point at which an oracle is known, of all algorithms that
    were run there."""
    known = [case for case in cases if not math.isnan(case.theory.asymptotic)]
    if not known:
        return
    places = [abscissa(case, against) for case in known]
    end = min(places) if against in ("delta", "gap") else max(places)
    there = [case for case, place in zip(known, places, strict=True) if place == end]
    where = f"{against} = {end:g}"
    caption = f"At {where}: pulls of a replication over those of an oracle, with intervals of error rates."
    yield Drawing("law", caption, partial(law, there))
    told = [
        case
        for case in there
        if case.experiment.problem.n_arms <= MOST_ARMS
        and (case.keeps_arm_pulls or (case.keeps_rows and keeps_history(case.experiment)))
        and not too_dear(case)
    ]
    if told:
        caption = f"At {where}: each arm's share of the pulls, beside the best shares."
        number = run_again_for(told)
        yield Drawing("allocation", caption, partial(allocation, told, replications=number))
