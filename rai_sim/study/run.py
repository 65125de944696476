"""Running what a study misses: units of work to workers, blocks to the store.

The work is cut into jobs of about a fifth of a second: of several tasks where they are short, of a
task's part where it is long. Nothing about a replication's numbers depends on the cut, nor on the
order.
"""

from __future__ import annotations

import math
import os
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from functools import cached_property, partial
from typing import TYPE_CHECKING

from rai_sim.simulation.pace import Pace
from rai_sim.simulation.pools import WorkersLost
from rai_sim.simulation.workers import effective_workers, share_memory, spread
from rai_sim.study import job as jobs
from rai_sim.study.backlog import Backlog
from rai_sim.study.data import Rows, StudyData
from rai_sim.study.division import Part
from rai_sim.study.interrupts import Interrupts
from rai_sim.study.job import Done, Outcome, Unit, fitting, run_job, run_sent, width_of
from rai_sim.study.progress import Progress
from rai_sim.study.record import Record
from rai_sim.study.state import PILOT, State, likeness
from rai_sim.study.time_limit import TimeLimit
from rai_sim.study.work import GUESS, Gap, Work

if TYPE_CHECKING:
    from rai_sim.simulation.experiment import Experiment
    from rai_sim.study.grid import Study

#: No pilots of each task come first where there are more pieces of work than this.
_MOST_PILOTS = 2000
#: A unit has at most so many replications, that a block of them stays small, and as many entries; a
#: job that has so many of either gets no further unit.
_MOST_IN_UNIT, _MOST_ENTRIES = 1 << 17, 1 << 23


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
    part : Part or None
        Which of several parts to run; None for all.
    time_limit : float or None
        Seconds after which to stop; None for no limit.
    """

    def __init__(
        self,
        study: Study,
        data: StudyData,
        n_jobs: int | None,
        progress: bool | None,
        interrupts: Interrupts,
        part: Part | None = None,
        time_limit: float | None = None,
    ) -> None:
        """Write down what is to be run."""
        self.limit = TimeLimit(time_limit, time.monotonic)
        self.study, self.data, self.n_jobs = study, data, n_jobs
        self.workers = effective_workers(n_jobs)
        self._pace = Pace(jobs.JOB_SECONDS)
        self.failures: dict[int, Exception] = {}
        self.interrupts = interrupts
        self._done: deque[Done] = deque()
        self._latest: Done | None = None
        self._backlog = Backlog(data)
        self._warm: set[object] = set()
        self._kinds: dict[tuple[object, ...], int] = {}
        self._kind_of: dict[tuple[int, int, bool], int] = {}
        self._like: dict[int, float] = {}
        self._piloted = False
        self._record = Record(data.store, study, n_jobs, self.workers, part)
        self.data.add_tasks(study.tasks, self._record.about)
        keys = [task.key for task in study.tasks]
        self._shares = [None] * len(keys) if part is None else part.shares(keys, study.replications)
        self._work = Work(data, keys, self._record.run, self.workers)
        self._state = State(study, {task.key: data.ledger[task.key] for task in study.tasks})
        self._progress = Progress(len(study.tasks), progress, self.workers, self._label_of)

    @cached_property
    def _places(self) -> dict[int, int]:
        return {id(task.experiment): at for at, task in enumerate(self.study.tasks)}

    def _label_of(self, experiment: Experiment) -> str | None:
        at = self._places.get(id(experiment))
        return None if at is None else self.study.tasks[at].label

    @property
    def _ends(self) -> bool:
        """Whether nothing further is to be begun."""
        return self.interrupts.asked or self.limit.is_up

    def run(self) -> None:
        """Run everything that is missing, or what can be before Ctrl-C, which `interrupts.asked`
        tells, or within the time limit."""
        status = "failed"
        try:
            try:
                while self._plan():
                    self._wave()
            except KeyboardInterrupt:  # a second one, or one that reached a worker
                self.interrupts.asked = True
            except WorkersLost as error:
                raise WorkersLost(
                    f"{error}. What was finished is stored: the study goes on from there"
                ) from error
            finally:  # whatever happened, what was finished is written
                with self.interrupts.held():
                    self._take_all()
                    self._flush()
            if self._progress.shown:
                with self.interrupts.held():
                    self._show()
            status = (
                "interrupted"
                if self.interrupts.asked
                else "failed"
                if self.failures
                else "time limit"
                if self.is_cut_short()
                else "finished"
            )
        finally:
            with self.interrupts.held():
                self._work.close()
                self._progress.close()
                failures = {
                    self.study.tasks[at].label: str(error) for at, error in self.failures.items()
                }
                self._record.end(status, failures)

    # Planning
    # ----------------------------------------------------------------------------------------------

    def _plan(self) -> bool:
        """Queue what the replications so far show to be missing; return whether there is anything
        to do."""
        gaps = [
            (at, start, stop)
            for at in range(len(self.study.tasks))
            # what was enough once remains so
            if at not in self.failures and not self._state.final[at]
            for start, stop in self._missing(at)
        ]
        if self._progress.shown and not self._piloted and len(gaps) <= _MOST_PILOTS:
            gaps = self._pilots_first(gaps)
        self._piloted = True
        self._work.plan(gaps)
        return bool(gaps) and not self._ends

    def _missing(self, at: int) -> list[tuple[int, int]]:
        """Return the replications that a task lacks as far as is known, and write down how far it
        is."""
        task, share = self.study.tasks[at], self._shares[at]
        pieces = self.data.ledger[task.key]
        if share is None:
            verdict = self.study.verdict(task, pieces)
            wanted, final = verdict.replications, verdict.final
            gaps = [] if final else pieces.gaps(0, wanted)
        else:
            gaps = [gap for ends in share for gap in pieces.gaps(*ends)]
            final = not gaps
            wanted = pieces.replications + sum(stop - start for start, stop in gaps)
        self._state.set(at, pieces, wanted, final)
        return gaps

    def is_done(self) -> bool:
        """Return whether nothing is missing but of tasks that failed."""
        return not any(
            self._missing(at)
            for at in range(len(self.study.tasks))
            if at not in self.failures and not self._state.final[at]
        )

    def is_cut_short(self) -> bool:
        """Whether the time was up before all was done."""
        return self.limit.is_up and not self.is_done()

    def seconds_left(self) -> float:
        """Return how long what is missing will take these workers, as far as is known; else NaN."""
        for at in range(len(self.study.tasks)):
            self._missing(at)
        return self._state.seconds_left() / self.workers

    @staticmethod
    def _pilots_first(gaps: Sequence[Gap]) -> list[Gap]:
        """Let a few replications of each task come first, so that early on something is known of
        all of them; no number depends on it."""
        pilots, rest = list[Gap](), list[Gap]()
        for task, start, stop in gaps:
            cut = min(start + PILOT, stop) if start == 0 else start
            if cut > start:
                pilots.append((task, start, cut))
            if cut < stop:
                rest.append((task, cut, stop))
        return pilots + rest

    def _jobs(self) -> Iterator[list[Unit]]:
        """Yield jobs as long as there is work and nobody has pressed Ctrl-C."""
        while not self._ends and self._has_claimed():
            job: list[Unit] = []
            left, rows, entries = self._pace.seconds, 0, 0
            while left > 0.0 and rows < _MOST_IN_UNIT and entries < _MOST_ENTRIES:
                claimed = self._work.take()
                if claimed is None:
                    break
                unit = self._first_of(claimed, left)
                if unit is not None:
                    job.append(unit)
                    count = unit.stop - unit.start
                    rows += count
                    entries += count * width_of(unit.experiment, unit.arm_pulls)
                    known = not math.isnan(unit.seconds)
                    left -= count * (unit.seconds if known else GUESS)
                    # it may take long: the others are for other workers
                    if not known and self.workers > 1:
                        break
            if job:
                yield job

    def _has_claimed(self) -> bool:
        with self.interrupts.held():  # polars would turn Ctrl-C into errors of other kinds
            return self._work.has_claimed(self._expected, self.failures)

    def _first_of(self, gap: Gap, left: float) -> Unit | None:
        """Return so much of a gap as a job has time for, and put the rest back; None if nothing is
        to be done."""
        at, start, end = gap
        task = self.study.tasks[at]
        gaps = self.data.ledger[task.key].gaps(start, end)
        if not gaps or at in self.failures:  # another process may have done it
            return None
        start, stop = gaps[0]
        seconds, arm_pulls = self._expected(at), self.data.store.keeps_arm_pulls
        most = min(
            stop - start,
            _MOST_IN_UNIT,
            max(1, _MOST_ENTRIES // width_of(task.experiment, arm_pulls)),
            fitting(GUESS if math.isnan(seconds) else seconds, left),
        )
        if self.workers > 1:  # the last units are shared out
            others = 1 if math.isnan(seconds) else len(self._work) + 1
            most = min(most, max(1, math.ceil((stop - start) * others / (2 * self.workers))))
        if start + most < end:
            self._work.put_back((at, start + most, end))
        return Unit(
            task=at,
            experiment=task.experiment,
            start=start,
            stop=start + most,
            seconds=seconds,
            arm_pulls=arm_pulls,
        )

    def _expected(self, task: int) -> float:
        """Return what a replication of a task took, or one of a task like it; NaN if there was
        none."""
        seconds = float(self._state.seconds[task])
        return self._like.get(self._kind(task), math.nan) if math.isnan(seconds) else seconds

    def _kind(self, task: int) -> int:
        """Return the number of a task's kind, those that take about as long."""
        run = self.study.tasks[task].experiment
        # few objects of many tasks
        same = id(run.problem), id(run.algorithm), run.skip_error == 0.0
        kind = self._kind_of.get(same)
        if kind is None:
            kind = self._kinds.setdefault(likeness(run), len(self._kinds))
            self._kind_of[same] = kind
        return kind

    # Running
    # ----------------------------------------------------------------------------------------------

    def _wave(self) -> None:
        """Run all that is queued, including what jobs leave over."""
        while self._work and not self._ends:
            with closing(self._spread()) as ended:
                for done in ended:
                    if done is not None:
                        self._take_in(done)
                    self._take_all()
        self._flush()
        if self._work.idle and not self._ends:
            with self.interrupts.held():
                self._work.wait()

    def _spread(self) -> Generator[Done | None]:
        """Run what is queued on workers; yield what came of jobs in other processes."""
        if share_memory(self.n_jobs):
            with closing(spread(self._run_here, self._jobs(), self.n_jobs)) as ended:
                for _ in ended:
                    yield None
            return
        sent = ((job, self._pace.seconds, self.limit.left) for job in self._jobs())
        run = partial(run_sent, os.getpid())
        yield from spread(run, sent, self.n_jobs, late=self._take_in, pace=self._pace)

    def _take_in(self, done: Done) -> None:
        """Note what came of a job in another process, once; after an interrupt the last one may be
        given again."""
        with self.interrupts.held():
            if done is not self._latest:
                self._record.compiled_elsewhere += done.compiling
                self._done.append(done)
                self._latest = done

    def _run_here(self, units: Sequence[Unit]) -> None:
        """Run a job in this process, and leave what came of it where nothing that strikes the main
        thread can lose it."""
        self._done.append(run_job(os.getpid(), units, limit=self.limit.left))

    def _take_all(self) -> None:
        while self._done:
            self._take(self._done.popleft())

    def _take(self, done: Done) -> None:
        """Keep what a job has finished and queue what it has left."""
        for outcome in reversed(done.outcomes):  # so that what is left comes next, in its order
            self._note_time(outcome)
            if outcome.error is not None:
                self.failures.setdefault(outcome.task, outcome.error)
            elif outcome.reached < outcome.stop:
                self._work.put_back((outcome.task, outcome.reached, outcome.stop))
        self._keep(done.rows)
        if self._backlog.is_due(self._work.awaited) or self._work.full:
            self._flush()
        if self._progress.due:
            self._show()

    def _note_time(self, outcome: Outcome) -> None:
        """Remember what a replication takes; the first time of a kind of kernel has its
        compilation, or loading, in it."""
        run = self.study.tasks[outcome.task].experiment
        kind = (type(run.problem.arms), run.algorithm)
        warm = kind in self._warm
        if outcome.timed:
            self._state.note_time(outcome.task, outcome.took, outcome.timed)
        elif warm and outcome.reached > outcome.start:
            count = outcome.reached - outcome.start
            self._state.note_time(outcome.task, count * outcome.seconds, count)
        if math.isnan(outcome.seconds):
            return
        if not warm:
            self._warm.add(kind)
        else:
            self._state.seconds[outcome.task] = outcome.seconds
            self._like[self._kind(outcome.task)] = outcome.seconds

    def _keep(self, rows: Sequence[Rows]) -> None:
        self._record.added += sum(len(one.block.pulls) for one in rows)
        if self._progress.shown:  # else what is written tells, in the end
            self._state.note(rows)
        self._backlog.add(rows)

    def _flush(self) -> None:
        """Write what has been finished since the last time."""
        # else a part might be written and its rows still be taken for unwritten
        with self.interrupts.held():
            self._backlog.write(self._record.about)
            self._work.written()

    def _show(self) -> None:
        state = self._state
        self._progress.show(
            state.done, state.total, state.tasks_done, state.seconds_left(), state.worst_error()
        )
