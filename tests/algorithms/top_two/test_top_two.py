"""TopTwo against its literal twin, its options, and what it takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from adaptive import different, instances, wide

import rai_sim as rai
from rai_sim.algorithms.text import algorithm_from_text, algorithm_to_text

BOTH = [rai.TopTwo(), rai.TopTwo(threshold="gk16-unproven")]


@pytest.mark.parametrize("algorithm", BOTH, ids=str)
def test_replay(algorithm: rai.TopTwo) -> None:
    """75 recordings of up to five arms: pulls, rounds, outputs, settle rounds."""
    assert different(algorithm, instances(5, 60) + wide(6, 15)) == []


@pytest.mark.landing
@pytest.mark.parametrize(
    "wrong", [{"factor": 1.1}, {"factor": 0.9}, {"inside": True}], ids=["late", "early", "inside"]
)
def test_a_wrong_twin_is_told(wrong: dict[str, Any]) -> None:
    """Negative controls: a threshold off by a tenth, and arms pulled that need not be beaten."""
    assert len(different(rai.TopTwo(), wide(6, 15), **wrong)) > 3


@pytest.mark.landing
def test_a_wrong_gk16_is_told() -> None:
    """Negative control."""
    assert len(different(BOTH[1], instances(5, 40), factor=1.1)) > 10


def test_texts_and_labels() -> None:
    """An algorithm of files and of the command line."""
    assert algorithm_from_text("toptwo") == rai.TopTwo()
    assert algorithm_from_text("toptwo:threshold=gk16-unproven") == BOTH[1]
    assert algorithm_from_text(algorithm_to_text(BOTH[1])) == BOTH[1]
    assert BOTH[1].label == "TopTwo(threshold='gk16-unproven')"


def test_what_is_refused() -> None:
    """Thresholds that are none, and many arms, which a remedy follows."""
    unknown: Any = "gk16"
    with pytest.raises(ValueError, match=r"TopTwo: threshold must be 'pairs' or .*; got 'gk16'"):
        rai.TopTwo(threshold=unknown)
    problem = rai.best_arm(rai.Bernoulli(np.linspace(0.9, 0.1, 101)))
    with pytest.raises(ValueError, match=r"problem has 101 arms; .* for 100 arms at most: take"):
        rai.simulate(problem, rai.TopTwo(), replications=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("threshold", "task", "mean", "replications"),
    [
        ("gk16-unproven", 1, 345.0, 4000),
        ("gk16-unproven", 2, 5_077.0, 2000),
        ("pairs", 1, 695.0, 4000),
        ("pairs", 2, 13_448.0, 1000),
    ],
)
def test_pulls(threshold: Any, task: int, mean: float, replications: int) -> None:
    """Within 5 % of what a prototype took, plus two standard errors; delta 0.01."""
    run = rai.simulate(
        rai.table_problem(task=task),
        rai.TopTwo(threshold=threshold),
        delta=0.01,
        replications=replications,
        seed=1,
    )
    error = run.summary().standard_error
    assert abs(run.pulls.mean() - mean) < 0.05 * mean + 2.0 * error
    assert error < 0.02 * mean
