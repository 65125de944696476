"""Kernels of several algorithms, compiled side by side.

Numba compiles one function at a time in a process. So where several algorithms are to be run and
the first of them turns out not to be compiled yet, a second process compiles for those that come
last and keeps the result on disk, where this process finds it. Whatever goes wrong with it costs
nothing but time: what is not there is compiled here.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from numba.core import event

from rai_sim.engine.kernel_cache import KernelCache
from rai_sim.simulation.compilation import waited_for
from rai_sim.simulation.experiment import Experiment
from rai_sim.simulation.provenance import usable_cores
from rai_sim.simulation.workers import block_for, run_into

#: Where this package lies: kernels on disk are those of one place.
_HOME = str(Path(__file__).resolve().parents[2])


@contextmanager
def compiled_beside(experiments: Sequence[Experiment]) -> Iterator[Helper]:
    """Have kernels compiled in two processes if any has to be.

    Parameters
    ----------
    experiments : sequence of Experiment
        What is to be run, in this order.

    Yields
    ------
    Helper
        To be asked to `wait` before each experiment is run.

    Examples
    --------
    >>> import rai_sim as rai
    >>> problem = rai.table_problem()
    >>> experiments = [Experiment(problem, rai.Vanilla(), 0.1, 0, 1e-12, None)]
    >>> with compiled_beside(experiments) as helper:
    ...     helper.wait(experiments[0])
    """
    helper = Helper(_last_first(experiments))
    if helper.experiments and usable_cores() > 1 and sys.executable:
        with event.install_listener("numba:compile", _Starter(helper)):
            try:
                yield helper
            finally:
                helper.stop()
    else:
        yield helper


def _last_first(experiments: Sequence[Experiment]) -> list[Experiment]:
    """Return one experiment an algorithm, but for the first one's, from the last on.

    Its first options stand for all: most share their kernels, and what others need besides is
    compiled here. At a cap of one pull a run ends at once.
    """
    kinds: dict[type, Experiment] = {}
    for one in experiments:
        kinds.setdefault(type(one.algorithm), replace(one, max_pulls=1))
    return list(kinds.values())[:0:-1]


class _Starter(event.Listener):  # type: ignore[misc]  # numba is untyped
    """Starts the helper when this process begins to compile what is kept on disk."""

    def __init__(self, helper: Helper) -> None:
        self._helper = helper

    def on_start(self, event: Any) -> None:
        if isinstance(event.data["dispatcher"]._cache, KernelCache):
            self._helper.start()

    def on_end(self, event: Any) -> None:
        pass


class Helper:
    """The second process, once it is needed.

    Attributes
    ----------
    experiments : list of Experiment
        What it compiles for, in its order.
    """

    def __init__(self, experiments: list[Experiment]) -> None:
        """Nothing is started yet."""
        self.experiments = experiments
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.current_thread()
        self._begun: set[type] = set()
        self._done: dict[type, threading.Event] = {
            type(one.algorithm): threading.Event() for one in experiments
        }

    def start(self) -> None:
        """Start it, once."""
        if self._process is not None:
            return
        # -P: not a copy that lies in the current folder
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-m",
                __name__,
            ],
            env=os.environ
            | {"PYTHONPATH": os.pathsep.join(filter(None, [_HOME, os.environ.get("PYTHONPATH")]))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._thread = threading.Thread(
            target=self._follow, args=(self._process,), name="rai_sim beside", daemon=True
        )
        self._thread.start()

    def _follow(self, process: subprocess.Popen[bytes]) -> None:
        """Hand it the work and note how far it is; at its end, whatever that is, nobody waits."""
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(OSError), process.stdin:  # it may be gone already
            pickle.dump(self.experiments, process.stdin)
        kinds = [type(one.algorithm) for one in self.experiments]
        with process.stdout:
            for line in process.stdout:
                what, number = line.split()
                if what == b"begun":
                    self._begun.add(kinds[int(number)])
                else:
                    self._done[kinds[int(number)]].set()
        for done in self._done.values():
            done.set()

    def wait(self, experiment: Experiment) -> None:
        """Wait until what the process is compiling for an experiment is on disk, if it has begun.

        The time counts as compilation's.
        """
        kind = type(experiment.algorithm)
        if kind in self._begun and not self._done[kind].is_set():
            with waited_for(experiment):
                self._done[kind].wait()

    def stop(self) -> None:
        """End the process: what it has not kept by now is not needed."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._thread.join()


def main() -> None:
    """Compile for the experiments on the standard input; say on the other when one begins and
    ends."""
    for number, one in enumerate(pickle.load(sys.stdin.buffer)):
        print("begun", number, flush=True)
        run_into(one, 0, block_for(one, 1))
        print("done", number, flush=True)


if __name__ == "__main__":
    main()
