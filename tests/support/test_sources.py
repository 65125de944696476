"""Digests of a user's functions: the same for the same numbers, others for others."""

import enum
import functools
import linecache
import math
import statistics
import sys
import types
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from rai_sim.support.sources import check_parameters, code_of, digest_of, is_still, plain

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


def _module(text: str, **names: Any) -> types.ModuleType:
    module = types.ModuleType("users_own")
    module.__dict__.update(names)
    exec(text, module.__dict__)
    return module


def _one(x: float) -> float:
    return x


def _two(x: float) -> float:
    return 2 * x


def _twin(function: Any) -> Any:
    """Return another function of the same code."""
    return types.FunctionType(function.__code__, {"__name__": "somewhere"})


LONG = np.arange(5000.0)
OTHER = np.where(LONG == 2500.0, 0.0, LONG)
READS = "def f(x):\n    return K[0]"
CALLS = "def f(x):\n    return g(x)"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (_made("def f(x): return math.sin(x)"), _made("def f(x): return math.cos(x)")),
        (_made("def f(x): return x.a"), _made("def f(x): return x.b")),
        (lambda x: math.sin(x), lambda x: math.cos(x)),
        (
            _made("def f(x):\n def g(y): return y + 1\n return g(x)"),
            _made("def f(x):\n def g(y): return y * 1\n return g(x)"),
        ),
        (
            _made("def f(x): return m.C", m=_module("C = 1")),
            _made("def f(x): return m.C", m=_module("C = 2")),
        ),
        (
            _made("def f(x): return m.sub.C", m=_module("", sub=_module("C = 1"))),
            _made("def f(x): return m.sub.C", m=_module("", sub=_module("C = 2"))),
        ),
        (_made(READS, K=(LONG,)), _made(READS, K=(OTHER,))),
        (_made(READS, K={0: LONG}), _made(READS, K={0: OTHER})),
        (_made(READS, K=(_one,)), _made(READS, K=(_two,))),
        (
            _made("def f(x): return E.A", E=enum.IntEnum("E", {"A": 1})),
            _made("def f(x): return E.A", E=enum.IntEnum("E", {"A": 2})),
        ),
        (
            _made("def f(x): return E.A", E=type("E", (), {"A": 1, "__module__": "somewhere"})),
            _made("def f(x): return E.A", E=type("E", (), {"A": 2, "__module__": "somewhere"})),
        ),
        (
            _made(CALLS, g=numba.njit(_one)),
            _made(CALLS, g=numba.njit(fastmath=True)(_one)),
        ),
        (_made(CALLS, g=numba.vectorize(_one)), _made(CALLS, g=numba.vectorize(_two))),
        (
            _made("def f(x, g=G): return g(x)", G=_one),
            _made("def f(x, g=G): return g(x)", G=_two),
        ),
    ],
)
def test_whatever_numbers_depend_on_counts(one: Any, other: Any) -> None:
    """Attributes of modules, classes and arguments, what is in tuples, options of Numba."""
    assert digest_of(one) != digest_of(other)
    assert digest_of(one, by_source=False) != digest_of(other, by_source=False)


def test_addresses_do_not_count() -> None:
    """The same program has the same digest in the next process."""

    class Thing:
        pass

    for ones, others in (
        ((_twin(_one),), (_twin(_one),)),
        (Thing(), Thing()),
        ({"a": [_twin(_two)]}, {"a": [_twin(_two)]}),
    ):
        assert digest_of(_made(READS, K=ones)) == digest_of(_made(READS, K=others))


def test_what_stands_in_between_counts() -> None:
    """A wrapper's code, whose source Python gives as that of what it wraps."""

    def wrapped(text: str) -> Any:
        return functools.wraps(_one)(_made(text, g=_one))

    one, other = (wrapped(f"def f(x):\n    return {k} * g(x)") for k in (2, 3))
    assert digest_of(one) != digest_of(other)


def test_a_file_edited_since_is_not_what_runs(tmp_path: Path) -> None:
    """The digest is that of the code at hand; an edit of comments, or of other lines, changes
    nothing."""
    path = tmp_path / "edited.py"

    def written(text: str) -> Any:
        path.write_text(text)
        space: dict[str, Any] = {"__name__": "edited"}
        exec(compile(text, str(path), "exec"), space)
        return space["f"]

    first = written("def f(x):\n    return x + 1  # one\n")
    before = digest_of(first)
    second = written("def f(x):\n    return x + 200\n")
    linecache.checkcache()
    assert digest_of(second) != before
    assert digest_of(first) != digest_of(second)
    assert digest_of(written("def f(x):\n    # of another kind\n    return x + 1\n")) == before


def test_installed_code_that_is_compiled_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions compiled by Numba and numbers of libraries; and a module of the user's that is
    called as one of Python's."""

    def digest(name: str, place: str, factor: int, text: str) -> str:
        module = types.ModuleType(name)
        module.__file__ = place
        exec(f"def g(x):\n    return {factor} * x\nC = {factor}", module.__dict__)
        if "site-packages" in place:
            module.g = numba.njit(module.g)  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, name, module)
        return digest_of(_made(text, m=module))

    for name, place in (("lab", "/x/site-packages/lab.py"), ("code", "/home/me/code.py")):
        for text in ("def f(x): return m.g(x)", "def f(x): return m.C"):
            one, other = (digest(name, place, factor, text) for factor in (1, 2))
            assert one != other
    plain_one, plain_other = (
        digest_of(_made("def f(x): return statistics.mean(x)", statistics=statistics))
        for _ in range(2)
    )
    assert plain_one == plain_other


def test_what_changed_since_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it is compiled, by its bytecode, which workers have, too."""
    code = code_of(helper, facts=(1,))
    assert is_still(code, (helper,), (1,))
    assert not is_still(code, (helper,), (2,))
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    assert not is_still(code_of(_two), (helper,))
    assert digest_of(helper, facts=(1,)) != code.digest


def test_functions_that_call_themselves_end() -> None:
    """Seen once."""

    def down(n: int) -> int:
        return 0 if n == 0 else down(n - 1)

    assert len(digest_of(down)) == 64


def test_parameters_are_compared() -> None:
    """By their number; those with a default may be left out; none is the class's object."""
    check_parameters("algorithm", "Race.step", lambda a, b, c=1: 0, ("task", "arms"))
    for function in (lambda a: 0, lambda a, b, c: 0, lambda self, b: 0):
        with pytest.raises(
            TypeError, match=r"algorithm: Race.step takes \(.*; write it as a static"
        ):
            check_parameters("algorithm", "Race.step", function, ("task", "arms"))


def test_plain() -> None:
    """The Python function behind any of them."""
    assert plain(helper) is plain(compiled_helper) is plain(staticmethod(helper)) is helper
    assert plain(TABLE) is plain(math.sqrt) is None
