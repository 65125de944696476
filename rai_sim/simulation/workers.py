"""Where replications are run: a range of an experiment's replications in a block, and jobs spread
over workers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from functools import lru_cache
from itertools import islice
from threading import Barrier
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from rai_sim.arms.base import Arms
from rai_sim.engine.blocks import Block, Setting, new_block
from rai_sim.engine.faults import MOST_PULLS, NONE, raise_fault
from rai_sim.engine.streams import stream_key
from rai_sim.simulation.compilation import compiled_for
from rai_sim.simulation.experiment import Experiment
from rai_sim.simulation.pace import Pace
from rai_sim.simulation.signals import running, watched
from rai_sim.simulation.underway import underway

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Job = TypeVar("Job")
Outcome = TypeVar("Outcome")


def block_for(experiment: Experiment, count: int, arm_pulls: bool = False) -> Block:
    """Allocate a block for `count` replications of an experiment, with recommendations at its cap if
    it has one; `arm_pulls` if those are kept."""
    problem = experiment.problem
    arms, caps = problem.n_arms if arm_pulls else 0, caps_of(experiment)
    return new_block(count, sum(problem.required), arms_with_pulls=arms, budgets=caps)


def caps_of(experiment: Experiment) -> tuple[int, ...]:
    """Return the caps at which an experiment's replications recommend: its own, if it has one."""
    cap = experiment.max_pulls
    return () if cap is None else (min(cap, MOST_PULLS),)


def run_into(experiment: Experiment, first: int, block: Block) -> None:
    """Run replications from index `first` on, as many as the block has rows, in this thread.

    Raises
    ------
    ValueError, OverflowError
        If a recording runs out, a sum is not finite, or a replication would pass 2^62 pulls; some
        rows may have been written.
    KernelStopped
        If SIGINT or SIGTERM came and its handler raised nothing here; some rows are finished.
    """
    with (
        compiled_for(experiment),
        running(block.history.stop),
        underway(experiment, block.history.position),
    ):
        experiment.algorithm.run_block(
            kernel_law(experiment.problem.arms), _setting(experiment), first, block
        )
    if block.fault[0] != NONE:
        raise_fault(block.fault)


def _setting(experiment: Experiment) -> Setting:
    problem, cap = experiment.problem, experiment.max_pulls
    # Fresh arrays: those of a problem sent to another process may be read-only, which to Numba is
    # another type.
    return Setting(
        sizes=np.array(problem.clusters, np.int64),
        required=np.array(problem.required, np.int64),
        cluster_of=np.array(problem.cluster_of, np.int64),
        delta=experiment.delta,
        skip_error=experiment.skip_error,
        max_pulls=-1 if cap is None else min(cap, MOST_PULLS),
        key=stream_key(experiment.seed),
        origin=problem.arms.rescaled.law_units()[0],
    )


@lru_cache(maxsize=2)
def kernel_law(arms: Arms) -> Any:
    """Return arms.kernel_law(), kept for the blocks that follow: tables of many categorical arms
    take a while to make."""
    return arms.kernel_law()


def effective_workers(n_jobs: int | None) -> int:
    """Return the number of workers that `n_jobs` means as joblib is configured.

    Raises
    ------
    TimeoutError
        If a Dask cluster is configured and has no worker.
    """
    if n_jobs == 1:
        return 1
    # here and below: what a run in one thread need not load
    from rai_sim.simulation.pools import count_workers

    return count_workers(_backend(), n_jobs)


def share_memory(n_jobs: int | None) -> bool:
    """Return whether the workers that `n_jobs` means, as joblib is configured, are threads of this
    process."""
    return n_jobs == 1 or bool(getattr(_backend(), "supports_sharedmem", False))


def _backend() -> Any:
    """Return the joblib backend that is configured, threads if none is."""
    # here: importing it costs a tenth of a second that a single-threaded run need not pay
    import joblib

    backend, _ = joblib.parallel.get_active_backend(prefer="threads")
    return backend


def spread(
    run: Callable[[Job], Outcome],
    jobs: Iterable[Job],
    n_jobs: int | None,
    late: Callable[[Outcome], object] | None = None,
    pace: Pace | None = None,
) -> Generator[Outcome]:
    """Run jobs on workers, as joblib is configured (threads unless it is), and yield their outcomes
    as they come.

    Jobs are taken from the iterable when a worker is nearly free, so that it may decide late what
    comes next. When the generator is closed, jobs that have begun are finished and the others
    dropped. If one raises, what is done is yielded before. A job that is lost with its worker is
    run again.

    Parameters
    ----------
    run, jobs : callable, iterable
        What is done, and with what; both are sent to workers in other processes.
    n_jobs : int or None
        As in `rai_sim.simulation.simulate`.
    late : callable, optional
        Called with outcomes that come from other processes when the generator is being closed, or
        was interrupted; maybe once more with that which was yielded last.
    pace : Pace, optional
        Told how busy workers in other processes are.

    Raises
    ------
    WorkersLost
        If workers are lost, and others as often as they are asked to do the same, or a scheduler.
    """
    if n_jobs == 1:
        yield from map(run, jobs)
        return
    workers = effective_workers(n_jobs)
    if share_memory(n_jobs):
        yield from _on_threads(run, iter(jobs), workers)
        return
    from rai_sim.simulation.elsewhere import Elsewhere, in_waves
    from rai_sim.simulation.pools import open_pool

    pool = open_pool(_backend(), workers)
    yield from (
        in_waves(run, iter(jobs), n_jobs, workers)
        if pool is None
        else Elsewhere(pool, run, iter(jobs), late, pace).outcomes()
    )


def _on_threads(
    run: Callable[[Job], Outcome], jobs: Iterable[Job], workers: int
) -> Generator[Outcome]:
    """Run jobs on threads. joblib's threads would do, but it looks for their results every
    hundredth of a second only."""
    from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

    with watched(), ThreadPoolExecutor(workers) as pool:
        _start_threads(pool, workers)
        begun: set[Future[Outcome]] = {pool.submit(run, job) for job in islice(jobs, 2 * workers)}
        failed: Future[Outcome] | None = None
        try:
            while begun:
                done, begun = wait(begun, return_when=FIRST_COMPLETED)
                failed = failed or next(
                    (future for future in done if future.exception() is not None), None
                )
                if failed is None:
                    begun |= {pool.submit(run, job) for job in islice(jobs, len(done))}
                for future in done:
                    if future.exception() is None:
                        yield future.result()
            if failed is not None:
                failed.result()  # raises
        finally:
            pool.shutdown(cancel_futures=True)


def _start_threads(pool: ThreadPoolExecutor, workers: int) -> None:
    """Start all threads before there is work: the exception of a signal that comes while a pool
    starts a thread leaves one behind that the pool does not know of, so that nobody waits for its
    work."""
    from concurrent.futures import wait

    all_there = Barrier(workers)
    try:
        wait([pool.submit(all_there.wait) for _ in range(workers)])
    finally:
        all_there.abort()  # lets those go that came before a signal
