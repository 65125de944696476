"""Polars does not survive a fork: its threads are not copied, and a query in the child waits for
them for ever. Here that is an error."""

from __future__ import annotations

import os
import re
import sys
import time

#: What the names of the threads of polars' pool begin with: "polars-0", "polars-1". The system
#: keeps 15 characters of a name.
_POOL_THREAD = re.compile(
    re.escape(f"{os.environ.get('POLARS_THREAD_NAME', 'polars')}-"[:15]) + r"\d*"
)
#: Seconds in which a thread that was just made has its name.
_NAMING = 0.5


class _Here:
    """What is known about this process."""

    forked = False
    usable_in: int | None = None


def _after_fork() -> None:
    _Here.forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def refuse_forked_polars(what: str) -> None:
    """Raise where a query of polars would wait for ever: in a forked child of a process that has
    used polars.

    Parameters
    ----------
    what : str
        What is about to be done, such as "Study.run", for the message.

    Raises
    ------
    RuntimeError
        With the remedy: start processes by "spawn" or "forkserver".

    Examples
    --------
    >>> refuse_forked_polars("open_study")
    """
    pid = os.getpid()
    if _Here.usable_in == pid:
        return
    if _is_child_by_fork() and not _has_pool():
        raise RuntimeError(
            f"{what} cannot be used in this process: it was forked from one that has used polars, "
            "whose threads a fork does not copy, and "
            'would wait for ever; start processes with multiprocessing.get_context("spawn") or '
            '"forkserver" (of an executor: mp_context=), '
            "or fork before studies and frames are used"
        )
    _Here.usable_in = pid


def _is_child_by_fork() -> bool:
    """Whether this process was forked, as far as can be known: also if this module was imported
    after."""
    processes = sys.modules.get("multiprocessing.process")
    return _Here.forked or (processes is not None and processes.parent_process() is not None)


def _has_pool() -> bool:
    """Whether polars' pool of threads works here."""
    # a system that does not tell: was polars used before the fork, as far as it came by here?
    if not os.path.isdir("/proc/self/task"):
        return _Here.usable_in is None
    import polars as pl

    pl.thread_pool_size()  # makes the pool where there is none, without waiting for it
    deadline = time.monotonic() + _NAMING
    while (
        not (found := any(_POOL_THREAD.fullmatch(name) for name in _thread_names()))
        and time.monotonic() < deadline
    ):
        time.sleep(0.005)
    return found


def _thread_names() -> list[str]:
    names = []
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/comm", encoding="utf-8", errors="replace") as file:
                names.append(file.read().strip())
        except OSError:  # a thread that has just ended
            pass
    return names
