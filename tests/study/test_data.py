"""A store with its ledger: each replication once, tasks in the order of their study."""

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from studies import pairs, parts, small, unsorted, values

import rai_sim as rai
from rai_sim.simulation.at_cap import AtCap
from rai_sim.simulation.workers import block_for, run_into
from rai_sim.study import StoreWarning, Study, StudyResults, open_study
from rai_sim.study.data import Rows, StudyData


def test_rows_in_two_parts_are_read_once(folder: Path, tmp_path: Path) -> None:
    """As two machines without common locks may write them: the same numbers are read and summed
    once."""
    other = tmp_path / "other"
    small(30).run(other)
    whole = small(40).results(folder).summary()
    for path in parts(other):
        shutil.copy(path, folder)
    assert len(values(folder)) == 160 + 120
    doubled = small(40).results(folder)
    assert doubled.summary().equals(whole)
    assert doubled.rows().collect().height == 160
    assert doubled.result(small().tasks[0]).replications == 40
    assert doubled.verify(200, seed=1).checked == 160


def test_overlapping_aggregates_are_counted_once(tmp_path: Path) -> None:
    """Of [0, 40) and [0, 30) the longer one."""
    for name, n in (("a", 40), ("b", 30)):
        small(n, "aggregates").run(tmp_path / name)
    for path in (tmp_path / "b").glob("aggregates-*.parquet"):
        shutil.copy(path, tmp_path / "a")
    results = small(40, "aggregates").results(tmp_path / "a")
    assert results.summary()["replications"].to_list() == [40] * 4
    assert (
        results.summary().drop("task").equals(small(40).run(tmp_path / "c").summary().drop("task"))
    )


def test_a_second_writer_leaves_out_what_the_first_has_written(tmp_path: Path) -> None:
    """Both have run everything before either writes: the store has each row once."""
    study = small(20)
    data = [StudyData(tmp_path / "store", "replications", 20) for _ in range(2)]
    rows = []
    for task in study.tasks:
        block = block_for(task.experiment, 20)
        run_into(task.experiment, 0, block)
        rows.append(Rows([(task.key, 0, 20)], block))
    data[0].write_rows([part for one in rows for part in one.cut(lambda *_: [(0, 12)])], {})
    data[1].write_rows(rows, {})
    assert len(values(tmp_path / "store")) == 80
    assert len(parts(tmp_path / "store")) == 2
    data[1].write_rows(rows, {})
    assert len(parts(tmp_path / "store")) == 2


def test_of_many_ranges_those_are_written_that_are_missing(tmp_path: Path) -> None:
    """A block has the rows of several tasks; of some another process has written a part, with what
    is recommended at their caps."""
    study = Study.grid(pairs(0.4), [rai.Vanilla()], [0.1, 0.01], max_pulls=500, replications=20)
    one, other = study.tasks
    block = block_for(one.experiment, 40)
    block.pulls[:], block.finished[:20] = np.arange(100, 140), True
    at_cap = AtCap(np.arange(40, dtype=np.int32)[:, None], np.arange(40, dtype=np.int8) % 2)
    both = Rows([(one.key, 0, 20), (other.key, 10, 30)], block, at_cap)
    some = list(both.cut(lambda task, *_: [(12, 15)] if task == one.key else []))
    assert [(part.ranges, part.block.pulls.tolist()) for part in some] == [
        ([(one.key, 12, 15)], [112, 113, 114])
    ]
    data = [StudyData(tmp_path / "store", "replications", 20) for _ in range(2)]
    data[0].write_rows(some, {})
    data[1].write_rows([both], {})
    rows = data[1].store.scan("replications").sort("pulls").collect()
    assert rows["pulls"].to_list() == list(range(100, 140))
    assert rows["replication"].to_list() == [*range(20), *range(10, 30)]
    assert rows["task"].to_list() == [one.key] * 20 + [other.key] * 20
    assert rows["recommended"].to_list() == [[k] for k in range(40)]
    assert rows["recommended_correct"].to_list() == [False, True] * 20


def test_a_lost_instance_is_written_anew(folder: Path) -> None:
    """Without its part a store cannot say what its tasks are; running the study again mends
    that."""
    whole = rai.open_study(folder).summary()
    next(folder.glob("instances-*.parquet")).write_bytes(b"")
    with pytest.warns(StoreWarning) as caught:
        assert rai.open_study(folder).tasks == ()
    said = {
        str(warning.message).partition(": the part with its instance is missing; ")[2]
        for warning in caught
    }
    assert said == {"", "running its study again writes it anew"}
    with pytest.warns(StoreWarning, match="is set aside"):
        small(40).run(folder)
    assert rai.open_study(folder).summary().equals(whole)


def test_lost_tasks_are_told_of_and_written_anew(folder: Path) -> None:
    """What is stored of them cannot be said to be of anything, until the study is run again."""
    whole = rai.open_study(folder).summary()
    next(folder.glob("tasks-*.parquet")).unlink()
    with pytest.warns(StoreWarning) as caught:
        assert rai.open_study(folder).tasks == ()
    assert [str(warning.message).partition(": ")[2] for warning in caught] == [
        "replications of 4 tasks are left out: the part that says of what task they are is missing; "
        "running their study again writes it anew"
    ]
    small(40).run(folder)
    assert rai.open_study(folder).summary().equals(whole)


GAPS = (0.4, 0.05, 0.2)


def labels(results: StudyResults) -> list[str]:
    """Return the tasks in their order, and check that the summary has it too."""
    frame = results.summary()
    assert frame["task"].to_list() == [task.key for task in results.tasks]
    return [task.label for task in results.tasks]


def test_a_store_is_opened_in_the_order_of_its_study(tmp_path: Path) -> None:
    """Instances, algorithms and deltas as the study had them; a run that only adds replications
    changes nothing."""
    wanted = unsorted(*GAPS)
    assert (
        labels(wanted.run(tmp_path))
        == labels(open_study(tmp_path))
        == [task.label for task in wanted.tasks]
    )
    unsorted(*reversed(GAPS), replications=8).run(tmp_path)
    assert labels(open_study(tmp_path)) == [task.label for task in wanted.tasks]


def test_what_later_runs_add_stands_behind(tmp_path: Path) -> None:
    """Three runs in turn, each into the middle of the one before; the files' names, which are
    hashes, do not matter."""
    studies = [
        unsorted(0.4, 0.2),
        unsorted(0.4, 0.3, 0.2),
        unsorted(0.4, 0.3, 0.2, deltas=(0.01, 0.05, 0.1)),
    ]
    expected: list[str] = []
    for one in studies:
        one.run(tmp_path)
        expected += [task.label for task in one.tasks if task.label not in expected]
    assert labels(open_study(tmp_path)) == expected
    for one in studies:  # where the definition is known, it decides
        assert labels(one.results(tmp_path)) == [task.label for task in one.tasks]


def test_stores_of_earlier_versions_have_an_order_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their parts have no time of writing; the run's name begins with one."""
    for second, gaps in ((3, (0.4,)), (1, (0.05,)), (2, (0.2,))):
        made = StudyData(tmp_path, "replications")
        write = made.store.write

        def without_time(
            kind: str, frame: pl.DataFrame, about: dict[str, str], write: object = write
        ) -> None:
            write(kind, frame, {name: value for name, value in about.items() if name != "written"})  # type: ignore[operator]

        monkeypatch.setattr(made.store, "write", without_time)
        made.add_tasks(
            unsorted(*gaps).tasks,
            {"run": f"20261128T10000{second}Z-0000", "rai_sim": "0", "stream_version": "1"},
        )
    for path in tmp_path.glob("tasks-*.parquet"):
        assert "written" not in json.loads(pl.read_parquet_metadata(path)["rai_sim"])
    assert [task.instance for task in open_study(tmp_path).tasks[::4]] == [
        "gap 0.05",
        "gap 0.2",
        "gap 0.4",
    ]


# Budgets
# --------------------------------------------------------------------------------------------------

CAPS = (3, 2_000, 45_000)


def budgets(replications: int, keep: str = "replications") -> rai.Study:
    """A study over three caps, of which the last stops few, and none."""
    return rai.Study.grid(
        {"table": rai.table_problem(2)},
        [rai.Vanilla()],
        [0.3],
        max_pulls=[*CAPS, None],
        replications=replications,
        keep=keep,
    )


@pytest.mark.parametrize("keep", ["replications", "aggregates", "arm_pulls_sum"])
def test_errors_at_budgets_are_those_of_single_runs(tmp_path: Path, keep: str) -> None:
    """Of all replications, in whatever pieces they came; none without a cap. They can be made
    again."""
    budgets(13, keep).run(tmp_path)
    results = budgets(60, keep).run(tmp_path)
    found = results.summary()
    for task, row in zip(results.tasks, found.iter_rows(named=True), strict=True):
        run = task.experiment
        alone = rai.simulate(
            run.problem, run.algorithm, delta=0.3, replications=60, max_pulls=run.max_pulls
        )
        wrong = int((~alone.recommended_correct).sum())
        assert row["errors_at_cap"] == (None if run.max_pulls is None else wrong)
        if keep == "replications":
            stored = results.result(task)
            assert stored == alone
            assert stored.recommended is not None
            assert (stored.recommended == alone.recommended).all()
            assert stored.summary().errors_at_cap == row["errors_at_cap"]
    rates = found["error_rate_at_cap"].to_list()
    assert rates[0] > rates[1] > rates[2]
    assert rates[3] is None
    assert (found["error_rate_at_cap_low_95"][:3] <= found["error_rate_at_cap"][:3]).all()
    assert (found["error_rate_at_cap_high_95"][:3] >= found["error_rate_at_cap"][:3]).all()
    assert results.verify(60, seed=1).mismatches == ()
    assert open_study(tmp_path).summary()["errors_at_cap"].to_list()[:3] == [
        row["errors_at_cap"] for row in found.head(3).iter_rows(named=True)
    ]


def forget_caps(folder: Path, kind: str, columns: tuple[str, ...]) -> None:
    """Write parts of results as a version before did, which did not know what is recommended."""
    for path in folder.glob(f"{kind}-*.parquet"):
        frame, about = pl.read_parquet(path), StudyData(folder).store.about(path)
        path.unlink()
        StudyData(folder, kind).store.write(kind, frame.drop(columns), about)


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        ("replications", ("recommended", "recommended_correct")),
        ("aggregates", ("errors_at_cap",)),
    ],
)
def test_stores_of_before_caps_recommended(
    tmp_path: Path, kind: str, columns: tuple[str, ...]
) -> None:
    """What they do not have is not known, and not made up when more is run; the rest is; two stores
    of which one knows more agree."""
    budgets(20, kind).run(tmp_path / "old")
    budgets(20, kind).run(tmp_path / "new")
    forget_caps(tmp_path / "old", kind, columns)
    old = budgets(20, kind).results(tmp_path / "old")
    new = budgets(20, kind).results(tmp_path / "new")
    at_cap = [name for name in old.summary().columns if "at_cap" in name]
    assert old.summary()["errors_at_cap"].null_count() == 4
    assert old.summary().drop(at_cap).equals(new.summary().drop(at_cap))
    assert old.verify(20, seed=1).mismatches == ()
    if kind == "replications":
        assert old.result(old.tasks[0]).recommended is None
        assert old.result(old.tasks[0]) == new.result(new.tasks[0])
    longer = budgets(30, kind).run(tmp_path / "old").summary()
    assert longer["errors_at_cap"].null_count() == 4
    assert longer["replications"].to_list() == [30] * 4
    merged = rai.merge_studies([tmp_path / "new", tmp_path / "old"], tmp_path / "merged")
    assert budgets(20, kind).results(merged.folder).summary().equals(new.summary())


@pytest.mark.parametrize("kind", ["replications", "aggregates"])
def test_another_recommendation_is_found(tmp_path: Path, kind: str) -> None:
    """By verification, and by a merge with what is right."""
    for name in ("a", "b"):
        budgets(20, kind).run(tmp_path / name)
    (path,) = (tmp_path / "b").glob(f"{kind}-*.parquet")
    frame, about = pl.read_parquet(path), StudyData(tmp_path / "b").store.about(path)
    path.unlink()
    new = ~pl.col("recommended_correct") if kind == "replications" else pl.col("errors_at_cap") + 1
    StudyData(tmp_path / "b", kind).store.write(kind, frame.with_columns(new), about)
    assert len(open_study(tmp_path / "b").verify(80, seed=1).mismatches) >= 3
    with pytest.raises(rai.StoreError, match="other numbers for replication"):
        rai.merge_studies([tmp_path / "a", tmp_path / "b"], tmp_path / "merged")
