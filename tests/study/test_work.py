"""What is claimed, handed out, put back and written."""

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from studies import small

from rai_sim.simulation.workers import block_for, run_into
from rai_sim.study import Study, work
from rai_sim.study.claims import Others
from rai_sim.study.data import Rows, StudyData
from rai_sim.study.work import Gap, Work

STUDY = small(40)


def gaps(study: Study, replications: int = 40) -> list[Gap]:
    """Return all of a study's work."""
    return [(at, 0, replications) for at in range(len(study.tasks))]


@pytest.fixture
def two(tmp_path: Path) -> Iterator[list[Work]]:
    """Return the work of two processes on one store."""
    keys = [task.key for task in STUDY.tasks]
    both = [Work(StudyData(tmp_path, "replications", 40), keys, f"run {k}", 1) for k in range(2)]
    yield both
    for one in both:
        one.close()


def ranges(one: Work) -> list[Gap]:
    """Take everything that is claimed."""
    return list(iter(one.take, None))


def slow(task: int) -> float:
    """A replication of the first task takes a fifth of a second, of others a twentieth."""
    return 0.05 if task else 0.2


def test_two_divide_the_work(two: list[Work]) -> None:
    """The first one claims about a second of it, the other what follows; together they claim
    everything once."""
    for one in two:
        one.plan(gaps(STUDY))
    found: list[Gap] = []
    assert two[0].has_claimed(slow, ())
    found += ranges(two[0])
    assert found == [(0, 0, 5)]
    while any(one.has_claimed(slow, ()) for one in two):
        for one in two:
            found += ranges(one)
    assert sorted(found) == sorted({*found})
    assert sum(stop - start for _, start, stop in found) == 160
    assert not any(two)


def test_without_claims_both_run_everything(
    two: list[Work], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Negative control: where nobody sees what others claim, the same is run twice."""
    monkeypatch.setattr("rai_sim.study.claims.Claims.others", lambda _: Others({}, False))
    found = []
    for one in two:
        one.plan(gaps(STUDY))
        assert one.has_claimed(slow, ())
        found.append(ranges(one))
    assert found[0] == found[1]


def test_who_finds_nothing_waits_and_is_known_to(two: list[Work], tmp_path: Path) -> None:
    """What the other has claimed is not run, though it is missing; when it was given up it is."""
    first = gaps(STUDY)[:1]
    two[0].plan(first)
    assert two[0].has_claimed(lambda _: 1e-6, ())
    two[1].plan(first)
    assert not two[1].has_claimed(lambda _: 1e-6, ())
    assert two[1].idle
    two[1].wait()
    two[0].plan(gaps(STUDY)[1:])
    assert not two[0].awaited
    assert two[0].has_claimed(lambda _: 1e-6, ())
    assert two[0].awaited
    two[0].close()
    two[1].plan(first)
    assert two[1].has_claimed(lambda _: 1e-6, ())
    assert ranges(two[1]) == [(0, 0, 40)]


def test_what_is_there_is_not_claimed(two: list[Work], tmp_path: Path) -> None:
    """Another process has written it meanwhile; nor is what failed."""
    task = STUDY.tasks[0]
    block = block_for(task.experiment, 30)
    run_into(task.experiment, 0, block)
    StudyData(tmp_path, "replications", 40).write_rows([Rows([(task.key, 0, 30)], block)], {})
    two[0].plan(gaps(STUDY)[:2])
    assert two[0].has_claimed(lambda _: 1e-6, {1})
    assert ranges(two[0]) == [(0, 30, 40)]
    assert not two[0].has_claimed(lambda _: 1e-6, {1})


def test_a_claim_is_kept_until_its_rows_are_written(two: list[Work], tmp_path: Path) -> None:
    """Handed out is not done."""
    task = STUDY.tasks[0]
    two[0].plan(gaps(STUDY)[:1])
    assert two[0].has_claimed(lambda _: 1e-6, ())
    assert ranges(two[0]) == [(0, 0, 40)]
    two[0].written()
    assert two[0]._running == [(task.key, 0, 40)]
    block = block_for(task.experiment, 40)
    run_into(task.experiment, 0, block)
    rows = Rows([(task.key, 0, 40)], block)
    two[0]._data.write_rows(list(rows.cut(lambda *_: [(0, 25)])), {})
    two[0].written()
    assert two[0]._running == [(task.key, 25, 40)]


def test_what_takes_longer_than_it_was_thought_is_given_up(
    two: list[Work], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a task of unknown length much is claimed; when it turns out slow others may have it."""
    monkeypatch.setattr(work, "_OVERDUE", 0.0)
    two[0].plan(gaps(STUDY)[:1])
    assert two[0].has_claimed(lambda _: math.nan, ())
    assert two[0].take() == (0, 0, 40)
    two[0].put_back((0, 1, 40))
    two[0]._running[:] = [(STUDY.tasks[0].key, 0, 1)]
    assert two[0].has_claimed(lambda _: 0.5, ())
    assert ranges(two[0]) == [(0, 1, 3)]
    assert len(two[0]) == 1
    two[1].plan(gaps(STUDY)[:1])
    assert two[1].has_claimed(lambda _: 0.5, ())
    assert ranges(two[1]) == [(0, 3, 5)]


def test_many_unwritten_ranges_are_enough(two: list[Work]) -> None:
    """So that the claims stay short."""
    assert not two[0].full
    two[0]._running += [("a", k, k + 1) for k in range(5001)]
    assert two[0].full
