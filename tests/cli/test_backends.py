"""The options that say where work is done; with a real Dask cluster of this machine."""

import json
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from clusters import DaskCluster, environment
from command_line import Capture, document, printed, refused

from rai_sim.cli import backends
from rai_sim.cli.backends import Where
from rai_sim.study.job import Done
from rai_sim.study.run import StudyRun
from rai_sim.support.errors import BadInput

TEXT = """
algorithms = ["vanilla"]
delta = [0.1]
replications = 30
[[instances]]
name = "table"
table_task = [1, 2]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a study's file."""
    path = tmp_path / "table.toml"
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--backend dsak", "--backend dsak is none; did you mean dask?"),
        ("--backend dask", "--backend dask needs --scheduler, the address that `dask scheduler`"),
        (
            "--scheduler tcp://127.0.0.1:1",
            "--scheduler tcp://127.0.0.1:1 is of Dask, but --backend is threads; give --backend dask",
        ),
        (
            "--backend ray --scheduler tcp://127.0.0.1:1",
            "--scheduler tcp://127.0.0.1:1 is of Dask, but --backend is ray",
        ),
        (
            "--address auto",
            "--address auto is of Ray, but --backend is threads; give --backend ray",
        ),
        (
            "--backend dask --scheduler tcp://127.0.0.1:1 --jobs 2",
            "--jobs 2 has no meaning with --backend dask, which uses all workers",
        ),
        pytest.param(
            "--backend dask --scheduler somewhere://x",
            "--scheduler somewhere://x: no scheduler of",
            marks=pytest.mark.landing,
        ),
    ],
)
def test_what_does_not_go_together_is_refused(
    file: Path, capsys: Capture, words: str, said: str
) -> None:
    """Before anything is run."""
    assert said in refused(capsys, f"study {file} {words}")
    assert not file.with_suffix(".study").exists()


@pytest.mark.parametrize(("name", "module"), [("dask", "distributed"), ("ray", "ray")])
def test_a_missing_extra_is_named(
    file: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, name: str, module: str
) -> None:
    """With the command that installs it."""
    monkeypatch.setitem(sys.modules, module, None)
    more = "--scheduler tcp://127.0.0.1:1" if name == "dask" else ""
    said = refused(capsys, f"study {file} --backend {name} {more}")
    assert f"--backend {name} needs {module}, which is not installed" in said
    assert f"pip install 'rai_sim[{name}]'" in said


def test_how_many_workers_are_meant() -> None:
    """One thread, and all there are of everything else, unless it is said."""
    assert Where("threads", None, None).check(None) == 1
    assert Where("threads", None, None).check(2) == 2
    assert Where("loky", None, None).check(None) == -1
    assert Where("ray", None, "auto").check(3) == 3
    assert Where("dask", "tcp://127.0.0.1:1", None).check(None) == -1
    with pytest.raises(BadInput, match="choose one of threads, loky, multiprocessing, dask, ray"):
        Where("cluster", None, None).check(None)


@pytest.mark.landing
def test_processes_give_what_threads_give(file: Path, capsys: Capture, tmp_path: Path) -> None:
    """The numbers are the same, and the command that resumes says where to."""
    threads = document(capsys, f"study {file} --store {tmp_path / 'a'}")
    words = f"study {file} --store {tmp_path / 'b'} --backend multiprocessing --jobs 2"
    processes = document(capsys, words)
    assert processes["tasks"] == threads["tasks"]
    assert "--jobs 2 --backend multiprocessing" in processes["rerun"]


@pytest.mark.slow
def test_a_dask_cluster(file: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without workers, with one, lost in the middle, and gone."""
    pytest.importorskip("distributed", reason="Dask is an extra: pip install 'rai_sim[dask]'")
    expected = document(capsys, f"study {file} --store {file.with_name('expected')}")
    with DaskCluster(0) as cluster:
        words = f"study {file} --backend dask --scheduler {cluster.address}"
        with monkeypatch.context() as hasty:
            hasty.setattr(backends, "_PATIENCE", 1)
            said = refused(capsys, words)
        assert f"--scheduler {cluster.address} has no workers; start some by `dask worker" in said
        cluster.add_worker()
        monkeypatch.setattr(backends, "_PATIENCE", 60)
        found = document(capsys, words)
        assert found["tasks"] == expected["tasks"]
        assert f"--backend dask --scheduler {cluster.address}" in found["rerun"]
        assert "60 stored replications were run again: all are the same" in printed(
            capsys, f"{words} --verify"
        )
        take_in = StudyRun._take_in

        def struck(run: StudyRun, done: Done) -> None:
            take_in(run, done)
            cluster.scheduler.kill()

        monkeypatch.setattr(StudyRun, "_take_in", struck)
        said = refused(capsys, f"{words} --replications 100000")
        assert f"Dask's scheduler at {cluster.address} is lost; " in said
        assert "What was finished is stored" in said
    monkeypatch.setattr(backends, "_PATIENCE", 1)
    said = refused(capsys, words)
    assert f"--scheduler {cluster.address}: no scheduler of Dask answers there" in said
    assert "start it by `dask scheduler`" in said


@pytest.mark.landing
@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is an extra: pip install 'rai_sim[ray]'")
def test_a_ray_cluster_that_is_not_there(file: Path, capsys: Capture) -> None:
    """Is refused at once."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        said = refused(capsys, f"study {file} --backend ray --address {address}")
    assert f"--address {address}: no cluster of Ray answers there" in said
    assert "start it by `ray start --head`" in said


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is an extra: pip install 'rai_sim[ray]'")
def test_a_ray_of_this_machine(file: Path, capsys: Capture) -> None:
    """Started for the run, in a process of its own, for it warns of much; on the loopback alone."""
    expected = document(capsys, f"study {file} --store {file.with_name('expected')}")
    words = ["study", str(file), "--backend", "ray", "--jobs", "2", "--json"]
    found = subprocess.run(
        [sys.executable, "-m", "rai_sim", *words],
        env=environment() | {"RAY_ADDRESS": ""},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["tasks"] == expected["tasks"]
