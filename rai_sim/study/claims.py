"""Who is running what: processes on one store divide the work by claims, which expire.

Each run has one file in the store, `.claim-RUN`, with the replications that it is running or has
not written yet. Others leave these alone. A claim is void when its owner is: at once where the
owner ran on this machine, as its lock on the file went with it, and elsewhere when the file's
heartbeat has stood still for a while by the clock of whoever looks. No time of one machine is
compared with another's. A void claim is removed by whoever finds it.

Claims spare work, and no result depends on them: where two processes run the same replications all
the same, on folders without locks or after one was suspended for long, these are equal, and stored
or counted once.
"""

from __future__ import annotations

import json
import os
import platform
import threading
import time
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

try:
    import fcntl
except ImportError:  # Windows
    _LOCKS = False
else:
    _LOCKS = True

#: How the names of claims begin; what begins with a dot is nothing to those who look for parts.
CLAIM = ".claim-"
#: Seconds between two heartbeats, and after how many without one a claim is void: network folders
#: may show a file as it was half a minute ago.
BEAT, EXPIRY = 10.0, 120.0
#: Seconds between two looks of a process that waits for others, at first and at most.
_PAUSE, _LONGEST_PAUSE = 0.05, 1.0
#: A file that is being written is looked at so many times, after so many seconds.
_LOOKS, _LOOK_AGAIN = 5, 0.01

#: Replications start..stop-1 of the task with a key.
Range: TypeAlias = tuple[str, int, int]


class Others(NamedTuple):
    """What other processes have claimed, by task key, and whether one waits for what others are to
    write."""

    claimed: dict[str, list[tuple[int, int]]]
    waiting: bool

    def free(self, task: str, start: int, stop: int) -> list[tuple[int, int]]:
        """Return the ranges of start..stop-1 of a task that nobody else has claimed, ascending.

        Examples
        --------
        >>> Others({"a": [(10, 20), (15, 40)]}, False).free("a", 0, 50)
        [(0, 10), (40, 50)]
        """
        found, at = [], start
        for first, end in sorted(self.claimed.get(task, [])):
            if first >= stop:
                break
            if first > at:
                found.append((at, first))
            at = max(at, end)
        return [*found, (at, stop)] if at < stop else found


class _Said(NamedTuple):
    """What a claim's file says: its heartbeat, its owner's machine, ranges, and whether it
    waits."""

    beat: int
    machine: str
    ranges: list[Any]
    waiting: bool


class Claims:
    """The claims of one run; the others' are read, its own written. All but `close` are to be
    called while the store is locked.

    Parameters
    ----------
    folder : Path
        The store's.
    run : str
        The run's name, which no other has.
    """

    def __init__(self, folder: Path, run: str) -> None:
        """Claim nothing yet."""
        self._path = folder / f"{CLAIM}{run}"
        self._machine = machine()
        self._mine: Sequence[Range] = ()
        self._waiting = False
        self._beats = 0
        self._handle: int | None = None
        self._writing = threading.RLock()
        self._ended = threading.Event()
        self._heart: threading.Thread | None = None
        self._seen: dict[str, tuple[int, float]] = {}

    def others(self) -> Others:
        """Return what is claimed by others that are alive; remove the claims of those that are
        not."""
        claimed: dict[str, list[tuple[int, int]]] = {}
        waiting = False
        for name in os.listdir(self._path.parent):
            if not name.startswith(CLAIM) or name == self._path.name:
                continue
            path = self._path.with_name(name)
            said = _read(path)
            if self._is_void(path, said):
                with suppress(OSError):
                    path.unlink()
            elif said is not None:
                waiting |= said.waiting
                for task, start, stop in said.ranges:
                    claimed.setdefault(task, []).append((start, stop))
        return Others(claimed, waiting)

    def _is_void(self, path: Path, said: _Said | None) -> bool:
        """Whether a claim's owner is no more, as far as can be known."""
        beat = -1 if said is None else said.beat
        before, since = self._seen.get(path.name, (None, 0.0))
        if beat != before:
            self._seen[path.name] = beat, time.monotonic()
        elif time.monotonic() - since > EXPIRY:
            return True
        return said is not None and said.machine == self._machine and _has_no_owner(path)

    def claim(self, ranges: Iterable[Range], waiting: bool = False) -> None:
        """Claim these ranges, and no longer what was claimed before; say whether this process has
        nothing to do but to wait for others.

        Raises
        ------
        OSError
            If that cannot be written.
        """
        with self._writing:
            self._mine, self._waiting = list(ranges), waiting
            self._write()
        if self._heart is None:
            self._heart = threading.Thread(target=self._beat, name="rai_sim claims", daemon=True)
            self._heart.start()

    def _beat(self) -> None:
        while not self._ended.wait(BEAT):
            with self._writing, suppress(OSError):
                if not self._ended.is_set():
                    self._write()

    def _write(self) -> None:
        """Write the file in place: the lock is on what has this name."""
        self._beats += 1
        text = json.dumps(
            {
                "beat": self._beats,
                "machine": self._machine,
                "waiting": self._waiting,
                "ranges": self._mine,
            }
        ).encode()
        data = b"%08x %b" % (zlib.crc32(text), text)
        try:
            place = os.open(self._path, os.O_WRONLY | getattr(os, "O_BINARY", 0))
        except FileNotFoundError:  # the first time; or it was taken for void
            place = self._made()
        try:
            os.write(place, data)
            os.ftruncate(place, len(data))
        finally:
            os.close(place)

    def _made(self) -> int:
        """Make the file and lock it for as long as this process lives; return it opened once
        more."""
        self._let_go()
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        self._handle = os.open(self._path, flags, 0o666)
        if _LOCKS:
            with suppress(OSError):  # a network folder without: then heartbeats tell
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.open(self._path, os.O_WRONLY | getattr(os, "O_BINARY", 0))

    def _let_go(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def close(self) -> None:
        """Give everything up."""
        self._ended.set()
        with self._writing:
            if self._handle is not None:
                self._let_go()  # first: some systems remove no file that is open
                with suppress(OSError):
                    self._path.unlink()


class Patience:
    """Pauses that become longer."""

    def __init__(self) -> None:
        """Begin with a short one."""
        self._next = _PAUSE

    def pause(self) -> None:
        """Sleep, and longer the next time."""
        time.sleep(self._next)
        self._next = min(1.5 * self._next, _LONGEST_PAUSE)


def machine() -> str:
    """Return what processes have in common between which the system's locks tell who is alive: a
    boot of a machine, or its name where boots have none."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return platform.node()


def _has_no_owner(path: Path) -> bool:
    """Whether no process of this machine has a claim's file locked; False where there are no
    locks."""
    if not _LOCKS:
        return False
    try:
        handle = os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _read(path: Path) -> _Said | None:
    """Return what a claim says; None if it cannot be read, as of one that was half written."""
    for look in range(_LOOKS):
        if look:
            time.sleep(_LOOK_AGAIN)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        with suppress(ValueError, TypeError, KeyError, RecursionError):
            if int(data[:8], 16) == zlib.crc32(data[9:]):
                said = json.loads(data[9:])
                ranges = [
                    (str(task), int(start), int(stop)) for task, start, stop in said["ranges"]
                ]
                return _Said(int(said["beat"]), str(said["machine"]), ranges, bool(said["waiting"]))
    return None
