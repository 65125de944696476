"""Clusters of real processes on this machine's loopback, for tests and benchmarks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType

_ROOT = Path(__file__).parents[1]
#: Seconds that a scheduler or worker may take to start, on a busy machine.
_PATIENCE = 60.0


class DaskCluster:
    """A scheduler of Dask and workers of one thread each, as processes of their own on 127.0.0.1,
    at ports that are free, without dashboards or nannies.

    Parameters
    ----------
    workers : int
        How many.

    Attributes
    ----------
    scheduler, workers : process, list of processes
        To be killed at will.
    address : str
        The scheduler's.
    """

    def __init__(self, workers: int) -> None:
        """Nothing has been started yet."""
        self._wanted = workers
        self._folder = TemporaryDirectory()
        self.workers: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> DaskCluster:
        """Start all, and wait for the scheduler's address."""
        contact = Path(self._folder.name) / "scheduler.json"
        try:
            self.scheduler = self._start(
                "dask_scheduler", "--host", "tcp://127.0.0.1:0", "--scheduler-file", str(contact)
            )
            self.address = str(self._waited_for(contact)["address"])
            for _ in range(self._wanted):
                self.add_worker()
        except BaseException:
            self.stop()
            raise
        return self

    def add_worker(self) -> subprocess.Popen[bytes]:
        """Start one more worker."""
        options = ("--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--local-directory", ".")
        worker = self._start("dask_worker", self.address, *options)
        self.workers.append(worker)
        return worker

    def _start(self, program: str, *options: str) -> subprocess.Popen[bytes]:
        with open(Path(self._folder.name) / "log", "ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{program}", "--no-dashboard", *options],
                cwd=self._folder.name,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def _waited_for(self, contact: Path) -> dict[str, object]:
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until and self.scheduler.poll() is None:
            try:
                found: dict[str, object] = json.loads(contact.read_text())
            except (FileNotFoundError, json.JSONDecodeError):
                time.sleep(0.05)
            else:
                return found
        raise RuntimeError(f"the scheduler did not start: {self.log()}")

    def log(self) -> str:
        """Return what all have said."""
        return (Path(self._folder.name) / "log").read_text(errors="replace")

    def stop(self) -> None:
        """Kill all that still run."""
        processes = [*self.workers, *([self.scheduler] if hasattr(self, "scheduler") else [])]
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()
        self._folder.cleanup()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self.stop()


def environment() -> dict[str, str]:
    """Return this process's environment, in which the package and the tests are found."""
    path = os.pathsep.join(
        filter(None, (str(_ROOT), str(_ROOT / "tests"), os.environ.get("PYTHONPATH")))
    )
    return os.environ | {"PYTHONPATH": path}
