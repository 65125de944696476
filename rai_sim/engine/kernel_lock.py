"""Of processes that need one kernel at the same moment, one compiles it and the others load it.

The tasks of a cluster's array, or the workers of a pool, begin together with an empty cache; each
would compile for half a minute what one of them can compile for all. A lock is a file beside the
kernel's, locked by the system for a process (POSIX record locks, which network file systems know as
well); the system gives it up when the process ends, however that happens. Where there are no such
locks everyone compiles, as without.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    _LOCKS = False
else:
    _LOCKS = True

#: Seconds after which a process no longer believes that the one with the lock will finish.
PATIENCE = 300.0
#: Seconds between two looks: a small share of what compiling takes, and of a look's own cost.
_PAUSE = 0.05


@contextmanager
def alone(
    path: Path,
    waiting: Callable[[], AbstractContextManager[object]] = nullcontext,
    patience: float = PATIENCE,
) -> Iterator[None]:
    """Hold the lock of a file that is about to be made; without it if that is not to be had.

    Parameters
    ----------
    path : Path
        The file that is made under the lock. Whoever gets the lock must look for it again.
    waiting : callable
        Returns a context that is entered while another process holds the lock.
    patience : float
        Seconds to wait, at most.
    """
    descriptor = _opened(lock := path.with_name(f"{path.name}.lock")) if _LOCKS else None
    if descriptor is None:
        yield
        return
    try:
        if not _taken(descriptor):
            with waiting():
                _wait(descriptor, patience)
        yield
    finally:
        # Whoever waits has the file open and gets the lock of a file without a name; who comes
        # after that makes a new one. At worst two compile.
        with suppress(OSError):
            lock.unlink()
        os.close(descriptor)


def _opened(lock: Path) -> int | None:
    try:
        return os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o666)
    except OSError:
        return None


def _taken(descriptor: int) -> bool:
    """Return whether there is nothing to wait for: the lock is ours, or there are no locks here."""
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True
    return True


def _wait(descriptor: int, patience: float) -> None:
    until = time.monotonic() + patience
    while time.monotonic() < until and not _taken(descriptor):
        time.sleep(_PAUSE)
