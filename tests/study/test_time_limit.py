"""A time limit: what is begun, what is given up, and that nothing is lost or changed."""

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from clock import Clock
from studies import CLOCK, Endless, pairs, simulated, values

import rai_sim as rai
from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.engine.blocks import Block, Setting
from rai_sim.study import Study, TimeLimitWarning
from rai_sim.study.time_limit import TimeLimit, what_is_left


@dataclass(frozen=True)
class Ticking(Algorithm):
    """Takes 10 + i pulls in replication i, in 0.03 s."""

    slow: bool = False

    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Let the clock go on."""
        n = len(block.pulls)
        CLOCK.now += 0.03 * n
        block.pulls[:] = 10 + np.arange(first, first + n)
        block.rounds[:] = 1
        block.finished[:] = block.correct[:] = True
        block.representatives[:] = 0


del ALGORITHMS["ticking"]  # no choice of the command line in other tests


def ticking(**options: Any) -> Study:
    """Return a study of two tasks."""
    return Study.grid(pairs(0.4), [Ticking(), Ticking(slow=True)], [0.1], **options)


def test_a_limit_that_there_is_none_of() -> None:
    """Is never up."""
    limit = TimeLimit(None, lambda: 1e300)
    assert (limit.left, limit.is_up) == (None, False)


@pytest.mark.landing
@pytest.mark.parametrize("options", [{"replications": 400}, {"precision": 0.1}], ids=str)
def test_a_study_stops_in_time_and_goes_on(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    """After the job that had begun then; what is left is said; in the end the store
    holds what an undisturbed run stores."""
    monkeypatch.setitem(ALGORITHMS, "ticking", Ticking)
    study = ticking(**options)
    whole = study.run(tmp_path / "whole")
    limit = clock.now / 2.5
    for _ in range(2):
        begun = clock.now
        with pytest.warns(TimeLimitWarning, match="the same study run into the same folder goes"):
            results = study.run(tmp_path / "cut", time_limit=limit)
        assert limit <= clock.now - begun < limit + 0.3
        assert results.runs()[-1]["status"] == "time limit"
        done, wanted = results.progress()
        assert results.cut_short is not None
        assert f" is up: {done:,} of {wanted:,} replications are in " in results.cut_short
    results = study.run(tmp_path / "cut", time_limit="1h")
    assert results.cut_short is None
    assert results.runs()[-1]["status"] == "finished"
    assert values(tmp_path / "cut") == values(tmp_path / "whole")
    assert results.summary().equals(whole.summary())


def test_what_is_left_in_words(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of tasks and of time; of time nothing where nothing is known."""
    monkeypatch.setitem(ALGORITHMS, "ticking", Ticking)
    with pytest.warns(TimeLimitWarning):
        results = ticking(replications=400).run(tmp_path, time_limit=9.0)
    words = what_is_left(7200.0, results, 5400.0)
    assert words.startswith("the time limit of 2 h is up: ")
    assert words.endswith(
        "not finished: 2 of 2 tasks, some 1 h 30 min of work as far as is known"
    ) or words.endswith("not finished: 1 of 2 tasks, some 1 h 30 min of work as far as is known")
    assert what_is_left(7200.0, results, math.nan).endswith("of 2 tasks")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_replication_that_takes_long_is_given_up(
    tmp_path: Path, n_jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third of one task would never end; those before it are stored, with their numbers."""
    monkeypatch.setitem(ALGORITHMS, "endless", Endless)
    study = Study.grid(pairs(0.4), [Endless(ends=50), Endless(ends=2)], [0.1], replications=3)
    began = time.monotonic()
    with pytest.warns(TimeLimitWarning, match=r"5 of 6 repl.*not finished: 1 of 2 tasks"):
        results = study.run(tmp_path, n_jobs=n_jobs, time_limit=0.7)
    assert 0.7 < time.monotonic() - began < 20.0
    assert results.unfinished() == [study.tasks[1]]
    assert results.result(study.tasks[0]).pulls.tolist() == [10, 11, 12]
    assert results.result(study.tasks[1]).pulls.tolist() == [10, 11]


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_a_kernel_is_ended_in_time(tmp_path: Path, backend: str) -> None:
    """Of a task whose replications take a second each (1e10 pulls, word by word), in this process
    and in others: seconds, not an hour; the ones that are stored are right."""
    near = rai.full_ranking(rai.Bernoulli([0.5 - 1e-4 * i for i in range(3)]))
    study = Study.grid({"near": near}, [rai.Vanilla()], [0.01], replications=2000, skip_error=0.0)
    simulated(Study(study.tasks, replications=1).tasks[0], 1)  # the kernel is there
    began = time.monotonic()
    with (
        joblib.parallel_config(backend),
        pytest.warns(TimeLimitWarning, match="not finished: 1 of 1 task"),
    ):
        results = study.run(tmp_path, n_jobs=2, time_limit="5s")
    assert time.monotonic() - began < 60.0
    done, wanted = results.progress()
    assert wanted == 2000
    if done:
        first = results.result(study.tasks[0])
        at = int(first.replication_index[0])
        run = study.tasks[0].experiment
        alone = rai.simulate(
            near,
            rai.Vanilla(),
            delta=run.delta,
            replications=1,
            first_replication=at,
            seed=0,
            skip_error=0.0,
        )
        assert alone.pulls[0] == first.pulls[0]


def test_a_limit_is_a_time(tmp_path: Path) -> None:
    """Else nothing is made."""
    for wrong in ("soon", 0, -1.0):
        with pytest.raises(
            ValueError, match=r"time_limit is .*; give seconds, or a text such as 90s"
        ):
            ticking().run(tmp_path / "none", time_limit=wrong)
    assert not (tmp_path / "none").exists()
