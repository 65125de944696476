"""How one comes by results: an opened folder, or what ended a run."""

from pathlib import Path

import polars as pl
import pytest
from studies import grid, simulated, small

import rai_sim as rai
from rai_sim.study import Study, StudyFailed, StudyInterrupted, Task, open_study


def test_a_store_can_be_opened_without_its_study(tmp_path: Path) -> None:
    """Tasks, summary and rows come from the folder; two studies may share it."""
    first = grid(replications=30).run(tmp_path)
    other = Study.grid(
        {"alone": rai.table_problem(task=3)},
        [rai.Butterscotch()],
        [0.2],
        replications=10,
        seed=2**100,
    )
    other.run(tmp_path)
    everything = open_study(tmp_path)
    assert len(everything.tasks) == 9
    assert {task.id for task in everything.tasks} == {
        task.id for task in (*first.tasks, *other.tasks)
    }
    frame = everything.summary()
    assert (
        frame.filter(pl.col("instance") != "alone")
        .sort("task")
        .equals(first.summary().sort("task"))
    )
    assert frame.filter(pl.col("instance") == "alone")["seed"].item() == str(2**100)
    assert everything.progress() == (250, 250)
    assert everything.result(other.tasks[0]) == simulated(other.tasks[0], 10)
    assert "9 tasks, 250 of 250 replications" in repr(everything)
    with pytest.raises(TypeError, match="folder is None; give a path"):
        open_study(None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="has no replication; run the study first"):
        everything.result(
            Task(
                "x",
                simulated(other.tasks[0], 1).experiment.__class__(
                    rai.table_problem(), rai.LUCB(), 0.3, 0, 0.0, None
                ),
            )
        )


def test_an_interrupted_opening_is_made_up_for(tmp_path: Path) -> None:
    """Results that were not read yet are read when they are asked for, once: of the study, or of
    all."""
    small(5).run(tmp_path)
    for study, wanted in ((small(20), 80), (None, 20)):
        stopped = StudyInterrupted(tmp_path, None, study)
        assert str(stopped) == (
            f"interrupted while {tmp_path} was opened; nothing in it has changed: do the same again"
        )
        assert not stopped.opened
        assert stopped.results.progress() == (20, wanted)
        assert stopped.results is stopped.results
        assert stopped.results.study is study
    read = small(20).results(tmp_path)
    stopped = StudyInterrupted(tmp_path, read, small(20))
    assert str(stopped).startswith(f"interrupted with 20 of 80 replications in {tmp_path}; ")
    assert (stopped.opened, stopped.results) == (True, read)


def test_failures_carry_results_and_errors(tmp_path: Path) -> None:
    """The message counts them and names the first."""
    results = small(5).run(tmp_path)
    errors = {task: ValueError(f"no {task.instance}") for task in results.tasks[1:3]}
    failed = StudyFailed(results, errors)
    assert (failed.results, failed.failures) == (results, errors)
    assert str(failed) == (
        f"2 of 4 tasks failed, what could be run is in {tmp_path}; the first is "
        f"{results.tasks[1].label}: no task 1"
    )
