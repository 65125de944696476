"""Ctrl-C while a kernel runs.

Python handles a signal between two of its own instructions: not before a kernel that was called in
the main thread returns, which may take minutes for one long replication. But the C handler writes
the signal's number into a file at once (`signal.set_wakeup_fd`). So a thread waits at the other end
and raises the flags that kernels look at (`rai_sim.engine.stop`); they return, and Python's own
handler does what it is there for. What it does not end, callers of `running` run again.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import numpy as np
from numpy.typing import NDArray

#: Signals that people send to end something.
_ENDING = (signal.SIGINT, signal.SIGTERM)


#: The flags of the kernels that are running, in whatever thread; several may run under one.
_flags: dict[object, NDArray[np.int64]] = {}


class _Watch:
    """A process's thread that waits for signals."""

    def __init__(self) -> None:
        """Start to wait."""
        self.process = os.getpid()
        self.before = -1  # whom else the C handler would have told
        self._end, self.start = socket.socketpair()
        self.start.setblocking(False)
        threading.Thread(target=self._wait, name="rai_sim signals", daemon=True).start()

    def _wait(self) -> None:
        while numbers := self._end.recv(4096):
            if any(number in _ENDING for number in numbers):
                for flag in tuple(_flags.values()):
                    flag[0] = 1
            if self.before >= 0:
                with suppress(OSError):  # it may have been closed, or be full
                    os.write(self.before, numbers)


_watch: _Watch | None = None


def _the_watch() -> _Watch:
    """Return this process's watch; a forked child has no threads of its parent's."""
    global _watch
    if _watch is None or _watch.process != os.getpid():
        _watch = _Watch()
    return _watch


@contextmanager
def watched() -> Iterator[None]:
    """In the main thread, have signals seen while kernels run, here or in other threads; elsewhere
    do nothing: no other gets signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    watch = _the_watch()
    before = signal.set_wakeup_fd(watch.start.fileno(), warn_on_full_buffer=False)
    if before == watch.start.fileno():  # entered twice
        yield
        return
    watch.before = before
    try:
        yield
    finally:
        watch.before = -1
        signal.set_wakeup_fd(before)


@contextmanager
def running(flag: NDArray[np.int64]) -> Iterator[None]:
    """Have a kernel's flag raised if a signal comes while it runs.

    Parameters
    ----------
    flag : (1,) int64
        As in `rai_sim.engine.stop`. Whoever goes on after a signal lowers it.

    Examples
    --------
    >>> from rai_sim.engine.stop import new_flag
    >>> flag = new_flag()
    >>> with running(flag):
    ...     pass
    >>> flag
    array([0])
    """
    key = object()
    _flags[key] = flag
    try:
        with watched():
            yield
    finally:
        del _flags[key]


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """In a worker's main thread, let Ctrl-C only end the kernel that runs, whose finished
    replications are sent back; elsewhere do nothing.

    Examples
    --------
    >>> with stopped_by_signals():
    ...     signal.raise_signal(signal.SIGINT)
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
