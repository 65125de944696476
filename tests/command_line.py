"""What tests of the command line share."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import rai_sim
from rai_sim.cli import main

Capture = pytest.CaptureFixture[str]
#: Where `python -m rai_sim` finds the package, installed or not.
ROOT = str(Path(rai_sim.__file__).parents[1])
#: Where tests keep what they share, which programs that they start import or are.
TESTS = Path(__file__).parent


def run(words: str, expect: int = 0) -> None:
    """Run a command line and check its exit code."""
    assert main(shlex.split(words)) == expect


#: What a slow machine says unasked: that kernels are compiled, and after half a minute how far it is.
_SLOW = re.compile(
    r"rai-sim: (?:compil(?:ing|ed) (?:kernels|\w+ for \w+ arms) "
    r"\(once(?:, in another process)?; kept on disk\) .*"
    r"|.*\d %, \S+/\S+ replications in .*)\n"
)


def printed(capsys: Capture, words: str, expect: int = 0) -> str:
    """Run a command line and return what it prints; nothing may go to the error stream but what a
    slow machine says."""
    run(words, expect)
    captured = capsys.readouterr()
    assert _SLOW.sub("", captured.err) == ""
    return captured.out


def document(capsys: Capture, words: str, expect: int = 0) -> dict[str, Any]:
    """Run a command with --json and return what it prints; NaN and infinities are no JSON."""
    found: dict[str, Any] = json.loads(
        printed(capsys, f"{words} --json", expect), parse_constant=pytest.fail
    )
    return found


def refused(capsys: Capture, words: str) -> str:
    """Run a command that must be refused: exit code 2, nothing printed, and one line on the error
    stream."""
    run(words, expect=2)
    captured = capsys.readouterr()
    said = _SLOW.sub("", captured.err)
    assert captured.out == ""
    assert said.count("\n") == 1
    assert said.startswith("rai-sim: ")
    return said
