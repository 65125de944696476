"""What a store holds of tasks: how far each of them is, and its replications.

A method belongs here if it reads what is stored, but judges nothing and writes nothing.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rai_sim.simulation.arm_pulls import BY_REPLICATION, NOT_KEPT, sums_of
from rai_sim.simulation.merging import ranges_of
from rai_sim.simulation.result import Result
from rai_sim.simulation.statistics import NOTHING
from rai_sim.simulation.sums import bin_edges
from rai_sim.study.data import StudyData
from rai_sim.study.ledger import Ledger
from rai_sim.study.schemas import AT_CAP
from rai_sim.study.selection import select_tasks
from rai_sim.study.stopping import Verdict
from rai_sim.study.task import Task
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError
from rai_sim.support.forks import refuse_forked_polars
from rai_sim.support.values import short

if TYPE_CHECKING:
    from rai_sim.algorithms.base import Algorithm
    from rai_sim.study.grid import Study


def check_task(task: object) -> None:
    """Refuse what is no task, such as a task's number."""
    if not isinstance(task, Task):
        raise ArgumentTypeError(
            "task", f"task is {short.repr(task)}; give a Task, one of the results' `tasks`"
        )


class Holdings:
    """What a store holds of a study's tasks, or of all of its own (see `StudyResults`).

    Parameters
    ----------
    data : StudyData
        The store and what it holds.
    study : Study or None
        What was wanted; None for everything that is there.
    """

    def __init__(self, data: StudyData, study: Study | None) -> None:
        """Remember where the results are."""
        self.study = study
        self._data = data
        #: The tasks, in the study's order; without a study in that of the studies they were first
        #: run in, earlier runs first.
        self.tasks: tuple[Task, ...] = tuple(data.tasks() if study is None else study.tasks)

    @property
    def folder(self) -> Path:
        """The store's folder."""
        return self._data.store.folder

    @property
    def ledger(self) -> Ledger:
        """Which replications of which task are there."""
        return self._data.ledger

    @property
    def keeps_rows(self) -> bool:
        """Whether the store has every replication's row, not sums alone."""
        return self._data.store.kind == "replications"

    @property
    def keeps_arm_pulls(self) -> bool:
        """Whether the store has the pulls of each arm, by replication or as sums."""
        return self._data.store.keeps_arm_pulls

    def _verdict(self, task: Task) -> Verdict:
        pieces = self._data.ledger[task.key]
        if self.study is None:
            return Verdict(pieces.total_sums()[0], True, False)
        return self.study.verdict(task, pieces)

    def select(
        self,
        *,
        instance: str | Iterable[str] | None = None,
        algorithm: Algorithm | str | Iterable[Algorithm | str] | None = None,
        delta: float | Iterable[float] | None = None,
    ) -> Self:
        """Return the results of some of the tasks, for tables, figures and reports of them alone.

        Of several values of one argument a task has one; of several arguments it agrees with all.

        Parameters
        ----------
        instance : str or iterable of str, optional
            Names of instances, or patterns in which * and ? stand for any text and any letter: "two
            arms*".
        algorithm : Algorithm, str or iterable of them, optional
            Algorithms, or names: "vanilla" for Vanilla with all options, "Vanilla(merging=False)"
            for one of them; * and ? as above.
        delta : float or iterable of float, optional
            Error probabilities.

        Returns
        -------
        StudyResults
            Of the tasks chosen, in the order they had; the store is the same.

        Raises
        ------
        TypeError, ValueError
            If a value is of another kind, or no task has it (the message lists what there is), or
            none has all of them together.

        Examples
        --------
        >>> import tempfile
        >>> import rai_sim as rai
        >>> study = rai.Study.grid([rai.table_problem()], [rai.Vanilla(), rai.Butterscotch()], [0.1, 0.01], replications=5)
        >>> results = study.run(tempfile.mkdtemp())
        >>> [task.experiment.algorithm.label for task in results.select(algorithm="butter*", delta=0.01).tasks]
        ['Butterscotch(merging=True)']
        """
        chosen = copy.copy(self)
        chosen.tasks = select_tasks(self.tasks, instance, algorithm, delta)
        return chosen

    def unfinished(self) -> list[Task]:
        """Return the tasks of which more is wanted.

        Examples
        --------
        >>> import tempfile
        >>> import rai_sim as rai
        >>> study = rai.Study.grid([rai.table_problem()], [rai.Vanilla()], [0.01], replications=5)
        >>> results = study.run(tempfile.mkdtemp())
        >>> results.unfinished()
        []
        """
        return [task for task in self.tasks if not self._verdict(task).final]

    def progress(self) -> tuple[int, int]:
        """Return how many of the replications wanted are there, and how many are wanted as far as
        is known.

        Examples
        --------
        >>> import tempfile
        >>> import rai_sim as rai
        >>> study = rai.Study.grid([rai.table_problem()], [rai.Vanilla()], [0.01], replications=5)
        >>> results = study.run(tempfile.mkdtemp())
        >>> results.progress()
        (5, 5)
        """
        done = wanted = 0
        for task in self.tasks:
            n = self._verdict(task).replications
            wanted += n
            done += n - sum(stop - start for start, stop in self._data.ledger[task.key].gaps(0, n))
        return done, wanted

    def not_counted(self) -> int:
        """Return how many replications of the tasks are stored beyond those that the study asks
        for, or behind a gap.

        Examples
        --------
        >>> import tempfile
        >>> import rai_sim as rai
        >>> folder = tempfile.mkdtemp()
        >>> small, large = (rai.Study.grid([rai.table_problem()], [rai.Vanilla()], [0.01], replications=n) for n in (5, 20))
        >>> _ = large.run(folder)
        >>> small.results(folder).not_counted()
        15
        """
        more = 0
        for task in self.tasks:
            pieces = self._data.ledger[task.key]
            wanted = self._verdict(task).replications
            # Sums that cannot be cut there count as a whole.
            counted = max(wanted, pieces.total_sums(wanted)[0])
            more += (
                pieces.replications
                - counted
                + sum(stop - start for start, stop in pieces.gaps(0, counted))
            )
        return more

    def rows(self) -> pl.LazyFrame:
        """Return the replications of all tasks, each once, to be filtered and collected.

        Returns
        -------
        polars.LazyFrame
            instance, algorithm and delta of the task, replication, pulls, rounds, correct,
            finished, representatives, with a cap recommended and recommended_correct
            (`Result.recommended`; null for tasks without, and of what earlier versions wrote), and
            last the task's hash.

        Raises
        ------
        ValueError
            If the store keeps aggregates only.

        Examples
        --------
        >>> import tempfile
        >>> import rai_sim as rai
        >>> study = rai.Study.grid([rai.table_problem()], [rai.Vanilla()], [0.01], replications=5)
        >>> results = study.run(tempfile.mkdtemp())
        >>> results.rows().filter(finished=True).select("replication", "correct").collect().shape
        (5, 2)
        """
        refuse_forked_polars("StudyResults.rows")
        if not self.keeps_rows:
            raise ValueError(
                f"store {self.folder} keeps aggregates only; run the study with "
                "keep='replications' to have rows"
            )
        named = [
            (
                task.key,
                task.instance,
                task.experiment.algorithm.label,
                task.experiment.delta,
                self._verdict(task).replications,
            )
            for task in self.tasks
        ]
        columns = {
            "task": pl.String,
            "instance": pl.String,
            "algorithm": pl.String,
            "delta": pl.Float64,
            "wanted": pl.Int64,
        }
        names = pl.LazyFrame(named, schema=columns, orient="row")
        rows = self._data.stored_rows().join(names, on="task")
        rows = rows if self.study is None else rows.filter(pl.col("replication") < pl.col("wanted"))
        capped = any(task.experiment.max_pulls is not None for task in self.tasks)
        left_out = () if capped else tuple(AT_CAP["replications"])
        return rows.select(
            "instance",
            "algorithm",
            "delta",
            pl.exclude("instance", "algorithm", "delta", "task", "wanted", *left_out),
            "task",
        )

    def _ordered_rows(self) -> pl.DataFrame:
        """Return the replications in the order of tasks and replications."""
        places = {"task": [task.key for task in self.tasks], "place": range(len(self.tasks))}
        rows = self.rows().join(pl.LazyFrame(places), on="task")
        return rows.sort("place", "replication").drop("place").collect()

    def result(self, task: Task) -> Result:
        """Return the stored replications of a task as `rai_sim.simulation.simulate` would have
        returned them.

        Raises
        ------
        TypeError
            If `task` is no task.
        ValueError
            If the store keeps aggregates only, or has no replication of the task.

        Examples
        --------
        >>> import tempfile
        >>> import rai_sim as rai
        >>> study = rai.Study.grid([rai.table_problem()], [rai.Vanilla()], [0.01], replications=5)
        >>> results = study.run(tempfile.mkdtemp())
        >>> results.result(study.tasks[0]) == rai.simulate(rai.table_problem(), rai.Vanilla(), replications=5, seed=0)
        True
        """
        check_task(task)
        rows = self.rows().filter(pl.col("task") == task.key).sort("replication").collect()
        if not len(rows):
            raise ArgumentValueError(
                "task",
                f"task is {task.label}, of which {self.folder} has no replication; run the study "
                "first",
            )
        width = sum(task.experiment.problem.required)
        capped = task.experiment.max_pulls is not None and not rows["recommended"].null_count()
        return Result(
            task.experiment,
            ranges_of(rows["replication"].to_numpy()),
            rows["pulls"].to_numpy(),
            rows["rounds"].to_numpy(),
            rows["correct"].to_numpy(),
            rows["finished"].to_numpy(),
            rows["representatives"].list.to_array(width).to_numpy(),
            arm_pulls=rows[BY_REPLICATION].list.to_array(task.experiment.problem.n_arms).to_numpy()
            if self.keeps_arm_pulls
            else None,
            recommended=rows["recommended"].list.to_array(width).to_numpy() if capped else None,
        )

    def arm_pulls_sum(self, task: Task) -> tuple[NDArray[np.int64], int]:
        """Return the pulls of each arm of a task, added up over its finished replications, and how
        many these are.

        Returns
        -------
        sums : (N,) int64
            By the caller's index.
        finished : int
            Replications.

        Raises
        ------
        ValueError
            If the store does not keep them, or has no replication of the task.
        OverflowError
            If a sum is 2^63 or more.

        Examples
        --------
        >>> import tempfile
        >>> import rai_sim as rai
        >>> problem = rai.table_problem()
        >>> study = rai.Study.grid([problem], [rai.Butterscotch()], [0.01], replications=5, keep="arm_pulls_sum")
        >>> study.run(tempfile.mkdtemp()).arm_pulls_sum(study.tasks[0])
        (array([5185, 5185, 5185, 5185, 5185, 5185, 5185, 5185, 5185, 5185]), 5)
        """
        check_task(task)
        if not self.keeps_arm_pulls:
            raise ValueError(f"store {self.folder} {NOT_KEPT}")
        if self.keeps_rows:
            found = sums_of(self.result(task))
            assert found is not None  # the store keeps them
            return found
        n, sums = self._data.ledger[task.key].total(self._verdict(task).replications)
        arms, at = self._data.arm_sums(task.key, self._verdict(task).replications)
        if sums is None or arms is None or at != n:
            raise ArgumentValueError(
                "task",
                f"task is {task.label}, of which {self.folder} has no replication; run the study "
                "first",
            )
        return arms, sums.finished

    def pulls_distribution(self, task: Task) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return how often each number of pulls was needed by the finished replications of a task.

        Parameters
        ----------
        task : Task
            One of `tasks`.

        Returns
        -------
        values : (B,) float64
            Numbers of pulls, ascending: exact below 512 and where rows are kept, else the middles
            of bins 0.4 % wide.
        counts : (B,) int64
            Replications.

        Examples
        --------
        >>> import tempfile
        >>> import rai_sim as rai
        >>> study = rai.Study.grid([rai.table_problem()], [rai.Butterscotch()], [0.01], replications=5)
        >>> results = study.run(tempfile.mkdtemp())
        >>> results.pulls_distribution(study.tasks[0])
        (array([10370.]), array([5]))
        """
        check_task(task)
        n, sums = self._data.ledger[task.key].total(self._verdict(task).replications)
        # the replications that the summary is of: behind a gap there may be more
        if self.keeps_rows:
            wanted = pl.col("task") == task.key, pl.col("finished"), pl.col("replication") < n
            rows = self.rows().filter(*wanted).select("pulls").collect()
            values, counts = np.unique(rows["pulls"].to_numpy(), return_counts=True)
            return values.astype(np.float64), counts.astype(np.int64)
        seen = sums or NOTHING
        edges = [bin_edges(number) for number in seen.bins.tolist()]
        return np.array([(low + high) / 2.0 for low, high in edges]), seen.counts
