"""Imports point downwards: floors, and inside of a floor no circle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import rai_sim

PACKAGE = Path(rai_sim.__file__).parent
#: From the ground up; each floor may import those before it.
FLOORS = (
    ("support",),
    ("engine",),
    ("arms",),
    ("problem", "bounds", "instances", "kinds"),
    ("algorithms",),
    ("simulation",),
    ("tracing", "certification"),
    ("study",),
    ("scaling",),
    ("plotting",),
    ("report",),
    ("cli",),
)
RANK = {name: rank for rank, names in enumerate(FLOORS) for name in names}
#: Doors: modules at the top of the package that are no floor. What they may import is anything.
DOORS = {"", "__main__", "movielens", "samplers"}
#: Methods of convenience, which open a door upwards when they are called: `Result.save`,
#: `Trace.plot`, `StudyResults.report`.
UPWARDS = {
    ("simulation.result", "study"),
    ("tracing.trace", "plotting"),
    ("study.results", "report"),
}


class Import(NamedTuple):
    """One module of the package names another."""

    source: str
    target: str
    lazy: bool


def modules() -> dict[str, Path]:
    """Return the files by their dotted names inside of the package, a folder's `__init__` by the
    folder's."""
    names = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


def imports_of(source: str, tree: ast.AST, known: set[str], lazy: bool = False) -> Iterator[Import]:
    """Yield what a module imports of the package; what is for type checkers alone does not
    count."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [
                name if name.removeprefix("rai_sim.") in known else node.module for name in whole
            ]
        else:
            inside = lazy or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            yield from imports_of(source, node, known, inside)
            continue
        for name in names:
            if name == "rai_sim" or name.startswith("rai_sim."):
                yield Import(source, name.removeprefix("rai_sim").removeprefix("."), lazy)


@cache
def all_imports() -> list[Import]:
    """Return every import of one module by another."""
    found = modules()
    return [
        one
        for name, path in sorted(found.items())
        for one in imports_of(name, ast.parse(path.read_text()), set(found))
    ]


def floor(name: str) -> str:
    """Return the floor that a module is on."""
    return name.partition(".")[0]


def faults(imports: list[Import]) -> list[str]:
    """Return the imports that point upwards or aside, but for the doors."""
    wrong = []
    for one in imports:
        above, below = floor(one.source), floor(one.target)
        if above in DOORS or above == below or (one.lazy and (one.source, below) in UPWARDS):
            continue
        if above == "cli" and below in DOORS:  # a user of the public names
            continue
        asked = ("bounds", "instances", "kinds", "problem")
        beside = above in asked and below in asked
        if below in DOORS or (RANK[below] >= RANK[above] and not beside):
            wrong.append(f"{one.source} imports {one.target}")
    return wrong


def circles(imports: list[Import]) -> list[str]:
    """Return modules that need each other while they are loaded."""
    needs: dict[str, set[str]] = {}
    for one in imports:
        if (
            not one.lazy
            and one.target != one.source
            and not one.source.startswith(f"{one.target}.")
        ):
            needs.setdefault(one.source, set()).add(one.target)
    while free := [name for name, those in needs.items() if not those & needs.keys()]:
        for name in free:
            del needs[name]
    return sorted(needs)


def test_every_module_is_on_a_floor() -> None:
    """A folder or module that is new needs a place in `FLOORS`."""
    assert {floor(name) for name in modules()} - DOORS == set(RANK)


@pytest.mark.landing
def test_imports_point_downwards() -> None:
    """Late ones too, but for the methods that are there to open a door."""
    assert faults(all_imports()) == []


def test_no_circles() -> None:
    """No two modules need each other while they are loaded."""
    assert circles(all_imports()) == []


def test_nothing_but_its_folder_knows_lucb() -> None:
    """An algorithm is a folder: outside, only the package's own list of public names imports it."""
    knowing = {one.source for one in all_imports() if one.target.startswith("algorithms.lucb")}
    assert {name for name in knowing if not name.startswith("algorithms.lucb")} == {""}


def test_every_exception_is_needed() -> None:
    """A door that nobody opens is bricked up."""
    used = {(one.source, floor(one.target)) for one in all_imports() if one.lazy}
    assert used >= UPWARDS


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("from rai_sim.cli.tables import x", 1),
        ("import rai_sim.study.grid", 1),
        ("import rai_sim", 1),
        ("def f():\n    from rai_sim import cli", 1),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from rai_sim.study import Study",
            0,
        ),
        ("from rai_sim.support import values", 0),
    ],
)
def test_what_points_upwards_is_found(text: str, wrong: int) -> None:
    """Control: in a module of the engine."""
    found = list(imports_of("engine.law", ast.parse(text), set(modules())))
    assert len(faults(found)) == wrong


def test_circles_are_found() -> None:
    """Control: two modules, and one beside them."""
    assert circles([Import("a", "b", False), Import("b", "a", False), Import("c", "a", False)]) == [
        "a",
        "b",
        "c",
    ]
    assert circles([Import("a", "b", False), Import("b", "a", True)]) == []
