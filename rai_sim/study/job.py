"""A job: units of work that a worker runs one after the other in about a fifth of a second, and
what became of each."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from contextlib import nullcontext
from typing import NamedTuple

from rai_sim.engine.blocks import Block, copy_of, part_of
from rai_sim.simulation.at_cap import at_cap_of
from rai_sim.simulation.compilation import compile_seconds
from rai_sim.simulation.experiment import Experiment
from rai_sim.simulation.parts import next_size, run_part
from rai_sim.simulation.signals import ended_in
from rai_sim.simulation.workers import block_for
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
    """What became of a unit: its rows from `start` on, maybe not all, the time a replication (NaN:
    none was run), and what went wrong.

    `took` seconds for `timed` of its replications are without what loading a kernel takes, and
    without compilation, `compiling` seconds. `stopped` tells whether a signal, or a time
    limit, stopped the job.
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


def run_sent(home: int, job: tuple[Sequence[Unit], float, float | None]) -> list[Outcome]:
    """Run units that were sent to another process, with the seconds that they are to take, and
    after which they are ended."""
    return run_job(home, *job)


def run_job(
    home: int, units: Sequence[Unit], seconds: float | None = None, limit: float | None = None
) -> list[Outcome]:
    """Run units until all are done or the time is up, `JOB_SECONDS` unless it is said; the last
    ones may be cut short or left out. `home` is the study's process.

    Of the replication that runs when `limit` seconds are over, if there is a limit, nothing is
    kept.
    """
    # A terminal sends Ctrl-C to worker processes as well, which are to finish what they have begun.
    with Interrupts() if os.getpid() != home else nullcontext(), ended_in(limit):
        deadline = time.perf_counter() + (JOB_SECONDS if seconds is None else seconds)
        outcomes = list[Outcome]()
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
    block = block_for(unit.experiment, count, unit.arm_pulls)
    done, seconds = 0, unit.seconds
    took, timed, compiled = 0.0, 0, compile_seconds()

    def outcome(error: Exception | None = None) -> Outcome:
        return _outcome(unit, block, done, seconds, error)._replace(
            took=took, timed=timed, compiling=compile_seconds() - compiled
        )

    size = 1 if math.isnan(seconds) else fitting(seconds, deadline - time.perf_counter())
    while done < count:
        size = min(size, count - done)
        try:
            part = run_part(unit.experiment, unit.start, block, done, done + size)
        # a recording that ran out, too many pulls, no memory: this task's affair, the others go on
        except Exception as error:
            return outcome(error)
        # a second Ctrl-C: what is finished is handed over, and no job follows
        except KeyboardInterrupt:
            return outcome()
        if part.stopped:
            done += part.finished
            return outcome()._replace(stopped=True)
        if done or not math.isnan(unit.seconds):  # else it may have loaded the kernel
            took, timed = took + part.seconds, timed + size
        done, seconds = done + size, part.seconds / size
        ended = time.perf_counter()
        if ended > deadline:
            break
        size = min(next_size(size, part.seconds), fitting(seconds, deadline - ended))
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
        key = unit.experiment.identity().rpartition(":")[2]
        rows = Rows(key, unit.start, whole, at_cap_of(unit.experiment, whole))
    return Outcome(
        task=unit.task, start=unit.start, stop=unit.stop, rows=rows, seconds=seconds, error=error
    )


def fitting(seconds: float, left: float) -> int:
    """Return how many replications of so many seconds each there is time for, at least one."""
    return max(1, int(left / max(seconds, 1e-9)))
