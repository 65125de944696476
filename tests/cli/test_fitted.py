"""Tables that fit their width."""

import re

import pytest

from rai_sim.cli.fitted import Columns, fitted_texts, most_rows

NAMES = ("instance", "algorithm", "delta", "mean", "interval", "errors", "interval")
ROWS: list[tuple[str, ...]] = [
    (
        "table, n = 10",
        "Vanilla(merging=True)",
        "0.1",
        "12,345",
        "12,000 to 12,690",
        "1 %",
        "0 % to 2 %",
    ),
    (
        "table, n = 10",
        "Vanilla(merging=True)",
        "0.01",
        "23,456",
        "23,000 to 23,912",
        "0 %",
        "0 % to 1 %",
    ),
]


def drawn(width: int | None, rows: list[tuple[str, ...]] = ROWS) -> list[str]:
    """Return the lines of a table."""
    columns = Columns(
        NAMES, [max(map(len, cells)) for cells in zip(NAMES, *rows, strict=True)], 2, (6, 4), width
    )
    return [
        *columns.head(),
        *(line for row in rows for line in columns.row(row)),
        *columns.left_out("--json has all"),
    ]


def test_a_table_fits_its_width() -> None:
    """The least important columns go first, then the instance becomes a heading, then all stand one
    below the other."""
    whole = drawn(None)
    assert re.split(" {2,}", whole[0]) == list(NAMES)
    assert re.split(" {2,}", whole[2]) == list(ROWS[0])
    assert drawn(len(whole[0])) == whole
    one_less = drawn(len(whole[0]) - 1)
    assert re.split(" {2,}", one_less[0]) == list(NAMES[:-1])
    assert (
        one_less[-1]
        == f"left out to fit {len(whole[0]) - 1} columns: interval of errors; --json has all"
    )
    headed = drawn(50)
    below = [
        "  Vanilla(merging=True)    0.1  12,345     1 %",
        "  Vanilla(merging=True)   0.01  23,456     0 %",
    ]
    assert headed[2:5] == ["table, n = 10", *below]
    assert (
        headed[-1]
        == "left out to fit 50 columns: interval of mean, interval of errors; --json has all"
    )
    assert drawn(40)[:8] == [
        "table, n = 10",
        "Vanilla(merging=True)",
        "  delta     0.1",
        "  mean      12,345",
        "  interval  12,000 to 12,690",
        "  errors    1 %",
        "  interval  0 % to 2 %",
        "table, n = 10",
    ]


@pytest.mark.parametrize("width", [*range(12, 100, 7), 200])
def test_no_line_of_a_table_is_wider(width: int) -> None:
    """But for the line that says what was left out, which is text; and no cell of the columns that
    must stay is lost."""
    long = [(f"a {'very ' * 9}long name, n = 10", *row[1:]) for row in ROWS]
    for rows in (ROWS, long):
        lines = [line for line in drawn(width, rows) if not line.startswith("left out")]
        said = "".join("".join(lines).split())
        assert max(map(len, lines)) <= width
        for row in rows:
            for cell in (*row[:4], row[5]):
                assert "".join(cell.split()) in said


def test_texts_fit_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns are left out by their place; in a pipe none is, and there all rows are."""
    rows = [("name", "pulls", "rest"), ("a", "1,000", "x" * 20)]
    assert len(fitted_texts(rows, 1, (2,), "see there")[2]) == 33
    assert most_rows(200, 240) == 240
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "20")
    assert fitted_texts(rows, 1, (2,), "see there") == [
        "name  pulls",
        "-----------",
        "a     1,000",
        "left out to fit 20 columns: rest; see there",
    ]
    assert [most_rows(200, n) for n in (240, 20)] == [200, 20]
