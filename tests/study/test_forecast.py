"""Estimates of what a study costs, against what it does cost."""

import math
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from studies import Endless, pairs, small

import rai_sim as rai
from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.engine.blocks import Block, Setting
from rai_sim.problem import Problem
from rai_sim.simulation.parts import run_part
from rai_sim.simulation.workers import block_for
from rai_sim.study import Study
from rai_sim.study.schemas import KEEPS
from rai_sim.study.task import Task


def files_of(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.iterdir())


def random_problem(random: np.random.Generator) -> Problem:
    """Return arms at random, some of one gap, and what is asked of them."""
    n = int(random.integers(2, 10))
    gap = 10.0 ** random.uniform(-1.5, -0.5)
    means = np.clip(0.5 + gap * (np.arange(n) - n / 2) / math.sqrt(n), 0.01, 0.99)
    arms = rai.Bernoulli(np.sort(means)[::-1])
    return rai.top(arms, int(random.integers(1, n)))


def random_study(seed: int, tasks: int) -> list[Study]:
    """Return studies of one task each, to a number of replications, a precision, or until the error
    rate is known."""
    random, studies = np.random.default_rng(seed), list[Study]()
    while len(studies) < tasks:
        algorithm = (rai.Vanilla(), rai.Butterscotch(), rai.LUCB())[random.integers(3)]
        delta = float(10.0 ** random.uniform(-2.0, -0.7))
        wanted: dict[str, Any] = (
            {"replications": int(10.0 ** random.uniform(2.0, 3.7))},
            {"precision": float(10.0 ** random.uniform(-2.0, -1.0))},
            {"until": "error rate"},
        )[random.integers(3)]
        grid = Study.grid([random_problem(random)], [algorithm], [delta], **wanted)
        name = f"task {len(studies)}"
        studies.append(Study([Task(name, grid.tasks[0].experiment)], **wanted))
    return studies


def work_of(task: Task, count: int) -> float:
    """Return the seconds of processor time that replications of a task take: of this thread alone,
    for the machine may be busy."""
    block = block_for(task.experiment, count)
    began = time.thread_time()
    run_part(task.experiment, 0, block, 0, count)
    return time.thread_time() - began


@pytest.mark.slow
def test_estimates_of_random_tasks(tmp_path: Path) -> None:
    """Of 50 tasks at least nine tenths within a factor of two, in pulls, in bytes and in seconds;
    so is what they come to in all. Negative control: to take the first look for the whole is not
    good enough."""
    told, true, naive = [], [], []
    for at, study in enumerate(random_study(2026, 50)):
        estimate = study.estimate(pilot_time="20s")  # the machine may be busy
        frame = study.run(tmp_path / str(at)).summary()
        (row,), count = estimate.rows, frame["replications"].item()
        assert not row.at_least
        pulls = frame["pulls_mean"].item() * count
        told.append((row.pulls, row.seconds, estimate.disk_bytes))
        true.append((pulls, work_of(row.task, count), files_of(tmp_path / str(at))))
        naive.append(min(count, 256) / count)
    ratios = np.array(told) / np.array(true)
    within = ((ratios >= 0.5) & (ratios <= 2.0)).mean(axis=0)
    if os.environ.get("RAI_SIM_SHOW"):
        print(ratios, within, np.array(told).sum(axis=0) / np.array(true).sum(axis=0))
    assert (within >= 0.9).all(), within
    in_all = np.array(told).sum(axis=0) / np.array(true).sum(axis=0)
    assert (in_all > 0.5).all(), in_all
    assert (in_all < 2.0).all(), in_all
    assert np.mean(np.array(naive) >= 0.5) < 0.9


# Small studies
# --------------------------------------------------------------------------------------------------


def test_only_what_is_missing_counts(tmp_path: Path) -> None:
    """Of 60 replications of which 20 are there; pulls are those that were run where the pilot is
    the whole, and a task that is done has no pilot. Nothing is written."""
    fresh = small(60).estimate(tmp_path / "none")
    assert not (tmp_path / "none").exists()
    assert fresh.replications == 240
    small(20).run(tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    left = small(60).estimate(tmp_path, n_jobs=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert [(row.replications, row.left, row.pilot) for row in left.rows] == [(60, 40, 40)] * 4
    assert left.workers == 2
    assert left.wall_seconds == left.seconds / 2
    assert 0.0 < left.disk_bytes < fresh.disk_bytes
    done = small(20).estimate(tmp_path)
    assert [(row.left, row.pilot, row.pulls) for row in done.rows] == [(0, 0, 0.0)] * 4
    assert (done.replications, done.seconds, done.at_least) == (0, 0.0, False)
    whole = small(60).run(tmp_path).summary()
    true = (whole["pulls_mean"] * 60).to_list()
    assert [row.pulls for row in fresh.rows] == pytest.approx(true)


def test_whatever_is_kept_can_be_estimated() -> None:
    """The work is the same, and pulls by arm take room."""
    found = {
        keep: Study.grid(pairs(0.3), [rai.Vanilla()], [0.1], replications=500, keep=keep).estimate()
        for keep in KEEPS
    }
    assert len({(one.replications, one.pulls) for one in found.values()}) == 1
    for plain, by_arm in (("replications", "arm_pulls"), ("aggregates", "arm_pulls_sum")):
        assert found[by_arm].rows[0].disk_bytes > found[plain].rows[0].disk_bytes


def test_pulls_of_a_pilot_are_those_of_its_replications() -> None:
    """The first ones, of the task's own seed."""
    study = Study.grid(pairs(0.4), [rai.Vanilla()], [0.1], replications=12, seed=9)
    (row,) = study.estimate().rows
    run = rai.simulate(pairs(0.4)["gap 0.4"], rai.Vanilla(), delta=0.1, replications=12, seed=9)
    assert (row.pilot, row.pulls) == (12, run.pulls.sum())


def test_what_a_precision_and_an_error_rate_will_need(tmp_path: Path) -> None:
    """Close to what they do need; from what is stored where that is more."""
    for wanted in (
        {"precision": 0.02},
        {"until": "error rate"},
        {"precision": 0.05, "until": "error rate"},
    ):
        study = Study.grid(pairs(0.4), [rai.Vanilla()], [0.05], **wanted)
        (row,) = study.estimate().rows
        folder = tmp_path / "-".join(wanted)
        needed = study.run(folder).summary()["replications"].item()
        assert 0.5 < row.replications / needed < 2.0
        assert study.estimate(folder).replications == 0
    finer = Study.grid(pairs(0.4), [rai.Vanilla()], [0.05], precision=0.01)
    (row,) = finer.estimate(tmp_path / "precision").rows
    assert row.left < row.replications - 256
    assert "to a precision" in repr(finer)


def test_capped_replications_count_with_their_pulls(tmp_path: Path) -> None:
    """Nothing of a precision can be reached where none finishes: the first look is the end."""
    study = Study.grid(pairs(0.05), [rai.Vanilla()], [0.01], precision=0.1, max_pulls=40)
    (row,) = study.estimate().rows
    assert (row.replications, row.pulls, row.at_least) == (256, 256 * 40, False)
    study.run(tmp_path)
    assert study.estimate(tmp_path).replications == 0
    more = Study.grid(pairs(0.05), [rai.Vanilla()], [0.01], replications=300, max_pulls=40)
    assert more.estimate(tmp_path).pulls == 44 * 40


@dataclass(frozen=True)
class Guessing(Algorithm):
    """Names the best arm without a pull."""

    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Write what is named."""
        block.pulls[:] = block.rounds[:] = 0
        block.finished[:] = block.correct[:] = True
        block.representatives[:] = np.flatnonzero(setting.cluster_of == 0)[:1]


del ALGORITHMS["guessing"]  # no choice of the command line in other tests


def test_a_study_of_a_rule_without_a_pull(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It costs 256 replications of nothing, is run, shown and estimated anew."""
    monkeypatch.setitem(ALGORITHMS, "guessing", Guessing)
    study = Study.grid(pairs(0.4), [Guessing()], [0.1], precision=0.1)
    (row,) = study.estimate().rows
    assert (row.replications, row.pulls, row.at_least) == (256, 0, False)
    (found,) = study.run(tmp_path, progress=True).summary().iter_rows(named=True)
    assert (found["pulls_mean"], found["precision_reached"]) == (0.0, True)
    assert found["relative_half_width_95"] is None
    assert study.estimate(tmp_path).replications == 0
    more = Study.grid(pairs(0.4), [Guessing()], [0.1], replications=300)
    assert more.estimate(tmp_path).pulls == 0


def test_what_does_not_end_in_time_is_a_lower_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the fourth replication 1,000 pulls are known; the others took 10, 11 and 12."""
    monkeypatch.setitem(ALGORITHMS, "endless", Endless)
    monkeypatch.setattr("rai_sim.study.pilot._LOADING", 0.0)
    algorithms = [Endless(ends=3), Endless(ends=500)]
    study = Study.grid(pairs(0.4), algorithms, [0.1], replications=400)
    found = study.estimate(pilot_time=0.3)
    slow, quick = found.rows
    assert (slow.at_least, quick.at_least, found.at_least) == (True, False, True)
    assert (slow.pilot, slow.pulls) == (3, 400 * (10 + 11 + 12 + 1000) / 4)
    assert quick.pulls == sum(range(10, 410))
    assert "what is said of 1 task is a lower bound" in str(found)
    precise = Study.grid(pairs(0.4), [Endless(ends=0)], [0.1], precision=0.1)
    (row,) = precise.estimate(pilot_time="0.2s").rows
    assert (row.at_least, row.pilot, row.left, row.pulls) == (True, 0, 256, 256 * 1000.0)


@dataclass(frozen=True)
class Failing(Algorithm):
    """Cannot be run."""

    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Say why."""
        raise ValueError("no luck")


del ALGORITHMS["failing"]  # no choice of the command line in other tests


def test_a_task_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are estimated."""
    monkeypatch.setitem(ALGORITHMS, "failing", Failing)
    found = Study.grid(pairs(0.4), [Failing(), rai.Vanilla()], [0.1], replications=5).estimate()
    assert found.rows[0].flaw == "no luck"
    assert (found.rows[1].pilot, found.rows[1].flaw) == (5, None)
    assert "1 task will fail, the first is gap 0.4, Failing(), delta 0.1: no luck" in str(found)


def test_arguments() -> None:
    """Names, values and remedies."""
    for wrong in ({"pilot_time": "soon"}, {"pilot_time": 0}, {"n_jobs": 0}):
        with pytest.raises(ValueError, match=rf"^{next(iter(wrong))} is "):
            small(5).estimate(**wrong)
