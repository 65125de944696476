"""Kernels of several algorithms, compiled side by side: what a run prints, and what becomes of a
helper that fails."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import rai_sim as rai
from rai_sim.simulation.beside import Helper, compiled_beside
from rai_sim.simulation.compilation import compile_seconds
from rai_sim.simulation.experiment import Experiment
from rai_sim.simulation.provenance import usable_cores

PROBLEM = rai.best_arm(rai.Bernoulli([0.9, 0.1]))
VANILLA = Experiment(PROBLEM, rai.Vanilla(), 0.1, 0, 1e-12, None)
BUTTERSCOTCH = replace(VANILLA, algorithm=rai.Butterscotch())
EXPERIMENTS = [VANILLA, replace(VANILLA, algorithm=rai.Vanilla(merging=False)), BUTTERSCOTCH]


@pytest.mark.slow
def test_a_first_run_compiles_in_two_processes(tmp_path: Path) -> None:
    """With an empty cache: the numbers are those of any run, and each kernel is compiled once and
    kept.

    Another package of this name in the current folder is not mistaken for ours.
    """
    (tmp_path / "rai_sim").mkdir()
    (tmp_path / "rai_sim" / "__init__.py").write_text("raise SystemExit(1)\n")
    words = ["-P", "-m", "rai_sim", "run", "--replications", "20", "--algorithm", "vanilla"]
    words += [
        "--algorithm",
        "butterscotch",
        "--means",
        "0.9,0.1",
        "--clusters",
        "1,1",
        "--required",
        "1,0",
    ]
    home = str(Path(rai.__file__).parents[1])
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": home}
    if usable_cores() < 2:
        pytest.skip("one core")
    printed = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, *words],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
            timeout=280,
        )
        assert "compiling Butterscotch for Bernoulli arms (once; kept" not in done.stderr
        rows = [line for line in done.stdout.splitlines() if line.startswith(("Vanilla", "Butter"))]
        printed.append([re.sub(r" +[\d.]+$", "", row) for row in rows])  # but for the seconds
    assert printed[0] == printed[1]
    assert len(printed[0]) == 2
    kept = [path.name for path in (tmp_path / "cache").rglob("*.nbc")]
    assert len([name for name in kept if name.startswith("loop._run_block")]) == 2
    # those of the tight lower bound, which the table shows
    others = [name.split("_0")[0] for name in kept if not name.startswith("loop._run_block")]
    assert len(set(others)) == len(others)
    assert all(name.startswith("best_response.") for name in others)


def test_who_is_compiled_for() -> None:
    """Each algorithm once, the last one first; the first one is this process's."""
    with compiled_beside(EXPERIMENTS) as helper:
        assert [one.algorithm for one in helper.experiments] == [rai.Butterscotch()]
        assert all(one.max_pulls == 1 for one in helper.experiments)
    with compiled_beside(EXPERIMENTS[:2]) as helper:
        assert helper.experiments == []


def test_nothing_is_started_where_all_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels that are compiled or on disk need no second process."""
    rai.simulate(PROBLEM, rai.Vanilla(), replications=2, seed=0)
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a process was started"))
    with compiled_beside(EXPERIMENTS) as helper:
        helper.wait(VANILLA)
        rai.simulate(PROBLEM, rai.Vanilla(), replications=2, seed=0)


def following(monkeypatch: pytest.MonkeyPatch, program: str) -> Helper:
    """Return a helper whose process runs a program in place of compiling."""
    start = subprocess.Popen

    def other(_words: list[str], **options: Any) -> subprocess.Popen[bytes]:
        return start(
            [sys.executable, "-c", f"import sys, time; sys.stdin.buffer.read(); {program}"],
            **options,
        )

    monkeypatch.setattr(subprocess, "Popen", other)
    helper = Helper([BUTTERSCOTCH])
    helper.start()
    return helper


def until(helper: Helper) -> None:
    """Wait until the process has said that it has begun."""
    for _ in range(1000):
        if helper._begun:
            return
        time.sleep(0.01)
    raise AssertionError("it never began")


def test_what_was_begun_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time counts as compilation's."""
    helper = following(
        monkeypatch,
        "print('begun 0', flush=True); time.sleep(0.5); print('done 0', flush=True); time.sleep(60)",
    )
    until(helper)
    before = compile_seconds()
    helper.wait(BUTTERSCOTCH)
    assert 0.1 < compile_seconds() - before < 30
    helper.wait(BUTTERSCOTCH)
    helper.stop()


@pytest.mark.parametrize("program", ["sys.exit(1)", "print('begun 0', flush=True); sys.exit(1)"])
def test_a_process_that_fails_keeps_nobody_waiting(
    program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it began, or in the middle."""
    helper = following(monkeypatch, program)
    helper._done[rai.Butterscotch].wait(60)
    helper.wait(BUTTERSCOTCH)
    helper.stop()
    assert helper._done[rai.Butterscotch].is_set()


def test_the_process_ends_with_what_it_was_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after Ctrl-C; `start` again starts no other."""
    helper = following(monkeypatch, "print('begun 0', flush=True); time.sleep(600)")
    first = helper._process
    helper.start()
    assert helper._process is first
    assert first is not None
    helper.stop()
    assert first.poll() is not None
