"""A study: which tasks, how many replications of each, and what to keep."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from rai_sim.algorithms.base import Algorithm
from rai_sim.certification.verdicts import ALPHA, check_alpha, level_of_each
from rai_sim.problem import Problem
from rai_sim.simulation.arm_pulls import BY_REPLICATION, SUMMED
from rai_sim.simulation.simulate import checked_experiment
from rai_sim.simulation.statistics import Sums
from rai_sim.simulation.workers import effective_workers
from rai_sim.study import tables
from rai_sim.study.data import StudyData
from rai_sim.study.division import Part, read_part
from rai_sim.study.error_rate import ERROR_RATE, follow_errors, later, most_of
from rai_sim.study.estimate import Estimate
from rai_sim.study.forecast import forecast
from rai_sim.study.interrupts import Interrupts
from rai_sim.study.ledger import Ledger, Pieces
from rai_sim.study.results import StudyInterrupted, StudyResults, open_results
from rai_sim.study.run import StudyRun
from rai_sim.study.schemas import KEEPS
from rai_sim.study.stopping import Verdict, follow
from rai_sim.study.stored import why_not_run
from rai_sim.study.task import Task
from rai_sim.study.time_limit import TimeLimitWarning, what_is_left
from rai_sim.support import html_tables
from rai_sim.support.checks import check_count, check_progress, check_workers
from rai_sim.support.columns import cells, titles
from rai_sim.support.durations import seconds_of
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError
from rai_sim.support.forks import refuse_forked_polars
from rai_sim.support.values import real, short

#: Replications of a task if neither their number nor a precision is given, and the most a precision
#: may take.
_REPLICATIONS, _MOST_REPLICATIONS = 1000, 10**8
#: A finer precision would need more than 10^11 replications.
_LEAST_PRECISION = 1e-6
#: Pulls by arm and replication are kept of at most so many arms, 0.8 MB a replication.
_MOST_ARMS_BY_ROW = 100_000


class StudyFailed(RuntimeError):
    """Some tasks of a study could not be run; `.failures` maps them to errors, `.results` holds all
    the others.

    Examples
    --------
    >>> import tempfile
    >>> import rai_sim as rai
    >>> problems = {
    ...     "short": rai.best_arm(rai.Recorded([[1.0], [0.0]])),
    ...     "coins": rai.best_arm(rai.Bernoulli([0.9, 0.1])),
    ... }
    >>> study = rai.Study.grid(problems, [rai.Vanilla()], [0.1], replications=1)
    >>> try:
    ...     study.run(tempfile.mkdtemp())
    ... except rai.StudyFailed as failed:
    ...     [task.instance for task in failed.failures], failed.results.progress()
    (['short'], (1, 2))
    """

    def __init__(self, results: StudyResults, failures: Mapping[Task, Exception]) -> None:
        """Keep results and errors."""
        task, error = next(iter(failures.items()))
        super().__init__(
            f"{len(failures)} of {len(results.tasks)} tasks failed, what could be run is in "
            f"{results.folder}; "
            f"the first is {task.label}: {error}"
        )
        self.results, self.failures = results, failures


@dataclass(frozen=True, eq=False)
class Study:
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

    tasks: Sequence[Task]
    replications: int | None = None
    precision: float | None = None
    most_replications: int | None = None
    keep: str = "replications"
    until: str | None = None
    alpha: float = ALPHA

    def __post_init__(self) -> None:
        """Check everything."""
        object.__setattr__(self, "tasks", tuple(self.tasks))
        if not self.tasks:
            raise ArgumentValueError(
                "tasks",
                "tasks is empty; a study has at least one instance, one algorithm and one delta",
            )
        for task in self.tasks:
            if not isinstance(task, Task):
                raise ArgumentTypeError(
                    "tasks",
                    f"tasks holds {short.repr(task)}; every entry must be a Task: Study.grid makes them",
                )
        seen: dict[str, Task] = {}
        for task in self.tasks:
            if task.key in seen:
                raise ArgumentValueError(
                    "tasks",
                    f"tasks holds the same task twice, as {seen[task.key].label!r} and as "
                    f"{task.label!r}; leave one out",
                )
            seen[task.key] = task
        self._check_numbers()
        self._check_keep()

    def _check_numbers(self) -> None:
        """Check what says how many replications there are to be."""
        for name in ("precision", "until"):
            value = getattr(self, name)
            if self.replications is not None and value is not None:
                raise ArgumentValueError(
                    name,
                    f"{name} is {short.repr(value)} and replications is {self.replications}; give "
                    "one of the two",
                )
        if self.until is not None:
            object.__setattr__(self, "until", _check_until(self.until))
        object.__setattr__(self, "alpha", check_alpha(self.alpha))
        if self.precision is not None:
            object.__setattr__(self, "precision", _check_precision(self.precision))
        elif self.until is None:
            n = (
                _REPLICATIONS
                if self.replications is None
                else check_count("replications", self.replications, 1)
            )
            object.__setattr__(self, "replications", n)
        if self.most_replications is not None:
            most = check_count("most_replications", self.most_replications, 2)
            object.__setattr__(self, "most_replications", most)

    def _check_keep(self) -> None:
        if not isinstance(self.keep, str) or self.keep not in KEEPS:
            raise ArgumentValueError(
                "keep",
                f"keep is {short.repr(self.keep)}; choose one of {', '.join(map(repr, KEEPS))}",
            )
        if self.keep == BY_REPLICATION:
            most = max(self.tasks, key=lambda task: task.experiment.problem.n_arms)
            n_arms = most.experiment.problem.n_arms
            if n_arms > _MOST_ARMS_BY_ROW:
                raise ArgumentValueError(
                    "keep",
                    f"keep is {self.keep!r}, but {most.instance!r} has {n_arms:,} arms, that many "
                    f"numbers a replication; it is for at most {_MOST_ARMS_BY_ROW:,}: take "
                    f"{SUMMED!r}, which keeps their sums",
                )

    def __repr__(self) -> str:
        """Return how many tasks of what, and how many replications of each, in one line."""
        return f"Study({tables.grid_words(self.tasks)}; {tables.wanted_words(self)})"

    def _repr_html_(self) -> str:
        """Return the instances with what is run on them as a table, for notebooks; of many
        instances the first ones."""
        instances, most = tables.instance_rows(self.tasks), html_tables.MOST_ROWS
        columns = tables.INSTANCE_COLUMNS.pick(
            "instance",
            "law",
            "n_arms",
            "clusters",
            "required",
            "bottleneck_gap_reward",
            "algorithms",
            "deltas",
            "tasks",
        )
        rows = [cells(columns, instance) for instance in instances[:most]]
        more = (
            f"... and {len(instances) - most:,} more instances; tasks has all"
            if len(instances) > most
            else ""
        )
        return html_tables.block(
            repr(self), html_tables.table(titles(columns), rows, left=2), html_tables.line(more)
        )

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
        named = instances if isinstance(instances, Mapping) else _named(instances)
        if seed is None:
            raise ArgumentTypeError(
                "seed",
                "seed is None; a study is resumed by its seed: give a non-negative integer",
            )
        chosen, levels, caps = list(algorithms), list(deltas), _caps(max_pulls)
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

    def verdict(self, task: Task, pieces: Pieces) -> Verdict:
        """Return where a task stands.

        Parameters
        ----------
        task : Task
            The task.
        pieces : Pieces
            What there is of it in a store (`rai_sim.study.ledger`).

        Returns
        -------
        Verdict
            How many replications are needed, and whether that is final (`rai_sim.study.stopping`).
        """
        if self.replications is not None:
            return Verdict(self.replications, not pieces.gaps(0, self.replications), False)

        def prefix(n: int) -> Sums | None:
            # Sums stored by a study with another limit may not be cut at ours: then a few more
            # replications count.
            return pieces.prefix(n) or (None if pieces.gaps(0, n) else pieces.total_sums(n)[1])

        found = [
            *([] if self.precision is None else [follow(self.precision, self.most, prefix)]),
            *([] if self.until is None else [self._follow_errors(task, prefix)]),
        ]
        return reduce(later, found)

    def _follow_errors(self, task: Task, prefix: Callable[[int], Sums | None]) -> Verdict:
        delta = task.experiment.delta
        return follow_errors(delta, self.level, self.most_of_errors(delta), prefix)

    @property
    def decides(self) -> bool:
        """Whether the replications themselves decide how many there are to be."""
        return self.replications is None

    @property
    def most(self) -> int:
        """The most replications that a precision may take."""
        return _MOST_REPLICATIONS if self.most_replications is None else self.most_replications

    def most_of_errors(self, delta: float) -> int:
        """Return the most replications that a verdict on an error rate may take.

        Parameters
        ----------
        delta : float
            The task's delta.

        Returns
        -------
        int
            `most_replications` where that is given.
        """
        return most_of(delta) if self.most_replications is None else self.most_replications

    @property
    def level(self) -> float:
        """The level at which a single task's error rate is judged."""
        return level_of_each(self.alpha, len(self.tasks))

    @property
    def limit(self) -> int | None:
        """A number of replications at which sums of the first so many must be known, if it is no
        look."""
        if self.replications is not None:
            return self.replications
        return self.most if self.precision is not None else self.most_replications

    def describe(self) -> dict[str, Any]:
        """Return what is wanted, for the record of a run; the tasks themselves are written into the
        store.

        Examples
        --------
        >>> import rai_sim as rai
        >>> study = rai.Study.grid([rai.table_problem()], [rai.Vanilla()], [0.1], replications=50)
        >>> told = study.describe()
        >>> told["tasks"], told["replications"], told["algorithms"]
        (1, 50, ['Vanilla(merging=True)'])
        """
        return {
            "tasks": len(self.tasks),
            "replications": self.replications,
            "precision": self.precision,
            "until": self.until,
            "alpha": self.alpha,
            "most_replications": self.limit if self.decides else None,
            "keep": self.keep,
            "tasks_sha256": hashlib.sha256(
                " ".join(sorted(task.key for task in self.tasks)).encode()
            ).hexdigest(),
            "seeds": sorted({task.experiment.seed for task in self.tasks}),
            "skip_errors": sorted({task.experiment.skip_error for task in self.tasks}),
            "deltas": sorted({task.experiment.delta for task in self.tasks}),
            "algorithms": sorted(
                {
                    algorithm.label
                    # few objects of many tasks
                    for algorithm in {
                        id(task.experiment.algorithm): task.experiment.algorithm
                        for task in self.tasks
                    }.values()
                }
            ),
            "instances": sorted({task.instance for task in self.tasks}),
        }

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
        place = Path(folder)
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
        place = None if folder is None else Path(folder)
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
        return open_results(Path(folder), self, self.limit, self.decides)


def _named(problems: Iterable[Problem]) -> dict[str, Problem]:
    named = {}
    for number, problem in enumerate(problems, 1):
        words = (
            f"{problem.n_arms} arms, clusters {problem.clusters}, required {problem.required}"
            if isinstance(problem, Problem)
            else "?"
        )
        named[f"instance {number}: {words if len(words) < 80 else words[:77] + '...'}"] = problem
    return named


def _caps(max_pulls: int | Iterable[int | None] | None) -> list[int | None]:
    """Return the caps of a grid: one, or several; each is checked with its task."""
    single = isinstance(max_pulls, str) or getattr(max_pulls, "shape", None) == ()
    several = isinstance(max_pulls, Iterable) and not single
    caps: list[Any] = list(max_pulls) if several else [max_pulls]  # type: ignore[arg-type]
    if not caps:
        raise ArgumentValueError(
            "max_pulls", "max_pulls is empty; give None, a number of pulls, or several of them"
        )
    return caps


def _check_until(value: object) -> str:
    if not isinstance(value, str) or value.lower().replace("-", " ") != ERROR_RATE:
        kind = ArgumentValueError if isinstance(value, str) else ArgumentTypeError
        raise kind(
            "until", f"until is {short.repr(value)}; the one that there is is {ERROR_RATE!r}"
        )
    return ERROR_RATE


def _check_precision(value: object) -> float:
    share = real("precision", value)
    if not _LEAST_PRECISION <= share < 1.0:
        raise ArgumentValueError(
            "precision",
            f"precision is {short.repr(value)}; it is a share of the mean between "
            f"{_LEAST_PRECISION} and 1, such as 0.01 for 1 %",
        )
    return share
