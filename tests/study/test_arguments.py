"""Arguments of a study: what is refused, and in which words."""

import numpy as np
import pytest
from studies import PROBLEMS, grid

import rai_sim as rai
from rai_sim.study import Study
from rai_sim.study.arguments import named_instances


def test_the_same_task_twice_is_refused() -> None:
    """By its numbers, not by its name: no more is another sign of zero."""
    with pytest.raises(
        ValueError,
        match=r"tasks holds the same task twice, as 'a, Vanilla.*' and as 'b, Vanilla.*'; leave "
        r"one out",
    ):
        Study.grid({"a": PROBLEMS["easy"], "b": rai.table_problem(task=1)}, [rai.Vanilla()], [0.1])
    assert grid(skip_error=-0.0).tasks[0].id == grid(skip_error=0.0).tasks[0].id


def test_options_that_make_no_sense() -> None:
    """Argument, value and remedy."""
    for options, message in (
        ({"replications": 0}, "replications is 0; it must be at least 1"),
        ({"replications": 1.5}, r"replications must be an integer; got 1\.5"),
        ({"precision": 0.0}, r"precision is 0\.0; it is a share of the mean between 1e-06 and 1"),
        ({"precision": "1 %"}, r"precision must be a number; got '1 %'"),
        (
            {"precision": 0.1, "replications": 10},
            r"precision is 0\.1 and replications is 10; give one of the two",
        ),
        ({"until": "errors"}, "until is 'errors'; the one that there is is 'error rate'"),
        ({"until": 0.1}, r"until is 0\.1; the one that there is"),
        (
            {"until": "error rate", "replications": 10},
            "until is 'error rate' and replications is 10; give one of the two",
        ),
        ({"alpha": 0}, "alpha is 0; it must be a probability strictly between 0 and 1"),
        ({"most_replications": 1}, "most_replications is 1; it must be at least 2"),
        (
            {"keep": "everything"},
            "keep is 'everything'; choose one of 'replications', 'aggregates'",
        ),
        ({"seed": None}, "seed is None; a study is resumed by its seed"),
        ({"seed": -1}, "seed is -1; it must be a non-negative integer"),
        ({"max_pulls": 0}, "max_pulls is 0; it must be at least 1"),
        ({"skip_error": 1.0}, "skip_error is 1.0; it must lie between 0"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            grid(**options)


def test_what_makes_no_grid() -> None:
    """An empty one, and entries of other kinds."""
    for instances, algorithms, deltas, message in (
        ({}, [rai.Vanilla()], [0.1], "instances is empty; give at least one problem"),
        ([], [rai.Vanilla()], [0.1], "instances is empty; give at least one problem"),
        (PROBLEMS, [], [0.1], "algorithms is empty; give at least one algorithm"),
        (PROBLEMS, [rai.Vanilla()], [], "deltas is empty; give at least one value"),
        (
            PROBLEMS["two"],
            [rai.Vanilla()],
            [0.1],
            "instances is Problem.*; give a list of problems",
        ),
        (
            PROBLEMS,
            rai.Vanilla(),
            [0.1],
            r"algorithms is Vanilla.*; give a list of algorithms: \[rai",
        ),
        (PROBLEMS, "vanilla", [0.1], "algorithms is 'vanilla'; give a list of algorithms"),
        (PROBLEMS, [rai.Vanilla()], 0.1, "deltas is 0.1; give a list of error probabilities"),
        (
            PROBLEMS,
            [rai.Vanilla],
            [0.1],
            "algorithm must be an algorithm such as rai.Vanilla.*add parentheses",
        ),
        ([3], [rai.Vanilla()], [0.1], "problem must be a Problem; got 3"),
        (PROBLEMS, [rai.Vanilla()], [1.5], "delta is 1.5; it must be an error probability"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            Study.grid(instances, algorithms, deltas)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="tasks holds 3; every entry must be a Task"):
        Study([3])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="tasks is empty; give at least one task"):
        Study([])
    with pytest.raises(TypeError, match="max_pulls must be an integer; got b'x'"):
        Study.grid(PROBLEMS, [rai.Vanilla()], [0.1], max_pulls=b"x")


def test_instances_without_names_are_described() -> None:
    """By number and sizes, cut where there are many clusters; what is no problem has a number, as it
    is refused where its task is made; names that are given are taken."""
    many = rai.full_ranking(rai.Bernoulli(rai.instances.evenly_spaced(40)))
    names = list(named_instances([PROBLEMS["two"], many, 3]))  # type: ignore[list-item]
    assert names[0] == "instance 1: 2 arms, clusters (1, 1), required (1, 0)"
    assert names[1].startswith("instance 2: 40 arms, clusters (1, 1, ")
    assert names[1].endswith("1...")
    assert len(names[1]) == len("instance 2: ") + 80
    assert names[2] == "instance 3: ?"
    assert named_instances(PROBLEMS) is PROBLEMS


def test_many_arms_are_kept_as_sums_only() -> None:
    """By replication a study of a million arms would write 8 MB each; the instance with the most
    arms decides, wherever it stands."""
    wide = rai.best_arm(rai.Bernoulli(np.linspace(0.1, 0.9, 100_001)))
    for instances in ({"wide": wide, **PROBLEMS}, {**PROBLEMS, "wide": wide}):
        with pytest.raises(ValueError, match=r"'wide' has 100,001 arms, .* at most 100,000: take"):
            Study.grid(instances, [rai.Vanilla()], [0.1], keep="arm_pulls")
        Study.grid(instances, [rai.Vanilla()], [0.1], keep="arm_pulls_sum")
    Study.grid(PROBLEMS, [rai.Vanilla()], [0.1], keep="arm_pulls")
