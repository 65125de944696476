"""A limit of the time that a run of a study may take.

When it is up no further work is begun, and what runs is ended: kernels give up the replication
that they are at, a second's work at most in processes that have a job waiting, as after Ctrl-C.
What was finished is stored, and nothing about a replication's numbers depends on when that was.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from rai_sim.support.durations import duration
from rai_sim.support.wording import count

if TYPE_CHECKING:
    from rai_sim.study.results import StudyResults


class TimeLimitWarning(UserWarning):
    """A study's time was up before all was run; what was finished is stored.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", TimeLimitWarning)  # where that is as good as done
    """


class TimeLimit:
    """A limit that has begun.

    Parameters
    ----------
    seconds : float or None
        From now on; None for none.
    clock : callable
        Returns seconds.

    Examples
    --------
    >>> now = [0.0]
    >>> limit = TimeLimit(10.0, lambda: now[0])
    >>> now[0] = 4.0
    >>> limit.left, limit.is_up
    (6.0, False)
    >>> now[0] = 11.0
    >>> limit.left, limit.is_up
    (0.0, True)
    """

    def __init__(self, seconds: float | None, clock: Callable[[], float]) -> None:
        """Begin."""
        self.seconds, self._clock = seconds, clock
        self._until = math.inf if seconds is None else clock() + seconds

    @property
    def left(self) -> float | None:
        """Seconds left, 0 at least; None without a limit."""
        return None if self.seconds is None else max(self._until - self._clock(), 0.0)

    @property
    def is_up(self) -> bool:
        """Whether there is no time left."""
        return self._clock() >= self._until


def what_is_left(limit: float, results: StudyResults, seconds: float) -> str:
    """Return what a run has come to whose time was up, and what is left, in words.

    Parameters
    ----------
    limit : float
        In seconds.
    results : StudyResults
        What there is.
    seconds : float
        Work left; NaN if nothing is known of it.
    """
    done, wanted = results.progress()
    tasks = len(results.unfinished())
    rest = "" if math.isnan(seconds) else f", some {duration(seconds)} of work as far as is known"
    return (
        f"the time limit of {duration(limit)} is up: {done:,} of {count(wanted, 'replication')} are in "
        f"{results.folder}; not finished: {tasks:,} of {count(len(results.tasks), 'task')}{rest}"
    )
