"""What is found of a user's code, and what is said of it."""

import numba
import pytest
from numba.core.errors import TypingError

from rai_sim.algorithms.own.code import function_of, not_compiled
from rai_sim.support import sources

SHARE = 1.0


class Base:
    """Has a function, compiled."""

    step = staticmethod(numba.njit(lambda x: x + 1))


class Derived(Base):
    """Inherits it."""


def test_functions_are_found() -> None:
    """Inherited ones, of Numba too; of those that are missing the parameters are said."""
    assert function_of(Derived, "step", "x")(1) == 2
    with pytest.raises(TypeError, match=r"Derived has no function width\(R, delta\); write one"):
        function_of(Derived, "width", "R, delta")


def _reads_a_global(x: float) -> float:
    return SHARE * x


def test_what_changed_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is compiled is kept under the digest of what something was made of: a global that was
    assigned anew in between is refused; what went through once is compiled already."""
    functions = (_reads_a_global,)
    made = sources.code_of(*functions)
    monkeypatch.setitem(globals(), "SHARE", 2.0)
    with pytest.raises(
        ValueError, match="a global that it reads, is not what it was when Race was"
    ):
        sources.confirm("algorithm", "Race", made, functions)
    again = sources.code_of(*functions)
    assert again.digest != made.digest
    sources.confirm("algorithm", "Race", again, functions)
    monkeypatch.setitem(globals(), "SHARE", 3.0)
    sources.confirm("algorithm", "Race", again, functions)


def test_what_is_said_is_short() -> None:
    """Of Numba's many lines those that tell."""
    error = TypingError(
        "Failed in nopython mode\nNo implementation of function\nFile 'x'\n" + "y" * 900
    )
    said = str(not_compiled("Race.step", error))
    assert said.startswith("algorithm: Race.step cannot be compiled: No implementation of function")
    assert len(said) < 600
