"""How far the replications are that this process is running, as kernels say it
(`rai_sim.engine.stop`); so that it can be shown while one takes long.

One replication is one core's work, however many there are, so this is all there is to be told
between two replications.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.stop import ACTIVE, NOT_SAID, PULLS, REPLICATION, ROUND
from rai_sim.simulation.experiment import Experiment
from rai_sim.support.wording import rough

#: A replication that has taken so many seconds is told of.
_LONG = 1.0

#: Where the kernels that run say how far they are, and what they run; of whatever thread.
_running: dict[object, tuple[Experiment, NDArray[np.int64]]] = {}


@contextmanager
def underway(experiment: Experiment, position: NDArray[np.int64]) -> Iterator[None]:
    """Let others know where a kernel says how far it is, while it runs.

    Parameters
    ----------
    experiment : Experiment
        What it runs.
    position : (4,) int64
        As in `rai_sim.engine.stop`.
    """
    key = object()
    _running[key] = experiment, position
    try:
        yield
    finally:
        del _running[key]


class Sight(NamedTuple):
    """A replication as it was seen: since when, in seconds, and how far it was."""

    name: str
    since: float
    replication: int
    round: int
    pulls: int
    active: int
    arms: int

    def __str__(self) -> str:
        """Say it, without its name.

        Examples
        --------
        >>> print(Sight("", 0.0, 17, 3_123_456, 4_211_000_000, 12, 1000))
        replication 17: round 3.12e6, 4.21e9 pulls, 12 of 1,000 arms left
        """
        return (
            f"replication {self.replication}: round {rough(self.round)}, {rough(self.pulls)} "
            f"pulls, {self.active:,} of {self.arms:,} arms left"
        )


class Lookout:
    """Who looks now and then at what is running.

    Parameters
    ----------
    name_of : callable
        Returns the name of an experiment, empty if it needs none, or None if it is somebody else's.
    """

    def __init__(self, name_of: Callable[[Experiment], str | None]) -> None:
        """Nothing has been seen yet."""
        self._name_of = name_of
        self._seen: dict[object, Sight] = {}

    def words(self, now: float) -> str:
        """Return how far the replication is that has been running longest, if that is a second or
        more, and how many others have; `now` is a time in seconds."""
        self._seen = dict(self._look(now))
        long = [sight for sight in self._seen.values() if now - sight.since >= _LONG]
        if not long:
            return ""
        first = min(long, key=lambda sight: sight.since)
        more = f"; {len(long) - 1} more under way" if len(long) > 1 else ""
        return f"{first}{more}" + (f" ({first.name})" if first.name else "")

    def _look(self, now: float) -> Iterator[tuple[object, Sight]]:
        for key, (experiment, position) in tuple(_running.items()):
            name, cells = self._name_of(experiment), position.tolist()
            if name is None or cells[REPLICATION] == NOT_SAID:
                continue
            before = self._seen.get(key)
            same = before is not None and before.replication == cells[REPLICATION]
            yield (
                key,
                Sight(
                    name=name,
                    since=before.since if before is not None and same else now,
                    replication=cells[REPLICATION],
                    round=cells[ROUND],
                    pulls=cells[PULLS],
                    active=cells[ACTIVE],
                    arms=experiment.problem.n_arms,
                ),
            )
