"""Points along an axis: their values and instances, and the study of every algorithm at each of
them. Which points and instances there are by default is in `rai_sim.scaling.studies`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypedDict

import numpy as np

from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.arms.base import Arms
from rai_sim.problem import Problem
from rai_sim.simulation.simulate import checked_experiment
from rai_sim.study import Study, Task
from rai_sim.support.checks import check_count
from rai_sim.support.errors import ArgumentError, ArgumentTypeError, ArgumentValueError
from rai_sim.support.values import entries, short
from rai_sim.support.wording import listed

#: Beyond so many arms an algorithm is left out: rounds of LUCB, two pulls each, grow as the arms do
#: and faster, and a replication takes some 0.2 s at 1,000 arms, 0.8 s at 3,000.
LIMITS: Mapping[str, int] = {"lucb": 1000}
#: What is run if nothing else is said.
_ALGORITHMS_OF_THE_PAPER = ("vanilla", "butterscotch", "lucb")
#: Fields of laws whose means can be set, whatever the others are.
_BESIDE_MEANS = {"means", "sd", "sigma", "concentration", "df", "scale"}
#: How far a gap may be from what its point is called, relatively: means are doubles.
_GAP_ERROR = 1e-4


class Wanted(TypedDict, total=False):
    """How much of each task is wanted, and what decides its numbers: arguments of
    `Study.grid`."""

    replications: int | None
    precision: float | None
    most_replications: int
    seed: int
    skip_error: float
    max_pulls: int | None
    keep: str


#: A point: what is appended to the instance's name, the problem, delta, and what the instance was
#: made from.
Point = tuple[str, Problem, float, dict[str, Any]]


def several(name: str, values: Any, check: Callable[[Any], Any]) -> list[Any]:
    """Return the values along an axis, at least one, no two alike."""
    found = [check(value) for value in entries(name, values, "numbers")]
    if len(set(found)) < len(found):
        twice = next(value for value in found if found.count(value) > 1)
        raise ArgumentValueError(name, f"{name} holds {twice} twice; leave one out")
    return found


@contextmanager
def as_argument(name: str, of: str) -> Iterator[None]:
    """Let what is refused as one argument be refused as that which it came from.

    Parameters
    ----------
    name : str
        The argument that the caller has.
    of : str
        The one that is made of its entries.
    """
    try:
        yield
    except ArgumentError as error:
        if error.argument != of:
            raise
        raise type(error)(name, *error.parts) from None


def checked_problem(problem: object, name: str = "problem") -> Problem:
    """Return what must be a problem: an argument of that name, or what one of that name
    returned."""
    if not isinstance(problem, Problem):
        raise ArgumentTypeError(
            name,
            f"{name} {'is' if name == 'problem' else 'returned'} {short.repr(problem)}; it must "
            f"{'be' if name == 'problem' else 'return'} a Problem: build one with rai.Problem(arms, "
            "clusters, required)",
        )
    return problem


def checked_limits(limits: object) -> Mapping[str, int]:
    """Return what must be numbers of arms by algorithms' names."""
    if not isinstance(limits, Mapping):
        raise ArgumentTypeError(
            "limits", f"limits is {short.repr(limits)}; give a dict such as {dict(LIMITS)}"
        )
    for name, value in limits.items():
        if name not in ALGORITHMS:
            raise ArgumentValueError(
                "limits",
                f"limits is {short.repr(dict(limits))}, which names no algorithm with {name!r}; "
                f"choose among {', '.join(ALGORITHMS)}",
            )
        check_count("limits", value, 1)
    return limits


def at_gap(problem: Problem, gap: float) -> Problem:
    """Return the problem with its means drawn together, or apart, so that its bottleneck gap is
    this."""
    if not np.isfinite(problem.bottleneck_gap):
        raise ArgumentValueError(
            "problem", "problem has a single cluster, whose gap is infinite; give one with two"
        )
    if not gap > 0.0 or not np.isfinite(gap):
        raise ArgumentValueError("gaps", f"gaps holds {gap}; every gap must be positive and finite")
    arms = problem.arms
    given: list[str] = [field.name for field in fields(arms)] if is_dataclass(arms) else []
    if "means" not in given or not set(given) <= _BESIDE_MEANS:
        raise ArgumentTypeError(
            "problem",
            f"problem has {type(arms).__name__} arms, whose means cannot be set; give arms "
            "of a law of means, such as Bernoulli or Gaussian ones",
        )
    middle = (float(arms.means.min()) + float(arms.means.max())) / 2.0
    means = middle + (arms.means - middle) * (gap / problem.bottleneck_gap)
    rounded = np.round(means, 15)  # the numbers one would write, where that is near enough
    means = rounded if gap > 1e-9 else means
    try:
        changed: Arms = replace(arms, means=means)  # type: ignore[type-var]
        found = replace(problem, arms=changed)
    except ValueError as error:
        raise ArgumentValueError("gaps", f"gaps holds {gap}, for which {error}") from None
    if abs(found.bottleneck_gap - gap) > _GAP_ERROR * gap:
        raise ArgumentValueError(
            "gaps",
            f"gaps holds {gap}, which means near {middle:g} cannot have: the nearest that doubles "
            f"give is {found.bottleneck_gap:g}; take a wider gap, or Gaussian arms about 0",
        )
    return found


def name_of(problem: Problem) -> str:
    """Return what an instance is called."""
    arms = f"{problem.n_arms} {type(problem.arms).__name__} arms"
    clusters = listed(problem.clusters, 6, ",")
    return f"{arms}, clusters {clusters}, required {listed(problem.required, 6, ',')}"


def study_of(
    name: str,
    points: Sequence[Point],
    algorithms: Iterable[Algorithm] | None,
    replications: int,
    wanted: Wanted,
    limits: Mapping[str, int] | None = None,
) -> Study:
    """Return the study of every algorithm at every point, but for points beyond its limit."""
    options: dict[str, Any] = dict(wanted)
    unknown = sorted(options.keys() - Wanted.__annotations__.keys())
    if unknown:
        raise TypeError(
            f"unexpected argument {unknown[0]!r}; besides those of its own a study takes "
            f"{listed(list(Wanted.__annotations__), 20)}"
        )
    if options.get("precision") is None and options.get("replications") is None:
        options["replications"] = replications
    numbers = [
        options.pop(key, default)
        for key, default in (("seed", 0), ("skip_error", 1e-12), ("max_pulls", None))
    ]
    if numbers[0] is None:
        raise ArgumentTypeError(
            "seed", "seed is None; a study is resumed by its seed: give a non-negative integer"
        )
    given: object = _default_algorithms() if algorithms is None else algorithms
    chosen = entries("algorithms", given, "algorithms: [rai.Vanilla()]", "algorithm")
    tasks = [
        Task(f"{name}{words}", checked_experiment(problem, one, delta, *numbers), parameters)
        for words, problem, delta, parameters in points
        for one in chosen
        if problem.n_arms <= (limits or {}).get(type(one).__name__.lower(), problem.n_arms)
    ]
    if not tasks:
        raise ArgumentValueError(
            "limits", f"limits is {dict(limits or {})}, which leaves nothing to run; raise it"
        )
    return Study(tasks, **options)


def _default_algorithms() -> Iterator[Algorithm]:
    """Yield the paper's algorithms as they are by default."""
    yield from (ALGORITHMS[name]() for name in _ALGORITHMS_OF_THE_PAPER)
