"""A job: what is cut short, what fails and what a signal stops, on a clock of the test's own."""

import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from studies import CLOCK, pairs

from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.engine.blocks import Block, Setting
from rai_sim.simulation.parts import Part, run_part
from rai_sim.study import Study
from rai_sim.study import job as jobs
from rai_sim.study.job import Outcome, Unit, fitting, run_job

pytestmark = pytest.mark.usefixtures("clock")
#: The home of jobs that run here.
HERE = os.getpid()
NAN = math.nan


@dataclass(frozen=True)
class Ticking(Algorithm):
    """Takes 10 + i pulls in replication i, in 0.03 s, and fails in some replication with an
    error."""

    fails_in: int = 1 << 40
    error: str = "ValueError"

    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Let the clock go on."""
        n = len(block.pulls)
        CLOCK.now += 0.03 * n
        if first <= self.fails_in < first + n:
            raise {"ValueError": ValueError, "KeyboardInterrupt": KeyboardInterrupt}[self.error]
        block.pulls[:] = 10 + np.arange(first, first + n)
        block.finished[:] = True


del ALGORITHMS["ticking"]  # no choice of the command line in other tests


def unit(task: int, start: int, stop: int, seconds: float = 0.03, **options: Any) -> Unit:
    """Return a unit of an algorithm that ticks."""
    study = Study.grid(pairs(0.4), [Ticking(**options)], [0.1])
    return Unit(task, study.tasks[0].experiment, start, stop, seconds)


def check_rows(outcome: Outcome, stop: int) -> None:
    """Check that the rows are those from the unit's start to `stop`, with their numbers."""
    assert outcome.rows is not None
    assert (outcome.rows.first, outcome.rows.stop, outcome.reached) == (outcome.start, stop, stop)
    assert outcome.rows.block.pulls.tolist() == list(range(10 + outcome.start, 10 + stop))


@pytest.mark.parametrize(("seconds", "timed"), [(0.03, 7), (NAN, 6)])
def test_a_unit_is_cut_short_when_the_time_is_up(seconds: float, timed: int) -> None:
    """Seven replications take 0.21 s; what is finished is kept, the next unit is left as it was. Of
    a kernel's first replication no time is taken where none was known: it may load it."""
    assert jobs.JOB_SECONDS == 0.2
    cut, left = run_job(HERE, [unit(0, 100, 400, seconds), unit(1, 0, 5)])
    check_rows(cut, 107)
    assert (cut.task, cut.stop, cut.error, cut.stopped) == (0, 400, None, False)
    assert cut.seconds == pytest.approx(0.03)
    assert cut.took == pytest.approx(0.03 * timed)
    assert cut.timed == timed
    assert cut.compiling == 0.0
    assert cut.rows is not None
    assert cut.rows.block.pulls.base is None  # a block of 300 rows does not stay for seven
    assert (left.task, left.rows, left.reached, left.stop, left.stopped) == (1, None, 0, 5, False)
    assert math.isnan(left.seconds)


def test_units_are_run_whole_while_there_is_time() -> None:
    """In their order, each from its own first replication; the last may overrun the time."""
    outcomes = run_job(HERE, [unit(3, 0, 2), unit(1, 7, 9), unit(2, 50, 52)])
    assert [one.task for one in outcomes] == [3, 1, 2]
    for outcome in outcomes:
        check_rows(outcome, outcome.stop)


def test_one_replication_is_run_however_long_it_takes() -> None:
    """Else a study of long ones would never get on."""
    (outcome,) = run_job(HERE, [unit(0, 5, 6, 1000.0)])
    check_rows(outcome, 6)
    assert fitting(1000.0, 0.2) == fitting(0.03, -1.0) == 1
    assert fitting(0.03, 0.2) == 6
    assert fitting(0.0, 0.2) == 200_000_000


def test_an_error_of_one_task_leaves_the_others() -> None:
    """What it had finished before is kept."""
    failed, other = run_job(HERE, [unit(0, 0, 5, NAN, fails_in=1), unit(1, 0, 1)])
    assert isinstance(failed.error, ValueError)
    check_rows(failed, 1)
    assert other.error is None
    check_rows(other, 1)
    (at_once,) = run_job(HERE, [unit(0, 0, 5, fails_in=0)])
    assert isinstance(at_once.error, ValueError)
    assert (at_once.rows, at_once.reached) == (None, 0)


def test_a_second_ctrl_c_hands_over_what_is_finished() -> None:
    """It is no task's error."""
    (outcome,) = run_job(HERE, [unit(0, 0, 5, NAN, fails_in=1, error="KeyboardInterrupt")])
    assert outcome.error is None
    check_rows(outcome, 1)


def test_a_signal_stops_the_units_that_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the one that it struck the finished rows are kept, though time was left."""

    def stopped(experiment: Any, first: int, block: Block, start: int, stop: int) -> Part:
        done = run_part(experiment, first, block, start, start + 2)
        return done._replace(stopped=True)

    monkeypatch.setattr(jobs, "run_part", stopped)
    struck, left = run_job(HERE, [unit(0, 20, 25), unit(1, 0, 1)])
    check_rows(struck, 22)
    assert struck.stopped
    assert (left.rows, left.reached, left.stopped) == (None, 0, True)
