"""Studies on clusters: real ones, of processes on this machine's loopback. The same numbers as
threads give, whoever is killed."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import joblib
import pytest
from clusters import DaskCluster, environment
from studies import for_clusters as study
from studies import values

import rai_sim as rai
from rai_sim.simulation.pools import WorkersLost
from rai_sim.study import StudyResults
from rai_sim.study import run as running
from rai_sim.study.job import Done


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return what threads make of it."""
    folder = tmp_path_factory.mktemp("threads")
    study().run(folder, n_jobs=2)
    return folder


@pytest.fixture(scope="module")
def cluster() -> Iterator[DaskCluster]:
    """A cluster of two workers, which start while threads make what is expected."""
    pytest.importorskip("distributed", reason="Dask is an extra: pip install 'rai_sim[dask]'")
    with DaskCluster(2) as started:
        yield started


@contextmanager
def on_dask(cluster: DaskCluster) -> Iterator[None]:
    """Have joblib use a cluster that has two workers."""
    from distributed import Client

    with Client(cluster.address, set_as_default=False) as client:
        while sum(worker.poll() is None for worker in cluster.workers) < 2:
            cluster.add_worker()
        client.wait_for_workers(2, timeout=60)
        with joblib.parallel_config("dask", client=client):
            yield


def after(
    monkeypatch: pytest.MonkeyPatch, jobs: int, strike: Callable[[], object]
) -> dict[str, int]:
    """Cut a study into jobs of 20 ms and let something happen when so many have come back; return
    where the replications that have come back are counted."""
    monkeypatch.setattr("rai_sim.study.job.JOB_SECONDS", 0.02)
    take_in, seen = running.StudyRun._take_in, {"jobs": 0, "replications": 0}

    def counted(run: running.StudyRun, done: Done) -> None:
        take_in(run, done)
        seen["jobs"] += 1
        seen["replications"] += sum(outcome.reached - outcome.start for outcome in done.outcomes)
        if seen["jobs"] == jobs:
            strike()

    monkeypatch.setattr(running.StudyRun, "_take_in", counted)
    return seen


def check_complete(results: StudyResults, folder: Path, expected: Path) -> None:
    """Every replication is stored once, with the numbers that threads give."""
    assert values(folder) == values(expected)
    assert results.summary().equals(study().results(expected).summary())


@pytest.mark.landing
def test_dask_gives_what_threads_give(
    tmp_path: Path, expected: Path, cluster: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the bit, of studies and simulations, which are made in the workers."""
    seen = after(monkeypatch, 10**9, lambda: None)
    with on_dask(cluster):
        results = study().run(tmp_path, n_jobs=-1)
        assert results.runs()[-1]["workers"] == 2
        found = rai.simulate(
            rai.table_problem(task=2), rai.Vanilla(), replications=3000, seed=0, n_jobs=-1
        )
    check_complete(results, tmp_path, expected)
    assert seen["replications"] == 6000
    assert seen["jobs"] >= 6
    assert found == study().results(expected).result(study().tasks[1])


@pytest.mark.landing
def test_a_worker_is_killed(
    tmp_path: Path, expected: Path, cluster: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the middle: what it had is run by the other, and nothing counts twice."""
    victim: list[int] = []

    def strike() -> None:
        alive = next(worker for worker in cluster.workers if worker.poll() is None)
        alive.kill()
        victim.append(alive.wait())

    with on_dask(cluster):
        seen = after(monkeypatch, 4, strike)
        results = study().run(tmp_path, n_jobs=-1)
    assert victim == [-9]
    check_complete(results, tmp_path, expected)
    assert seen["replications"] == results.runs()[-1]["replications_added"] == 6000


@pytest.mark.slow
def test_the_scheduler_is_killed(
    tmp_path: Path, expected: Path, cluster: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says what to do, what had come back is stored, and the study goes on from there on
    threads."""
    with on_dask(cluster):
        seen = after(monkeypatch, 4, cluster.scheduler.kill)
        began = time.monotonic()
        with pytest.raises(
            WorkersLost,
            match=rf"Dask's scheduler at {cluster.address} is lost; .*start it and its workers again"
            r".* What was finished is stored",
        ):
            study().run(tmp_path, n_jobs=-1)
        assert time.monotonic() - began < 30.0
    stored = study().results(tmp_path)
    assert stored.progress() == (seen["replications"], 6000)
    assert 0 < seen["replications"] < 6000
    assert stored.runs()[-1]["status"] == "failed"
    resumed = study().run(tmp_path, n_jobs=2)
    check_complete(resumed, tmp_path, expected)
    assert resumed.runs()[-1]["replications_added"] == 6000 - seen["replications"]


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is an extra: pip install 'rai_sim[ray]'")
def test_ray_gives_what_threads_give(tmp_path: Path, expected: Path) -> None:
    """To the bit, of studies and simulations, also where a worker is killed in the middle."""
    program = Path(__file__).parents[1] / "ray_study.py"
    # by this Ray keeps to the loopback, as it does on systems without clusters
    loopback = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
    found = subprocess.run(
        [sys.executable, str(program), str(expected), str(tmp_path / "ray")],
        env=environment() | loopback,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.splitlines()[-1].startswith("identical")
