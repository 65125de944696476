"""What verbs are tried on."""

from pathlib import Path

import pytest

import rai_sim as rai

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


FORMULA = """
algorithms = ["butterscotch"]
delta = [0.1, 0.01]
replications = 20
[[instances]]
name = "=1+1, two arms with δ → 0"
means = [0.9, 0.1]
problem = "best_arm"
"""


@pytest.fixture
def formula(tmp_path: Path) -> Path:
    """Return the file of a study that was run, whose instance has a name like a formula."""
    path = tmp_path / "two.toml"
    path.write_text(FORMULA, encoding="utf-8")
    rai.Study.from_toml(path).run(tmp_path / "two.study")
    return path
