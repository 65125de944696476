"""A study: what is wanted, made of a grid or a file, run into a folder, and its results read there.

A method belongs here if a user calls it on a study; what it needs is in modules of its own.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rai_sim.algorithms.base import Algorithm
from rai_sim.certification.verdicts import ALPHA
from rai_sim.problem import Problem
from rai_sim.simulation.simulate import checked_experiment
from rai_sim.simulation.workers import effective_workers
from rai_sim.study import tables
from rai_sim.study.arguments import caps_of, named_instances
from rai_sim.study.data import StudyData
from rai_sim.study.definition import Definition
from rai_sim.study.division import Part, read_part
from rai_sim.study.estimate import Estimate
from rai_sim.study.forecast import forecast
from rai_sim.study.interrupts import Interrupts
from rai_sim.study.ledger import Ledger
from rai_sim.study.opening import StudyFailed, StudyInterrupted, open_results
from rai_sim.study.results import StudyResults
from rai_sim.study.run import StudyRun
from rai_sim.study.stored import why_not_run
from rai_sim.study.task import Task
from rai_sim.study.time_limit import TimeLimitWarning, what_is_left
from rai_sim.support.checks import check_progress, check_workers
from rai_sim.support.durations import seconds_of
from rai_sim.support.errors import ArgumentTypeError
from rai_sim.support.forks import refuse_forked_polars
from rai_sim.support.values import entries, path_of


@dataclass(frozen=True, eq=False, repr=False)
class Study(Definition):
    """Tasks, and how many replications of each: a number, as many as a precision needs, or as many
    as tell on which side of delta the error rate lies.

    `grid` makes one from instances, algorithms and error probabilities, `from_toml` from a file.

    Parameters
    ----------
    tasks : sequence of Task
        At least one, no two of which have the same `id`.
    replications : int, optional
        Replications 0..replications-1 of every task; 1000 if neither this nor `precision` nor
        `until` is given.
    precision : float, optional
        Run each task until the 95 % interval of its mean number of pulls has at most this
        half-width, as a share of the mean: 0.01 for 1 %. How many replications that takes follows
        from the replications alone, see `rai_sim.study.stopping`.
    until : {"error rate"}, optional
        Run each task until its error rate is known to lie above delta, or to be at most delta; with
        a precision until that is reached, too. The evidence is anytime valid, as in `certify`, and
        corrected for the number of tasks, see `rai_sim.certification.verdicts`.
    alpha : float, default 0.05
        The probability that any verdict on the error rate of any task is wrong, at most: those that
        `until` waits for, and those in summaries, tables and figures of any study.
    most_replications : int, optional
        Where a task stops that has come to neither; 10^8 for a precision, the look at some
        200 / delta for an error rate, or at 10^8 if that is less, if None: a rate that is delta
        itself is never told from it.
    keep : {"replications", "aggregates", "arm_pulls", "arm_pulls_sum"}
        Keep a row for each replication, or exact sums and a histogram of pulls alone, in bounded
        memory. With "arm_pulls" rows have the pulls of each arm as well (at most 100,000 arms; 8
        bytes a number in memory, one or two on disk), with "arm_pulls_sum" the sums have theirs.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type or value, or a task stands there twice.

    Examples
    --------
    >>> import tempfile
    >>> import rai_sim as rai
    >>> study = rai.Study.grid(
    ...     {f"{n} arms": rai.best_arm(rai.Bernoulli(rai.instances.evenly_spaced(n))) for n in (3, 5)},
    ...     [rai.Vanilla(), rai.Butterscotch()], [0.1, 0.01], replications=50)
    >>> len(study.tasks)
    8
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame = study.run(folder).summary()
    >>> frame.select("instance", "algorithm", "delta", "replications").row(0)
    ('3 arms', 'Vanilla(merging=True)', 0.1, 50)
    """

    def __repr__(self) -> str:
        """Return how many tasks of what, and how many replications of each, in one line."""
        return f"Study({tables.grid_words(self.tasks)}; {tables.wanted_words(self)})"

    def _repr_html_(self) -> str:
        """Return the instances with what is run on them as a table, for notebooks."""
        return tables.study_html(self)

    @classmethod
    def grid(
        cls,
        instances: Mapping[str, Problem] | Iterable[Problem],
        algorithms: Iterable[Algorithm],
        deltas: Iterable[float],
        *,
        replications: int | None = None,
        precision: float | None = None,
        most_replications: int | None = None,
        seed: int = 0,
        skip_error: float = 1e-12,
        max_pulls: int | Iterable[int | None] | None = None,
        keep: str = "replications",
        until: str | None = None,
        alpha: float = ALPHA,
    ) -> Study:
        """Return the study of every instance with every algorithm and every error probability.

        Parameters
        ----------
        instances : mapping of str to Problem, or iterable of Problem
            The instances by name; without names they are called by their number, arms, clusters and
            requirements.
        algorithms : iterable of Algorithm
            Such as [rai.Vanilla(), rai.LUCB()].
        deltas : iterable of float
            Error probabilities.
        replications, precision, most_replications, keep, until, alpha
            As in `Study`.
        seed, skip_error
            As in `rai_sim.simulation.simulate`, for all tasks. Replication i of every task has the
            stream of (seed, i), so that algorithms can be compared in pairs.
        max_pulls : int, None, or iterable of them
            As there; of several each is a task of its own. Summaries then tell the error rate of
            what is recommended at each (`error_rate_at_cap`): error against budget.

        Raises
        ------
        TypeError, ValueError
            As `Study` and `rai_sim.simulation.simulate` do.

        Examples
        --------
        >>> import rai_sim as rai
        >>> rai.Study.grid([rai.table_problem()], [rai.LUCB()], [0.1, 0.01], precision=0.05).tasks[1].label
        'instance 1: 10 arms, clusters (3, 5, 2), required (1, 0, 0), LUCB(as_printed=False), delta 0.01'
        """
        named = named_instances(instances)
        if seed is None:
            raise ArgumentTypeError(
                "seed",
                "seed is None; a study is resumed by its seed: give a non-negative integer",
            )
        chosen = entries("algorithms", algorithms, "algorithms: [rai.Vanilla()]", "algorithm")
        levels = entries("deltas", deltas, "error probabilities: [0.1, 0.01]")
        caps = caps_of(max_pulls)
        tasks = [
            Task(name, checked_experiment(problem, algorithm, delta, seed, skip_error, cap))
            for name, problem in named.items()
            for algorithm in chosen
            for delta in levels
            for cap in caps
        ]
        return cls(
            tasks,
            replications=replications,
            precision=precision,
            most_replications=most_replications,
            keep=keep,
            until=until,
            alpha=alpha,
        )

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str], **changes: Any) -> Study:
        """Read a study from a TOML file; see `rai_sim.study.file` for its keys.

        Parameters
        ----------
        path : path
            The file.
        **changes
            Values for `replications`, `precision`, `until`, `alpha`, `most_replications` or `keep`
            in place of the file's.

        Raises
        ------
        StudyFileError
            A ValueError: the key's path, its value and the remedy.
        TypeError, ValueError
            If a change cannot be used, as for `Study`.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> file = Path(tempfile.mkdtemp()) / "study.toml"
        >>> _ = file.write_text('algorithms = ["lucb"]\\n[[instances]]\\ntable_task = [1, 2, 3]')
        >>> study = Study.from_toml(file, replications=50)
        >>> len(study.tasks), study.replications
        (3, 50)
        """
        from rai_sim.study.file import read_study

        return read_study(path, **changes)

    def run(
        self,
        folder: str | os.PathLike[str],
        *,
        n_jobs: int | None = 1,
        progress: bool | None = False,
        part: Part | str | tuple[int, int] | None = None,
        time_limit: float | str | None = None,
    ) -> StudyResults:
        """Run what the folder does not hold yet, and return everything.

        Of several processes that run a study into one folder at a time each claims some of the
        work as it goes, and all wait until everything is there.

        Parameters
        ----------
        folder : path
            Where results are kept; made if there is none. It may hold other studies' tasks, and
            several processes may write into it.
        n_jobs : int or None, default 1
            Workers, as in `rai_sim.simulation.simulate`.
        progress : bool or None, default False
            Show a bar over the grid, and how far a replication is that takes long, as in
            `rai_sim.simulation.simulate`; None shows it on a terminal or in a notebook only.
        part : str or (int, int), optional
            "3/16" or (3, 16) runs the third of sixteen shares alone, into a folder of its own
            (`rai_sim.merge_studies` unites them) or into one for all; "slurm" takes number and
            count from SLURM's variables of an array's job. See `rai_sim.study.division`: each share
            has ranges of replications; where a precision decides how many are run it has whole
            tasks. No number depends on it.
        time_limit : float or str, optional
            Stop after so many seconds, or so long ("90s", "30m", "2h", "1h30m"), compilation
            included: what was finished is stored, a TimeLimitWarning says what is left, and so does
            `cut_short` of the results. The same study run into the same folder goes on from there.
            A replication that is running is given up; a kernel that is being compiled is waited
            for, and what was sent to other processes for some seconds.

        Returns
        -------
        StudyResults
            The study's results, from the folder; those of a part, or where the time was up, are not
            complete.

        Raises
        ------
        StoreError
            An OSError: the folder cannot be used, or the disk is full. What was written before
            stays readable.
        StudyInterrupted
            A KeyboardInterrupt: on Ctrl-C or SIGTERM, after all finished blocks are written.
        RuntimeError
            In a process forked from one that has used polars, which cannot be used then: start
            processes with "spawn" or "forkserver".
        WorkersLost
            A ConnectionError: a cluster's scheduler is gone, or worker processes end again and
            again. What was finished is stored.
        StudyFailed
            If tasks cannot be run, after all others have been.

        Examples
        --------
        >>> import tempfile
        >>> import rai_sim as rai
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for n in (20, 100):  # the second run adds 80
        ...         study = rai.Study.grid([rai.table_problem()], [rai.Vanilla()], [0.01], replications=n)
        ...         results = study.run(folder)
        ...     results.result(study.tasks[0]) == rai.simulate(rai.table_problem(), rai.Vanilla(), replications=100, seed=0)
        True
        """
        n_jobs, share = check_workers(n_jobs), read_part(part)
        check_progress(progress)
        limit = None if time_limit is None else seconds_of("time_limit", time_limit)
        if (flaw := why_not_run(self.tasks)) is not None:
            raise ValueError(flaw)
        place = path_of("folder", folder)
        run: StudyRun | None = None
        with Interrupts() as interrupts:
            try:
                with interrupts.held():  # polars would turn Ctrl-C into errors of other kinds
                    data = StudyData(place, self.keep, self.limit, self.decides, interrupts.heed)
                    run = StudyRun(self, data, n_jobs, progress, interrupts, share, limit)
                run.run()
            except KeyboardInterrupt:
                if run is None:
                    raise StudyInterrupted(place, None, self) from None
                interrupts.asked = True
            with interrupts.held():
                results = StudyResults(data, self)
                interrupted = interrupts.asked and not run.is_done()
                if limit is not None and run.is_cut_short():
                    results.cut_short = what_is_left(limit, results, run.seconds_left())
        if interrupted:
            raise StudyInterrupted(place, results, self)
        if run.failures:
            raise StudyFailed(
                results, {self.tasks[at]: error for at, error in run.failures.items()}
            )
        if results.cut_short is not None:
            warnings.warn(
                f"{results.cut_short}; the same study run into the same folder goes on from there",
                TimeLimitWarning,
                stacklevel=2,
            )
        return results

    def estimate(
        self,
        folder: str | os.PathLike[str] | None = None,
        *,
        n_jobs: int | None = 1,
        pilot_time: float | str = 1.0,
        progress: bool | None = False,
    ) -> Estimate:
        """Say what running the study will cost: seconds, pulls and bytes, by task and in all.

        The first replications of each task are run, with their own streams and nothing stored: 16,
        more where they are short, fewer where they are long. For a precision the pilot's mean and
        deviation tell how many will be needed, for an error rate its errors. Kernels are compiled
        before, which does not count.

        Parameters
        ----------
        folder : path, optional
            Where the study will be run: what is there already is not left, and what is stored tells
            more than a pilot. None for nothing.
        n_jobs : int or None, default 1
            Workers that the study will have; the pilot has one.
        pilot_time : float or str, default 1.0
            Seconds that the pilot of a task may take at most, or as long as "30s" or "2m". Of a
            task of which a replication does not end in time the estimate is a lower bound, and says
            so.
        progress : bool or None, default False
            Show a bar over the tasks.

        Returns
        -------
        Estimate
            Print it for a table; `seconds`, `pulls`, `disk_bytes`, `rows`, `to_frame()`.

        Raises
        ------
        StoreError
            If the folder holds something else.

        Examples
        --------
        >>> import rai_sim as rai
        >>> study = rai.Study.grid([rai.table_problem()], [rai.Butterscotch()], [0.1], replications=500)
        >>> found = study.estimate()
        >>> found.replications, found.pulls, found.at_least
        (500, 3710000.0, False)
        """
        n_jobs, seconds = check_workers(n_jobs), seconds_of("pilot_time", pilot_time)
        check_progress(progress)
        if (flaw := why_not_run(self.tasks)) is not None:
            raise ValueError(flaw)
        refuse_forked_polars("Study.estimate")
        place = None if folder is None else path_of("folder", folder)
        there = Ledger(self.limit, self.decides)
        if place is not None and place.is_dir() and any(place.iterdir()):
            there = self.results(place).ledger
        return forecast(self, there, effective_workers(n_jobs), seconds, progress)

    def results(self, folder: str | os.PathLike[str]) -> StudyResults:
        """Return the study's results as far as the folder holds them, without running or writing
        anything.

        Raises
        ------
        StoreError
            If the folder is no store.
        StudyInterrupted
            On Ctrl-C.

        Examples
        --------
        >>> import tempfile
        >>> import rai_sim as rai
        >>> folder = tempfile.mkdtemp()
        >>> small, large = (rai.Study.grid([rai.table_problem()], [rai.Vanilla()], [0.01], replications=n) for n in (5, 20))
        >>> _ = small.run(folder)
        >>> large.results(folder).progress()
        (5, 20)
        """
        return open_results(path_of("folder", folder), self, self.limit, self.decides)
