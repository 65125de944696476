"""What tests of studies in files share."""

from pathlib import Path

from rai_sim.study import Study

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
