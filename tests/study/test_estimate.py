"""Estimates as tables, frames, documents and sentences."""

import json
from dataclasses import replace

import pytest
from studies import pairs

import rai_sim as rai
from rai_sim.study import Study
from rai_sim.study.estimate import COLUMNS, Estimate, TaskEstimate
from rai_sim.support.columns import cells

TASKS = Study.grid(pairs(0.4, 0.2), [rai.Vanilla()], [0.1]).tasks


def rows(**more: object) -> tuple[TaskEstimate, ...]:
    """Return one of each task, the second with some fields of its own."""
    one = TaskEstimate(TASKS[0], 1000, 600, 16, seconds=30.0, pulls=2e6, disk_bytes=5000.0)
    other = TaskEstimate(
        TASKS[1],
        1000,
        1000,
        3,
        seconds=100.0,
        pulls=1e7,
        disk_bytes=9000.0,
        **more,  # type: ignore[arg-type]
    )
    return one, other


def test_what_it_comes_to() -> None:
    """Sums, over the workers, and other bytes besides."""
    found = Estimate(rows(), workers=2, pilot_time=1.0, other_bytes=1000.0)
    assert (found.replications, found.seconds, found.wall_seconds) == (1600, 130.0, 65.0)
    assert (found.pulls, found.disk_bytes, found.at_least) == (1.2e7, 15_000.0, False)
    assert found.statements == (
        "in all some 1,600 replications of 2 tasks are left: some 2 min 10 s of work, 1 min 5 s on "
        "2 workers, 1.20e7 pulls, 15 kB on the disk; compilation does not count",
    )
    assert str(found).splitlines()[2].split() == (
        [
            "gap",
            "0.4",
            "Vanilla(merging=True)",
            "0.1",
            "16",
            "600",
            "2.00e6",
            "30",
            "s",
            "5.0",
            "kB",
        ]
    )
    assert repr(found).startswith("Estimate(in all some 1,600")


def test_nothing_left_is_said_so() -> None:
    """Not that some 0 replications are."""
    done = [replace(row, left=0, seconds=0.0, pulls=0.0, disk_bytes=0.0) for row in rows()]
    assert Estimate(tuple(done), workers=1, pilot_time=1.0).statements == (
        "nothing is left to run",
    )


def test_lower_bounds_are_said_to_be_such() -> None:
    """In the row, in all, and how to know more."""
    found = Estimate(rows(at_least=True), workers=1, pilot_time=1.0)
    shown = [cell.text for cell in cells(tuple(COLUMNS), found.rows[1])]
    assert shown[4:] == [">= 1,000", ">= 1.00e7", ">= 1 min 40 s", ">= 9.0 kB"]
    assert found.statements[0].startswith("in all at least 1,600 replications of 2 tasks are left")
    assert "what is said of 1 task is a lower bound" in found.statements[1]
    assert "within the 1 s of a pilot: it may have more, pilot_time" in found.statements[1]


def test_failing_tasks_are_named() -> None:
    """And their numbers are none."""
    found = Estimate(rows(flaw="no luck"), workers=1, pilot_time=1.0)
    cell = COLUMNS["seconds"].cell(found.rows[1])
    assert (cell.text, cell.warn) == ("fails", True)
    assert "1 task will fail, the first is gap 0.2, Vanilla" in found.statements[1]


def test_frames_documents_and_notebooks() -> None:
    """All tasks, by their keys."""
    found = Estimate(rows(at_least=True), workers=1, pilot_time=1.0)
    frame = found.to_frame()
    assert frame["at_least"].to_list() == [False, True]
    assert frame["task"].to_list() == [task.key for task in TASKS]
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert (document["replications"], len(document["tasks"])) == (1600, 2)
    assert document["tasks"][1]["pulls"] == 1e7
    assert "<td" in found._repr_html_()
    assert "lower bound" in found._repr_html_()


def test_long_studies_are_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """In texts, not in frames."""
    monkeypatch.setattr("rai_sim.study.estimate._MOST_ROWS", 1)
    monkeypatch.setattr("rai_sim.support.html_tables.MOST_ROWS", 1)
    found = Estimate(rows(), workers=1, pilot_time=1.0)
    assert "... and 1 more task; to_frame() has all" in str(found)
    assert "... and 1 more task; to_frame() has all" in found._repr_html_()
    assert len(found.to_frame()) == 2
