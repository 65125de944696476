"""One line that says how far a study is."""

from __future__ import annotations

import math
import time
from typing import Any


class Progress:
    """A bar over the replications of all tasks, with tasks done, time left and the largest relative error.

    Parameters
    ----------
    tasks : int
        Number of tasks.
    show : bool or None
        Whether to show it; None shows it on a terminal or in a notebook only.
    workers : int
        Over how many the time left is spread.
    """

    def __init__(self, tasks: int, show: bool | None, workers: int) -> None:
        """Open the bar."""
        self._bar: Any = None
        self._tasks, self._workers = tasks, workers
        self._last = -math.inf
        if show is False:
            return
        from tqdm.auto import tqdm

        layout = "{percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} replications{postfix}"
        self._bar = tqdm(total=0, unit_scale=True, bar_format=layout, disable=None if show is None else False)

    @property
    def due(self) -> bool:
        """Whether it is worth updating: it is shown, and was not for a tenth of a second."""
        return self._bar is not None and not self._bar.disable and time.monotonic() - self._last > 0.1

    def show(self, done: int, total: int, tasks_done: int, seconds_left: float, error: float) -> None:
        """Show replications done and in all, tasks done, seconds of work left, and the largest relative half-width."""
        if self._bar is None or self._bar.disable:
            return
        self._last = time.monotonic()
        self._bar.total, self._bar.n = max(total, done), done
        left = "?" if math.isnan(seconds_left) else self._bar.format_interval(seconds_left / self._workers)
        words = [f"{tasks_done}/{self._tasks} tasks", f"{left} left"]
        if not math.isnan(error):
            words.append(f"mean pulls +-{100.0 * error:.2g} % at worst")
        self._bar.set_postfix_str(", ".join(words), refresh=False)
        self._bar.refresh()

    def close(self) -> None:
        """Leave the last line standing."""
        if self._bar is not None:
            self._bar.close()
