"""What studies are tried on."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from clock import Clock
from studies import CLOCK, parts, small

from rai_sim.algorithms.base import ALGORITHMS
from rai_sim.simulation import parts as simulated_parts
from rai_sim.study import job, record, run


@pytest.fixture
def registries() -> Iterator[None]:
    """Forget test algorithms afterwards."""
    before = dict(ALGORITHMS)
    yield
    ALGORITHMS.clear()
    ALGORITHMS.update(before)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a store with two parts of rows, also where kernels take long to load."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "_FLUSH_LEAST", 1000.0)
        patch.setattr(run, "_FLUSH_MOST", 1000.0)
        small(20).run(tmp_path / "store")
        small(40).run(tmp_path / "store")
    assert len(parts(tmp_path / "store")) == 2
    return tmp_path / "store"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Run studies on a clock that the test's algorithm lets go on."""
    CLOCK.now = 0.0
    time = SimpleNamespace(perf_counter=CLOCK, monotonic=CLOCK)
    for module in (run, job, record, simulated_parts):
        monkeypatch.setattr(module, "time", time)
    return CLOCK
