"""`rai-sim merge`, and parts of `rai-sim study`."""

from pathlib import Path

import pytest
from command_line import Capture, document, printed, refused
from studies import small

import rai_sim as rai

FILE = """
algorithms = ["vanilla", "butterscotch"]
delta = 0.1
replications = 60
[[instances]]
table_task = 1
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with a study's file."""
    (tmp_path / "a.toml").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_parts_are_run_and_merged(
    here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each says how far it is; together they are the study."""
    said = printed(capsys, "study a.toml --part 1/2 --store one")
    assert said.startswith("part 1/2 is done; one holds 60 of 120 replications wanted")
    assert "rai-sim merge unites their folders" in said
    for name, value in (("ID", "6"), ("COUNT", "2"), ("MIN", "5"), ("MAX", "6")):
        monkeypatch.setenv(f"SLURM_ARRAY_TASK_{name}", value)
    assert printed(capsys, "study a.toml --part slurm --store two").startswith("part 2/2 is done; ")
    assert printed(capsys, "merge one two -o whole") == "2 tasks, 120 replications in whole\n"
    assert document(capsys, "merge one two --output again") == {
        "folder": "again",
        "tasks": 2,
        "replications": 120,
    }
    study = rai.Study.from_toml("a.toml")
    assert study.results("whole").summary().equals(study.run("alone").summary())
    # into a folder for all, the last part shows everything
    assert "Butterscotch" not in printed(capsys, "study a.toml --part 2/2")
    assert "Butterscotch(merging=True)" in printed(capsys, "study a.toml --part 1/2")


def test_what_cannot_be_merged(tmp_path: Path, capsys: Capture) -> None:
    """A line that says why and what to do; nothing is written."""
    a = small(5).run(tmp_path / "a").folder
    for words, said in (
        (f"{a}", "rai-sim: --output is missing; give the name of the new folder\n"),
        (f"{a} -o {a}", "is there already; give the name of a new folder"),
        (f"{a}-none -o {a}-new", "is no study's folder"),
        (f"-o {a}-new", "see rai-sim merge --help"),
    ):
        assert said in refused(capsys, f"merge {words}")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--part 3/2", "--part: part is 3/2; parts are counted from 1"),
        ("--part two", "--part: part is 'two'; give number and count of parts such as 3/16"),
        ("--part slurm", "--part: part is slurm, but SLURM_ARRAY_TASK_ID is not set"),
        ("--part 1/2 --verify", "--verify has no meaning with --part 1/2"),
        ("--part 1/2 --dry-run", "--dry-run has no meaning with --part 1/2"),
        ("--part 1/2 --output a.csv", "--output a.csv has no meaning with --part 1/2"),
    ],
)
def test_what_is_no_part_is_refused(
    here: Path, capsys: Capture, words: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is run."""
    monkeypatch.delenv("SLURM_ARRAY_TASK_ID", raising=False)
    assert refused(capsys, f"study a.toml {words}").startswith(f"rai-sim: {said}")
    assert [path.name for path in here.iterdir()] == ["a.toml"]
