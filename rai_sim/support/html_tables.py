"""Tables and summaries as HTML, for notebooks and reports. Every text is escaped."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rai_sim.arms.base import Arms

#: A notebook's table lists so many arms, or tasks.
MOST_ROWS = 50


@dataclass(frozen=True)
class Cell:
    """What a table's cell shows, and what it is sorted by where that is another thing.

    Attributes
    ----------
    text : str
        Shown.
    key : float or str, optional
        Sorted by; the text itself when None. Empty, or NaN, for a missing value, which is sorted last either way.
    warn : bool
        Whether the cell is shown as a warning.
    """

    text: str
    key: float | str | None = None
    warn: bool = False


def table(columns: Sequence[str], rows: Iterable[Sequence[str | Cell]], left: int = 1, classes: str = "") -> str:
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

    head = "".join(f'<th scope="col" {style(i)}>{html.escape(name)}</th>' for i, name in enumerate(columns))
    body = "".join(f"<tr>{''.join(cell(i, content) for i, content in enumerate(row))}</tr>" for row in rows)
    named = f' class="{html.escape(classes)}"' if classes else ""
    return f"<table{named}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def arms_table(
    arms: Arms, order: Sequence[int], columns: Sequence[str] = (), cells: Callable[[int], Sequence[str]] = lambda arm: ()
) -> str:
    """Return arms as a table in some order, with more columns if there are any; of many arms the first ones, and how many there are.

    Examples
    --------
    >>> import rai_sim as rai
    >>> arms_table(rai.Bernoulli([0.9, 0.5]).with_names(["A", "B"]), [0])
    '<table>...arm</th>...name</th>...mean</th>...>0</td>...>A</td>...>0.9</td></tr></tbody></table>'
    """
    names = [(head, given) for head, given in (("id", arms.ids), ("name", arms.names)) if given is not None]
    heads = ("arm", *(head for head, _ in names), "mean", *columns)
    shown = order[:MOST_ROWS]
    rows = [(str(arm), *(str(given[arm]) for _, given in names), f"{arms.means[arm]:.10g}", *cells(arm)) for arm in shown]
    left = len(order) - len(shown)
    return table(heads, rows, 1 + len(names)) + line(f"... and {left:,} more arms; means has all" if left else "")


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
    return "".join(f'<p class="warning" style="{style}"><b>WARNING:</b> {html.escape(text)}</p>' for text in sentences)
