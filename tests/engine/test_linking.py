"""Helpers are linked into entry points once, and nothing else comes of it."""

import re
import subprocess
import sys
from typing import Any

import numba
import pytest
from numba.core.compiler import Flags
from numba.core.registry import cpu_target

from rai_sim.engine import jit, linking
from rai_sim.engine.jit import driver, exposed, inlined, kernel

PROGRAM = """
import sys
sys.modules["rai_sim.engine.linking"] = None
from rai_sim.engine import jit
@jit.kernel
def third(x):
    return x / 3.0
@jit.inlined
def more(x):
    return third(x) + 1.0
@jit.driver
def entry(x):
    return more(x)
print(entry(6.0), jit._COMPILERS[0].__module__, more.targetoptions["forceinline"])
"""


@kernel
def _half(x: float) -> float:
    return x / 2.0


@kernel
def _nothing(x: float) -> float:
    return 0.0 * x


@inlined
def _quarter(x: float) -> float:
    return _half(_half(x)) + _nothing(x)


@kernel
def _both(x: float) -> float:
    return _half(x) + _quarter(x)


@driver
def entry(x: float) -> float:
    """Call a helper of helpers, one of which several call."""
    return _both(x) + _half(x)


@driver
def other_entry(x: float) -> float:
    """Share its helpers."""
    return _quarter(x) - min(_half(x), 1.0)


def test_what_unpacks_pythons_arguments_is_not_optimised() -> None:
    """It alone; and there is no way in from C."""
    compiled = numba.njit(**jit._ENTRY)(lambda pair: pair[0] + pair[1])
    assert compiled((1, 2.5)) == 3.5
    (result,) = compiled.overloads.values()
    code = result.library.get_llvm_str()
    plain = {
        group
        for group, words in re.findall(r"^attributes #(\d+) = (.*)", code, re.M)
        if "optnone" in words
    }
    defined = re.findall(r"^define .*?@(\w+).* #(\d+)", code, re.M)
    assert len(defined) >= 2
    for name, group in defined:
        assert (group in plain) == name.startswith("_ZN7cpython")
        assert not name.startswith("cfunc")


def test_options_are_those_of_numba() -> None:
    """Faster to compare; the same whoever asks, set or not."""
    given = Flags()
    given.error_model, given.nrt = "numpy", True
    ours = linking._Flags(given)
    assert ours.values() == given.values()
    assert ours == given
    assert hash(ours) == hash(given)
    ours.nrt = False
    assert ours != given
    assert not ours.copy().values()["nrt"]


def libraries(dispatcher: Any) -> list[Any]:
    """Return what was compiled of a function."""
    return [compiled.library for compiled in dispatcher.overloads.values()]


def test_entry_points_share_helpers() -> None:
    """Two of them, one after the other, with two signatures."""
    assert (entry(8.0), other_entry(8.0), entry(4)) == (10.0, 1.0, 5.0)
    assert other_entry(2.0) == -0.5


def test_helpers_are_not_made_into_machine_code() -> None:
    """That is what is saved; their entry point holds all of them, or their code was taken in and
    they are gone."""
    entry(8.0)
    entry.recompile()  # type: ignore[attr-defined]  # whoever loads it from disk has no helpers
    library = libraries(_half)[0]
    engine = cpu_target.target_context.codegen()._engine
    names = [function.name for function in library.get_defined_functions()]
    assert names
    assert not any(engine.is_symbol_defined(name) for name in names)
    assert any(
        engine.is_symbol_defined(function.name)
        for function in libraries(entry)[0].get_defined_functions()
    )


def test_what_stands_in_place_of_calls_does_not_hand_that_on() -> None:
    """A helper that is called from there is called: Numba's own option is inherited, and samplers
    stood in kernels thirty times."""
    entry.recompile()  # type: ignore[attr-defined]  # whoever loads it from disk has no helpers
    for helper, in_place in ((_quarter, True), (_nothing, False), (_half, False), (_both, False)):
        marked = {
            any(b"alwaysinline" in words for words in function.attributes)
            for library in libraries(helper)
            for function in library.get_defined_functions()
        }
        assert marked == {in_place}


def test_a_function_compiled_as_numba_does_it_can_call_helpers() -> None:
    """A user's own, and `exposed` ones."""

    @numba.njit  # type: ignore[untyped-decorator]
    def own(x: float) -> float:
        return _both(x) + _quarter(x)

    assert own(8.0) == 8.0
    assert exposed(_both)(8.0) == 6.0


def test_a_call_from_python_is_refused() -> None:
    """There is no code to call."""
    with pytest.raises(TypeError, match="_half is compiled into other compiled functions only"):
        _half(1.0)


@pytest.mark.slow
def test_without_what_numba_may_take_away() -> None:
    """Where its libraries are built otherwise, functions are compiled as Numba does it, and what
    stands in the place of calls does so by its option."""
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=120
    )
    assert found.stdout.split() == ["3.0", "numba.core.compiler", "True"]
    assert jit._COMPILERS[0].__module__ == "rai_sim.engine.linking"
