"""Ctrl-C and SIGTERM, held back until what is running is finished."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

from rai_sim.support.entry import note_signal


class Interrupts:
    """While entered, the first SIGINT or SIGTERM only sets `asked`; a second one raises
    KeyboardInterrupt, unless it is `held`.

    Outside the main thread, which alone gets signals, it does nothing. It may be entered again
    while it is.

    Parameters
    ----------
    *signals : int
        The signals; SIGINT and SIGTERM if none is given.

    Examples
    --------
    >>> with Interrupts() as interrupts:
    ...     signal.raise_signal(signal.SIGINT)
    ...     print("still here")
    still here
    >>> interrupts.asked
    True
    """

    def __init__(self, *signals: int) -> None:
        """Nothing was asked yet."""
        self.asked = False
        self._held = False
        self._signals = signals or (signal.SIGINT, signal.SIGTERM)
        self._depth = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        """Take the signals over."""
        self._depth += 1
        if self._depth == 1 and threading.current_thread() is threading.main_thread():
            for number in self._signals:
                # else it was not set from Python and could not be given back
                if signal.getsignal(number) is not None:
                    self._before[number] = signal.signal(number, self._note)
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        note_signal(number)
        again, self.asked = self.asked, True
        if again and not self._held:
            raise KeyboardInterrupt

    def heed(self) -> None:
        """Raise KeyboardInterrupt if a signal has come: for places where nothing can be lost."""
        if self.asked:
            raise KeyboardInterrupt

    @contextmanager
    def held(self) -> Iterator[None]:
        """For a while let no signal strike; one that comes is noted.

        Examples
        --------
        >>> with Interrupts() as interrupts, interrupts.held():
        ...     signal.raise_signal(signal.SIGINT)
        ...     signal.raise_signal(signal.SIGINT)
        >>> interrupts.asked
        True
        """
        if threading.current_thread() is not threading.main_thread():
            yield  # where none strikes
            return
        before, self._held = self._held, True
        try:
            yield
        finally:
            self._held = before

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the signals back."""
        self._depth -= 1
        if self._depth:
            return
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}
