"""Compilation is told of and timed apart from the work, in results, studies and on the command
line."""

import importlib
import re
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from clock import Clock
from command_line import Capture

import rai_sim as rai
from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.cli import main
from rai_sim.simulation import compilation
from rai_sim.simulation.compilation import (
    SMALL,
    compile_seconds,
    compiled_for,
    waited_for,
    watched,
)
from rai_sim.simulation.experiment import Experiment
from rai_sim.study import Study

EXPERIMENT = Experiment(rai.best_arm(rai.Gaussian([0.9, 0.1])), rai.Vanilla(), 0.1, 0, 1e-12, None)

#: An algorithm with a kernel.
_MODULE = """
from dataclasses import dataclass
import numpy as np
from rai_sim.algorithms.base import Algorithm
from rai_sim.engine.jit import driver

@driver
def fill(first, pulls):
    for b in range(pulls.size):
        pulls[b] = 10 + (first + b) % 3

@dataclass(frozen=True)
class Compiled(Algorithm):
    def run_block(self, law, setting, first, block):
        fill(first, block.pulls)
        block.rounds[:], block.finished[:], block.correct[:], block.representatives[:] = 1, True, True, 0
"""


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Algorithm:
    """Return an algorithm whose kernel was never compiled before: its file is new."""
    (tmp_path / "compiled_kernel.py").write_text(_MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "compiled_kernel", raising=False)
    made: Algorithm = importlib.import_module("compiled_kernel").Compiled()
    monkeypatch.delitem(ALGORITHMS, "compiled")
    return made


@pytest.mark.parametrize("progress", [True, None])
def test_compilation_is_told_and_kept_out_of_seconds(
    compiled: Algorithm, progress: bool | None, capsys: Capture
) -> None:
    """What is compiled is said once, if progress is asked for, and the times stand apart; the
    second run has none."""
    problem = rai.best_arm(rai.Bernoulli([0.9, 0.1]))
    began = time.perf_counter()
    first = rai.simulate(problem, compiled, replications=20, seed=0, progress=progress)
    whole = time.perf_counter() - began
    again = rai.simulate(problem, compiled, replications=20, seed=0, first_replication=20)
    assert first.compile_seconds > 0.01
    assert 0.0 <= first.seconds < whole - first.compile_seconds + 1e-6
    assert again.compile_seconds == 0.0
    summary = (first + again).summary()
    assert (summary.seconds, summary.compile_seconds) == (
        first.seconds + again.seconds,
        first.compile_seconds,
    )
    assert f" s, and {first.compile_seconds:.3g} s compiling" in str(summary)
    assert "compiling" not in str(again.summary())
    said = capsys.readouterr().err.splitlines()
    if progress is None:
        assert said == []
        return
    assert said[0] == "rai-sim: compiling Compiled for Bernoulli arms (once; kept on disk) ..."
    assert re.fullmatch(
        r"rai-sim: compiled Compiled for Bernoulli arms \(once; kept on disk\) in \d+ s", said[1]
    )
    assert sum("compil" in line for line in said) == 2
    assert "20.0/20.0 replications" in said[-1]


def test_a_studys_record_has_compilation_apart(
    compiled: Algorithm, tmp_path: Path, capsys: Capture
) -> None:
    """Seconds of work, and of compilation, which is told."""
    study = Study.grid(
        [rai.best_arm(rai.Bernoulli([0.9, 0.1]))], [compiled], [0.1], replications=20
    )
    began = time.perf_counter()
    record = study.run(tmp_path / "store", progress=True).runs()[0]
    whole = time.perf_counter() - began
    assert record["compile_seconds"] > 0.01
    assert 0.0 <= record["seconds"] <= whole - record["compile_seconds"] + 2e-3
    assert (
        "rai-sim: compiling Compiled for Bernoulli arms (once; kept on disk) ..."
        in capsys.readouterr().err
    )


def test_the_command_line_tells_it_unasked(
    compiled: Algorithm, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Where the error stream is no terminal too; the table says how long it took, beside the column
    of seconds."""
    monkeypatch.setitem(ALGORITHMS, "compiled", type(compiled))
    assert (
        main(["run", "--table-task", "1", "--algorithm", "compiled", "--replications", "30"]) == 0
    )
    captured = capsys.readouterr()
    assert [line[:55] for line in captured.err.splitlines()] == [
        "rai-sim: compiling Compiled for Bernoulli arms (once; k",
        "rai-sim: compiled Compiled for Bernoulli arms (once; ke",
    ]
    assert re.search(r"; seconds: without \d+ s of compiling kernels\n", captured.out)


def test_compile_seconds_stand_still_while_nothing_is_compiled() -> None:
    """Running what is compiled adds nothing."""
    rai.simulate(rai.table_problem(1), rai.Butterscotch(), replications=5, seed=0)
    before = compile_seconds()
    assert (
        rai.simulate(
            rai.table_problem(1), rai.Butterscotch(), replications=500, seed=0, n_jobs=2
        ).compile_seconds
        == 0.0
    )
    assert compile_seconds() == before


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Let compilations take the test's seconds."""
    clock = Clock()
    monkeypatch.setattr(compilation, "time", SimpleNamespace(perf_counter=clock))
    return clock


def test_waiting_for_another_process_counts_while_it_lasts(seconds: Clock) -> None:
    """And after it, once: compilations within are part of it, and watchers hear of the whole
    alone, by its algorithm and law."""
    said: list[tuple[str, float | None]] = []
    before = compile_seconds()
    with watched(lambda what, taken: said.append((what, taken))), waited_for(EXPERIMENT):
        seconds.now += 3.0
        assert compile_seconds() == before + 3.0
        with waited_for(EXPERIMENT):
            seconds.now += 2.0
        assert compile_seconds() == before + 5.0
    seconds.now += 100.0
    assert compile_seconds() == before + 5.0
    words = "Vanilla for Gaussian arms (once, in another process; kept on disk)"
    assert said == [(words, None), (words, 5.0)]


def test_what_fails_is_counted_and_watchers_are_let_go(seconds: Clock) -> None:
    """An error within ends the wait, and no one is told of a later one."""
    said: list[float | None] = []
    before = compile_seconds()

    def fail() -> None:
        with watched(lambda _, taken: said.append(taken)), waited_for(EXPERIMENT):
            seconds.now += 4.0
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    with waited_for(EXPERIMENT):
        seconds.now += 1.0
    assert compile_seconds() == before + 5.0
    assert said == [None, 4.0]


def test_each_thread_has_its_own_words(seconds: Clock) -> None:
    """What another thread is about to run is not what this one compiles for."""
    said: list[str] = []
    other = replace(EXPERIMENT, algorithm=rai.LUCB())

    def run() -> None:
        with compiled_for(other):
            begun.set()
            ended.wait(10.0)

    begun, ended = threading.Event(), threading.Event()
    thread = threading.Thread(target=run)
    thread.start()
    with watched(lambda what, _: said.append(what)):
        assert begun.wait(10.0)
        with waited_for(EXPERIMENT):
            ended.set()
    thread.join()
    assert [words.split(" (")[0] for words in said] == ["Vanilla for Gaussian arms"] * 2


def test_what_is_compiled_after_a_run_is_not_for_it() -> None:
    """What a thread compiles for an experiment ends with it, also if that fails."""
    said: list[str] = []

    def fail() -> None:
        with compiled_for(replace(EXPERIMENT, algorithm=rai.LUCB())):
            raise KeyError

    with watched(lambda what, _: said.append(what.split(" (")[0])):
        with pytest.raises(KeyError):
            fail()
        with compiled_for(EXPERIMENT), compiled_for(EXPERIMENT):
            pass
        compilation._COMPILATIONS.begin("once")
        compilation._COMPILATIONS.end("once")
    assert said == [SMALL, SMALL]
