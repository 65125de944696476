"""How long a job for workers elsewhere should take: long enough that sending it costs little.

What a block costs beside its work (a scheduler's time, a network's, this process's) is not asked
for but seen: workers that always have a job waiting and are idle for a share of the time tell it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

#: Seconds that are looked at before anything is decided, and how many jobs a worker.
_LOOK_SECONDS, _LOOK_JOBS = 2.0, 4
#: Workers may be idle for this share of the time.
_IDLE = 0.1


class Pace:
    """Seconds that a job should take; they are doubled while workers are idle for more than a tenth
    of the time although there is work.

    Parameters
    ----------
    seconds : float
        To begin with.
    most : float, default 10.0
        Never more: Ctrl-C waits for jobs that have begun, and a lost worker's are run again.
    clock : callable
        Returns seconds.

    Examples
    --------
    >>> now = [0.0]
    >>> pace = Pace(0.25, clock=lambda: now[0])
    >>> for _ in range(40):  # a worker that waits as long for a job as it takes
    ...     now[0] += 0.5
    ...     pace.note("worker", 0.25, workers=1, fed=True)
    >>> pace.seconds
    8.0
    """

    def __init__(
        self, seconds: float, most: float = 10.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Nothing has been seen yet."""
        self.seconds, self._most, self._clock = seconds, most, clock
        self._met: set[str] = set()
        self._since, self._busy, self._jobs = -1.0, 0.0, 0

    def note(self, worker: str, busy: float, workers: int, fed: bool) -> None:
        """Note a job that has come back.

        Parameters
        ----------
        worker : str
            Who ran it.
        busy : float
            Seconds that it took there.
        workers : int
            Workers that there are.
        fed : bool
            Whether there has been a job for every worker since the one before.
        """
        now = self._clock()
        self._met.add(worker)
        # A worker's first job waits for imports and kernels.
        if not fed or len(self._met) < workers or self._since < 0.0:
            self._look_from(now)
            return
        self._busy += busy
        self._jobs += 1
        passed = now - self._since
        if passed < max(_LOOK_SECONDS, 2.0 * self.seconds) or self._jobs < _LOOK_JOBS * workers:
            return
        if self._busy < (1.0 - _IDLE) * workers * passed and 2.0 * self.seconds <= self._most:
            self.seconds *= 2.0
        self._look_from(now)

    def _look_from(self, now: float) -> None:
        self._since, self._busy, self._jobs = now, 0.0, 0
