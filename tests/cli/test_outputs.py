"""Files that verbs write results into."""

import json
from pathlib import Path

import polars as pl
import pytest

import rai_sim as rai
from rai_sim.cli.outputs import TABLES, check_apart, check_output, results_frame, write_output
from rai_sim.support.errors import BadInput


def test_names_are_looked_at_before_anything_runs(tmp_path: Path) -> None:
    """Ends, folders, and places among a study's results."""
    for kind in ("csv", "CSV", "json", "parquet"):
        check_output(tmp_path / f"a.{kind}")
    check_output(None)
    check_apart(None, tmp_path)
    with pytest.raises(BadInput, match=r"ends in none of \.csv, \.json, \.parquet; give"):
        check_output(tmp_path / "a.txt")
    with pytest.raises(BadInput, match=r"ends in none of \.csv, \.parquet; give a name"):
        check_output(tmp_path / "a.json", TABLES)
    with pytest.raises(BadInput, match="there is no folder"):
        check_output(tmp_path / "none" / "a.csv")
    with pytest.raises(BadInput, match="lies among the study's results"):
        check_apart(tmp_path / "a.csv", tmp_path)
    with pytest.raises(BadInput, match=r"--plot .* lies among the study's results"):
        check_apart(tmp_path, tmp_path, tmp_path, "--plot")
    with pytest.raises(BadInput, match="is the study's own file"):
        check_apart(tmp_path / "a.csv", tmp_path / "b.study", tmp_path / "a.csv")


def test_the_end_tells_the_kind(tmp_path: Path) -> None:
    """A table or a document; NaN is null."""
    frame, document = pl.DataFrame({"x": [1]}), {"x": [float("nan"), 1]}
    for kind in ("csv", "json", "parquet"):
        write_output(tmp_path / f"a.{kind}", lambda: frame, lambda: document)
    assert (tmp_path / "a.csv").read_text() == "x\n1\n"
    assert json.loads((tmp_path / "a.json").read_text()) == {"x": [None, 1]}
    assert pl.read_parquet(tmp_path / "a.parquet").equals(frame)


def test_results_as_a_frame() -> None:
    """One row each; none of none, with the same columns; NaN is null."""
    result = rai.simulate(rai.table_problem(1), rai.Butterscotch(), replications=1)
    frame, nothing = results_frame([result]), results_frame([])
    assert frame.schema == nothing.schema
    assert (len(frame), len(nothing)) == (1, 0)
    assert frame["pulls_mean"].to_list() == [10370.0]
    assert frame["pulls_mean_low_95"].to_list() == [None]
    assert frame["task"].to_list() == [result.experiment.identity()[-64:]]
    assert "instance" not in frame.columns
