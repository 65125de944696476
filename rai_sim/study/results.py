"""What a study has found: summaries, rows, and whether the rows can be made again."""

from __future__ import annotations

import copy
import json
import math
import os
import signal
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rai_sim.certification.verdicts import ALPHA, level_of_each, verdict_on
from rai_sim.simulation.arm_pulls import BY_REPLICATION, NOT_KEPT, sums_of
from rai_sim.simulation.columns import Found, frame_columns
from rai_sim.simulation.merging import ranges_of
from rai_sim.simulation.provenance import now
from rai_sim.simulation.result import Result
from rai_sim.simulation.statistics import NOTHING, QUANTILES
from rai_sim.simulation.sums import bin_edges
from rai_sim.study import tables
from rai_sim.study.by_arm import by_arm_of
from rai_sim.study.data import StudyData
from rai_sim.study.interrupts import Interrupts
from rai_sim.study.ledger import Ledger
from rai_sim.study.record import read_records
from rai_sim.study.schemas import AT_CAP
from rai_sim.study.selection import select_tasks
from rai_sim.study.stopping import Verdict
from rai_sim.study.store import StoreWarning
from rai_sim.study.stored import runnable, why_not_run
from rai_sim.study.task import Task
from rai_sim.study.verify import Verification, verify
from rai_sim.support import html_tables
from rai_sim.support.checks import check_count, check_seed, check_workers
from rai_sim.support.columns import cells, titles
from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.exports import write_table
from rai_sim.support.forks import refuse_forked_polars

if TYPE_CHECKING:
    from rai_sim.algorithms.base import Algorithm
    from rai_sim.study.grid import Study


class StudyInterrupted(KeyboardInterrupt):
    """Ctrl-C or SIGTERM during `Study.run`; `.results` holds what is in the store, which is all
    that was finished.

    Ctrl-C while a store is opened is one too, in `Study.results` and `open_study` as well.

    Examples
    --------
    >>> import tempfile
    >>> import rai_sim as rai
    >>> study = rai.Study.grid([rai.table_problem()], [rai.Butterscotch()], [0.1], replications=5)
    >>> results = study.run(tempfile.mkdtemp())
    >>> try:
    ...     raise rai.StudyInterrupted(results.folder, results, study)  # as Ctrl-C does
    ... except rai.StudyInterrupted as stopped:
    ...     stopped.results.progress()
    (5, 5)
    """

    def __init__(self, folder: Path, results: StudyResults | None, study: Study | None) -> None:
        """Keep the results; None if the store was still being opened."""
        if results is None:
            said = f"interrupted while {folder} was opened; nothing in it has changed: do the same again"
        else:
            done, wanted = results.progress()
            said = (
                f"interrupted with {done:,} of {wanted:,} replications in {folder}; the same "
                "study run into the "
                "same folder goes on from there"
            )
        super().__init__(said)
        self.opened, self._folder, self._results, self._study = (
            results is not None,
            folder,
            results,
            study,
        )

    @property
    def results(self) -> StudyResults:
        """What is in the store, which is opened now if it was not."""
        if self._results is None:
            self._results = (
                open_study(self._folder)
                if self._study is None
                else self._study.results(self._folder)
            )
        return self._results


_TYPES: dict[type | None, Any] = {
    str: pl.String,
    float: pl.Float64,
    int: pl.Int64,
    bool: pl.Boolean,
    list: pl.List(pl.Int64),
}
#: Columns of `StudyResults.summary` (see `rai_sim.simulation.columns.COLUMNS`).
SUMMARY_SCHEMA: dict[str, Any] = {column.key: _TYPES[column.kind] for column in frame_columns()}


class StudyResults:
    """The results of a study, or of everything in a store.

    `Study.run`, `Study.results` and `open_study` make them. A study's numbers are those of the
    replications it asks for, whatever else the store holds; without a study they are those of all
    replications from 0 on without a gap. Where sums alone are kept and were not cut at the number
    asked for (2,000 of a study after one of 10,000), all replications up to the next cut count,
    with a warning.

    Parameters
    ----------
    data : StudyData
        The store and what it holds.
    study : Study or None
        What was wanted; None for everything that is there.

    Examples
    --------
    >>> import tempfile
    >>> import rai_sim as rai
    >>> study = rai.Study.grid([rai.table_problem()], [rai.Butterscotch()], [0.1], replications=5)
    >>> results = study.run(tempfile.mkdtemp())
    >>> results.progress(), results.keeps_rows, len(results.tasks)
    ((5, 5), True, 1)
    """

    def __init__(self, data: StudyData, study: Study | None) -> None:
        """Remember where the results are."""
        self.study = study
        self._data = data
        #: The tasks, in the study's order; without a study in that of the studies they were first
        #: run in, earlier runs first.
        self.tasks: tuple[Task, ...] = tuple(data.tasks() if study is None else study.tasks)
        #: What the probability is at most that any verdict on the error rate of any of so many
        #: tasks is wrong; of those that `select` leaves, too.
        self.alpha, self.judged = ALPHA if study is None else study.alpha, len(self.tasks)
        #: Why the run that returned these ended before all was done, in words; None if it did not.
        self.cut_short: str | None = None

    def __repr__(self) -> str:
        """Say how far the study is."""
        done, wanted = self.progress()
        return f"StudyResults({str(self.folder)!r}, {len(self.tasks)} tasks, {done:,} of {wanted:,} replications)"

    def _repr_html_(self) -> str:
        """Return the summary as a table, for notebooks; of many tasks the first ones."""
        frame = tables.distinct(self.summary())
        most = html_tables.MOST_ROWS
        columns = tables.shown_of(self)
        rows = [cells(columns, row) for row in frame.head(most).iter_rows(named=True)]
        more = (
            f"... and {len(frame) - most:,} more tasks; summary() has all"
            if len(frame) > most
            else ""
        )
        return html_tables.block(
            tables.how_far(self),
            html_tables.warnings(tables.warnings_of(self, frame)),
            html_tables.table(titles(columns), rows, left=tables.NAMES),
            html_tables.line(more),
            html_tables.line(tables.legend_of(self)),
        )

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
    ) -> StudyResults:
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

    def summary(self) -> pl.DataFrame:
        """Return one row a task.

        Returns
        -------
        polars.DataFrame
            The columns of `SUMMARY_SCHEMA`, units in their names: first instance, algorithm, delta,
            mean pulls with interval and errors, then the other statistics, what was run, and last
            the task's hash. `relative_half_width_95` is half the width of the interval of the mean
            over the mean; `precision_reached` is null where none was asked for. `error_verdict` is
            "above delta", "below delta" or "open": the side on which the error rate lies, as far as
            is known of all tasks together (`rai_sim.certification.verdicts`), while
            `error_exceeds_delta` goes by the interval of one task alone. With a precision
            the interval is the one that stays valid under stopping (`rai_sim.study.stopping`), else
            Student's. Quantiles (`pulls_q05` to `pulls_q95`) are exact below 512 pulls and to
            within 0.2 % above. Statistics of pulls, rounds and errors are over finished
            replications; null where too few are.

        Examples
        --------
        >>> import tempfile
        >>> import rai_sim as rai
        >>> study = rai.Study.grid([rai.table_problem()], [rai.Butterscotch()], [0.01], replications=20)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     study.run(folder).summary()["pulls_mean"].to_list()
        [10370.0]
        """
        refuse_forked_polars("StudyResults.summary")
        verdicts = [self._verdict(task) for task in self.tasks]
        columns = frame_columns()
        found = [
            self._found(task, verdict) for task, verdict in zip(self.tasks, verdicts, strict=True)
        ]
        rows = [{column.key: column.rule(one) for column in columns} for one in found]
        longer = [
            row
            for verdict, row in zip(verdicts, rows, strict=True)
            if row["replications"] > verdict.replications
        ]
        if longer:
            warnings.warn(
                f"store {self.folder} has sums of more replications than were asked for, which "
                f"cannot be cut: of {len(longer)} "
                f"tasks all of them count, {longer[0]['replications']:,} of the first one",
                StoreWarning,
                stacklevel=2,
            )
        frame = pl.DataFrame(rows, schema=SUMMARY_SCHEMA, orient="row")
        return frame.with_columns(pl.col(pl.Float64).fill_nan(None))

    def _found(self, task: Task, verdict: Verdict) -> Found:
        """Return what is known of a task, the row that its statistics are picked from."""
        n, sums = self._data.ledger[task.key].total(verdict.replications)
        seen = sums or NOTHING
        stopped = n == verdict.replications and not math.isnan(verdict.interval[0])
        facts = {
            "task": task.key,
            "instance": task.instance,
            "parameters": json.dumps(dict(task.parameters)),
            "complete": verdict.final,
            "error_verdict": verdict_on(
                seen, task.experiment.delta, level_of_each(self.alpha, self.judged)
            ),
            "precision_reached": verdict.reached
            if self.study is not None and self.study.precision is not None
            else None,
        }
        quantiles = {share: seen.quantile(share) for share in QUANTILES}
        return Found(task.experiment, seen, quantiles, verdict.interval if stopped else None, facts)

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

    def to_csv(
        self, path: str | os.PathLike[str], *, rows: bool = False, arms: bool = False
    ) -> None:
        """Write the results as CSV: the summary, or all replications.

        Lists are written as text, entries apart by blanks; a text that a spreadsheet would run as a
        formula has an apostrophe before it (`rai_sim.support.files.from_harmless` undoes that).

        Parameters
        ----------
        path : path
            A name that ends in .csv; a file of that name is replaced, whole or not at all.
        rows : bool, default False
            One row a replication, in the order of tasks and replications, not one a task.
        arms : bool, default False
            One row a task and arm: `by_arm`.

        Raises
        ------
        ValueError
            If the name ends otherwise, the store keeps aggregates only but rows are asked for, or
            no pulls by arm but these are, or both are.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> import rai_sim as rai
        >>> study = rai.Study.grid([rai.table_problem()], [rai.Butterscotch()], [0.01], replications=2)
        >>> folder = tempfile.mkdtemp()
        >>> study.run(folder + "/a.study").to_csv(folder + "/a.csv", rows=True)
        >>> pl.read_csv(folder + "/a.csv").select("replication", "pulls").rows()
        [(0, 10370), (1, 10370)]
        """
        self._export(path, ".csv", rows, arms)

    def to_parquet(
        self, path: str | os.PathLike[str], *, rows: bool = False, arms: bool = False
    ) -> None:
        """Write the results as Parquet, likewise; its metadata have the records of the runs that
        made them (`runs`), as JSON under the key rai_sim.

        Rows are collected in memory; of more than that holds, `rows().sink_parquet(path)` writes a
        file piece by piece.

        Parameters
        ----------
        path : path
            A name that ends in .parquet.
        rows, arms : bool, default False
            As in `to_csv`, whose errors are raised.

        Examples
        --------
        >>> import tempfile
        >>> import rai_sim as rai
        >>> study = rai.Study.grid([rai.table_problem()], [rai.Butterscotch()], [0.01], replications=2)
        >>> folder = tempfile.mkdtemp()
        >>> results = study.run(folder + "/a.study")
        >>> results.to_parquet(folder + "/a.parquet")
        >>> pl.read_parquet(folder + "/a.parquet").equals(results.summary())
        True
        """
        self._export(path, ".parquet", rows, arms)

    def _export(self, path: str | os.PathLike[str], end: str, rows: bool, arms: bool) -> None:
        place = Path(path)
        if place.suffix.lower() != end:
            raise ArgumentValueError(
                "path", f"path is {os.fspath(path)!r}; give a name that ends in {end}"
            )
        if rows and arms:
            raise ArgumentValueError("arms", "arms and rows are both True; give one of them")
        frame = self.by_arm() if arms else self._ordered_rows() if rows else self.summary()
        write_table(frame, place, {"runs": self.runs(), "exported": now()})

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

    def by_arm(self) -> pl.DataFrame:
        """Return one row a task and arm: what the task's finished replications pulled it, where the
        store keeps that.

        Returns
        -------
        polars.DataFrame
            instance, algorithm, delta, finished (replications), and the columns of
            `Result.by_arm`. Tasks without a replication are left out.

        Raises
        ------
        ValueError
            If the store keeps no pulls by arm.
        OverflowError
            If a sum is 2^63 or more.

        Examples
        --------
        >>> import tempfile
        >>> import rai_sim as rai
        >>> problem = rai.table_problem()
        >>> study = rai.Study.grid([problem], [rai.Butterscotch()], [0.01], replications=5, keep="arm_pulls")
        >>> frame = study.run(tempfile.mkdtemp()).by_arm()
        >>> frame.select("finished", "arm", "cluster", "pulls_mean", "share").row(0)
        (5, 0, 1, 1037.0, 0.1)
        """
        return by_arm_of(self)

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

    def runs(self) -> list[dict[str, Any]]:
        """Return the records of the runs that made the store, oldest first: versions, processor,
        parameters, start and end.

        Examples
        --------
        >>> import tempfile
        >>> import rai_sim as rai
        >>> study = rai.Study.grid([rai.table_problem()], [rai.Vanilla()], [0.01], replications=5)
        >>> results = study.run(tempfile.mkdtemp())
        >>> [(run["status"], run["replications_added"], run["study"]["seeds"]) for run in results.runs()]
        [('finished', 5, [0])]
        """
        return read_records(self.folder)

    def report(
        self, path: str | os.PathLike[str], *, title: str | None = None, all_figures: bool = False
    ) -> None:
        """Write a report as one page of HTML: contents, tables, figures, what was run,
        provenance, warnings (see `rai_sim.report.page`).

        Of many figures of a kind there are three, unless `all_figures` is True.

        Raises
        ------
        ImportError
            Without matplotlib, the extra `plot`.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> import rai_sim as rai
        >>> study = rai.Study.grid([rai.table_problem()], [rai.Vanilla()], [0.1], replications=5)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     study.run(folder).report(Path(folder).with_suffix(".html"))
        """
        from rai_sim.report import write_report  # here: figures are slow to load

        write_report(self, Path(path), title=title, all_figures=all_figures)

    def verify(
        self, sample: int = 100, *, seed: int | None = None, n_jobs: int | None = 1
    ) -> Verification:
        """Run a random sample of the stored replications again and compare everything that is
        stored, bit for bit.

        Parameters
        ----------
        sample : int, default 100
            How many replications; all of them if there are no more. Where only aggregates are kept,
            whole stored ranges are drawn until they have as many.
        seed : int or None, default None
            Seed of the choice of replications, not of their streams: another choice each time when
            None, so that repeated checks reach ever more of what is stored.
        n_jobs : int or None, default 1
            Workers, as in `rai_sim.simulation.simulate`.

        Returns
        -------
        Verification
            How many were compared, and what differed.

        Raises
        ------
        TypeError, ValueError
            If `sample` is no positive integer, `seed` no seed, or `n_jobs` no number of workers;
            ValueError if no task can be run here, as their algorithm is not known to this process.
            If that is so of some tasks they are left out, with a StoreWarning.

        Examples
        --------
        >>> import tempfile
        >>> import rai_sim as rai
        >>> study = rai.Study.grid([rai.table_problem()], [rai.Vanilla()], [0.01], replications=5)
        >>> results = study.run(tempfile.mkdtemp())
        >>> print(results.verify(3))
        3 stored replications were run again: all are the same to the bit
        """
        refuse_forked_polars("StudyResults.verify")
        sample, seed, n_jobs = (
            check_count("sample", sample, 1),
            check_seed(seed),
            check_workers(n_jobs),
        )
        tasks, flaw = runnable(self.tasks), why_not_run(self.tasks)
        if flaw is not None and not tasks:
            raise ValueError(flaw)
        if flaw is not None:
            warnings.warn(
                f"store {self.folder}: {len(self.tasks) - len(tasks)} of {len(self.tasks)} tasks "
                f"are not verified: {flaw}",
                StoreWarning,
                stacklevel=2,
            )
        return verify(self._data, tasks, sample, seed, n_jobs)


def open_study(folder: str | os.PathLike[str]) -> StudyResults:
    """Return everything that a study's folder holds, without the study's definition; nothing is run
    or written.

    Tasks come in the order of the study that was run; those that a later run has added stand after
    all earlier ones. Of an algorithm or a reward law that this process does not know, such as one
    of a module of yours that is not imported, everything stored can be read; a StoreWarning says
    what to import for it to be run again, which is refused.

    Raises
    ------
    StoreError
        If the folder is no store.
    StudyInterrupted
        On Ctrl-C.
    RuntimeError
        In a process forked from one that has used polars, which cannot be used then.

    Examples
    --------
    >>> import tempfile
    >>> import rai_sim as rai
    >>> study = rai.Study.grid([rai.table_problem()], [rai.Vanilla(), rai.Butterscotch()], [0.01], replications=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = study.run(folder)
    ...     print(rai.open_study(folder).summary().select("algorithm", "replications").rows())
    [('Vanilla(merging=True)', 10), ('Butterscotch(merging=True)', 10)]
    """
    return open_results(Path(folder), None)


def open_results(
    folder: Path, study: Study | None, cut: int | None = None, looks: bool = False
) -> StudyResults:
    """Return what a folder holds of a study, or all of it; `cut` and `looks` as in `StudyData`.
    Ctrl-C is StudyInterrupted."""
    # held: polars would turn it into errors of other kinds
    with (
        Interrupts(signal.SIGINT) as interrupts,
        interrupts.held(),
    ):
        try:
            results = StudyResults(StudyData(folder, None, cut, looks, interrupts.heed), study)
            interrupts.heed()
        except KeyboardInterrupt:
            raise StudyInterrupted(folder, None, study) from None
    return results
