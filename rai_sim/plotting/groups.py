"""Which of a study's cases one figure shows, and what it says of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rai_sim.plotting.inputs import Case, setting_words
from rai_sim.plotting.lines import makes_lines
from rai_sim.simulation.sweeps import (
    OF_THE_RUN,
    abscissa,
    distinct_places,
    family_of,
    swept_parameters,
)

#: Figures of one kind, at most, unless all are asked for, and of those that show another one against
#: theory or in another way.
MOST, MOST_BESIDE = 3, 1
#: How a caption says that more could be drawn.
MORE = "--all draws all of them, --select chooses"


def some(
    groups: Iterable[Sequence[Case]], lines: int, everything: bool, most: int = MOST
) -> list[tuple[Sequence[Case], str]]:
    """Return the groups of cases to be drawn, each with words for what was left out.

    Groups of more algorithms than a figure has lines are cut. Without `everything` those are the
    first, the last and one between, or the first alone.
    """
    pieces = [piece for group in groups for piece in of_few_algorithms(group, lines, everything)]
    if everything or len(pieces) <= most:
        return pieces
    chosen = [pieces[i * (len(pieces) - 1) // max(most - 1, 1)] for i in range(most)]
    return [
        (group, f"{words} ({most} of {len(pieces)} such figures; {MORE}.)")
        for group, words in chosen
    ]


def of_few_algorithms(
    group: Sequence[Case], most: int, everything: bool
) -> Iterator[tuple[Sequence[Case], str]]:
    """Yield the cases of some algorithms, no more than a figure shows: of the first ones, or one
    piece after the other."""
    labels = list(dict.fromkeys(case.label for case in group))
    for start in range(0, len(labels) if everything else 1, most):
        here = labels[start : start + most]
        words = f" (Algorithms {start + 1} to {start + len(here)} of {len(labels)}{'' if everything else f'; {MORE}'}.)"
        yield (
            [case for case in group if case.label in here],
            words if len(here) < len(labels) else "",
        )


def wide_groups(cases: Sequence[Case], against: str, everything: bool) -> list[list[Case]]:
    """Return the groups of cases that one figure shows, of those with at least two values, and with
    one case of each algorithm at each: instances made by hand may share a value."""
    groups: dict[tuple[Any, ...], list[Case]] = {}
    for case in cases:
        varied = against in OF_THE_RUN or against in swept_parameters(case) or not case.parameters
        if varied and (against != "gap" or math.isfinite(case.experiment.problem.bottleneck_gap)):
            groups.setdefault(_group(case, against), []).append(case)
    wide = list(groups.values())
    if against != "delta":
        wide = [part for group in wide for part in of_one_delta(group, everything)]
    return [
        group
        for group in wide
        if number_of_places(group, against) > 1 and makes_lines(group, against)
    ]


def number_of_places(cases: Iterable[Case], against: str) -> int:
    """Return at how many different places along an axis cases lie."""
    return len(distinct_places((abscissa(case, against) for case in cases), against))


def unnamed(cases: Sequence[Case]) -> list[str]:
    """Return n and gap if instances made by hand differ in them."""
    by_hand = [case.experiment.problem for case in cases if not case.parameters]
    values: dict[str, list[float]] = {
        "n": [p.n_arms for p in by_hand],
        "gap": [p.bottleneck_gap for p in by_hand],
    }
    varies = [name for name, all_ in values.items() if len(distinct_places(all_, name)) > 1]
    return varies if len(varies) == 1 else []


def _group(case: Case, against: str) -> tuple[Any, ...]:
    """Return what cases of one figure have in common."""
    e = case.experiment
    others = tuple(
        (name, case.parameters[name]) for name in swept_parameters(case) if name != against
    )
    problem = e.problem.identity() if against in OF_THE_RUN else ""
    cap = None if against == "max_pulls" else e.max_pulls
    return family_of(case, against), problem, others, e.seed, e.skip_error, cap


def title(group: Sequence[Case], against: str, cases: Sequence[Case]) -> str:
    """Return what the cases of a figure along an axis have in common, in words."""
    words = [family_of(group[0], against)]
    if against != "delta":
        words += [
            f"{name} = {group[0].parameters[name]}"
            for name in swept_parameters(group[0])
            if name != against
        ]
        words.append(f"δ = {group[0].experiment.delta:g}")
    return ", ".join([*words, *_setting(group[0], cases, against)])


def _setting(case: Case, cases: Sequence[Case], against: str = "") -> list[str]:
    """Return a case's seed, cap and skip_error, as far as they vary in the study and are not
    `against`."""
    columns = zip(*(setting_words(one, against) for one in cases), strict=True)
    return [
        words
        for words, column in zip(setting_words(case, against), columns, strict=True)
        if len(set(column)) > 1
    ]


def where(group: Sequence[Case], cases: Sequence[Case]) -> str:
    """Return instance and delta of the cases of a figure, in words."""
    return ", ".join(
        [group[0].instance, f"δ = {group[0].experiment.delta:g}", *_setting(group[0], cases)]
    )


def by_instance(cases: Sequence[Case]) -> list[list[Case]]:
    """Return the cases of each instance, with their seed, cap and skip_error."""
    found: dict[tuple[Any, ...], list[Case]] = {}
    for case in cases:
        found.setdefault(
            (case.instance, case.experiment.problem.identity(), *setting_words(case)), []
        ).append(case)
    return list(found.values())


def of_one_delta(group: Sequence[Case], everything: bool) -> list[list[Case]]:
    """Return the cases of each error probability, or of the smallest one, which most studies are
    about."""
    deltas = sorted({case.experiment.delta for case in group}, reverse=True)
    return [
        [case for case in group if case.experiment.delta == delta]
        for delta in (deltas if everything else deltas[-1:])
    ]


def places(cases: Sequence[Case], everything: bool) -> list[list[Case]]:
    """Return the cases of each instance at its smallest error probability, or at each."""
    return [part for group in by_instance(cases) for part in of_one_delta(group, everything)]
