"""What waits for being written: for how long, and that all of it is written, once."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from clock import Clock
from studies import parts, small, values

from rai_sim.simulation.workers import block_for
from rai_sim.study import StudyData, Task, backlog
from rai_sim.study.backlog import Backlog, parts_written
from rai_sim.study.data import Rows
from rai_sim.study.schemas import KEEPS, keeps_arm_pulls


def test_parts_of_a_run() -> None:
    """Every second for a while, in the end every minute."""
    assert parts_written(50.0) == 51.0
    assert parts_written(7200.0) - parts_written(7140.0) == pytest.approx(1.0)


def rows_of(task: Task, first: int, count: int, by_arm: bool = False) -> Rows:
    """Return replications that were not run, but have pulls that tell them apart."""
    block = block_for(task.experiment, count, by_arm)
    block.pulls[:], block.correct[:], block.finished[:] = first + np.arange(count), True, True
    if by_arm:
        block.arm_pulls[:, 0] = block.pulls
    return Rows([(task.key, first, first + count)], block)


@pytest.mark.parametrize("keep", KEEPS)
def test_everything_is_written_once(tmp_path: Path, keep: str) -> None:
    """In one part of what the store keeps; then nothing waits, and nothing is written."""
    data, task = StudyData(tmp_path, keep, 20), small().tasks[0]
    waiting = Backlog(data)
    for first, count in ((0, 5), (5, 8), (13, 7)):
        waiting.add([rows_of(task, first, count, keeps_arm_pulls(keep))])
    assert data.ledger[task.key].replications == 0
    for _ in range(2):
        waiting.write({})
        assert len(list(tmp_path.glob(f"{KEEPS[keep]}-*.parquet"))) == 1
        (sums,) = (pieces.all_sums() for pieces in [data.ledger[task.key]])
        assert sums is not None
        assert (sums.replications, sums.pulls_sum) == (20, 190)
    if keep == "arm_pulls_sum":
        by_arm, count = data.arm_sums(task.key, None)
        assert by_arm is not None
        assert (by_arm[0], by_arm[1:].sum(), count) == (190, 0, 20)


def test_what_cannot_be_written_waits_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until there is room for it."""
    data, task = StudyData(tmp_path, "replications"), small().tasks[0]
    waiting = Backlog(data)
    waiting.add([rows_of(task, 0, 5)])

    def full(*_: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(data.store, "write", full)
        with pytest.raises(OSError, match="no space left"):
            waiting.write({})
    assert not parts(tmp_path)
    waiting.write({})
    assert [row[1] for row in values(tmp_path)] == list(range(5))


def test_how_long_it_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second at first, later a hundredth of the run's time, unless it is awaited; or until there
    is much."""
    clock = Clock()
    monkeypatch.setattr(backlog, "time", SimpleNamespace(monotonic=clock))
    data, task = StudyData(tmp_path, "replications"), small().tasks[0]
    waiting = Backlog(data)
    clock.now = 1.0
    assert not waiting.is_due(awaited=False)
    clock.now = 1.1
    assert waiting.is_due(awaited=False)
    clock.now = 1000.0
    waiting.write({})
    for seconds, due, due_if_awaited in (
        (0.5, False, False),
        (9.0, False, True),
        (11.0, True, True),
    ):
        clock.now = 1000.0 + seconds
        assert waiting.is_due(awaited=False) is due
        assert waiting.is_due(awaited=True) is due_if_awaited
    waiting.write({})
    monkeypatch.setattr(backlog, "_MOST_BYTES", rows_of(task, 0, 5).block.pulls.nbytes)
    assert not waiting.is_due(awaited=False)
    waiting.add([rows_of(task, 0, 5)])
    assert waiting.is_due(awaited=False)
    waiting.write({})
    assert not waiting.is_due(awaited=False)
