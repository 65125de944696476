"""The record of a run of a study, a file of JSON beside the parts that it wrote: what was wanted,
with which versions on which machine, how long it took and how it ended."""

from __future__ import annotations

import json
import secrets
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rai_sim.simulation.compilation import compile_seconds
from rai_sim.simulation.provenance import environment, now
from rai_sim.study.division import Part
from rai_sim.study.store import Store, StoreWarning

if TYPE_CHECKING:
    from rai_sim.study.grid import Study


class Record:
    """The record of a run that has begun; it is written now, and again when it ends.

    Parameters
    ----------
    store : Store
        Where it is kept.
    study : Study
        What is wanted.
    n_jobs : int or None
        As it was given.
    workers : int
        What that came to.
    part : Part or None
        Which of several parts is run; None for all.
    """

    def __init__(
        self,
        store: Store,
        study: Study,
        n_jobs: int | None,
        workers: int,
        part: Part | None = None,
    ) -> None:
        """Write down what is to be run."""
        self._store = store
        #: Replications that were run.
        self.added = 0
        #: Seconds of compilation in worker processes, added up.
        self.compiled_elsewhere = 0.0
        self._compiled, self._began = compile_seconds(), time.monotonic()
        #: The run's name.
        self.run = f"{now().replace(':', '').replace('-', '')[:15]}Z-{secrets.token_hex(4)}"
        self._entries: dict[str, Any] = {
            "run": self.run,
            "status": "running",
            "started": now(),
            "ended": None,
            "replications_added": 0,
            "seconds": 0.0,
            "compile_seconds": 0.0,
            "study": study.describe(),
            "n_jobs": n_jobs,
            "workers": workers,
            "part": None if part is None else str(part),
            **environment(),
        }
        #: What every part says of the run that wrote it.
        self.about = {
            name: str(self._entries[name]) for name in ("run", "rai_sim", "stream_version")
        }
        self._write()

    def end(self, status: str, failures: Mapping[str, str]) -> None:
        """Write down how the run has ended, and which tasks failed with what."""
        self._entries |= {"status": status, "ended": now(), "failures": dict(failures)}
        self._write()

    def _write(self) -> None:
        here = compile_seconds() - self._compiled
        self._entries |= {
            "replications_added": self.added,
            # of work, without compilation
            "seconds": round(max(time.monotonic() - self._began - here, 0.0), 3),
            "compile_seconds": round(here + self.compiled_elsewhere, 3),
        }
        self._store.write_json(f"run-{self.run}.json", self._entries)


def read_records(folder: Path) -> list[dict[str, Any]]:
    """Return the records of the runs that made a store, oldest first; with a warning where one
    cannot be read."""
    records = []
    for path in folder.glob("run-*.json"):
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            records.append(record | {"started": str(record["started"]), "run": str(record["run"])})
        except FileNotFoundError:
            continue  # its name is gone by now
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            warnings.warn(
                f"{path} is passed over: it is no record of a run", StoreWarning, stacklevel=3
            )
    return sorted(records, key=lambda record: (record["started"], record["run"]))
