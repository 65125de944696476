"""What tests of studies in files share."""

from pathlib import Path

import pytest

from rai_sim.study import Study
from rai_sim.study.file_values import StudyFileError

#: One instance, one algorithm.
GOOD = """
algorithms = ["vanilla"]
replications = 10

[[instances]]
name = "two arms"
means = [0.9, 0.5]
clusters = [1, 1]
required = [1, 0]
"""
#: One instance, swept over two of its keys.
SWEEP = """
algorithms = ["vanilla", "butterscotch"]
replications = 10
[[instances]]
name = "top"
family = "linear_gaps"
n = [4, 8]
problem = "top"
k = [1, 2, "50%"]
"""


def study_of(folder: Path, text: str) -> Study:
    """Return the study of a text."""
    path = folder / "study.toml"
    path.write_text(text)
    return Study.from_toml(path)


def check_refused(folder: Path, old: str, new: str, message: str) -> None:
    """Check that `GOOD` with `new` in the place of `old` is refused so, and nothing written."""
    assert old in GOOD
    with pytest.raises(StudyFileError, match=message):
        study_of(folder, GOOD.replace(old, new))
    assert [path.name for path in folder.iterdir()] == ["study.toml"]
