"""Stores are united: each replication once, nothing written where two disagree."""

import json
import shutil
from pathlib import Path

import pytest
from kills import kill_parts
from studies import grid, small, unsorted, values

import rai_sim as rai
from rai_sim.study import StoreError, open_study
from rai_sim.study.store import Store


def contents(folder: Path) -> dict[str, bytes]:
    """Return everything in a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.landing
@pytest.mark.parametrize(
    ("keep", "amount"),
    [
        ("replications", {"replications": 300}),
        ("aggregates", {"precision": 0.05}),
        pytest.param("replications", {"precision": 0.02}, marks=pytest.mark.slow),
        pytest.param("aggregates", {"replications": 300}, marks=pytest.mark.slow),
    ],
)
def test_merged_parts_are_the_whole(tmp_path: Path, keep: str, amount: dict[str, float]) -> None:
    """Into folders of their own, or into one; in the same order as one process alone."""
    study = grid(keep=keep, **amount)
    alone = study.run(tmp_path / "alone")
    for k in (1, 2, 3):
        part = study.run(tmp_path / f"part {k}", part=f"{k}/3")
        assert part.unfinished()
        assert study.run(tmp_path / f"part {k}", part=(k, 3)).progress() == part.progress()
        study.run(tmp_path / "shared", part=(k, 3))
    before = [contents(tmp_path / f"part {k}") for k in (1, 2, 3)]
    merged = rai.merge_studies([tmp_path / f"part {k}" for k in (1, 2, 3)], tmp_path / "merged")
    assert merged.summary().equals(open_study(tmp_path / "alone").summary())
    assert [contents(tmp_path / f"part {k}") for k in (1, 2, 3)] == before
    for folder in (tmp_path / "merged", tmp_path / "shared"):
        assert study.results(folder).summary().equals(alone.summary())
        assert study.results(folder).progress() == alone.progress()
        if keep == "replications":
            assert values(folder) == values(tmp_path / "alone")
    added = [run["replications_added"] for run in merged.runs()]
    assert sum(added) == alone.progress()[0]
    assert sorted(run["part"] for run in merged.runs()) == sorted([f"{k}/3" for k in (1, 2, 3)] * 2)
    # and a larger study goes on from there
    larger = grid(keep=keep, replications=400).run(tmp_path / "merged")
    assert larger.progress() == (3200, 3200)


def test_what_two_stores_have_is_taken_once(tmp_path: Path) -> None:
    """Of overlapping ones, of a copy, and of tasks that one alone has."""
    small(30).run(tmp_path / "a")
    small(40).run(tmp_path / "b")
    unsorted(0.4).run(tmp_path / "b")
    shutil.copytree(tmp_path / "b", tmp_path / "copy")
    merged = rai.merge_studies(
        [tmp_path / name for name in ("a", "b", "copy", "a")], tmp_path / "merged"
    )
    small(40).run(tmp_path / "alone")
    unsorted(0.4).run(tmp_path / "alone")
    assert values(tmp_path / "merged") == values(tmp_path / "alone")
    assert merged.summary().equals(open_study(tmp_path / "alone").summary())
    assert len(merged.runs()) == 3
    assert merged.verify(10**6, seed=0).mismatches == ()
    cut = [
        Store(tmp_path / "merged").about(path)
        for path in (tmp_path / "merged").glob("replications-*.parquet")
    ]
    assert all("run" in about for about in cut)


def test_sources_and_target_are_checked(tmp_path: Path) -> None:
    """Before anything is read or written."""
    a = small(5).run(tmp_path / "a").folder
    b = small(5, "aggregates").run(tmp_path / "b").folder
    for sources, target, words in (
        ([a, b], "c", "b keeps aggregates, but .*a keeps replications"),
        ([a], "a", "a is there already; give the name of a new folder"),
        ([a], "a/c", "c lies within .*a, which is to be merged"),
        ([tmp_path / "none"], "c", "none is no study's folder"),
    ):
        with pytest.raises(StoreError, match=words):
            rai.merge_studies(sources, tmp_path / target)
    with pytest.raises(TypeError, match="sources is 'a'; give a list of folders"):
        rai.merge_studies("a", tmp_path / "c")
    with pytest.raises(ValueError, match="sources is empty; give at least one folder"):
        rai.merge_studies([], tmp_path / "c")
    with pytest.raises(TypeError, match="sources is None; give a path"):
        rai.merge_studies([None], tmp_path / "c")  # type: ignore[list-item]
    with pytest.raises(TypeError, match="folder is 3; give a path"):
        rai.merge_studies([a], 3)  # type: ignore[arg-type]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
    (tmp_path / "c").mkdir()  # an empty one will do
    assert rai.merge_studies([a], tmp_path / "c").progress() == (20, 20)


def test_a_disk_that_is_full_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new folder is there when all of it is."""
    a = small(5).run(tmp_path / "a").folder

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("rai_sim.study.merge.write_atomically", full)
    with pytest.raises(StoreError, match="merged cannot be written: No space left on device; free"):
        rai.merge_studies([a], tmp_path / "merged")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_of_a_record_that_was_copied_while_it_ran_the_later_one_is_taken(tmp_path: Path) -> None:
    """Whatever the order."""
    a = small(5).run(tmp_path / "a").folder
    shutil.copytree(a, tmp_path / "b")
    (path,) = (tmp_path / "b").glob("run-*.json")
    path.write_text(
        json.dumps(json.loads(path.read_text()) | {"status": "running"}, indent=2) + "\n"
    )
    for k, names in enumerate(("ab", "ba")):
        merged = rai.merge_studies([tmp_path / name for name in names], tmp_path / f"c{k}")
        assert [run["status"] for run in merged.runs()] == ["finished"]


@pytest.mark.slow
@pytest.mark.parametrize("where", ["apart", "shared", "claims"])
def test_processes_divide_the_work(tmp_path: Path, where: str) -> None:
    """That nobody kills: each has some of it, and nothing is run twice."""
    found = kill_parts(tmp_path, 4, "3000", 0, where)
    assert found == (0, 0, [])
    if where != "apart":
        added = [run["replications_added"] for run in open_study(tmp_path / "shared").runs()]
        assert len(added) == 4
        assert min(added) > 3000


@pytest.mark.landing
@pytest.mark.parametrize(
    ("where", "keep", "amount", "count", "kills"),
    [
        ("apart", "replications", "400", 3, 3),
        *(
            pytest.param(where, keep, amount, count, 3 * count, marks=pytest.mark.slow)
            for where, count in (("apart", 16), ("shared", 16), ("claims", 4))
            for keep in ("replications", "aggregates")
            for amount in ("3000", "0.01")
        ),
    ],
)
def test_parts_that_are_killed_come_to_the_same(
    tmp_path: Path, where: str, keep: str, amount: str, count: int, kills: int
) -> None:
    """SIGKILL at random moments, each part in a process of its own and all at once: what one
    process alone comes to, to the bit; and no claim is left."""
    found = kill_parts(tmp_path, count, amount, kills, where, keep, seed=kills)
    assert found.faults == []
    assert found.killed >= count
