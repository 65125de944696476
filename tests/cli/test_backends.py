"""The options that say where work is done; with a real Dask cluster of this machine."""

import sys
from pathlib import Path

import pytest
from clusters import DaskCluster
from command_line import Capture, document, printed, refused

from rai_sim.cli import backends
from rai_sim.cli.backends import Where
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
        ("--backend dask --scheduler somewhere://x", "--scheduler somewhere://x: no scheduler of"),
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


def test_processes_give_what_threads_give(file: Path, capsys: Capture, tmp_path: Path) -> None:
    """The numbers are the same, and the command that resumes says where to."""
    threads = document(capsys, f"study {file} --store {tmp_path / 'a'}")
    words = f"study {file} --store {tmp_path / 'b'} --backend multiprocessing --jobs 2"
    processes = document(capsys, words)
    assert processes["tasks"] == threads["tasks"]
    assert "--jobs 2 --backend multiprocessing" in processes["rerun"]


def test_a_dask_cluster(file: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without workers, with one, and gone."""
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
    monkeypatch.setattr(backends, "_PATIENCE", 1)
    said = refused(capsys, words)
    assert f"--scheduler {cluster.address}: no scheduler of Dask answers there" in said
    assert "start it by `dask scheduler`" in said
