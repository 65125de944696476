"""Numbers and arrays from text: what they mean, and refusals that leave the option's name to the
caller."""

import errno
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rai_sim.support import parsing
from rai_sim.support.errors import BadInput


@given(
    st.lists(st.lists(st.floats(allow_nan=False), min_size=2, max_size=2), min_size=1, max_size=4)
)
def test_tables_survive_the_way_through_text(table: list[list[float]]) -> None:
    """To the bit, and with both dimensions."""
    text = ";".join(",".join(map(repr, row)) for row in table) + ";"
    assert parsing.parse_array(text).tolist() == table


@given(st.integers(-(10**30), 10**30))
def test_integers_are_exact(number: int) -> None:
    """However they are written."""
    assert parsing.whole_number(str(number)) == number
    assert parsing.whole_number(f"{number}.0") == number
    assert parsing.whole_number(f"{number}e0") == number


@pytest.mark.parametrize(
    ("parse", "text", "message"),
    [
        (parsing.whole_number, "1.5", "'1.5' is not an integer; give one such as 1000"),
        (parsing.real_number, "x", "'x' is not a number; give one such as 0.01"),
        (
            parsing.parse_scalar,
            "wide",
            "wide holds 'wide', which is not a number; give one number such as 0.5",
        ),
        (
            parsing.parse_scalar,
            "0_9",
            "0_9 holds '0_9', which is not a number; give one number such as 0.5",
        ),
        (
            parsing.parse_array,
            " ",
            "' ' is empty; give numbers: separate numbers by commas, rows by semicolons, or write @FILE",
        ),
        (parsing.parse_array, "1,2;3", "1,2;3 has rows of 2, 1 numbers; give every row as many"),
        (
            parsing.parse_array,
            "means.txt",
            "means.txt holds 'means.txt', which is not a number; write @means.txt to have that "
            "file read",
        ),
        (
            parsing.parse_array,
            "@none.txt",
            "none.txt cannot be read: No such file or directory; give a text file with one number "
            "a line",
        ),
        (
            parsing.parse_array,
            "bad.npy",
            "bad.npy cannot be used: it holds values of type <U1, which are no real numbers; give "
            "a text",
        ),
        (
            parsing.parse_integers,
            "1,2.5",
            "1,2.5 holds 2.5; give integers separated by commas, such as 3,5,2",
        ),
        (
            parsing.parse_integers,
            "1,2;3,4",
            "1,2;3,4 is a table of shape (2, 2); give one row of integers, such as 3,5,2",
        ),
    ],
)
def test_refusals_begin_with_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parse: Any, text: str, message: str
) -> None:
    """What is wrong with it and the remedy follow; no option is named, for none is known here."""
    monkeypatch.chdir(tmp_path)
    Path("means.txt").write_text("0.5\n")
    np.save("bad.npy", np.array(["a"]))
    with pytest.raises(BadInput) as caught:
        parse(text)
    assert str(caught.value).startswith(message)
    assert "--" not in str(caught.value)


def test_what_may_not_be_read_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another file, or another form of it, would be no remedy."""

    def refuse(_: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(parsing, "read_array", refuse)
    with pytest.raises(
        BadInput, match=r"^a cannot be read: Permission denied; change permissions$"
    ):
        parsing.parse_array("@a")


@pytest.mark.parametrize("text", ["0.9,0.5", "0.9,0.5;", "0.9;0.5", "@row.csv", "@column.csv"])
def test_a_row_may_stand_either_way(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one line or one number a line; so do all arrays of laws but tables."""
    monkeypatch.chdir(tmp_path)
    Path("row.csv").write_text("0.9,0.5\n")
    Path("column.csv").write_text("0.9\n0.5\n")
    assert parsing.parse_row(text).tolist() == [0.9, 0.5]
    for argument in ("means", "values", "low", "sd"):
        assert parsing.reader_of(argument)(text).tolist() == [0.9, 0.5]
    assert parsing.reader_of("rewards")("@row.csv").shape == (1, 2)


@pytest.mark.parametrize("text", ["0.5,0.4;0.3,0.2", "@comma.csv", "square.npy", "cube.npy"])
def test_a_table_is_no_row(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows are not run together: of decimal commas they would make twice as many numbers."""
    monkeypatch.chdir(tmp_path)
    Path("comma.csv").write_text("1,5\n2,4\n")
    np.save("square.npy", np.full((2, 2), 0.5))
    np.save("cube.npy", np.full((1, 2, 2), 0.5))
    with pytest.raises(BadInput, match=r"is a table of shape \(.*2, 2\); give one row of num") as e:
        parsing.parse_row(text)
    assert ("with decimal points" in str(e.value)) == (";" not in text)


def test_files_and_one_row_tables(tmp_path: Path) -> None:
    """One number a line has one dimension; a semicolon at the end makes a table of a row."""
    column = tmp_path / "column.txt"
    column.write_text("3\n5\n2\n")
    assert parsing.parse_array(f"@{column}").tolist() == [3.0, 5.0, 2.0]
    assert parsing.parse_integers(f"@{column}") == (3, 5, 2)
    assert parsing.parse_array("0.2,0.8;").tolist() == [[0.2, 0.8]]
