"""Where progress is shown: a bar on a terminal or in a notebook, else lines, which suit a log; how
far a replication is that takes long; and what is being compiled."""

from __future__ import annotations

import math
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from rai_sim.simulation.compilation import SMALL, watched
from rai_sim.simulation.experiment import Experiment
from rai_sim.simulation.underway import Lookout
from rai_sim.support.wording import shortened

#: Seconds between two lines of a log.
LINE_SECONDS = 30.0
#: Seconds after which the first line comes if lines were asked for, and between two drawings of a
#: bar.
_FIRST_LINE, _REDRAWN = 1.0, 0.1
#: Seconds between two looks at what is running, which may be one long replication.
_LOOK_SECONDS = 1.0
#: Seconds that a small kernel may take to compile without a word.
_SMALL_SECONDS = 2.0


class _Told:
    """Whether the command line runs: then None, for progress, stands for lines where there is no
    terminal, and compilations are told."""

    by_command_line = False


@contextmanager
def command_line() -> Iterator[None]:
    """While the command line runs, tell what takes long in logs too: what is compiled at once,
    progress unless it is declined."""
    before, _Told.by_command_line = _Told.by_command_line, True
    try:
        with watched(_say_compiling):
            yield
    finally:
        _Told.by_command_line = before


def _say_compiling(what: str, seconds: float | None) -> None:
    """Tell of what replications wait for at once, of small kernels if one took long."""
    if what.partition(" (")[0] == SMALL and (seconds is None or seconds < _SMALL_SECONDS):
        return
    from tqdm import tqdm

    words = f"compiling {what} ..." if seconds is None else f"compiled {what} in {seconds:.0f} s"
    tqdm.write(f"rai-sim: {words}", file=sys.stderr)  # above bars, if there are any


class _Lines:
    """A file for tqdm that writes what is to overwrite a line as a line of its own."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        """Tell tqdm not to draw."""
        return False

    def write(self, text: str) -> None:
        """Write a line, if there is something in it."""
        words = text.strip()
        if words:
            sys.stderr.write(f"rai-sim: {words}\n")

    def flush(self) -> None:
        """Pass it on."""
        sys.stderr.flush()


class Bar:
    """A tqdm bar, lines, or nothing.

    Lines come after 1, 2, 4, ... s and then every LINE_SECONDS; unasked for, on the command line,
    after LINE_SECONDS. While a replication takes long, they and what is drawn every second tell
    how far it is: of worker threads the one that has been at it longest. Worker processes tell of
    whole replications only.

    Parameters
    ----------
    total : int
        Of replications.
    progress : bool or None
        As in `rai_sim.simulation.simulate`.
    name : str
        What is run.
    layout : str, optional
        How tqdm is to write what follows percentage and bar.
    name_of : callable, optional
        Whose replications are told of: as in `rai_sim.simulation.underway.Lookout`; all that this
        process runs if None.
    brief : bool, default False
        Draw nothing in the first second, and leave nothing behind.
    """

    def __init__(
        self,
        total: int,
        progress: bool | None,
        name: str = "",
        layout: str | None = None,
        name_of: Callable[[Experiment], str | None] | None = None,
        brief: bool = False,
    ) -> None:
        """Show that nothing is done yet."""
        self._tqdm: Any = None
        self._below: Any = None
        self._words = ""
        self._lookout = Lookout(name_of or _nameless)
        self._lock, self._ended = threading.RLock(), threading.Event()
        self._open = ExitStack()
        if progress is False or (progress is None and not _Told.by_command_line and not _draws()):
            return
        # here: most calls show no bar, and a notebook bar is slow to import
        from tqdm.auto import (
            tqdm,
        )

        self._lines = not _draws()
        self._always = progress is True
        self._gap = _FIRST_LINE if self._always else LINE_SECONDS
        self._next = time.monotonic() + (self._gap if self._lines else 0.0)
        options: dict[str, Any] = {
            "total": total,
            "unit": "replication",
            "unit_scale": True,
            "desc": f"{name}: " if name else None,
        }
        if self._lines:  # written by `_line` alone
            layout = (
                layout
                or "{n_fmt}/{total_fmt} replications in {elapsed}, {rate_fmt}, {remaining} left"
                "{postfix}"
            )
            options |= {
                "bar_format": "{desc}{percentage:.0f} %, " + layout,
                "file": _Lines(),
                "delay": math.inf,
            }
        elif layout is not None:
            options["bar_format"] = "{percentage:3.0f}%|{bar}| " + layout
        if brief and not self._lines:
            options |= {"leave": False, "delay": _FIRST_LINE}
        self._brief = brief
        self._tqdm = tqdm(**options)
        if not _Told.by_command_line:
            self._open.enter_context(watched(_say_compiling))
        self._open.enter_context(watched(self._after_compiling))
        self._start_looking()

    @property
    def shown(self) -> bool:
        """Whether anything is shown."""
        return self._tqdm is not None

    @property
    def due(self) -> bool:
        """Whether it is worth updating by `put`."""
        return self._tqdm is not None and time.monotonic() >= self._next

    def update(self, count: int) -> None:
        """Count replications that were done."""
        if self._tqdm is None:
            return
        with self._lock:
            if not self._tqdm.n:
                self._start_after(count)
            elif not self._lines:
                self._tqdm.update(count)
            else:
                self._tqdm.n += count
            if self._lines and self.due:
                self._line()

    def _start_after(self, count: int) -> None:
        """Let rate and time left be those of what follows: the first replication loads the kernel,
        or waits for its compilation."""
        bar = self._tqdm
        bar.n = bar.initial = bar.last_print_n = count
        bar.start_t = bar.last_print_t = time.time()
        if not self._lines and not self._brief:
            bar.refresh()

    def put(self, done: int, total: int, words: str) -> None:
        """Show replications done and in all, and words after them."""
        if self._tqdm is None:
            return
        with self._lock:
            self._tqdm.total, self._tqdm.n = total, done
            self._words = words
            if not self._lines:
                self._next = time.monotonic() + _REDRAWN
                self._refresh()
            elif self.due:
                self._line()

    def _start_looking(self) -> None:
        """Have a thread look at what is running: the main one may be in a kernel."""
        self._looker = threading.Thread(target=self._look, name="rai_sim progress", daemon=True)
        try:
            self._looker.start()
        except BaseException:  # Ctrl-C among others; nobody would end it
            self._ended.set()
            raise

    def _look(self) -> None:
        while not self._ended.wait(_LOOK_SECONDS):
            self.look()

    def look(self) -> None:
        """Show how far a replication is that takes long, if there is one and it is time to."""
        with self._lock:
            if self._tqdm is None or self._ended.is_set():
                return
            words = self._lookout.words(time.monotonic())
            if self._lines:
                if words and self.due:
                    self._line()
            elif words or self._below is not None:
                self._refresh()

    def _refresh(self) -> None:
        """Draw or write what is known: how far a long replication is comes last, and on a terminal,
        whose lines are short, in a line of its own."""
        inside = self._lookout.words(time.monotonic())
        if self._lines or _in_notebook():
            words = ", ".join(filter(None, [self._words, inside]))
        else:
            words = self._words
            self._tqdm.delay = 0.0  # to tqdm a bar that waits is not there, nor to be cleared
            self._draw_below(inside)
        self._tqdm.set_postfix_str(words, refresh=False)
        self._tqdm.refresh()

    def _draw_below(self, words: str) -> None:
        if words and self._below is None:
            from tqdm.auto import tqdm

            self._below = tqdm(total=0, bar_format="{desc}", leave=False)
        if self._below is not None:
            columns = shutil.get_terminal_size().columns
            self._below.set_description_str(shortened(words, max(columns - 1, 10)))

    def _line(self) -> None:
        self._refresh()
        self._always = True
        self._next = time.monotonic() + self._gap
        self._gap = min(2.0 * self._gap, LINE_SECONDS)

    def _after_compiling(self, what: str, seconds: float | None) -> None:
        if seconds is not None:  # rate and time left are those of replications
            self._tqdm.start_t += seconds
            self._tqdm.last_print_t += seconds

    def close(self) -> None:
        """Leave the last line standing."""
        self._open.close()
        self._ended.set()
        if self._tqdm is None:
            return
        self._looker.join()
        if self._below is not None:
            self._below.close()
            self._below = None
        if self._lines and self._always:
            self._refresh()
        self._tqdm.close()

    def __enter__(self) -> Bar:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()


def _nameless(_: Experiment) -> str:
    return ""


def _draws() -> bool:
    """Whether bars are drawn: on a terminal, or in a notebook."""
    return bool(sys.stderr is not None and sys.stderr.isatty()) or _in_notebook()


def _in_notebook() -> bool:
    """Whether tqdm draws its bars into a notebook."""
    if "IPython" not in sys.modules:
        return False
    from tqdm.auto import tqdm

    return any(base.__module__ == "tqdm.notebook" for base in tqdm.__mro__)
