"""A problem's arms and clusters."""

from typing import Any, cast

import numpy as np
import pytest
from figures import figure_of, legend_of, picture
from matplotlib.figure import Figure

import rai_sim as rai
from rai_sim.plotting import instance

DISHES = (
    "Dumplings",
    "Ramen",
    "Tacos",
    "Pizza",
    "Falafel",
    "Curry",
    "Gnocchi",
    "Risotto",
    "Borscht",
    "Haggis",
)


@picture
def test_picture_of_instance() -> Figure:
    """Ten dishes, two of the three best and two of the five in the middle to be named: the README
    shows it."""
    table = rai.table_problem(task=3)
    dishes = table.arms.with_names(DISHES)
    return figure_of(instance(rai.Problem(dishes, table.clusters, table.required)))


def test_arms_stand_best_first_in_their_clusters() -> None:
    """Whatever their order; filled where something is asked, lines between clusters, names as plain
    text."""
    arms = rai.Bernoulli([0.2, 0.9, 0.5, 0.4]).with_names(["a", "$5", "c", "d"])
    ax = instance(rai.Problem(arms, (1, 2, 1), (0, 1, 1)))
    marks = [line for line in ax.get_lines() if line.get_marker() == "o"]
    points = [tuple(np.asarray(mark.get_data(), float).ravel().tolist()) for mark in marks]
    assert points == [(0.9, 1.0), (0.5, 0.4, 2.0, 3.0), (0.2, 4.0)]
    filled = [mark.get_markerfacecolor() == mark.get_color() for mark in marks]
    assert filled == [False, True, True]
    borders = [line.get_ydata() for line in ax.get_lines() if line.get_marker() != "o"]
    assert [np.asarray(heights)[0] for heights in borders] == [1.5, 3.5]
    assert [label.get_text() for label in ax.get_yticklabels()] == [r"\$5", "c", "d", "a"]
    bottom, top = ax.get_ylim()
    assert (bottom, top) == (4.5, 0.5)
    assert ax.get_title(loc="left") == "4 Bernoulli arms, bottleneck gap 0.2"
    assert legend_of(ax)[1] == "cluster 2: name 1 of 2"


def test_many_clusters_are_told_in_short() -> None:
    """Those that are asked for arms first; no lines between hundreds."""
    means = np.linspace(0.9, 0.1, 50)
    required = np.zeros(50, int)
    required[[20, 40]] = 1
    ax = instance(rai.Problem(rai.Bernoulli(means), np.ones(50, int).tolist(), required.tolist()))
    shown = legend_of(ax)
    asked = [label for label in shown if "name 1 of 1" in label]
    assert asked == ["cluster 21: name 1 of 1", "cluster 41: name 1 of 1"]
    assert len(shown) == 7
    assert shown[-1] == "and 44 more clusters"
    assert all(line.get_linestyle() == "None" for line in ax.get_lines())


def test_what_cannot_be_shown_is_refused() -> None:
    """Arms alone, and more than a figure holds."""
    with pytest.raises(TypeError, match=r"problem is of type Bernoulli; make one, such as rai.top"):
        instance(cast(Any, rai.Bernoulli([0.5])))
    many = rai.best_arm(rai.Bernoulli(np.linspace(0.1, 0.9, 1001)))
    with pytest.raises(ValueError, match="problem is of 1,001 arms; a figure shows at most 1,000"):
        instance(many)
