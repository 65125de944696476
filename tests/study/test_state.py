"""What is still to come: against numbers made by hand, and estimates of studies on a clock of the
test's own."""

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from clock import Clock
from numpy.typing import NDArray
from studies import CLOCK, pairs

import rai_sim as rai
from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.engine.blocks import Block, Setting
from rai_sim.simulation.statistics import Aggregate
from rai_sim.simulation.workers import block_for
from rai_sim.study import Study
from rai_sim.study.data import Rows
from rai_sim.study.ledger import Piece, Pieces
from rai_sim.study.state import PILOT, State
from rai_sim.study.stopping import FIRST_LOOK, next_look


def begun(study: Study) -> State:
    """Return the state of a study of which nothing is there."""
    state = State(study, {task.key: Pieces() for task in study.tasks})
    state.wanted[:] = study.replications or FIRST_LOOK
    return state


def made(study: Study, task: int, pulls: list[int], unfinished: int = 0) -> list[Rows]:
    """Return rows of a task with so many pulls, the last ones at their cap."""
    block = block_for(study.tasks[task].experiment, len(pulls))
    block.pulls[:] = pulls
    block.finished[:] = True
    block.finished[len(pulls) - unfinished :] = False
    return [Rows([(study.tasks[task].key, 0, len(pulls))], block)]


def two_by_two(**options: Any) -> Study:
    """Return a study of one instance: Vanilla at 0.1 and 0.01, then Butterscotch at both."""
    return Study.grid(pairs(0.4), [rai.Vanilla(), rai.Butterscotch()], [0.1, 0.01], **options)


def test_what_is_left_of_a_number_of_replications() -> None:
    """Each task at its own seconds; one never run at those of the same algorithm with another
    delta."""
    study = two_by_two(replications=100)
    state = begun(study)
    assert (state.total, state.done, state.tasks_done) == (400, 0, 0)
    assert math.isnan(state.seconds_left())
    assert math.isnan(state.worst_error())
    state.note(made(study, 0, [8] * 10))
    state.note_time(0, 5.0, 10)
    assert (state.total, state.done, state.tasks_done) == (400, 10, 0)
    assert state.seconds_left() == pytest.approx(0.5 * (90 + 100 + 100 + 100))
    state.note(made(study, 2, [8] * 100))
    state.note_time(2, 300.0, 100)
    assert (state.done, state.tasks_done) == (110, 1)
    assert state.seconds_left() == pytest.approx(0.5 * (90 + 100) + 3.0 * 100)
    for task, n in ((0, 90), (1, 100), (3, 120)):  # more of the last than is wanted
        state.note(made(study, task, [8] * n))
    assert (state.total, state.done, state.tasks_done) == (400, 400, 4)
    assert state.seconds_left() == 0.0


def test_what_is_there_when_a_run_begins() -> None:
    """All of it counts, also behind a gap: replications, those that finished, their pulls."""
    study = Study.grid(pairs(0.4), [rai.Vanilla()], [0.1], precision=0.05)
    pulls, yes = np.array([50, 150] * 25), np.ones(50, np.bool_)
    pieces = Pieces()
    for start in (0, 100):
        pieces.add(Piece(start, start + 50, Aggregate.of(pulls, pulls, yes, yes)))
    state, same = State(study, {study.tasks[0].key: pieces}), begun(study)
    state.wanted[:] = FIRST_LOOK
    same.note(made(study, 0, [50, 150] * 50))
    assert (state.total, state.done, state.worst_error()) == (
        same.total,
        same.done,
        same.worst_error(),
    )
    assert state.done == 100


@pytest.mark.parametrize("unfinished", [0, 50])
def test_what_a_precision_will_need(unfinished: int) -> None:
    """The look at which the variance seen is enough; twice as many where half of the replications
    do not finish."""
    study = Study.grid(pairs(0.4), [rai.Vanilla()], [0.1], precision=0.05)
    state = begun(study)
    state.note(made(study, 0, [50, 150] * 50, unfinished))
    n = 100 - unfinished
    variance = 0.25 * n / (n - 1)  # over the squared mean
    needed = variance * (1.96 / 0.05) ** 2 * 100 / n
    assert state.total == next_look(math.ceil(needed)) > FIRST_LOOK
    assert state.worst_error() == pytest.approx(1.96 * math.sqrt(variance / n))
    assert (state.done, state.tasks_done) == (100, 0)
    state.final[0] = True
    assert (state.total, state.tasks_done) == (FIRST_LOOK, 1)


def test_tasks_without_a_pull() -> None:
    """All their replications are alike: the first look is the end, and no error is a share of
    nothing."""
    study = Study.grid(pairs(0.4), [rai.Vanilla()], [0.1, 0.01], precision=0.05)
    state = begun(study)
    state.note(made(study, 0, [0] * 100))
    assert math.isnan(state.worst_error())
    assert state.total == 2 * FIRST_LOOK
    state.note(made(study, 1, [50, 150] * 50))
    assert state.worst_error() == pytest.approx(1.96 * math.sqrt(0.25 / 99))
    assert state.total > 2 * FIRST_LOOK


def test_a_precision_is_not_estimated_from_few() -> None:
    """Nor beyond the most that a task may take; another task's variance serves one never run."""
    study = Study.grid(
        pairs(0.4), [rai.Vanilla()], [0.1, 0.01], precision=0.01, most_replications=999
    )
    state = begun(study)
    state.note(made(study, 0, [50, 150] * 7))
    assert PILOT == 16
    assert state.total == 2 * FIRST_LOOK
    state.note(made(study, 0, [50, 150]))
    assert state.total == 2 * 999


# Whole studies
# --------------------------------------------------------------------------------------------------


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


del ALGORITHMS["costly"]  # no choice of the command line in other tests


@cache
def drawn(n: int, delta: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the pulls and seconds of 50,000 replications."""
    rng = np.random.default_rng([n, int(1e6 * delta)])
    seconds = 2e-6 * n**2 * math.log(1.0 / delta) * rng.uniform(0.5, 1.5, 50_000)
    return 1 + rng.gamma(6.0 / n, 1e6, 50_000).astype(np.int64), seconds


class Recorder:
    """Takes the place of the bar."""

    shown = due = True

    def __init__(self, tasks: int, show: bool | None, workers: int, label: object) -> None:
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
def recorded(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Run studies on the clock that Costly lets go on, with a bar that is recorded."""
    monkeypatch.setattr("rai_sim.study.run.Progress", Recorder)
    monkeypatch.setitem(ALGORITHMS, "costly", Costly)
    return clock


def uneven(precision: float | None = None, replications: int | None = None) -> Study:
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


@pytest.mark.landing
@pytest.mark.parametrize(
    "study",
    [
        uneven(precision=0.05),
        pytest.param(uneven(precision=0.03), marks=pytest.mark.slow),
        uneven(replications=400),
    ],
    ids=["0.05", "0.03", "400"],
)
def test_estimates_are_near_the_truth_from_early_on(
    tmp_path: Path, recorded: Clock, study: Study
) -> None:
    """From 5 % of the time on, the whole time and the number of replications are within a factor of
    two; after half of it, of 1.25."""
    study.run(tmp_path, progress=True)
    said, whole, (_, done, total, tasks_done, left) = (
        RECORDERS[-1].said,
        recorded.now,
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


@pytest.mark.landing
def test_loading_a_kernel_is_not_taken_for_the_work(
    tmp_path: Path, recorded: Clock, monkeypatch: pytest.MonkeyPatch
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
    uneven(precision=0.05).run(tmp_path, progress=True)
    lefts = [left for *_, left in RECORDERS[-1].said]
    assert sum(map(math.isnan, lefts)) < 5
    assert max(left for left in lefts if not math.isnan(left)) < 3.0 * (recorded.now - 100.0)


@pytest.mark.landing
def test_numbers_do_not_depend_on_what_is_shown(
    tmp_path: Path, recorded: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shown, some replications of each task come first; the store has the same rows in the end."""
    one = uneven(precision=0.1).run(tmp_path / "shown", progress=True)
    monkeypatch.setattr(Recorder, "shown", False)
    monkeypatch.setattr(Recorder, "due", False)
    other = uneven(precision=0.1).run(tmp_path / "silent")
    rows = [results.rows().collect().sort("task", "replication") for results in (one, other)]
    assert rows[0].equals(rows[1])
    assert one.summary().equals(other.summary())
