"""Parts of long work: how long the next is, and what a part says of itself."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from rai_sim import Bernoulli, Recorded, Vanilla, best_arm, simulate
from rai_sim.engine.stop import NOT_SAID, REPLICATION
from rai_sim.simulation import parts
from rai_sim.simulation.experiment import Experiment
from rai_sim.simulation.parts import next_size, run_part
from rai_sim.simulation.workers import block_for

EXPERIMENT = Experiment(best_arm(Bernoulli([0.75, 0.25])), Vanilla(), 0.1, 3, 1e-12, None)


@pytest.mark.parametrize(
    ("size", "seconds", "following"),
    [
        (100, 0.2, 100),  # as long as it should be
        (100, 0.4, 50),
        (100, 2.0, 10),
        (1, 50.0, 1),  # never none
        (100, 0.1, 200),
        (10, 0.02, 100),
        (10, 0.01, 160),  # a millisecond each, and no more than 16 times as many
        (100, 0.01, 2000),  # shorter ones: up to 1024 times as many
        (3, 1e-6, 3072),
        (3, 0.0, 3072),  # a clock that did not move
    ],
)
def test_the_next_part_takes_a_fifth_of_a_second(size: int, seconds: float, following: int) -> None:
    """Within the growth that a part's time can vouch for."""
    assert next_size(size, seconds) == following


def test_a_part_is_some_rows_of_a_block() -> None:
    """Rows 2 to 4 of a block that begins with replication 40; the others are left alone."""
    whole = simulate(EXPERIMENT.problem, EXPERIMENT.algorithm, delta=0.1, seed=3, replications=50)
    block = block_for(EXPERIMENT, 8)
    part = run_part(EXPERIMENT, 40, block, 2, 5)
    assert (part.finished, part.stopped) == (3, False)
    assert part.seconds >= 0.0
    assert block.finished.tolist() == [False] * 2 + [True] * 3 + [False] * 3
    for name in ("pulls", "rounds", "correct", "representatives"):
        assert np.array_equal(getattr(block, name)[2:5], getattr(whole, name)[42:45])


def test_a_part_may_be_the_whole_block() -> None:
    """Then the block has its counters and position, of which another part has its own."""
    block, other = block_for(EXPERIMENT, 3), block_for(EXPERIMENT, 3)
    assert run_part(EXPERIMENT, 40, block, 0, 3).finished == 3
    for at in range(3):
        run_part(EXPERIMENT, 40, other, at, at + 1)
    for name in ("pulls", "rounds", "correct", "representatives"):
        assert np.array_equal(getattr(block, name), getattr(other, name))
    assert block.rounds_by_stride.sum() == block.rounds.sum()
    assert block.history.position[REPLICATION] == 42
    assert other.rounds_by_stride.sum() == 0
    assert other.history.position[REPLICATION] == NOT_SAID


def test_compilation_is_no_part_of_its_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ten seconds, nine were spent compiling; and no clock makes it less than none."""
    times, compiled = iter([100.0, 110.0, 100.0, 110.0]), iter([5.0, 14.0, 5.0, 16.0])
    monkeypatch.setattr(parts, "compile_seconds", lambda: next(compiled))
    monkeypatch.setattr(parts, "time", SimpleNamespace(perf_counter=lambda: next(times)))
    monkeypatch.setattr(parts, "run_into", lambda *_: None)
    block = block_for(EXPERIMENT, 1)
    assert [run_part(EXPERIMENT, 0, block, 0, 1).seconds for _ in range(2)] == [1.0, 0.0]


@pytest.fixture
def ignored() -> Iterator[list[int]]:
    """Note signals, and let none of them end anything."""
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    yield came
    signal.signal(signal.SIGINT, before)


def interrupt_when(begun: Callable[[], bool]) -> threading.Thread:
    """Send this process SIGINT once something is seen to have begun."""

    def send() -> None:
        while not begun():
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    return thread


def test_a_signal_stops_a_part_between_two_replications(ignored: list[int]) -> None:
    """So many of its first rows are finished, as they ever are; the rest can be run later."""
    problem = best_arm(Bernoulli([0.52, 0.48]))
    experiment = replace(EXPERIMENT, problem=problem, skip_error=0.0)
    run_part(experiment, 0, block_for(experiment, 1), 0, 1)  # the kernel is there
    block = block_for(experiment, 200_000)
    thread = interrupt_when(lambda: bool(block.finished[150]))
    part = run_part(experiment, 0, block, 100, 200_000)
    thread.join()
    assert ignored == [signal.SIGINT]
    assert part.stopped
    assert 50 < part.finished < 199_900
    end = 100 + part.finished
    assert block.finished[100:end].all()
    assert not block.finished[end:].any()
    assert not block.finished[:100].any()
    block.history.stop[0] = 0
    assert run_part(experiment, 0, block, end, end + 2)[::2] == (2, False)
    rows = [100, 150, end - 1, end, end + 1]
    alone = [
        simulate(
            problem,
            Vanilla(),
            delta=0.1,
            seed=3,
            skip_error=0.0,
            replications=1,
            first_replication=row,
        )
        for row in rows
    ]
    assert block.pulls[rows].tolist() == [int(one.pulls[0]) for one in alone]


def test_what_is_wrong_with_a_recording_is_raised() -> None:
    """A part that fails is none."""
    short = replace(EXPERIMENT, problem=best_arm(Recorded([[0] * 3, [1] * 3])))
    with pytest.raises(ValueError, match="recording of arm 0 ran out: pull 4"):
        run_part(short, 0, block_for(short, 2), 0, 2)
