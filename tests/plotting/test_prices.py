"""The price map: each step leads to theory's number or an algorithm's mean."""

import math

import numpy as np
import pytest
from figures import figure_of, legend_of, picture
from matplotlib.container import BarContainer
from matplotlib.figure import Figure

import rai_sim as rai
from rai_sim.plotting import price_map

ALGORITHMS = [
    rai.TopTwo(),
    rai.BatchedTrackAndStop(),
    rai.Vanilla(width="mixture"),
    rai.Vanilla(),
]


@pytest.fixture(scope="module")
def prices() -> list[rai.Result]:
    """Two tasks of the table, every step."""
    return [
        rai.simulate(rai.table_problem(task), algorithm, replications=40, seed=0)
        for task in (1, 3)
        for algorithm in ALGORITHMS
    ]


@pytest.mark.landing
@picture
def test_picture_of_prices(prices: list[rai.Result]) -> Figure:
    """Steps that save pulls are hatched."""
    return figure_of(price_map(prices))


def ends(figure: Figure) -> list[tuple[float, float]]:
    """Return where the bars begin and end, those of the legend left out."""
    (ax,) = figure.axes
    bars = [bar for group in ax.containers if isinstance(group, BarContainer) for bar in group]
    return [(bar.get_y(), bar.get_y() + bar.get_height()) for bar in bars if bar.get_height() > 0.0]


def test_steps_are_those_of_theory_and_means(prices: list[rai.Result]) -> None:
    """Of the first task, each bar spans what was reached before and what it leads to."""
    found, problem = ends(figure_of(price_map(prices))), rai.table_problem(1)
    levels = [
        rai.bounds.at_delta(problem, 0.01).pulls,
        rai.bounds.practical(problem, 0.01, "gk16-unproven"),
        rai.bounds.practical(problem, 0.01, "pairs"),
        *(run.pulls.mean() for run in prices[:4]),
    ]
    assert len(found) == 14
    for i in range(1, 7):
        assert sorted(found[i]) == pytest.approx(sorted(levels[i - 1 : i + 1]))
    assert found[0][1] == pytest.approx(levels[0])
    legend = legend_of(price_map(prices))
    assert "sampling (top two)" in legend
    assert "the paper's width" in legend


def test_steps_without_a_run_are_left_out(prices: list[rai.Result]) -> None:
    """Other algorithms are passed over; names are those of what is required."""
    others = [prices[2], prices[3], rai.simulate(rai.table_problem(1), rai.LUCB(), replications=3)]
    figure = figure_of(price_map(others))
    assert len(ends(figure)) == 5
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["(1,0,0)"]
    assert "top two" not in legend_of(price_map(others))
    assert math.isfinite(np.max(ends(figure)))


@pytest.mark.landing
def test_what_cannot_be_drawn(prices: list[rai.Result]) -> None:
    """Said with the remedy."""
    problem = rai.table_problem(1)
    lucb = rai.simulate(problem, rai.LUCB(), replications=3, seed=0)
    with pytest.raises(ValueError, match="none of the algorithms that a price map is made of"):
        price_map(lucb)
    other = rai.simulate(problem, rai.Vanilla(), delta=0.1, replications=3, seed=0)
    with pytest.raises(ValueError, match="2 values of delta"):
        price_map([prices[0], other])
    many = rai.top(rai.Bernoulli(np.linspace(0.9, 0.1, 2000)), 5)
    large = rai.simulate(many, rai.Butterscotch(), delta=0.1, replications=1, seed=0)
    vanilla = rai.simulate(many, rai.Vanilla(width="mixture"), delta=0.1, replications=1, seed=0)
    with pytest.raises(ValueError, match="tight lower bound is not known in passing"):
        price_map([large, vanilla])
    gaps = [
        rai.simulate(
            rai.best_arm(rai.Bernoulli([0.9, 0.8 - 0.05 * i])),
            rai.Vanilla(),
            replications=2,
            seed=0,
        )
        for i in range(9)
    ]
    with pytest.raises(ValueError, match="results is of 9 problems; a figure shows at most 8"):
        price_map(gaps)
