"""What tests of studies share."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from clock import Clock

import rai_sim as rai
from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.faults import STOPPED
from rai_sim.engine.stop import PULLS, REPLICATION
from rai_sim.problem import Problem
from rai_sim.study import Study, Task

PROBLEMS = {"easy": rai.table_problem(task=1), "two": rai.best_arm(rai.Gaussian([0.7, 0.4]))}


def grid(**options: Any) -> Study:
    """Return a study of eight tasks."""
    algorithms = [rai.Vanilla(), rai.Vanilla(merging=False)]
    return Study.grid(PROBLEMS, algorithms, [0.1, 0.01], **options)


def small(replications: int = 40, keep: str = "replications") -> Study:
    """Return a study of four tasks."""
    instances = {f"task {k}": rai.table_problem(task=k) for k in (1, 2)}
    return Study.grid(
        instances, [rai.Vanilla(), rai.Butterscotch()], [0.1], replications=replications, keep=keep
    )


def pairs(*gaps: float) -> dict[str, Problem]:
    """Return pairs of arms, named so that the alphabet is not their order."""
    return {
        f"gap {gap}": rai.best_arm(rai.Bernoulli([0.5 + gap / 2, 0.5 - gap / 2])) for gap in gaps
    }


def unsorted(*gaps: float, deltas: tuple[float, ...] = (0.01, 0.1), replications: int = 5) -> Study:
    """Return a study of pairs whose instances, algorithms and deltas stand in no sorted order."""
    return Study.grid(
        pairs(*gaps), [rai.Vanilla(), rai.Butterscotch()], deltas, replications=replications
    )


def for_clusters() -> Study:
    """Return a study of two tasks of Vanilla, whose kernel other tests have compiled."""
    instances = {f"task {k}": rai.table_problem(task=k) for k in (1, 2)}
    return Study.grid(instances, [rai.Vanilla()], [0.01], replications=3000)


def simulated(task: Task, replications: int) -> rai.Result:
    """Return what simulate gives for a task."""
    run = task.experiment
    return rai.simulate(
        run.problem,
        run.algorithm,
        delta=run.delta,
        replications=replications,
        seed=run.seed,
        skip_error=run.skip_error,
        max_pulls=run.max_pulls,
    )


def values(folder: Path) -> list[tuple[Any, ...]]:
    """Return all stored rows, sorted, read by polars alone."""
    return pl.read_parquet(folder / "replications-*.parquet").sort("task", "replication").rows()


def parts(folder: Path) -> list[Path]:
    """Return the parts with rows."""
    return sorted(folder.glob("replications-*.parquet"))


CLOCK = Clock()


@dataclass(frozen=True)
class Endless(Algorithm):
    """Takes 10 + i pulls in replication i, but in one of them and all that follow it goes on until
    it is stopped, at 1,000 pulls."""

    ends: int = 0

    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Do as kernels do: look at the flag, say how far it is, leave with the fault."""
        quick = min(max(self.ends - first, 0), len(block.pulls))
        block.pulls[:quick] = 10 + np.arange(first, first + quick)
        block.finished[:quick] = block.correct[:quick] = True
        block.rounds[:quick] = 1
        block.representatives[:quick] = np.flatnonzero(setting.cluster_of == 0)[
            : block.representatives.shape[1]
        ]
        if quick < len(block.pulls):
            block.history.position[[REPLICATION, PULLS]] = first + quick, 1000
            while not block.history.stop[0]:
                time.sleep(0.001)
            block.fault[:2] = STOPPED, quick


del ALGORITHMS["endless"]  # no choice of the command line in other tests
