"""Jobs for workers in other processes: sent out, taken in as they come, run again where they were
lost."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from itertools import islice
from typing import Any, Generic, NamedTuple, TypeVar

from rai_sim.simulation.pace import Pace
from rai_sim.simulation.parcels import Answer, outcome_of, pack, work
from rai_sim.simulation.pools import Pool, WorkersLost, trouble_of

Job = TypeVar("Job")
Outcome = TypeVar("Outcome")

#: A job that has been lost so often with those who ran it is not given to others.
_MOST_LOSSES = 4
#: After so many seconds without an answer it is looked whether there can be any.
_PATIENCE = 1.0


class _Sent(NamedTuple):
    """A job that was sent, and how often it had been lost before."""

    job: Any
    losses: int


class Elsewhere(Generic[Job, Outcome]):
    """Jobs spread over the workers of a pool.

    Parameters
    ----------
    pool : Pool
        The workers.
    run : callable
        What is done with a job; its outcome is sent back.
    jobs : iterator
        Taken from, in this thread, when a worker is nearly free.
    late : callable, optional
        Called with outcomes that could not be yielded, and maybe with that which was yielded last,
        for an interrupt may strike whoever is about to keep it.
    pace : Pace, optional
        Told how busy workers are.
    """

    def __init__(
        self,
        pool: Pool,
        run: Callable[[Job], Outcome],
        jobs: Iterator[Job],
        late: Callable[[Outcome], object] | None = None,
        pace: Pace | None = None,
    ) -> None:
        """Nothing has been sent yet."""
        self._pool, self._run, self._jobs = pool, run, jobs
        self._late, self._pace = late, pace
        self._begun: dict[Future[Answer], _Sent] = {}
        self._there: deque[tuple[Future[Answer], Outcome]] = deque()
        self._error: Exception | None = None
        self._fed = True

    def outcomes(self) -> Generator[Outcome]:
        """Yield outcomes as they come; what a job raised is raised when all that had begun are
        there."""
        try:
            self._send_more()
            while self._begun:
                done, _ = wait(self._begun, _PATIENCE, return_when=FIRST_COMPLETED)
                if not done:
                    self._pool.check()
                    continue
                self._take(done)
                self._send_more()
                while self._there:
                    yield self._there[0][1]
                    self._there.popleft()
            if self._error is not None:
                raise self._error
        finally:
            try:
                self._pool.finish(self._begun)
            finally:
                self._hand_over_late()

    def _send_more(self) -> None:
        """Have two jobs a worker under way, that none waits for the next."""
        if self._error is not None:
            return
        self._pool.look()
        wanted = 2 * self._pool.workers - len(self._begun)
        self._fed = wanted <= self._pool.workers
        for job in islice(self._jobs, wanted):
            self._send(_Sent(job, 0))
        self._fed = self._fed and len(self._begun) >= 2 * self._pool.workers

    def _send(self, sent: _Sent, whole: bool = False) -> None:
        if self._error is None:
            try:
                self._begun[self._pool.submit(pack(self._run, sent.job, whole))] = sent
            except WorkersLost as error:
                self._error = error

    def _take(self, done: set[Future[Answer]]) -> None:
        """Keep what is there, and send again what was lost."""
        lost: list[tuple[_Sent, BaseException]] = []
        for future in done:
            sent, trouble = self._begun[future], trouble_of(future)
            if trouble is not None:
                lost.append((sent, trouble))
            elif future.result().data is None:
                self._send(sent, whole=True)
            else:
                self._open(future)
            del self._begun[future]  # last: what an interrupt finds here is opened late
        for sent, trouble in lost:
            if self._error is None:
                self._send_again(sent, trouble)

    def _open(self, future: Future[Answer]) -> None:
        answer = future.result()
        if self._pace is not None:
            self._pace.note(answer.worker, answer.seconds, self._pool.workers, self._fed)
        try:
            self._there.append((future, outcome_of(answer)))
        except Exception as error:
            self._error = self._error or error

    def _send_again(self, sent: _Sent, trouble: BaseException) -> None:
        try:
            if sent.losses + 1 >= _MOST_LOSSES:
                raise WorkersLost(
                    f"the workers that ran one job were lost {_MOST_LOSSES} times, the last time "
                    f"with {_words(trouble)}; see whether their machines had memory enough, and "
                    "run this once more"
                ) from trouble
            self._pool.renew(trouble)
            self._send(_Sent(sent.job, sent.losses + 1))
        except WorkersLost as error:
            self._error = error

    def _hand_over_late(self) -> None:
        """Give away what nobody will ask for any more."""
        if self._late is None:
            return
        opened = {future for future, _ in self._there}
        for future in self._begun.keys() - opened:
            if future.done() and trouble_of(future) is None and future.result().data is not None:
                self._open(future)
        while self._there:
            self._late(self._there.popleft()[1])


def _words(trouble: BaseException) -> str:
    text = " ".join(str(trouble).split())
    return f"{type(trouble).__name__}: {text}" if text else type(trouble).__name__


def in_waves(
    run: Callable[[Job], Outcome], jobs: Iterator[Job], n_jobs: int | None, workers: int
) -> Generator[Outcome]:
    """Run jobs by a joblib backend of which nothing more is known: some at a time, for not all can
    tell of one before all are there."""
    import joblib

    with joblib.Parallel(n_jobs=n_jobs, prefer="threads", batch_size=1) as parallel:
        while wave := list(islice(jobs, 4 * workers)):
            answers = parallel(joblib.delayed(work)(pack(run, job, whole=True)) for job in wave)
            error: Exception | None = None
            for answer in answers:
                try:
                    outcome = outcome_of(answer)
                except Exception as flaw:
                    error = error or flaw
                else:
                    yield outcome
            if error is not None:
                raise error
