"""The program's streams take any text, and Ctrl-C while libraries load is no traceback."""

import io
import os
import re
import signal
import subprocess
import sys

import pytest
from command_line import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

from rai_sim.support import entry

# Standard output and error of any encoding
# --------------------------------------------------------------------------------------------------


def stream(encoding: str) -> io.TextIOWrapper:
    """Return a stream as Python makes one for standard output."""
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="strict")


@settings(max_examples=200, derandomize=True)
@given(
    st.text(),
    st.sampled_from(["ascii", "cp1252", "latin-1", "utf-8", "utf-16", "cp437", "shift_jis"]),
)
def test_anything_can_be_printed(text: str, encoding: str) -> None:
    """Names of files that are no text too: every letter, or a question mark in its place."""
    text += "\udcff"
    out, err = stream(encoding), stream(encoding)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        entry.print_anything()
        print(text, end="", flush=True)
        print(text, file=sys.stderr, end="", flush=True)
    for one in (out, err):
        shown = one.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]
        expected = "".join(letter.encode(encoding, "replace").decode(encoding) for letter in text)
        assert shown == expected.replace("\n", os.linesep)


def test_streams_in_their_place_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """None (no console), a text in memory, and one that loses letters in a way of its own."""
    own = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="namereplace")
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    entry.print_anything()
    monkeypatch.setattr(sys, "stdout", own)
    entry.print_anything()
    assert own.errors == "namereplace"


# Ctrl-C while the program starts
# --------------------------------------------------------------------------------------------------

_AS_SCRIPT = "import sys; sys.argv[:1] = ['/usr/bin/rai-sim']; from rai_sim.cli import main; sys.exit(main())"


@pytest.mark.parametrize(
    "library",
    [
        "numpy",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("llvmlite", "numba", "typer")),
    ],
)
@pytest.mark.parametrize(
    "program",
    [
        pytest.param(("-m", "rai_sim"), id="module"),
        pytest.param(("-c", _AS_SCRIPT), id="script", marks=pytest.mark.slow),
    ],
)
def test_ctrl_c_while_libraries_load(program: tuple[str, ...], library: str) -> None:
    """Exit code 130 and nothing said, whichever library is being loaded; of SIGTERM 143."""
    number = signal.SIGTERM if library == "numba" else signal.SIGINT
    command = [sys.executable, "-X", "importtime", *program, "run"]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:  # a line when a module is loaded
            if re.search(rf"\| +{library}\b", line):
                break
        else:
            pytest.fail(f"{library} was not loaded")
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert out == ""
    assert [line for line in err.splitlines() if not line.startswith("import time:")] == []


@pytest.mark.landing
def test_libraries_that_load_the_package_keep_their_ctrl_c() -> None:
    """Only the program answers by itself; a handler that is there, or none at all (nohup),
    stays."""
    code = "import signal, sys; {}; import rai_sim; print(signal.getsignal(signal.SIGINT))"
    for before, expected in (
        ("", "<built-in function default_int_handler>"),
        (
            "sys.argv[0] = 'rai-sim'; signal.signal(signal.SIGINT, signal.SIG_IGN)",
            "Handlers.SIG_IGN",
        ),
    ):
        done = subprocess.run(
            [sys.executable, "-c", code.format(before or "pass")],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() in (
            expected,
            str(signal.SIG_IGN) if "IGN" in expected else expected,
        )


def test_the_exit_code_tells_the_signal() -> None:
    """SIGTERM's until the next command begins."""
    entry.note_signal(signal.SIGTERM)
    assert entry.exit_code() == 143
    entry.interrupts_are_raised()
    assert entry.exit_code() == 130


def test_closed_streams_lead_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python has None in their place; what is there stays."""
    kept = sys.stderr
    monkeypatch.setattr(sys, "stdout", None)
    entry.have_streams()
    assert sys.stdout.isatty() is False
    print("nobody reads this")
    sys.stdout.close()
    assert sys.stderr is kept


@pytest.mark.slow
def test_no_file_takes_the_place_of_a_closed_stream() -> None:
    """Else what is printed would go into it."""
    code = (
        "import os; [os.close(n) for n in (0, 1)]; from rai_sim.support import entry;"
        "entry.have_streams(); n = os.open(os.devnull, os.O_RDONLY); os.write(2, str(n).encode())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.PIPE, check=True
    )
    assert int(done.stderr) > 2
