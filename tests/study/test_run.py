"""Studies: the same numbers as simulate's, whatever the way there."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from studies import PROBLEMS, grid, simulated

import rai_sim as rai
from rai_sim.algorithms.base import Algorithm
from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.faults import STOPPED
from rai_sim.simulation.statistics import Aggregate
from rai_sim.study import (
    StoreWarning,
    Study,
    StudyFailed,
    StudyInterrupted,
    StudyResults,
)
from rai_sim.study.job import run_job, width_of
from rai_sim.study.stopping import follow


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_study_is_its_simulations(tmp_path: Path, n_jobs: int) -> None:
    """Every row of every task, at once or in steps, on one worker or two."""
    for n in (7, 300, 1000):
        results = grid(replications=n).run(tmp_path, n_jobs=n_jobs)
        assert results.progress() == (8 * n, 8 * n)
    for task in grid().tasks:
        assert results.result(task) == simulated(task, 1000)
    assert results.rows().select(pl.len()).collect().item() == 8000


@pytest.mark.landing
@pytest.mark.parametrize(
    ("backend", "options"), [("loky", {"inner_max_num_threads": 1}), ("multiprocessing", {})]
)
def test_a_study_is_its_simulations_on_processes(
    tmp_path: Path, backend: str, options: dict[str, Any]
) -> None:
    """Also where joblib is configured to use processes."""
    import joblib

    with joblib.parallel_config(backend, **options):
        results = grid(replications=50).run(tmp_path, n_jobs=2)
    for task in grid().tasks:
        assert results.result(task) == simulated(task, 50)


@pytest.mark.landing
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


@pytest.mark.landing
@pytest.mark.usefixtures("registries")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("how", ["twice", "out of memory"])
def test_what_was_finished_is_written_whatever_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_jobs: int, how: str
) -> None:
    """A second Ctrl-C while a slow block runs, or an error nobody expects: all finished blocks are
    stored."""
    monkeypatch.setattr("rai_sim.study.job.JOB_SECONDS", 0.001)
    monkeypatch.setattr("rai_sim.study.backlog._LEAST", 1000.0)
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


@pytest.mark.parametrize("most", ["_MOST_IN_UNIT", "_MOST_ENTRIES"])
def test_a_job_has_not_too_many_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: str
) -> None:
    """However quick a replication is: no unit begins where there are as many as a unit may have, nor
    as many entries."""
    monkeypatch.setattr(f"rai_sim.study.run.{most}", 1000)
    jobs: list[list[int]] = []

    def noted(home: int, units: Any, **limits: Any) -> Any:
        wide = most == "_MOST_ENTRIES"
        jobs.append(
            [
                (unit.stop - unit.start) * (width_of(unit.experiment, False) if wide else 1)
                for unit in units
            ]
        )
        return run_job(home, units, **limits)

    monkeypatch.setattr("rai_sim.study.run.run_job", noted)
    deltas = [0.1, 0.09, 0.08, 0.07, 0.06, 0.05]
    study = Study.grid(PROBLEMS, [rai.Butterscotch()], deltas, replications=600)
    assert study.run(tmp_path).unfinished() == []
    assert max(map(len, jobs)) > 1  # short units share a job
    for sizes in jobs:
        assert max(sizes) <= 1000
        assert sum(sizes[:-1]) < 1000  # and one more


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


@pytest.mark.landing
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
