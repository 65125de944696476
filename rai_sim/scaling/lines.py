"""A study's tasks as lines: points of one family and algorithm, along the axis that varies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rai_sim.simulation.sweeps import (
    abscissa,
    check_axis,
    family_of,
    swept_parameters,
    twice_at_a_place,
)
from rai_sim.study import StudyResults, Task
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError
from rai_sim.support.wording import listed

#: What pulls are a power of, by the axis: what grows as a problem becomes harder.
_VARIABLES = {"delta": "ln(1/delta)", "gap": "1/gap", "n": "N", "k": "K", "m": "M"}


@dataclass(frozen=True, eq=False)
class Point:
    """A task, where it lies along the axis, and its row in the summary.

    Attributes
    ----------
    at : float
        Its value on the axis, such as delta.
    task : Task
        What was run.
    row : mapping
        What `StudyResults.summary` has of it.
    """

    at: float
    task: Task
    row: Mapping[str, Any]

    @property
    def whole(self) -> bool:
        """Whether all its replications finished, so that their mean is that of the algorithm."""
        return bool(self.row["finished"]) and self.row["finished"] == self.row["replications"]


@dataclass(frozen=True, eq=False)
class Line:
    """The points of one family and algorithm, easiest first.

    Attributes
    ----------
    instance, algorithm : str
        What the instances have in common, and the algorithm's label.
    against : str
        The axis.
    points : sequence of Point
        Along it: falling for delta and gap, else rising.
    """

    instance: str
    algorithm: str
    against: str
    points: Sequence[Point]

    @property
    def variable(self) -> str:
        """What pulls are a power of, in words."""
        return _VARIABLES.get(self.against, self.against)

    def x(self, point: Point) -> float:
        """Return what pulls are a power of, at a point."""
        if self.against == "delta":
            return -math.log(point.at)
        return 1.0 / point.at if self.against == "gap" else point.at


def lines_of(results: StudyResults, against: str | None = None) -> list[Line]:
    """Return a study's tasks as lines along an axis.

    Parameters
    ----------
    results : StudyResults
        A study's.
    against : str, optional
        "delta", "n", "gap", or a numeric parameter of the instances; what varies when None.

    Raises
    ------
    TypeError, ValueError
        If `results` is something else, nothing varies or several things do, an instance has no such
        parameter, or a line has two points at one value.

    Examples
    --------
    >>> import tempfile
    >>> from rai_sim.scaling import over_gap
    >>> results = over_gap(gaps=[0.1, 0.3], replications=5).run(tempfile.mkdtemp())
    >>> [[round(line.x(point), 3) for point in line.points] for line in lines_of(results)[:1]]
    [[3.333, 10.0]]
    """
    refuse_other_results(results)
    axis = _varying(results.tasks) if against is None else check_axis(against)
    found: dict[tuple[object, ...], list[Point]] = {}
    for task, row in zip(results.tasks, results.summary().iter_rows(named=True), strict=True):
        point = Point(abscissa(task, axis), task, row)
        found.setdefault(_line_of(task, axis), []).append(point)
    for points in found.values():
        at = twice_at_a_place((point.at for point in points), axis)
        if at is not None:
            task = points[0].task
            raise ArgumentValueError(
                "results",
                f"results has two experiments of {task.experiment.algorithm.label} on "
                f"{family_of(task, axis)} at {axis} = {at:g}; choose some with select(...), or "
                "another `against`",
            )
    falling = axis in ("delta", "gap")
    return [
        Line(
            family_of(points[0].task, axis),
            points[0].task.experiment.algorithm.label,
            axis,
            sorted(points, key=lambda point: point.at, reverse=falling),
        )
        for points in found.values()
    ]


def refuse_other_results(results: object) -> None:
    """Refuse what is no study's results."""
    if not isinstance(results, StudyResults):
        raise ArgumentTypeError(
            "results",
            f"results is of type {type(results).__name__}; give a study's results, as Study.run "
            "and rai.open_study return them",
        )


def _varying(tasks: Sequence[Task]) -> str:
    """Return the only thing that varies among tasks beside the algorithm."""
    names = dict.fromkeys(["delta", *(name for task in tasks for name in swept_parameters(task))])
    varying = [
        name
        for name in names
        if len({task.parameters.get(name) if name != "delta" else _delta(task) for task in tasks})
        > 1
    ]
    if len(varying) != 1:
        what = f"{listed(varying)} vary" if varying else "nothing varies"
        raise ArgumentValueError(
            "against",
            f"against is None, but {what} among the tasks; name what pulls are to be told "
            "against: 'delta', 'n', 'gap' or a parameter",
        )
    return varying[0]


def _delta(task: Task) -> float:
    return task.experiment.delta


def _line_of(task: Task, axis: str) -> tuple[object, ...]:
    """Return what tells lines apart: everything but what lies along the axis."""
    e = task.experiment
    others = [task.parameters.get(name) for name in swept_parameters(task) if name != axis]
    return (
        family_of(task, axis),
        e.algorithm.label,
        None if axis == "delta" else e.delta,
        *others,
        e.seed,
        e.skip_error,
        e.max_pulls,
    )
