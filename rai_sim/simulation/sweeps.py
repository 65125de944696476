"""What varies between experiments: where each lies along an axis, and what instances have in
common.

An axis is "delta"; "max_pulls", the cap on pulls; "n", the number of arms; "gap", the bottleneck
gap; or a numeric parameter that instances were made from.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Protocol

from rai_sim.simulation.experiment import Experiment
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError
from rai_sim.support.wording import count, listed, short

#: Axes along which the instance stays.
OF_THE_RUN = ("delta", "max_pulls")


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


def swept_parameters(case: Varied) -> list[str]:
    """Return the numeric parameters of which a study has several values for the case's family: its
    instance's name lists them."""
    return [
        name
        for name, value in case.parameters.items()
        if _is_number(value) and f", {name} = {value}" in case.instance
    ]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


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
