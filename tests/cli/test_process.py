"""The command line in a process of its own: interruption, pipes, start-up."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
from command_line import ROOT

PROGRAM = (sys.executable, "-m", "rai_sim")


def test_a_real_interrupt_ends_a_simulation_promptly() -> None:
    """SIGINT in the middle of a long simulation: what is finished is printed, exit code 130."""
    words = [
        "--table-task",
        "1",
        "--algorithm",
        "butterscotch",
        "--replications",
        "2e7",
        "--progress",
    ]
    with subprocess.Popen(
        [*PROGRAM, "run", *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        seen = b""
        # Compilation may come first; the bar moves when replications do.
        while not re.search(rb"[1-9][.\d]*[kM]?/20\.0M", seen):
            more = os.read(process.stderr.fileno(), 4096)
            assert more, seen.decode()
            seen += more
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"INTERRUPTED: 0 of 1 algorithms are complete, Butterscotch(merging=True) has" in out


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    """`rai-sim bounds ... | head` closes the pipe: no message, exit code 0."""
    np.savetxt(tmp_path / "means.txt", np.linspace(0.1, 0.9, 20_000))
    words = (
        f"bounds --means @{tmp_path}/means.txt --clusters 10000,10000 --required 1,0 --json".split()
    )
    with subprocess.Popen(
        [*PROGRAM, *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_start_up_loads_only_what_is_needed() -> None:
    """A fresh run loads neither frames, nor scipy.stats, nor plotting, nor joblib."""
    slow = ("polars", "scipy.stats", "matplotlib", "joblib")
    code = (
        "import sys; from rai_sim.cli import main\n"
        "main(['run', '--algorithm', 'butterscotch', '--replications', '2', '--no-progress'])\n"
        f"print([name for name in {slow} if name in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert found.stdout.splitlines()[-1] == "[]"
