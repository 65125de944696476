"""What exponents and ratios are read from, run once."""

import pytest

import rai_sim as rai
from rai_sim.scaling import over_delta, over_gap
from rai_sim.study import StudyResults


@pytest.fixture(scope="session")
def deltas(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    """Four deltas, the paper's algorithms."""
    study = over_delta(deltas=[0.1, 1e-3, 1e-10, 1e-100], replications=40)
    return study.run(tmp_path_factory.mktemp("deltas") / "store")


@pytest.fixture(scope="session")
def gaps(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    """Five gaps and two algorithms."""
    study = over_gap(
        gaps=[0.2, 0.05, 0.01, 1e-3, 1e-4],
        algorithms=[rai.Vanilla(), rai.Butterscotch()],
        replications=100,
    )
    return study.run(tmp_path_factory.mktemp("gaps") / "store")
