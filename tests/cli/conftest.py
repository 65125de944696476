"""What verbs are tried on."""

import shutil
from pathlib import Path

import pytest

import rai_sim as rai
from rai_sim.plotting import choice

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


def _run_once(folder: Path, name: str, text: str) -> Path:
    """Run a study into a folder, to be copied; return the folder."""
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    rai.Study.from_toml(path).run(folder / f"{name}.study")
    return folder


@pytest.fixture(scope="session")
def gaps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of `file`."""
    return _run_once(tmp_path_factory.mktemp("gaps"), "gaps", STUDY)


@pytest.fixture
def file(gaps: Path, tmp_path: Path) -> Path:
    """Return the file of a study that was run."""
    return shutil.copytree(gaps, tmp_path, dirs_exist_ok=True) / "gaps.toml"


@pytest.fixture
def one_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let reports draw the first of their figures alone: for tests of what is around them."""
    chosen = choice.choose
    monkeypatch.setattr(choice, "choose", lambda *given, **options: chosen(*given, **options)[:1])


FORMULA = """
algorithms = ["butterscotch"]
delta = [0.1, 0.01]
replications = 20
[[instances]]
name = "=1+1, two arms with δ → 0"
means = [0.9, 0.1]
problem = "best_arm"
"""


@pytest.fixture(scope="session")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of `formula`."""
    return _run_once(tmp_path_factory.mktemp("formula"), "two", FORMULA)


@pytest.fixture
def formula(two: Path, tmp_path: Path) -> Path:
    """Return the file of a study that was run, whose instance has a name like a formula."""
    return shutil.copytree(two, tmp_path, dirs_exist_ok=True) / "two.toml"
