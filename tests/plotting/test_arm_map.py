"""Pulls of each arm by each algorithm."""

from itertools import product

import numpy as np
import pytest
from figures import figure_of, picture
from matplotlib.figure import Figure

import rai_sim as rai
from rai_sim.plotting import arm_map, paper
from rai_sim.plotting.arm_map import compact, size_for


@pytest.mark.landing
@picture
def test_picture_of_arm_map(runs: list[rai.Result]) -> Figure:
    """Four variants, ten arms, with their numbers."""
    return figure_of(arm_map(runs))


def test_cells_are_mean_pulls(runs: list[rai.Result]) -> None:
    """Of replications run again, arms best first."""
    means = [0.3, 0.9, 0.5]
    some = [
        rai.simulate(rai.best_arm(rai.Bernoulli(means)), one, replications=30, seed=0)
        for one in (rai.Vanilla(), rai.LUCB())
    ]
    ax = arm_map(some, replications=20)
    shown = np.asarray(ax.images[0].get_array(), float)
    for row, run in zip(shown, some, strict=True):
        assert row.tolist() == rai.arm_pulls(run, 20)[:, [1, 2, 0]].mean(axis=0).tolist()
    texts = {text.get_position(): text.get_text() for text in ax.texts}
    for row, arm in product(range(2), range(3)):
        assert texts[arm + 1, row] == compact(shown[row, arm])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["Vanilla", "LUCB"]


def test_numbers_are_written_where_there_is_room(runs: list[rai.Result]) -> None:
    """Not in one column of a paper, of ten arms; and no number leaves its cell."""
    with paper(columns=1):
        assert len(arm_map(runs, replications=5).texts) == 0
    ax = arm_map(runs, replications=5)
    figure = figure_of(ax)
    figure.canvas.draw()
    assert len(ax.texts) == 40
    cell = ax.get_window_extent().width / 10
    assert all(text.get_window_extent().width <= cell for text in ax.texts)


def test_what_is_too_much_is_refused(runs: list[rai.Result]) -> None:
    """Arms, rows, problems."""
    wide = rai.best_arm(rai.Bernoulli(rai.instances.one_apart(61)))
    run = rai.simulate(wide, rai.Butterscotch(), delta=0.1, replications=2, seed=0)
    with pytest.raises(ValueError, match="results is of 61 arms; a map shows at most 60"):
        arm_map(run)
    with pytest.raises(ValueError, match="results holds 13 experiments; a figure shows at most 12"):
        arm_map({str(i): runs[0] for i in range(13)})
    with pytest.raises(ValueError, match="results is of several problems"):
        arm_map([run, runs[0]])


def test_size_grows_by_rows() -> None:
    """Each as high as the next."""
    assert size_for(3)[1] - size_for(2)[1] == pytest.approx(size_for(2)[1] - size_for(1)[1])


def test_numbers_are_short() -> None:
    """At most five characters, whatever the number of pulls."""
    values = np.geomspace(0.1, 1e18, 4000)
    assert max(len(compact(value)) for value in values) <= 5
    assert [compact(value) for value in (9.96, 999.4, 999.6, 1e6, 1e15)] == [
        "10",
        "999",
        "1.0k",
        "1.0M",
        "1e15",
    ]
