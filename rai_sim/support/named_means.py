"""Mean rewards of arms, with the arms' names, from the columns of a CSV file with a header."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.parsing import near
from rai_sim.support.reading import is_number, read_text
from rai_sim.support.wording import listed, quoted

#: What may stand between cells.
_BETWEEN = ",;\t"
#: What helps where nothing is known of what was meant.
_MEND = "mend it"


class Means(NamedTuple):
    """Mean rewards (N,), and the arms' names if they were asked for."""

    values: NDArray[np.float64]
    names: tuple[str, ...] | None


class _Table(NamedTuple):
    """A header, and the records below it with the lines that they begin in."""

    path: Path
    header: list[str]
    records: list[tuple[int, list[str]]]

    def place(self, argument: str, name: str) -> int:
        """Return where a column stands."""
        found = [at for at, one in enumerate(self.header) if one == name]
        if len(found) == 1:
            return found[0]
        columns = listed([repr(one) for one in self.header], 12)
        if found:
            why = f"{self.path} has {len(found)} columns of that name: rename one"
        else:
            why = f"{self.path} has no such column{near(name, self.header)} it has {columns}"
        raise ArgumentValueError(argument, f"{argument} is {name!r}, but {why}")

    def numbers(self, at: int) -> list[float | None]:
        """Return a column's numbers; None where a cell is none."""
        return [_number(cells[at]) for _, cells in self.records]


def has_header(path: Path) -> bool:
    """Return whether a text file begins with a row of names: no cell of it is a number.

    Raises
    ------
    OSError, ValueError
        If it cannot be read as text.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "means.csv"
    >>> _ = path.write_text("0.9\\n0.5\\n")
    >>> has_header(path)
    False
    """
    records = _records(read_text(path), 1)
    return bool(records) and not any(map(is_number, records[0][1]))


def read_means(path: Path, column: str | None = None, names: str | None = None) -> Means:
    """Return the means in a CSV file with a header; cells are apart by commas, semicolons or tabs.

    Empty lines, and lines before the header that begin with #, are passed over.

    Parameters
    ----------
    path : Path
        The file, in UTF-8.
    column : str, optional
        The header of the column of means; may be left out if but one column beside `names` holds
        numbers alone.
    names : str, optional
        The header of the column of names.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it has no such column or several, no rows, rows of other lengths than its header, a mean
        that is no number, or an empty name: with the line.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "films.csv"
    >>> _ = path.write_text('title,year,stars\\n"Solaris",1972,0.78\\n"Stalker",1979,0.81\\n')
    >>> read_means(path, column="stars", names="title")
    Means(values=array([0.78, 0.81]), names=('Solaris', 'Stalker'))
    """
    table = _read(path)
    named = None if names is None else table.place("names", names)
    at = _only_column_of_numbers(table, named) if column is None else table.place("column", column)
    values = table.numbers(at)
    for (line, cells), value in zip(table.records, values, strict=True):
        if value is None:
            raise ArgumentValueError(
                "means",
                f"means: {path} holds {quoted(cells[at])} in line {line}, column "
                f"{table.header[at]!r}, which is no number; {_remedy(cells[at])}, or leave the "
                "line out",
            )
    texts = None if named is None else tuple(cells[named].strip() for _, cells in table.records)
    if texts is not None and "" in texts:
        line = table.records[texts.index("")][0]
        raise ArgumentValueError(
            "names", f"names: {path} has no name in line {line}, column {names!r}; give one"
        )
    return Means(np.array(values, np.float64), texts)


def means_in(
    file: Path | None, column: str | None = None, names: str | None = None
) -> Means | None:
    """Return the means of a file with a header; None of one that holds numbers alone or cannot be
    read, which is for whoever reads numbers to say.

    Raises
    ------
    ValueError
        As `read_means`; or if `column` or `names` is given and there is no such file.

    Examples
    --------
    >>> means_in(None) is None
    True
    """
    table = file is not None and file.suffix.lower() != ".npy"
    for argument, name in (("column", column), ("names", names)):
        if name is not None and not table:
            raise ArgumentValueError(
                argument,
                f"{argument} is {name!r}, a column of a file with a header, but means is no such "
                "file; leave it out, or give the name of a .csv file as means",
            )
    try:
        if file is not None and table and (column or names or has_header(file)):
            return read_means(file, column, names)
    except ArgumentValueError:
        raise
    except (OSError, ValueError):
        pass
    return None


def _only_column_of_numbers(table: _Table, named: int | None) -> int:
    """Return the column that holds numbers alone, if there is but one."""
    found = [
        at
        for at in range(len(table.header))
        if at != named and all(value is not None for value in table.numbers(at))
    ]
    if len(found) == 1:
        return found[0]
    if not found:
        columns = listed([repr(one) for one in table.header], 12)
        raise ArgumentValueError(
            "means",
            f"means: {table.path} has no column of numbers alone among {columns}"
            f"{_nearest(table, named)}, or name the column of means",
        )
    columns = listed([repr(table.header[at]) for at in found], 12)
    raise ArgumentValueError(
        "column",
        f"column is not given, but {table.path} has several columns of numbers: {columns}; name "
        "that of the means",
    )


def _nearest(table: _Table, named: int | None) -> str:
    """Return what keeps the column that is most like one of numbers from being one, and what helps."""
    flaws = {
        at: [
            (line, cells[at])
            for (line, cells), value in zip(table.records, table.numbers(at), strict=True)
            if value is None
        ]
        for at in range(len(table.header))
        if at != named
    }
    # a cell that is one but for its comma is nearer than a word
    words = {at: sum(_remedy(cell) == _MEND for _, cell in wrong) for at, wrong in flaws.items()}
    if not flaws or words[nearest := min(flaws, key=words.__getitem__)] == len(table.records):
        return f"; {_MEND}"
    line, cell = flaws[nearest][0]
    return f": {table.header[nearest]!r} holds {quoted(cell)} in line {line}; {_remedy(cell)}"


def _remedy(cell: str) -> str:
    """Return what helps where a cell is no number."""
    comma = cell.count(",") == 1 and is_number(cell.replace(",", "."))
    return "write decimal points, not commas" if comma else _MEND


def _read(path: Path) -> _Table:
    records = _records(read_text(path))
    if len(records) < 2:
        raise ArgumentValueError(
            "means", f"means: {path} holds no rows below its header; give one row an arm"
        )
    header = [cell.strip() for cell in records[0][1]]
    for line, cells in records[1:]:
        if len(cells) != len(header):
            raise ArgumentValueError(
                "means",
                f"means: {path} has {len(cells)} cells in line {line}, but its header has "
                f"{len(header)}; put cells with commas in quotes",
            )
    return _Table(path, header, records[1:])


def _records(text: str, most: int | None = None) -> list[tuple[int, list[str]]]:
    """Return the first records of a text that are not empty, with the lines that they begin in."""
    lines = text.splitlines(keepends=True)
    skipped = 0
    while skipped < len(lines) and (
        not lines[skipped].strip() or lines[skipped].lstrip().startswith("#")
    ):
        skipped += 1
    head = lines[skipped] if skipped < len(lines) else ""
    between = max(_BETWEEN, key=head.count)  # of as many the first: a comma
    reader = csv.reader(io.StringIO("".join(lines[skipped:]), newline=""), delimiter=between)
    found, line = [], skipped + 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                found.append((line, cells))
            line = skipped + reader.line_num + 1
            if len(found) == most:
                break
    except csv.Error as error:
        raise ValueError(f"line {line} is no CSV: {error}") from None
    return found


def _number(cell: str) -> float | None:
    """Return the finite number that a cell holds, None if it holds none."""
    value = float(cell) if is_number(cell) else math.nan
    return value if math.isfinite(value) else None
