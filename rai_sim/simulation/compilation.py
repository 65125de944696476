"""When kernels are compiled: for what, and for how long; so that it can be said, and kept out of
what replications are said to take."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from numba.core import event
from numba.core.caching import NullCache

if TYPE_CHECKING:
    from rai_sim.simulation.experiment import Experiment

#: Called with what is compiled, in words, and None when it begins, the seconds it took when it
#: ends.
Watcher = Callable[[str, float | None], None]
#: What is compiled where no replications wait for it: small kernels that Python itself calls, as
#: those of bounds.
SMALL = "kernels"


class _Compilations(event.Listener):  # type: ignore[misc]  # numba is untyped
    """Listens to Numba: a kernel is compiled with all that it calls, in one thread at a time, for
    which the others wait."""

    def __init__(self) -> None:
        self.watchers: list[Watcher] = []
        self._depth, self._total, self._began = 0, 0.0, 0.0
        self.thread = threading.local()

    def on_start(self, event: Any) -> None:
        """Begin a compilation, or one within."""
        self.begin(self._how_often(event.data["dispatcher"]))

    def on_end(self, event: Any) -> None:
        """End it."""
        self.end(self._how_often(event.data["dispatcher"]))

    def begin(self, how: str) -> None:
        """Note the beginning of what counts as compilation, and how it is done."""
        self._depth += 1
        if self._depth == 1:
            self._began = time.perf_counter()
            self._tell(how, None)

    def end(self, how: str) -> None:
        """Note its end."""
        self._depth -= 1
        if not self._depth:
            taken = time.perf_counter() - self._began
            self._total += taken
            self._tell(how, taken)

    def _tell(self, how: str, seconds: float | None) -> None:
        for watcher in tuple(self.watchers):
            watcher(f"{getattr(self.thread, 'what', SMALL)} ({how})", seconds)

    def _how_often(self, dispatcher: Any) -> str:
        return (
            "in every process: they cannot be kept on disk"
            if isinstance(dispatcher._cache, NullCache)
            else "once; kept on disk"
        )

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return self._total + (time.perf_counter() - self._began if self._depth else 0.0)


_COMPILATIONS = _Compilations()
event.register("numba:compile", _COMPILATIONS)


def compile_seconds() -> float:
    """Return the seconds that this process has spent compiling kernels so far.

    Examples
    --------
    >>> before = compile_seconds()
    >>> compile_seconds() - before
    0.0
    """
    return _COMPILATIONS.seconds


@contextmanager
def compiled_for(experiment: Experiment) -> Iterator[None]:
    """Say for a stretch of this thread what kernels are compiled for, if any are."""
    thread = _COMPILATIONS.thread
    before = getattr(thread, "what", SMALL)
    thread.what = (
        f"{type(experiment.algorithm).__name__} for {type(experiment.problem.arms).__name__} arms"
    )
    try:
        yield
    finally:
        thread.what = before


@contextmanager
def waited_for(experiment: Experiment) -> Iterator[None]:
    """Count a stretch of time as compilation's: another process compiles for an experiment."""
    how = "once, in another process; kept on disk"
    with compiled_for(experiment):
        _COMPILATIONS.begin(how)
        try:
            yield
        finally:
            _COMPILATIONS.end(how)


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """For a while tell a function of compilations."""
    _COMPILATIONS.watchers.append(watcher)
    try:
        yield
    finally:
        _COMPILATIONS.watchers.remove(watcher)
