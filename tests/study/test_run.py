"""Studies: the same numbers as simulate's, whatever the way there."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rai_sim as rai
from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.faults import STOPPED
from rai_sim.simulation.workers import block_for, run_into
from rai_sim.study import (
    StoreWarning,
    Study,
    StudyFailed,
    StudyInterrupted,
    StudyResults,
    Task,
    open_study,
)
from rai_sim.study.data import Rows, StudyData
from rai_sim.study.ledger import Piece, Pieces
from rai_sim.study.stopping import follow
from rai_sim.study.task import arms_from_json, arms_to_json

PROBLEMS = {"easy": rai.table_problem(task=1), "two": rai.best_arm(rai.Gaussian([0.7, 0.4]))}
ALGORITHMS_RUN = [rai.Vanilla(), rai.Vanilla(merging=False)]


def grid(**options: Any) -> Study:
    """Return a study of eight tasks."""
    return Study.grid(PROBLEMS, ALGORITHMS_RUN, [0.1, 0.01], **options)


@pytest.fixture
def registries() -> Iterator[None]:
    """Forget test algorithms afterwards."""
    before = dict(ALGORITHMS)
    yield
    ALGORITHMS.clear()
    ALGORITHMS.update(before)


def simulated(task: Task, replications: int) -> rai.Result:
    """Return what simulate gives for a task."""
    run = task.experiment
    return rai.simulate(
        run.problem,
        run.algorithm,
        delta=run.delta,
        replications=replications,
        seed=run.seed,
        skip_error=run.skip_error,
        max_pulls=run.max_pulls,
    )


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_study_is_its_simulations(tmp_path: Path, n_jobs: int) -> None:
    """Every row of every task, at once or in steps, on one worker or two."""
    for n in (7, 300, 1000):
        results = grid(replications=n).run(tmp_path, n_jobs=n_jobs)
        assert results.progress() == (8 * n, 8 * n)
    for task in grid().tasks:
        assert results.result(task) == simulated(task, 1000)
    assert results.rows().select(pl.len()).collect().item() == 8000


def test_a_look_is_kept_apart_where_it_is_the_next_best_cut() -> None:
    """Sums that were cut at looks, of a study that wants fewer: the first border beyond its number
    stays one."""
    from rai_sim.simulation.statistics import Aggregate

    one, yes = np.ones(363, np.int64), np.ones(363, bool)
    pieces = Pieces(cut=300, looks=False)
    for start, stop in ((305, 363), (0, 256), (256, 305)):
        pieces.add(
            Piece(
                start,
                stop,
                Aggregate.of(one[start:stop], one[start:stop], yes[start:stop], yes[start:stop]),
            )
        )
    assert [(piece.start, piece.stop) for piece in pieces] == [(0, 305), (305, 363)]
    assert pieces.total(300)[0] == 305


def test_a_study_is_its_simulations_on_processes(tmp_path: Path) -> None:
    """Also where joblib is configured to use processes."""
    import joblib

    with joblib.parallel_config("loky", inner_max_num_threads=1):
        results = grid(replications=50).run(tmp_path, n_jobs=2)
    for task in grid().tasks:
        assert results.result(task) == simulated(task, 50)


def test_a_smaller_study_reads_its_share_of_a_larger_one(tmp_path: Path) -> None:
    """What a study reports does not depend on what else the store holds."""
    large, alone = (
        grid(replications=500).run(tmp_path / "large"),
        grid(replications=100).run(tmp_path / "alone"),
    )
    small = grid(replications=100).run(tmp_path / "large")
    assert small.summary().equals(alone.summary())
    assert small.result(small.tasks[0]) == alone.result(alone.tasks[0])
    assert small.rows().select(pl.len()).collect().item() == 800
    assert len(list((tmp_path / "large").glob("replications-*"))) == len(large.runs()) - 1 == 1


def test_summaries_are_those_of_results(tmp_path: Path) -> None:
    """The frame's numbers are Result.summary()'s; quantiles to within a bin."""
    results = grid(replications=400).run(tmp_path)
    for row, task in zip(results.summary().iter_rows(named=True), results.tasks, strict=True):
        summary = simulated(task, 400).summary()
        assert (row["task"], row["instance"], row["algorithm"]) == (
            task.key,
            task.instance,
            task.experiment.algorithm.label,
        )
        assert (row["replications"], row["finished"], row["errors"], row["complete"]) == (
            400,
            400,
            summary.errors,
            True,
        )
        assert row["pulls_mean"] == pytest.approx(summary.mean, rel=1e-14)
        assert (row["pulls_mean_low_95"], row["pulls_mean_high_95"]) == pytest.approx(
            summary.interval, rel=1e-12
        )
        assert (row["error_rate_low_95"], row["error_rate_high_95"]) == summary.error_interval
        assert (row["lower_bound_pulls"], row["upper_bound_pulls"]) == (
            summary.lower_bound,
            summary.upper_bound,
        )
        assert row["rounds_mean"] == pytest.approx(summary.mean_rounds, rel=1e-14)
        for share, name in ((0.05, "pulls_q05"), (0.5, "pulls_q50"), (1.0, "pulls_most")):
            assert row[name] == pytest.approx(summary.quantiles[share], rel=1 / 512, abs=1)


def test_aggregates_are_those_of_the_rows(tmp_path: Path) -> None:
    """With sums alone the same summary, in steps and over workers; rows are refused."""
    rows = grid(replications=900).run(tmp_path / "rows")
    for n, n_jobs in ((10, 1), (700, 2), (900, 1)):
        sums = grid(replications=n, keep="aggregates").run(tmp_path / "sums", n_jobs=n_jobs)
    assert sums.summary().equals(rows.summary())
    assert not list((tmp_path / "sums").glob("replications-*"))
    with pytest.raises(
        ValueError,
        match=r"keeps aggregates only; run the study with keep='replications' to have rows",
    ):
        sums.rows()


def test_a_precision_is_reached_by_the_schedule_alone(tmp_path: Path) -> None:
    """The same replications with one worker, two, after a smaller study, and with aggregates: those
    that `follow` asks for."""
    ways: list[StudyResults] = []
    for name, n_jobs, keep in (
        ("a", 1, "replications"),
        ("b", 2, "replications"),
        ("c", 1, "aggregates"),
        ("d", 2, "aggregates"),
    ):
        if name in "bd":
            grid(replications=301, keep=keep).run(tmp_path / name)
        ways.append(grid(precision=0.02, keep=keep).run(tmp_path / name, n_jobs=n_jobs))
    frame = ways[0].summary()
    assert (frame["relative_half_width_95"] <= 0.02).all()
    assert frame["complete"].all()
    assert all(way.summary().equals(frame) for way in ways[1:])
    for task, n in zip(grid().tasks, frame["replications"], strict=True):
        pulls = simulated(task, 5000)

        def prefix(k: int, pulls: rai.Result = pulls) -> Any:
            from rai_sim.simulation.statistics import Aggregate

            return Aggregate.of(
                pulls.pulls[:k], pulls.rounds[:k], pulls.correct[:k], pulls.finished[:k]
            )

        verdict = follow(0.02, 10**8, prefix)
        assert (verdict.replications, verdict.reached) == (n, True)
        assert ways[1].result(task).replications == n
    # A finer precision goes on from there.
    finer = grid(precision=0.01).run(tmp_path / "a").summary()
    assert (finer["replications"] > frame["replications"]).all()
    limited = grid(precision=0.001, most_replications=1000).run(tmp_path / "a").summary()
    assert limited["replications"].to_list() == [1000] * 8
    assert not limited["precision_reached"].any()
    assert frame["precision_reached"].all()
    # Sums cannot be cut everywhere: then more count, and it is said.
    with pytest.warns(
        StoreWarning, match="cannot be cut: of 6 tasks all of them count, 305 of the first one"
    ):
        more = grid(replications=300, keep="aggregates").run(tmp_path / "c").summary()
    assert sorted(more["replications"]) == [300] * 2 + [305] * 6
    assert more["precision_reached"].null_count() == 8


def test_caps_and_errors_are_counted(tmp_path: Path) -> None:
    """Replications at the cap are not finished, whatever is kept."""
    for keep in ("replications", "aggregates"):
        options: dict[str, Any] = {"replications": 300, "max_pulls": 200, "keep": keep}
        # without guarantees, so that it errs
        wide = rai.best_arm(rai.Gaussian([0.7, 0.4], sd=3.0), strict=False)
        study = Study.grid({"x": wide}, [rai.Vanilla()], [0.5], **options)
        row = study.run(tmp_path / keep).summary().row(0, named=True)
        plain = simulated(study.tasks[0], 300).summary()
        assert (row["finished"], row["errors"]) == (plain.finished, plain.errors)
        assert 0 < plain.finished < 300
        assert plain.errors > 0
        assert row["error_exceeds_delta"] == plain.error_exceeds_delta
        assert row["max_pulls"] == 200


def test_the_same_task_twice_is_refused(tmp_path: Path) -> None:
    """By its numbers, not by its name; and other bad arguments."""
    with pytest.raises(
        ValueError,
        match=r"tasks holds the same task twice, as 'a, Vanilla.*' and as 'b, Vanilla.*'; leave "
        r"one out",
    ):
        Study.grid({"a": PROBLEMS["easy"], "b": rai.table_problem(task=1)}, [rai.Vanilla()], [0.1])
    for options, message in (
        ({"replications": 0}, "replications is 0; it must be at least 1"),
        ({"replications": 1.5}, r"replications must be an integer; got 1\.5"),
        ({"precision": 0.0}, r"precision is 0\.0; it is a share of the mean between 1e-06 and 1"),
        ({"precision": "1 %"}, r"precision must be a number; got '1 %'"),
        (
            {"precision": 0.1, "replications": 10},
            r"precision is 0\.1 and replications is 10; give one of the two",
        ),
        ({"most_replications": 1}, "most_replications is 1; it must be at least 2"),
        (
            {"keep": "everything"},
            "keep is 'everything'; choose one of 'replications', 'aggregates'",
        ),
        ({"seed": None}, "seed is None; a study is resumed by its seed"),
        ({"seed": -1}, "seed is -1; it must be a non-negative integer"),
        ({"max_pulls": 0}, "max_pulls is 0; it must be at least 1"),
        ({"skip_error": 1.0}, "skip_error is 1.0; it must lie between 0"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            grid(**options)
    for instances, algorithms, deltas, message in (
        ({}, [rai.Vanilla()], [0.1], "tasks is empty"),
        (PROBLEMS, [], [0.1], "tasks is empty"),
        (
            PROBLEMS,
            [rai.Vanilla],
            [0.1],
            "algorithm must be an algorithm such as rai.Vanilla.*add parentheses",
        ),
        ([3], [rai.Vanilla()], [0.1], "problem must be a Problem; got 3"),
        (PROBLEMS, [rai.Vanilla()], [1.5], "delta is 1.5; it must be an error probability"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            Study.grid(instances, algorithms, deltas)  # type: ignore[arg-type]
    for instance, parameters, message in (
        (3, {}, "instance is 3; give it a name"),
        ("", {}, "give it a name"),
        ("x", {"n": np.int64(3)}, "cannot be written down: .*int64.*; give numbers of Python"),
        ("\ud800", {}, "cannot be written down"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            Task(instance, grid().tasks[0].experiment, parameters)  # type: ignore[arg-type]
    assert grid(skip_error=-0.0).tasks[0].id == grid(skip_error=0.0).tasks[0].id
    with pytest.raises(TypeError, match="tasks holds 3; every entry must be a Task"):
        Study([3])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="n_jobs is 0"):
        grid().run("nowhere", n_jobs=0)
    with pytest.raises(TypeError, match="progress must be True, False or None"):
        grid().run("nowhere", progress=3)  # type: ignore[arg-type]
    assert not Path("nowhere").exists()
    with pytest.raises(ValueError, match="sample is 0; it must be at least 1"):
        grid(replications=1).run(tmp_path, n_jobs=np.int64(1)).verify(0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "arms",
    [
        rai.Bernoulli([0.1 + 0.2, 1 / 3, 0.7]),
        rai.Gaussian([0.3, 1 / 7], sd=0.1),
        rai.Categorical([0.0, 1 / 3, 1.0], [[0.2, 0.3, 0.5], [1 / 3, 1 / 3, 1 / 3]]),
        rai.Recorded([[1, 0, 1], [0, 0, 1]], means=[0.6, 0.4]),
    ],
    ids=lambda arms: type(arms).__name__,
)
def test_arms_survive_their_form_on_disk(arms: rai.Bernoulli) -> None:
    """To the bit: the identity is the same."""
    assert arms_from_json(type(arms).__name__.lower(), arms_to_json(arms)) == arms


def test_names_of_arms_survive_too(tmp_path: Path) -> None:
    """A store opened without its study still knows them."""
    arms = rai.Bernoulli([0.9, 0.5]).with_names(["Stalker", "Solaris"], [3, 4])
    Study.grid({"films": rai.best_arm(arms)}, [rai.Vanilla()], [0.1], replications=3).run(tmp_path)
    (task,) = open_study(tmp_path).tasks
    assert (task.experiment.problem.arms.names, task.experiment.problem.arms.ids) == (
        arms.names,
        arms.ids,
    )


def test_a_store_can_be_opened_without_its_study(tmp_path: Path) -> None:
    """Tasks, summary and rows come from the folder; two studies may share it."""
    first = grid(replications=30).run(tmp_path)
    other = Study.grid(
        {"alone": rai.table_problem(task=3)},
        [rai.Butterscotch()],
        [0.2],
        replications=10,
        seed=2**100,
    )
    other.run(tmp_path)
    everything = open_study(tmp_path)
    assert len(everything.tasks) == 9
    assert {task.id for task in everything.tasks} == {
        task.id for task in (*first.tasks, *other.tasks)
    }
    frame = everything.summary()
    assert (
        frame.filter(pl.col("instance") != "alone")
        .sort("task")
        .equals(first.summary().sort("task"))
    )
    assert frame.filter(pl.col("instance") == "alone")["seed"].item() == str(2**100)
    assert everything.progress() == (250, 250)
    assert everything.result(other.tasks[0]) == simulated(other.tasks[0], 10)
    assert "9 tasks, 250 of 250 replications" in repr(everything)
    with pytest.raises(ValueError, match="has no replication; run the study first"):
        everything.result(
            Task(
                "x",
                simulated(other.tasks[0], 1).experiment.__class__(
                    rai.table_problem(), rai.LUCB(), 0.3, 0, 0.0, None
                ),
            )
        )


@pytest.mark.parametrize("keep", ["replications", "aggregates"])
def test_verify_finds_what_was_changed(tmp_path: Path, keep: str) -> None:
    """A store as it was written passes; one number changed in each part, with its name made to fit,
    is found: the negative control."""
    study = grid(replications=40, keep=keep)
    results = study.run(tmp_path)
    for n_jobs in (1, 2):
        found = results.verify(10**6, n_jobs=n_jobs)
        assert found.checked == 320
        assert found.mismatches == ()
    assert "all are the same to the bit" in str(found)
    some = results.verify(11, seed=3)
    assert some.checked >= 11 if keep == "aggregates" else some.checked == 11
    from rai_sim.study.store import Store

    (path,) = tmp_path.glob(f"{keep}-*.parquet")
    frame = pl.read_parquet(path)
    column = "pulls" if keep == "replications" else "pulls_most"
    changed = frame.with_columns(
        pl.when(pl.int_range(pl.len()) == 5)
        .then(pl.col(column) + 1)
        .otherwise(pl.col(column))
        .alias(column)
    )
    path.unlink()
    Store(tmp_path, keep).write(keep, changed, {})
    found = study.results(tmp_path).verify(10**6)
    assert found.checked == 320
    assert len(found.mismatches) == 1
    assert "1 mismatches, first" in str(found)
    if keep == "replications":
        representatives = (
            pl.when(pl.int_range(pl.len()) == 9)
            .then(pl.lit([9], pl.List(pl.Int32)))
            .otherwise(pl.col("representatives"))
        )
        next(tmp_path.glob(f"{keep}-*.parquet")).unlink()
        Store(tmp_path, keep).write(
            keep, frame.with_columns(representatives.alias("representatives")), {}
        )
        assert len(study.results(tmp_path).verify(10**6).mismatches) == 1


def test_a_task_that_fails_does_not_cost_the_others(tmp_path: Path) -> None:
    """A recording that runs out: the error names it, everything else is there, and it fails
    again."""
    instances = PROBLEMS | {"short": rai.best_arm(rai.Recorded([[1, 1, 1], [0, 0, 0]]))}
    study = Study.grid(instances, [rai.Vanilla()], [0.1], replications=30)
    for _ in range(2):
        with pytest.raises(
            StudyFailed, match=r"1 of 3 tasks failed, .* the first is short, Vanilla.*recording"
        ) as caught:
            study.run(tmp_path)
        assert caught.value.results.progress() == (60, 90)
        assert [task.instance for task in caught.value.failures] == ["short"]
        frame = caught.value.results.summary()
        assert frame["complete"].to_list() == [True, True, False]
        assert frame["pulls_mean"].to_list()[2] is None
    record = caught.value.results.runs()[-1]
    assert record["status"] == "failed"
    assert list(record["failures"]) == ["short, Vanilla(merging=True), delta 0.1"]


@pytest.mark.usefixtures("registries")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("how", ["twice", "out of memory"])
def test_what_was_finished_is_written_whatever_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_jobs: int, how: str
) -> None:
    """A second Ctrl-C while a slow block runs, or an error nobody expects: all finished blocks are
    stored."""
    monkeypatch.setattr("rai_sim.study.job.JOB_SECONDS", 0.001)
    monkeypatch.setattr("rai_sim.study.run._FLUSH_LEAST", 1000.0)
    ran: list[int] = []
    armed = [True]

    @dataclass(frozen=True)
    class Failing(Algorithm):
        def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
            rai.Vanilla().run_block(law, setting, first, block)
            if armed[0] and sum(ran) > 60:
                if how == "twice":
                    armed[0] = False
                    os.kill(os.getpid(), signal.SIGINT)
                    time.sleep(0.05)
                    os.kill(os.getpid(), signal.SIGINT)
                    time.sleep(0.05)
                else:
                    raise MemoryError("no room")
            # Of a block that the signal cut short, its first rows are finished.
            ran.append(int(block.fault[1]) if block.fault[0] == STOPPED else len(block.pulls))

    study = Study.grid({"x": rai.table_problem()}, [Failing()], [0.1], replications=3000)
    with pytest.raises(StudyInterrupted if how == "twice" else StudyFailed):
        study.run(tmp_path, n_jobs=n_jobs)
    armed[0] = False
    stored = study.results(tmp_path)
    done, _ = stored.progress()
    assert done == sum(ran) > 60
    assert stored.runs()[-1]["status"] == ("interrupted" if how == "twice" else "failed")
    assert study.run(tmp_path, n_jobs=n_jobs).result(study.tasks[0]).replications == 3000


@pytest.mark.usefixtures("registries")
def test_an_interrupt_in_the_last_block_is_none(tmp_path: Path) -> None:
    """Everything is done: there is nothing to resume."""

    @dataclass(frozen=True)
    class Late(Algorithm):
        def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
            rai.Vanilla().run_block(law, setting, first, block)
            if first + len(block.pulls) == 30:
                os.kill(os.getpid(), signal.SIGINT)

    results = Study.grid({"x": rai.table_problem()}, [Late()], [0.1], replications=30).run(tmp_path)
    assert results.progress() == (30, 30)


@pytest.mark.usefixtures("registries")
def test_slow_tasks_run_side_by_side(tmp_path: Path) -> None:
    """Tasks of which nothing is known yet are dealt to workers one by one."""
    running, most = [0], [0]

    @dataclass(frozen=True)
    class Slow(Algorithm):
        def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
            running[0] += 1
            most[0] = max(most[0], running[0])
            time.sleep(0.25 * len(block.pulls))
            running[0] -= 1
            rai.Vanilla().run_block(law, setting, first, block)

    instances = {
        f"{n} arms": rai.best_arm(rai.Bernoulli(rai.instances.evenly_spaced(n)))
        for n in (2, 4, 8, 16)
    }
    began = time.perf_counter()
    Study.grid(instances, [Slow()], [0.1], replications=2).run(tmp_path, n_jobs=4)
    assert most[0] == 4
    assert time.perf_counter() - began < 1.5  # 2 s one after the other


def test_the_distribution_is_of_the_summarys_replications(tmp_path: Path) -> None:
    """What lies behind a gap is in neither: shares of the summary's replications add up to one."""
    task = Study.grid({"x": rai.table_problem()}, [rai.Vanilla()], [0.1], replications=10).tasks[0]
    data = StudyData(tmp_path, "replications")
    data.add_tasks([task], {"run": "r", "rai_sim": "0", "stream_version": "1"})
    for first, count in ((0, 10), (20, 30)):
        block = block_for(task.experiment, count)
        run_into(task.experiment, first, block)
        data.write_rows(
            [Rows(task.key, first, block)], {"run": "r", "rai_sim": "0", "stream_version": "1"}
        )
    results = rai.open_study(tmp_path)
    assert results.summary()["replications"].to_list() == [10]
    values, counts = results.pulls_distribution(task)
    assert counts.sum() == 10
    assert values.tolist() == sorted(set(simulated(task, 10).pulls.tolist()))


@pytest.mark.usefixtures("registries")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("keep", ["replications", "aggregates"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_keeps_all_finished_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_jobs: int, keep: str, number: int
) -> None:
    """A real signal while a block runs: that block and all before it are stored, and the study goes
    on from there."""
    monkeypatch.setattr("rai_sim.study.job.JOB_SECONDS", 0.002)
    ran: list[int] = []
    armed = [True]

    @dataclass(frozen=True)
    class Interrupting(Algorithm):
        def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
            rai.Vanilla().run_block(law, setting, first, block)
            ran.append(int(block.fault[1]) if block.fault[0] == STOPPED else len(block.pulls))
            if armed[0] and sum(ran) > 60:
                armed[0] = False
                os.kill(os.getpid(), number)

    study = Study.grid(
        {"x": rai.table_problem()}, [Interrupting()], [0.1], replications=3000, keep=keep
    )
    before = signal.getsignal(number)
    with pytest.raises(
        StudyInterrupted,
        match=r"interrupted with [\d,]+ of 3,000 replications in .*goes on from there",
    ) as caught:
        study.run(tmp_path, n_jobs=n_jobs)
    assert signal.getsignal(number) is before
    done, _ = caught.value.results.progress()
    assert done == sum(ran)
    assert 60 < done < 3000
    assert caught.value.results.runs()[-1]["status"] == "interrupted"
    frame = study.run(tmp_path, n_jobs=n_jobs).summary()
    assert sum(ran) == 3000
    plain = (
        Study.grid({"x": rai.table_problem()}, [rai.Vanilla()], [0.1], replications=3000, keep=keep)
        .run(tmp_path / "plain")
        .summary()
    )
    assert frame["pulls_mean"].to_list() == plain["pulls_mean"].to_list()


def test_progress_shows_tasks_replications_time_and_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the error stream if asked; None shows nothing where there is no terminal."""
    grid(replications=500).run(tmp_path / "a", progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "4.00k/4.00k replications, 8/8 tasks, 00:00 left, mean pulls +-" in shown.err
    grid(replications=500).run(tmp_path / "b", progress=None)
    grid(replications=500).run(tmp_path / "c", progress=False)
    assert capsys.readouterr().err == ""


def test_pieces_know_their_gaps_and_prefixes() -> None:
    """Disjoint pieces in any order; neighbours are joined except at looks and at the cut."""
    from rai_sim.simulation.statistics import Aggregate

    pulls = np.arange(1, 1001)
    yes = np.ones(1000, bool)
    pieces = Pieces(cut=90)
    for start, stop in (
        (500, 600),
        (0, 90),
        (90, 100),
        (256, 300),
        (100, 256),
        (300, 305),
        (305, 363),
    ):
        pieces.add(
            Piece(
                start,
                stop,
                Aggregate.of(
                    pulls[start:stop], pulls[start:stop], yes[start:stop], yes[start:stop]
                ),
            )
        )
    assert [(piece.start, piece.stop) for piece in pieces] == [
        (0, 90),
        (90, 256),
        (256, 305),
        (305, 363),
        (500, 600),
    ]
    assert pieces.gaps(0, 700) == [(363, 500), (600, 700)]
    assert pieces.gaps(100, 300) == []
    assert pieces.gaps(550, 650) == [(600, 650)]
    assert [
        None if (sums := pieces.prefix(n)) is None else sums.pulls_sum
        for n in (90, 256, 305, 363, 300, 600)
    ] == [sum(range(1, 91)), sum(range(1, 257)), sum(range(1, 306)), sum(range(1, 364)), None, None]
    assert pieces.total()[0] == 363
    assert pieces.total(200)[0] == 256
    assert pieces.replications == 463
    assert pieces.cuts_within(0, 400) == [0, 90, 256, 305, 363, 400]


def test_importing_the_package_loads_no_study_code() -> None:
    """Studies are loaded on first use, and listed."""
    import subprocess

    code = (
        "import sys, rai_sim; early = [m for m in sys.modules if m.startswith('rai_sim.study') or "
        "m == 'polars']; "
        "print(early, 'Study' in dir(rai_sim)); rai_sim.Study; print('rai_sim.study' in "
        "sys.modules)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split("\n")
    assert found[:2] == ["[] True", "True"]
    with pytest.raises(AttributeError, match="module 'rai_sim' has no attribute 'Studie'"):
        rai.Studie  # noqa: B018
