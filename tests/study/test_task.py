"""A task, and its form on disk."""

import json
import re

import numpy as np
import pytest
from studies import grid

import rai_sim as rai
from rai_sim.algorithms.base import Algorithm
from rai_sim.study import Task
from rai_sim.study.task import (
    algorithm_from_json,
    algorithm_to_json,
    arms_from_json,
    arms_to_json,
    instance_key,
    task_row,
    task_rows,
)


@pytest.mark.parametrize(
    "arms",
    [
        rai.Bernoulli([0.1 + 0.2, 1 / 3, 0.7]),
        rai.Gaussian([0.3, 1 / 7], sd=0.1),
        rai.Categorical([0.0, 1 / 3, 1.0], [[0.2, 0.3, 0.5], [1 / 3, 1 / 3, 1 / 3]]),
        rai.Recorded([[1, 0, 1], [0, 0, 1]], means=[0.6, 0.4]),
    ],
    ids=lambda arms: type(arms).__name__,
)
def test_arms_survive_their_form_on_disk(arms: rai.Bernoulli) -> None:
    """To the bit: the identity is the same."""
    assert arms_from_json(type(arms).__name__.lower(), arms_to_json(arms)) == arms


def test_what_cannot_be_written_down() -> None:
    """A name that is no text, and parameters that JSON does not have."""
    for instance, parameters, message in (
        (3, {}, "instance is 3; give it a name"),
        ("", {}, "give it a name"),
        ("  ", {}, "give it a name"),
        ("x", {"n": np.int64(3)}, "cannot be written down: .*int64.*; give numbers of Python"),
        ("\ud800", {}, "cannot be written down"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            Task(instance, grid().tasks[0].experiment, parameters)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "algorithm", [rai.Vanilla(merging=False), rai.Butterscotch(), rai.LUCB(as_printed=True)]
)
def test_algorithms_survive_their_form_on_disk(algorithm: Algorithm) -> None:
    """With all options."""
    assert algorithm_from_json(algorithm_to_json(algorithm)) == algorithm


def test_a_task_is_known_by_its_numbers() -> None:
    """Name and parameters are for tables: neither is in its key, which the instance shares with no
    other."""
    experiment = grid().tasks[0].experiment
    one, other = Task("a", experiment), Task("b", experiment, {"n": 3})
    assert one.id == other.id == f"{one.id.rpartition(':')[0]}:{one.key}"
    assert re.fullmatch("[0-9a-f]{64}", one.key)
    assert (one.label, other.label) == tuple(
        f"{name}, Vanilla(merging=True), delta 0.1" for name in "ab"
    )
    assert one == Task("a", experiment, {"n": 4}) != other
    assert len({task.key for task in grid().tasks}) == len(grid().tasks) == 8
    assert len({instance_key(task.experiment.problem) for task in grid().tasks}) == 2


def test_tasks_that_share_an_algorithm_are_written_down_alike() -> None:
    """One by one or together, also where each holds an algorithm of its own."""
    shared = [rai.Vanilla(), rai.Vanilla(merging=False)]
    tasks = [
        Task(f"task {n}", rai.simulate(rai.table_problem(), algorithm, max_pulls=2).experiment)
        for n, algorithm in enumerate([*shared, *shared, rai.Vanilla()])
    ]
    rows = task_rows(iter(tasks))
    assert rows == [task_row(task) for task in tasks]
    assert [row["algorithm"] for row in rows] == [task.experiment.algorithm.label for task in tasks]
    assert [json.loads(row["algorithm_options"])["merging"] for row in rows] == [
        *(True, False),
        *(True, False),
        True,
    ]
