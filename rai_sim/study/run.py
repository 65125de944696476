"""Running what a study misses: units of work to workers, blocks to the store.

The work is cut into jobs of about a fifth of a second: of several tasks where they are short, of a
task's part where it is long. Nothing about a replication's numbers depends on the cut, nor on the
order.
"""

from __future__ import annotations

import math
import os
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.blocks import Block, copy_of, part_of
from rai_sim.engine.faults import KernelStopped
from rai_sim.simulation.compilation import compile_seconds
from rai_sim.simulation.experiment import Experiment
from rai_sim.simulation.provenance import environment, now
from rai_sim.simulation.simulate import next_size
from rai_sim.simulation.workers import block_for, effective_workers, run_into, share_memory, spread
from rai_sim.study.data import Rows, StudyData, note
from rai_sim.study.interrupts import Interrupts
from rai_sim.study.ledger import Ledger, Pieces
from rai_sim.study.progress import Progress
from rai_sim.study.stopping import FIRST_LOOK, TO_A_DOUBLING

if TYPE_CHECKING:
    from rai_sim.study.grid import Study

#: What a job should take; Ctrl-C waits for the jobs that have begun.
_JOB_SECONDS = 0.2
#: What a task is taken to need, a replication, until one was run.
_GUESS = 1e-5
#: Of each task so many replications come first where progress is shown, unless there are more
#: pieces of work than the second number.
_PILOT, _MOST_PILOTS = 16, 2000
#: Half-width of a 95 % interval in standard errors, for estimates.
_NORMAL = 1.96
#: A unit has at most so many replications, that a block of them stays small, and as many entries.
_MOST_IN_UNIT, _MOST_ENTRIES = 1 << 17, 1 << 23
#: Finished blocks wait in memory for this share of the time a run has taken, within limits in
#: seconds, or until they have as many bytes.
_FLUSH_SHARE, _FLUSH_LEAST, _FLUSH_MOST, _FLUSH_BYTES = 0.01, 1.0, 60.0, 1 << 26


class Unit(NamedTuple):
    """Replications start..stop-1 of a task, of which `seconds` a replication are expected; NaN if
    nothing is known."""

    task: int
    experiment: Experiment
    start: int
    stop: int
    seconds: float


class Outcome(NamedTuple):
    """What became of a unit: its rows from `start` on, maybe not all, the time a replication (NaN:
    none was run), and what went wrong.

    `took` seconds for `timed` of its replications are without what loading a kernel takes, and
    without compilation, `compiling` seconds. `stopped` tells whether a signal stopped the job.
    """

    task: int
    start: int
    stop: int
    rows: Rows | None
    seconds: float
    error: Exception | None
    took: float = 0.0
    timed: int = 0
    compiling: float = 0.0
    stopped: bool = False

    @property
    def reached(self) -> int:
        """The first replication that was not run."""
        return self.start if self.rows is None else self.rows.stop


def run_job(home: int, units: Sequence[Unit]) -> list[Outcome]:
    """Run units until all are done or the time is up; the last ones may be cut short or left out.
    `home` is the study's process."""
    # A terminal sends Ctrl-C to worker processes as well, which are to finish what they have begun.
    with Interrupts() if os.getpid() != home else nullcontext():
        deadline, outcomes = time.perf_counter() + _JOB_SECONDS, list[Outcome]()
        for unit in units:
            begin = not outcomes or (time.perf_counter() < deadline and not outcomes[-1].stopped)
            outcomes.append(
                _run_unit(unit, deadline)
                if begin
                else _outcome(unit)._replace(stopped=outcomes[-1].stopped)
            )
        return outcomes


def _run_unit(unit: Unit, deadline: float) -> Outcome:
    """Run at least one replication of a unit."""
    count = unit.stop - unit.start
    block = block_for(unit.experiment, count)
    done, seconds = 0, unit.seconds
    took, timed, compiled = 0.0, 0, compile_seconds()

    def outcome(error: Exception | None = None) -> Outcome:
        return _outcome(unit, block, done, seconds, error)._replace(
            took=took, timed=timed, compiling=compile_seconds() - compiled
        )

    size = 1 if math.isnan(seconds) else _fitting(seconds, deadline - time.perf_counter())
    while done < count:
        size = min(size, count - done)
        began, before = time.perf_counter(), compile_seconds()
        try:
            run_into(
                unit.experiment,
                unit.start + done,
                block if size == count else part_of(block, done, done + size),
            )
        except KernelStopped as stopped:
            done += stopped.replications
            return outcome()._replace(stopped=True)
        # a recording that ran out, too many pulls, no memory: this task's affair, the others go on
        except Exception as error:
            return outcome(error)
        # a second Ctrl-C: what is finished is handed over, and no job follows
        except KeyboardInterrupt:
            return outcome()
        ended = time.perf_counter()
        spent = max(ended - began - (compile_seconds() - before), 0.0)
        if done or not math.isnan(unit.seconds):  # else it may have loaded the kernel
            took, timed = took + spent, timed + size
        done, seconds = done + size, spent / size
        if ended > deadline:
            break
        size = min(next_size(size, spent), _fitting(seconds, deadline - ended))
    return outcome()


def _outcome(
    unit: Unit,
    block: Block | None = None,
    done: int = 0,
    seconds: float = math.nan,
    error: Exception | None = None,
) -> Outcome:
    rows = None
    if block is not None and done:
        whole = block if done == len(block.pulls) else part_of(block, 0, done)
        if 2 * done < len(block.pulls):  # a short part must not keep the whole alive
            whole = copy_of(whole)
        rows = Rows(unit.experiment.identity().rpartition(":")[2], unit.start, whole)
    return Outcome(unit.task, unit.start, unit.stop, rows, seconds, error)


def _fitting(seconds: float, left: float) -> int:
    return max(1, int(left / max(seconds, 1e-9)))


class State:
    """How far each task is, and what is still to come: for the display alone, without influence on
    what is run.

    Parameters
    ----------
    study : Study
        What is wanted.
    there : mapping of str to Pieces
        What is there of each task, by its key, in the study's order.
    """

    def __init__(self, study: Study, there: Mapping[str, Pieces]) -> None:
        """Start from what is there."""
        self._place = {key: at for at, key in enumerate(there)}
        self._precision, self._most = study.precision, study.most_replications
        #: Replications needed as far as is known, and whether they are all.
        self.wanted = np.zeros(len(there), np.int64)
        self.final = np.zeros(len(there), np.bool_)
        #: Seconds a replication took at last, NaN where none was run.
        self.seconds = np.full(len(there), np.nan)
        # Seconds spent, and on how many replications.
        self._spent = np.zeros((2, len(there)))
        # Replications, finished ones, and sums of their pulls and squares, as doubles: good enough
        # for a display.
        self._moments = np.zeros((4, len(there)))
        for at, pieces in enumerate(there.values()):
            _, seen = pieces.total()
            if seen is not None:
                self._moments[:, at] = (
                    pieces.replications,
                    seen.finished,
                    float(seen.pulls_sum),
                    float(seen.pulls_squares),
                )
        runs = [task.experiment for task in study.tasks]
        # By what tasks are like each other, the nearest first.
        kinds: tuple[Callable[[Experiment], object], ...] = (
            _same_but_delta,
            likeness,
            lambda run: run.algorithm,
            lambda run: 0,
        )
        self._groups = [_numbered([kind(run) for run in runs]) for kind in kinds]

    def note(self, rows: Sequence[Rows]) -> None:
        """Count replications that were run."""
        if not rows:
            return
        lengths = np.array([len(one.block.pulls) for one in rows])
        finished = np.concatenate([one.block.finished for one in rows])
        pulls = np.concatenate([one.block.pulls for one in rows]) * finished.astype(np.float64)
        sums = np.add.reduceat(
            np.stack([finished, pulls, pulls * pulls]), np.cumsum(lengths) - lengths, axis=1
        )
        places = np.array([self._place[one.task] for one in rows])
        for moment, added in zip(self._moments, (lengths, *sums), strict=True):
            np.add.at(moment, places, added)

    def note_time(self, task: int, took: float, timed: int) -> None:
        """Count the seconds that replications of a task took."""
        self._spent[:, task] += took, timed

    @property
    def total(self) -> int:
        """Replications wanted: those of tasks that are not finished are estimated from the
        variances seen so far."""
        return int(self._estimated().sum())

    @property
    def done(self) -> int:
        """Replications that are there, of those wanted."""
        return int(np.minimum(self._moments[0], self._estimated()).sum())

    @property
    def tasks_done(self) -> int:
        """Number of tasks of which nothing more is wanted, as far as is known."""
        return int(
            np.count_nonzero(
                self.final if self._precision is not None else self._moments[0] >= self.wanted
            )
        )

    def seconds_left(self) -> float:
        """Return the work left in seconds, each task at its own time a replication; those never run
        are taken to be like others."""
        left = np.maximum(self._estimated() - self._moments[0], 0.0)
        if not left.any():
            return 0.0
        each = self._like_others(self._ratio(*self._spent))
        return float((left * each).sum())  # NaN if nothing was run

    def _estimated(self) -> NDArray[np.float64]:
        """Return the replications of each task that will have been run in the end."""
        wanted = self.wanted.astype(np.float64)
        if self._precision is None:
            return wanted
        there, n, total, squares = self._moments
        enough = n >= _PILOT
        mean = self._ratio(total, n * enough)
        # Of few replications the variance is divided by n - 1.
        spread = self._like_others(
            (self._ratio(squares, n * enough) / mean**2 - 1.0) * n / np.maximum(n - 1.0, 1.0)
        )
        finished = self._like_others(self._ratio(n, there * enough))
        needed = spread * (_NORMAL / self._precision) ** 2 / finished
        steps = np.ceil(TO_A_DOUBLING * np.log2(np.maximum(needed, FIRST_LOOK) / FIRST_LOOK))
        looks = np.minimum(FIRST_LOOK * 2.0 ** (steps / TO_A_DOUBLING), self._most)
        return np.where(self.final | np.isnan(looks), wanted, np.maximum(wanted, np.ceil(looks)))

    @staticmethod
    def _ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a ratio, NaN where nothing is below."""
        found = np.full(len(above), np.nan)
        np.divide(above, below, out=found, where=below > 0.0)
        return found

    def _like_others(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values with those missing replaced by the mean of tasks like them, the nearest of
        which something is known."""
        filled = values.copy()
        known = ~np.isnan(values)
        for group in self._groups:
            missing = np.isnan(filled)
            if not missing.any():
                break
            sums, counts = (
                np.bincount(group[known], weights, group.max() + 1)
                for weights in (values[known], known[known].astype(float))
            )
            means = self._ratio(sums.astype(np.float64), counts.astype(np.float64))
            filled[missing] = means[group[missing]]
        return filled

    def worst_error(self) -> float:
        """Return the largest half-width of a 95 % interval of mean pulls, as a share of the mean;
        NaN if none is known."""
        _, n, total, squares = self._moments[:, self._moments[1] > 1]
        if not len(n):
            return math.nan
        mean = total / n
        return float(
            (_NORMAL * np.sqrt(np.maximum(squares / n - mean**2, 0.0) / (n - 1)) / mean).max()
        )


def _numbered(keys: Sequence[object]) -> NDArray[np.int64]:
    """Return a number for each key, the same for equal ones."""
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)


def _same_but_delta(run: Experiment) -> tuple[object, ...]:
    return run.problem.identity(), run.algorithm, run.max_pulls, run.skip_error == 0.0


def likeness(run: Experiment) -> tuple[object, ...]:
    """Return what experiments share that take about as long a replication."""
    problem = run.problem
    gap = math.frexp(min(problem.bottleneck_gap, 1.0))[1] // 2
    return (
        type(problem.arms),
        run.algorithm,
        problem.n_arms.bit_length(),
        problem.n_clusters.bit_length(),
        gap,
        run.skip_error == 0.0,
    )


class StudyRun:
    """One run of a study into a store.

    Parameters
    ----------
    study : Study
        What is wanted.
    data : StudyData
        The store, open for writing.
    n_jobs : int or None
        Workers, as in `rai_sim.simulation.simulate`.
    progress : bool or None
        Whether to show a bar.
    interrupts : Interrupts
        Entered: tells whether to stop.
    """

    def __init__(
        self,
        study: Study,
        data: StudyData,
        n_jobs: int | None,
        progress: bool | None,
        interrupts: Interrupts,
    ) -> None:
        """Write down what is to be run."""
        self.study, self.data, self.n_jobs = study, data, n_jobs
        self.workers = effective_workers(n_jobs)
        self.failures: dict[int, Exception] = {}
        self.interrupts = interrupts
        self._pending: deque[Unit] = deque()
        self._outcomes: deque[list[Outcome]] = deque()
        self._rows: list[Rows] = []
        self._sums = Ledger(data.ledger.cut)
        self._bytes = 0
        self._added = 0
        self._warm: set[object] = set()
        self._likeness = [likeness(task.experiment) for task in study.tasks]
        self._like: dict[tuple[object, ...], float] = {}
        self._piloted = False
        self._compiled, self._compiled_elsewhere = compile_seconds(), 0.0
        self._began = self._flushed = time.monotonic()
        self._record = {
            "run": f"{now().replace(':', '').replace('-', '')[:15]}Z-{secrets.token_hex(4)}",
            "status": "running",
            "started": now(),
            "ended": None,
            "replications_added": 0,
            "seconds": 0.0,
            "compile_seconds": 0.0,
            "study": study.describe(),
            "n_jobs": n_jobs,
            "workers": self.workers,
            **environment(),
        }
        self._about = {
            "run": str(self._record["run"]),
            "rai_sim": str(self._record["rai_sim"]),
            "stream_version": str(self._record["stream_version"]),
        }
        self._write_record()
        self.data.add_tasks(study.tasks, self._about)
        self._state = State(study, {task.key: data.ledger[task.key] for task in study.tasks})
        self._progress = Progress(len(study.tasks), progress, self.workers)

    def _write_record(self) -> None:
        here = compile_seconds() - self._compiled
        self._record["replications_added"] = self._added
        # of work, without compilation
        self._record["seconds"] = round(max(time.monotonic() - self._began - here, 0.0), 3)
        # of worker processes: added up
        self._record["compile_seconds"] = round(here + self._compiled_elsewhere, 3)
        self.data.store.write_json(f"run-{self._record['run']}.json", self._record)

    def run(self) -> None:
        """Run everything that is missing, or what can be before Ctrl-C; `interrupts.asked`
        tells."""
        status = "failed"
        try:
            try:
                while self._plan():
                    self._wave()
            except KeyboardInterrupt:  # a second one, or one that reached a worker
                self.interrupts.asked = True
            finally:  # whatever happened, what was finished is written
                with self.interrupts.held():
                    self._take_all()
                    self._flush()
            with self.interrupts.held():
                self._show()
            status = (
                "interrupted"
                if self.interrupts.asked
                else "failed"
                if self.failures
                else "finished"
            )
        finally:
            with self.interrupts.held():
                self._progress.close()
                self._record |= {"status": status, "ended": now()}
                self._record["failures"] = {
                    self.study.tasks[at].label: str(error) for at, error in self.failures.items()
                }
                self._write_record()

    # Planning
    # ----------------------------------------------------------------------------------------------

    def _plan(self) -> bool:
        """Queue what the replications so far show to be missing; return whether there is anything
        to do."""
        self._pending.clear()
        for at, task in enumerate(self.study.tasks):
            if at not in self.failures:
                pieces = self.data.ledger[task.key]
                verdict = self.study.verdict(pieces)
                self._state.wanted[at], self._state.final[at] = verdict.replications, verdict.final
                if not verdict.final:
                    self._pending += [
                        self._unit(at, start, stop)
                        for start, stop in pieces.gaps(0, verdict.replications)
                    ]
        if self._progress.shown and not self._piloted and len(self._pending) <= _MOST_PILOTS:
            self._put_pilots_first()
        self._piloted = True
        return bool(self._pending) and not self.interrupts.asked

    def _put_pilots_first(self) -> None:
        """Let a few replications of each task come first, so that early on something is known of
        all of them; no number depends on it."""
        pilots, rest = deque[Unit](), deque[Unit]()
        for unit in self._pending:
            cut = min(unit.start + _PILOT, unit.stop) if unit.start == 0 else unit.start
            if cut > unit.start:
                pilots.append(unit._replace(stop=cut))
            if cut < unit.stop:
                rest.append(unit._replace(start=cut))
        self._pending = pilots + rest

    def _unit(self, at: int, start: int, stop: int) -> Unit:
        return Unit(at, self.study.tasks[at].experiment, start, stop, math.nan)

    def _jobs(self) -> Iterator[list[Unit]]:
        """Yield jobs as long as there is work and nobody has pressed Ctrl-C."""
        while self._pending and not self.interrupts.asked:
            job: list[Unit] = []
            left = _JOB_SECONDS
            while self._pending and left > 0.0:
                unit = self._first_of(self._pending.popleft(), left)
                if unit is not None:
                    job.append(unit)
                    known = not math.isnan(unit.seconds)
                    left -= (unit.stop - unit.start) * (unit.seconds if known else _GUESS)
                    # it may take long: the others are for other workers
                    if not known and self.workers > 1:
                        break
            if job:
                yield job

    def _first_of(self, unit: Unit, left: float) -> Unit | None:
        """Return so much of a unit as a job has time for, and put the rest back; None if nothing is
        to be done."""
        gaps = self.data.ledger[self.study.tasks[unit.task].key].gaps(unit.start, unit.stop)
        if not gaps or unit.task in self.failures:  # another process may have done it
            return None
        start, stop = gaps[0]
        seconds = self._expected(unit.task)
        width = max(1, sum(unit.experiment.problem.required))
        most = min(
            stop - start,
            _MOST_IN_UNIT,
            max(1, _MOST_ENTRIES // width),
            _fitting(_GUESS if math.isnan(seconds) else seconds, left),
        )
        if self.workers > 1:  # the last units are shared out
            others = 1 if math.isnan(seconds) else len(self._pending) + 1
            most = min(most, max(1, math.ceil((stop - start) * others / (2 * self.workers))))
        if start + most < unit.stop:
            self._pending.appendleft(unit._replace(start=start + most))
        return unit._replace(start=start, stop=start + most, seconds=seconds)

    def _expected(self, task: int) -> float:
        """Return what a replication of a task took, or one of a task like it; NaN if there was
        none."""
        seconds = float(self._state.seconds[task])
        return self._like.get(self._likeness[task], math.nan) if math.isnan(seconds) else seconds

    # Running
    # ----------------------------------------------------------------------------------------------

    def _wave(self) -> None:
        """Run all that is queued, including what jobs leave over."""
        here = share_memory(self.n_jobs)
        run = self._run_here if here else partial(run_job, os.getpid())
        while self._pending and not self.interrupts.asked:
            with closing(spread(run, self._jobs(), self.n_jobs)) as jobs:
                for outcomes in jobs:
                    if not here:
                        self._compiled_elsewhere += sum(outcome.compiling for outcome in outcomes)
                        self._outcomes.append(outcomes)
                    self._take_all()
        self._flush()

    def _run_here(self, units: Sequence[Unit]) -> list[Outcome]:
        """Run a job in this process, and leave what came of it where nothing that strikes the main
        thread can lose it."""
        outcomes = run_job(os.getpid(), units)
        self._outcomes.append(outcomes)
        return outcomes

    def _take_all(self) -> None:
        while self._outcomes:
            self._take(self._outcomes.popleft())

    def _take(self, outcomes: Sequence[Outcome]) -> None:
        """Keep what a job has finished and queue what it has left."""
        for outcome in reversed(outcomes):  # so that what is left comes next, in its order
            self._note_time(outcome)
            if outcome.error is not None:
                self.failures.setdefault(outcome.task, outcome.error)
            elif outcome.reached < outcome.stop:
                self._pending.appendleft(self._unit(outcome.task, outcome.reached, outcome.stop))
        self._keep([outcome.rows for outcome in outcomes if outcome.rows is not None])
        run_for = time.monotonic() - self._began
        patience = min(max(_FLUSH_SHARE * run_for, _FLUSH_LEAST), _FLUSH_MOST)
        if self._bytes > _FLUSH_BYTES or time.monotonic() - self._flushed > patience:
            self._flush()
        if self._progress.due:
            self._show()

    def _note_time(self, outcome: Outcome) -> None:
        """Remember what a replication takes; the first time of a kind of kernel has its
        compilation, or loading, in it."""
        run = self.study.tasks[outcome.task].experiment
        kind = (type(run.problem.arms), run.algorithm)
        if outcome.timed:
            self._state.note_time(outcome.task, outcome.took, outcome.timed)
        elif kind in self._warm and outcome.reached > outcome.start:
            count = outcome.reached - outcome.start
            self._state.note_time(outcome.task, count * outcome.seconds, count)
        if math.isnan(outcome.seconds):
            return
        if kind not in self._warm:
            self._warm.add(kind)
        else:
            self._state.seconds[outcome.task] = outcome.seconds
            self._like[self._likeness[outcome.task]] = outcome.seconds

    def _keep(self, rows: Sequence[Rows]) -> None:
        self._added += sum(len(one.block.pulls) for one in rows)
        self._state.note(rows)
        if self.study.keep == "aggregates":
            note(self._sums, rows)
        else:
            self._rows += rows
            self._bytes += sum(array.nbytes for one in rows for array in one.block[:5])

    def _flush(self) -> None:
        """Write what has been finished since the last time."""
        # else a part might be written and its rows still be taken for unwritten
        with self.interrupts.held():
            if self._rows:
                self.data.write_rows(self._rows, self._about)
            if self._sums:
                self.data.write_aggregates(self._sums, self._about)
            self._rows, self._bytes, self._sums = [], 0, Ledger(self.data.ledger.cut)
        self._flushed = time.monotonic()

    def _show(self) -> None:
        state = self._state
        self._progress.show(
            state.done, state.total, state.tasks_done, state.seconds_left(), state.worst_error()
        )
