"""A kernel that compiles in no time, in a module that can be loaded again and again, as fresh
processes would."""

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from numba.core import config

from rai_sim.engine import kernel_cache

SOURCE = """
from typing import NamedTuple
from rai_sim.engine.jit import driver

class Line(NamedTuple):
    slope: float
    offset: float

@driver
def at(line, x):
    return line.slope * x + line.offset
"""
NAME = "tiny_kernels_of_a_test"


def begin(folder: Path, source: str = SOURCE) -> None:
    """Write the module, whose kernels are to be kept in `folder`/cache."""
    path = folder / f"{NAME}.py"
    # some versions of Numba go by a source's time
    if not path.exists() or path.read_text() != source:
        path.write_text(source)
        # bytecode is told apart by seconds and sizes
        shutil.rmtree(folder / "__pycache__", ignore_errors=True)
    config.CACHE_DIR = str(folder / "cache")


def fresh(folder: Path, name: str = NAME) -> ModuleType:
    """Load the module as a process that has compiled nothing and warned of nothing."""
    kernel_cache._warned.clear()
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def values(module: Any) -> tuple[tuple[float, float], int]:
    """Return what two signatures give, and how many of them were found on disk."""
    found = module.at(module.Line(2.0, 0.5), 4.0), module.at(module.Line(2.0, 0.5), 4)
    return found, sum(module.at.stats.cache_hits.values())


#: What `values` gives of the module's first state: 2 x 4 + 1/2.
RIGHT = (8.5, 8.5)


def files(folder: Path) -> list[Path]:
    """Return the kernels' files."""
    return sorted((folder / "cache").rglob("*.nbc"))
