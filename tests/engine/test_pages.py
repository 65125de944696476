"""Arrays of which only what is written to takes up memory."""

import mmap
import subprocess
import sys

import numpy as np
import pytest

from rai_sim.engine.pages import LARGE, spare

#: Twelve rows of 800 kB: says how much more memory is resident when each has a number.
_PROGRAM = """
import numpy as np
from rai_sim.engine.pages import spare

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096

rows = spare((12, 100_000), np.float64)
before = resident()
rows[:, 0] = 1.0
print(resident() - before)
"""


@pytest.mark.parametrize("length", [10, LARGE // 8, LARGE])
def test_they_are_arrays(length: int) -> None:
    """Short ones and long ones: what is written is read, and is nobody else's."""
    one, other = spare((2, length), np.float64), spare((2, length), np.float64)
    one[:], other[:] = 1.0, 2.0
    assert (one == 1.0).all()
    assert one.dtype == np.float64
    assert one.flags.c_contiguous
    assert one.flags.writeable
    assert spare((3, 5), np.int32).dtype == np.int32


def test_where_large_pages_cannot_be_declined(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy's own memory is taken."""
    monkeypatch.delattr(mmap, "MADV_NOHUGEPAGE", raising=False)
    rows = spare((2, LARGE), np.int8)
    assert rows.flags.owndata
    assert rows.shape == (2, LARGE)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
def test_only_what_is_written_takes_up_memory() -> None:
    """A number in each of twelve rows: less than 200 kB where all of them have 9.6 MB."""
    found = subprocess.run(
        [sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True
    )
    assert int(found.stdout) < 200_000
