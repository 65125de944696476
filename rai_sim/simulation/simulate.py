"""simulate(): validate, cut the replications into blocks, run them here or through joblib, collect
a Result."""

from __future__ import annotations

import itertools
import math
import os
import time
from collections.abc import Generator, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.base import Algorithm
from rai_sim.engine.blocks import Block, copy_of, part_of
from rai_sim.problem import Problem, check_delta
from rai_sim.simulation.arm_pulls import (
    BY_REPLICATION,
    SUMMED,
    added,
    check_keep,
    most_in_part,
)
from rai_sim.simulation.at_cap import what_is_recommended
from rai_sim.simulation.compilation import compile_seconds
from rai_sim.simulation.pace import Pace
from rai_sim.simulation.parts import PART_SECONDS, Part, next_size, run_part
from rai_sim.simulation.progress import Bar
from rai_sim.simulation.result import Experiment, Result
from rai_sim.simulation.signals import stopped_by_signals
from rai_sim.simulation.workers import block_for, effective_workers, share_memory, spread
from rai_sim.support.checks import check_count, check_progress, check_seed, check_workers
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError
from rai_sim.support.values import real, short
from rai_sim.support.wording import interrupted

#: Replications that take longer than this, in seconds, are worth the hundredth of a second that
#: starting workers takes.
_WORTH_WORKERS = 0.05
#: A first block of so many seconds is believed: no call takes as long, and no kernel's loading.
_LONG_FOR_A_CALL = 5.0
#: Smallest delta accepted: the thresholds' pi^2 R^3 N / (3 delta) must stay within doubles for
#: every R a run can reach.
_SMALLEST_DELTA = 1e-200
#: Largest skip_error accepted. Beyond it the simulated law would be visibly another one than the
#: algorithm's.
_MOST_SKIP_ERROR = 1e-3


class SimulationInterrupted(KeyboardInterrupt):
    """Ctrl-C during `simulate`; `.result` holds the finished replications as a Result, or None if
    there is none.

    Examples
    --------
    >>> import rai_sim as rai
    >>> result = rai.simulate(rai.table_problem(), rai.Butterscotch(), replications=3, seed=0)
    >>> try:
    ...     raise rai.SimulationInterrupted(result)  # as Ctrl-C does
    ... except rai.SimulationInterrupted as stopped:
    ...     print(stopped)
    interrupted; in this exception's .result: 3 finished replications
    """

    def __init__(self, result: Result | None) -> None:
        """Keep what was finished."""
        finished = 0 if result is None else len(result.pulls)
        super().__init__(interrupted(finished, "in this exception's .result"))
        self.result = result


def simulate(
    problem: Problem,
    algorithm: Algorithm,
    *,
    delta: float = 0.01,
    replications: int = 1000,
    seed: int | None = 0,
    n_jobs: int | None = 1,
    progress: bool | None = False,
    skip_error: float = 1e-12,
    max_pulls: int | None = None,
    first_replication: int = 0,
    block_size: int | None = None,
    keep: str | None = None,
) -> Result:
    """Run independent replications of an algorithm on a problem.

    Replication i's results are a function of (seed, i) and of the arguments that define the
    experiment. They do not depend on `replications`, `n_jobs`, `block_size`, the joblib backend or
    the order in which blocks finish.

    Parameters
    ----------
    problem : Problem
        Arms, clusters and required representatives.
    algorithm : Algorithm
        Such as `Vanilla()`, `Butterscotch()` or `LUCB()`, with its options.
    delta : float, default 0.01
        Error probability the algorithm is run for, in (0, 1) and at least 1e-200.
    replications : int, default 1000
        Number of replications, at least 1.
    seed : int or None, default 0
        A non-negative integer below 2^2048. The default is 0 wherever streams are seeded, so that
        what is run twice is the same twice, and `trace(problem, algorithm, replication=3)` shows
        replication 3 of `simulate(problem, algorithm)`. When None, 128 bits of entropy are drawn
        from the system; `Result.seed` tells them.
    n_jobs : int or None, default 1
        Workers: 1 runs in the caller's thread, -1 uses every core; None takes what
        `joblib.parallel_config` says. Workers are threads, whose kernels release the GIL, unless a
        joblib backend ("loky", "multiprocessing", "dask", "ray") is configured; Dask's are all of
        its cluster, whatever the number.
    progress : bool or None, default False
        Show a progress bar on the error stream, and what kernels are being compiled; where that is
        no terminal and no notebook, lines, soon one every 30 s. While a replication takes more than
        a second, its round, pulls and active arms are shown, too, every second, or with each line;
        of several worker threads those of the replication that has taken longest, of worker
        processes none. None shows progress on a terminal or in a notebook only.
    skip_error : float, default 1e-12
        Bound, a replication, on the total-variation distance between the law of (pulls, rounds,
        outputs) that is simulated and the law of pull-by-pull simulation. 0 skips only what is
        certain, at some cost in time. At most 1e-3.
    max_pulls : int, optional
        Cap on a replication's pulls. A round that would pass it is not started: the replication has
        finished False, keeps its pulls, and counts neither as correct nor as wrong; what it would
        have named is in `Result.recommended`. Runs of Vanilla
        and Butterscotch that finish are those without a cap, number for number; LUCB's have the
        same law.
    first_replication : int, default 0
        Index of the first replication; `first_replication=k, replications=1` reruns replication k
        alone.
    block_size : int, optional
        Replications a block; chosen by measured time when None.
    keep : {"arm_pulls", "arm_pulls_sum"}, optional
        What to keep of the pulls of each arm: those of each replication, R N numbers of 8 bytes in
        `Result.arm_pulls`, at most 2 GiB; or their sums over the finished replications, N numbers
        in `Result.arm_pulls_sum`, whatever R. No other number depends on it. None keeps neither;
        `rai_sim.arm_pulls` runs some replications again for them.

    Returns
    -------
    Result
        Arrays with one entry a replication, with summaries.

    Raises
    ------
    TypeError, ValueError
        If an argument is of a wrong type or value, before anything is run; or if a recording runs
        out, or a law's rewards have no finite sum, naming arm and pull; or if pulls by arm are kept
        of an algorithm of one's own that does not write them.
    OverflowError
        If a replication without cap would pass 2^62 pulls, or the pulls that are summed 2^63.
    WorkersLost
        A ConnectionError: a cluster's scheduler is gone, or worker processes end again and again.
    SimulationInterrupted
        On Ctrl-C; a KeyboardInterrupt whose `.result` holds the finished replications.

    Examples
    --------
    >>> import rai_sim as rai
    >>> problem = rai.Problem(rai.Bernoulli([0.9, 0.6, 0.2]), clusters=(1, 2), required=(1, 0))
    >>> result = rai.simulate(problem, rai.Vanilla(), delta=0.05, replications=500, seed=0)
    >>> result.pulls.shape, bool(result.correct.mean() > 0.95)
    ((500,), True)
    >>> alone = rai.simulate(problem, rai.Vanilla(), delta=0.05, replications=1, seed=0, first_replication=321)
    >>> bool(alone.pulls[0] == result.pulls[321])
    True
    """
    experiment = checked_experiment(problem, algorithm, delta, seed, skip_error, max_pulls)
    count = check_count("replications", replications, 1)
    first = check_count("first_replication", first_replication, 0)
    size = None if block_size is None else check_count("block_size", block_size, 1)
    kept = check_keep(keep, count, problem.n_arms)
    run = _Run(experiment, first, count, size, check_workers(n_jobs), kept)
    check_progress(progress)
    with Bar(count, progress, experiment.algorithm.label, name_of=run.name_of) as bar:
        try:
            with closing(
                run.blocks()
            ) as blocks:  # so that workers have stopped before their results are collected
                for done in blocks:
                    bar.update(done)
        except KeyboardInterrupt:
            raise SimulationInterrupted(run.result()) from None
    result = run.result()
    assert result is not None  # every block is done
    return result


def checked_experiment(
    problem: Problem,
    algorithm: Algorithm,
    delta: float,
    seed: int | None,
    skip_error: float,
    max_pulls: int | None,
) -> Experiment:
    """Return the experiment of `simulate`'s arguments, checked; draw a seed if it is None.

    Raises
    ------
    TypeError, ValueError
        As `simulate` does.

    Examples
    --------
    >>> import rai_sim as rai
    >>> checked_experiment(rai.table_problem(), rai.LUCB(), 0.01, 7, 1e-12, 1000).max_pulls
    1000
    """
    if not isinstance(problem, Problem):
        raise ArgumentTypeError(
            "problem",
            f"problem must be a Problem; got {short.repr(problem)}: build one with rai.Problem(arms, "
            "clusters, required)",
        )
    if not isinstance(algorithm, Algorithm):
        raise ArgumentTypeError(
            "algorithm",
            f"algorithm must be an algorithm such as rai.Vanilla(); got {short.repr(algorithm)}",
            ": add parentheses" if isinstance(algorithm, type) else "",
        )
    delta = _check_delta(delta)
    algorithm.check_problem(problem, delta)
    return Experiment(
        problem,
        algorithm,
        delta,
        check_seed(seed),
        _check_skip_error(skip_error),
        None if max_pulls is None else check_count("max_pulls", max_pulls, 1),
    )


class _Done(NamedTuple):
    """What is done: ranges of rows, joined, and the pulls of each arm in them, if these are added
    up."""

    ranges: list[tuple[int, int]]
    arm_pulls: NDArray[np.int64] | None


@dataclass
class _Run:
    """Replications first..first+count-1 on their way into one preallocated block."""

    experiment: Experiment
    first: int
    count: int
    block_size: int | None
    n_jobs: int | None
    keep: str | None = None
    started: float = field(default_factory=time.perf_counter)
    compiled_before: float = field(default_factory=compile_seconds)
    done: _Done = field(default_factory=lambda: _Done([], None))
    lock: Lock = field(default_factory=Lock)
    #: Replications that take about as long as a part should.
    size: int = 1

    def __post_init__(self) -> None:
        self.out = block_for(self.experiment, self.count, self.keep == BY_REPLICATION)
        self.most = most_in_part(self.keep, self.experiment.problem.n_arms)

    def name_of(self, experiment: Experiment) -> str | None:
        """Return no name for this run's experiment, None for others."""
        return "" if experiment is self.experiment else None

    def blocks(self) -> Generator[int]:
        """Run everything; yield each finished block's number of replications."""
        with closing(self._first_pass()) as first_pass:
            for done in first_pass:
                self._lower_flag()
                yield done
        while missing := self._missing():  # a signal stopped them
            for rows in missing:
                self._lower_flag()
                yield self._run_part(rows).finished

    def _lower_flag(self) -> None:
        """Let kernels go on: in the main thread, whoever handled a signal has raised by now if it
        was to end something."""
        self.out.history.stop[0] = 0

    def _first_pass(self) -> Generator[int]:
        most = min(self.block_size or self.count, self.most)
        start, size, each = 0, most if self.block_size and self.n_jobs == 1 else 1, 0.0
        # Alone, every block runs here. With workers, the first ones do, short ones: they compile
        # what is missing once, and tell a replication's time.
        while start < self.count and (
            self.n_jobs == 1 or (self.count - start) * each <= _WORTH_WORKERS
        ):
            stop = min(start + size, self.count)
            part = self._run_part((start, stop))
            yield part.finished
            if self.n_jobs != 1 or self.block_size is None:
                size = min(next_size(stop - start, part.seconds), most)
            if self.n_jobs != 1 and start == 0 and part.seconds < _LONG_FOR_A_CALL:
                # the first block's time may be compilation's, or mostly a call's
                size = min(size, 16)
            else:
                each = part.seconds / (stop - start)
            start = stop
        if start < self.count:
            self.size = size
            yield from self._spread(start)

    def _spread(self, start: int) -> Iterator[int]:
        """Run what is left on workers: threads write into the block, others send theirs back."""
        pace = Pace(PART_SECONDS)
        parts = self._parts(start, pace)
        if share_memory(self.n_jobs):
            for part in spread(self._run_part, parts, self.n_jobs):
                yield part.finished
            return
        run = partial(_run_elsewhere, os.getpid(), self.experiment, self.first, self.keep)
        with closing(spread(run, parts, self.n_jobs, late=self._collect_late, pace=pace)) as blocks:
            for found in blocks:
                yield self._collect(found)

    def _parts(self, start: int, pace: Pace) -> Iterator[tuple[int, int]]:
        """Yield what is left in parts, of as many replications as fit the pace, but enough parts
        for every worker to be busy to the end."""
        most = math.ceil((self.count - start) / (8 * effective_workers(self.n_jobs)))
        while start < self.count:
            fitting = int(self.size * pace.seconds / PART_SECONDS)
            size = self.block_size or max(1, min(fitting, most))
            stop = min(start + min(size, self.most), self.count)
            yield start, stop
            start = stop

    def _run_part(self, rows: tuple[int, int]) -> Part:
        start, stop = rows
        block = part_of(self.out, start, stop)
        if self.keep == SUMMED:
            arms = self.experiment.problem.n_arms
            block = block._replace(arm_pulls=np.zeros((stop - start, arms), np.int64))
        part = run_part(self.experiment, self.first + start, block, 0, stop - start)
        if part.finished:
            self._note(start, part.finished, block)
        return part

    def _missing(self) -> list[tuple[int, int]]:
        """Return what was not finished, in parts."""
        ends = [(0, 0), *self.done.ranges, (self.count, self.count)]
        gaps = [(a, b) for (_, a), (b, _) in itertools.pairwise(ends) if a < b]
        return [(at, min(at + self.most, b)) for a, b in gaps for at in range(a, b, self.most)]

    def _collect(self, found: Found) -> int:
        """Copy what a worker has finished that shares no memory with this process."""
        block, rows = found.block, slice(found.start, found.start + len(found.block.pulls))
        if rows.stop > rows.start:
            self.out.pulls[rows], self.out.rounds[rows] = block.pulls, block.rounds
            self.out.correct[rows], self.out.finished[rows] = block.correct, block.finished
            self.out.representatives[rows] = block.representatives
            if self.keep == BY_REPLICATION:
                self.out.arm_pulls[rows] = block.arm_pulls
            if block.recommended.shape[0] > 0:
                self.out.recommended[rows] = block.recommended
            self.size = next_size(len(block.pulls), found.seconds)
            self._note(rows.start, len(block.pulls), block)
        return len(block.pulls)

    def _note(self, start: int, count: int, block: Block) -> None:
        """Note that so many replications from `start` on are done, with the first rows of a block
        for what is only added up."""
        sums = None
        with self.lock:
            if self.keep == SUMMED:
                sums = added(self.done.arm_pulls, block.arm_pulls[:count], block.finished[:count])
            # one assignment: an interrupt finds both, or neither
            self.done = _Done(_joined([*self.done.ranges, (start, start + count)]), sums)

    def _collect_late(self, found: Found) -> None:
        """Copy what came when an interrupt had struck, unless it was copied before."""
        if not any(a <= found.start < b for a, b in self.done.ranges):
            self._collect(found)

    def result(self) -> Result | None:
        """Return the finished replications."""
        if not self.done.ranges:
            return None
        ranges, whole = self.done.ranges, self.done.ranges == [(0, self.count)]

        def rows(array: NDArray[Any]) -> NDArray[Any]:
            return array if whole else np.concatenate([array[a:b] for a, b in ranges])

        out, named = self.out, None
        if self.experiment.max_pulls is not None:
            named = what_is_recommended(
                rows(out.finished), rows(out.representatives), rows(out.recommended[:, -1])
            )
        compiling = compile_seconds() - self.compiled_before
        seconds = max(time.perf_counter() - self.started - compiling, 0.0)
        return Result(
            experiment=self.experiment,
            ranges=tuple((self.first + a, self.first + b) for a, b in ranges),
            pulls=rows(out.pulls),
            rounds=rows(out.rounds),
            correct=rows(out.correct),
            finished=rows(out.finished),
            representatives=rows(out.representatives),
            recommended=named,
            seconds=seconds,
            compile_seconds=compiling,
            arm_pulls=rows(out.arm_pulls) if self.keep == BY_REPLICATION else None,
            arm_pulls_sum=self.done.arm_pulls,
        )


class Found(NamedTuple):
    """What a worker has finished that shares no memory with this process: where it begins, the
    replications, and seconds."""

    start: int
    block: Block
    seconds: float


def _run_elsewhere(
    home: int, experiment: Experiment, first: int, keep: str | None, rows: tuple[int, int]
) -> Found:
    """Run a part in a block of its own; return what was finished before a signal. `home` is the
    process that it was sent from."""
    start, stop = rows
    block = block_for(experiment, stop - start, keep is not None)
    with stopped_by_signals() if os.getpid() != home else nullcontext():
        part = run_part(experiment, first + start, block, 0, stop - start)
    if part.finished < stop - start:
        block = copy_of(part_of(block, 0, part.finished))
    return Found(start, block, part.seconds)


def _joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the ranges sorted, adjacent ones joined."""
    joined: list[tuple[int, int]] = []
    for start, stop in sorted(ranges):
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], stop)
        else:
            joined.append((start, stop))
    return joined


def _check_delta(delta: float) -> float:
    probability = check_delta(delta)
    if probability < _SMALLEST_DELTA:
        raise ArgumentValueError(
            "delta",
            f"delta is {probability}; below {_SMALLEST_DELTA} the confidence radii overflow: take "
            "a larger one",
        )
    return probability


def _check_skip_error(value: object) -> float:
    number = real("skip_error", value) + 0.0  # not -0.0: equal values must be one experiment
    if not 0.0 <= number <= _MOST_SKIP_ERROR:
        raise ArgumentValueError(
            "skip_error",
            f"skip_error is {number}; it must lie between 0 (skip only what is certain) and "
            f"{_MOST_SKIP_ERROR}",
        )
    return number
