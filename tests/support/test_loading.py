"""No garbage is looked for while the package is loaded; afterwards as before."""

import gc
import subprocess
import sys

import pytest

from rai_sim.support.loading import without_collections


def _fail() -> None:
    assert not gc.isenabled()
    raise ImportError


def test_what_was_comes_back() -> None:
    """Also where loading fails; who has switched collections off finds them off."""
    with pytest.raises(ImportError), without_collections():
        _fail()
    assert gc.isenabled()
    gc.disable()
    try:
        with without_collections():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize("before", ["gc.enable()", "gc.disable()"])
def test_an_import_leaves_the_collector_as_it_is(before: str) -> None:
    """And makes no collection, of which each says when it begins."""
    code = f"""
import gc
{before}
was, seen = gc.isenabled(), []
gc.callbacks.append(lambda phase, about: seen.append("numba" in sys.modules))
import sys
import rai_sim
gc.callbacks.clear()
assert gc.isenabled() == was
print(sum(seen))  # those from Numba's first module on
"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(shown.stdout) <= 2  # the beginning and end of one right after
