"""What is shown while something runs: estimates of studies on a clock of the test's own, lines in
logs, and what is compiled."""

import importlib
import io
import math
import re
import sys
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from command_line import Capture
from numpy.typing import NDArray

import rai_sim as rai
import rai_sim.simulation.parts as parts
import rai_sim.simulation.progress as shown
import rai_sim.study.job as job
import rai_sim.study.record as record
import rai_sim.study.run as running
from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.cli import main
from rai_sim.engine.blocks import Block, Setting
from rai_sim.simulation.compilation import compile_seconds
from rai_sim.study import Study


class Clock:
    """Seconds that pass only when replications are run."""

    def __init__(self) -> None:
        """Start at 0."""
        self.now = 0.0

    def __call__(self) -> float:
        """Tell the time."""
        return self.now


CLOCK = Clock()


@dataclass(frozen=True)
class Costly(Algorithm):
    """Takes a gamma number of pulls, whose variance depends on the number of arms, and a time that
    depends on them and on delta."""

    slow: bool = False

    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Take pulls of (arms, delta, index), and let the clock go on."""
        pulls, seconds = drawn(len(setting.cluster_of), setting.delta)
        rows = slice(first, first + len(block.pulls))
        block.pulls[:] = pulls[rows]
        CLOCK.now += (30.0 if self.slow else 1.0) * float(seconds[rows].sum())
        block.rounds[:] = 1
        block.finished[:] = block.correct[:] = True
        block.representatives[:] = np.flatnonzero(setting.cluster_of == 0)[
            : block.representatives.shape[1]
        ]


@cache
def drawn(n: int, delta: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the pulls and seconds of 50,000 replications."""
    rng = np.random.default_rng([n, int(1e6 * delta)])
    seconds = 2e-6 * n**2 * math.log(1.0 / delta) * rng.uniform(0.5, 1.5, 50_000)
    return 1 + rng.gamma(6.0 / n, 1e6, 50_000).astype(np.int64), seconds


class Recorder:
    """Takes the place of the bar."""

    shown = due = True

    def __init__(self, tasks: int, show: bool | None, workers: int) -> None:
        """Nothing is shown yet."""
        self.said: list[tuple[float, int, int, int, float]] = []
        RECORDERS.append(self)

    def show(
        self, done: int, total: int, tasks_done: int, seconds_left: float, error: float
    ) -> None:
        """Note the time and what is shown."""
        self.said.append((CLOCK.now, done, total, tasks_done, seconds_left))

    def close(self) -> None:
        """Do nothing."""


RECORDERS: list[Recorder] = []


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Run studies on the clock that Costly advances, with a bar that is recorded."""
    CLOCK.now = 0.0
    time = SimpleNamespace(perf_counter=CLOCK, monotonic=CLOCK)
    for module in (running, job, record, parts):
        monkeypatch.setattr(module, "time", time)
    monkeypatch.setattr(running, "Progress", Recorder)
    monkeypatch.setitem(ALGORITHMS, "costly", Costly)
    return CLOCK


def grid(precision: float | None = None, replications: int | None = None) -> Study:
    """Return a study of 12 tasks whose times differ by three powers of ten, and variances by five
    times."""
    instances = {
        f"{n} arms": rai.best_arm(rai.Bernoulli(np.linspace(0.9, 0.1, n))) for n in (2, 5, 10)
    }
    return Study.grid(
        instances,
        [Costly(), Costly(slow=True)],
        [0.1, 0.001],
        precision=precision,
        replications=replications,
    )


@pytest.mark.parametrize(
    "study",
    [grid(precision=0.05), grid(precision=0.03), grid(replications=400)],
    ids=["0.05", "0.03", "400"],
)
def test_estimates_are_near_the_truth_from_early_on(
    tmp_path: Path, clock: Clock, study: Study
) -> None:
    """From 5 % of the time on, the whole time and the number of replications are within a factor of
    two; after half of it, of 1.25."""
    study.run(tmp_path, progress=True)
    said, whole, (_, done, total, tasks_done, left) = (
        RECORDERS[-1].said,
        clock.now,
        RECORDERS[-1].said[-1],
    )
    assert (done, tasks_done, left) == (total, 12, 0.0)
    early = [one for one in said if 0.05 * whole <= one[0] < 0.5 * whole]
    late = [one for one in said if 0.5 * whole <= one[0]]
    assert len(early) > 10
    assert len(late) > 10
    for moments, factor in ((early, 2.0), (late, 1.25)):
        for now, _, replications, _, seconds in moments:
            assert 1.0 / factor < replications / total < factor, (now / whole, replications, total)
            assert 1.0 / factor < (now + seconds) / whole < factor, (now / whole, seconds, whole)
    if study.precision is not None:
        # the control: the first look, which was once taken for the whole, is not even half of it
        assert total > 2 * 12 * 256


def test_loading_a_kernel_is_not_taken_for_the_work(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first replication takes 100 s more, each of 4,000 others some hundredths of one: no time
    left is ever said to be of hours."""
    plain, calls = Costly.run_block, list[int]()

    def loading(*arguments: Any) -> None:
        if not calls:
            CLOCK.now += 100.0
        calls.append(1)
        plain(*arguments)

    monkeypatch.setattr(Costly, "run_block", loading)
    grid(precision=0.05).run(tmp_path, progress=True)
    lefts = [left for *_, left in RECORDERS[-1].said]
    assert sum(map(math.isnan, lefts)) < 5
    assert max(left for left in lefts if not math.isnan(left)) < 3.0 * (clock.now - 100.0)


def test_numbers_do_not_depend_on_what_is_shown(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shown, some replications of each task come first; the store has the same rows in the end."""
    one = grid(precision=0.1).run(tmp_path / "shown", progress=True)
    monkeypatch.setattr(Recorder, "shown", False)
    monkeypatch.setattr(Recorder, "due", False)
    other = grid(precision=0.1).run(tmp_path / "silent")
    rows = [results.rows().collect().sort("task", "replication") for results in (one, other)]
    assert rows[0].equals(rows[1])
    assert one.summary().equals(other.summary())


# Bars and lines
# --------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    """An error stream that is a terminal, or is not."""

    def __init__(self, terminal: bool) -> None:
        """Start empty."""
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        """Tell."""
        return self.terminal


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Let bars and lines take the test's seconds."""
    clock = Clock()
    monkeypatch.setattr(shown, "time", SimpleNamespace(monotonic=clock, time=clock))
    return clock


def test_a_log_has_a_line_every_thirty_seconds(
    monkeypatch: pytest.MonkeyPatch, seconds: Clock
) -> None:
    """Asked for: after 1, 2, 4, 8, 16, 32 s and from then on every 30 s, with what is done; and a
    last one."""
    log = Terminal(False)
    monkeypatch.setattr(sys, "stderr", log)
    with shown.Bar(4000, True, "LUCB(as_printed=False)") as bar:
        for _ in range(300):
            seconds.now += 1.0
            bar.update(10)
    lines = log.getvalue().splitlines()
    assert [re.findall(r", (\S+)/4\.00k replications", line)[0] for line in lines] == [
        "10.0",
        "20.0",
        "40.0",
        "80.0",
        "160",
        "320",
        "620",
        "920",
        "1.22k",
        "1.52k",
        "1.82k",
        "2.12k",
        "2.42k",
        "2.72k",
        "3.00k",
    ]
    assert all(line.startswith("rai-sim: LUCB(as_printed=False): ") for line in lines)
    assert lines[-1].startswith(
        "rai-sim: LUCB(as_printed=False): 75 %, 3.00k/4.00k replications in "
    )


def test_unasked_lines_come_late_and_on_the_command_line_alone(
    monkeypatch: pytest.MonkeyPatch, seconds: Clock
) -> None:
    """With None: nothing in the library; on the command line nothing for 30 s, then as above; on a
    terminal a bar that names what runs."""

    def written(terminal: bool, progress: bool | None, steps: int) -> str:
        stream = Terminal(terminal)
        monkeypatch.setattr(sys, "stderr", stream)
        with shown.Bar(1000, progress, "Vanilla(merging=True)") as bar:
            for _ in range(steps):
                seconds.now += 1.0
                bar.update(1)
        return stream.getvalue()

    assert (
        written(False, None, 100) == written(False, False, 100) == written(True, False, 100) == ""
    )
    assert "Vanilla(merging=True):  " in written(True, None, 3)
    with shown.command_line():
        assert written(False, None, 29) == written(False, False, 100) == ""
        assert written(False, None, 95).count("\n") == 4
    assert written(False, None, 100) == ""


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
