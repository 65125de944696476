"""The API reference: one command, every public name, no link that leads nowhere, nothing but a
folder of the user's."""

import html
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import pytest

import rai_sim as rai

SCRIPT = Path(__file__).parents[2] / "scripts" / "api_reference.py"


class Page(HTMLParser):
    """The names that a page explains, and where its links lead."""

    def __init__(self, text: str) -> None:
        """Read a page."""
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep ids and links."""
        for name, value in attrs:
            if name == "id" and value:
                self.ids.add(value)
            elif name == "href" and tag == "a" and value:
                self.links.append(value)


def words(page: str) -> str:
    """Return the text of a page."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", page)).split())


def broken(pages: dict[Path, Page]) -> list[str]:
    """Return the links between pages that lead nowhere."""
    missing = []
    for path, page in pages.items():
        for link in page.links:
            file, _, name = link.partition("#")
            if re.match(r"[a-z]+:", file):
                continue
            goal = (path.parent / file).resolve() if file else path
            if goal not in pages or (name and name not in pages[goal].ids):
                missing.append(f"{path.name}: {link}")
    return missing


def test_broken_links_are_found(tmp_path: Path) -> None:
    """Negative control: a page, and a name on a page, that are not there."""
    here, there = tmp_path / "a.html", tmp_path / "b.html"
    links = ["#x", "b.html", "b.html#y", "c.html", "b.html#z", "#w", "https://example.org/#q"]
    pages = {
        here: Page('<p id="x">' + "".join(f'<a href="{link}">' for link in links)),
        there: Page('<p id="y">'),
    }
    assert broken(pages) == ["a.html: c.html", "a.html: b.html#z", "a.html: #w"]


@pytest.mark.slow
def test_it_has_every_public_name(tmp_path: Path) -> None:
    """With its docstring, on the page of its module; all links inside lead somewhere."""
    folder = tmp_path / "reference"
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert list(tmp_path.iterdir()) == [folder]
    pages = {path: Page(path.read_text("utf-8")) for path in folder.rglob("*.html")}
    assert f"{len(pages)} pages; begin with {folder / 'rai_sim.html'}" in done.stdout
    assert broken(pages) == []
    parts = [
        rai,
        *(value for name in rai.__all__ if isinstance(value := getattr(rai, name), ModuleType)),
    ]
    for module in parts:
        page = pages[folder / f"{module.__name__.replace('.', '/')}.html"]
        names = {
            name for name in module.__all__ if not isinstance(getattr(module, name), ModuleType)
        }
        assert names - page.ids == set()
    of_studies = "study/definition", "study/holdings"
    bases = {
        folder / f"rai_sim/{one}.html"
        for one in ("arms/base", "algorithms/base", "support/errors", *of_studies)
    }
    assert bases < pages.keys()
    assert len(pages) == len(parts) + len(bases) + 1  # and index.html
    # what is inherited is told of, too
    inherited = {"Bernoulli.with_names", "LUCB.label", "Study.describe", "StudyResults.rows"}
    assert inherited <= pages[folder / "rai_sim.html"].ids
    text = words((folder / "rai_sim.html").read_text("utf-8"))
    assert "Run independent replications of an algorithm on a problem." in text
    assert text.count(">>> ") > 200
    for heading in ("Parameters", "Returns", "Raises", "Examples"):
        assert f"{heading} -----" not in text  # sections are sections, not text
        assert f"{heading} " in text


@pytest.mark.landing
def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    """A word, and exit code 2."""
    pytest.importorskip("pdoc")
    (tmp_path / "thesis.tex").write_text("\\chapter{Bandits}")
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert f"{tmp_path} holds something else; name a folder that is new or empty" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
