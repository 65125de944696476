"""The study that `plot` and `report` are given: its names, its tasks, and every refusal."""

from pathlib import Path

import pytest
from command_line import Capture, refused, run

from rai_sim.cli.results import beside


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


@pytest.mark.parametrize("verb", ["report", "plot", "export"])
@pytest.mark.parametrize("lost", ["*.parquet", "tasks-*", "instances-*"])
@pytest.mark.filterwarnings("ignore::rai_sim.study.StoreWarning")
def test_a_folder_without_tasks(verb: str, lost: str, file: Path, capsys: Capture) -> None:
    """Whatever of it was lost."""
    folder = file.with_suffix(".study")
    for path in folder.glob(lost):
        path.unlink()
    run(f"{verb} {folder}", expect=2)
    said = capsys.readouterr().err.splitlines()
    assert said[-1].endswith(
        "holds no task that can be read; run its study into it again, or give another folder"
    )
    assert len(said) == {"*.parquet": 1, "tasks-*": 2, "instances-*": 9}[lost]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("plot none.study", "none.study"),
        ("plot STUDY --format gif", "--format gif is no kind of figure; choose png, svg, pdf"),
        ("plot STUDY -o STUDY", "is a file; give a folder"),
        ("plot STUDY -o nowhere/figures", "there is no folder nowhere; make it first"),
        ("report STUDY -o .", "--output . is a folder; give the name of a file"),
        ("report STUDY -o nowhere/r.html", "there is no folder nowhere; make it first"),
        ("report STUDY --store nowhere", "run rai-sim study"),
        ("report STUDY -o STUDY", "ends in none of .html, .htm; give a name that does"),
        ("report STUDY -o FOLDER/r.html", "lies among the study's results in"),
        ("plot STUDY -o FOLDER/figures", "lies among the study's results in"),
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
