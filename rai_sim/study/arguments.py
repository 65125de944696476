"""What a study may be asked for: its arguments are checked, and named where they have no name.

A function belongs here if it refuses an argument of `Study` or `Study.grid`, or gives it the form
in which a study keeps it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rai_sim.problem import Problem
from rai_sim.simulation.arm_pulls import BY_REPLICATION, SUMMED
from rai_sim.study.error_rate import ERROR_RATE
from rai_sim.study.schemas import KEEPS
from rai_sim.study.task import Task
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError
from rai_sim.support.values import entries, is_choice, real, short

#: A finer precision would need more than 10^11 replications.
_LEAST_PRECISION = 1e-6
#: Pulls by arm and replication are kept of at most so many arms, 0.8 MB a replication.
_MOST_ARMS_BY_ROW = 100_000


def named_instances(
    instances: Mapping[str, Problem] | Iterable[Problem],
) -> Mapping[str, Problem]:
    """Return the instances of a grid by name; those without are called by their number, arms,
    clusters and requirements.

    Examples
    --------
    >>> import rai_sim as rai
    >>> list(named_instances([rai.best_arm(rai.Bernoulli([0.9, 0.1]))]))
    ['instance 1: 2 arms, clusters (1, 1), required (1, 0)']
    """
    if isinstance(instances, Mapping):
        entries("instances", instances.keys(), "problems", "problem")
        return instances
    named = {}
    what = "problems, or a dict of them by name"
    for number, problem in enumerate(entries("instances", instances, what, "problem"), 1):
        words = (
            f"{problem.n_arms} arms, clusters {problem.clusters}, required {problem.required}"
            if isinstance(problem, Problem)
            else "?"
        )
        named[f"instance {number}: {words if len(words) < 80 else words[:77] + '...'}"] = problem
    return named


def caps_of(max_pulls: int | Iterable[int | None] | None) -> list[int | None]:
    """Return the caps of a grid: one, or several; each is checked with its task.

    Examples
    --------
    >>> caps_of(None), caps_of(100), caps_of((100, None))
    ([None], [100], [100, None])
    """
    single = (
        isinstance(max_pulls, str | bytes | bytearray) or getattr(max_pulls, "shape", None) == ()
    )
    several = isinstance(max_pulls, Iterable) and not single
    caps: list[Any] = list(max_pulls) if several else [max_pulls]  # type: ignore[arg-type]
    if not caps:
        raise ArgumentValueError(
            "max_pulls", "max_pulls is empty; give None, a number of pulls, or several of them"
        )
    return caps


def check_tasks(tasks: Iterable[Task]) -> tuple[Task, ...]:
    """Return the tasks of a study: at least one, and none twice."""
    found = tuple(entries("tasks", tasks, "tasks", "task", Task, "a Task: Study.grid makes them"))
    seen: dict[str, Task] = {}
    for task in found:
        if task.key in seen:
            raise ArgumentValueError(
                "tasks",
                f"tasks holds the same task twice, as {seen[task.key].label!r} and as "
                f"{task.label!r}; leave one out",
            )
        seen[task.key] = task
    return found


def refuse_both(replications: int | None, name: str, value: object) -> None:
    """Refuse a number of replications beside what decides how many there are to be."""
    if replications is not None and value is not None:
        raise ArgumentValueError(
            name,
            f"{name} is {short.repr(value)} and replications is {replications}; give "
            "one of the two",
        )


def check_until(value: object) -> str:
    """Return what tasks run until, in the words that there are for it.

    Examples
    --------
    >>> check_until("Error-rate")
    'error rate'
    """
    if not isinstance(value, str) or value.lower().replace("-", " ") != ERROR_RATE:
        kind = ArgumentValueError if isinstance(value, str) else ArgumentTypeError
        raise kind(
            "until", f"until is {short.repr(value)}; the one that there is is {ERROR_RATE!r}"
        )
    return ERROR_RATE


def check_precision(value: object) -> float:
    """Return the half-width, a share of the mean, to which the mean is to be known."""
    share = real("precision", value)
    if not _LEAST_PRECISION <= share < 1.0:
        raise ArgumentValueError(
            "precision",
            f"precision is {short.repr(value)}; it is a share of the mean between "
            f"{_LEAST_PRECISION} and 1, such as 0.01 for 1 %",
        )
    return share


def check_keep(keep: object, tasks: Sequence[Task]) -> None:
    """Refuse what is no way to keep results, and rows with the pulls of very many arms."""
    if not is_choice(keep, KEEPS):
        raise ArgumentValueError(
            "keep",
            f"keep is {short.repr(keep)}; choose one of {', '.join(map(repr, KEEPS))}",
        )
    if keep == BY_REPLICATION:
        most = max(tasks, key=lambda task: task.experiment.problem.n_arms)
        n_arms = most.experiment.problem.n_arms
        if n_arms > _MOST_ARMS_BY_ROW:
            raise ArgumentValueError(
                "keep",
                f"keep is {keep!r}, but {most.instance!r} has {n_arms:,} arms, that many "
                f"numbers a replication; it is for at most {_MOST_ARMS_BY_ROW:,}: take "
                f"{SUMMED!r}, which keeps their sums",
            )
