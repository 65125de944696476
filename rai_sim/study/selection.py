"""Some of a study's tasks, chosen by instance, algorithm and error probability."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any

from rai_sim.algorithms.base import Algorithm
from rai_sim.study.task import Task
from rai_sim.support.checks import check_delta, short
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError

#: A message lists so many of the values that there are.
_MOST_LISTED = 12
#: Two error probabilities nearer than this share of themselves are one: 0.1 * 0.1 selects 0.01.
_SAME_DELTA = 1e-9


def select_tasks(
    tasks: Sequence[Task], instance: Any = None, algorithm: Any = None, delta: Any = None
) -> tuple[Task, ...]:
    """Return the tasks that agree with everything given, in their order (see
    `StudyResults.select`).

    Raises
    ------
    TypeError, ValueError
        If a value is of another kind, or no task has it, or none has all of them together.

    Examples
    --------
    >>> import rai_sim as rai
    >>> study = rai.Study.grid({"a": rai.table_problem(1), "b": rai.table_problem(2)}, [rai.Vanilla(), rai.LUCB()], [0.1, 0.01])
    >>> [task.label for task in select_tasks(study.tasks, "a", "lucb", 0.1)]
    ['a, LUCB(as_printed=False), delta 0.1']
    """
    matches = []
    for name, given, matcher in (
        ("instance", instance, _instance),
        ("algorithm", algorithm, _algorithm),
        ("delta", delta, _delta),
    ):
        if given is None:
            continue
        values = _listed(name, given)
        tests = [matcher(value, tasks) for value in values]
        for value, test in zip(values, tests, strict=True):
            if not tasks:
                raise ArgumentValueError(
                    name, f"{name} is {value!r}, but the study's folder holds no task"
                )
            if not any(map(test, tasks)):
                there = dict.fromkeys(_WORDS[name](task) for task in tasks)
                raise ArgumentValueError(
                    name,
                    f"{name} is {value!r}, which no task has; there are {_some(list(there))}",
                )
        matches.append((name, values, tests))
    found = tuple(
        task for task in tasks if all(any(test(task) for test in tests) for _, _, tests in matches)
    )
    if matches and not found:
        asked = " and ".join(
            f"{name} {' or '.join(map(repr, values))}" for name, values, _ in matches
        )
        raise ValueError(f"no task has {asked}; there are {_some([task.label for task in tasks])}")
    return found


#: What a task has of each kind, in words.
_WORDS: dict[str, Callable[[Task], str]] = {
    "instance": lambda task: repr(task.instance),
    "algorithm": lambda task: task.experiment.algorithm.label,
    "delta": lambda task: f"{task.experiment.delta:g}",
}


def _listed(name: str, given: Any) -> list[Any]:
    """Return one value, or several, as a list."""
    if isinstance(given, str | Algorithm | numbers.Real) or not isinstance(given, Iterable):
        return [given]
    values = list(given)
    if not values:
        raise ArgumentValueError(name, f"{name} is empty; give at least one value, or None for all")
    return values


def _instance(value: Any, tasks: Sequence[Task]) -> Callable[[Task], bool]:
    if not isinstance(value, str):
        raise ArgumentTypeError(
            "instance",
            f"instance is {short.repr(value)}; give an instance's name, in which * and ? stand "
            "for any text and letter",
        )
    # as it stands: names may hold what a pattern reads as its own
    if any(task.instance == value for task in tasks):
        return lambda task: task.instance == value
    return lambda task: fnmatchcase(task.instance, value)


def _algorithm(value: Any, tasks: Sequence[Task]) -> Callable[[Task], bool]:
    if isinstance(value, Algorithm):
        return lambda task: task.experiment.algorithm == value
    if not isinstance(value, str):
        raise ArgumentTypeError(
            "algorithm",
            f"algorithm is {short.repr(value)}; give an algorithm such as rai_sim.Vanilla(), or "
            "its name such as 'vanilla'",
        )
    wanted = _bare(value)

    def matches(task: Task) -> bool:
        chosen = task.experiment.algorithm
        return any(
            name == wanted or fnmatchcase(name, wanted)
            for name in (type(chosen).__name__.lower(), _bare(chosen.label))
        )

    return matches


def _bare(label: str) -> str:
    """Return an algorithm's label without what differs between tables, figures and this package's
    own names."""
    return label.replace(" ", "").lower()


def _delta(value: Any, tasks: Sequence[Task]) -> Callable[[Task], bool]:
    wanted = check_delta(value)
    return lambda task: math.isclose(task.experiment.delta, wanted, rel_tol=_SAME_DELTA)


def _some(words: Sequence[str]) -> str:
    more = f" and {len(words) - _MOST_LISTED:,} more" if len(words) > _MOST_LISTED else ""
    return ", ".join(words[:_MOST_LISTED]) + more
