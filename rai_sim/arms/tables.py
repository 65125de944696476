"""Arms as tables of HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rai_sim.support import html_tables

if TYPE_CHECKING:
    from rai_sim.arms.base import Arms


def arms_table(
    arms: Arms,
    order: Sequence[int],
    columns: Sequence[str] = (),
    cells: Callable[[int], Sequence[str]] = lambda arm: (),
) -> str:
    """Return arms as a table in some order, with more columns if there are any.

    Of many arms the table has the first ones, and says how many there are.

    Examples
    --------
    >>> import rai_sim as rai
    >>> arms_table(rai.Bernoulli([0.9, 0.5]).with_names(["A", "B"]), [0])
    '<table>...arm</th>...name</th>...mean</th>...>0</td>...>A</td>...>0.9</td></tr></tbody>...'
    """
    names = [
        (head, given)
        for head, given in (("id", arms.ids), ("name", arms.names))
        if given is not None
    ]
    heads = ("arm", *(head for head, _ in names), "mean", *columns)
    shown = order[: html_tables.MOST_ROWS]
    rows = [
        (str(arm), *(str(given[arm]) for _, given in names), f"{arms.means[arm]:.10g}", *cells(arm))
        for arm in shown
    ]
    left = len(order) - len(shown)
    more = f"... and {left:,} more arms; means has all" if left else ""
    return html_tables.table(heads, rows, 1 + len(names)) + html_tables.line(more)
