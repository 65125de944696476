"""What is said on the two streams, whatever the verb."""

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from command_line import ROOT, Capture, refused, run

import rai_sim as rai
from rai_sim.cli import run as cli


def test_warnings_are_a_line(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of libraries and of the kernel cache: no place in the program, no line of source."""

    def simulate(*_: object, **__: object) -> rai.Result:
        warnings.warn("the cache is full; free space", RuntimeWarning, stacklevel=1)
        return rai.simulate(rai.table_problem(task=1), rai.Butterscotch(), replications=2, seed=0)

    monkeypatch.setattr(cli, "simulate", simulate)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        run("run --table-task 1 --algorithm butterscotch --replications 2")
    assert capsys.readouterr().err == "rai-sim: WARNING: the cache is full; free space\n"


def test_names_keep_to_their_line(tmp_path: Path, capsys: Capture) -> None:
    """In tables, plans, warnings and refusals nothing that a name holds steers the terminal."""
    file = tmp_path / "s.toml"
    file.write_text(
        'algorithms = ["butterscotch"]\nreplications = 5\n[[instances]]\n'
        'name = "\\u001b[31mred\\nline\\ttab"\nmeans = [0.9, 0.1]\nproblem = "best_arm"\n'
    )
    shown = r"\x1b[31mred\nline\ttab"
    for words in (f"study {file} --dry-run", f"study {file}"):
        run(words)
        out, err = capsys.readouterr()
        assert f"\n{shown} " in out
        assert "\x1b" not in out + err
    next((tmp_path / "s.study").glob("instances-*")).unlink()
    run(f"report {tmp_path}/s.study", expect=2)
    assert "\x1b" not in capsys.readouterr().err
    assert "\x1b" not in refused(capsys, f"run --algorithm '{chr(27)}[31mred'")


PROGRAM = (sys.executable, "-m", "rai_sim")


@pytest.mark.landing
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
