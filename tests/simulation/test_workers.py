"""Ranges of replications in blocks, and jobs spread over workers: which, how many, in what order."""

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import joblib
import numpy as np
import pytest

from rai_sim import Bernoulli, Recorded, Vanilla, best_arm, simulate
from rai_sim.engine.faults import MOST_PULLS
from rai_sim.simulation.experiment import Experiment
from rai_sim.simulation.workers import (
    block_for,
    effective_workers,
    kernel_law,
    run_into,
    share_memory,
    spread,
)

TWO = best_arm(Bernoulli([0.75, 0.25]))
EXPERIMENT = Experiment(TWO, Vanilla(), 0.1, 3, 1e-12, None)


# Ranges ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "count"), [(0, 1), (7, 5), (2**62, 3)])
def test_a_block_holds_a_range(first: int, count: int) -> None:
    """From its first replication on, as many as it has rows."""
    block = block_for(EXPERIMENT, count)
    assert block.representatives.shape == (count, 1)
    run_into(EXPERIMENT, first, block)
    alone = simulate(TWO, Vanilla(), delta=0.1, seed=3, replications=count, first_replication=first)
    for name in ("pulls", "rounds", "correct", "finished", "representatives"):
        assert np.array_equal(getattr(block, name), getattr(alone, name))


def test_a_recording_that_runs_out_is_raised() -> None:
    """And nothing is where the cap is below."""
    short = replace(EXPERIMENT, problem=best_arm(Recorded([[0] * 4, [1] * 4])))
    with pytest.raises(ValueError, match="recording of arm 0 ran out: pull 5"):
        run_into(short, 0, block_for(short, 2))
    block = block_for(short, 2)
    run_into(replace(short, max_pulls=8), 0, block)
    assert block.pulls.tolist() == [8, 8]
    assert not block.finished.any()


@pytest.mark.parametrize(
    ("cap", "given"), [(None, -1), (9, 9), (MOST_PULLS, MOST_PULLS), (2**62, MOST_PULLS)]
)
def test_kernels_are_given_the_experiment(cap: int | None, given: int) -> None:
    """In arrays of its own that may be written, no cap as -1, none beyond what can be counted."""
    asked: list[Any] = []
    algorithm: Any = SimpleNamespace(run_block=lambda *arguments: asked.append(arguments))
    block = block_for(EXPERIMENT, 2)
    run_into(replace(EXPERIMENT, algorithm=algorithm, max_pulls=cap), 5, block)
    ((law, setting, first, into),) = asked
    assert law is kernel_law(TWO.arms) is kernel_law(Bernoulli([0.75, 0.25]))
    assert (first, into is block) == (5, True)
    assert (setting.delta, setting.skip_error, setting.max_pulls) == (0.1, 1e-12, given)
    for array, expected in (
        (setting.sizes, TWO.clusters),
        (setting.required, TWO.required),
        (setting.cluster_of, TWO.cluster_of),
    ):
        assert array.tolist() == list(expected)
        assert array.flags.writeable


# Workers -----------------------------------------------------------------------------------------


def test_how_many_workers_are_meant() -> None:
    """A number is itself, -1 all cores; None is one, unless joblib is configured."""
    assert [effective_workers(n) for n in (1, 2, 5, None)] == [1, 2, 5, 1]
    assert effective_workers(-1) == joblib.cpu_count()
    with joblib.parallel_config(backend="threading", n_jobs=3):
        assert [effective_workers(n) for n in (1, 2, None)] == [1, 2, 3]


def test_which_workers_share_memory() -> None:
    """Threads do, processes do not; one worker is this thread, whatever is configured."""
    assert share_memory(1)
    assert share_memory(2)
    assert share_memory(None)
    for backend, shared in (("threading", True), ("loky", False)):
        with joblib.parallel_config(backend=backend):
            assert share_memory(1)
            assert share_memory(2) is share_memory(None) is shared


def test_one_worker_takes_each_job_when_it_is_wanted() -> None:
    """In this thread, in order, none ahead of its time."""
    taken: list[int] = []

    def jobs() -> Iterator[int]:
        for job in range(4):
            taken.append(job)
            yield job

    outcomes = spread(lambda job: (job, threading.get_ident()), jobs(), 1)
    assert taken == []
    for job in range(4):
        assert next(outcomes) == (job, threading.get_ident())
        assert taken == list(range(job + 1))
    assert list(outcomes) == []


def test_threads_take_jobs_late_and_yield_what_is_done_first() -> None:
    """Two workers begin with four jobs; the first waits for the others to be yielded."""
    go, taken = threading.Event(), list[int]()

    def jobs() -> Iterator[int]:
        for job in range(20):
            taken.append(job)
            yield job

    def run(job: int) -> int:
        if job == 0:
            assert go.wait(20.0)
        return job

    outcomes = spread(run, jobs(), 2)
    assert taken == []
    came = [next(outcomes)]
    assert 4 <= len(taken) <= 8
    came += [next(outcomes) for _ in range(18)]
    assert sorted(came) == list(range(1, 20))
    go.set()
    assert list(outcomes) == [0]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_is_done_comes_before_an_error(n_jobs: int) -> None:
    """Every outcome of a job that was begun; jobs that were not are never begun."""
    begun: list[int] = []

    def run(job: int) -> int:
        begun.append(job)
        if job == 5:
            raise ArithmeticError("job 5")
        return job

    came: list[int] = []
    with pytest.raises(ArithmeticError, match="job 5"):
        came.extend(spread(run, range(1000), n_jobs))
    assert sorted([*came, 5]) == sorted(begun)
    assert set(range(5)) <= set(came)
    assert len(begun) < 1000


def test_closed_threads_finish_what_they_began() -> None:
    """And drop the rest: nothing runs any more when the generator is closed."""
    begun, ended = list[int](), list[int]()

    def run(job: int) -> int:
        begun.append(job)
        time.sleep(0.02)
        ended.append(job)
        return job

    outcomes = spread(run, range(1000), 2)
    next(outcomes)
    outcomes.close()
    assert sorted(ended) == sorted(begun)
    assert len(begun) <= 8


def test_a_signal_while_threads_start_leaves_nobody_at_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It raises in the middle of a start, so the pool does not know of that thread; no job is run
    by it, then or later."""
    start, started, ran = threading.Thread.start, list[threading.Thread](), list[int]()

    def started_and_interrupted(thread: threading.Thread) -> None:
        start(thread)
        started.append(thread)
        if len(started) == 2:
            raise KeyboardInterrupt

    def run(job: int) -> int:
        time.sleep(0.01)
        ran.append(job)
        return job

    monkeypatch.setattr(threading.Thread, "start", started_and_interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(spread(run, range(20), 3))
    for thread in started:
        thread.join(5.0)
        assert not thread.is_alive()
    assert ran == []
