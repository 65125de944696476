"""Tables as plain text."""

from __future__ import annotations

from collections.abc import Sequence

from rai_sim.support.wording import printable


def text_table(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Return lines with aligned columns; row 0 is the header, the first `left` columns are flush
    left. A cell keeps to its line (`printable`).

    Examples
    --------
    >>> print("\\n".join(text_table([["arm", "pulls"], ["A", "1,000"]])))
    arm  pulls
    ----------
    A    1,000
    """
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def line(row: Sequence[str]) -> str:
        cells = [
            text.ljust(w) if i < left else text.rjust(w)
            for i, (text, w) in enumerate(zip(row, widths, strict=True))
        ]
        return "  ".join(cells).rstrip()

    return [line(rows[0]), "-" * (sum(widths) + 2 * (len(widths) - 1)), *map(line, rows[1:])]
