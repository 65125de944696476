"""What varies between experiments: where each lies along an axis, and what instances have in
common.

An axis is "delta"; "max_pulls", the cap on pulls; "n", the number of arms; "gap", the bottleneck
gap; or a numeric parameter that instances were made from.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from rai_sim.simulation.experiment import Experiment
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError
from rai_sim.support.wording import count, listed, short

#: Axes along which the instance stays.
OF_THE_RUN = ("delta", "max_pulls")
#: Gaps this near to each other, relatively, are one: a gap is a difference of means, which are doubles,
#: so of 1e-9 seven digits are known.
_ROUNDING = 1e-6


class Varied(Protocol):
    """An experiment with the name of its instance and what that was made from: a study's task, or a
    figure's case."""

    @property
    def experiment(self) -> Experiment:
        """What is run."""

    @property
    def instance(self) -> str:
        """The instance's name; empty where it has none."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What the instance was made from."""


def check_axis(against: object) -> str:
    """Return the name of an axis, or raise TypeError for what is no name.

    Examples
    --------
    >>> check_axis("delta")
    'delta'
    """
    if not isinstance(against, str):
        raise ArgumentTypeError(
            "against",
            f"against is {short.repr(against)}; give 'delta', 'n', 'gap' or a parameter's name",
        )
    return against


def abscissa(case: Varied, against: str) -> float:
    """Return where an experiment lies along an axis.

    Raises
    ------
    TypeError
        If `against` is no text.
    ValueError
        If there is no cap, the problem has a single cluster, whose gap is infinite, or the instance
        no such parameter.

    Examples
    --------
    >>> import rai_sim as rai
    >>> task = rai.Study.grid([rai.table_problem()], [rai.Vanilla()], [0.01]).tasks[0]
    >>> abscissa(task, "delta"), abscissa(task, "n"), abscissa(task, "gap")
    (0.01, 10.0, 0.25)
    """
    e, against = case.experiment, check_axis(against)
    if against == "delta":
        return e.delta
    if against == "max_pulls":
        if e.max_pulls is None:
            raise ArgumentValueError(
                "against", "against is 'max_pulls', but a run has no cap; leave it out"
            )
        return float(e.max_pulls)
    if against == "gap":
        if not math.isfinite(e.problem.bottleneck_gap):
            raise ArgumentValueError(
                "against",
                "against is 'gap', but a problem of a single cluster has an infinite one; leave "
                "it out",
            )
        return e.problem.bottleneck_gap
    if against == "n":
        return float(e.problem.n_arms)
    value = case.parameters.get(against)
    if value is None or not _is_number(value):
        known = sorted(name for name, given in case.parameters.items() if _is_number(given))
        where = f"instance {case.instance!r}" if case.instance else "a result"
        raise ArgumentValueError(
            "against",
            f"against is {against!r}, which {where} has no number for; choose 'delta', 'n', 'gap'",
            f" or a parameter: {', '.join(known)}" if known else "",
        )
    return float(value)


def distinct_places(places: Iterable[float], against: str) -> list[float]:
    """Return the different places along an axis, ascending; of gaps that are equal but for the rounding
    of means the least.

    Examples
    --------
    >>> distinct_places([0.75 - 0.5, 0.7 - 0.45, 0.5], "gap")
    [0.24999999999999994, 0.5]
    """
    near, found = (_ROUNDING if against == "gap" else 0.0), list[float]()
    for place in sorted(places):
        if not found or not math.isclose(place, found[-1], rel_tol=near, abs_tol=0.0):
            found.append(place)
    return found


def twice_at_a_place(places: Iterable[float], against: str) -> float | None:
    """Return the first place along an axis, ascending, at which there are two; None if there is none.

    Examples
    --------
    >>> twice_at_a_place([0.5, 0.7 - 0.45, 0.75 - 0.5], "gap"), twice_at_a_place([0.1, 0.2], "gap")
    (0.25, None)
    """
    for one, other in itertools.pairwise(sorted(places)):
        if len(distinct_places((one, other), against)) < 2:
            return other
    return None


def swept_parameters(case: Varied) -> list[str]:
    """Return the numeric parameters of which a study has several values for the case's family: its
    instance's name lists them."""
    return [
        name
        for name, value in case.parameters.items()
        if _is_number(value) and f", {name} = {value}" in case.instance
    ]


def _is_number(value: object) -> bool:
    """Whether a value is a number that an axis can have: a double."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and abs(value) <= sys.float_info.max  # type: ignore[arg-type]


def family_of(case: Varied, against: str) -> str:
    """Return what instances along a line have in common, in words.

    That is the name without the swept parameters which its end lists; of instances made by hand,
    the law and what is asked.
    """
    if check_axis(against) in OF_THE_RUN:
        return case.instance
    if case.parameters:
        name = case.instance
        for parameter, value in reversed(list(case.parameters.items())):
            name = name.removesuffix(f", {parameter} = {value}")
        return name
    problem = case.experiment.problem
    sizes = (
        count(len(problem.clusters), "cluster")
        if against == "n"
        else f"clusters {listed(problem.clusters, between=',')}"
    )
    return (
        f"{type(problem.arms).__name__}, {sizes}, required {listed(problem.required, between=',')}"
    )
