"""A study's tasks as lines."""

import math
from pathlib import Path

import pytest

import rai_sim as rai
from rai_sim.scaling.lines import lines_of
from rai_sim.study import StudyResults


def test_a_line_an_algorithm_easiest_first(deltas: StudyResults, gaps: StudyResults) -> None:
    """Falling deltas and gaps; pulls are powers of what grows."""
    lines = lines_of(deltas)
    assert [line.algorithm for line in lines] == [
        "Vanilla(merging=True)",
        "Butterscotch(merging=True)",
        "LUCB(as_printed=False)",
    ]
    for line in lines:
        assert [point.at for point in line.points] == [0.1, 1e-3, 1e-10, 1e-100]
        assert [line.x(point) for point in line.points] == pytest.approx(
            [n * math.log(10.0) for n in (1, 3, 10, 100)]
        )
        assert (line.against, line.variable) == ("delta", "ln(1/delta)")
        assert line.instance == "10 Bernoulli arms, clusters 3,5,2, required 3,0,0"
    (vanilla, _) = lines_of(gaps)
    assert [vanilla.x(point) for point in vanilla.points] == pytest.approx([5, 20, 100, 1e3, 1e4])
    assert vanilla.instance == "2 Bernoulli arms, clusters 1,1, required 1,0"
    assert vanilla.variable == "1/gap"


def test_rows_are_those_of_the_tasks(gaps: StudyResults) -> None:
    """Each point has its own mean."""
    for line in lines_of(gaps, "gap"):
        for point in line.points:
            assert point.row["pulls_mean"] == gaps.result(point.task).pulls.mean()
            assert point.whole


def test_what_varies_must_be_clear(deltas: StudyResults, tmp_path: Path) -> None:
    """One thing beside the algorithm, or one that is named; the others make lines."""
    with pytest.raises(ValueError, match="against is None, but nothing varies"):
        lines_of(deltas.select(delta=0.1))
    study = rai.scaling.over_gap(
        gaps=[0.4, 0.2], delta=0.1, algorithms=[rai.Vanilla()], replications=10
    )
    other = rai.scaling.over_gap(
        gaps=[0.4, 0.2], delta=0.01, algorithms=[rai.Vanilla()], replications=10
    )
    study.run(tmp_path / "store")
    both = other.run(tmp_path / "store") and rai.open_study(tmp_path / "store")
    with pytest.raises(ValueError, match="against is None, but delta, gap vary among the tasks"):
        lines_of(both)
    assert [len(line.points) for line in lines_of(both, "gap")] == [2, 2]
    assert [len(line.points) for line in lines_of(both, "delta")] == [2, 2]
    with pytest.raises(ValueError, match=r"against is 'k', which instance .* has no number for"):
        lines_of(both, "k")


def test_a_place_holds_one_experiment(tmp_path: Path) -> None:
    """Two instances of as many arms are no two points of one line."""
    means = ([0.9, 0.5], [0.8, 0.5])
    study = rai.Study.grid(
        [rai.best_arm(rai.Bernoulli(one)) for one in means], [rai.Vanilla()], [0.1], replications=10
    )
    results = study.run(tmp_path / "store")
    with pytest.raises(ValueError, match=r"two experiments of Vanilla.* at n = 2"):
        lines_of(results, "n")


def test_other_results_are_refused(deltas: StudyResults) -> None:
    """Bare results, and an axis that is no text."""
    with pytest.raises(TypeError, match="results is of type Result; give a study's results"):
        lines_of(deltas.result(deltas.tasks[0]))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="against is 3; give 'delta'"):
        lines_of(deltas, 3)  # type: ignore[arg-type]
