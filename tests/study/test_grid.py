"""Studies made of grids, and what they cannot be run with."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from studies import grid, pairs, unsorted

import rai_sim as rai
from rai_sim.study import Study


def test_what_cannot_be_run_with(tmp_path: Path) -> None:
    """It is refused before the folder is made."""
    nowhere = tmp_path / "nowhere"
    with pytest.raises(ValueError, match="n_jobs is 0"):
        grid().run(nowhere, n_jobs=0)
    with pytest.raises(TypeError, match="progress must be True, False or None"):
        grid().run(nowhere, progress=3)  # type: ignore[arg-type]
    assert not nowhere.exists()


def test_a_grid_is_in_the_order_of_its_arguments() -> None:
    """Instances, in them algorithms, in them deltas; instances without names are described."""
    study = unsorted(0.4, 0.05)
    assert [task.label for task in study.tasks] == [
        f"gap {gap}, {algorithm}(merging=True), delta {delta}"
        for gap in (0.4, 0.05)
        for algorithm in ("Vanilla", "Butterscotch")
        for delta in (0.01, 0.1)
    ]
    named = Study.grid(pairs(0.4, 0.05).values(), [rai.Vanilla()], [0.1])
    assert [task.instance for task in named.tasks] == [
        f"instance {number}: 2 arms, clusters (1, 1), required (1, 0)" for number in (1, 2)
    ]


def test_several_caps_are_several_tasks() -> None:
    """In their order, within each delta; none is a cap, too; no cap at all is refused."""
    problem = rai.best_arm(rai.Bernoulli([0.9, 0.1]))
    study = Study.grid([problem], [rai.Vanilla()], [0.1, 0.01], max_pulls=(100, None, 1000))
    found = [(task.experiment.delta, task.experiment.max_pulls) for task in study.tasks]
    assert found == [(delta, cap) for delta in (0.1, 0.01) for cap in (100, None, 1000)]
    several: tuple[tuple[Any, int], ...] = (
        (iter([100, None, 1000]), 3),
        (np.array([100, 200]), 2),
        (np.array(100), 1),
        (7, 1),
    )
    for given, number in several:
        tasks = Study.grid([problem], [rai.Vanilla()], [0.1], max_pulls=given).tasks
        assert len(tasks) == number
    for wrong in ("5", object(), 1.5):
        with pytest.raises(TypeError, match="max_pulls must be an integer; got"):
            Study.grid([problem], [rai.Vanilla()], [0.1], max_pulls=wrong)  # type: ignore[arg-type]
    for caps, words in (((), "max_pulls is empty"), ((100, 0), "max_pulls is 0")):
        with pytest.raises(ValueError, match=words):
            Study.grid([problem], [rai.Vanilla()], [0.1], max_pulls=caps)
    with pytest.raises(ValueError, match="the same task twice"):
        Study.grid([problem], [rai.Vanilla()], [0.1], max_pulls=(100, 100))


@pytest.mark.parametrize(
    ("value", "written"), [(1e3, "1000"), (np.float64(20.0), "20"), (3e0, "3")]
)
def test_a_whole_number_that_is_no_integer(value: object, written: str) -> None:
    """The message says how to write it; what is no whole number has no such remedy."""
    problem = pairs(0.4)["gap 0.4"]
    for name in ("replications", "max_pulls", "seed", "first_replication"):
        with pytest.raises(
            TypeError, match=rf"^{name} must be an integer; got .*; write {written}$"
        ):
            rai.simulate(problem, rai.Butterscotch(), **{name: value})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=rf"write {written}"):
        unsorted(0.4, replications=value)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^replications must be an integer; got 2\.5$"):
        rai.simulate(problem, rai.Butterscotch(), replications=2.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=rf"; write {written}"):
        rai.top(rai.Bernoulli(np.linspace(0.1, 0.9, 2000)), value)  # type: ignore[arg-type]
