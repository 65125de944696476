"""One line that says how far a study is."""

from __future__ import annotations

import math
from collections.abc import Callable

from rai_sim.simulation.experiment import Experiment
from rai_sim.simulation.progress import Bar


class Progress:
    """A bar over the replications of all tasks, with tasks done, time left and the largest relative
    error.

    Parameters
    ----------
    tasks : int
        Number of tasks.
    show : bool or None
        Whether to show it; None shows it on a terminal or in a notebook only.
    workers : int
        Over how many the time left is spread.
    name_of : callable
        Returns the name of an experiment, None if it is none of the study's.
    """

    def __init__(
        self,
        tasks: int,
        show: bool | None,
        workers: int,
        name_of: Callable[[Experiment], str | None],
    ) -> None:
        """Open the bar."""
        self._tasks, self._workers = tasks, workers
        self._bar = Bar(
            0, show, layout="{n_fmt}/{total_fmt} replications{postfix}", name_of=name_of
        )

    @property
    def shown(self) -> bool:
        """Whether anything is shown."""
        return self._bar.shown

    @property
    def due(self) -> bool:
        """Whether it is worth updating: it is shown, and was not just now."""
        return self._bar.due

    def show(
        self, done: int, total: int, tasks_done: int, seconds_left: float, error: float
    ) -> None:
        """Show replications done and in all, tasks done, seconds of work left, and the largest
        relative half-width."""
        left = "?" if math.isnan(seconds_left) else _clock(seconds_left / self._workers)
        words = [f"{tasks_done}/{self._tasks} tasks", f"{left} left"]
        if not math.isnan(error):
            words.append(f"mean pulls +-{100.0 * error:.2g} % at worst")
        self._bar.put(done, max(total, done), ", ".join(words))

    def close(self) -> None:
        """Leave the last line standing."""
        self._bar.close()


def _clock(seconds: float) -> str:
    """Return minutes and seconds, with hours before if there are any.

    Examples
    --------
    >>> _clock(61.2), _clock(7322.0)
    ('01:01', '2:02:02')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes:02d}:{rest:02d}"
