"""What `scripts/verify.py` says of checks; what they check takes long, and is run by itself."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from script_modules import load

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    """Return the script as a module."""
    path, modules = sys.path.copy(), sys.modules.copy()
    sys.path.insert(0, str(SCRIPTS))  # where it finds its neighbours, as a script does
    yield load("verify")
    sys.path[:] = path
    for name in ("verify", "distribution"):
        if name not in modules:
            sys.modules.pop(name, None)


def interrupted(*given: Any) -> Any:
    """Be interrupted, as a check is by Ctrl-C."""
    raise KeyboardInterrupt


def test_what_is_said(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line a check and a tally; the exit code tells of failures, and of an interrupt, which keeps
    what was found."""

    def finds(name: str, passed: bool) -> Any:
        return lambda size, pool, jobs: script.Verdict(name, passed, f"saw {name}")

    checks = {"good": [finds("one", True)], "bad": [finds("two", False)], "cut": [interrupted]}
    monkeypatch.setattr(script, "CHECKS", checks)
    assert script.main(["--only", "good"]) == 0
    first, tally = capsys.readouterr().out.splitlines()
    assert first.startswith("pass  one ")
    assert first.endswith(" s  saw one")
    assert tally.startswith("1 of 1 checks passed in ")
    assert script.main(["--only", "bad", "good"]) == 1
    said = capsys.readouterr().out.splitlines()
    assert [line[:9] for line in said] == ["FAIL  two", "pass  one", "1 of 2 ch", "FAILED: t"]
    assert script.main(["--only", "good", "bad", "cut", "good"]) == 130
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 4
    assert said[2].startswith("1 of 2 checks passed in ")
    assert said[2].endswith(", then interrupted")
    assert said[3] == "FAILED: two"


def test_every_group_has_checks(script: ModuleType) -> None:
    """None is empty."""
    assert script.CHECKS
    assert all(script.CHECKS.values())
