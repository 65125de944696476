"""The digest of the sources that kernels are compiled from, the variants of a helper, and how often
garbage is looked for meanwhile."""

import ast
import gc
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numba
import pytest
from numba.core import event
from numba.core.errors import TypingError

import rai_sim
from rai_sim.engine.jit import (
    REAL,
    digest_of,
    driver,
    exposed,
    for_words,
    gives_words,
    kernel,
    kernel_sources,
    of_types,
    returned,
    source_digest,
)

PACKAGE = Path(rai_sim.__file__).parent
#: Files in the kernels' folders that hold none.
WITHOUT_KERNELS = ("algorithms/options.py", "algorithms/text.py", "arms/movielens/reading.py")

SOURCES = (
    "algorithms/lucb/loop.py",
    "algorithms/vanilla/widths.py",
    "arms/base.py",
    "engine/sampling/a/b.py",
)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return a package with sources in folders and subfolders."""
    for place in (*SOURCES, "engine/jit.py", "support/limits.py", "cli/run.py"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(f"# {place}\n")
    return tmp_path


def test_the_digest_is_that_of_the_package() -> None:
    """Names of cache files and the provenance of studies hold it."""
    assert source_digest() == digest_of(Path(rai_sim.__file__).parent)


@pytest.mark.parametrize("place", SOURCES)
def test_every_source_counts(place: str, package: Path) -> None:
    """Changed, renamed, moved, gone or copied, however deep: the digest is another one each
    time."""
    path = package / place
    text, found = path.read_text(), {digest_of(package)}
    path.write_text(f"{text}x = 1\n")
    found.add(digest_of(package))
    path.write_text(text)
    for other in (
        path.with_name("z.py"),
        path.parent / "deeper" / path.name,
        package / "engine" / path.name,
    ):
        other.parent.mkdir(exist_ok=True)
        path.rename(other)
        found.add(digest_of(package))
        other.rename(path)
    (path.with_name("copy.py")).write_text(text)
    found.add(digest_of(package))
    (path.with_name("copy.py")).unlink()
    path.unlink()
    found.add(digest_of(package))
    assert len(found) == 7


def test_a_line_that_wanders_to_the_next_file_counts(package: Path) -> None:
    """Where one file ends and the next begins is part of it."""
    one, two = package / "engine" / "one.py", package / "engine" / "two.py"
    one.write_text("a\nb\n")
    two.write_text("c\n")
    before = digest_of(package)
    one.write_text("a\n")
    two.write_text("b\nc\n")
    assert digest_of(package) != before


def test_nothing_else_counts(package: Path) -> None:
    """Neither other folders nor other files: they would compile everything anew for nothing."""
    before = digest_of(package)
    (package / "cli" / "run.py").write_text("changed")
    (package / "engine" / "README.md").write_text("words")
    (package / "engine" / "__pycache__").mkdir()
    (package / "engine" / "__pycache__" / "jit.cpython-311.pyc").write_bytes(b"\0")
    assert digest_of(package) == before


def test_what_holds_no_kernels_does_not_count(package: Path) -> None:
    """An edit of it compiles nothing anew; one of a kernel's file, or a new file, does."""
    for place in WITHOUT_KERNELS:
        (package / place).parent.mkdir(parents=True, exist_ok=True)
        (package / place).write_text("before\n")
    before = digest_of(package)
    for place in WITHOUT_KERNELS:
        (package / place).write_text("after\n")
    (package / "arms" / "movielens" / "deeper.py").write_text("new\n")
    assert digest_of(package) == before
    for place in ("algorithms/option.py", "arms/movielens.py", "engine/text.py"):
        (package / place).write_text("new\n")
        assert digest_of(package) != before
        (package / place).unlink()
    assert digest_of(package) == before


def test_what_does_not_count_is_there() -> None:
    """A file that was moved or renamed leaves no hole behind."""
    for place in WITHOUT_KERNELS:
        assert (PACKAGE / place).is_file()
        assert place not in kernel_sources(PACKAGE)


#: What makes a function a kernel (see `rai_sim.engine.jit`).
KERNELS = {
    "kernel",
    "inlined",
    "driver",
    "implements",
    "for_words",
    "for_bridges",
    "for_type",
    "njit",
    "overload",
}


def decorated(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    """Yield the functions of a module that are compiled."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            named = {name for one in node.decorator_list for name in names_in(one)}
            if named & KERNELS:
                yield node


def names_in(tree: ast.AST) -> set[str]:
    """Return the names that are read in some code, those behind a dot too."""
    return {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.Attribute)
    }


def origins(tree: ast.Module) -> dict[str, str]:
    """Return from which module of the package a module has each name that it imports."""
    return {
        alias.asname or alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rai_sim")
        for alias in node.names
        if node.module
    }


def read_elsewhere(text: str, counted: set[str]) -> set[str]:
    """Return the modules that do not count of which a module's kernels, or the constants that they
    read, read a name."""
    tree = ast.parse(text)
    known = origins(tree)
    made = {
        target.id: names_in(node)
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in ast.walk(node)
        if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store)
    }
    seen, to_do = set[str](), [name for one in decorated(tree) for name in names_in(one)]
    while to_do:
        name = to_do.pop()
        if name not in seen:
            seen.add(name)
            to_do += made.get(name, ())
    return {known[name] for name in seen & known.keys() if known[name] not in counted}


def modules_of(places: Iterable[str]) -> set[str]:
    """Return the dotted names of files of the package."""
    return {
        f"rai_sim.{place.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}"
        for place in places
    }


@pytest.mark.landing
def test_kernels_read_nothing_that_does_not_count() -> None:
    """No name of a module outside of the digest, or machine code would outlive an edit of it; and
    what does not count has no kernel."""
    sources = kernel_sources(PACKAGE)
    counted = modules_of(sources)
    found = {
        place: wrong
        for place, path in sources.items()
        if (wrong := read_elsewhere(path.read_text(), counted))
    }
    assert found == {}
    kernels = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if any(decorated(ast.parse(path.read_text())))
    }
    assert len(kernels) > 20
    assert kernels <= sources.keys()


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("{head}@kernel\ndef f(x):\n    return x + MOST", {"rai_sim.algorithms.options"}),
        ("{head}TWICE = 2 * MOST\n@driver\ndef f(x):\n    return TWICE", {"rai_sim.algorithms.options"}),
        ("{head}@implements(add, Law)\ndef f(x):\n    return near(x)", {"rai_sim.algorithms.options"}),
        ("{head}def f(x):\n    return x + MOST", set()),
        ("{head}@kernel\ndef f(x):\n    return new_block(x)", set()),
    ],
)  # fmt: skip
def test_a_name_from_outside_is_found(text: str, wrong: set[str]) -> None:
    """Control: in a kernel, in what a constant is made of; not in other functions."""
    head = "from rai_sim.algorithms.options import MOST, near\nfrom rai_sim.engine.blocks import new_block\n"
    assert read_elsewhere(text.format(head=head), {"rai_sim.engine.blocks"}) == wrong


def test_garbage_is_looked_for_seldom_while_a_kernel_is_compiled() -> None:
    """As often as before when it is done, whatever comes of it; and never where nobody looks."""
    seen = []

    class Listener(event.Listener):  # type: ignore[misc]  # numba is untyped
        def on_start(self, event: Any) -> None:
            seen.append(gc.get_threshold())

        def on_end(self, event: Any) -> None:
            pass

    def twice(x: int) -> int:
        return 2 * x

    def wrong(x: int) -> Any:
        return x + "a"  # type: ignore[operator]

    before = gc.get_threshold()
    try:
        for threshold, least in ((700, 100_000), (10**6, 10**6), (0, 0)):
            gc.set_threshold(threshold, 7, 3)
            with event.install_listener("numba:compile", Listener()):
                assert driver(twice)(4) == 8
                with pytest.raises(TypingError):
                    driver(wrong)(4)
            assert gc.get_threshold() == (threshold, 7, 3)
            assert all(most >= least and rest == [7, 3] for most, *rest in seen)
            assert threshold > 0 or all(most == 0 for most, *_ in seen)
            assert seen
            seen.clear()
    finally:
        gc.set_threshold(*before)


def test_exposed_helpers_are_compiled_once_and_kept() -> None:
    """Whoever asks for one gets the same, which later processes find on disk; the helper itself
    stays what it was."""
    from rai_sim.engine import streams

    way_in = exposed(streams.uniform)
    assert exposed(streams.uniform) is way_in
    assert way_in._cache is not None  # type: ignore[attr-defined]
    assert streams.uniform.py_func.__qualname__ == "uniform"  # type: ignore[attr-defined]
    assert source_digest()[:16] in way_in.py_func.__qualname__  # type: ignore[attr-defined]


def test_constants_among_arguments_make_no_variants() -> None:
    """A helper is compiled once for all calls with the same types, whatever is written in them."""

    def _moved(place: int, by: int, back: bool = False) -> int:
        return place - by if back else place + by

    moved = kernel(_moved)

    @kernel
    def caller(x: int) -> int:
        return (
            moved(x, 3) + moved(x, x) + moved(x, 5, back=True) + moved(1, by=2) + moved(x, 3, True)
        )

    assert exposed(caller)(10) == 13 + 20 + 5 + 3 + 7
    signatures = {tuple(map(str, one)) for one in moved.signatures}  # type: ignore[attr-defined]
    assert signatures == {
        ("int64", "int64", "bool"),
        ("int64", "int64", "omitted(default=False)"),
    }


@gives_words
class Worded(NamedTuple):
    """A law with words, one of whose numbers is called as kernels call the law of a run."""

    law: float


class Plain(NamedTuple):
    """A law without words, likewise."""

    law: float


class Held(NamedTuple):
    """What kernels find a law in."""

    law: Worded | Plain


@of_types(*REAL)
def _doubled(value: Any) -> float:
    return 2.0 * value  # type: ignore[no-any-return]


@numba.njit  # type: ignore[untyped-decorator]
def _calls_doubled(value: Any) -> Any:
    return _doubled(value)


def test_a_helper_of_some_types_alone() -> None:
    """Of a number it is compiled, of a text the call is not; what a function returns is known."""
    assert _calls_doubled(3) == _calls_doubled(3.0) == 6.0
    with pytest.raises(TypingError):
        _calls_doubled("a")
    assert returned(lambda value: value < 1, (2,)) == numba.types.boolean
    assert returned(lambda value: value.nothing, (2,)) is None


def _stand_in(given: Any) -> float:
    return 0.0


@for_words(_stand_in)
def _with_words(given: Any) -> float:
    return 1.0


def test_what_is_for_words_knows_a_law_by_its_class() -> None:
    """Given by itself, or as a run's `law`; whatever a user's own calls its numbers."""

    @numba.njit  # type: ignore[untyped-decorator]
    def chosen(given: Any) -> float:
        return _with_words(given)

    given = (Worded(0.5), Plain(0.5), Held(Worded(0.5)), Held(Plain(0.5)))
    assert [chosen(one) for one in given] == [1.0, 0.0, 1.0, 0.0]
