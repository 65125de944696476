"""Estimates of what a study costs, against what it does cost."""

import math
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rai_sim as rai
from rai_sim.problem import Problem
from rai_sim.study import Study
from rai_sim.study.task import Task


def files_of(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.iterdir())


def random_problem(random: np.random.Generator) -> Problem:
    """Return arms at random, some of one gap, and what is asked of them."""
    n = int(random.integers(2, 10))
    gap = 10.0 ** random.uniform(-1.5, -0.5)
    means = np.clip(0.5 + gap * (np.arange(n) - n / 2) / math.sqrt(n), 0.01, 0.99)
    arms = rai.Bernoulli(np.sort(means)[::-1])
    return rai.top(arms, int(random.integers(1, n)))


def random_study(seed: int, tasks: int) -> list[Study]:
    """Return studies of one task each, to a number of replications, a precision, or until the error
    rate is known."""
    random, studies = np.random.default_rng(seed), list[Study]()
    while len(studies) < tasks:
        algorithm = (rai.Vanilla(), rai.Butterscotch(), rai.LUCB())[random.integers(3)]
        delta = float(10.0 ** random.uniform(-2.0, -0.7))
        wanted: dict[str, Any] = (
            {"replications": int(10.0 ** random.uniform(2.0, 3.7))},
            {"precision": float(10.0 ** random.uniform(-2.0, -1.0))},
            {"until": "error rate"},
        )[random.integers(3)]
        grid = Study.grid([random_problem(random)], [algorithm], [delta], **wanted)
        name = f"task {len(studies)}"
        studies.append(Study([Task(name, grid.tasks[0].experiment)], **wanted))
    return studies


@pytest.mark.slow
def test_estimates_of_random_tasks(tmp_path: Path) -> None:
    """Of 50 tasks at least nine tenths within a factor of two, in pulls, in bytes and, on this
    machine, in seconds; so is what they come to in all. Negative control: taking the first look for
    the whole, or one replication's pulls at a tenth of the gap for another's, does not."""
    ratios = []
    for at, study in enumerate(random_study(2026, 50)):
        estimate = study.estimate()
        results = study.run(tmp_path / str(at))
        (row,), frame = estimate.rows, results.summary()
        assert not row.at_least
        run, count = row.task.experiment, frame["replications"].item()
        began = time.thread_time()  # of this thread alone: the machine may be busy
        whole = rai.simulate(
            run.problem, run.algorithm, delta=run.delta, replications=count, seed=run.seed
        )
        worked = time.thread_time() - began
        written = files_of(tmp_path / str(at))
        ratios.append(
            (
                row.pulls / whole.pulls.sum(),
                estimate.disk_bytes / written,
                row.seconds / worked,
                row.left / count,
                whole.pulls.sum(),
                worked,
            )
        )
    table = np.array(ratios)
    if os.environ.get("RAI_SIM_SHOW"):
        print(np.array2string(table, precision=3, suppress_small=True, threshold=10_000))
    within = ((table[:, :3] >= 0.5) & (table[:, :3] <= 2.0)).mean(axis=0)
    assert (within >= 0.9).all(), within
    for column, weight in ((0, 4), (2, 5)):
        told = (table[:, column] * table[:, weight]).sum() / table[:, weight].sum()
        assert 0.5 < told < 2.0
