"""Tests mirror the package: whoever looks for the tests of a module finds them by its name."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path

import pytest

import rai_sim

PACKAGE = Path(rai_sim.__file__).parent
TESTS = Path(__file__).parent
#: Modules with behaviour and no file of tests, and why.
EXEMPT = {
    "__init__.py": "the list of public names is looked at as a whole, by test_public_names",
}
#: Folders of tests that are of no folder of the package.
ELSEWHERE = {"scripts"}


def behaves(text: str) -> bool:
    """Whether a module does something when it is asked: it has a function with a body, or a method.

    Constants, tuples of named fields, and functions that are only declared do nothing.
    """
    functions = (
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    )
    return any(not all(_says_nothing(line) for line in one.body) for one in functions)


def _says_nothing(line: ast.stmt) -> bool:
    """Whether a line of a function is its docstring, an ellipsis or a refusal."""
    if isinstance(line, ast.Raise):
        return "NotImplementedError" in ast.dump(line)
    return isinstance(line, ast.Pass) or (
        isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)
    )


def home(module: str) -> str:
    """Return where a module's tests are to be: those of a folder's `__init__` lie in the folder,
    under its name."""
    path = Path(module)
    name = path.parent.name if path.stem == "__init__" else path.stem
    return str(path.with_name(f"test_{name}.py"))


def homeless(modules: Iterable[str], tests: Iterable[str]) -> list[str]:
    """Return modules whose tests nobody would find."""
    places = set(tests)
    return sorted(one for one in modules if one not in EXEMPT and home(one) not in places)


def lost(modules: Iterable[str], tests: Iterable[str]) -> list[str]:
    """Return tests in folders that name no module: `test_store_locks` names `store`."""
    named = {home(one).removesuffix(".py") for one in modules}
    return sorted(
        one
        for one in tests
        if Path(one).parts[0] not in ELSEWHERE
        and len(Path(one).parts) > 1
        and not any(f"{one.removesuffix('.py')}_".startswith(f"{name}_") for name in named)
    )


def package() -> dict[str, str]:
    """Return the text of every module, by its path inside of the package."""
    return {str(p.relative_to(PACKAGE)): p.read_text("utf-8") for p in PACKAGE.rglob("*.py")}


def files_with_tests() -> list[str]:
    """Return the files with tests, by their path inside of this folder."""
    return [
        str(path.relative_to(TESTS))
        for path in TESTS.rglob("test_*.py")
        if "\ndef test_" in path.read_text("utf-8")
    ]


@pytest.mark.landing
def test_every_module_with_behaviour_has_its_tests() -> None:
    """Found by its name, in the folder that mirrors its own."""
    behaving = [name for name, text in package().items() if behaves(text)]
    assert homeless(behaving, files_with_tests()) == []


def test_every_test_in_a_folder_names_a_module() -> None:
    """A module that is renamed, or is no more, takes its tests along."""
    assert lost(package(), files_with_tests()) == []


def test_every_exemption_is_needed() -> None:
    """Only of modules that are there, and have no tests of their own."""
    found = package()
    assert all(behaves(found[name]) and home(name) not in files_with_tests() for name in EXEMPT)


def test_what_has_no_home_is_found() -> None:
    """Negative control: a file of the same name in another folder is none, nor is a longer name."""
    modules = ["engine/duel.py", "study/run.py", "algorithms/lucb/__init__.py", "__init__.py"]
    tests = ["simulation/test_run.py", "engine/test_duel_long.py", "algorithms/lucb/test_lucb.py"]
    assert homeless(modules, tests) == ["engine/duel.py", "study/run.py"]
    assert homeless(modules, [*tests, "engine/test_duel.py", "study/test_run.py"]) == []
    assert lost(modules, tests) == ["simulation/test_run.py"]
    assert lost(["study/runs.py"], ["study/test_run.py", "test_naive.py"]) == ["study/test_run.py"]


@pytest.mark.parametrize(
    ("text", "does"),
    [
        ("LEAST = 3\nNAMES = ('a', 'b')", False),
        ("class Run(NamedTuple):\n    mean: float\n    count: int", False),
        ("def declared(x: int) -> int:\n    '''Say what.'''\n    raise NotImplementedError", False),
        ("class Law(Protocol):\n    def draw(self) -> float: ...", False),
        ("def f():\n    return 1", True),
        ("class Run:\n    @property\n    def mean(self):\n        return self.sum / 2", True),
    ],
)
def test_behaviour_is_recognised(text: str, does: bool) -> None:
    """Of texts that are short enough to be sure."""
    assert behaves(text) is does
