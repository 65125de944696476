"""How the program starts and prints: Ctrl-C while libraries are loaded, and output streams that
cannot show every letter.

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


def _leave(number: int, frame: object) -> None:
    """End at once: nothing has been begun, and libraries turn an exception that strikes while they
    load into others."""
    os._exit(130)


def answer_interrupts() -> None:
    """Let Ctrl-C end the program without a traceback until `interrupts_are_raised`; elsewhere than
    in the program do nothing."""
    ours = is_program(sys.orig_argv, sys.argv[0] if sys.argv else "")
    # else it is ignored, as after nohup, or another's
    if ours and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        try:
            signal.signal(signal.SIGINT, _leave)
        except ValueError:  # only the main thread may
            return


def interrupts_are_raised() -> None:
    """Let Ctrl-C raise KeyboardInterrupt from now on, as everywhere in Python."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


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
