"""How many bytes a study will write, before it is run.

Rows like those of a task, with as much randomness as numbers of such a mean and deviation have, are
written in the store's own format into memory.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rai_sim.engine.blocks import Block
from rai_sim.simulation.at_cap import at_cap_of
from rai_sim.simulation.provenance import environment
from rai_sim.simulation.statistics import Sums, stretches_of
from rai_sim.simulation.workers import block_for
from rai_sim.study.arm_sums import decimals, words_of
from rai_sim.study.backlog import parts_written
from rai_sim.study.data import Rows
from rai_sim.study.frames import aggregates_frame, rows_frame
from rai_sim.study.ledger import Piece
from rai_sim.study.pilot import Pilot
from rai_sim.study.schemas import KEEPS, SCHEMAS, as_written, keeps_arm_pulls, schema_of
from rai_sim.study.stopping import looks_within
from rai_sim.study.task import Task, instance_key, instance_row, task_rows

if TYPE_CHECKING:
    from rai_sim.study.grid import Study

#: Rows that are written to see how many bytes one takes, fewer of many representatives or arms.
_ROWS, _LEAST_ROWS, _ENTRIES = 4096, 4, 1 << 18
#: The deviation over the mean of pulls of which one number is known.
_SPREAD = 0.3
#: So many tasks are measured; rows of others are taken to be like theirs.
_MOST_TASKS = 200


def bytes_of(frame: pl.DataFrame) -> int:
    """Return the size of a frame as a part of a store."""
    memory = io.BytesIO()
    frame.write_parquet(memory)
    return memory.tell()


class Disk:
    """What a study's tasks will write.

    Parameters
    ----------
    study : Study
        What is wanted.
    """

    def __init__(self, study: Study) -> None:
        """Nothing was measured yet."""
        self._study = study
        self._kind, self._by_arm = KEEPS[study.keep], keeps_arm_pulls(study.keep)
        self._empty = self._bytes_of(pl.DataFrame(schema=schema_of(self._kind, study.keep)))
        self._measured: list[float] = []

    def _bytes_of(self, frame: pl.DataFrame) -> int:
        """Return the size of a part of results."""
        return bytes_of(as_written(self._kind, frame))

    def of_task(self, task: Task, ends: tuple[int, int], seen: Sums, pilot: Pilot) -> float:
        """Return the bytes of a task's replications.

        Parameters
        ----------
        task : Task
            One of the study's.
        ends : (int, int)
            The first replication that is missing, and the one after the last.
        seen : Sums
            What some replications add up to.
        pilot : Pilot
            Of the task: representatives of some replications, and pulls by arm where they are kept.
        """
        start, stop = ends
        if len(self._measured) >= _MOST_TASKS:
            return (stop - start) * float(np.mean(self._measured))
        problem = task.experiment.problem
        width = sum(problem.required) + (problem.n_arms if self._by_arm else 0)
        n = min(stop - start, _ROWS, max(_LEAST_ROWS, _ENTRIES // width))
        block = _like(block_for(task.experiment, n, self._by_arm), seen, pilot)
        at_cap = at_cap_of(task.experiment, block)
        if self._kind == "aggregates":
            columns = (block.pulls, block.rounds, block.correct, block.finished)
            right = None if at_cap is None else at_cap.right
            (sums,) = stretches_of(*columns, np.zeros(1, np.int64), right).aggregates()
            piece = Piece(start, start + n, sums)
            arms = None
            if self._by_arm:
                arms = [decimals(words_of(block.arm_pulls, block.finished))]
            one = self._bytes_of(aggregates_frame([(task.key, piece)], arms)) - self._empty
            pieces = 1 + len(looks_within(start, stop) if self._study.decides else ())
            total = float(one * pieces)
        else:
            rows = Rows([(task.key, start, start + n)], block, at_cap)
            frame = rows_frame([rows], self._by_arm)
            total = (self._bytes_of(frame) - self._empty) / n * (stop - start)
        self._measured.append(total / (stop - start))
        return total

    def of_the_rest(self, tasks: Sequence[Task], seconds: float) -> float:
        """Return the bytes of what else is written: the record of the run, what new tasks are, and
        what each part has besides its rows, in a run of so many seconds."""
        said = len(json.dumps(self._study.describe())) + len(json.dumps(environment()))
        if tasks:
            problems = {
                instance_key(task.experiment.problem): task.experiment.problem for task in tasks
            }
            instances = [instance_row(key, problem) for key, problem in problems.items()]
            rows = task_rows(tasks)
            for kind, values in (("instances", instances), ("tasks", rows)):
                said += bytes_of(pl.DataFrame(values, schema=SCHEMAS[kind], orient="row"))
        return said + self._empty * parts_written(seconds)


def _like(block: Block, seen: Sums, pilot: Pilot) -> Block:
    """Fill a block with rows of as much randomness as what was seen."""
    random, n = np.random.default_rng(0), len(block.pulls)
    mean, rounds = (seen.mean, seen.mean_rounds) if seen.finished else (1e6, 1e6)
    spread = seen.relative_deviation if seen.finished > 1 else _SPREAD
    for column, middle in ((block.pulls, mean), (block.rounds, rounds)):
        drawn = middle * (1.0 + spread * random.standard_normal(n))
        column[:] = np.clip(drawn, 1.0, 2.0**62)
    block.finished[:] = block.correct[:] = True
    if seen.errors:
        block.correct[:] = random.random(n) >= seen.error_rate
    if pilot.replications:
        who = random.integers(len(pilot.named), size=n)
        block.representatives[:] = pilot.named[who]
        if block.arm_pulls.size:
            block.arm_pulls[:] = _shared_out(block.pulls, pilot.arm_pulls[who])
    return block


def _shared_out(pulls: NDArray[np.int64], like: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return pulls by arm that add up to about so many, shared out as some are."""
    shares = like / np.maximum(like.sum(axis=1, keepdims=True), 1)
    shared: NDArray[np.int64] = np.rint(shares * pulls[:, np.newaxis]).astype(np.int64)
    return shared
