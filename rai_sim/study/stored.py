"""Tasks as a store has them written down, which this process need not know how to run.

A store outlives the program that wrote it: it may hold an algorithm or a reward law of a module
that is not imported, or options of another version of the package. Such tasks are made of
stand-ins, which have names, labels and identity, and the means if they are known. What is stored of
them can be read as any other task's; running them again is refused, with what to import.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.arms.base import LAWS, Arms, checked_sigma
from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.streams import STREAM_VERSION
from rai_sim.problem import Problem, check_delta
from rai_sim.simulation.experiment import Experiment
from rai_sim.study.task import Task, algorithm_from_json, arms_from_json, instance_key
from rai_sim.support.checks import of_package
from rai_sim.support.wording import shortened

#: Returns where the classes come from that a store's parts were made with, "my_rules.SuccElim" by
#: name, and the package's version.
Origins = Callable[[], Mapping[str, str]]
#: Under this name a part's metadata tells the version of the package; no class is called so.
VERSION = "rai_sim version"
_LAW = re.compile(r":Problem:(\w+):")


@dataclass(frozen=True)
class UnknownAlgorithm(Algorithm):
    """What stands for an algorithm that cannot be made here; each has a subclass of its own, called
    as the algorithm calls itself."""

    remedy: ClassVar[str] = ""

    def __post_init__(self) -> None:
        """Nothing is to be checked."""

    def __repr__(self) -> str:
        """Return what the algorithm called itself."""
        return type(self).__name__

    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Refuse."""
        raise ValueError(f"algorithm {self.label} cannot be run: {self.remedy}")


@dataclass(frozen=True, eq=False)
class UnknownArms(Arms):
    """What stands for a reward law that cannot be made here; means are NaN where they are not
    known."""

    means: NDArray[np.float64]
    stored: str
    sigma: float | None = None
    remedy: ClassVar[str] = ""
    means_known = False

    def kernel_law(self) -> Any:
        """Refuse."""
        raise ValueError(f"reward law {type(self).__name__} cannot be drawn from: {self.remedy}")

    def _over(self, scale: float) -> UnknownArms:
        return replace(self, means=self.means / scale, sigma=None)

    def why_not_sub_gaussian(self) -> str:
        """Say that nothing is known."""
        return f"the reward law {type(self).__name__} is not known here"

    def _identity_parts(self) -> tuple[object, ...]:
        return self.stored, self.remedy


# Stand-ins are no choices of the command line.
del ALGORITHMS[UnknownAlgorithm.__name__.lower()], LAWS[UnknownArms.__name__.lower()]


@dataclass(frozen=True)
class StoredProblem(Problem):
    """A problem of unknown arms, with the gap and the identity that were stored."""

    stored_gap: float = field(default=math.nan, kw_only=True, compare=False)
    stored_key: str = field(default="", kw_only=True)

    @property
    def bottleneck_gap(self) -> float:  # cached there
        """The gap that was stored, in units of reward."""
        return self.stored_gap

    @property
    def rescaled(self) -> StoredProblem:  # cached there
        """The problem of the rewards over 2 sigma."""
        if self.arms.sigma is None:
            return self
        gap = self.stored_gap / self.arms.two_sigma
        return replace(self, arms=self.arms.rescaled, stored_gap=gap)

    def identity(self) -> str:
        """Return a readable head and the SHA-256 that was stored."""
        return f"{super().identity().rpartition(':')[0]}:{self.stored_key}"


@dataclass(frozen=True, eq=False)
class StoredExperiment(Experiment):
    """An experiment that cannot be run here, or would give other numbers than those stored;
    `why_not_run` says why and what to do."""

    stored: str = ""
    why_not_run: str | None = None  # type: ignore[misc]  # there of the class

    def identity(self) -> str:
        """Return the identity that was stored."""
        return self.stored


def origin_of(cls: type) -> str:
    """Return from where a class can be imported; of one of the program that was run, the program's
    name.

    Examples
    --------
    >>> import rai_sim as rai
    >>> origin_of(rai.Vanilla)
    'rai_sim.algorithms.vanilla.Vanilla'
    """
    module = cls.__module__
    if module == "__main__":
        program = Path(getattr(sys.modules["__main__"], "__file__", None) or "a session").name
        return f"{cls.__qualname__} of the program {program}"
    return f"{module}.{cls.__qualname__}"


def origins_of(experiments: Iterable[Experiment]) -> dict[str, str]:
    """Return from where the classes of algorithms and laws can be imported, by their lower-case
    names.

    Examples
    --------
    >>> import rai_sim as rai
    >>> origins_of([rai.simulate(rai.table_problem(), rai.Vanilla(), replications=1).experiment])
    {'vanilla': 'rai_sim.algorithms.vanilla.Vanilla', 'bernoulli': 'rai_sim.arms.bernoulli.Bernoulli'}
    """
    classes = {type(thing) for one in experiments for thing in (one.algorithm, one.problem.arms)}
    return {cls.__name__.lower(): origin_of(cls) for cls in sorted(classes, key=origin_of)}


def why_not_run(tasks: Sequence[Task]) -> str | None:
    """Return why some of the tasks cannot be run here, and the remedy; None if all can."""
    for task in tasks:
        if task.experiment.why_not_run is not None:
            return f"task {task.label} cannot be run: {task.experiment.why_not_run}"
    return None


def runnable(tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks that can be run here."""
    return [task for task in tasks if task.experiment.why_not_run is None]


class Reader:
    """Makes tasks of the rows of a store's parts.

    Parameters
    ----------
    instances : mapping of str to dict
        The rows of the store's instances, by key.
    origins : callable
        Returns where classes come from, by their lower-case name; it is asked only if some class is
        not known.
    opened : str, default "the store is opened"
        Before what a module is to be imported.
    """

    def __init__(
        self,
        instances: Mapping[str, dict[str, Any]],
        origins: Origins,
        opened: str = "the store is opened",
    ) -> None:
        """Nothing has been made yet."""
        self._instances, self._ask, self._opened = instances, origins, opened
        self._problems: dict[str, tuple[Problem, str]] = {}
        self._classes: dict[tuple[type, str, str], type] = {}
        #: What is to be done about what is not known, each once.
        self.remedies: dict[str, int] = {}

    def task(self, row: Mapping[str, Any]) -> Task:
        """Return the task of a row; with stand-ins for what cannot be made.

        Raises
        ------
        ValueError, TypeError, KeyError, OverflowError
            If the row is not even good for that.
        """
        problem, no_problem = self._problem(row)
        algorithm, no_algorithm = self._algorithm(row)
        remedies = [remedy for remedy in (no_algorithm, no_problem) if remedy]
        arguments = (
            problem,
            algorithm,
            check_delta(row["delta"]),
            int(row["seed"]),
            float(row["skip_error"]),
            row["max_pulls"],
        )
        experiment = Experiment(*arguments)
        if not remedies and experiment.identity().rpartition(":")[2] != row["task"]:
            what, cls = (
                f"what {row['algorithm']} or its setting is was another thing when this was stored",
                type(algorithm),
            )
            name = _name_in(str(row["algorithm_options"]), cls.__name__.lower())
            remedy = self._of_then(name, cls)
            if row["stream_version"] != STREAM_VERSION:
                what, remedy = (
                    f"it has the streams of version {row['stream_version']}, this rai_sim those of "
                    f"version {STREAM_VERSION}",
                    self._version(),
                )
            remedies = [f"{what}: {remedy}"]
        if remedies:
            for remedy in remedies:
                self.remedies[remedy] = self.remedies.get(remedy, 0) + 1
            head = str(row["experiment"]).rpartition(":")[0]
            experiment = StoredExperiment(
                *arguments, stored=f"{head}:{row['task']}", why_not_run="; ".join(remedies)
            )
        parameters = json.loads(row["parameters"])
        if not isinstance(parameters, dict):
            raise ValueError(f"its parameters are {row['parameters']}")
        return Task(row["name"], experiment, parameters)

    def _algorithm(self, row: Mapping[str, Any]) -> tuple[Algorithm, str]:
        """Return the algorithm, or a stand-in and the remedy."""
        text = str(row["algorithm_options"])
        try:
            return algorithm_from_json(text), ""
        except Exception as error:  # the class may be anybody's, and what it raises too
            label = str(row["algorithm"])
            remedy = self._remedy("algorithm", _name_in(text, label), ALGORITHMS, error)
            return self._stand_in(UnknownAlgorithm, label, remedy)(), remedy

    def _problem(self, row: Mapping[str, Any]) -> tuple[Problem, str]:
        """Return the problem, or a stand-in and the remedy."""
        key = row["instance"]
        if key not in self._problems:
            self._problems[key] = self._made(self._instances[key], row)
        return self._problems[key]

    def _made(self, stored: Mapping[str, Any], row: Mapping[str, Any]) -> tuple[Problem, str]:
        def named(arms: Arms) -> Arms:
            return (
                arms if stored["names"] is None else arms.with_names(stored["names"], stored["ids"])
            )

        try:
            arms = named(arms_from_json(stored["law"], stored["arguments"]))
            problem = Problem(arms, stored["clusters"], stored["required"], strict=False)
            if instance_key(problem) == stored["instance"]:
                return problem, ""
            law = stored["law"]
            of_then = self._of_then(law, LAWS[law])
            remedy = f"the reward law {law} is not what it was when this was stored: {of_then}"
        except Exception as error:  # as above
            remedy = self._remedy("reward law", stored["law"], LAWS, error)
        gap = (
            math.nan
            if stored["bottleneck_gap_reward"] is None
            else float(stored["bottleneck_gap_reward"])
        )
        if gap <= 0.0:
            raise ValueError(f"its bottleneck gap is {gap}")
        # before the problem stand options, which may be any text
        laws = _LAW.findall(str(row["experiment"]))
        cls = self._stand_in(UnknownArms, laws[-1] if laws else str(stored["law"]), remedy)
        problems = [
            StoredProblem(
                named(cls(means, stored["arguments"], _sigma_of(stored))),
                stored["clusters"],
                stored["required"],
                strict=False,
                stored_gap=gap,
                stored_key=stored["instance"],
            )
            for means in _possible_means(stored)
        ]
        # Numbers called means are taken for means if they have the gap that was stored.
        fits = [problem for problem in problems[:-1] if Problem.bottleneck_gap.func(problem) == gap]  # type: ignore[attr-defined]
        return [*fits, problems[-1]][0], remedy

    def _stand_in(self, base: type, name: str, remedy: str) -> Any:
        """Return a subclass of a stand-in that bears a name."""
        key = (base, name, remedy)
        if key not in self._classes:
            known: dict[str, Any] = ALGORITHMS if base is UnknownAlgorithm else LAWS
            before = known.get(name.lower())
            self._classes[key] = type(name, (base,), {"remedy": remedy, "__module__": __name__})
            # it has registered itself; whose name it bears keeps its place among the others
            if before is None:
                del known[name.lower()]
            else:
                known[name.lower()] = before
        return self._classes[key]

    def _remedy(self, what: str, name: str, known: Mapping[str, type], error: Exception) -> str:
        if name in known:
            of_then = self._of_then(name, known[name])
            return f"{what} {name} is here, but not with what is stored of it ({_short(error)}): {of_then}"
        origin = self._origins.get(name)
        if origin is None:
            return f"{what} {name} is not known here: import the module that defines it before {self._opened}"
        if origin.startswith("rai_sim."):
            return f"{what} {name} is not known here: {self._version()}"
        return f"{what} {name} is not known here: import {origin} before {self._opened}"

    def _of_then(self, name: str, cls: type) -> str:
        """Return how to come by the class of a name as it was when this was stored: one of a user's has
        other code, or is another one altogether, whose versions nobody numbers."""
        here, origin = origin_of(cls), self._origins.get(name, "")
        if of_package(cls):
            return self._version()
        if origin in ("", here):
            return f"give {here} the code and the options that it had"
        return f"import {origin} before {self._opened}, in place of {here}"

    @cached_property
    def _origins(self) -> Mapping[str, str]:
        return self._ask()

    def _version(self) -> str:
        version = self._origins.get(VERSION)
        return "use the version of rai_sim that wrote it" + (f", {version}" if version else "")


def _name_in(options: str, label: str) -> str:
    """Return the algorithm's lower-case name in its stored options; if there is none, in its
    label."""
    try:
        name = json.loads(options)["name"]
        return name if isinstance(name, str) else label
    except (ValueError, TypeError, KeyError, RecursionError):
        return label


def _possible_means(stored: Mapping[str, Any]) -> list[NDArray[np.float64]]:
    """Return what may be the means of an unknown law, the last one of NaN."""
    n = int(stored["n_arms"])
    found = [np.full(n, math.nan)]
    try:
        means = np.array(json.loads(stored["arguments"])["means"], np.float64)
        if means.shape == (n,) and np.isfinite(means).all():
            found.insert(0, means)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        pass
    for means in found:
        means.setflags(write=False)
    return found


def _sigma_of(stored: Mapping[str, Any]) -> float | None:
    """Return the sigma of an unknown law, None where it has none."""
    try:
        return checked_sigma(json.loads(stored["arguments"]).get("sigma"))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None


def _short(error: Exception) -> str:
    return shortened(" ".join(f"{type(error).__name__}: {error}".split()), 160)
