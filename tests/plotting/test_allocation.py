"""Shares of pulls."""

from pathlib import Path

import numpy as np
import pytest
from figures import figure_of, legend_of, picture
from matplotlib.figure import Figure

import rai_sim as rai
from rai_sim.plotting import allocation


@pytest.mark.landing
@picture
def test_picture_of_allocation(runs: list[rai.Result]) -> Figure:
    """Four variants beside the best shares."""
    return figure_of(allocation(runs, replications=50))


def test_shares_are_those_of_the_replications() -> None:
    """Mean pulls of each arm over all, best arm first, with the interval of a ratio; bars are the
    weights of the bound."""
    means = [0.2, 0.8, 0.3, 0.6]
    problem = rai.best_arm(rai.Bernoulli(means))
    run = rai.simulate(problem, rai.Vanilla(), replications=60, seed=0)
    ax = allocation(run, replications=40)
    order = np.argsort(means)[::-1]
    pulls = rai.arm_pulls(run, 40)[:, order].astype(float)
    bars, marks = ax.containers
    heights = [patch.get_height() for patch in bars]
    assert heights == rai.bounds.degenne_koolen(problem, "bernoulli").weights[order].tolist()
    share = pulls.mean(axis=0) / pulls.mean() / 4.0
    assert np.asarray(marks[0].get_ydata(), float) == pytest.approx(share)
    segments = marks[2][0].get_segments()
    # jackknife: another way to the error of a ratio
    left_out = np.array([np.delete(pulls, i, axis=0).sum(axis=0) for i in range(40)])
    ratios = left_out / left_out.sum(axis=1, keepdims=True)
    error = np.sqrt(39.0 / 40.0 * ((ratios - ratios.mean(axis=0)) ** 2).sum(axis=0))
    half = np.array([(segment[1, 1] - segment[0, 1]) / 2.0 for segment in segments])
    assert half / error == pytest.approx(np.full(4, 2.0227), rel=0.05)
    assert "Vanilla (40 replications)" in legend_of(ax)
    assert "bar: 95 % interval of the share" in legend_of(ax)


def test_names_of_arms_stand_below_the_axis() -> None:
    """Best arm first; dollars begin no formula."""
    arms = rai.Bernoulli([0.2, 0.9, 0.5]).with_names(["Mirror", "Stalker", "$5"])
    ax = allocation(rai.simulate(rai.best_arm(arms), rai.Vanilla(), replications=5))
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert labels == ["Stalker", r"\$5", "Mirror"]


def test_few_replications_have_no_interval() -> None:
    """And the legend says so."""
    run = rai.simulate(rai.table_problem(task=2), rai.LUCB(), replications=20, seed=0)
    labels = legend_of(allocation(run))
    assert "no interval: fewer than 30 replications" in labels
    assert not [label for label in labels if label.startswith("bar:")]


def test_what_cannot_be_shown_is_refused(runs: list[rai.Result], tmp_path: Path) -> None:
    """Several problems, many arms, arms without best shares, sums alone."""
    other = rai.simulate(rai.table_problem(task=1), rai.Vanilla(), replications=5, seed=0)
    with pytest.raises(ValueError, match="results is of several problems, whose arms differ"):
        allocation([runs[0], other])
    for problem in (
        rai.best_arm(rai.Bernoulli(rai.instances.one_apart(61))),
        rai.one_of_top(rai.Bernoulli(rai.instances.evenly_spaced(21)), 10),
        rai.coarse_ranking(rai.Bernoulli([0.5, 0.4]), (2,)),
    ):
        run = rai.simulate(problem, rai.Butterscotch(), replications=5, seed=0)
        with pytest.raises(ValueError, match=f"results is of {problem.n_arms} arms of which no be"):
            allocation(run)
    study = rai.Study.grid(
        [rai.table_problem(task=2)], [rai.Vanilla()], [0.1], replications=5, keep="aggregates"
    )
    with pytest.raises(ValueError, match="results keeps aggregates only"):
        allocation(study.run(tmp_path / "store"))
    with pytest.raises(ValueError, match="replications is 0; it must be at least 1"):
        allocation(runs, replications=0)
