"""What is found of a user's code, and what is said of it."""

from typing import Any

import numba
import pytest
from numba.core.errors import TypingError

import rai_sim as rai
from rai_sim.algorithms.base import ALGORITHMS
from rai_sim.algorithms.own.code import function_of, not_compiled, what_returned
from rai_sim.engine.jit import WHOLE
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


@pytest.mark.parametrize(
    ("base", "name", "function", "words"),
    [
        (rai.OwnRule, "step", lambda task, counts: 0, r"Odd.step takes \(task, counts\); write it"),
        (
            rai.OwnRule,
            "step",
            lambda self, counts, sums, scratch, arms: 0,  # five, and yet not those
            r"takes \(self, counts.*\); .* @staticmethod above it, of \(task, counts, sums, ",
        ),
        (rai.OwnRoundRobin, "width", lambda R: R, r"of \(R, n_arms, delta, pairs, tuned\)"),
    ],
)
def test_parameters_are_looked_at_when_a_class_is_defined(
    base: type, name: str, function: Any, words: str
) -> None:
    """Too few, the class's object, options forgotten; the class is not known then."""
    body = {name: staticmethod(function), "tuned": 1.0, "__annotations__": {"tuned": float}}
    with pytest.raises(TypeError, match=words):
        type("Odd", (base,), {"__module__": __name__, **body})
    assert "odd" not in ALGORITHMS


def test_what_a_function_gave_back() -> None:
    """By its type; nothing, where it came to its end while it ran; None where that is right."""
    error = TypingError("no")
    assert what_returned(error, lambda x: 0.5, (1,), WHOLE) == "a float"
    assert what_returned(error, lambda x: 1, (1,), WHOLE) is None
    assert what_returned(error, lambda x: x.a, (1,), WHOLE) is None
    assert (
        what_returned(TypeError("expected int64, got None"), lambda x: 1, (1,), WHOLE) == "nothing"
    )
    assert what_returned(TypeError("no"), lambda x: 0.5, (1,), WHOLE) is None
