"""What is run for figures, once."""

from collections.abc import Iterator

import pytest
from figures import ALGORITHMS, STUDY

import rai_sim as rai
from rai_sim.scaling import over_delta
from rai_sim.study import StudyResults


@pytest.fixture(autouse=True)
def headless() -> Iterator[None]:
    """Pictures without a screen, and no figure left open."""
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


@pytest.fixture(scope="session")
def runs() -> list[rai.Result]:
    """Four variants on one problem."""
    return [
        rai.simulate(rai.table_problem(task=2), algorithm, replications=300, seed=0)
        for algorithm in ALGORITHMS
    ]


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    """45 tasks in which delta, the gap and the number of arms vary."""
    folder = tmp_path_factory.mktemp("study")
    file = folder / "study.toml"
    file.write_text(STUDY)
    return rai.Study.from_toml(file).run(folder / "store")


@pytest.fixture(scope="session")
def deltas(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    """From delta 0.1 to 1e-100, the paper's algorithms."""
    return over_delta(replications=100).run(tmp_path_factory.mktemp("deltas") / "store")
