"""Records of runs, and how parts name them."""

import json
from pathlib import Path

import polars as pl
import pytest
from clock import Clock
from studies import parts, small

import rai_sim as rai
from rai_sim.study import StoreWarning
from rai_sim.study.record import Record, read_records
from rai_sim.study.store import Store


def test_foreign_records_are_passed_over(folder: Path) -> None:
    """A file that looks like a run's record and is none."""
    (folder / "run-x.json").write_text("{}")
    with pytest.warns(StoreWarning, match=r"run-x\.json is passed over: it is no record of a run"):
        assert len(small().results(folder).runs()) == 2


def test_parts_say_how_they_were_made(folder: Path) -> None:
    """The metadata of a part names its run, whose record has versions, processor, parameters and
    times."""
    runs = {run["run"]: run for run in small().results(folder).runs()}
    assert len(runs) == 2
    for path in [
        *parts(folder),
        *folder.glob("tasks-*.parquet"),
        *folder.glob("instances-*.parquet"),
    ]:
        about = json.loads(pl.read_parquet_metadata(path)["rai_sim"])
        run = runs[about["run"]]
        assert about["rai_sim"] == run["rai_sim"] == rai.__version__
        assert about["stream_version"] == str(rai.STREAM_VERSION)
        assert run["status"] == "finished"
        assert run["started"] < run["ended"]
        assert run["replications_added"] == 80
        assert run["study"]["seeds"] == [0]
        assert set(run["libraries"]) >= {"numpy", "numba", "polars"}
        assert run["processor"]


def test_a_record_is_written_when_a_run_begins_and_when_it_ends(
    tmp_path: Path, clock: Clock
) -> None:
    """First with nothing done; then with what was added, seconds without compilation, and what
    failed."""
    study = small(40)
    record = Record(Store(tmp_path, "replications"), study, None, 2)
    (begun,) = read_records(tmp_path)
    assert (begun["status"], begun["ended"], begun["replications_added"]) == ("running", None, 0)
    assert (begun["seconds"], begun["compile_seconds"]) == (0.0, 0.0)
    assert (begun["n_jobs"], begun["workers"], begun["study"]) == (None, 2, study.describe())
    assert "failures" not in begun
    record.added += 30
    record.compiled_elsewhere += 1.5
    clock.now += 12.25
    record.end("failed", {"x": "no room"})
    (ended,) = read_records(tmp_path)
    changed = {"status", "ended", "replications_added", "seconds", "compile_seconds", "failures"}
    assert {name for name in ended if ended[name] != begun.get(name)} == changed
    assert (ended["status"], ended["failures"]) == ("failed", {"x": "no room"})
    assert (ended["replications_added"], ended["seconds"]) == (30, 12.25)
    assert ended["compile_seconds"] == 1.5
    assert ended["started"] <= ended["ended"]
    assert record.about == {
        "run": ended["run"],
        "rai_sim": rai.__version__,
        "stream_version": str(rai.STREAM_VERSION),
    }
    assert (tmp_path / f"run-{ended['run']}.json").exists()


def test_records_come_oldest_first(tmp_path: Path) -> None:
    """By when they started, then by their names; whatever the files are called."""
    for name, started, run in (("a", "3", "x"), ("b", "1", "z"), ("c", "1", "y")):
        (tmp_path / f"run-{name}.json").write_text(json.dumps({"started": started, "run": run}))
    assert [one["run"] for one in read_records(tmp_path)] == ["y", "z", "x"]


@pytest.mark.parametrize(
    "text", ["", "{", "[1]", "3", "null", '{"run": "x"}', '{"started": "1"}', "[" * 100_000]
)
def test_what_is_no_record_is_passed_over(tmp_path: Path, text: str) -> None:
    """With a warning that names the file; the others are read."""
    (tmp_path / "run-a.json").write_text('{"started": 1, "run": 2}')
    (tmp_path / "run-b.json").write_text(text)
    with pytest.warns(StoreWarning, match=r"run-b\.json is passed over: it is no record of a run"):
        records = read_records(tmp_path)
    assert records == [{"started": "1", "run": "2"}]
