"""What is still to be run, and what of it this process has claimed.

Work is claimed as it is needed, for about a second at first, in the end for ten: so much is lost
for a while when a process is killed, and so long the last one has to be waited for.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Container, Sequence
from typing import TypeAlias

from rai_sim.study.claims import Claims, Patience, Range
from rai_sim.study.data import StudyData
from rai_sim.study.job import fitting

#: Replications start..stop-1 of the study's task with a number.
Gap: TypeAlias = tuple[int, int, int]
#: What a replication is taken to need until one of its task, or of one like it, was run.
GUESS = 1e-5
#: A claim is for this share of the time that a run has taken, within limits in seconds, and has at
#: most so many gaps; one of unknown length counts as this share of it.
_SHARE, _LEAST, _MOST, _MOST_UNITS, _UNKNOWN = 0.01, 1.0, 10.0, 2000, 0.25
#: With so many replications' ranges neither written nor given up, it is time to write.
_MOST_UNWRITTEN = 5000
#: A claim that takes so many times as long as it was thought is given up, as far as nobody runs it.
_OVERDUE = 2.0


class Work:
    """The gaps that a plan has found, in their order; those at the head are claimed.

    Parameters
    ----------
    data : StudyData
        The store, open for writing.
    keys : sequence of str
        Keys of the study's tasks.
    run : str
        The run's name.
    workers : int
        How many run at once.
    """

    def __init__(self, data: StudyData, keys: Sequence[str], run: str, workers: int) -> None:
        """There is nothing to do yet."""
        self.pending: deque[Gap] = deque()
        #: Whether nothing was handed out since the last plan, as others have claimed it all.
        self.idle = True
        #: Whether another process waits for what this one has to write.
        self.awaited = False
        self._claimed: deque[Gap] = deque()
        self._running: list[Range] = []
        self._data, self._keys, self._workers = data, keys, workers
        self._claims = Claims(data.store.folder, run)
        self._patience = Patience()
        self._began, self._until = time.monotonic(), -math.inf

    def __bool__(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.pending or self._claimed)

    def __len__(self) -> int:
        """Return the number of gaps."""
        return len(self.pending) + len(self._claimed)

    @property
    def full(self) -> bool:
        """Whether what was run had better be written, for the claims to stay short."""
        return len(self._running) > _MOST_UNWRITTEN

    def plan(self, gaps: Sequence[Gap]) -> None:
        """Take these gaps for all there is to do."""
        self.pending, self.idle = deque(gaps), True
        self._claimed.clear()

    def has_claimed(self, seconds: Callable[[int], float], failed: Container[int]) -> bool:
        """Whether something is claimed; if need be, claim more of what is pending.

        Parameters
        ----------
        seconds : callable
            Returns the seconds that a replication of a task takes, NaN if that is not known.
        failed : container of int
            Tasks of which nothing more is run.
        """
        if self._claimed and time.monotonic() < self._until:
            return True
        self.pending.extendleft(reversed(self._claimed))
        self._claimed.clear()
        if self.pending:
            with self._data.store.locked():
                self._claim(seconds, failed)
        return bool(self._claimed)

    def _claim(self, seconds: Callable[[int], float], failed: Container[int]) -> None:
        self._data.refresh()
        others = self._claims.others()
        self.awaited = others.waiting
        now = time.monotonic()
        long = min(max(_SHARE * (now - self._began), _LEAST), _MOST)
        left = long * self._workers
        while self.pending and left > 0.0 and len(self._claimed) < _MOST_UNITS:
            task, start, end = self.pending.popleft()
            if task in failed:
                continue
            key = self._keys[task]
            free = [
                part
                for gap in self._data.ledger[key].gaps(start, end)
                for part in others.free(key, *gap)
            ]
            if not free:  # it is there by now, or another's: the next plan asks again
                continue
            each = seconds(task)
            known = not math.isnan(each)
            start, stop = free[0]
            stop = min(stop, start + fitting(each if known else GUESS, left))
            self._claimed.append((task, start, stop))
            if stop < end:
                self.pending.appendleft((task, stop, end))
            left -= (stop - start) * each if known else _UNKNOWN * long
        self._until = now + _OVERDUE * long
        if self._claimed:
            self._say([*self._running, *map(self._range, self._claimed)])

    def _range(self, gap: Gap) -> Range:
        return self._keys[gap[0]], *gap[1:]

    def _say(self, ranges: Sequence[Range], waiting: bool = False) -> None:
        try:
            self._claims.claim(ranges, waiting)
        except OSError as error:
            raise self._data.store.cannot("be written to (claims)", error) from error

    def take(self) -> Gap | None:
        """Return the next gap that is claimed, and hand it out; None if there is none."""
        if not self._claimed:
            return None
        self._patience = Patience()
        gap = self._claimed.popleft()
        self._running.append(self._range(gap))
        self.idle = False
        return gap

    def put_back(self, gap: Gap) -> None:
        """Let what is left of a gap that was handed out be the next one."""
        self._claimed.appendleft(gap)

    def written(self) -> None:
        """Forget what has been written since it was handed out."""
        ledger = self._data.ledger
        self._running = [
            (task, *gap)
            for task, start, stop in dict.fromkeys(self._running)
            for gap in ledger[task].gaps(start, stop)
        ]

    def wait(self) -> None:
        """Let others know that this process waits for them, wait a little, and look what they have
        written."""
        self._running.clear()
        with self._data.store.locked():
            self._say((), waiting=True)
        self._patience.pause()
        self._data.refresh()

    def close(self) -> None:
        """Give up what is claimed."""
        self._claims.close()
