"""Legends: small, whole, and in as many columns as fit."""

import pytest
from figures import figure_of, legend_of, part, picture
from matplotlib.figure import Figure

import rai_sim as rai
from rai_sim.plotting import (
    calibration,
    distribution,
    efficiency,
    law,
    mean_pulls,
    normalised_pulls,
    pulls_by_gap,
    ratios,
)
from rai_sim.plotting.legends import columns_that_fit
from rai_sim.study import StudyResults


@pytest.mark.slow
@picture
def test_picture_of_a_legend_below_axes(runs: list[rai.Result]) -> Figure:
    """In a caller's figure that makes room: clear of the axis' name, even where axes are low."""
    figure = Figure(figsize=(10, 7), layout="constrained")
    upper, lower = figure.subplots(2, 2)
    distribution(runs, upper[0])
    mean_pulls(runs[:1], upper[1])
    pulls_by_gap(runs[:2], lower[0], replications=20)
    ratios(runs, lower[1])
    return figure


def share_of_legend(figure: Figure) -> float:
    """Return the share of a figure's height that its legend takes, and see that it is inside."""
    figure.canvas.draw()
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert box.x0 >= figure.bbox.x0
    assert box.x1 <= figure.bbox.x1
    assert box.y0 >= figure.bbox.y0
    return float(box.height / figure.bbox.height)


@pytest.mark.landing
def test_legends_are_small(study: StudyResults, runs: list[rai.Result]) -> None:
    """At most a fifth of the figure, however many entries, and the axes keep half of it; names with
    error rates beside them take a quarter."""
    for draw in (mean_pulls, calibration):
        ax = draw(part(study, "top fifth, n = 10"))
        assert share_of_legend(figure_of(ax)) <= 0.2
        assert ax.get_window_extent().height >= 0.5 * figure_of(ax).bbox.height
    assert share_of_legend(figure_of(law(runs))) <= 0.25


@pytest.mark.slow
def test_more_legends_are_small(study: StudyResults, runs: list[rai.Result]) -> None:
    """Of other figures; of a single row of ratios it is a quarter."""
    one = part(study, "top fifth, n = 10")
    vanilla = part(study, "two arms", 0.1, 0.01).select(algorithm="vanilla")
    axes = [
        mean_pulls(vanilla, against="gap"),
        normalised_pulls(one),
        efficiency(one),
        distribution(runs),
    ]
    assert max(share_of_legend(figure_of(ax)) for ax in axes) <= 0.2
    assert share_of_legend(figure_of(ratios(runs))) <= 0.25


def test_columns_hang_on_the_longest_labels() -> None:
    """One less where a label is longer; one of very long ones."""
    short, long = ["Vanilla", "LUCB", "Butterscotch", "Top"], "a" * 60
    assert columns_that_fit(short, 360.0, 9.0) == 4
    assert 1 < columns_that_fit([*short, "b" * 25], 360.0, 9.0) < 4
    assert columns_that_fit([long, long], 360.0, 9.0) == 1
    assert columns_that_fit(["alone"], 10.0, 9.0) == 1


def test_what_was_found_comes_first(runs: list[rai.Result]) -> None:
    """Then lines beside it, then what bars are, whatever order they were drawn in."""
    labels = legend_of(pulls_by_gap(runs[:1], replications=30))
    assert labels == [
        "Vanilla (30 replications)",
        "bottleneck gap",
        "bar: 95 % interval of the mean",
    ]


def test_a_second_drawing_makes_no_room_twice(runs: list[rai.Result]) -> None:
    """The figure grows by its legend once."""
    ax = distribution(runs)
    height = figure_of(ax).get_figheight()
    distribution(runs, ax)
    assert figure_of(ax).get_figheight() == pytest.approx(height)
