"""Ctrl-C while a kernel runs.

Python handles a signal between two of its own instructions: not before a kernel that was called in
the main thread returns, which may take minutes for one long replication. But the C handler writes
the signal's number into a file at once (`signal.set_wakeup_fd`). So a thread waits at the other end
and raises the flags that kernels look at (`rai_sim.engine.stop`); they return, and Python's own
handler does what it is there for. What it does not end, callers of `running` run again.

A time limit raises the same flags (`ended_in`): those of one thread's kernels alone.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import numpy as np
from numpy.typing import NDArray

from rai_sim.simulation.compilation import compile_seconds

#: Signals that people send to end something.
_ENDING = (signal.SIGINT, signal.SIGTERM)


#: The flags of the kernels that are running, in whatever thread; several may run under one.
_flags: dict[object, NDArray[np.int64]] = {}


#: Seconds that are waited for at once: a system waits for some centuries at most.
_MOST_WAITED = 3600.0


class _Limit(threading.Thread):
    """A thread that waits for a time to be up, and then has kernels of another one end."""

    def __init__(self, seconds: float, compiling: bool) -> None:
        """Start to wait; unless they are to count, seconds of compilation are waited for besides."""
        super().__init__(name="rai_sim time limit", daemon=True)
        self.flags: dict[object, NDArray[np.int64]] = {}
        self.up = False
        self._compiling, self._compiled = compiling, compile_seconds()
        self._until, self._ended = time.monotonic() + seconds, threading.Event()
        self.start()

    def _left(self) -> float:
        more = 0.0 if self._compiling else compile_seconds() - self._compiled
        return self._until + more - time.monotonic()

    def run(self) -> None:
        """Wait; a kernel that begins when the time is up finds its flag raised."""
        while (left := self._left()) > 0.0:
            if self._ended.wait(min(left, _MOST_WAITED)):
                return
        self.up = True
        for flag in tuple(self.flags.values()):
            flag[0] = 1

    def close(self) -> None:
        """Wait no longer."""
        self._ended.set()
        self.join()


#: The limit under which a thread's kernels run, if there is one.
_here = threading.local()


@contextmanager
def ended_in(seconds: float | None, *, compiling: bool = True) -> Iterator[None]:
    """Have the kernels that this thread runs for a while end when a time is up, as after a signal:
    `KernelStopped` is raised, and what replications were finished is known.

    Parameters
    ----------
    seconds : float or None
        From now on; None for no limit. What begins later ends at once.
    compiling : bool, default True
        Whether seconds that kernels are being compiled in count.

    Examples
    --------
    >>> from rai_sim.engine.stop import new_flag
    >>> flag = new_flag()
    >>> with ended_in(0.0), running(flag):
    ...     while not flag[0]:
    ...         time.sleep(0.001)
    """
    if seconds is None:
        yield
        return
    before, limit = getattr(_here, "limit", None), _Limit(seconds, compiling)
    _here.limit = limit
    try:
        yield
    finally:
        _here.limit = before
        limit.close()


@contextmanager
def _under_limit(flag: NDArray[np.int64]) -> Iterator[None]:
    """Let the limit of this thread, if there is one, raise a flag."""
    limit: _Limit | None = getattr(_here, "limit", None)
    if limit is None:
        yield
        return
    key = object()
    limit.flags[key] = flag
    if limit.up:  # looked at after the flag is there: one of the two threads sees to it
        flag[0] = 1
    try:
        yield
    finally:
        del limit.flags[key]


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
        with watched(), _under_limit(flag):
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
