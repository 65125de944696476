"""What a study has found: its summary, reports on it, and whether the replications can be made
again.

A method belongs here if it judges what is stored, or writes it for others; reading it is in
`holdings`.
"""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

import polars as pl

from rai_sim.certification.verdicts import ALPHA, level_of_each
from rai_sim.simulation.provenance import now
from rai_sim.study import tables
from rai_sim.study.by_arm import by_arm_of
from rai_sim.study.data import StudyData
from rai_sim.study.holdings import Holdings
from rai_sim.study.record import read_records
from rai_sim.study.store import StoreWarning
from rai_sim.study.stored import runnable, why_not_run
from rai_sim.study.summary import known_of, more_than_asked, summary_frame
from rai_sim.study.verify import Verification, verify
from rai_sim.support.checks import check_count, check_seed, check_switch, check_workers
from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.exports import write_table
from rai_sim.support.forks import refuse_forked_polars
from rai_sim.support.values import path_of
from rai_sim.support.wording import count

if TYPE_CHECKING:
    from rai_sim.study.grid import Study


class StudyResults(Holdings):
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
        super().__init__(data, study)
        #: What the probability is at most that any verdict on the error rate of any of so many
        #: tasks is wrong; of those that `select` leaves, too.
        self.alpha, self.judged = ALPHA if study is None else study.alpha, len(self.tasks)
        #: Why the run that returned these ended before all was done, in words; None if it did not.
        self.cut_short: str | None = None

    def __repr__(self) -> str:
        """Say how far the study is."""
        done, wanted = self.progress()
        return f"StudyResults({str(self.folder)!r}, {count(len(self.tasks), 'task')}, {done:,} of {count(wanted, 'replication')})"

    def _repr_html_(self) -> str:
        """Return the summary as a table, for notebooks."""
        return tables.results_html(self)

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
        level = level_of_each(self.alpha, self.judged)
        precise = self.study is not None and self.study.precision is not None
        frame = summary_frame(
            [
                known_of(task, self.ledger[task.key], verdict, level, precise)
                for task, verdict in zip(self.tasks, verdicts, strict=True)
            ]
        )
        if (words := more_than_asked(self.folder, frame, verdicts)) is not None:
            warnings.warn(words, StoreWarning, stacklevel=2)
        return frame

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
        place = path_of("path", path)
        check_switch("rows", rows)
        check_switch("arms", arms)
        if place.suffix.lower() != end:
            raise ArgumentValueError(
                "path", f"path is {os.fspath(path)!r}; give a name that ends in {end}"
            )
        if rows and arms:
            raise ArgumentValueError("arms", "arms and rows are both True; give one of them")
        frame = self.by_arm() if arms else self._ordered_rows() if rows else self.summary()
        write_table(frame, place, {"runs": self.runs(), "exported": now()})

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
        ValueError
            If the name ends neither in .html nor in .htm, and is that of a regular file.
        ImportError
            Without matplotlib, the extra `plot`.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import rai_sim as rai
        >>> study = rai.Study.grid([rai.table_problem()], [rai.Vanilla()], [0.1], replications=5)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     study.run(folder).report(Path(folder).with_suffix(".html"))
        """
        from rai_sim.report import write_report  # here: figures are slow to load

        check_switch("all_figures", all_figures)
        write_report(self, path_of("path", path), title=title, all_figures=all_figures)

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
