"""The verb `plot`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import ROOT, Capture, printed, refused


@pytest.mark.slow
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


@pytest.mark.slow
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


def test_columns_of_a_paper(formula: Path, capsys: Capture) -> None:
    """Pictures are as wide as one column, at 150 dots an inch; other numbers are refused."""
    folder = formula.parent / "paper"
    printed(capsys, f"plot '{formula}' -o '{folder}' --columns 1 --select delta=0.1")
    pictures = sorted(folder.iterdir())
    assert pictures
    assert {int.from_bytes(path.read_bytes()[16:20], "big") for path in pictures} == {487}
    said = refused(capsys, f"plot '{formula}' --columns 3")
    assert said == "rai-sim: --columns 3 is no number of columns that a figure spans; give 1 or 2\n"


def test_a_study_without_figures_says_so(tmp_path: Path, capsys: Capture) -> None:
    """All capped, at one cap: exit code 2, the reason, and no folder."""
    file = tmp_path / "one.toml"
    file.write_text(
        'algorithms = ["vanilla"]\ndelta = 0.1\nreplications = 5\nmax_pulls = 20\n'
        'instances = [{name = "a", table_task = 2}]\n'
    )
    printed(capsys, f"study '{file}'")
    said = refused(capsys, f"plot '{file}'")
    assert said.startswith("rai-sim: results has no finished replication, and no two caps on one")
    assert not file.with_suffix(".figures").exists()


@pytest.mark.landing
@pytest.mark.parametrize(
    "words", ["trace --plot t.png", "plot {}", pytest.param("report {}", marks=pytest.mark.slow)]
)
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
