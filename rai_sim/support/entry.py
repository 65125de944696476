"""How the program starts, prints and is ended: Ctrl-C and SIGTERM, also while libraries are loaded,
and output streams that cannot show every letter.

Imports nothing that takes time: it is loaded before all else, so that there is an answer to Ctrl-C
from then on.
"""

from __future__ import annotations

import os
import signal
import sys


def is_program(words: list[str], first: str) -> bool:
    """Return whether a process runs the command line, given all its words (`sys.orig_argv`) and the
    first of `sys.argv`.

    Examples
    --------
    >>> is_program(["python", "-m", "rai_sim", "run"], "-m"), is_program(["python", "/usr/bin/rai-sim", "run"], "/usr/bin/rai-sim")
    (True, True)
    >>> is_program(["python", "-m", "pytest", "rai_sim"], "-m"), is_program(["python", "mine.py"], "mine.py")
    (False, False)
    """
    if first == "-m":  # the package is loaded before its __main__
        after = next((words[i + 1 :] for i, word in enumerate(words) if word == "-m"), [])
        return after[:1] == ["rai_sim"] or "-mrai_sim" in words
    return os.path.splitext(os.path.basename(first))[0] in ("rai-sim", "rai-sim-script")


#: The exit code is 128 and the number of the signal that ended the program.
_ended_by = signal.SIGINT


def note_signal(number: int) -> None:
    """Remember which signal asks the program to end, for `exit_code`."""
    global _ended_by
    _ended_by = signal.Signals(number)


def exit_code() -> int:
    """Return the exit code of a program that a signal has ended: 130 after Ctrl-C, 143 after
    SIGTERM.

    Examples
    --------
    >>> exit_code()
    130
    """
    return 128 + _ended_by


def _leave(number: int, frame: object) -> None:
    """End at once: nothing has been begun, and libraries turn an exception that strikes while they
    load into others."""
    os._exit(128 + number)


def _interrupt(number: int, frame: object) -> None:
    """Let SIGTERM do what Ctrl-C does: what was finished is kept and shown, and processes that were
    started are ended."""
    note_signal(number)
    raise KeyboardInterrupt


def answer_interrupts() -> None:
    """Let Ctrl-C and SIGTERM end the program without a traceback until `interrupts_are_raised`;
    elsewhere than in the program do nothing."""
    if not is_program(sys.orig_argv, sys.argv[0] if sys.argv else ""):
        return
    # else they are ignored, as SIGINT after nohup, or another's
    defaults = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    for number, handler in defaults.items():
        if signal.getsignal(number) is handler:
            try:
                signal.signal(number, _leave)
            except ValueError:  # only the main thread may
                return


def interrupts_are_raised() -> None:
    """Let Ctrl-C raise KeyboardInterrupt from now on, as everywhere in Python, and SIGTERM, too."""
    note_signal(signal.SIGINT)
    for number, handler in (
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGTERM, _interrupt),
    ):
        if signal.getsignal(number) is _leave:
            signal.signal(number, handler)


def have_streams() -> None:
    """Let standard input, output and error lead nowhere where they are closed, as under some service
    managers: else the next file that is opened takes the place of one, and what is printed goes
    into it."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  # for good


def print_anything() -> None:
    """Print what a stream's encoding lacks (ASCII, cp1252) as question marks: work that is done
    must not be lost over a letter."""
    for stream in (sys.stdout, sys.stderr):
        # streams put in their place may have none, and then no encoding
        reconfigure = getattr(stream, "reconfigure", None)
        lossy = getattr(stream, "errors", None) in (
            "replace",
            "backslashreplace",
            "namereplace",
            "xmlcharrefreplace",
            "ignore",
        )
        if reconfigure is not None and not lossy:
            reconfigure(errors="replace")
