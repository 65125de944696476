"""An experiment's identity is all that decides its numbers, and nothing else."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rai_sim import LUCB, Bernoulli, Gaussian, Problem, Vanilla, table_problem, top
from rai_sim.simulation.experiment import Experiment

EXPERIMENT = Experiment(table_problem(task=3), Vanilla(), 0.01, 7, 1e-12, 5_000)

#: By part, other values; near ones too.
OTHERS: dict[str, list[Any]] = {
    "problem": [table_problem(task=2), table_problem(task=3, instance="printed")],
    "algorithm": [Vanilla(merging=False), LUCB(), LUCB(as_printed=True)],
    "delta": [0.02, np.nextafter(0.01, 1.0)],
    "seed": [8, 2**64 + 7],
    "skip_error": [0.0, 1e-13],
    "max_pulls": [None, 5_001],
}


@pytest.mark.parametrize("name", OTHERS)
def test_every_part_makes_another_experiment(name: str) -> None:
    """Each value gives an identity of its own, and the part is named."""
    others = [replace(EXPERIMENT, **{name: value}) for value in OTHERS[name]]
    assert len({EXPERIMENT.identity(), *(one.identity() for one in others)}) == 1 + len(others)
    for other in others:
        assert other != EXPERIMENT
        assert EXPERIMENT.differences(other) == other.differences(EXPERIMENT) == (name,)


def test_every_part_is_named() -> None:
    """There are no other fields, and differences come in their order."""
    assert list(vars(EXPERIMENT))[:6] == list(OTHERS)
    other = Experiment(*(values[0] for values in OTHERS.values()))
    assert EXPERIMENT.differences(other) == tuple(OTHERS)
    assert EXPERIMENT.differences(replace(EXPERIMENT)) == ()


@pytest.mark.parametrize(
    "problem",
    [
        Problem(Bernoulli([0.9, 0.5, 0.3]), (1, 2), (1, 1)),
        Problem(Bernoulli([0.9, 0.5, 0.2]), (1, 2), (1, 0)),
        Problem(Bernoulli([0.5, 0.9, 0.2]), (1, 2), (1, 1)),
        Problem(Bernoulli([0.9, 0.5, 0.2]), (2, 1), (1, 1)),
        Problem(Gaussian([0.9, 0.5, 0.2]), (1, 2), (1, 1)),
        Problem(Gaussian([0.9, 0.5, 0.2], sd=0.2), (1, 2), (1, 1)),
    ],
    ids=["means", "required", "order", "clusters", "law", "its parameter"],
)
def test_what_changes_a_problem_changes_the_experiment(problem: Problem) -> None:
    """Means, their order, law, clusters, what is asked for."""
    plain = replace(EXPERIMENT, problem=Problem(Bernoulli([0.9, 0.5, 0.2]), (1, 2), (1, 1)))
    other = replace(plain, problem=problem)
    assert other.identity() != plain.identity()
    assert plain.differences(other) == ("problem",)


def test_names_of_arms_change_nothing() -> None:
    """They decide no number."""
    arms = Bernoulli([0.2, 0.9, 0.5])
    plain, named = (
        replace(EXPERIMENT, problem=top(one, 2)) for one in (arms, arms.with_names(["A", "B", "C"]))
    )
    assert plain == named
    assert plain.identity() == named.identity()
    assert plain.differences(named) == ()


def test_identity_is_the_same_for_numpy_scalars_and_rebuilt_problems(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Values count, not the objects that hold them; and the version of the streams counts."""
    numbers: list[Any] = [np.float64(0.01), np.int64(7), np.float64(1e-12), np.int64(5_000)]
    again = Experiment(table_problem(task=3), Vanilla(), *numbers)
    assert again == EXPERIMENT
    assert hash(again) == hash(EXPERIMENT)
    before = again.identity()
    readable = "Experiment:Vanilla(merging=True):delta=0.01:seed=7:skip_error=1e-12:max_pulls=5000:Problem:"
    assert before.startswith(readable)
    monkeypatch.setattr("rai_sim.simulation.experiment.STREAM_VERSION", 999)
    assert replace(again).identity() != before
