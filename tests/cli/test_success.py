"""The verb `success`: a table, JSON, a file and a picture of the same curves."""

import json
from pathlib import Path

import polars as pl
import pytest
from command_line import Capture, printed, refused, run

import rai_sim as rai
from rai_sim.cli import success as verb

WORDS = "success --means 0.8,0.5 --clusters 1,1 --required 1,0 --pulls 2,20,200 --replications 100"


def test_the_table_and_json(capsys: Capture, tmp_path: Path) -> None:
    """Both have the numbers of `success_by`; so have a file and the command that repeats it."""
    problem = rai.best_arm(rai.Bernoulli([0.8, 0.5]))
    curve = rai.success_by(problem, rai.Vanilla(), pulls=[2, 20, 200], replications=100)
    text = printed(capsys, WORDS)
    lines = text.splitlines()
    assert [line.split()[2] for line in lines[2:5]] == [f"{share:.4f}" for share in curve.share]
    assert lines[-1].startswith("the same again: rai-sim success ")
    file = tmp_path / "curve.csv"
    found = json.loads(printed(capsys, f"{WORDS} --json --output {file}"))
    assert [row["right"] for row in found["rows"]] == curve.right.tolist()
    assert pl.read_csv(file)["right"].to_list() == curve.right.tolist()


def test_the_table_fits_a_terminal(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error rate, which the share of right answers tells, is the first to go."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for width, words in ((65, "left out to fit 65 columns: error rate; a pipe"), (40, "left out")):
        monkeypatch.setenv("COLUMNS", str(width))
        table = printed(capsys, WORDS).partition("\n\n")[0].splitlines()
        assert max(map(len, table[:5])) <= width
        assert table[5].startswith(words)


def test_the_picture(capsys: Capture, tmp_path: Path) -> None:
    """Of several algorithms."""
    file = tmp_path / "curve.svg"
    text = printed(
        capsys, f"{WORDS} --algorithm vanilla --algorithm vanilla:merging=false --plot {file}"
    )
    assert f"drawn into {file}" in text
    assert "stopped by itself" in file.read_text() or file.stat().st_size > 10_000


def test_refusals(capsys: Capture) -> None:
    """Name the option."""
    assert "--pulls" in refused(capsys, "success --pulls 0,5")
    assert "--pulls 5 is given twice" in refused(capsys, "success --pulls 5,7,5")
    twice = refused(capsys, "success --pulls 5 --algorithm lucb --algorithm lucb")
    assert "--algorithm LUCB(as_printed=False) is given twice" in twice
    assert "--plot" in refused(capsys, "success --pulls 5 --plot curve.gif")


def test_an_interrupt_shows_what_was_finished(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In the table, the file and JSON, which say so; exit code 130; nothing but that without any."""
    problem, file = rai.best_arm(rai.Bernoulli([0.8, 0.5])), tmp_path / "curve.csv"
    part: rai.SuccessCurve | None = rai.success_by(
        problem, rai.Vanilla(), pulls=[2, 20, 200], replications=40
    )

    def stopped(*_: object, **__: object) -> None:
        raise rai.SuccessInterrupted(part)

    monkeypatch.setattr(verb, "success_by", stopped)
    text = printed(capsys, f"{WORDS} --output {file}", 130)
    assert "INTERRUPTED: Vanilla(merging=True) with 40 of 100 replications" in text
    assert pl.read_csv(file)["replications"].to_list() == [40] * 3
    assert json.loads(printed(capsys, f"{WORDS} --json", 130))["interrupted"] is True
    part = None
    run(WORDS, 130)
    assert capsys.readouterr().err == "rai-sim: INTERRUPTED before a replication was finished\n"
