"""Tables that fit the terminal they are printed in; in a pipe they have all."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from rai_sim.support.columns import Column, titles
from rai_sim.support.wording import printable


def terminal_width() -> int | None:
    """Return the columns of the terminal that standard output is; None where it is none, and
    nothing is left out."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


class Columns:
    """Which columns of a table fit a width, and its lines.

    Parameters
    ----------
    names : sequence of str
        The header.
    widths : sequence of int
        Width of each column, its name included.
    left : int
        So many of the first columns are flush left.
    least : sequence of int
        Columns that may be left out, the least important one first. Where those that must stay do
        not fit, the first one of several that are flush left becomes a heading above its rows, and
        where that is not enough, all stand one below the other.
    width : int or None
        What must not be exceeded; None for any width.
    """

    def __init__(
        self,
        names: Sequence[str],
        widths: Sequence[int],
        left: int,
        least: Sequence[int],
        width: int | None,
    ) -> None:
        """Choose the columns."""
        self._names, self._widths, self._left, self._width = names, list(widths), left, width
        self._kept = list(range(len(names)))
        self._heading: str | None = None  # above the last row
        self._headed = self._stacked = False
        if self._fits(least):
            return
        if left > 1:
            self._headed = True
            self._widths[1] += 2  # below its heading a row is indented
            if self._fits(least, without=1):
                return
        self._stacked, self._kept = True, list(range(len(names)))

    def _fits(self, least: Sequence[int], without: int = 0) -> bool:
        """Leave columns out until the rest fits, and tell whether it does."""
        for gone in range(len(least) + 1):
            self._kept = [i for i in range(without, len(self._names)) if i not in least[:gone]]
            if self._width is None or self._total() <= self._width:
                return True
        return False

    def _total(self) -> int:
        return sum(self._widths[i] for i in self._kept) + 2 * (len(self._kept) - 1)

    def head(self) -> list[str]:
        """Return the header and the rule below it."""
        return [] if self._stacked else [self._line(self._names), "-" * self._total()]

    def row(self, cells: Sequence[str]) -> list[str]:
        """Return the lines of a row."""
        if self._stacked:
            return self._one_below_the_other(cells)
        if not self._headed:
            return [self._line(cells)]
        lines = [] if cells[0] == self._heading else self._wrapped(cells[0])
        self._heading = cells[0]
        return [*lines, self._line([cells[0], f"  {cells[1]}", *cells[2:]])]

    def _one_below_the_other(self, cells: Sequence[str]) -> list[str]:
        lines = [line for cell in cells[: self._left] for line in self._wrapped(cell)]
        names = [name.strip() for name in self._names[self._left :]]
        longest = max(map(len, names))
        for name, cell in zip(names, cells[self._left :], strict=True):
            if cell.strip():
                lines += self._wrapped(
                    f"{'  ' if lines else ''}{name.ljust(longest)}  {cell.strip()}", "    "
                )
        return lines

    def _wrapped(self, text: str, indent: str = "  ") -> list[str]:
        # Narrower than this, lines may as well be broken by the terminal.
        width = max(self._width or 0, 12)
        return (
            [text] if len(text) <= width else textwrap.wrap(text, width, subsequent_indent=indent)
        )

    def left_out(self, remedy: str) -> list[str]:
        """Return a line that names what was left out and where it is; nothing where all is
        there."""
        gone = [
            self._spoken(i) for i in range(self._headed, len(self._names)) if i not in self._kept
        ]
        return (
            [f"left out to fit {self._width} columns: {', '.join(gone)}; {remedy}"]
            if gone and not self._stacked
            else []
        )

    def _spoken(self, column: int) -> str:
        name = self._names[column]
        return name if self._names.count(name) == 1 else f"{name} of {self._names[column - 1]}"

    def _line(self, cells: Sequence[str]) -> str:
        placed = [
            cells[i].ljust(self._widths[i]) if i < self._left else cells[i].rjust(self._widths[i])
            for i in self._kept
        ]
        return "  ".join(placed).rstrip()


def places(columns: Sequence[Column], keys: Sequence[str]) -> list[int]:
    """Return where the columns of some keys stand.

    Raises
    ------
    ValueError
        If a key is that of no column.

    Examples
    --------
    >>> from rai_sim.simulation.columns import COLUMNS
    >>> places(COLUMNS.pick("errors", "finished", "task"), ["task", "errors"])
    [2, 0]
    """
    known = [column.key for column in columns]
    for key in keys:
        if key not in known:
            raise ValueError(
                f"there is no column {key!r} in this table; choose among {', '.join(known)}"
            )
    return [known.index(key) for key in keys]


def fitted_table(
    columns: Sequence[Column], rows: Iterable[Any], left: int, least: Sequence[str], remedy: str
) -> list[str]:
    """Return the lines of a table that fits the terminal, if there is one (see `Columns`).

    A line below says what had to be left out.
    `least` are the keys of columns that may be left out, the least important one first.
    """
    rows = [[printable(column.cell(row).text) for column in columns] for row in rows]
    return fitted_texts([titles(columns), *rows], left, places(columns, least), remedy)


def fitted_texts(
    rows: Sequence[Sequence[str]], left: int, least: Sequence[int], remedy: str
) -> list[str]:
    """Return the lines of a table of texts that fits the terminal, as `fitted_table`; row 0 is the
    header, `least` are places of columns."""
    names, *texts = rows
    widths = [max(map(len, entries)) for entries in zip(*rows, strict=True)]
    fitted = Columns(names, widths, left, least, terminal_width())
    return [
        *fitted.head(),
        *(line for row in texts for line in fitted.row(row)),
        *fitted.left_out(remedy),
    ]


def most_rows(most: int, n: int) -> int:
    """Return how many of n rows a table shows: in a terminal `most` at most, in a pipe all.

    Examples
    --------
    >>> most_rows(200, 240)  # here is no terminal
    240
    """
    return n if terminal_width() is None else min(most, n)
