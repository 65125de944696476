"""Long work is cut into parts: how long one takes, how far it came, and how long the next should
be.

`simulate` and studies run replications so; which part comes next, and where, is theirs to say.
"""

from __future__ import annotations

import time
from typing import NamedTuple

from rai_sim.engine.blocks import Block, part_of
from rai_sim.engine.faults import KernelStopped
from rai_sim.engine.stop import PULLS
from rai_sim.simulation.arm_pulls import check_written
from rai_sim.simulation.compilation import compile_seconds
from rai_sim.simulation.experiment import Experiment
from rai_sim.simulation.workers import run_into

#: A part takes about this long, so that Ctrl-C is answered promptly and progress moves; it is far
#: longer than a part's overhead.
PART_SECONDS = 0.2


class Part(NamedTuple):
    """A part that was run: how many of its replications are finished, in how many seconds without
    those of compilation, whether a signal or a time limit stopped it before its end, and how many
    pulls the replication had made that was stopped."""

    finished: int
    seconds: float
    stopped: bool
    pulls: int = 0


def run_part(experiment: Experiment, first: int, block: Block, start: int, stop: int) -> Part:
    """Run rows start..stop-1 of a block, whose row 0 is replication `first`, in this thread; a new
    block's record of faults, counters and position are those of a part that is all of it.

    Raises
    ------
    ValueError, OverflowError
        As `rai_sim.simulation.workers.run_into` does; ValueError if pulls by arm are kept and the
        algorithm does not write them.
    """
    began, compiled = time.perf_counter(), compile_seconds()
    whole = start == 0 and stop == len(block.pulls)
    rows, pulls = block if whole else part_of(block, start, stop), 0
    try:
        run_into(experiment, first + start, rows)
        finished, stopped = stop - start, False
    except KernelStopped as signal:
        finished, stopped = signal.replications, True
        pulls = max(int(rows.history.position[PULLS]), 0)
    if block.arm_pulls.shape[0] > 0:
        done = slice(start, start + finished)
        check_written(experiment.algorithm.label, block.arm_pulls[done], block.pulls[done])
    seconds = time.perf_counter() - began - (compile_seconds() - compiled)
    return Part(finished, max(seconds, 0.0), stopped, pulls)


def next_size(size: int, seconds: float) -> int:
    """Return how many replications take about PART_SECONDS, where `size` of them took so many
    seconds.

    If they are long ones, at most 16 times as many: times may vary a lot.

    Examples
    --------
    >>> next_size(10, 1.0), next_size(1, 1e-5), next_size(1, 0.01)
    (2, 1024, 16)
    """
    growth = PART_SECONDS / max(seconds, 1e-9)
    return max(1, int(size * min(growth, 1024.0 if seconds < 1e-3 * size else 16.0)))
