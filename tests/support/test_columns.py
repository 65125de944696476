"""Columns of tables are picked by key, and tables that show statistics pick from one list."""

import pytest

from rai_sim.cli.fitted import places
from rai_sim.simulation.columns import COLUMNS
from rai_sim.study import tables
from rai_sim.support.columns import Catalogue, Cell, Column, cells, first_key, titles

ARMS = Column(key="arms", title="number of arms", unit="arms", form="{:,}".format)
LAW = Column(key="law", title="law")
RATE = Column(
    key="rate", title="errors", form="{:.0%}".format, warns=lambda row: row["rate"] > row["delta"]
)


def test_columns_come_in_the_order_in_which_they_are_picked() -> None:
    """Whatever the order in which they are listed, and as often as they are named."""
    known = Catalogue([ARMS, LAW, RATE])
    assert known.pick("rate", "arms") == (RATE, ARMS)
    assert titles(known.pick("law", "arms", "law")) == ["law", "number of arms", "law"]
    assert list(known) == [ARMS, LAW, RATE]
    assert known["law"] is LAW
    assert known.pick() == ()


@pytest.mark.parametrize("keys", [("arm",), ("law", "Arms"), ("number of arms",), ("",)])
def test_an_unknown_key_is_an_error(keys: tuple[str, ...]) -> None:
    """It names the key and those there are: a title is no key."""
    with pytest.raises(
        ValueError, match=f"^there is no column '{keys[-1]}'; choose among arms, law$"
    ):
        Catalogue([ARMS, LAW]).pick(*keys)


def test_two_columns_of_one_key_are_an_error() -> None:
    """Else one of them could never be picked."""
    with pytest.raises(ValueError, match=r"^two columns have the key 'law'; give each its own$"):
        Catalogue([ARMS, LAW, LAW.shown("another title")])


def test_cells_show_sort_and_warn() -> None:
    """Numbers sort by themselves, texts by their text, missing values last; rows decide on
    warnings."""
    row = {"arms": 12_345, "law": "Bernoulli", "rate": 0.25, "delta": 0.1}
    assert cells((ARMS, LAW, RATE), row) == [
        Cell("12,345", 12_345),
        Cell("Bernoulli"),
        Cell("25%", 0.25, True),
    ]
    assert RATE.cell(row | {"delta": 0.5}).warn is False
    assert LAW.cell({"law": None}).key == ""


def test_columns_may_be_had_from_rows_in_other_ways() -> None:
    """A function of the row, and what a tuple is sorted by."""
    both = Column(
        key="ends",
        title="ends",
        get=lambda row: (row["low"], row["high"]),
        sort=first_key,
        form=lambda ends: "{} to {}".format(*ends),
    )
    assert both.cell({"low": 1, "high": 2}) == Cell("1 to 2", 1)
    assert both.cell({"low": None, "high": None}).key == ""


def test_a_column_may_be_shown_in_other_words() -> None:
    """Title and format are another table's; key, value and warnings stay."""
    again = RATE.shown("error rate", "{:.3f}".format)
    assert (again.title, again.cell({"rate": 0.25, "delta": 0.1})) == (
        "error rate",
        Cell("0.250", 0.25, True),
    )
    assert RATE.shown("error rate").form is RATE.form
    assert RATE.title == "errors"


def test_what_a_narrow_terminal_goes_without_is_named_by_key() -> None:
    """Places follow from keys, also of tables with other columns; an unknown key is an error."""
    assert places(tables.SHOWN, tables.LEAST) == [10, 11, 9, 8, 5, 3]
    assert places(COLUMNS.pick("finished", "replications"), ("replications",)) == [1]
    with pytest.raises(
        ValueError, match=r"^there is no column 'errors' in this table; choose among"
    ):
        places(tables.SHOWN, ("errors",))
