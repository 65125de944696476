"""Pulls by arm."""

import numpy as np
import pytest
from figures import figure_of, legend_of, picture
from matplotlib.figure import Figure

import rai_sim as rai
from rai_sim.plotting import pulls_by_gap


@pytest.mark.landing
@picture
def test_picture_of_gaps(runs: list[rai.Result]) -> Figure:
    """Pulls of ten arms."""
    return figure_of(pulls_by_gap(runs, replications=50))


def test_pulls_by_gap_are_the_means(runs: list[rai.Result]) -> None:
    """Of the replications that were run again."""
    ax = pulls_by_gap(runs[0], replications=30)
    expected = rai.arm_pulls(runs[0], 30).mean(axis=0)
    points = ax.containers[0][0]
    assert np.asarray(points.get_ydata(), float) == pytest.approx(expected)
    assert np.asarray(points.get_xdata(), float) == pytest.approx(runs[0].problem.arm_gaps)
    assert "Vanilla (30 replications)" in legend_of(ax)
    assert "bar: 95 % interval of the mean" in legend_of(ax)


def test_of_many_arms_a_thousand_are_drawn() -> None:
    """Evenly spaced in the order of their gaps, ends included; the legend says so."""
    problem = rai.top(rai.Bernoulli(np.linspace(0.95, 0.05, 2997)), 999)
    result = rai.simulate(problem, rai.Butterscotch(), replications=3, seed=1)
    ax = pulls_by_gap(result)
    points, gaps = ax.containers[0][0], np.sort(problem.arm_gaps)
    found = np.asarray(points.get_xdata(), float)
    assert found.tolist() == gaps[np.linspace(0, 2996, 1000).round().astype(int)].tolist()
    pulls = rai.arm_pulls(result).mean(axis=0)
    assert set(np.asarray(points.get_ydata(), float)) <= set(pulls)
    assert "1,000 of 2,997 arms" in legend_of(ax)
