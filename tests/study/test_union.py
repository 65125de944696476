"""What two stores both have is compared, and taken once."""

from pathlib import Path

import polars as pl
import pytest
from studies import small

import rai_sim as rai
from rai_sim.study import StoreError, open_study
from rai_sim.study.data import StudyData
from rai_sim.study.store import Store
from rai_sim.study.union import united


def test_what_is_the_same_is_taken_once(tmp_path: Path) -> None:
    """A store twice is that store; of one that has less nothing is needed."""
    for name, n in (("a", 40), ("b", 30)):
        small(n).run(tmp_path / name)
    a = [Store(tmp_path / "a") for _ in range(2)]
    found = united(a)
    assert all(one.store is a[0] and one.taken is None for one in found)
    assert sorted(one.path.name for one in found) == sorted(
        path.name for path in (tmp_path / "a").glob("*.parquet")
    )
    both = united([Store(tmp_path / name) for name in "ab"])
    assert {one.path.parent.name for one in both} == {"a"}
    # the other way round, of the larger one what the smaller one lacks
    taken = [one for one in united([Store(tmp_path / name) for name in "ba"]) if one.taken]
    assert sorted(ends for one in taken for ends in one.taken or ()) == sorted(
        (task.key, 30, 40) for task in small().tasks
    )


def test_of_overlapping_sums_the_longer_ones_are_taken(tmp_path: Path) -> None:
    """Of [0, 40) and [0, 30) the former; the latter must fit in."""
    for name, n in (("a", 30), ("b", 40)):
        small(n, "aggregates").run(tmp_path / name)
    merged = rai.merge_studies([tmp_path / "a", tmp_path / "b"], tmp_path / "merged")
    alone = small(40, "aggregates").run(tmp_path / "alone")
    assert merged.summary().equals(open_study(tmp_path / "alone").summary())
    assert small(40, "aggregates").results(tmp_path / "merged").progress() == alone.progress()


def changed(folder: Path, keep: str, column: str, new: pl.Expr) -> None:
    """Write another number for the third row of a store's only part of results."""
    (path,) = folder.glob(f"{keep}-*.parquet")
    frame, about = pl.read_parquet(path), Store(folder).about(path)
    path.unlink()
    third = pl.int_range(pl.len()) == 2
    data = StudyData(folder, keep)
    data.store.write(
        keep, frame.with_columns(pl.when(third).then(new).otherwise(column).alias(column)), about
    )


@pytest.mark.parametrize(
    ("keep", "column", "new", "words"),
    [
        ("replications", "pulls", pl.col("pulls") + 1, r"replication 2 of task .*: pulls (\d+), "),
        ("replications", "correct", ~pl.col("correct"), "replication 2 of task .* correct False"),
        (
            "replications",
            "representatives",
            pl.col("representatives").list.eval(pl.element() + 1),
            r"replication 2 of task .* representatives \[",
        ),
        ("aggregates", "errors", pl.col("errors") + 1, "replications 0 to 29 of task .* errors 1"),
        (
            "aggregates",
            "pulls_sum",
            pl.lit("7"),
            "replications 0 to 29 of task .* pulls_sum '7'",
        ),
    ],
)
@pytest.mark.parametrize("n", [30, 40])
def test_other_numbers_for_one_replication_are_a_conflict(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    keep: str,
    column: str,
    new: pl.Expr,
    words: str,
    n: int,
) -> None:
    """Named with task, both values and the remedy; nothing is written, and nothing is left."""
    if keep == "aggregates" and n == 40:
        words = words.replace("0 to 29", "0 to 39, and 0 to 29 of them,")
        if column == "pulls_sum":
            new, words = pl.lit(str(10**9)), words.replace("'7'", f"'{10**9}'")
    # one part each, also where kernels take long to load
    monkeypatch.setattr("rai_sim.study.backlog._LEAST", 1000.0)
    monkeypatch.setattr("rai_sim.study.backlog._MOST", 1000.0)
    small(n, keep).run(tmp_path / "a")
    small(30, keep).run(tmp_path / "b")
    rai.merge_studies([tmp_path / "a", tmp_path / "b"], tmp_path / "fine")
    changed(tmp_path / "b", keep, column, new)
    with pytest.raises(StoreError, match=words) as caught:
        rai.merge_studies([tmp_path / "a", tmp_path / "b"], tmp_path / "merged")
    said = str(caught.value)
    assert f"stores {tmp_path / 'a'} and {tmp_path / 'b'} have other numbers for" in said
    assert "rai-sim study with --verify and --store tells which; leave it out" in said
    assert any(task.label in said for task in small().tasks)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "fine"]
