"""Files that verbs write results into."""

import json
import re
from pathlib import Path

import polars as pl
import pytest
from command_line import Capture, refused

import rai_sim as rai
from rai_sim.cli.outputs import TABLES, check_apart, check_output, results_frame, write_output
from rai_sim.support.errors import BadInput
from rai_sim.support.reading import inputs_noted, read_array


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
        check_apart(tmp_path, tmp_path, "--plot")
    (tmp_path / "a.csv").write_text("0.9\n")
    check_apart(tmp_path / "a.csv", tmp_path / "b.study")
    with inputs_noted():
        read_array(tmp_path / "a.csv")
        for check in (check_output, lambda path: check_apart(path, tmp_path / "b.study")):
            check(tmp_path / "b.csv")
            with pytest.raises(
                BadInput, match=r"--output .*a\.csv is a file that is read here; give"
            ):
                check(tmp_path / "a.csv")


@pytest.mark.parametrize(
    "words",
    [
        "run --means F --names title --problem best_arm -o F",
        "run --means F -o LINK --problem best_arm",
        "run --means 0.9,0.5 --clusters @SIZES --required 1,0 -o SIZES",
        "run --law categorical --values 0,1 --probabilities @T --problem best_arm -o T",
        "success --pulls @BUDGETS -o BUDGETS",
        "study S -o F",
        "export S",
        "report S -o PAGE",
    ],
)
def test_no_output_goes_over_what_was_read(words: str, tmp_path: Path, capsys: Capture) -> None:
    """Of options and of a study's file, by its name, by a link, and by a default; a pipe has none."""
    means, sizes, table = tmp_path / "f.csv", tmp_path / "sizes.csv", tmp_path / "t.csv"
    means.write_text("title,mean\nx,0.75\ny,0.25\n")
    sizes.write_text("1\n1\n")
    table.write_text("0.5,0.5\n0.25,0.75\n")
    budgets = tmp_path / "budgets.csv"
    budgets.write_text("1\n2\n")
    (tmp_path / "page.html").symlink_to(means)
    (tmp_path / "link.csv").symlink_to(means)
    study = tmp_path / "f.toml"
    study.write_text(
        'algorithms = ["vanilla"]\nreplications = 2\n[[instances]]\nmeans = "f.csv"\n'
        'problem = "best_arm"\n'
    )
    rai.Study.from_toml(study).run(tmp_path / "f.study")
    places = {"F": means, "LINK": tmp_path / "link.csv", "SIZES": sizes, "S": study, "T": table}
    places |= {"BUDGETS": budgets, "PAGE": tmp_path / "page.html"}
    for name, place in places.items():
        words = re.sub(rf"(?<= |@){name}\b", str(place), words)
    read = means, sizes, table, budgets
    before = [one.read_bytes() for one in read]
    assert "is a file that is read here; give another name" in refused(capsys, words)
    assert [one.read_bytes() for one in read] == before


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
