"""One result in a Parquet file of its own: its rows, and in the metadata what was run, with what it
was saved, and a seal.

What was run is written down as a store writes it, and read as a store is: an algorithm or a law
that this process does not know has a stand-in (`rai_sim.study.stored`). The seal is the SHA-256 of
the file with zeros in its own place, so that nothing damaged is decoded: of that polars might make
anything.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import warnings
from pathlib import Path
from typing import Any

import polars as pl

from rai_sim.simulation.frames import rows_of
from rai_sim.simulation.provenance import environment, now
from rai_sim.simulation.result import Result
from rai_sim.study.store import StoreWarning
from rai_sim.study.stored import VERSION, Reader, origins_of
from rai_sim.study.task import Task, instance_key, instance_row, task_row
from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.files import write_atomically
from rai_sim.support.forks import refuse_forked_polars
from rai_sim.support.values import path_of

#: Version of the layout.
FORMAT = 1
_SEAL, _NO_SEAL = re.compile(rb'"sealed": "([0-9a-f]{64})"'), "0" * 64
_REMEDY = "name a file that Result.save has written"


def save_result(result: Result, path: str | os.PathLike[str]) -> None:
    """Write a result into a Parquet file (see `Result.save`)."""
    refuse_forked_polars("Result.save")
    place, run = path_of("path", path), result.experiment
    if place.suffix.lower() != ".parquet":
        raise ArgumentValueError(
            "path",
            f"path is {os.fspath(path)!r}; a result is saved as Parquet: give a name that ends in "
            ".parquet",
        )
    if run.why_not_run is not None:
        raise ArgumentValueError(
            "result", f"the result cannot be saved, as not all of it is known: {run.why_not_run}"
        )
    instance = instance_row(instance_key(run.problem), run.problem)
    gap = instance["bottleneck_gap_reward"]
    about = {
        "format": FORMAT,
        "experiment": task_row(Task("result", run)),
        # of a single cluster it is infinite, for which JSON has no number
        "instance": instance | {"bottleneck_gap_reward": gap if math.isfinite(gap) else "inf"},
        "classes": origins_of([run]),
        "seconds": result.seconds,
        "compile_seconds": result.compile_seconds,
        "arm_pulls_sum": None if result.arm_pulls_sum is None else result.arm_pulls_sum.tolist(),
        "saved": now(),
        "saved_with": environment(),
        "sealed": _NO_SEAL,
    }
    metadata = {"rai_sim": json.dumps(about, allow_nan=False)}
    memory = io.BytesIO()
    result.to_frame().write_parquet(memory, metadata=metadata)
    data = _sealed(memory.getvalue())
    assert data is not None  # the metadata is plain text
    write_atomically(place, lambda file: file.write(data))


def load_result(path: str | os.PathLike[str]) -> Result:
    """Read a result that `Result.save` has written.

    Of an algorithm or a reward law that this process does not know, such as one of a module of
    yours that is not imported, the result can be looked at as any other; a StoreWarning says what
    to import for it to be run again, which is refused.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    Result
        What was saved; equal to it, if all of it is known here.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it holds something else, was damaged or changed, or was written by a later version.

    Examples
    --------
    >>> import tempfile
    >>> import rai_sim as rai
    >>> file = tempfile.mkdtemp() + "/butterscotch.parquet"
    >>> rai.simulate(rai.table_problem(1), rai.Butterscotch(), replications=10).save(file)
    >>> load_result(file)
    Result(Butterscotch(merging=True), delta=0.01, seed=0, replications=10, finished=10)
    """
    refuse_forked_polars("load_result")
    place = path_of("path", path)
    try:
        data = place.read_bytes()
    except OSError as error:
        said = f"path is {os.fspath(path)!r}, which cannot be read: {error.strerror or error}"
        raise type(error)(f"{said}; {_REMEDY}") from None
    about = _about(place, data)
    try:
        instance = about["instance"]
        reader = Reader(
            {instance["instance"]: instance}, lambda: _origins(about), "the file is read"
        )
        experiment = reader.task(about["experiment"]).experiment
        rows = rows_of(pl.read_parquet(io.BytesIO(data)), experiment.problem)
        result = Result(
            experiment,
            **rows._asdict(),
            arm_pulls_sum=about.get("arm_pulls_sum"),
            seconds=float(about["seconds"]),
            compile_seconds=float(about["compile_seconds"]),
        )
    # of a file that is whole, but whose writer was another one
    except (pl.exceptions.PolarsError, OSError, ValueError, TypeError, KeyError) as error:
        raise _no_result(place, f"what is written in it makes no sense ({error})") from None
    for remedy in reader.remedies:
        warnings.warn(
            f"{place} can be looked at, but not run again: {remedy}", StoreWarning, stacklevel=2
        )
    return result


def _about(place: Path, data: bytes) -> dict[str, Any]:
    """Return what a file says of itself, which is whole."""
    sealed = _sealed(data)
    if sealed is None:
        raise _no_result(place, "it has no seal")
    if sealed != data:
        raise _no_result(place, "it was damaged, or changed after it was saved")
    about: dict[str, Any] = json.loads(pl.read_parquet_metadata(io.BytesIO(data))["rai_sim"])
    version = about.get("format")
    if version != FORMAT:
        wrote = _origins(about)[VERSION]
        raise _no_result(
            place,
            f"it has format {version}, this rai_sim reads format {FORMAT}",
            f"use rai_sim {wrote}",
        )
    return about


def _origins(about: dict[str, Any]) -> dict[str, str]:
    """Return where classes come from, and the version of the package that wrote the file."""
    saved, classes = about.get("saved_with"), about.get("classes")
    version = saved.get("rai_sim") if isinstance(saved, dict) else None
    found = classes if isinstance(classes, dict) else {}
    return {str(name): str(origin) for name, origin in found.items()} | {
        VERSION: "" if version is None else str(version)
    }


def _no_result(place: Path, why: str, remedy: str = _REMEDY) -> ArgumentValueError:
    return ArgumentValueError(
        "path", f"path is {str(place)!r}, which holds no result: {why}; {remedy}"
    )


def _sealed(data: bytes) -> bytes | None:
    """Return a file with the seal that it should have; None of one without a seal."""
    found = list(_SEAL.finditer(data))
    if len(found) != 1:
        return None
    start, stop = found[0].span(1)
    digest = hashlib.sha256(data[:start] + _NO_SEAL.encode() + data[stop:]).hexdigest()
    return data[:start] + digest.encode() + data[stop:]
