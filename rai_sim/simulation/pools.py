"""Workers in other processes, here or on other machines: an engine's futures behind one interface.

joblib's configuration says which engine: its own processes (loky), multiprocessing, a Dask cluster,
a Ray cluster. What joblib's adapters can do differs (two of them give no results before all are
there, others wait for ever for those of a worker that was lost), so jobs go to the engines
themselves, whose futures are all `concurrent.futures`. Other backends get their jobs in waves, by
joblib.

What a block costs in processor time, all processes together, beside its work (empty blocks, four
under way, measured on a busy machine): loky 0.8 ms, Ray 3 ms, Dask 17 to 22 ms, of which its
scheduler takes 7 and the calling process 5. Blocks take 0.2 s at first; they are doubled, up to
10 s, while workers are idle for more than a tenth of the time although there is work.

1,000 cores, projected, not measured: the process that runs a study takes 0.7 us of its time a
replication, to unpack and to store it, so replications of 1 ms and more can keep 1,000 cores busy
(1e6 a second, 34 MB/s), cheaper ones cannot. With blocks of 10 s there are 100 a second, which take
0.7 of a scheduler's core and half a core of the process that runs the study. Of an hour, some 10 s
go by until all workers have loaded the package and a kernel (half a minute once a machine that
compiles it), and at most two blocks at the end, for which some workers find no more: 1 % together.
Assumed are a scheduler that takes as long for a block with 1,000 workers as with two, equal cores,
and a network of 1 Gbit/s at the process that runs the study.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import suppress
from pathlib import Path
from typing import Any

from rai_sim.simulation.parcels import Answer, Parcel, work

#: Processes that have had no work for so many seconds end.
_IDLE_SECONDS = 300
#: A cluster's workers are counted so often.
_LOOK_SECONDS = 5.0


class WorkersLost(ConnectionError):
    """Workers, or the scheduler that they belong to, are gone, and jobs cannot be run elsewhere;
    the message names them and the remedy.

    Examples
    --------
    >>> import rai_sim as rai
    >>> issubclass(rai.WorkersLost, ConnectionError)  # one that a program may have caught already
    True
    """


class Pool(ABC):
    """An engine's workers.

    Parameters
    ----------
    workers : int
        How many jobs they run at once.
    """

    def __init__(self, workers: int) -> None:
        """Keep their number."""
        self.workers = workers

    @abstractmethod
    def submit(self, parcel: Parcel) -> Future[Answer]:
        """Have a job run; what it raises is in its answer, so an exception of the future is the
        engine's."""

    def look(self) -> None:
        """Count the workers anew, where their number changes."""
        return

    def check(self) -> None:
        """Raise WorkersLost if no answer can come any more."""
        return

    def renew(self, trouble: BaseException) -> None:
        """Make the pool fit for jobs after a future had an exception.

        Raises
        ------
        WorkersLost
            If it cannot be.
        """
        return

    def finish(self, begun: Iterable[Future[Answer]]) -> None:
        """Wait for the jobs that have begun, and run no more; if that is interrupted, drop them."""
        begun = list(begun)
        try:
            wait([future for future in begun if not self._withdrawn(future)])
        except BaseException:
            self._drop(begun)
            raise
        self.close()

    def _withdrawn(self, future: Future[Answer]) -> bool:
        """Take a job back, and return whether that was in time."""
        return future.cancel()

    def _drop(self, begun: Iterable[Future[Answer]]) -> None:
        """Leave jobs to themselves."""
        for future in begun:
            future.cancel()
        self.close()

    def close(self) -> None:
        """Let go of the engine."""
        return


def settle() -> None:
    """Prepare a process that is a worker: Ctrl-C, which a terminal sends to all processes, is the
    business of whoever waits for it; what a forked one was told to do about signals is not."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


class LocalPool(Pool):
    """Processes of this machine; if one is killed its pool is made anew."""

    def __init__(self, workers: int) -> None:
        """Start."""
        super().__init__(workers)
        self._executor = self._start()

    @abstractmethod
    def _start(self) -> Executor:
        """Return processes that are `settle`d."""

    def submit(self, parcel: Parcel) -> Future[Answer]:
        """Have a job run; the processes of a pool end with the first that is killed, and others
        are started."""
        try:
            return self._executor.submit(work, parcel)
        except BrokenExecutor:
            self._executor = self._start()
            return self._executor.submit(work, parcel)


def unguarded_program() -> str | None:
    """Return the file of the program that this process runs, if nothing in it asks whether it is
    the main one; None if something does, or it is none (a console)."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    if file is None:
        return None
    try:
        text = Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return None if "__main__" in text else str(file)


class LokyPool(LocalPool):
    """loky's processes, which stay for the next call."""

    def __init__(self, workers: int, threads: int | None = None) -> None:
        """Start; `threads` of other libraries' pools a process, theirs if None."""
        self._threads = threads
        super().__init__(workers)

    def _start(self) -> Executor:
        from joblib.externals.loky import get_reusable_executor
        from joblib.parallel import ParallelBackendBase

        names = ParallelBackendBase.MAX_NUM_THREADS_VARS if self._threads is not None else ()
        executor: Executor = get_reusable_executor(
            max_workers=self.workers,
            timeout=_IDLE_SECONDS,
            initializer=settle,
            env={name: str(self._threads) for name in names},
        )
        return executor

    def _drop(self, begun: Iterable[Future[Answer]]) -> None:
        self._executor.shutdown(wait=False, kill_workers=True)  # type: ignore[call-arg]  # loky's


#: What a program is told that starts workers which start the program.
_GUARD = (
    "it starts worker processes wherever it is imported, and multiprocessing's start method "
    "{!r} imports it in each of them; put what it runs under `if __name__ == '__main__':`"
)


class NotGuarded(RuntimeError):
    """A worker process imports the program that started it, which goes on to start workers."""


class ProcessPool(LocalPool):
    """Processes as multiprocessing starts them, for one call."""

    def __init__(self, workers: int) -> None:
        """Start."""
        self._answered = False
        super().__init__(workers)

    def _start(self) -> Executor:
        # here, as most programs start none
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        how = os.environ.get("JOBLIB_START_METHOD") or None
        context = multiprocessing.get_context(how)
        self._method = str(context.get_start_method())
        # set by multiprocessing while a worker imports the program; what starts processes then
        # would fail in a way after which this one never ends
        if getattr(multiprocessing.current_process(), "_inheriting", False):
            raise NotGuarded(f"this program has no guard: {_GUARD.format(self._method)}")
        return ProcessPoolExecutor(self.workers, mp_context=context, initializer=settle)

    def submit(self, parcel: Parcel) -> Future[Answer]:
        """Have a job run."""
        future = super().submit(parcel)
        future.add_done_callback(self._note)
        return future

    def _note(self, future: Future[Answer]) -> None:
        self._answered = self._answered or trouble_of(future) is None

    def renew(self, trouble: BaseException) -> None:
        """Give up where no process ever came as far as to do something and the program shows why;
        else others are started."""
        program = None if self._answered or self._method == "fork" else unguarded_program()
        if program is not None:
            raise WorkersLost(
                f"the worker processes of {program} ended before they did anything: "
                f"{_GUARD.format(self._method)}"
            ) from trouble

    def close(self) -> None:
        """End the processes when they have nothing to do."""
        self._executor.shutdown(wait=False, cancel_futures=True)


class DaskPool(Pool):
    """A Dask cluster: its scheduler runs again what a lost worker had."""

    def __init__(self, workers: int, client: Any, options: dict[str, Any]) -> None:
        """Take joblib's client, and options of `Client.submit`."""
        super().__init__(workers)
        self._client, self._options = client, options
        self._executor = client.get_executor(pure=False)
        self._looked = time.monotonic()
        #: Where the scheduler is, as long as it is known.
        self._address = str(client.scheduler.address)

    def submit(self, parcel: Parcel) -> Future[Answer]:
        """Have a job run."""
        if self._client.status != "running":
            raise self._lost()
        future: Future[Answer] = self._executor.submit(work, parcel, **self._options)
        return future

    def look(self) -> None:
        """Ask for the number of workers now and then: a queue may start them one by one."""
        if time.monotonic() - self._looked < _LOOK_SECONDS or self._client.status != "running":
            return
        self._looked = time.monotonic()
        with suppress(OSError):  # what is lost is seen by the jobs' futures
            self.workers = max(1, sum(self._client.ncores().values()))

    def check(self) -> None:
        """Look whether the scheduler is there: a job that was sent just when it was lost is never
        answered."""
        if self._client.status != "running":
            raise self._lost()

    def renew(self, trouble: BaseException) -> None:
        """Look whether the scheduler is there: it gives up jobs whose workers were lost again and
        again, and loses all when it ends."""
        if self._client.status != "running":
            raise self._lost() from trouble

    def _lost(self) -> WorkersLost:
        return WorkersLost(
            f"the connection to Dask's scheduler at {self._address} is lost; see whether `dask "
            "scheduler` still runs there, start it and its workers again and run this once more"
        )

    def _withdrawn(self, future: Future[Answer]) -> bool:
        # Dask would drop what has begun as well; of a lost scheduler nothing is to be expected.
        return bool(self._client.status != "running")

    def _drop(self, begun: Iterable[Future[Answer]]) -> None:
        if self._client.status == "running":
            super()._drop(begun)


class RayPool(Pool):
    """A Ray cluster: it runs again what a lost worker had, several times."""

    def __init__(self, workers: int, options: dict[str, Any]) -> None:
        """Take options of Ray's remote functions."""
        super().__init__(workers)
        import ray

        self._work = ray.remote(num_cpus=1)(work)
        if options:
            self._work = self._work.options(**options)

    def submit(self, parcel: Parcel) -> Future[Answer]:
        """Have a job run."""
        future: Future[Answer] = self._work.remote(parcel).future()
        return future

    def _withdrawn(self, future: Future[Answer]) -> bool:
        return False  # Ray's futures do not reach their tasks


def engine(backend: object) -> str:
    """Return the engine of joblib's backend: "loky", "multiprocessing", "dask", "ray" or "other".

    Examples
    --------
    >>> from joblib.parallel import LokyBackend
    >>> engine(LokyBackend())
    'loky'
    """
    for kind in type(backend).__mro__:
        found = _ENGINES.get((kind.__module__, kind.__name__))
        if found is not None:
            return found
    return "other"


#: joblib's adapters, and Ray's, by module and name: most of them are extras.
_ENGINES = {
    ("joblib._parallel_backends", "LokyBackend"): "loky",
    ("joblib._dask", "DaskDistributedBackend"): "dask",
    ("ray.util.joblib.ray_backend", "RayBackend"): "ray",
    ("joblib._parallel_backends", "MultiprocessingBackend"): "multiprocessing",
}


def open_pool(backend: Any, workers: int) -> Pool | None:
    """Return the workers of joblib's backend, or None if it is one that only joblib can use."""
    match engine(backend):
        case "loky":
            return LokyPool(workers, backend.inner_max_num_threads)
        case "multiprocessing":
            return ProcessPool(workers)
        case "dask":
            return DaskPool(workers, backend.client, backend.submit_kwargs)
        case "ray":
            return RayPool(workers, backend.ray_remote_args or {})
        case _:
            return None


def count_workers(backend: Any, n_jobs: int | None) -> int:
    """Return how many jobs a backend runs at once, where `n_jobs` is asked for.

    Raises
    ------
    TimeoutError
        If a Dask cluster has no worker.
    """
    import joblib

    if engine(backend) == "ray":
        import ray

        _, configured = joblib.parallel.get_active_backend(prefer="threads")
        asked = configured if n_jobs is None else n_jobs
        if asked not in (None, -1):
            return int(asked)

        if not ray.is_initialized():
            ray.init()  # as its adapter does
        return max(1, int(ray.cluster_resources().get("CPU", 1)))
    workers: int = joblib.effective_n_jobs(n_jobs)
    return workers


def trouble_of(future: Future[Answer]) -> BaseException | None:
    """Return an engine's trouble with a job that is over, or None if there is an answer."""
    return CancelledError() if future.cancelled() else future.exception()
