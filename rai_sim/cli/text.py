"""What is said on the two streams, whatever the verb: text, and one line for a warning or an
interrupt."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import typer


def show(text: str, *, or_end: bool = False) -> None:
    """Print a text. Where the reader has left, files are written and exit codes given all the same;
    `or_end` says that there is nothing left to do then."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # The reader has seen enough; what is still buffered, or follows, must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if or_end:
            raise typer.Exit(0) from None
    except OSError as error:
        raise OSError(error.errno, error.strerror, "standard output") from error


@contextmanager
def warnings_in_a_line(*, every: bool = False) -> Iterator[None]:
    """Show what is warned of without the place in the program; if asked, also what was shown
    before."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        print("rai-sim: WARNING:", message, file=sys.stderr)

    with warnings.catch_warnings():
        if every:
            warnings.simplefilter("always")
        warnings.showwarning = show
        yield


@contextmanager
def interrupts_in_a_line(again: str | None = None) -> Iterator[None]:
    """After Ctrl-C while nothing runs (folders are read, tables are made) say how to go on, too."""
    try:
        yield
    except KeyboardInterrupt as error:
        told = (
            f"rai-sim: {str(error) or 'INTERRUPTED'}"
            if again is None
            else f"rai-sim: INTERRUPTED; to go on: {again}"
        )
        print(told, file=sys.stderr)
        raise typer.Exit(130) from None
