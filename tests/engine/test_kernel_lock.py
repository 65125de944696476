"""Of processes that need one kernel at once, one compiles."""

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tiny_kernels import begin, files

from rai_sim.engine.kernel_lock import alone

#: Loads the module and uses both kernels, when told; prints how many were found on disk.
_USE = """
import sys, time
from pathlib import Path
from tiny_kernels import RIGHT, begin, fresh, values
from numba.core.compiler import Compiler
from rai_sim.engine import linking

slow = linking._LowerWhole.run_pass
def slowly(self, state):
    time.sleep(1.0)
    return slow(self, state)
linking._LowerWhole.run_pass = slowly

folder = Path(sys.argv[1])
begin(folder)
module = fresh(folder)
print("ready", flush=True)
sys.stdin.readline()
found, hits = values(module)
assert found == RIGHT
print(hits, flush=True)
"""
_HOLD = """
import sys, time
from pathlib import Path
from rai_sim.engine.kernel_lock import alone
with alone(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


@contextmanager
def program(code: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """Run a program beside this one until the end of the context."""
    here = str(Path(__file__).parent)
    for folder in Path(__file__).parents:  # the tests' helpers lie at the top of the tests
        if (folder / "tiny_kernels.py").exists():
            here = str(folder)
    package = str(Path(sys.modules["rai_sim"].__file__ or "").parent.parent)
    path = os.pathsep.join([here, package, os.environ.get("PYTHONPATH", "")])
    running = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=dict(os.environ, PYTHONPATH=path),
    )
    try:
        yield running
    finally:
        running.kill()
        running.communicate()


def line(running: subprocess.Popen[str]) -> str:
    """Return the next line that a program prints."""
    assert running.stdout is not None
    return running.stdout.readline().strip()


def go(running: subprocess.Popen[str]) -> None:
    """Tell a program to go on."""
    assert running.stdin is not None
    running.stdin.write("\n")
    running.stdin.flush()


@pytest.mark.landing
def test_two_processes_compile_each_kernel_once(tmp_path: Path) -> None:
    """Of four uses of two kernels two compile, and two find what the other process has compiled."""
    begin(tmp_path)
    with program(_USE, tmp_path) as one, program(_USE, tmp_path) as other:
        assert line(one) == line(other) == "ready"
        go(one)
        go(other)
        found = int(line(one)) + int(line(other))
    assert found == 2
    assert len(files(tmp_path)) == 2
    assert not list(tmp_path.rglob("*.lock"))


@pytest.mark.landing
def test_a_process_that_is_killed_gives_up_its_lock(tmp_path: Path) -> None:
    """Who waits goes on."""
    with program(_HOLD, tmp_path / "kernel") as holder:
        assert line(holder) == "held"
        waits: list[float] = []

        @contextmanager
        def waiting() -> Iterator[None]:
            holder.kill()
            began = time.monotonic()
            yield
            waits.append(time.monotonic() - began)

        with alone(tmp_path / "kernel", waiting, patience=60.0):
            assert len(waits) == 1
            assert waits[0] < 30.0


@pytest.mark.landing
def test_nobody_waits_for_ever(tmp_path: Path) -> None:
    """One that holds the lock and does not finish is waited for as long as is said."""
    with program(_HOLD, tmp_path / "kernel") as holder:
        assert line(holder) == "held"
        began = time.monotonic()
        with alone(tmp_path / "kernel", patience=0.3):
            assert 0.3 <= time.monotonic() - began < 30.0
        assert holder.poll() is None


def test_without_a_folder_or_locks_nobody_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everyone compiles, as without locks."""
    ran = []
    with alone(tmp_path / "no" / "such" / "folder"):
        ran.append("folder")

    def refuse(*_: object) -> None:
        raise OSError("no locks here")

    monkeypatch.setattr(fcntl, "lockf", refuse)
    with alone(tmp_path / "kernel", patience=60.0):
        ran.append("locks")
    assert ran == ["folder", "locks"]
    assert not list(tmp_path.iterdir())


@pytest.mark.landing
def test_errors_pass_and_the_lock_is_given_up(tmp_path: Path) -> None:
    """The next process gets it at once."""
    with pytest.raises(ZeroDivisionError), alone(tmp_path / "kernel"):
        raise ZeroDivisionError
    with program(_HOLD, tmp_path / "kernel") as holder:
        assert line(holder) == "held"
