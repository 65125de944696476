"""Workers in processes of this machine: real ones, that are killed or sent Ctrl-C. Clusters are in
tests/study/test_run_clusters.py."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Future
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import joblib
import pytest
from clusters import environment
from command_line import ROOT

import rai_sim as rai
from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.engine.blocks import Block, Setting
from rai_sim.simulation.parcels import Answer, outcome_of, pack
from rai_sim.simulation.pools import (
    DaskPool,
    LokyPool,
    ProcessPool,
    WorkersLost,
    count_workers,
    engine,
    open_pool,
    trouble_of,
    unguarded_program,
)

PROBLEM = rai.table_problem(task=1)
#: Backends whose workers are processes of this machine.
LOCAL = ("loky", "multiprocessing")


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hand every block to the workers."""
    monkeypatch.setattr(import_module("rai_sim.simulation.simulate"), "_WORTH_WORKERS", -1.0)


@pytest.fixture
def registries() -> Iterator[None]:
    """Forget afterwards the algorithms that a test has defined."""
    before = dict(ALGORITHMS)
    yield
    ALGORITHMS.clear()
    ALGORITHMS.update(before)


def active(name: str) -> Any:
    """Return joblib's backend of a name."""
    with joblib.parallel_config(name):
        return joblib.parallel.get_active_backend()[0]


def test_engines_are_told_apart() -> None:
    """Ray's adapter derives from multiprocessing's; of others only joblib knows."""
    assert [engine(active(name)) for name in LOCAL] == list(LOCAL)
    ray = type("RayBackend", (type(active("multiprocessing")),), {})
    ray.__module__ = "ray.util.joblib.ray_backend"
    assert engine(ray()) == "ray"
    dask = type("DaskDistributedBackend", (), {"__module__": "joblib._dask"})
    assert engine(dask()) == "dask"
    assert engine(active("threading")) == engine(None) == "other"
    assert open_pool(active("threading"), 2) is None


@pytest.mark.parametrize("name", LOCAL)
def test_how_many_workers_processes_are(name: str) -> None:
    """What is asked for, or what joblib is configured for."""
    with joblib.parallel_config(name, n_jobs=3):
        backend = joblib.parallel.get_active_backend()[0]
        assert [count_workers(backend, n) for n in (1, 2, None)] == [1, 2, 3]
        assert count_workers(backend, -1) == joblib.cpu_count()


def test_trouble_is_what_the_engine_has() -> None:
    """A future without an answer."""
    cancelled, failed, fine = Future[Answer](), Future[Answer](), Future[Answer]()
    cancelled.cancel()
    failed.set_exception(BrokenExecutor("gone"))
    fine.set_result(Answer("worker", 0.0, b""))
    assert isinstance(trouble_of(cancelled), CancelledError)
    assert isinstance(trouble_of(failed), BrokenExecutor)
    assert trouble_of(fine) is None


@pytest.mark.landing
@pytest.mark.usefixtures("hasty", "registries")
@pytest.mark.parametrize("name", [pytest.param("loky", marks=pytest.mark.slow), "multiprocessing"])
def test_a_killed_process_costs_nothing(name: str, tmp_path: Path) -> None:
    """Its blocks are run by others: the same arrays. Of studies see tests of clusters."""
    lot = tmp_path / "lot"

    @dataclass(frozen=True)
    class Deadly(Algorithm):
        """Ends its process when it runs replication 30, the first time."""

        def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
            if first <= 30 < first + len(block.pulls) and lot.exists():
                lot.unlink()
                os.kill(os.getpid(), signal.SIGKILL)
            rai.Vanilla().run_block(law, setting, first, block)

    wanted = rai.simulate(PROBLEM, rai.Vanilla(), replications=60, seed=1)
    with joblib.parallel_config(name, n_jobs=2):
        lot.touch()
        found = rai.simulate(PROBLEM, Deadly(), replications=60, seed=1, n_jobs=None, block_size=4)
        assert not lot.exists()
    assert found.pulls.tolist() == wanted.pulls.tolist()
    assert found.representatives.tolist() == wanted.representatives.tolist()


def test_a_broken_pool_is_started_once() -> None:
    """Whoever of its jobs is sent again."""
    pool = ProcessPool(2)
    try:
        with pytest.raises(BrokenExecutor):
            pool.submit(pack(_killed, 0)).result(60.0)
        for _ in range(3):
            pool.renew(BrokenExecutor())
        first = pool.submit(pack(_process, 0))
        executor = pool._executor
        pool.renew(BrokenExecutor())
        again = [first, *(pool.submit(pack(_process, 0)) for _ in range(5))]
        assert os.getpid() not in {outcome_of(future.result(60.0)) for future in again}
        assert pool._executor is executor
    finally:
        pool.finish([])


def _killed(job: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _process(job: object) -> int:
    return os.getpid()


@pytest.mark.parametrize("start", [pytest.param(LokyPool, marks=pytest.mark.slow), ProcessPool])
def test_processes_leave_ctrl_c_to_others(start: Callable[[int], LokyPool | ProcessPool]) -> None:
    """A terminal sends it to all: one that waits for work stays, and one that works goes on."""
    pool = start(2)
    try:
        running = [pool.submit(pack(_interrupted, 0)) for _ in range(4)]
        assert [outcome_of(future.result(60.0)) for future in running] == ["still here"] * 4
    finally:
        pool.finish(running)


def _interrupted(job: object) -> str:
    os.kill(os.getpid(), signal.SIGINT)
    return "still here"


#: Simulates, and then studies, in blocks of half a second a replication, on loky's processes; each
#: replication that is finished is noted in a file. Prints "go" when the first is done and what was
#: kept after Ctrl-C.
_INTERRUPTED = """
import sys, time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
import joblib
import rai_sim as rai
from rai_sim.algorithms.base import Algorithm

folder = Path(sys.argv[1])

@dataclass(frozen=True)
class Slow(Algorithm):
    where: str = ""

    def run_block(self, law, setting, first, block):
        for row in range(len(block.pulls)):
            time.sleep(0.5)
            block.pulls[row], block.finished[row] = 1, True
            with open(folder / self.where, "a") as file:
                file.write(f"{first + row}\\n")

if __name__ == "__main__":
    problem = rai.table_problem()
    with joblib.parallel_config("loky", n_jobs=2):
        try:
            rai.simulate(problem, Slow("a"), replications=200, seed=0, n_jobs=None, block_size=1)
        except rai.SimulationInterrupted as error:
            kept = [at for first, stop in error.result.ranges for at in range(first, stop)]
            print(*kept, flush=True)
        study = rai.Study.grid({"x": problem}, [Slow("b")], [0.01], replications=200)
        try:
            study.run(folder / "store", n_jobs=None)
        except rai.StudyInterrupted as error:
            kept = error.results.rows().collect()["replication"].to_list()
            print(*kept, flush=True)
"""


@pytest.mark.slow
def test_what_processes_had_finished_at_ctrl_c_is_kept(tmp_path: Path) -> None:
    """Sent to all processes, as a terminal does: every replication that was finished is in the
    result, or stored, and those that had begun are finished first."""
    program = tmp_path / "program.py"
    program.write_text(_INTERRUPTED)
    with subprocess.Popen(
        [sys.executable, str(program), str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        try:
            for name in "ab":
                _wait_for(tmp_path / name, 6, process)
                os.killpg(process.pid, signal.SIGINT)
                kept = sorted(map(int, process.stdout.readline().split()))
                finished = sorted(map(int, (tmp_path / name).read_text().split()))
                assert kept == finished, name
                assert 6 <= len(kept) < 20
            assert process.wait(30.0) == 0
            assert process.stderr is not None
            assert process.stderr.read() == ""
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def _wait_for(file: Path, lines: int, process: subprocess.Popen[str]) -> None:
    """Wait until a file has so many lines."""
    until = time.monotonic() + 60.0
    while not file.exists() or file.read_text().count("\n") < lines:
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_lost_scheduler_is_named() -> None:
    """As soon as its client knows; nothing is sent to it any more."""
    client = SimpleNamespace(
        status="running",
        scheduler=SimpleNamespace(address="tcp://10.0.0.1:8786"),
        get_executor=lambda pure: SimpleNamespace(submit=lambda *call, **options: options),
    )
    pool = DaskPool(4, client, {"priority": 3})
    parcel = pack(len, [1])
    assert pool.submit(parcel) == {"priority": 3}  # type: ignore[comparison-overlap]  # a stand-in
    pool.renew(CancelledError())
    client.status = "connecting"
    for lost in (lambda: pool.renew(CancelledError()), lambda: pool.submit(parcel)):
        with pytest.raises(WorkersLost, match=r"tcp://10\.0\.0\.1:8786 is lost; .*start it"):
            lost()


def test_workers_that_come_later_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Now and then, and not of a cluster that is lost."""
    monkeypatch.setattr("rai_sim.simulation.pools._LOOK_SECONDS", 0.0)
    there = {"a": 2, "b": 1}
    client = SimpleNamespace(
        status="running",
        scheduler=SimpleNamespace(address="tcp://10.0.0.1:8786"),
        get_executor=lambda pure: None,
        ncores=lambda: there,
    )
    pool = DaskPool(1, client, {})
    pool.look()
    assert pool.workers == 3
    there.clear()
    pool.look()
    assert pool.workers == 1
    there["c"], client.status = 7, "connecting"
    pool.look()
    assert pool.workers == 1
    monkeypatch.setattr("rai_sim.simulation.pools._LOOK_SECONDS", 1000.0)
    client.status = "running"
    pool.look()
    assert pool.workers == 1


# Programs that worker processes import
# --------------------------------------------------------------------------------------------------


def test_a_program_without_a_guard_is_told_from_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its text; a console has none, and what cannot be read is not blamed."""
    file, main = tmp_path / "mine.py", ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)
    assert unguarded_program() is None
    main.__file__ = str(file)
    assert unguarded_program() is None
    file.write_text("import rai_sim")
    assert unguarded_program() == str(file)
    file.write_text("if __name__ == '__main__':\n    pass")
    assert unguarded_program() is None


_UNGUARDED = """
import joblib
import rai_sim as rai

print("imported", flush=True)
with joblib.parallel_config("multiprocessing"):
    rai.simulate(
        rai.best_arm(rai.Bernoulli([0.9, 0.1])), rai.Butterscotch(), replications=2000, n_jobs=2, block_size=10
    )
"""


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_program_without_a_guard_starts_no_more_of_itself(method: str, tmp_path: Path) -> None:
    """It ends, with an error that says what to write; before, its workers waited for ever."""
    (tmp_path / "mine.py").write_text(_UNGUARDED)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "mine.py")],
        env=os.environ | {"JOBLIB_START_METHOD": method, "PYTHONPATH": ROOT},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert "mine.py ended before they did anything: it starts worker processes" in last
    assert "put what it runs under `if __name__ == '__main__':`" in last
    assert done.stdout.count("imported") <= 4
