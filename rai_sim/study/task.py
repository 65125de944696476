"""One cell of a study's grid, and its form on disk."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.arms.base import LAWS, Arms
from rai_sim.engine.streams import STREAM_VERSION
from rai_sim.problem import Problem
from rai_sim.simulation.experiment import Experiment
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError
from rai_sim.support.values import short
from rai_sim.support.wording import printable


@dataclass(frozen=True)
class Task:
    """An experiment with the name of its instance.

    Parameters
    ----------
    instance : str
        Name of the instance; several tasks may share it, with other algorithms or error
        probabilities.
    experiment : Experiment
        Everything that decides what replication i does.
    parameters : mapping of str to number or text, optional
        What the instance was made from, such as n and gap; for tables and plots, without influence
        on the numbers.

    Examples
    --------
    >>> import rai_sim as rai
    >>> study = rai.Study.grid({"table": rai.table_problem()}, [rai.Vanilla()], [0.1], replications=10)
    >>> study.tasks[0].id
    'Experiment:Vanilla(merging=True):delta=0.1:seed=0:skip_error=1e-12:max_pulls=None:Problem:Bernoulli:...'
    """

    instance: str
    experiment: Experiment
    parameters: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        """Refuse what cannot be written down."""
        if not isinstance(self.instance, str) or not self.instance.strip(" "):
            raise ArgumentTypeError(
                "instance",
                f"instance is {short.repr(self.instance)}; give it a name, a text",
            )
        object.__setattr__(self, "instance", str.__str__(self.instance))  # no text of NumPy's
        try:
            self.instance.encode()
            json.dumps(dict(self.parameters), allow_nan=False)
        except (TypeError, ValueError) as error:
            given = short.repr(dict(self.parameters))
            raise ArgumentValueError(
                "instance",
                f"instance {self.instance!a} with parameters {given} cannot be written down: "
                f"{error}; give numbers of Python and texts",
            ) from None

    @property
    def id(self) -> str:
        """Readable text and the SHA-256 of everything that defines the task's numbers."""
        return self.experiment.identity()

    @cached_property
    def key(self) -> str:
        """The SHA-256 alone, 64 hexadecimal digits: the column `task` of the store."""
        return self.experiment.key

    @property
    def label(self) -> str:
        """Instance, algorithm and delta in words."""
        e, instance = self.experiment, printable(self.instance)
        return f"{instance}, {e.algorithm.label}, delta {e.delta:g}"


def instance_key(problem: Problem) -> str:
    """Return the SHA-256 of a problem, 64 hexadecimal digits."""
    return problem.identity().rpartition(":")[2]


def arms_to_json(arms: Arms) -> str:
    """Return the constructor's arguments as JSON; doubles survive to the bit.

    Examples
    --------
    >>> import rai_sim as rai
    >>> arms_to_json(rai.Gaussian([0.25, 0.5], sd=0.25))
    '{"means": [0.25, 0.5], "sd": 0.25}'
    """
    names = [name for name in inspect.signature(type(arms).__init__).parameters if name != "self"]
    given = {name: getattr(arms, name) for name in names}
    told = {name: np.asarray(one).tolist() for name, one in given.items() if one is not None}
    return json.dumps(told, allow_nan=False)


def arms_from_json(law: str, text: str) -> Arms:
    """Return the arms of a law's name and `arms_to_json`'s text.

    Examples
    --------
    >>> arms_from_json("bernoulli", '{"means": [0.25, 0.5]}').means
    array([0.25, 0.5 ])
    """
    return LAWS[law](**json.loads(text))


def algorithm_to_json(algorithm: Algorithm) -> str:
    """Return name and options as JSON.

    Examples
    --------
    >>> import rai_sim as rai
    >>> algorithm_to_json(rai.LUCB())
    '{"name": "lucb", "as_printed": false}'
    """
    named = {"name": type(algorithm).__name__.lower(), **algorithm.options_told()}
    return json.dumps(named, allow_nan=False)


def algorithm_from_json(text: str) -> Algorithm:
    """Return the algorithm of `algorithm_to_json`'s text."""
    options = json.loads(text)
    return ALGORITHMS[options.pop("name")](**options)


def instance_row(key: str, problem: Problem) -> dict[str, Any]:
    """Return what is written down of a problem: the columns of a store's instances.

    Examples
    --------
    >>> import rai_sim as rai
    >>> instance_row("1f2e", rai.table_problem())["clusters"]
    [3, 5, 2]
    """
    return {
        "instance": key,
        "law": type(problem.arms).__name__.lower(),
        "arguments": arms_to_json(problem.arms),
        "n_arms": problem.n_arms,
        "clusters": list(problem.clusters),
        "required": list(problem.required),
        "bottleneck_gap_reward": problem.bottleneck_gap,
        "names": problem.arms.names,
        "ids": problem.arms.ids,
    }


def task_row(task: Task) -> dict[str, Any]:
    """Return what is written down of a task: the columns of a store's tasks."""
    return task_rows([task])[0]


def task_rows(tasks: Iterable[Task]) -> list[dict[str, Any]]:
    """Return what is written down of each of some tasks. Thousands share an algorithm, which is put
    into words once."""
    told: dict[
        int, tuple[Algorithm, str, str]
    ] = {}  # by identity, of algorithms that are held here
    rows = []
    for task in tasks:
        run, algorithm = task.experiment, task.experiment.algorithm
        if id(algorithm) not in told:
            told[id(algorithm)] = algorithm, algorithm.label, algorithm_to_json(algorithm)
        _, label, options = told[id(algorithm)]
        rows.append(
            {
                "task": task.key,
                "experiment": task.id,
                "instance": instance_key(run.problem),
                "name": task.instance,
                "parameters": json.dumps(dict(task.parameters)),
                "algorithm": label,
                "algorithm_options": options,
                "delta": run.delta,
                "seed": str(run.seed),
                "skip_error": run.skip_error,
                "max_pulls": run.max_pulls,
                "stream_version": STREAM_VERSION,
            }
        )
    return rows
