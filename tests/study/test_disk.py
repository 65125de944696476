"""Bytes that a study will write, against those that it does write."""

from pathlib import Path

import pytest
from studies import pairs

import rai_sim as rai
from rai_sim.study import Study
from rai_sim.study.disk import Disk
from rai_sim.study.pilot import Limits, run_pilot
from rai_sim.study.schemas import KEEPS, keeps_arm_pulls


@pytest.mark.parametrize("keep", KEEPS)
def test_bytes_are_near_those_that_are_written(tmp_path: Path, keep: str) -> None:
    """Within a factor of two, of rows and of sums; of twice as many rows twice as many."""
    study = Study.grid(pairs(0.3), [rai.Vanilla()], [0.1], replications=3000, keep=keep)
    results = study.run(tmp_path)
    (task,) = study.tasks
    (seen,) = [pieces.all_sums() for pieces in [results.ledger[task.key]]]
    assert seen is not None
    pilot = run_pilot(task.experiment, 16, Limits(10.0), keeps_arm_pulls(keep))
    disk = Disk(study)
    rows = disk.of_task(task, (0, 3000), seen, pilot)
    written = sum(path.stat().st_size for path in tmp_path.glob(f"{KEEPS[keep]}-*"))
    parts = len(list(tmp_path.glob(f"{KEEPS[keep]}-*")))
    empty = disk._empty
    assert 0.5 < (rows + parts * empty) / written < 2.0
    rest = disk.of_the_rest([task], 0.0)
    other = sum(path.stat().st_size for path in tmp_path.iterdir()) - written
    assert 0.4 < rest / (other + empty) < 2.5
    if KEEPS[keep] == "replications":
        twice = disk.of_task(task, (0, 6000), seen, pilot)
        assert 1.7 < twice / rows < 2.3


def test_many_tasks_are_like_those_that_were_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing more is written to see."""
    monkeypatch.setattr("rai_sim.study.disk._MOST_TASKS", 1)
    study = Study.grid(pairs(0.3, 0.2), [rai.Vanilla()], [0.1], replications=100)
    pilot = run_pilot(study.tasks[0].experiment, 20, Limits(10.0))
    disk = Disk(study)
    first = disk.of_task(study.tasks[0], (0, 100), pilot.sums, pilot)
    monkeypatch.setattr("rai_sim.study.disk.bytes_of", None)
    assert disk.of_task(study.tasks[1], (50, 100), pilot.sums, pilot) == first / 2
