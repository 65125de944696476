"""Error rates of a certification: what is drawn is what was found."""

from typing import Any

import numpy as np
import pytest
from coins import Coin
from figures import figure_of, legend_of, picture
from matplotlib.figure import Figure

import rai_sim as rai
from rai_sim.plotting import error_rates

SEVERAL = {f"task {task}": rai.table_problem(task) for task in range(1, 4)}


@pytest.mark.landing
@picture
def test_picture_of_error_rates() -> Figure:
    """The printed LUCB on the short instances, to the end."""
    found = rai.certify(
        rai.LUCB(as_printed=True),
        0.1,
        problems={n: p for n, p in rai.hard_problems(0.1).items() if p.n_arms == 5},
        replications=64,
        keep_going=True,
        seed=0,
    )
    return figure_of(error_rates(found))


def test_marks_and_bars_are_rates_and_intervals() -> None:
    """Of the instances that were run, each at its place."""
    found = rai.certify(Coin(error=0.05), 0.1, problems=SEVERAL, seed=0, replications=400)
    ax = error_rates(found)
    drawn: dict[int, tuple[float, Any]] = {}
    for container in ax.containers:
        xs, ys = (np.asarray(data, float) for data in container[0].get_data())
        for x, y, segment in zip(xs, ys, container[2][0].get_segments(), strict=True):
            drawn[int(y)] = (float(x), segment[:, 0].tolist())
    for place, row in enumerate(found.rows):
        rate, ends = drawn[place]
        assert rate == pytest.approx(row.rate)
        assert ends == pytest.approx([row.low, row.high])
    assert [label.get_text() for label in ax.get_yticklabels()] == list(SEVERAL)
    assert "δ = 0.1" in legend_of(ax)


def test_only_what_was_run_has_a_row() -> None:
    """A violation ends the test; title and legend say what it was."""
    found = rai.certify(Coin(error=0.5), 0.1, problems=SEVERAL, seed=0)
    ax = error_rates(found)
    assert len(ax.get_yticks()) == 1
    assert ax.get_title(loc="left").endswith("not delta-PC")
    assert [text for text in legend_of(ax) if "δ" in text] == ["above δ", "δ = 0.1"]


def test_of_the_pulls(runs: list[rai.Result]) -> None:
    """The axis says what is claimed; something else is refused."""
    found = rai.certify(Coin(), 0.1, problems=SEVERAL, claim="pulls", seed=0)
    assert error_rates(found).get_xlabel() == "rate above the bound"
    with pytest.raises(TypeError, match=r"give what rai.certify returned"):
        error_rates(runs[0])  # type: ignore[arg-type]


def test_how_many_rows_there_may_be() -> None:
    """More than sixty are no figure."""
    many = {f"instance {k}": rai.table_problem() for k in range(61)}
    found = rai.certify(Coin(), 0.1, problems=many, seed=0)
    with pytest.raises(ValueError, match=r"found has 61 instances that were run; .* certify fewer"):
        error_rates(found)
