"""What a study has found: summaries, rows and distributions, of what it asked for."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from studies import grid, simulated

import rai_sim as rai
from rai_sim.simulation.workers import block_for, run_into
from rai_sim.study import Study, Task, open_study
from rai_sim.study.data import Rows, StudyData
from rai_sim.study.results import SUMMARY_SCHEMA


def test_a_smaller_study_reads_its_share_of_a_larger_one(tmp_path: Path) -> None:
    """What a study reports does not depend on what else the store holds."""
    large, alone = (
        grid(replications=500).run(tmp_path / "large"),
        grid(replications=100).run(tmp_path / "alone"),
    )
    small = grid(replications=100).run(tmp_path / "large")
    assert small.summary().equals(alone.summary())
    assert small.result(small.tasks[0]) == alone.result(alone.tasks[0])
    assert small.rows().select(pl.len()).collect().item() == 800
    assert len(list((tmp_path / "large").glob("replications-*"))) == len(large.runs()) - 1 == 1


def test_summaries_are_those_of_results(tmp_path: Path) -> None:
    """The frame's numbers are Result.summary()'s; quantiles to within a bin."""
    results = grid(replications=400).run(tmp_path)
    for row, task in zip(results.summary().iter_rows(named=True), results.tasks, strict=True):
        summary = simulated(task, 400).summary()
        assert (row["task"], row["instance"], row["algorithm"]) == (
            task.key,
            task.instance,
            task.experiment.algorithm.label,
        )
        assert (row["replications"], row["finished"], row["errors"], row["complete"]) == (
            400,
            400,
            summary.errors,
            True,
        )
        assert row["pulls_mean"] == pytest.approx(summary.mean, rel=1e-14)
        assert (row["pulls_mean_low_95"], row["pulls_mean_high_95"]) == pytest.approx(
            summary.interval, rel=1e-12
        )
        assert (row["error_rate_low_95"], row["error_rate_high_95"]) == summary.error_interval
        assert (row["lower_bound_pulls"], row["upper_bound_pulls"]) == (
            summary.lower_bound,
            summary.upper_bound,
        )
        assert row["rounds_mean"] == pytest.approx(summary.mean_rounds, rel=1e-14)
        for share, name in ((0.05, "pulls_q05"), (0.5, "pulls_q50"), (1.0, "pulls_most")):
            assert row[name] == pytest.approx(summary.quantiles[share], rel=1 / 512, abs=1)


def test_aggregates_are_those_of_the_rows(tmp_path: Path) -> None:
    """With sums alone the same summary, in steps and over workers; rows are refused."""
    rows = grid(replications=900).run(tmp_path / "rows")
    for n, n_jobs in ((10, 1), (700, 2), (900, 1)):
        sums = grid(replications=n, keep="aggregates").run(tmp_path / "sums", n_jobs=n_jobs)
    assert sums.summary().equals(rows.summary())
    assert not list((tmp_path / "sums").glob("replications-*"))
    with pytest.raises(
        ValueError,
        match=r"keeps aggregates only; run the study with keep='replications' to have rows",
    ):
        sums.rows()


def test_caps_and_errors_are_counted(tmp_path: Path) -> None:
    """Replications at the cap are not finished, whatever is kept."""
    for keep in ("replications", "aggregates"):
        options: dict[str, Any] = {"replications": 300, "max_pulls": 200, "keep": keep}
        # without guarantees, so that it errs
        wide = rai.best_arm(rai.Gaussian([0.7, 0.4], sd=3.0), strict=False)
        study = Study.grid({"x": wide}, [rai.Vanilla()], [0.5], **options)
        row = study.run(tmp_path / keep).summary().row(0, named=True)
        plain = simulated(study.tasks[0], 300).summary()
        assert (row["finished"], row["errors"]) == (plain.finished, plain.errors)
        assert 0 < plain.finished < 300
        assert plain.errors > 0
        assert row["error_exceeds_delta"] == plain.error_exceeds_delta
        assert row["max_pulls"] == 200


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
    with pytest.raises(ValueError, match="has no replication; run the study first"):
        everything.result(
            Task(
                "x",
                simulated(other.tasks[0], 1).experiment.__class__(
                    rai.table_problem(), rai.LUCB(), 0.3, 0, 0.0, None
                ),
            )
        )


def test_the_distribution_is_of_the_summarys_replications(tmp_path: Path) -> None:
    """What lies behind a gap is in neither: shares of the summary's replications add up to one."""
    task = Study.grid({"x": rai.table_problem()}, [rai.Vanilla()], [0.1], replications=10).tasks[0]
    data = StudyData(tmp_path, "replications")
    data.add_tasks([task], {"run": "r", "rai_sim": "0", "stream_version": "1"})
    for first, count in ((0, 10), (20, 30)):
        block = block_for(task.experiment, count)
        run_into(task.experiment, first, block)
        data.write_rows(
            [Rows(task.key, first, block)], {"run": "r", "rai_sim": "0", "stream_version": "1"}
        )
    results = rai.open_study(tmp_path)
    assert results.summary()["replications"].to_list() == [10]
    values, counts = results.pulls_distribution(task)
    assert counts.sum() == 10
    assert values.tolist() == sorted(set(simulated(task, 10).pulls.tolist()))


def test_the_summary_begins_with_what_one_looks_for(tmp_path: Path) -> None:
    """Instance, algorithm, delta, mean pulls, interval, errors; the hash is last, of rows too."""
    results = grid(replications=40).run(tmp_path)
    columns = results.summary().columns
    assert columns == list(SUMMARY_SCHEMA)
    assert columns[:6] == [
        "instance",
        "algorithm",
        "delta",
        "pulls_mean",
        "pulls_mean_low_95",
        "pulls_mean_high_95",
    ]
    assert columns[6:10] == ["errors", "error_rate", "error_rate_low_95", "error_rate_high_95"]
    assert columns[-1] == "task"
    assert len(set(columns)) == 44
    assert results.rows().collect_schema().names() == [
        "instance",
        "algorithm",
        "delta",
        "replication",
        "pulls",
        "rounds",
        "correct",
        "finished",
        "representatives",
        "task",
    ]
    head = str(results.summary()).splitlines()[2]
    assert [
        name for name in ("instance", "algorithm", "delta", "pulls_mean", "task") if name in head
    ][:4] == columns[:4]


def test_exports(tmp_path: Path) -> None:
    """Summary and rows, in the order of tasks and replications; Parquet knows the runs; of sums
    alone there are no rows."""
    instances = {"=b": rai.table_problem(1), "a": rai.table_problem(5)}
    rules = [rai.Vanilla(), rai.Butterscotch()]
    study = rai.Study.grid(instances, rules, [0.1, 0.01], replications=6)
    results = study.run(tmp_path / "study")
    results.to_parquet(tmp_path / "s.parquet")
    assert pl.read_parquet(tmp_path / "s.parquet").equals(results.summary())
    about = json.loads(pl.read_parquet_metadata(tmp_path / "s.parquet")["rai_sim"])
    assert [run["replications_added"] for run in about["runs"]] == [48]
    results.to_csv(tmp_path / "s.csv")
    assert pl.read_csv(tmp_path / "s.csv")["instance"].to_list() == ["'=b"] * 4 + ["a"] * 4
    results.to_parquet(tmp_path / "r.parquet", rows=True)
    rows = pl.read_parquet(tmp_path / "r.parquet")
    assert rows["task"].to_list() == [task.key for task in study.tasks for _ in range(6)]
    assert rows["replication"].to_list() == list(range(6)) * 8
    assert rows["pulls"][:6].to_list() == results.result(study.tasks[0]).pulls.tolist()
    results.select(delta=0.1, instance="a").to_csv(tmp_path / "r.csv", rows=True)
    some = pl.read_csv(tmp_path / "r.csv")
    assert some["pulls"].to_list() == rows.filter(delta=0.1, instance="a")["pulls"].to_list()
    with pytest.raises(ValueError, match=r"path is .*s\.txt'; give a name that ends in \.csv"):
        results.to_csv(tmp_path / "s.txt")
    sums = rai.Study.grid(instances, rules, [0.1], replications=6, keep="aggregates")
    found = sums.run(tmp_path / "sums")
    found.to_parquet(tmp_path / "s.parquet")
    with pytest.raises(ValueError, match="keeps aggregates only"):
        found.to_parquet(tmp_path / "r.parquet", rows=True)
