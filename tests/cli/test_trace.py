"""The verb `trace`."""

from pathlib import Path

import pytest
from command_line import Capture, document, printed, refused

import rai_sim as rai


def test_trace_prints_the_events(capsys: Capture) -> None:
    """A line an event, the headline, and the command that prints the same again."""
    shown = printed(capsys, "trace --table-task 1 --replication 3")
    lines = shown.splitlines()
    assert (
        lines[0]
        == "Vanilla(merging=True), delta 0.01, seed 0, replication 3: 5,813 pulls in 876 rounds, "
        "correct"
    )
    assert lines[2].split() == [
        "round",
        "pulls",
        "arm's",
        "mean",
        "radius",
        "arm's",
        "pulls",
        "event",
    ]
    assert lines[4].split() == ["1", "10", "clusters", "2+3", "merged"]
    assert lines[10].split() == [
        "876",
        "5,813",
        "0.8413",
        "0.1112",
        "876",
        "arm",
        "0",
        "settled",
        "in",
        "cluster",
        "1,",
        "representative",
    ]
    again = next(line for line in lines if line.startswith("the same again: ")).removeprefix(
        "the same again: rai-sim "
    )
    assert printed(capsys, again) == shown


def test_trace_as_json_is_the_trace(capsys: Capture) -> None:
    """Numbers of the library, all states and events."""
    found = document(
        capsys, "trace --table-task 2 --algorithm lucb --seed 5 --replication 8 --delta 0.1"
    )
    trace = rai.trace(rai.table_problem(task=2), rai.LUCB(), 0.1, 5, 8)
    assert (found["pulls"], found["rounds"], found["correct"]) == (
        trace.result.pulls[0],
        trace.result.rounds[0],
        True,
    )
    assert found["representatives"] == trace.result.representatives[0].tolist()
    assert [event["pulls"] for event in found["events"]] == [event.pulls for event in trace.events]
    assert found["states"]["means"] == trace.means.tolist()
    assert found["experiment"] == trace.result.experiment.identity()


def test_trace_of_many_events_is_cut(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a terminal 200 lines, and a word of the others; a pipe has all."""
    means = ",".join(f"{0.9 - i / 400:.4f}" for i in range(300))
    words = f"trace --means {means} --clusters 1,299 --required 1,0 --algorithm butterscotch --delta 0.5"
    whole = printed(capsys, words)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "500")
    shown = printed(capsys, words)
    assert "... and 100 more events; a pipe or --json has all" in shown
    assert len(whole.splitlines()) == len(shown.splitlines()) + 99


@pytest.mark.landing
@pytest.mark.parametrize(
    ("name", "begins"), [("t.png", b"\x89PNG"), ("t.svg", b"<?xml"), ("t.PDF", b"%PDF")]
)
def test_trace_draws(name: str, begins: bytes, tmp_path: Path, capsys: Capture) -> None:
    """A file of the kind that its name says, and nothing beside it."""
    path = tmp_path / name
    shown = printed(capsys, f"trace --table-task 1 --plot '{path}'")
    assert f"drawn into {path}" in shown
    assert path.read_bytes().startswith(begins)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "trace --plot t.gif",
            "--plot t.gif does not end in .png, .svg, .pdf; give a name that does",
        ),
        (
            "trace --plot nowhere/t.png",
            "--plot nowhere/t.png: there is no folder nowhere; make it first",
        ),
        ("trace --plot .", "does not end in"),
        ("trace --replication -1", "--replication: replication is -1"),
        ("trace --replication 0.5", "'0.5' is not an integer"),
        ("trace --algorithm magic", "--algorithm magic is no algorithm"),
        ("trace --delta 2", "--delta: delta is 2.0"),
    ],
)
def test_bad_input(
    words: str, said: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One line with option, value and remedy; nothing is written."""
    monkeypatch.chdir(tmp_path)
    assert said in refused(capsys, words)
    assert list(tmp_path.iterdir()) == []
