"""The verb `export`."""

from pathlib import Path

import polars as pl
from command_line import Capture, printed, refused

import rai_sim as rai


def test_export_writes_summary_and_rows(file: Path, capsys: Capture) -> None:
    """Of a study given by its file or its folder, of all tasks or some; nothing is run."""
    folder = file.with_suffix(".study")
    results = rai.open_study(folder)
    assert printed(capsys, f"export '{file}'").strip() == str(file.with_suffix(".csv"))
    frame = pl.read_csv(file.with_suffix(".csv"))
    assert frame["pulls_mean"].to_list() == results.summary()["pulls_mean"].to_list()
    place = file.with_name("rows.parquet")
    printed(
        capsys, f"export '{folder}' -o '{place}' --rows --select delta=0.1 --select algorithm=lucb"
    )
    rows = pl.read_parquet(place)
    assert len(rows) == 2 * 20
    assert set(rows["algorithm"]) == {"LUCB(as_printed=False)"}
    assert set(rows["delta"]) == {0.1}


def test_bad_names(file: Path, tmp_path: Path, capsys: Capture) -> None:
    """Other kinds, and places among the results."""
    assert "ends in none of .csv, .parquet" in refused(capsys, f"export '{file}' -o a.json")
    inside = f"'{file.with_suffix('.study')}/a.csv'"
    assert "lies among the study's results" in refused(capsys, f"export '{file}' -o {inside}")
    assert "there is no" in refused(capsys, f"export '{tmp_path}/none.toml'")


def test_export_writes_pulls_by_arm(file: Path, capsys: Capture) -> None:
    """Of a study that keeps them, which the command line may ask for; else it says what to do."""
    folder = file.with_name("arms.study")
    printed(capsys, f"study '{file}' --store '{folder}' --keep arm_pulls_sum --replications 5")
    place = file.with_name("arms.csv")
    printed(capsys, f"export '{folder}' -o '{place}' --arms")
    frame = pl.read_csv(place)
    assert len(frame) == 8 * 2
    assert min(frame["pulls_sum"].to_list()) > 0
    for option, study, said in (
        (
            "--arms",
            file,
            "keeps no pulls by arm; leave it out, or run the study into another folder",
        ),
        ("--rows", folder, "keeps no rows, but sums; leave it out, or run the study into another"),
    ):
        told = refused(capsys, f"export '{study}' -o '{place}' {option}")
        assert told.startswith(f"rai-sim: {option}: store {folder.parent}/")
        assert said in told
    both = refused(capsys, f"export '{folder}' -o '{place}' --arms --rows")
    assert "--rows and --arms are two tables" in both
