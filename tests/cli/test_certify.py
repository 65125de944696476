"""The verb `certify`: verdicts, exit codes, what is chosen, slips, Ctrl-C."""

import shlex
from pathlib import Path
from typing import Any

import pytest
from command_line import Capture, document, printed, refused, run

import rai_sim as rai
from rai_sim.certification import sequential

#: Instances that are run in no time.
FEW = "--pulls 20000 --only 'clusters of one*' --only 'DRAWN: ?'"


def test_a_violation_ends_with_1(capsys: Capture) -> None:
    """LUCB as printed, with instance and interval; the command that is told gives the same."""
    words = "certify lucb:as_printed=true --delta 0.1"
    text = printed(capsys, words, expect=1)
    assert text.startswith("LUCB(as_printed=True), delta 0.1, seed 0: not delta-PC\n")
    assert "not delta-PC: on 'clusters of one: second of five'" in text
    rerun = text.splitlines()[-1].removeprefix("the same again: rai-sim ")
    assert printed(capsys, rerun, expect=1) == text


def test_a_pass_ends_with_0(capsys: Capture) -> None:
    """On some of the ready-made instances; JSON has what the table has."""
    words = f"certify vanilla --delta 0.1 {FEW}"
    text, found = printed(capsys, words), document(capsys, words)
    assert "no violation above delta found: with confidence 99 %" in text
    assert found["verdict"] == "no violation above delta found"
    assert found["passed"] is True
    names = [row["instance"] for row in found["instances"]]
    assert names == [name for name in rai.hard_problems(0.1) if name[:4] in ("clus", "draw")]
    assert all(name in text for name in names)
    assert shlex.split(found["rerun"])[1:3] == ["certify", "vanilla"]


def test_the_problem_that_is_given(capsys: Capture) -> None:
    """Alone, and of its own cap and budget."""
    words = "certify butterscotch --table-task 1 --delta 0.1 --replications 40 --max-pulls 20000"
    (row,) = document(capsys, words)["instances"]
    assert (row["instance"], row["required"]) == ("the problem given", [1, 0, 0])
    assert (row["replications"], row["max_pulls"], row["errors"]) == (40, 20000, 0)


def test_what_is_not_clear_ends_with_0(capsys: Capture) -> None:
    """Nothing was found; the text says what is not excluded."""
    text = printed(capsys, "certify vanilla --table-task 1 --replications 5")
    assert "no violation above delta found, nor excluded on 1 of 1 instance" in text


def test_the_claim_about_pulls(capsys: Capture) -> None:
    """Theorem 2 holds on a table task."""
    found = document(capsys, "certify vanilla --claim pulls --delta 0.1 --table-task 1")
    assert (found["claim"], found["passed"]) == ("pulls", True)
    assert found["instances"][0]["max_pulls"] == int(
        rai.bounds.vanilla(rai.table_problem(1), 0.1) + 10
    )


def test_going_on_after_a_violation(capsys: Capture) -> None:
    """Every instance is run until it is clear, or its replications are at an end."""
    words = "certify lucb:as_printed=true --delta 0.1 --only 'clusters of one*' --replications 40"
    one, every = (document(capsys, words + more, 1) for more in ("", " --keep-going"))
    assert sum(row["replications"] > 0 for row in one["instances"]) == 1
    assert all(row["replications"] > 0 for row in every["instances"])
    assert every["rerun"].endswith(" --keep-going")


def test_jobs_change_nothing(capsys: Capture) -> None:
    """The same text to the letter."""
    words = f"certify vanilla --delta 0.1 {FEW}"
    assert printed(capsys, words) == printed(capsys, f"{words} --jobs 2")


def test_a_narrow_terminal(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Goes without the least of the columns, and says so."""
    monkeypatch.setattr("rai_sim.cli.fitted.terminal_width", lambda: 90)
    text = printed(capsys, f"certify vanilla --delta 0.1 {FEW}")
    assert (
        "left out to fit 90 columns: capped, error rate, e-value; a pipe or --json has all" in text
    )


def test_a_picture(capsys: Capture, tmp_path: Path) -> None:
    """Of the kind that the name asks for; a wrong name is refused before anything is run."""
    text = printed(capsys, f"certify vanilla --table-task 1 --delta 0.1 --plot {tmp_path}/x.svg")
    assert f"drawn into {tmp_path}/x.svg" in text
    assert "<svg" in (tmp_path / "x.svg").read_text()
    said = refused(capsys, f"certify vanilla --table-task 1 --plot {tmp_path}/x.jpeg")
    assert "x.jpeg does not end in .png, .svg, .pdf; give a name that does" in said


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("certify", "Missing argument 'ALGORITHM'"),
        ("certify vanila", "rai-sim: ALGORITHM vanila is no algorithm; known are butterscotch"),
        ("certify vanilla --delta 2", "--delta: delta is 2.0"),
        ("certify vanilla --alpha 0", "--alpha: alpha is 0.0"),
        ("certify vanilla --replications 0", "--replications: replications is 0"),
        ("certify vanilla --claim rounds", "--claim: claim is 'rounds'; choose 'error' or 'pulls'"),
        ("certify lucb --claim pulls", "--claim: claim is 'pulls' but no theorem bounds"),
        ("certify vanilla --claim pulls --max-pulls 9", "--max-pulls: max_pulls is 9 but"),
        ("certify vanilla --pulls 10", "--pulls: pulls is 10; it must be at least 1,000"),
        ("certify vanilla --only 'near tie'", "did you mean near ties: best of two or near ties:"),
        ("certify vanilla --only x --table-task 1", "--only chooses among ready-made instances"),
        ("certify vanilla --pulls 1e5 --means .9,.5", "but --means describes another"),
        (
            "certify vanilla --law recorded --rewards '1,1;0,0' --clusters 1,1 --required 1,0",
            "--law: problems['the problem given'] has Recorded arms",
        ),
    ],
)
def test_slips(capsys: Capture, words: str, part: str) -> None:
    """One line, before anything is run."""
    assert part in refused(capsys, words)


def test_ctrl_c_prints_what_was_found(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code is that of an interrupt; the statements hold."""
    calls = []

    def interrupted(*arguments: Any, **options: Any) -> rai.Result:
        calls.append(options)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return rai.simulate(*arguments, **options)

    monkeypatch.setattr(sequential, "simulate", interrupted)
    run(f"certify vanilla --delta 0.1 {FEW}", expect=130)
    text = capsys.readouterr().out
    assert "seed 0: INTERRUPTED, so far no violation above delta found" in text
    assert "5 instances not run: interrupted" in text
