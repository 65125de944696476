"""Digests of a user's functions: the same for the same numbers, others for others."""

import math
import types
from typing import Any

import numba
import numpy as np

from rai_sim.support.sources import digest_of, plain

FACTOR = 2.0
TABLE = np.array([1.0, 2.0])


def helper(x: float) -> float:
    """Help."""
    return FACTOR * x


compiled_helper = numba.njit(helper)


def _made(text: str, **names: Any) -> Any:
    """Return the function that a text defines, which has no source, with some globals."""
    space: dict[str, Any] = {"math": math, "__name__": "somewhere", **names}
    exec(text, space)
    return space["f"]


def test_comments_docstrings_and_annotations_do_not_count() -> None:
    """The same code, laid out otherwise."""

    def f(x: float, y: float = 1.0) -> float:
        """Say what it is."""
        # a comment
        return math.sqrt(x + y)

    first = f

    def f(x, y=1.0):  # type: ignore[no-untyped-def, no-redef]
        return math.sqrt(x + y)

    assert digest_of(first) == digest_of(f)


def test_code_defaults_and_what_is_called_count() -> None:
    """Each change is another digest."""

    def make(text: str, **names: Any) -> str:
        return digest_of(_made(text, **names))

    plain_text = "def f(x, y=1.0):\n    return g(x) + K"
    base = make(plain_text, g=helper, K=1.0)
    assert base == make(plain_text, g=helper, K=1.0)
    others = {
        make("def f(x, y=1.0):\n    return g(x) - K", g=helper, K=1.0),
        make("def f(x, y=2.0):\n    return g(x) + K", g=helper, K=1.0),
        make(plain_text, g=helper, K=2.0),
        make(plain_text, g=math.sqrt, K=1.0),
        make(plain_text, g=lambda x: x, K=1.0),
        make(plain_text, g=helper, K=np.array([1.0])),
        make(plain_text, g=helper, K=np.array([2.0])),
    }
    assert len(others) == 7
    assert base not in others
    # compiled or not
    assert base == make(plain_text, g=compiled_helper, K=1.0)


def test_what_helpers_read_counts() -> None:
    """A global of a helper, and a function of a module of the user's."""

    def make(factor: float) -> str:
        helping = types.FunctionType(helper.__code__, {"FACTOR": factor, "__name__": "somewhere"})
        return digest_of(_made("def f(x):\n    return g(x)", g=helping))

    assert make(2.0) != make(3.0)

    def of_module(text: str) -> str:
        module = types.ModuleType("users_own")
        exec(text, module.__dict__)
        return digest_of(_made("def f(x):\n    return m.g(x)", m=module))

    one, other = (of_module(f"def g(x):\n    return {k} * x") for k in (1, 2))
    assert one != other


def test_functions_that_call_themselves_end() -> None:
    """Seen once."""

    def down(n: int) -> int:
        return 0 if n == 0 else down(n - 1)

    assert len(digest_of(down)) == 64


def test_plain() -> None:
    """The Python function behind any of them."""
    assert plain(helper) is plain(compiled_helper) is plain(staticmethod(helper)) is helper
    assert plain(TABLE) is plain(math.sqrt) is None
