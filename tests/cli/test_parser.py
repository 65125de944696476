"""What the parser is told: help that fits the terminal, and completion."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import ROOT, Capture, printed

COMMANDS = (
    "run",
    "bounds",
    "certify",
    "study",
    "merge",
    "scaling",
    "success",
    "trace",
    "plot",
    "report",
    "export",
    "warmup",
)


def test_the_list_of_commands_is_never_cut_off(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is summed up by one line at 80 columns, and by a whole sentence at 40."""
    monkeypatch.setenv("COLUMNS", "80")
    shown = printed(capsys, "-h")
    assert shown == printed(capsys, "") == printed(capsys, "help")
    assert "..." not in shown.replace("[ARGS]...", "")
    lines = shown[shown.index("Commands:") :].splitlines()[1:]
    assert [line.split()[0] for line in lines] == list(COMMANDS)
    assert all(line.endswith(".") for line in lines)
    monkeypatch.setenv("COLUMNS", "40")
    narrow = printed(capsys, "-h")
    assert " ".join(narrow.split()) == " ".join(shown.split())
    assert max(map(len, narrow.splitlines())) <= 40


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("columns", [40, 60, 80])
def test_help_fits_the_terminal(
    command: str, columns: int, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No line is longer than the terminal."""
    monkeypatch.setenv("COLUMNS", str(columns))
    assert max(map(len, printed(capsys, f"{command} -h").splitlines())) <= columns


@pytest.mark.parametrize("command", COMMANDS)
def test_help_speaks_in_one_voice(command: str, capsys: Capture) -> None:
    """Defaults are told one way, arguments without the program's types."""
    words = " ".join(printed(capsys, f"{command} -h").split())
    assert not re.findall(r"(?<!By )\bdefault (?!:)\S*|default: \(|<\S*>", words)


# Completion
# --------------------------------------------------------------------------------------------------


def completed(
    words: str, incomplete: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """Return what bash offers for the last word."""
    monkeypatch.setenv("_RAI_SIM_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"rai-sim {words}{incomplete}")
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) + 1))
    return printed(capsys, "").split()


@pytest.mark.parametrize(
    ("words", "incomplete", "expected"),
    [
        ("", "st", ["study"]),
        ("", "", list(COMMANDS)),
        ("run ", "--re", ["--rewards", "--required", "--replications"]),
        ("plot ", "--f", ["--format"]),
        ("run --law ", "g", ["gaussian"]),
        ("run --algorithm ", "v", ["vanilla", "vanilla:merging=false"]),
        ("bounds --instance ", "", ["mirrored", "printed"]),
        ("plot --format ", "p", ["png", "pdf"]),
        ("warmup --law ", "b", ["bernoulli", "beta"]),
    ],
)
def test_completion(
    words: str,
    incomplete: str,
    expected: list[str],
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Commands, options, and values of options that are one of a few."""
    assert completed(words, incomplete, capsys, monkeypatch) == expected


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/bin/bash"), reason="there is no bash")
def test_completion_is_shown_and_installed_for_the_shell(tmp_path: Path) -> None:
    """bash is found above the process; the script that is printed works in it."""
    program = shlex.join([sys.executable, "-m", "rai_sim"])
    environment = {**os.environ, "HOME": str(tmp_path)}

    def bash(script: str) -> str:
        words = ["/bin/bash", "--norc", "-c", f"{script}; true"]
        return subprocess.run(
            words, capture_output=True, text=True, check=True, cwd=ROOT, env=environment
        ).stdout

    script = bash(f"{program} --show-completion")
    assert "complete -o default -F _rai_sim_completion rai-sim" in script
    assert bash(f"{program} --install-completion").startswith("bash completion installed in ")
    (installed,) = tmp_path.rglob("rai-sim.sh")
    assert installed.read_text().strip() == script.strip()
    (tmp_path / "rai-sim").write_text(f'#!/bin/sh\nexec {program} "$@"\n')
    (tmp_path / "rai-sim").chmod(0o755)
    (tmp_path / "script").write_text(script)
    typed = f'COMP_WORDS=(rai-sim wa); COMP_CWORD=1; _rai_sim_completion {tmp_path}/rai-sim; echo "${{COMPREPLY[@]}}"'
    assert bash(f"source {tmp_path}/script; {typed}") == "warmup\n"
