"""BatchedTrackAndStop against its literal twin, its options, and what it takes."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest
from adaptive import different, instances

import rai_sim as rai
from rai_sim.algorithms.text import algorithm_from_text, algorithm_to_text

VARIANTS = [
    rai.BatchedTrackAndStop(),
    rai.BatchedTrackAndStop(threshold="gk16-unproven"),
    rai.BatchedTrackAndStop(growth=1.5),
    rai.BatchedTrackAndStop(growth=1.0001),
]


# The kernel of recordings is compiled for these alone; the law of pulls is a quick test's.
@pytest.mark.slow
@pytest.mark.parametrize(
    "algorithm",
    [pytest.param(VARIANTS[0], marks=pytest.mark.boundscheck), *VARIANTS[1:]],
    ids=str,
)
def test_replay(algorithm: rai.BatchedTrackAndStop) -> None:
    """60 recordings of up to five arms, the twin being told the shares: pulls, rounds, outputs,
    settle rounds."""
    assert different(algorithm, instances(6, 60)) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong",
    [{"factor": 1.1}, {"factor": 0.9}, {"even": 0.2}, {"growth": 1.11}],
    ids=["late", "early", "exploration", "growth"],
)
@pytest.mark.parametrize("algorithm", VARIANTS[:2], ids=str)
def test_a_wrong_twin_is_told(algorithm: rai.BatchedTrackAndStop, wrong: dict[str, Any]) -> None:
    """Negative controls: a threshold off by a tenth, other batches."""
    assert len(different(algorithm, instances(6, 60), **wrong)) > 3


def test_texts_and_labels() -> None:
    """An algorithm of files and of the command line."""
    found = algorithm_from_text("batchedtrackandstop:growth=1.2")
    assert found == rai.BatchedTrackAndStop(growth=1.2)
    assert algorithm_from_text(algorithm_to_text(VARIANTS[1])) == VARIANTS[1]
    assert found.label == "BatchedTrackAndStop(growth=1.2, threshold='pairs')"


@pytest.mark.parametrize("growth", [1.0, 0.9, 10.1, -2.0])
def test_a_growth_that_is_refused(growth: float) -> None:
    """With what to give instead."""
    with pytest.raises(
        ValueError, match=rf"growth is {growth}; give a number above 1 and at most 10"
    ):
        rai.BatchedTrackAndStop(growth=growth)


def test_what_else_is_refused() -> None:
    """Growths that are no numbers, thresholds that are none, and many arms."""
    text: Any = "fast"
    with pytest.raises(TypeError, match="growth"):
        rai.BatchedTrackAndStop(growth=text)
    with pytest.raises(ValueError, match="growth"):
        rai.BatchedTrackAndStop(growth=math.inf)
    with pytest.raises(
        ValueError, match=r"BatchedTrackAndStop: threshold must be 'pairs' or .*; got 'fast'"
    ):
        rai.BatchedTrackAndStop(threshold=text)
    problem = rai.best_arm(rai.Bernoulli(np.linspace(0.9, 0.1, 201)))
    with pytest.raises(ValueError, match=r"problem has 201 arms; .* for 200 arms at most: take"):
        rai.simulate(problem, rai.BatchedTrackAndStop(), replications=1)


def test_a_gap_of_a_ten_thousandth_is_fast() -> None:
    """Best of five: billions of pulls, at delta 1e-100 also, in under 50 ms a replication of
    processor time; all are right."""
    problem = rai.best_arm(rai.Bernoulli([0.5, 0.4999, 0.4998, 0.4997, 0.4996]))
    algorithm = rai.BatchedTrackAndStop()
    rai.simulate(problem, algorithm, replications=1)
    for delta in (0.01, 1e-100):
        began = time.process_time()
        run = rai.simulate(problem, algorithm, delta=delta, replications=20, seed=1)
        assert time.process_time() - began < 20 * 0.05
        assert run.correct.all()
        line = rai.bounds.practical(problem, delta, "pairs")
        assert 0.8 * line < run.pulls.mean() < 1.3 * line


@pytest.mark.slow
@pytest.mark.parametrize(("task", "mean"), [(1, 436.0), (2, 7_032.0), (4, 8_409.0)])
def test_pulls(task: int, mean: float) -> None:
    """Those of a prototype with GK16 at delta 0.01, or fewer; 5 % and two standard errors."""
    run = rai.simulate(
        rai.table_problem(task=task), VARIANTS[1], delta=0.01, replications=1500, seed=1
    )
    error = run.summary().standard_error
    assert 0.85 * mean < run.pulls.mean() < 1.05 * mean + 2.0 * error
    assert error < 0.03 * mean
