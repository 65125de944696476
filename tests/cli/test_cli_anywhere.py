"""Every verb where a machine is poor: without a home, without a terminal or a stream, with a narrow
one, with ASCII alone, and with a reader that leaves.

What one asks for is done, or refused in one line; there is never a traceback, and files are UTF-8.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import ROOT

pytestmark = pytest.mark.slow

TWO = "--means 0.9,0.1 --clusters 1,1 --required 1,0"
#: One command of each verb, in an order in which each finds what it needs.
VERBS = {
    "run": f"run {TWO} --algorithm butterscotch --replications 20 --output run.csv",
    "bounds": f"bounds {TWO}",
    "certify": f"certify butterscotch {TWO} --delta 0.1 --replications 50",
    "trace": f"trace {TWO} --algorithm butterscotch --plot t.png",
    "study": "study two.toml --progress",
    "study --dry-run": "study two.toml --dry-run",
    "study --verify": "study two.toml --verify",
    "merge": "merge two.study -o merged.study",
    "export": "export two.toml -o e.csv",
    "plot": "plot two.toml -o figures",
    "report": "report two.toml -o r.html",
    "scaling": "scaling --help",
    "warmup": "warmup --help",
}
STUDY = """
algorithms = ["butterscotch"]
delta = [0.1, 0.01]
replications = 20
[[instances]]
name = "two δ → arms"
means = [0.9, 0.1]
problem = "best_arm"
"""
NO_HOME = dict.fromkeys(("HOME", "MPLCONFIGDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"))
#: What is changed in the environment (None: unset), and how the shell runs the command.
WHERE: dict[str, tuple[dict[str, str | None], str]] = {
    "no home": (dict(NO_HOME), "{}"),
    "a home that cannot be written": (NO_HOME | {"HOME": "/dev/null"}, "{}"),
    "40 columns": ({"COLUMNS": "40"}, "{}"),
    "ASCII": (
        {"LANG": "C", "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        "{}",
    ),
    "a reader that leaves": ({}, "set -o pipefail; {} | head -n 1"),
    "no terminal": ({}, "setsid -w {} < /dev/null"),
    "no standard input": ({}, "{} <&-"),
    "no standard output": ({}, "{} >&-"),
    "no error stream": ({}, "{} 2>&-"),
}


@pytest.mark.skipif(not os.path.exists("/bin/bash"), reason="there is no bash")
@pytest.mark.parametrize("where", WHERE)
def test_every_verb_works(where: str, tmp_path: Path) -> None:
    """Exit code 0 of each, and all files that it should write."""
    changes, shell = WHERE[where]
    environment = {**os.environ, "PYTHONPATH": ROOT} | changes
    known = {name: value for name, value in environment.items() if value is not None}
    (tmp_path / "two.toml").write_text(STUDY, encoding="utf-8")
    for verb, words in VERBS.items():
        command = shell.format(f"{sys.executable} -m rai_sim {words}")
        done = subprocess.run(
            ["/bin/bash", "-c", command],
            cwd=tmp_path,
            env=known,
            capture_output=True,
            check=False,
        )
        said = (done.stdout + done.stderr).decode(errors="replace")
        assert "Traceback" not in said, f"{verb}: {said}"
        assert done.returncode == 0, f"{verb}: {said}"
        assert "BrokenPipe" not in said, f"{verb}: {said}"
        if where == "ASCII":
            assert said.isascii(), verb
    for name in ("run.csv", "e.csv", "r.html"):
        (tmp_path / name).read_text(encoding="utf-8")
    assert "two δ → arms" in (tmp_path / "e.csv").read_text(encoding="utf-8")
    assert list((tmp_path / "figures").iterdir())
    assert (tmp_path / "merged.study").is_dir()
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")
