"""Studies that keep pulls by arm: run, resumed, merged, verified, and read again."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rai_sim as rai
from rai_sim.study import StudyResults
from rai_sim.study.data import StudyData
from rai_sim.study.store import StoreError, StoreWarning
from rai_sim.study.task import Task

PROBLEMS = {"one": rai.table_problem(), "all": rai.table_problem(task=2)}
KEEPS = ["arm_pulls", "arm_pulls_sum"]


def study(keep: str, replications: int = 60, **more: Any) -> rai.Study:
    """Return two tasks, of which a cap ends some replications of the second."""
    return rai.Study.grid(
        PROBLEMS,
        [rai.Vanilla()],
        [0.1],
        replications=replications,
        keep=keep,
        max_pulls=42_000,
        **more,
    )


def wanted(task: Task, replications: int) -> rai.Result:
    """Return what a study must hold of a task."""
    return rai.simulate(
        task.experiment.problem,
        rai.Vanilla(),
        delta=0.1,
        replications=replications,
        max_pulls=42_000,
        keep="arm_pulls",
    )


def check(results: StudyResults, replications: int) -> None:
    """Compare everything that is kept of arms with a simulation."""
    frame = results.by_arm()
    for place, task in enumerate(results.tasks):
        run = wanted(task, replications)
        assert run.arm_pulls is not None
        sums, finished = results.arm_pulls_sum(task)
        assert finished == np.count_nonzero(run.finished)
        assert np.array_equal(sums, run.arm_pulls[run.finished].sum(axis=0))
        if results.keeps_rows:
            assert results.result(task) == run
        part = frame[10 * place : 10 * place + 10]
        assert part["instance"].unique().to_list() == [task.instance]
        told = part.drop("instance", "algorithm", "delta", "finished")
        errors = "pulls_standard_error"
        theirs = run.by_arm()
        assert told.drop(errors).equals(theirs.drop(errors))
        assert told[errors].is_null().all() != (results.keeps_rows and finished > 1)


@pytest.mark.parametrize("keep", KEEPS)
def test_they_are_kept_and_resumed(keep: str, tmp_path: Path) -> None:
    """By one worker or two, at once or one after the other; what was made again is the same."""
    study(keep, 25).run(tmp_path / "a")
    results = study(keep).run(tmp_path / "a", n_jobs=2)
    check(results, 60)
    check(rai.open_study(tmp_path / "a"), 60)
    assert not results.verify(10**6).mismatches


@pytest.mark.parametrize("keep", KEEPS)
def test_a_shorter_study_counts_its_own(keep: str, tmp_path: Path) -> None:
    """Of a store that has more."""
    study(keep, 25).run(tmp_path / "a")
    study(keep).run(tmp_path / "a")
    check(study(keep, 25).results(tmp_path / "a"), 25)


@pytest.mark.parametrize("keep", KEEPS)
def test_merged_folders_keep_them(keep: str, tmp_path: Path) -> None:
    """Whole parts, and parts of which some rows stand elsewhere, too."""
    for name, part in (("a", "1/2"), ("b", "2/2")):
        study(keep).run(tmp_path / name, part=part)
    if keep == "arm_pulls":
        study(keep, 10).run(tmp_path / "b")
    rai.merge_studies([tmp_path / "a", tmp_path / "b"], tmp_path / "c")
    check(study(keep).results(tmp_path / "c"), 60)


def test_a_changed_number_is_found(tmp_path: Path) -> None:
    """By verifying, and by merging with what is right."""
    for name in ("a", "b"):
        results = study("arm_pulls", 5).run(tmp_path / name)
    (part,) = (tmp_path / "b").glob("replications-*.parquet")
    frame = pl.read_parquet(part)
    moved = [[row[0] + 1, row[1] - 1, *row[2:]] for row in frame["arm_pulls"].to_list()]
    part.unlink()
    data = StudyData(tmp_path / "b", "arm_pulls")
    data.store.write("replications", frame.with_columns(arm_pulls=pl.Series(moved)), {})
    flaws = study("arm_pulls", 5).results(tmp_path / "b").verify(10**6).mismatches
    assert len(flaws) == 10
    with pytest.raises(StoreError, match="arm_pulls"):
        rai.merge_studies([results.folder.parent / "a", tmp_path / "b"], tmp_path / "c")


def test_one_folder_keeps_one_thing(tmp_path: Path) -> None:
    """Rows with and without them are not mixed; a part from another store is set aside."""
    study("arm_pulls", 5).run(tmp_path / "a")
    with pytest.raises(StoreError, match="keeps arm_pulls but replications are to be kept"):
        study("replications", 5).run(tmp_path / "a")
    study("replications", 5).run(tmp_path / "b")
    (part,) = (tmp_path / "b").glob("replications-*.parquet")
    shutil.copy(part, tmp_path / "a")
    with pytest.warns(StoreWarning, match="it has other columns than this version writes"):
        check(rai.open_study(tmp_path / "a"), 5)


def test_exports_have_them(tmp_path: Path) -> None:
    """A row a task and arm, or lists in the rows of replications."""
    results = study("arm_pulls", 5).run(tmp_path / "a")
    results.to_csv(tmp_path / "a.csv", arms=True)
    assert len(pl.read_csv(tmp_path / "a.csv")) == 20
    results.to_parquet(tmp_path / "a.parquet", arms=True)
    assert pl.read_parquet(tmp_path / "a.parquet").equals(results.by_arm())
    results.to_csv(tmp_path / "b.csv", rows=True)
    first = pl.read_csv(tmp_path / "b.csv")["arm_pulls"][0]
    told = results.result(results.tasks[0]).arm_pulls
    assert told is not None
    assert [int(one) for one in first.split(" ")] == told[0].tolist()
    with pytest.raises(ValueError, match="arms and rows are both True"):
        results.to_csv(tmp_path / "c.csv", arms=True, rows=True)


def test_where_they_are_not_kept(tmp_path: Path) -> None:
    """The message says what to do; tasks without a replication have none."""
    results = study("aggregates", 5).run(tmp_path / "a")
    for ask in (results.by_arm, lambda: results.arm_pulls_sum(results.tasks[0])):
        with pytest.raises(ValueError, match="keeps no pulls by arm; run it with keep="):
            ask()
    some = study("arm_pulls_sum", 5)
    rai.Study(some.tasks[:1], replications=5, keep="arm_pulls_sum").run(tmp_path / "b")
    assert some.results(tmp_path / "b").by_arm()["instance"].unique().to_list() == ["one"]
    with pytest.raises(ValueError, match="has no replication; run the study first"):
        some.results(tmp_path / "b").arm_pulls_sum(some.tasks[1])
