"""Tables as plain text."""

from rai_sim.support.text_tables import text_table


def test_columns_are_aligned() -> None:
    """The first ones to the left, numbers to the right; no line ends in blanks."""
    rows = [("name", "kind", "pulls"), ("a", "", "1,000"), ("longer", "b", "")]
    assert text_table(rows, left=2) == [
        "name    kind  pulls",
        "-------------------",
        "a             1,000",
        "longer  b",
    ]
    assert text_table(rows, left=0)[2] == "     a        1,000"


def test_a_cell_keeps_to_its_line() -> None:
    """Whatever its text holds; columns are as wide as what is shown."""
    assert text_table([("name", "n"), ("a\nb\t\x1b[31m", "1")]) == [
        "name            n",
        "-----------------",
        "a\\nb\\t\\x1b[31m  1",
    ]
