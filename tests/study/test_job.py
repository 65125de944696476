"""A job: what is cut short, what fails and what a signal stops, on a clock of the test's own."""

import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from studies import CLOCK, pairs

import rai_sim as rai
from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.engine.blocks import Block, Setting
from rai_sim.simulation.parts import Part, run_part
from rai_sim.study import Study
from rai_sim.study import job as jobs
from rai_sim.study.data import ranges_of
from rai_sim.study.job import Done, Unit, fitting, run_job

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


def check_rows(done: Done, *stops: int) -> None:
    """Check that the units' rows are those from their starts to these stops, with their numbers."""
    assert [outcome.reached for outcome in done.outcomes] == list(stops)
    ends = [(one.start, one.reached) for one in done.outcomes if one.reached > one.start]
    assert [one[1:] for one in ranges_of(done.rows)] == ends
    for rows in done.rows:
        pulls = [10 + at for _, *one in rows.ranges for at in range(*one)]
        assert rows.block.pulls.tolist() == pulls


@pytest.mark.parametrize(("seconds", "timed"), [(0.03, 7), (NAN, 6)])
def test_a_unit_is_cut_short_when_the_time_is_up(seconds: float, timed: int) -> None:
    """Seven replications take 0.21 s; what is finished is kept, the next unit is left as it was. Of
    a kernel's first replication no time is taken where none was known: it may load it."""
    assert jobs.JOB_SECONDS == 0.2
    done = run_job(HERE, [unit(0, 100, 400, seconds), unit(1, 0, 5)])
    check_rows(done, 107, 0)
    cut, left = done.outcomes
    assert (cut.task, cut.stop, cut.error, cut.stopped) == (0, 400, None, False)
    assert cut.seconds == pytest.approx(0.03)
    assert cut.took == pytest.approx(0.03 * timed)
    assert cut.timed == timed
    assert done.compiling == 0.0
    assert done.rows[0].block.pulls.base is None  # a block of 300 rows does not stay for seven
    assert (left.task, left.reached, left.stop, left.stopped) == (1, 0, 5, False)
    assert math.isnan(left.seconds)


def test_units_are_run_whole_while_there_is_time() -> None:
    """In their order, each from its own first replication; the last may overrun the time."""
    done = run_job(HERE, [unit(3, 0, 2), unit(1, 7, 9), unit(2, 50, 52)])
    assert [one.task for one in done.outcomes] == [3, 1, 2]
    check_rows(done, 2, 9, 52)


def test_rows_of_one_block_are_of_one_form() -> None:
    """Units that name as many arms share a block, others follow in one of their own; with a cap,
    which recommendations are judged at, those of other problems, too."""
    problems = [rai.best_arm(rai.Bernoulli([0.9, 0.5, k])) for k in (0.1, 0.2)]
    problems.append(rai.top(rai.Bernoulli([0.9, 0.5, 0.1]), 2))
    for cap, lengths in ((None, [3, 1]), (1000, [1, 2, 1])):
        study = Study.grid(problems, [Ticking()], [0.1], max_pulls=cap, replications=1)
        experiments = [study.tasks[at].experiment for at in (0, 1, 1, 2)]
        units = [Unit(at, one, at, at + 1, 0.03) for at, one in enumerate(experiments)]
        rows = run_job(HERE, units).rows
        assert [len(one.ranges) for one in rows] == lengths
        assert [start for one in rows for _, start, _ in one.ranges] == [0, 1, 2, 3]
        keys = [key for one in rows for key, _, _ in one.ranges]
        assert keys == [study.tasks[at].key for at in (0, 1, 1, 2)]
        assert [one.block.representatives.shape[1] for one in rows][-1] == 2
        assert all((one.at_cap is None) == (cap is None) for one in rows)


def test_one_replication_is_run_however_long_it_takes() -> None:
    """Else a study of long ones would never get on."""
    check_rows(run_job(HERE, [unit(0, 5, 6, 1000.0)]), 6)
    assert fitting(1000.0, 0.2) == fitting(0.03, -1.0) == 1
    assert fitting(0.03, 0.2) == 6
    assert fitting(0.0, 0.2) == 200_000_000


def test_an_error_of_one_task_leaves_the_others() -> None:
    """What it had finished before is kept."""
    done = run_job(HERE, [unit(0, 0, 5, NAN, fails_in=1), unit(1, 0, 1)])
    check_rows(done, 1, 1)
    failed, other = done.outcomes
    assert isinstance(failed.error, ValueError)
    assert other.error is None
    done = run_job(HERE, [unit(0, 0, 5, fails_in=0)])
    assert isinstance(done.outcomes[0].error, ValueError)
    assert (done.rows, done.outcomes[0].reached) == ([], 0)


def test_a_second_ctrl_c_hands_over_what_is_finished() -> None:
    """It is no task's error."""
    done = run_job(HERE, [unit(0, 0, 5, NAN, fails_in=1, error="KeyboardInterrupt")])
    check_rows(done, 1)
    assert done.outcomes[0].error is None


def test_a_signal_stops_the_units_that_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the one that it struck the finished rows are kept, though time was left."""

    def stopped(experiment: Any, first: int, block: Block, start: int, stop: int) -> Part:
        done = run_part(experiment, first, block, start, start + 2)
        return done._replace(stopped=True)

    monkeypatch.setattr(jobs, "run_part", stopped)
    done = run_job(HERE, [unit(0, 20, 25), unit(1, 0, 1)])
    check_rows(done, 22, 0)
    assert [one.stopped for one in done.outcomes] == [True, True]
