"""What studies are tried on."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from clock import Clock
from studies import CLOCK, parts, small

from rai_sim.algorithms.base import ALGORITHMS
from rai_sim.simulation import parts as simulated_parts
from rai_sim.study import backlog, job, record, run


@pytest.fixture
def registries() -> Iterator[None]:
    """Forget test algorithms afterwards."""
    before = dict(ALGORITHMS)
    yield
    ALGORITHMS.clear()
    ALGORITHMS.update(before)


@pytest.fixture(scope="session")
def two_parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with two parts of rows, also where kernels take long to load; to be copied."""
    store = tmp_path_factory.mktemp("parts") / "store"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backlog, "_LEAST", 1000.0)
        patch.setattr(backlog, "_MOST", 1000.0)
        small(20).run(store)
        small(40).run(store)
    assert len(parts(store)) == 2
    return store


@pytest.fixture
def folder(two_parts: Path, tmp_path: Path) -> Path:
    """Return a store with two parts of rows, of the test's own."""
    return shutil.copytree(two_parts, tmp_path / "store")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Run studies on a clock that the test's algorithm lets go on."""
    CLOCK.now = 0.0
    time = SimpleNamespace(perf_counter=CLOCK, monotonic=CLOCK)
    for module in (run, backlog, job, record, simulated_parts):
        monkeypatch.setattr(module, "time", time)
    return CLOCK
