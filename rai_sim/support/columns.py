"""Columns of tables as objects, picked by key: what a table shows, wherever it is shown.

A table is a list of rows and a choice of columns; terminals, notebooks and reports draw both in
their own ways. No place needs to know the order in which another one shows them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar


@dataclass(frozen=True)
class Cell:
    """What a table's cell shows, and what it is sorted by where that is another thing.

    Attributes
    ----------
    text : str
        Shown.
    key : float or str, optional
        Sorted by; the text itself when None. Empty, or NaN, for a missing value, which is sorted
        last either way.
    warn : bool
        Whether the cell is shown as a warning.
    """

    text: str
    key: float | str | None = None
    warn: bool = False


def sort_key(value: object) -> float | str | None:
    """Return what a value is sorted by: numbers by themselves, others by their text, None last.

    Examples
    --------
    >>> sort_key(0.5), sort_key("LUCB"), sort_key(None)
    (0.5, None, '')
    """
    if value is None:
        return ""
    return value if isinstance(value, int | float) else None


def first_key(values: tuple[object, ...]) -> float | str | None:
    """Return what a tuple is sorted by: its first entry."""
    return sort_key(values[0])


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    key : str
        What it is picked by.
    title : str
        Its head in a table.
    unit : str
        What its numbers count or measure, such as pulls; empty for names and flags.
    form : callable
        From a value to the text that is shown.
    get : callable, optional
        From a row to the value; None for the row's entry of the column's key.
    sort : callable
        From a value to what rows are sorted by (see `Cell`).
    warns : callable, optional
        From a row to whether its cell is shown as a warning; None for never.

    Examples
    --------
    >>> pulls = Column(key="pulls", title="mean pulls", unit="pulls", form="{:,}".format)
    >>> pulls.cell({"pulls": 1234})
    Cell(text='1,234', key=1234, warn=False)
    """

    key: str
    title: str
    unit: str = ""
    form: Callable[[Any], str] = str
    get: Callable[[Any], Any] | None = None
    sort: Callable[[Any], float | str | None] = sort_key
    warns: Callable[[Any], bool] | None = None

    def value(self, row: Any) -> Any:
        """Return a row's value."""
        return row[self.key] if self.get is None else self.get(row)

    def cell(self, row: Any) -> Cell:
        """Return a row's cell."""
        value, warn = self.value(row), self.warns is not None and bool(self.warns(row))
        return Cell(self.form(value), self.sort(value), warn)

    def shown(self, title: str, form: Callable[[Any], str] | None = None) -> Self:
        """Return the column with another title, and another format if one is given."""
        return replace(self, title=title, form=self.form if form is None else form)


#: The kind of columns that a catalogue holds.
AnyColumn = TypeVar("AnyColumn", bound=Column)


class Catalogue(Generic[AnyColumn]):
    """All columns that there are of one kind of rows, in order; tables pick from them by key.

    Raises
    ------
    ValueError
        If two have one key; and wherever a key is used that none has.

    Examples
    --------
    >>> known = Catalogue([Column(key="arms", title="arms"), Column(key="law", title="law")])
    >>> chosen = known.pick("law", "arms")
    >>> titles(chosen), [cell.text for cell in cells(chosen, {"arms": 3, "law": "Bernoulli"})]
    (['law', 'arms'], ['Bernoulli', '3'])
    >>> known.pick("arm")
    Traceback (most recent call last):
        ...
    ValueError: there is no column 'arm'; choose among arms, law
    """

    def __init__(self, columns: Iterable[AnyColumn]) -> None:
        """Keep them by key."""
        self._by_key: dict[str, AnyColumn] = {}
        for column in columns:
            if column.key in self._by_key:
                raise ValueError(f"two columns have the key {column.key!r}; give each its own")
            self._by_key[column.key] = column

    def __getitem__(self, key: str) -> AnyColumn:
        """Return the column of a key."""
        found = self._by_key.get(key)
        if found is None:
            raise ValueError(f"there is no column {key!r}; choose among {', '.join(self._by_key)}")
        return found

    def __iter__(self) -> Iterator[AnyColumn]:
        """Yield the columns, in order."""
        return iter(self._by_key.values())

    def pick(self, *keys: str) -> tuple[AnyColumn, ...]:
        """Return the columns of some keys, in the order in which they are named."""
        return tuple(self[key] for key in keys)


def titles(columns: Sequence[Column]) -> list[str]:
    """Return what stands in a table's head."""
    return [column.title for column in columns]


def cells(columns: Sequence[Column], row: Any) -> list[Cell]:
    """Return a row's cells, one for each column."""
    return [column.cell(row) for column in columns]
