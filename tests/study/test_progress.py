"""What is shown while a study runs: estimates, on a clock that replications let go on."""

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from clock import Clock
from numpy.typing import NDArray

import rai_sim as rai
import rai_sim.simulation.parts as parts
import rai_sim.study.job as job
import rai_sim.study.record as record
import rai_sim.study.run as running
from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.engine.blocks import Block, Setting
from rai_sim.study import Study

CLOCK = Clock()


@dataclass(frozen=True)
class Costly(Algorithm):
    """Takes a gamma number of pulls, whose variance depends on the number of arms, and a time that
    depends on them and on delta."""

    slow: bool = False

    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Take pulls of (arms, delta, index), and let the clock go on."""
        pulls, seconds = drawn(len(setting.cluster_of), setting.delta)
        rows = slice(first, first + len(block.pulls))
        block.pulls[:] = pulls[rows]
        CLOCK.now += (30.0 if self.slow else 1.0) * float(seconds[rows].sum())
        block.rounds[:] = 1
        block.finished[:] = block.correct[:] = True
        block.representatives[:] = np.flatnonzero(setting.cluster_of == 0)[
            : block.representatives.shape[1]
        ]


@cache
def drawn(n: int, delta: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the pulls and seconds of 50,000 replications."""
    rng = np.random.default_rng([n, int(1e6 * delta)])
    seconds = 2e-6 * n**2 * math.log(1.0 / delta) * rng.uniform(0.5, 1.5, 50_000)
    return 1 + rng.gamma(6.0 / n, 1e6, 50_000).astype(np.int64), seconds


class Recorder:
    """Takes the place of the bar."""

    shown = due = True

    def __init__(self, tasks: int, show: bool | None, workers: int) -> None:
        """Nothing is shown yet."""
        self.said: list[tuple[float, int, int, int, float]] = []
        RECORDERS.append(self)

    def show(
        self, done: int, total: int, tasks_done: int, seconds_left: float, error: float
    ) -> None:
        """Note the time and what is shown."""
        self.said.append((CLOCK.now, done, total, tasks_done, seconds_left))

    def close(self) -> None:
        """Do nothing."""


RECORDERS: list[Recorder] = []


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Run studies on the clock that Costly advances, with a bar that is recorded."""
    CLOCK.now = 0.0
    time = SimpleNamespace(perf_counter=CLOCK, monotonic=CLOCK)
    for module in (running, job, record, parts):
        monkeypatch.setattr(module, "time", time)
    monkeypatch.setattr(running, "Progress", Recorder)
    monkeypatch.setitem(ALGORITHMS, "costly", Costly)
    return CLOCK


def grid(precision: float | None = None, replications: int | None = None) -> Study:
    """Return a study of 12 tasks whose times differ by three powers of ten, and variances by five
    times."""
    instances = {
        f"{n} arms": rai.best_arm(rai.Bernoulli(np.linspace(0.9, 0.1, n))) for n in (2, 5, 10)
    }
    return Study.grid(
        instances,
        [Costly(), Costly(slow=True)],
        [0.1, 0.001],
        precision=precision,
        replications=replications,
    )


@pytest.mark.parametrize(
    "study",
    [grid(precision=0.05), grid(precision=0.03), grid(replications=400)],
    ids=["0.05", "0.03", "400"],
)
def test_estimates_are_near_the_truth_from_early_on(
    tmp_path: Path, clock: Clock, study: Study
) -> None:
    """From 5 % of the time on, the whole time and the number of replications are within a factor of
    two; after half of it, of 1.25."""
    study.run(tmp_path, progress=True)
    said, whole, (_, done, total, tasks_done, left) = (
        RECORDERS[-1].said,
        clock.now,
        RECORDERS[-1].said[-1],
    )
    assert (done, tasks_done, left) == (total, 12, 0.0)
    early = [one for one in said if 0.05 * whole <= one[0] < 0.5 * whole]
    late = [one for one in said if 0.5 * whole <= one[0]]
    assert len(early) > 10
    assert len(late) > 10
    for moments, factor in ((early, 2.0), (late, 1.25)):
        for now, _, replications, _, seconds in moments:
            assert 1.0 / factor < replications / total < factor, (now / whole, replications, total)
            assert 1.0 / factor < (now + seconds) / whole < factor, (now / whole, seconds, whole)
    if study.precision is not None:
        # the control: the first look, which was once taken for the whole, is not even half of it
        assert total > 2 * 12 * 256


def test_loading_a_kernel_is_not_taken_for_the_work(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first replication takes 100 s more, each of 4,000 others some hundredths of one: no time
    left is ever said to be of hours."""
    plain, calls = Costly.run_block, list[int]()

    def loading(*arguments: Any) -> None:
        if not calls:
            CLOCK.now += 100.0
        calls.append(1)
        plain(*arguments)

    monkeypatch.setattr(Costly, "run_block", loading)
    grid(precision=0.05).run(tmp_path, progress=True)
    lefts = [left for *_, left in RECORDERS[-1].said]
    assert sum(map(math.isnan, lefts)) < 5
    assert max(left for left in lefts if not math.isnan(left)) < 3.0 * (clock.now - 100.0)


def test_numbers_do_not_depend_on_what_is_shown(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shown, some replications of each task come first; the store has the same rows in the end."""
    one = grid(precision=0.1).run(tmp_path / "shown", progress=True)
    monkeypatch.setattr(Recorder, "shown", False)
    monkeypatch.setattr(Recorder, "due", False)
    other = grid(precision=0.1).run(tmp_path / "silent")
    rows = [results.rows().collect().sort("task", "replication") for results in (one, other)]
    assert rows[0].equals(rows[1])
    assert one.summary().equals(other.summary())
