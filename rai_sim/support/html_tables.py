"""Tables and summaries as HTML, for notebooks and reports. Every text is escaped."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence

from rai_sim.support.columns import Cell as Cell

#: A notebook's table lists so many rows.
MOST_ROWS = 50


def table(
    columns: Sequence[str], rows: Iterable[Sequence[str | Cell]], left: int = 1, classes: str = ""
) -> str:
    """Return an HTML table; the first `left` columns are flush left, the others right.

    Examples
    --------
    >>> table(["name", "pulls"], [["a < b", Cell("1,000", 1000)]])
    '<table><thead>...<td style="text-align:left">a &lt; b</td><td style="text-align:right" data-key="1000">1,000</td></tr></tbody></table>'
    """

    def style(column: int) -> str:
        return f'style="text-align:{"left" if column < left else "right"}"'

    def cell(column: int, content: str | Cell) -> str:
        given = Cell(content) if isinstance(content, str) else content
        key = "" if given.key is None else f' data-key="{html.escape(_key(given.key))}"'
        warn = ' class="warn"' if given.warn else ""
        return f"<td {style(column)}{key}{warn}>{html.escape(given.text)}</td>"

    head = "".join(
        f'<th scope="col" {style(i)}>{html.escape(name)}</th>' for i, name in enumerate(columns)
    )
    body = "".join(
        f"<tr>{''.join(cell(i, content) for i, content in enumerate(row))}</tr>" for row in rows
    )
    named = f' class="{html.escape(classes)}"' if classes else ""
    return f"<table{named}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def block(headline: str, *parts: str) -> str:
    """Return what a notebook shows: a line of text above parts that are HTML.

    Examples
    --------
    >>> block("a < b", "<hr>")
    '<div><p>a &lt; b</p><hr></div>'
    """
    return f"<div>{line(headline)}{''.join(parts)}</div>"


def line(text: str) -> str:
    """Return a text as a paragraph; nothing for none.

    Examples
    --------
    >>> line("a < b"), line("")
    ('<p>a &lt; b</p>', '')
    """
    return f"<p>{html.escape(text)}</p>" if text else ""


def _key(value: float | str) -> str:
    """Return what a script reads: its own words for infinities, nothing for NaN."""
    if isinstance(value, float) and not math.isfinite(value):
        return "" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return str(value)


def warnings(sentences: Iterable[str]) -> str:
    """Return sentences as warnings that stand out, without a style sheet too; nothing for none.

    Examples
    --------
    >>> warnings(["the error rate lies above delta"])
    '<p class="warning" style="..."><b>WARNING:</b> the error rate lies above delta</p>'
    """
    style = "color:#7a1f00;background:#fff1e8;border-left:4px solid #d55e00;padding:.3em .6em;margin:.4em 0"
    return "".join(
        f'<p class="warning" style="{style}"><b>WARNING:</b> {html.escape(text)}</p>'
        for text in sentences
    )
