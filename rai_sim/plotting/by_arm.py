"""Figures of pulls by arm that a study gets: where it keeps none, replications are run again for
them, and here is how many, and of which algorithms."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from rai_sim.plotting import groups
from rai_sim.plotting.allocation import MOST_ARMS, allocation
from rai_sim.plotting.arm_map import MOST_ARMS as MOST_COLUMNS
from rai_sim.plotting.arm_map import MOST_ROWS, arm_map, size_for
from rai_sim.plotting.arms import pulls_by_gap
from rai_sim.plotting.drawing import Drawing, draw_titled
from rai_sim.plotting.inputs import LEAST_FOR_INTERVAL, Case
from rai_sim.plotting.style import SIZE
from rai_sim.tracing.history import keeps_history

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Algorithms of one figure.
_ALGORITHMS = 6
#: Pulls are counted by arm in so many replications, of at most so many arms; of an algorithm that
#: looks at most of its rounds, in as many as have so many pulls together, or in as many as an
#: interval needs if those have no more than so many.
_REPLICATIONS, _ARMS, _PULLS, _MOST_PULLS = 100, 500, 2e7, 3e8


def by_arm(cases: Sequence[Case], everything: bool) -> Iterator[Drawing]:
    """Yield pulls by arm for instances of a few arms of which rows, or these, are kept: against gaps,
    for several algorithms as a map, and as shares where the best ones are known."""
    told = list(_counted_by_arm(cases, everything))
    for group, more in groups.some(told, _ALGORITHMS, everything):
        what = "pulls of each arm against its gap"
        yield from _drawing("pulls-by-gap", what, pulls_by_gap, group, cases, more)
    for group, more in groups.some(
        filter(_suits_map, told), MOST_ROWS, everything, groups.MOST_BESIDE
    ):
        what = "mean pulls of each arm, by algorithm"
        yield from _drawing("arm-map", what, arm_map, group, cases, more)
    for group, more in groups.some(
        filter(_has_best_shares, told), _ALGORITHMS, everything, groups.MOST_BESIDE
    ):
        what = "each arm's share of the pulls, beside the best ones"
        yield from _drawing("allocation", what, allocation, group, cases, more)


def _counted_by_arm(cases: Sequence[Case], everything: bool) -> Iterator[list[Case]]:
    """Yield the cases of which pulls by arm can be counted, by place."""
    for group in groups.places(cases, everything):
        told = [case for case in group if case.keeps_arm_pulls or keeps_history(case.experiment)]
        if told and has_arms(told):
            yield told


def _drawing(
    name: str,
    what: str,
    draw: Callable[..., Axes],
    group: Sequence[Case],
    cases: Sequence[Case],
    more: str,
) -> Iterator[Drawing]:
    """Yield a figure of those that can be run again for it, if there are any."""
    where, rest = groups.where(group, cases), [case for case in group if not too_dear(case)]
    left = ", ".join(dict.fromkeys(case.label for case in group if too_dear(case)))
    if rest:
        again = any(not case.keeps_arm_pulls for case in rest)
        how = ", in replications that were run again for it" if again else ""
        caption = f"{where}: {what}{how}.{more}"
        if left:
            where, caption = (
                f"{where}, without {left}",
                f"{caption} Without {left}, of which {DEAR}.",
            )
        size = size_for(len(rest)) if draw is arm_map else SIZE
        yield Drawing(name, caption, partial(_draw, draw, rest, where), size)


def has_arms(group: Sequence[Case]) -> bool:
    """Whether pulls by arm suit an instance: it has some, not too many, with finite gaps, and rows
    or pulls by arm are kept."""
    problem = group[0].experiment.problem
    return (
        2 < problem.n_arms <= _ARMS
        and math.isfinite(problem.bottleneck_gap)
        and (group[0].keeps_rows or group[0].keeps_arm_pulls)
    )


#: Why pulls by arm are not drawn of an algorithm.
DEAR = (
    f"{LEAST_FOR_INTERVAL} replications, the fewest that make an interval, take too long to run "
    "again for a figure; "
    "rai_sim.plotting.pulls_by_gap runs them"
)


def _suits_map(group: Sequence[Case]) -> bool:
    """Whether there are several algorithms, and few arms."""
    few = group[0].experiment.problem.n_arms <= MOST_COLUMNS
    return few and len([case for case in group if not too_dear(case)]) > 1


def _has_best_shares(group: Sequence[Case]) -> bool:
    """Whether the best shares are known, of few arms."""
    few = group[0].experiment.problem.n_arms <= MOST_ARMS
    return few and not math.isnan(group[0].theory.asymptotic)


def _draw(draw: Callable[..., Axes], group: Sequence[Case], title: str, ax: Axes) -> Axes:
    return draw_titled(partial(draw, replications=run_again_for(group)), group, title, ax)


def run_again_for(group: Sequence[Case]) -> int:
    """Return how many replications a figure of some cases runs again of each, as far as they keep no
    pulls by arm."""
    again = [replications_again(case) for case in group if not case.keeps_arm_pulls]
    return min(again, default=_REPLICATIONS)


def replications_again(case: Case) -> int:
    """Return how many replications of a case are run again: a function of what the study found, not
    of the machine."""
    if not case.experiment.algorithm.looks_at_most_rounds or not case.mean:
        return _REPLICATIONS  # not dear, without a pull least of all
    affordable = max(_PULLS, min(_MOST_PULLS, LEAST_FOR_INTERVAL * case.mean))
    return min(_REPLICATIONS, int(affordable / case.mean))


def too_dear(case: Case) -> bool:
    """Whether fewer replications can be run again than make an interval: then they are not worth
    it."""
    return not case.keeps_arm_pulls and replications_again(case) < LEAST_FOR_INTERVAL
