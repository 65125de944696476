"""A job: units of work that a worker runs one after the other in about a fifth of a second, and
what became of each."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from contextlib import nullcontext
from itertools import accumulate, groupby, pairwise
from typing import NamedTuple

from rai_sim.engine.blocks import Block, copy_of, part_of
from rai_sim.simulation.at_cap import at_cap_of
from rai_sim.simulation.compilation import compile_seconds
from rai_sim.simulation.experiment import Experiment
from rai_sim.simulation.parts import next_size, run_part
from rai_sim.simulation.signals import ended_in
from rai_sim.simulation.workers import block_for
from rai_sim.study.claims import Range
from rai_sim.study.data import Rows
from rai_sim.study.interrupts import Interrupts

#: What a job should take, if it is not sent far; Ctrl-C waits for the jobs that have begun.
JOB_SECONDS = 0.2


class Unit(NamedTuple):
    """Replications start..stop-1 of a task, of which `seconds` a replication are expected; NaN if
    nothing is known."""

    task: int
    experiment: Experiment
    start: int
    stop: int
    seconds: float
    arm_pulls: bool = False  # whether they are kept


class Outcome(NamedTuple):
    """What became of a unit: replications start..reached-1 are finished, maybe not all, the time a
    replication (NaN: none was run), and what went wrong.

    `took` seconds for `timed` of its replications are without what loading a kernel takes, and
    without compilation. `stopped` tells whether a signal, or a time limit, stopped the job.
    """

    task: int
    start: int
    stop: int
    reached: int
    seconds: float
    error: Exception | None = None
    took: float = 0.0
    timed: int = 0
    stopped: bool = False


class Done(NamedTuple):
    """What a job hands over: what became of each unit, what they have finished, and the seconds of
    compilation among them."""

    outcomes: list[Outcome]
    rows: list[Rows]
    compiling: float = 0.0


def run_sent(home: int, job: tuple[Sequence[Unit], float, float | None]) -> Done:
    """Run units that were sent to another process, with the seconds that they are to take, and
    after which they are ended."""
    return run_job(home, *job)


def run_job(
    home: int, units: Sequence[Unit], seconds: float | None = None, limit: float | None = None
) -> Done:
    """Run units until all are done or the time is up, `JOB_SECONDS` unless it is said; the last
    ones may be cut short or left out. `home` is the study's process.

    Of the replication that runs when `limit` seconds are over, if there is a limit, nothing is
    kept.
    """
    # A terminal sends Ctrl-C to worker processes as well, which are to finish what they have begun.
    with Interrupts() if os.getpid() != home else nullcontext(), ended_in(limit):
        deadline = time.perf_counter() + (JOB_SECONDS if seconds is None else seconds)
        done, compiled = Done([], []), compile_seconds()
        left, stopped = units, False
        while left and not stopped and (left is units or time.perf_counter() < deadline):
            _run_alike(left, deadline, done)
            left, stopped = units[len(done.outcomes) :], done.outcomes[-1].stopped
        done.outcomes.extend(_left(unit, stopped) for unit in left)
        return done._replace(compiling=compile_seconds() - compiled)


def width_of(experiment: Experiment, arm_pulls: bool) -> int:
    """Return how many entries a replication has in a block, at least one."""
    problem = experiment.problem
    return max(1, sum(problem.required)) + (problem.n_arms if arm_pulls else 0)


def _form(unit: Unit) -> tuple[object, ...]:
    """Return what units have in common whose replications may be rows of one block."""
    problem, cap = unit.experiment.problem, unit.experiment.max_pulls
    arms = problem.n_arms if unit.arm_pulls else 0
    # what is recommended at a cap is judged by the problem
    return sum(problem.required), arms, cap, None if cap is None else problem.identity()


def _run_alike(units: Sequence[Unit], deadline: float, done: Done) -> None:
    """Run those first ones into one block that may share it, until one is cut short or the time is
    up."""
    alike = list(next(groupby(units, _form))[1])
    borders = [0, *accumulate(unit.stop - unit.start for unit in alike)]
    one, total = alike[0], borders[-1]
    block = block_for(one.experiment, total, one.arm_pulls)
    # all at once: after a kernel it takes twice as long, as nothing is in the processor's caches
    parts = [part_of(block, *rows) for rows in pairwise(borders)]
    ranges = list[Range]()
    for unit, part in zip(alike, parts, strict=True):
        outcome = _run_unit(unit, part, deadline)
        done.outcomes.append(outcome)
        if outcome.reached > unit.start:
            ranges.append((unit.experiment.key, unit.start, outcome.reached))
        if outcome.reached < unit.stop or time.perf_counter() >= deadline:
            break
    rows = sum(stop - start for _, start, stop in ranges)
    if rows:
        whole = block if rows == total else part_of(block, 0, rows)
        if 2 * rows < total:  # a short part must not keep the whole alive
            whole = copy_of(whole)
        done.rows.append(Rows(ranges, whole, at_cap_of(one.experiment, whole)))


def _left(unit: Unit, stopped: bool) -> Outcome:
    """Return what becomes of a unit that is not begun."""
    return Outcome(
        task=unit.task,
        start=unit.start,
        stop=unit.stop,
        reached=unit.start,
        seconds=math.nan,
        stopped=stopped,
    )


def _run_unit(unit: Unit, block: Block, deadline: float) -> Outcome:
    """Run at least one replication of a unit into its block."""
    count, at, seconds = unit.stop - unit.start, 0, unit.seconds
    took, timed, error, stopped = 0.0, 0, None, False
    size = 1 if math.isnan(seconds) else fitting(seconds, deadline - time.perf_counter())
    while True:
        size = min(size, count - at)
        try:
            part = run_part(unit.experiment, unit.start, block, at, at + size)
        # a recording that ran out, too many pulls, no memory: this task's affair, the others go on
        except Exception as fault:
            error = fault
            break
        # a second Ctrl-C: what is finished is handed over, and no job follows
        except KeyboardInterrupt:
            break
        at += part.finished
        if part.stopped:
            stopped = True
            break
        if not math.isnan(seconds):  # else it may have loaded the kernel
            took, timed = took + part.seconds, timed + size
        seconds, ended = part.seconds / size, time.perf_counter()
        if at == count or ended > deadline:
            break
        size = min(next_size(size, part.seconds), fitting(seconds, deadline - ended))
    return Outcome(
        task=unit.task,
        start=unit.start,
        stop=unit.stop,
        reached=unit.start + at,
        seconds=seconds,
        error=error,
        took=took,
        timed=timed,
        stopped=stopped,
    )


def fitting(seconds: float, left: float) -> int:
    """Return how many replications of so many seconds each there is time for, at least one."""
    return max(1, int(left / max(seconds, 1e-9)))
