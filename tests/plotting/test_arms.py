"""Pulls by arm."""

import numpy as np
import pytest
from figures import figure_of, legend_of, picture
from matplotlib.figure import Figure

import rai_sim as rai
from rai_sim.plotting import pulls_by_gap


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
