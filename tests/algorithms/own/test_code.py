"""What is found of a user's code, and what is said of it."""

import numba
import pytest
from numba.core.errors import TypingError
from own_rules import EachOften

from rai_sim.algorithms.own.code import digest, function_of, not_compiled


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


def test_digests_are_kept() -> None:
    """One text a function."""
    function = function_of(EachOften, "step", "")
    assert digest(function) is digest(function)


def test_what_is_said_is_short() -> None:
    """Of Numba's many lines those that tell."""
    error = TypingError(
        "Failed in nopython mode\nNo implementation of function\nFile 'x'\n" + "y" * 900
    )
    said = str(not_compiled("Race.step", error))
    assert said.startswith("algorithm: Race.step cannot be compiled: No implementation of function")
    assert len(said) < 600
