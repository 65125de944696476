"""What a study has found: of what it asked for, and in files."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from studies import grid

import rai_sim as rai


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
    for wrong in ({"rows": 1}, {"arms": "no"}):
        with pytest.raises(TypeError, match="it must be True or False"):
            results.to_csv(tmp_path / "s.csv", **wrong)
    more: dict[str, Any]
    for more, words in (
        ({"title": 5}, "title is 5; give a text, or None"),
        ({"all_figures": "no"}, "all_figures is 'no'; it must be True or False"),
    ):
        with pytest.raises(TypeError, match=words):
            results.report(tmp_path / "s.html", **more)
    for blank in ("", " \n"):
        with pytest.raises(
            ValueError, match=r"title is .*; give a text, or None for the store's name"
        ):
            results.report(tmp_path / "s.html", title=blank)
    write: Any
    for write in (results.to_csv, results.to_parquet, results.report):
        with pytest.raises(TypeError, match="path is None; give a path"):
            write(None)
    sums = rai.Study.grid(instances, rules, [0.1], replications=6, keep="aggregates")
    found = sums.run(tmp_path / "sums")
    found.to_parquet(tmp_path / "s.parquet")
    with pytest.raises(ValueError, match="keeps aggregates only"):
        found.to_parquet(tmp_path / "r.parquet", rows=True)
