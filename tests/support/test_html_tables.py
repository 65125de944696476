"""Tables as HTML: every text is escaped, columns are aligned, keys are what a script reads."""

import re

import pytest

from rai_sim.support.html_tables import Cell, block, line, table, warnings

HOSTILE = "<b>\"Heat\" & 'co'</b>"
ESCAPED = "&lt;b&gt;&quot;Heat&quot; &amp; &#x27;co&#x27;&lt;/b&gt;"


def test_cells() -> None:
    """Keys and texts are escaped, warnings marked."""
    shown = table(["<x>"], [[Cell('"', '"', True)]])
    assert shown == (
        '<table><thead><tr><th scope="col" '
        'style="text-align:left">&lt;x&gt;</th></tr></thead><tbody><tr>'
        '<td style="text-align:left" data-key="&quot;" '
        'class="warn">&quot;</td></tr></tbody></table>'
    )


def test_every_text_is_escaped() -> None:
    """In heads, cells, keys, classes, paragraphs and warnings alike; parts of a block are HTML."""
    shown = table([HOSTILE], [[HOSTILE], [Cell(HOSTILE, HOSTILE)]], classes=HOSTILE)
    assert shown.count(ESCAPED) == 5
    assert line(HOSTILE) == f"<p>{ESCAPED}</p>"
    assert block(HOSTILE, shown, "<hr>") == f"<div><p>{ESCAPED}</p>{shown}<hr></div>"
    told = warnings([HOSTILE, "second"])
    assert re.findall(r"</b> (.*?)</p>", told) == [ESCAPED, "second"]
    assert not any(HOSTILE in one for one in (shown, told))


def test_nothing_is_shown_of_nothing() -> None:
    """No empty paragraph, no empty warning; a table without rows keeps its head."""
    assert (line(""), warnings([]), block("")) == ("", "", "<div></div>")
    assert table(["a"], []).endswith("</thead><tbody></tbody></table>")


@pytest.mark.parametrize("left", [0, 1, 2, 3])
def test_the_first_columns_are_flush_left(left: int) -> None:
    """Heads as what is below them; the others are flush right."""
    shown = table(["name", "law", "pulls"], [["a", "b", "1"], ["c", "d", "2"]], left=left)
    found = re.findall(r"<t[hd][^>]*text-align:(\w+)", shown)
    assert found == 3 * (["left"] * left + ["right"] * (3 - left))


@pytest.mark.parametrize(
    ("key", "written"),
    [
        (1000, "1000"),
        (0.5, "0.5"),
        ("", ""),
        (float("nan"), ""),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
    ],
)
def test_keys_are_a_scripts_numbers(key: float | str, written: str) -> None:
    """Infinities in its words, nothing for what is missing; without a key there is none."""
    assert re.findall(r'data-key="([^"]*)"', table(["a"], [[Cell("x", key)]])) == [written]
    assert "data-key" not in table(["a"], [["x"]])
