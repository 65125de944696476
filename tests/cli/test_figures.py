"""The commands `trace`, `plot` and `report`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import ROOT, Capture, document, printed, refused

import rai_sim as rai
from rai_sim.cli.results import beside

STUDY = """
algorithms = ["vanilla", "lucb"]
delta = [0.1, 0.01]
replications = 20
[[instances]]
name = "two arms"
family = "evenly_spaced"
n = 2
middle = 0.5
gap = [0.8, 0.4]
problem = "best_arm"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return the file of a study that was run."""
    path = tmp_path / "gaps.toml"
    path.write_text(STUDY)
    rai.Study.from_toml(path).run(tmp_path / "gaps.study")
    return path


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


def test_trace_of_many_events_is_cut(capsys: Capture) -> None:
    """200 lines, and a word of the others."""
    means = ",".join(f"{0.9 - i / 400:.4f}" for i in range(300))
    shown = printed(
        capsys,
        f"trace --means {means} --clusters 1,299 --required 1,0 --algorithm butterscotch --delta 0.5",
    )
    assert "... and 100 more events; --json lists all" in shown


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


def test_plot_draws_what_suits(file: Path, capsys: Capture) -> None:
    """From the file or the folder, a line for every picture."""
    lines = printed(capsys, f"plot '{file}'").splitlines()
    folder = file.with_suffix(".figures")
    names = sorted(path.name for path in folder.iterdir())
    assert len(lines) == len(names)
    assert {
        "pulls-against-delta.png",
        "pulls-against-gap.png",
        "ratios.png",
        "distribution.png",
        "histogram.png",
    } <= set(names)
    assert lines[0].startswith(
        f"{folder / 'pulls-against-delta.png'}  two arms, gap = 0.8: mean pulls against the error "
        "probability"
    )
    printed(capsys, f"plot '{file.with_suffix('.study')}' -o '{file.parent / 'else'}' --format svg")
    assert sorted(path.name for path in (file.parent / "else").iterdir()) == [
        name.replace(".png", ".svg") for name in names
    ]


def test_select_and_all(file: Path, capsys: Capture) -> None:
    """Only the tasks asked for, in figures and reports; and all figures, not three of a kind."""
    folder = file.parent / "some"
    chosen = "--select instance='*gap = 0.4' --select delta=0.01 --select algorithm=vanilla:merging=true --select algorithm=LUCB"
    lines = printed(capsys, f"plot '{file}' -o '{folder}' {chosen}").splitlines()
    assert [
        line.partition("  ")[2].partition(":")[0] for line in lines if "distribution." in line
    ] == ["two arms, gap = 0.4, δ = 0.01"]
    assert not [line for line in lines if "gap = 0.8" in line or "δ = 0.1:" in line]
    few = printed(capsys, f"plot '{file}' -o '{file.parent / 'few'}' --format svg").splitlines()
    everything = printed(
        capsys, f"plot '{file}' -o '{file.parent / 'all'}' --format svg --all"
    ).splitlines()
    assert len([line for line in few if "/distribution" in line]) == 2
    assert len([line for line in everything if "/distribution" in line]) == 4
    page = file.parent / "some.html"
    printed(
        capsys,
        f"report '{file.with_suffix('.study')}' -o '{page}' --select delta=0.1 --select "
        "'instance=two arms, gap = 0.8' --all",
    )
    assert ">two arms, gap = 0.8<" in page.read_text(encoding="utf-8")
    assert ">two arms, gap = 0.4<" not in page.read_text(encoding="utf-8")


def test_report_writes_a_page(file: Path, capsys: Capture) -> None:
    """Beside the study unless told otherwise; with the file's text where there is one."""
    assert printed(capsys, f"report '{file}'").strip() == str(file.with_suffix(".html"))
    page = file.with_suffix(".html").read_text(encoding="utf-8")
    assert "<h1>gaps</h1>" in page
    assert "gap = [0.8, 0.4]" in page
    other = file.parent / "r.html"
    printed(capsys, f"report '{file.with_suffix('.study')}' -o '{other}' --title 'A study'")
    assert "<h1>A study</h1>" in other.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("study", "page"),
    [
        ("gaps.toml", "gaps.html"),
        ("gaps.study", "gaps.html"),
        ("delta-0.05", "delta-0.05.html"),
        ("a.b/delta-0.01", "a.b/delta-0.01.html"),
    ],
)
def test_default_names_keep_what_tells_studies_apart(study: str, page: str) -> None:
    """Dots in a folder's name are no suffix."""
    assert beside(Path(study), ".html") == Path(page)


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
        ("plot none.study", "none.study"),
        ("plot STUDY --format gif", "--format gif is no kind of figure; choose png, svg, pdf"),
        ("plot STUDY -o STUDY", "is a file; give a folder"),
        ("plot STUDY -o nowhere/figures", "there is no folder nowhere; make it first"),
        ("report STUDY -o .", "--output . is a folder; give the name of a file"),
        ("report STUDY -o nowhere/r.html", "there is no folder nowhere; make it first"),
        ("report STUDY --store nowhere", "run rai-sim study"),
        ("report STUDY -o STUDY", "is part of the study; give another name"),
        ("report STUDY -o FOLDER/r.html", "is part of the study; give another name"),
        ("plot STUDY -o FOLDER/figures", "is part of the study; give another name"),
        ("report FOLDER --store FOLDER", "--store"),
        ("report .", "is no study's folder"),
        (
            "plot STUDY --select gap=0.1",
            "--select gap=0.1: write instance=NAME, algorithm=NAME or delta=NUMBER",
        ),
        ("plot STUDY --select delta", "--select delta: write instance=NAME"),
        ("plot STUDY --select instance=", "--select instance=: write instance=NAME"),
        (
            "plot STUDY --select delta=small",
            "--select delta=small: 'small' is not a number; give one such as 0.01",
        ),
        (
            "plot STUDY --select delta=0.5",
            "--select: delta is 0.5, which no task has; there are 0.1, 0.01",
        ),
        ("plot STUDY --select delta=7", "--select: delta is 7.0; it must be"),
        (
            "report STUDY --select instance=three*",
            "there are 'two arms, gap = 0.8', 'two arms, gap = 0.4'",
        ),
        (
            "report STUDY --select algorithm=magic",
            "algorithm is 'magic', which no task has; there are Vanilla(merging=True), LUCB(",
        ),
        ("report STUDY --select algorithm=vanilla:speed=3", "there is no option 'speed'"),
    ],
)
def test_bad_input(
    words: str,
    said: str,
    file: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """One line with option, value and remedy; nothing is written."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    words = words.replace("STUDY", str(file)).replace("FOLDER", str(file.with_suffix(".study")))
    assert said in refused(capsys, words)
    assert list((tmp_path / "here").iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gaps.study", "gaps.toml", "here"]


@pytest.mark.parametrize("words", ["trace --plot t.png", "plot {}", "report {}"])
def test_without_matplotlib(words: str, file: Path) -> None:
    """Exit code 2 and one line that names the extra; the events alone need nothing."""
    code = "import sys; sys.modules['matplotlib'] = None; from rai_sim.cli import main; sys.exit(main(sys.argv[1:]))"

    def run(arguments: list[str]) -> "subprocess.CompletedProcess[str]":
        environment = dict(os.environ, PYTHONPATH=ROOT)
        command = [sys.executable, "-c", code, *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, cwd=file.parent, env=environment, check=False
        )

    done = run(words.format(file).split())
    assert done.returncode == 2
    assert (
        done.stderr
        == "rai-sim: plots need matplotlib, which is not installed: pip install 'rai_sim[plot]'\n"
    )
    assert done.stdout == ""
    assert sorted(path.name for path in file.parent.iterdir()) == ["gaps.study", "gaps.toml"]
    if words.startswith("trace"):
        assert json.loads(run(["trace", "--json"]).stdout)["pulls"] > 0
