"""Rounds of killing a study at random moments and going on with it, for the tests' size and for
scripts/verify.py."""

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import polars as pl
from parts_worker import place, wanted
from study_worker import study

from rai_sim.study import StoreWarning, merge_studies, open_study

#: Its warnings are of files that were being written when their writer was killed.
_PROGRAM = (
    sys.executable,
    "-W",
    "ignore::UserWarning",
    str(Path(__file__).with_name("study_worker.py")),
)
#: Seconds between two parts: some kills strike while one is written.
_PATIENCE = 0.01


class Kills(NamedTuple):
    """What was found: rounds with a kill, of them those in which the study had got on, files that a
    killed writer had left, and faults."""

    rounds: int
    advances: int
    unfinished: int
    faults: list[str]


class PartsKilled(NamedTuple):
    """What was found: kills, replications that runs which came to their end have added, beyond
    those wanted, and faults."""

    killed: int
    repeated: int
    faults: list[str]


def kill_parts(
    place_: Path,
    count: int,
    amount: str,
    kills: int,
    where: str = "apart",
    keep: str = "replications",
    seed: int = 0,
) -> PartsKilled:
    """Run a study as parts in as many processes at once, kill them at random moments and start them
    anew; compare what comes of it with one process that was left alone.

    Parameters
    ----------
    place_ : Path
        A folder for the stores.
    count : int
        Parts.
    amount : str
        Replications, or a precision below 1.
    kills : int
        Of all parts together.
    where : {"apart", "shared", "claims"}
        Each part into a folder of its own, which are merged; or all into one; or into one without
        parts, so that work is claimed.
    keep : {"replications", "aggregates"}
        What the study keeps.
    seed : int
        Of the moments.
    """
    program = [sys.executable, *_PROGRAM[1:3], str(Path(__file__).with_name("parts_worker.py"))]
    words = [str(place_), where, str(count), keep, amount, str(kills), str(seed)]
    root = str(Path(__file__).parents[1])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    told = subprocess.run(
        [*program, *words],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": path},
    )
    found = json.loads(told.stdout)
    faults = [f"part {number} failed: {told.stderr[-400:]}" for number in found["failed"]]
    whole = wanted(amount, keep)
    with warnings.catch_warnings():
        # of files that were being written when their writer was killed
        warnings.simplefilter("ignore", StoreWarning)
        if where == "apart":
            folders = [place(place_, where, number) for number in range(1, count + 1)]
            merge_studies(folders, place_ / "together")
            together = whole.results(place_ / "together")
        else:
            together = whole.results(place_ / "shared")
        alone = whole.run(place_ / "alone")
        if together.unfinished():
            faults.append(f"{len(together.unfinished())} tasks are not finished")
        frames = [("the summary", together.summary(), alone.summary())]
        one, other = (open_study(results.folder).summary() for results in (together, alone))
        frames.append(("the folder's summary", one, other))
        if keep == "replications":
            frames.append(("a row", _rows(together.folder), _rows(alone.folder)))
    faults += [f"{name} is another one" for name, one, other in frames if not one.equals(other)]
    left = [path.name for path in together.folder.glob(".claim-*")]
    run = sum(record["replications_added"] for record in together.runs())
    return PartsKilled(found["killed"], run - together.progress()[1], faults + left)


class _Server:
    """The program that forks a process for each run."""

    def __init__(self) -> None:
        root = str(Path(__file__).parents[1])
        path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            _PROGRAM,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": path},
        )

    def start(self, folder: Path, replications: int, keep: str) -> int:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{folder} {replications} {keep} {_PATIENCE}\n")
        self._process.stdin.flush()
        said = sorted(self._line() for _ in range(2))
        if said[1] != "ready":
            raise RuntimeError(f"the study did not start: {said}")
        return int(said[0].removeprefix("pid "))

    def end(self) -> bool:
        """Wait for the process's end, and return whether the study was done."""
        return self._line() == "done" and self._line() == "ended"

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def close(self) -> None:
        self._process.communicate()


def kill(rounds: int, keep: str = "replications", seed: int = 0, to_each: int = 50) -> Kills:
    """Kill a study so many times, `to_each` times each study before it is run to its end; compare
    with one that was left alone.

    Parameters
    ----------
    rounds : int
        Kills in all.
    keep : {"replications", "aggregates"}
        What the study keeps.
    seed : int
        Of the moments.
    to_each : int
        Kills of a study; those come within half of the time that it takes.
    """
    replications, rng, faults = 3000, np.random.default_rng(seed), list[str]()
    done = advances = unfinished = 0
    server = _Server()
    try:
        with TemporaryDirectory() as place:
            whole = Path(place) / "whole"
            server.start(whole, replications, keep)
            began = time.perf_counter()
            if not server.end():
                raise RuntimeError("the study that nobody killed did not end")
            length = time.perf_counter() - began
            while done < rounds:
                folder, before, wanted = (
                    Path(place) / f"killed-{done}",
                    dict[str, bytes](),
                    min(to_each, rounds - done),
                )
                for _ in range(wanted):
                    pid = server.start(folder, replications, keep)
                    time.sleep(rng.uniform(0.0, length / to_each))
                    os.kill(pid, signal.SIGKILL)
                    if server.end():
                        faults.append(f"{folder.name}: done before it was killed {wanted} times")
                    now = _parts(folder, keep)
                    faults += [
                        f"{folder.name}: {name} was lost or changed"
                        for name, data in before.items()
                        if now.get(name) != data
                    ]
                    done, advances, before = done + 1, advances + (len(now) > len(before)), now
                unfinished += len(list(folder.glob(".*.writing"))) + len(
                    list(folder.glob("*.set-aside"))
                )
                faults += _faults_after(folder, whole, replications, keep, before)
    finally:
        server.close()
    return Kills(done, advances, unfinished, faults)


def _faults_after(
    folder: Path, whole: Path, replications: int, keep: str, before: dict[str, bytes]
) -> list[str]:
    """Run the study to its end, and return in what it differs from the one that nobody killed."""
    wanted, faults = study(replications, keep), []
    with warnings.catch_warnings():
        # of files that were being written when their writer was killed
        warnings.simplefilter("ignore", StoreWarning)
        results = wanted.run(folder)
    alone = wanted.results(whole)
    if not results.summary().equals(alone.summary()):
        faults.append(f"{folder.name}: the summary is another one")
    if keep == "replications" and not _rows(folder).equals(_rows(whole)):
        faults.append(f"{folder.name}: rows were lost, doubled or changed")
    if results.progress() != alone.progress():
        faults.append(f"{folder.name}: {results.progress()} replications")
    now = _parts(folder, keep)
    faults += [
        f"{folder.name}: {name} was lost or changed at the end"
        for name, data in before.items()
        if now.get(name) != data
    ]
    aside = [path.name for path in folder.glob("*.set-aside") if ".writing" not in path.name]
    faults += [f"{folder.name}: {name} was set aside, which no part should be" for name in aside]
    records = {path.name: json.loads(path.read_text()) for path in folder.glob("run-*.json")}
    faults += [
        f"{folder.name}: {name} is no record"
        for name, record in records.items()
        if "status" not in record
    ]
    return faults


def _rows(folder: Path) -> pl.DataFrame:
    """Return all stored rows, sorted, read by polars alone."""
    return pl.concat(
        [pl.read_parquet(path) for path in folder.glob("replications-*.parquet")]
    ).sort("task", "replication")


def _parts(folder: Path, keep: str) -> dict[str, bytes]:
    """Return names and contents of the parts with results."""
    return {path.name: path.read_bytes() for path in folder.glob(f"{keep}-*.parquet")}
