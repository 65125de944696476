"""Studies in processes that are killed, that write into one store at once, or that run for long."""

import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from command_line import TESTS
from studies import parts, values
from study_worker import study

from rai_sim.study import StoreWarning

PROGRAM = (sys.executable, str(TESTS / "study_worker.py"))


class Worker:
    """The program of study_worker.py."""

    def __init__(self) -> None:
        """Start it."""
        self.process = subprocess.Popen(
            PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def start(
        self,
        folder: Path,
        replications: int = 400,
        keep: str = "replications",
        patience: float = 0.0,
    ) -> int:
        """Start the study, wait until it is about to run, and return its process."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{folder} {replications} {keep} {patience}\n")
        self.process.stdin.flush()
        said = sorted(self._line() for _ in range(2))
        assert said[1] == "ready"
        return int(said[0].removeprefix("pid "))

    def end(self) -> bool:
        """Wait for the process's end and return whether the study was done."""
        said = self._line()
        return said == "done" and self._line() == "ended"

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()


@pytest.fixture
def workers() -> Iterator[list[Worker]]:
    """Start two programs."""
    both = [Worker(), Worker()]
    yield both
    for worker in both:
        worker.process.communicate()


def contents(folder: Path) -> dict[str, bytes]:
    """Return names and contents of the parts of rows."""
    return {path.name: path.read_bytes() for path in parts(folder)}


@pytest.mark.slow
def test_killed_at_fifty_moments(tmp_path: Path, workers: list[Worker]) -> None:
    """SIGKILL at random moments, of writing too: no finished part is lost or changed, no
    replication is doubled, the end is the same. A study that is done before it was killed often
    enough, as the machine has become faster, has the same end, and another one begins."""
    worker = workers[0]
    worker.start(tmp_path / "whole", 10_000, patience=0.01)
    began = time.perf_counter()
    assert worker.end()
    length = time.perf_counter() - began
    rng = np.random.default_rng(8)
    whole = values(tmp_path / "whole")
    folder, before, kills, advances = tmp_path / "killed", dict[str, bytes](), 0, 0
    while kills < 50:
        pid = worker.start(folder, 10_000, patience=0.01)
        time.sleep(rng.uniform(0.0, length / 50))  # fifty of these take half the time of the whole
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        if worker.end():
            assert values(folder) == whole
            folder, before = tmp_path / f"killed-after-{kills}", {}
            continue
        kills += 1
        now = contents(folder)
        assert all(now.get(name) == data for name, data in before.items())
        advances += len(now) > len(before)
        before = now
    assert advances > 20
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoreWarning)  # of files that were being written
        results = study(10_000).run(folder)
    assert values(folder) == whole
    assert results.summary().equals(study(10_000).results(tmp_path / "whole").summary())
    assert all(contents(folder).get(name) == data for name, data in before.items())


@pytest.mark.landing
@pytest.mark.parametrize(
    "keep", ["replications", pytest.param("aggregates", marks=pytest.mark.slow)]
)
def test_two_processes_into_one_store(tmp_path: Path, keep: str, workers: list[Worker]) -> None:
    """They divide the work, so that nothing is run twice; what is read is what one process alone
    would have written."""
    study(keep=keep).run(tmp_path / "alone")
    for worker in workers:
        worker.start(tmp_path / "shared", 400, keep, 0.01)
    ends = [worker.end() for worker in workers]
    assert all(ends)
    shared = study(keep=keep).results(tmp_path / "shared")
    assert shared.summary().equals(study(keep=keep).results(tmp_path / "alone").summary())
    assert shared.progress() == (9600, 9600)
    added = [run["replications_added"] for run in shared.runs()]
    assert sum(added) == 9600
    assert len(added) == 2
    assert not list((tmp_path / "shared").glob(".claim-*"))
    if keep == "replications":
        assert values(tmp_path / "shared") == values(tmp_path / "alone")
        assert shared.rows().select("task", "replication").collect().is_duplicated().sum() == 0


# The peak of the process's own memory; that of getrusage would start at its parent's and hide what
# lies below.
_MEMORY = """
import sys
import rai_sim as rai
def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) // 1000
def run(n):
    study = rai.Study.grid({"x": rai.table_problem(task=1)}, [rai.Butterscotch()], [0.1], replications=n, keep="aggregates")
    assert study.run(sys.argv[1]).progress() == (n, n)
    return peak()
print(run(3_000_000), run(8_000_000))
rai.simulate(rai.table_problem(task=1), rai.Butterscotch(), delta=0.1, replications=5_000_000, seed=0)
print(peak())
"""


@pytest.mark.skipif(
    not sys.platform.startswith("linux"),
    reason="only Linux tells the peak of a process's own memory",
)
@pytest.mark.slow
def test_aggregates_of_many_replications_need_bounded_memory(tmp_path: Path) -> None:
    """After three million replications, by when blocks are as large as they get, five million more in
    the same process: peak memory grows by less than 20 MB, where their rows need over 60 MB more.
    """
    found = subprocess.run(
        [sys.executable, "-c", _MEMORY, tmp_path], capture_output=True, text=True, check=True
    )
    few, many, rows = map(int, found.stdout.split())
    assert many - few < 20
    assert rows - many > 60  # the negative control
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 1_000_000


# What runs is not simulated but drawn, as it is the study's own memory and time that count.
_MANY = """
import sys, time
import numpy as np
import rai_sim as rai
from rai_sim.simulation.workers import block_for
from rai_sim.study.data import Rows
from rai_sim.study.run import StudyRun
folder, tasks, amount = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
rng = np.random.default_rng(0)
def wave(run):
    global started
    started = started or time.process_time()
    gaps = list(run._work.pending)
    for at in range(0, len(gaps), 500):
        rows = []
        for number, start, stop in gaps[at : at + 500]:
            task = run.study.tasks[number]
            block = block_for(task.experiment, stop - start)
            block.pulls[:] = rng.lognormal(9.0, 0.3, len(block.pulls))
            block.correct[:] = block.finished[:] = True
            rows.append(Rows([(task.key, start, stop)], block))
        run.data.write_rows(rows, {})
def study():
    gaps = np.linspace(0.1, 0.6, tasks // 4)
    problems = {f"gap {k}": rai.best_arm(rai.Bernoulli([0.5 + g / 2, 0.5 - g / 2])) for k, g in enumerate(gaps)}
    wanted = {"precision": amount} if amount < 1 else {"replications": int(amount)}
    return rai.Study.grid(problems, [rai.Vanilla(), rai.Butterscotch()], [0.1, 0.01], **wanted)
started = 0.0
if len(sys.argv) > 4:
    StudyRun._wave = wave
    results = study().run(folder)
else:
    wanted = study()
    began = time.process_time()
    results = wanted.run(folder)
    started = time.process_time() - began
assert results.unfinished() == [] and len(results.tasks) == tasks
if amount < 1:
    replications = results.summary()["replications"]
    assert replications.min() > 1000
with open("/proc/self/status") as status:
    print(next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) // 1000, started)
"""


def many(folder: Path, *words: str) -> tuple[int, float]:
    """Return the peak of memory in MB, and the seconds of processor time until a study runs; where
    all is there, until that is known."""
    found = subprocess.run(
        [sys.executable, "-c", _MANY, str(folder), *words],
        capture_output=True,
        text=True,
        check=True,
    )
    memory, seconds = found.stdout.split()
    return int(memory), float(seconds)


@pytest.mark.skipif(
    not sys.platform.startswith("linux"),
    reason="only Linux tells the peak of a process's own memory",
)
@pytest.mark.slow
def test_many_tasks_to_a_precision_need_little_memory(tmp_path: Path) -> None:
    """10,000 tasks of some 3,400 replications, while they are run and when they are opened: below
    1 GB."""
    assert many(tmp_path, "10000", "0.01", "run")[0] < 1000
    assert many(tmp_path, "10000", "0.01")[0] < 1000


@pytest.mark.skipif(
    not sys.platform.startswith("linux"),
    reason="only Linux tells the peak of a process's own memory",
)
@pytest.mark.slow
def test_a_hundred_thousand_tasks_start_and_end_soon(tmp_path: Path) -> None:
    """Imports included they run within 30 s; that nothing is left is known within 10 s."""
    assert many(tmp_path, "100000", "1", "run")[1] < 30.0
    assert many(tmp_path, "100000", "1")[1] < 10.0
