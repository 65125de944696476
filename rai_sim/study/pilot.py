"""A few replications of a task, run to learn what many will take; nothing of them is stored.

They are the task's first ones, with their own streams. A pilot is bounded: where a replication does
not end in time it is given up, and what is known is a lower bound.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.simulation.compilation import compile_seconds
from rai_sim.simulation.experiment import Experiment
from rai_sim.simulation.parts import Part, run_part
from rai_sim.simulation.signals import ended_in
from rai_sim.simulation.statistics import NOTHING, Sums
from rai_sim.simulation.workers import block_for
from rai_sim.study.state import PILOT

#: A pilot goes on beyond `PILOT` replications while it has taken less than so many seconds, that
#: short ones be measured well, up to so many replications, and so many representatives.
_ENOUGH, _MOST, _MOST_ENTRIES = 0.1, 2048, 1 << 20
#: Of so many replications it is kept whom they named, and what they pulled.
_NAMED = 16
#: The first replication of an algorithm on a law has so many seconds more: it may load a kernel.
_LOADING = 10.0
#: Another replication is begun if so many times the mean of those before it fits into the time.
_ROOM = 1.5


class Limits(NamedTuple):
    """How long a pilot is: seconds that a task's may take at most, and after which it is long
    enough."""

    most: float
    enough: float = _ENOUGH


@dataclass(frozen=True)
class Pilot:
    """What a task's pilot came to.

    Attributes
    ----------
    sums : Sums
        Of the replications that ended.
    pulls : int
        Of all of these, those at their cap included, and of the one that was given up.
    each : float
        Seconds of processor time a replication; a lower bound if one was given up.
    named : (R, sum of r) int32
        Representatives that the first of them named.
    arm_pulls : (R, N) int64
        Pulls of each arm in these; (0, 0) if they are not kept.
    given_up : bool
        Whether a replication did not end in time.
    flaw : str or None
        Why the task cannot be run.
    """

    sums: Sums
    pulls: int
    each: float
    named: NDArray[np.int32]
    arm_pulls: NDArray[np.int64]
    given_up: bool = False
    flaw: str | None = None

    @property
    def replications(self) -> int:
        """How many ended."""
        return self.sums.replications

    @property
    def pulls_each(self) -> float:
        """Mean pulls of a replication; a lower bound if one was given up."""
        return self.pulls / max(self.replications + self.given_up, 1)


def load_kernels(experiments: Iterable[Experiment], most: float) -> None:
    """Have the kernels of some experiments compiled and loaded, which is no part of what their
    replications take.

    One replication of each law with each algorithm is run, for `most` seconds and some more; what
    fails there fails in the task's own pilot.
    """
    met = set()
    for run in experiments:
        kind = type(run.problem.arms), run.algorithm
        if kind not in met:
            met.add(kind)
            run_pilot(run, 1, Limits(most + _LOADING))


def run_pilot(experiment: Experiment, most: int, limits: Limits, arm_pulls: bool = False) -> Pilot:
    """Run the first replications of a task, in this thread.

    Parameters
    ----------
    experiment : Experiment
        The task's; its kernel should be loaded.
    most : int
        Of how many replications there is no use; at least 1.
    limits : Limits
        How long it may take.
    arm_pulls : bool, default False
        Whether the pulls of each arm are kept.

    Returns
    -------
    Pilot
        Of `PILOT` replications, of more where they are short, of fewer where they are long.

    Examples
    --------
    >>> import rai_sim as rai
    >>> study = rai.Study.grid([rai.table_problem()], [rai.Butterscotch()], [0.1])
    >>> pilot = run_pilot(study.tasks[0].experiment, 20, Limits(10.0))
    >>> pilot.replications, pilot.pulls_each, pilot.given_up
    (20, 7420.0, False)
    """
    problem = experiment.problem
    width = max(1, sum(problem.required)) + (problem.n_arms if arm_pulls else 0)
    clock = _Clock(min(most, _MOST, max(1, _MOST_ENTRIES // width)), limits)
    block = block_for(experiment, clock.most, arm_pulls)
    with ended_in(limits.most, compiling=False):
        while (size := clock.next()) > 0:
            worked, compiled = time.thread_time(), compile_seconds()
            try:
                part = run_part(experiment, 0, block, clock.done, clock.done + size)
            # a recording that ran out, too many pulls, no memory: as in a run of the study
            except Exception as error:
                nobody, nothing = block.representatives[:0], block.arm_pulls[:0]
                return Pilot(NOTHING, 0, 0.0, nobody, nothing, flaw=str(error))
            worked = time.thread_time() - worked
            clock.note(part, size, worked if compile_seconds() == compiled else part.seconds)
    done = slice(clock.done)
    columns = (block.pulls[done], block.rounds[done], block.correct[done], block.finished[done])
    pulls = sum(block.pulls[done].tolist()) + clock.pulls_given_up
    first = slice(min(clock.done, _NAMED))
    named, by_arm = block.representatives[first].copy(), block.arm_pulls[first].copy()
    return Pilot(Sums.of(*columns), pulls, clock.each, named, by_arm, clock.given_up)


class _Clock:
    """How long a pilot has taken, and how many replications come next."""

    def __init__(self, most: int, limits: Limits) -> None:
        """Nothing was run yet."""
        self.most, self._limits, self._passed = most, limits, 0.0
        self.done, self.given_up, self.pulls_given_up = 0, False, 0
        self._over = False
        self._spent = self._first = 0.0

    @property
    def each(self) -> float:
        """Seconds of work a replication, the first one aside where there are others: much in it happens
        once."""
        if self.given_up:
            return self._spent / (self.done + 1)
        if self.done > 1:
            return (self._spent - self._first) / (self.done - 1)
        return self._spent / max(self.done, 1)

    def next(self) -> int:
        """Return how many replications are to be run next; 0 if it is enough."""
        if self._over:
            return 0
        if not self.done:
            return 1
        # by the clock, as the limit is: others may be at work on this machine
        slow, each = self._passed / self.done, max(self.each, 1e-9)
        fits = int((self._limits.most - self._passed) / (_ROOM * max(slow, 1e-9)))
        if self.done >= self.most or not fits:
            return 0
        if self.done < PILOT:
            return min(PILOT - self.done, self.most - self.done, fits)
        if max(self._spent, 0.25 * self._passed) >= self._limits.enough:
            return 0
        # times vary a lot: what is foreseen grows with what is known
        wanted = max(1, int((self._limits.enough - self._spent) / each))
        return min(wanted, 4 * self.done, self.most - self.done, fits)

    def note(self, part: Part, size: int, worked: float) -> None:
        """Count a part that was run, and its seconds of processor time."""
        self._passed += part.seconds
        self._spent += worked
        if not self.done:
            self._first = worked
        self.done += part.finished
        self._over = part.stopped
        if part.finished < size:
            self.given_up, self.pulls_given_up = True, part.pulls
