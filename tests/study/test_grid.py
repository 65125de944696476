"""A study's definition: what is refused, and what it wants."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from studies import PROBLEMS, grid, pairs, unsorted

import rai_sim as rai
from rai_sim.simulation.statistics import Aggregate
from rai_sim.study import Study
from rai_sim.study.error_rate import follow_errors
from rai_sim.study.ledger import Piece, Pieces
from rai_sim.study.stopping import Verdict, follow


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
        ({}, [rai.Vanilla()], [0.1], "tasks is empty"),
        (PROBLEMS, [], [0.1], "tasks is empty"),
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


def test_what_cannot_be_run_with(tmp_path: Path) -> None:
    """It is refused before the folder is made."""
    nowhere = tmp_path / "nowhere"
    with pytest.raises(ValueError, match="n_jobs is 0"):
        grid().run(nowhere, n_jobs=0)
    with pytest.raises(TypeError, match="progress must be True, False or None"):
        grid().run(nowhere, progress=3)  # type: ignore[arg-type]
    assert not nowhere.exists()


def test_a_grid_is_in_the_order_of_its_arguments() -> None:
    """Instances, in them algorithms, in them deltas; instances without names are described."""
    study = unsorted(0.4, 0.05)
    assert [task.label for task in study.tasks] == [
        f"gap {gap}, {algorithm}(merging=True), delta {delta}"
        for gap in (0.4, 0.05)
        for algorithm in ("Vanilla", "Butterscotch")
        for delta in (0.01, 0.1)
    ]
    named = Study.grid(pairs(0.4, 0.05).values(), [rai.Vanilla()], [0.1])
    assert [task.instance for task in named.tasks] == [
        f"instance {number}: 2 arms, clusters (1, 1), required (1, 0)" for number in (1, 2)
    ]


def test_several_caps_are_several_tasks() -> None:
    """In their order, within each delta; none is a cap, too; no cap at all is refused."""
    problem = rai.best_arm(rai.Bernoulli([0.9, 0.1]))
    study = Study.grid([problem], [rai.Vanilla()], [0.1, 0.01], max_pulls=(100, None, 1000))
    found = [(task.experiment.delta, task.experiment.max_pulls) for task in study.tasks]
    assert found == [(delta, cap) for delta in (0.1, 0.01) for cap in (100, None, 1000)]
    several: tuple[tuple[Any, int], ...] = (
        (iter([100, None, 1000]), 3),
        (np.array([100, 200]), 2),
        (np.array(100), 1),
        (7, 1),
    )
    for given, number in several:
        tasks = Study.grid([problem], [rai.Vanilla()], [0.1], max_pulls=given).tasks
        assert len(tasks) == number
    for wrong in ("5", object(), 1.5):
        with pytest.raises(TypeError, match="max_pulls must be an integer; got"):
            Study.grid([problem], [rai.Vanilla()], [0.1], max_pulls=wrong)  # type: ignore[arg-type]
    for caps, words in (((), "max_pulls is empty"), ((100, 0), "max_pulls is 0")):
        with pytest.raises(ValueError, match=words):
            Study.grid([problem], [rai.Vanilla()], [0.1], max_pulls=caps)
    with pytest.raises(ValueError, match="the same task twice"):
        Study.grid([problem], [rai.Vanilla()], [0.1], max_pulls=(100, 100))


def test_what_a_study_wants_of_a_task() -> None:
    """A number of replications, wherever they lie; or what its precision asks for."""
    pieces = Pieces(100)
    ones, yes = np.ones(60, np.int64), np.ones(60, bool)
    pieces.add(Piece(60, 120, Aggregate.of(ones, ones, yes, yes)))
    study = grid(replications=100)
    assert study.verdict(study.tasks[0], pieces) == Verdict(100, False, False)
    pieces.add(Piece(0, 60, Aggregate.of(ones, ones, yes, yes)))
    assert study.verdict(study.tasks[0], pieces) == Verdict(100, True, False)
    precise = grid(precision=0.1, most_replications=120)
    nothing = precise.verdict(precise.tasks[0], Pieces())
    assert (nothing.replications, nothing.final) == (120, False)
    assert precise.verdict(precise.tasks[0], pieces) == follow(0.1, 120, pieces.prefix)
    assert precise.verdict(precise.tasks[0], pieces).final


def test_what_a_study_waits_for() -> None:
    """For the error rate at the looks, with a level for each task; with a precision for both."""
    pieces = Pieces()
    for start, stop in ((0, 256), (256, 305)):
        pulls, yes = np.arange(start, stop), np.ones(stop - start, bool)
        pieces.add(Piece(start, stop, Aggregate.of(pulls, pulls, yes, yes)))
    study = grid(until="error-rate", alpha=0.08)
    assert (study.until, study.level, study.limit, study.decides) == (
        "error rate",
        0.01,
        None,
        True,
    )
    task = study.tasks[0]
    assert task.experiment.delta == 0.1
    known = follow_errors(0.1, 0.01, 2048, pieces.prefix)
    assert study.verdict(task, pieces) == known == Verdict(256, True, True)
    strict = study.verdict(study.tasks[1], pieces)  # at 0.01
    assert (strict.final, strict.replications > 305) == (False, True)
    both = grid(until="error rate", precision=0.01)
    wide = follow(0.01, 10**8, pieces.prefix)
    assert both.verdict(task, pieces) == wide
    assert not wide.final
    assert (both.limit, both.most) == (10**8, 10**8)
    assert grid(until="error rate", most_replications=700).limit == 700


def test_a_study_describes_itself_for_records() -> None:
    """By its tasks in any order, and by what is wanted."""
    study, other = unsorted(0.4, 0.05), unsorted(0.05, 0.4)
    said = study.describe()
    assert (said["tasks"], said["replications"], said["precision"]) == (8, 5, None)
    assert said["most_replications"] is None
    assert other.describe() == said
    assert unsorted(0.4, 0.1).describe()["tasks_sha256"] != said["tasks_sha256"]
    precise = grid(precision=0.1, most_replications=50, keep="aggregates").describe()
    assert (precise["replications"], precise["precision"]) == (None, 0.1)
    assert (precise["most_replications"], precise["keep"]) == (50, "aggregates")


@pytest.mark.parametrize(
    ("value", "written"), [(1e3, "1000"), (np.float64(20.0), "20"), (3e0, "3")]
)
def test_a_whole_number_that_is_no_integer(value: object, written: str) -> None:
    """The message says how to write it; what is no whole number has no such remedy."""
    problem = pairs(0.4)["gap 0.4"]
    for name in ("replications", "max_pulls", "seed", "first_replication"):
        with pytest.raises(
            TypeError, match=rf"^{name} must be an integer; got .*; write {written}$"
        ):
            rai.simulate(problem, rai.Butterscotch(), **{name: value})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=rf"write {written}"):
        unsorted(0.4, replications=value)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^replications must be an integer; got 2\.5$"):
        rai.simulate(problem, rai.Butterscotch(), replications=2.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=rf"; write {written}"):
        rai.top(rai.Bernoulli(np.linspace(0.1, 0.9, 2000)), value)  # type: ignore[arg-type]
