"""The digest of the sources that kernels are compiled from."""

from pathlib import Path

import pytest

import rai_sim
from rai_sim.engine.jit import digest_of, source_digest

SOURCES = (
    "algorithms/lucb/loop.py",
    "algorithms/vanilla.py",
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
