"""With what, when and where numbers were made."""

from __future__ import annotations

import datetime
import os
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rai_sim.engine.jit import source_digest
from rai_sim.engine.streams import STREAM_VERSION
from rai_sim.support.version import __version__

#: Libraries whose versions may matter to the numbers or the files.
_LIBRARIES = ("numpy", "numba", "llvmlite", "scipy", "joblib", "polars")


def processor() -> str:
    """Return the processor's model, without the machine's name.

    Examples
    --------
    >>> processor() != ""
    True
    """
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    models = [line.partition(":")[2] for line in text.splitlines() if line.startswith("model name")]
    return (
        " ".join((models[0] if models else "").split())
        or platform.processor()
        or platform.machine()
    )


def usable_cores() -> int:
    """Return the number of cores that this process may use.

    Examples
    --------
    >>> usable_cores() >= 1
    True
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def now() -> str:
    """Return the time in UTC, to the millisecond, as ISO 8601.

    Examples
    --------
    >>> now()
    '...T...+00:00'
    """
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


def environment() -> dict[str, Any]:
    """Return package and library versions, STREAM_VERSION, a digest of the kernels' sources,
    Python, system and processor.

    Examples
    --------
    >>> sorted(environment())
    ['cores', 'kernels_sha256', 'libraries', 'processor', 'python', 'rai_sim', 'stream_version', 'system']
    """
    return {
        "rai_sim": __version__,
        "stream_version": STREAM_VERSION,
        "kernels_sha256": source_digest(),
        "python": platform.python_version(),
        "libraries": {name: _version(name) for name in _LIBRARIES},
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processor": processor(),
        "cores": usable_cores(),
    }


@cache  # every run of a study is noted with them, and to read them took longer than to load a store
def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
