"""Arms as tables of HTML."""

import re

import pytest

import rai_sim as rai
from rai_sim.arms.tables import arms_table
from rai_sim.support.html_tables import MOST_ROWS


def cells_of(page: str) -> list[list[str]]:
    """Return the texts of the cells, a list a row."""
    rows = re.findall(r"<tr>(.*?)</tr>", page)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]


def test_rows_follow_the_order_and_columns_come_last() -> None:
    """Names and ids where arms have them; means to ten digits; each arm's own further cells."""
    arms = rai.Gaussian([0.25, 1 / 3]).with_names(["A", "B & C"], ids=[7, 9])
    page = arms_table(arms, [1, 0], ["cluster"], lambda arm: [f"c{arm}"])
    assert cells_of(page) == [
        ["arm", "id", "name", "mean", "cluster"],
        ["1", "9", "B &amp; C", "0.3333333333", "c1"],
        ["0", "7", "A", "0.25", "c0"],
    ]
    assert cells_of(arms_table(rai.Bernoulli([0.5]), [0])) == [["arm", "mean"], ["0", "0.5"]]


@pytest.mark.parametrize(("n", "more"), [(MOST_ROWS, ""), (MOST_ROWS + 1_200, "1,200 more arms")])
def test_of_many_arms_the_first_are_shown(n: int, more: str) -> None:
    """And how many are left out."""
    page = arms_table(rai.Bernoulli([0.5] * n), range(n))
    assert len(cells_of(page)) == 1 + MOST_ROWS
    assert ("more arms" in page) == bool(more)
    assert more in page
