"""What `scaling` prints of a short study."""

from pathlib import Path

import pytest

import rai_sim as rai
from rai_sim.cli.scaling_tables import scaling_document, scaling_text
from rai_sim.scaling import fit
from rai_sim.study import StudyResults


def study(deltas: list[float]) -> rai.Study:
    """Return a short study along delta."""
    problem = rai.best_arm(rai.Bernoulli([0.9, 0.1]))
    return rai.scaling.over_delta(
        problem, deltas=deltas, algorithms=[rai.Butterscotch()], replications=10
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    """Return results of three points."""
    return study([0.1, 0.01, 0.001]).run(tmp_path_factory.mktemp("deltas") / "store")


def test_tables_stand_below_their_instance(
    results: StudyResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line each for the fit and for every point; the legend and how far it is end the text."""
    monkeypatch.setenv("COLUMNS", "200")
    lines = scaling_text(results, "delta").splitlines()
    assert lines[0] == results.tasks[0].instance
    exponents, points = (at for at, line in enumerate(lines) if line.startswith("algorithm"))
    assert f"{fit(results)['exponent'].item():.3f}" in lines[exponents + 2]
    for line, delta in zip(lines[points + 2 : points + 5], ("0.1", "0.01", "0.001"), strict=True):
        assert line.split()[:2] == ["Butterscotch(merging=True)", delta]
    assert lines[-1].startswith("30 of 30 replications of 3 tasks are in ")


def test_the_document_has_what_the_tables_have(results: StudyResults) -> None:
    """With what the verb adds."""
    found = scaling_document(results, "delta", rerun="again")
    assert (found["against"], found["rerun"]) == ("delta", "again")
    assert (found["replications"], found["wanted"]) == (30, 30)
    assert (len(found["fits"]), len(found["local_exponents"])) == (1, 2)
    assert [row["at"] for row in found["efficiency"]] == [0.1, 0.01, 0.001]


def test_a_document_without_fits(tmp_path: Path) -> None:
    """Of one point, as of a run that was interrupted early, there is no exponent yet."""
    found = scaling_document(study([0.1]).run(tmp_path / "store"), "delta")
    assert (found["fits"], found["local_exponents"]) == ([], [])
    assert len(found["efficiency"]) == 1
