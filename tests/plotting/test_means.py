"""Mean pulls against what varies, and the bounds beside them."""

from dataclasses import replace

import numpy as np
import pytest
from figures import ALGORITHMS, band, figure_of, legend_of, part, picture
from matplotlib.figure import Figure

import rai_sim as rai
from rai_sim.plotting import mean_pulls, pulls_by_gap
from rai_sim.plotting.inputs import cases_of
from rai_sim.plotting.means import _why_none, has_bounds
from rai_sim.study import StudyResults


@pytest.mark.landing
@picture
def test_picture_against_delta(study: StudyResults) -> Figure:
    """Three algorithms and their bounds."""
    return figure_of(mean_pulls(part(study, "top fifth, n = 10"), against="delta"))


@pytest.mark.slow
@picture
def test_picture_against_gap(study: StudyResults) -> Figure:
    """Smaller gaps to the right."""
    return figure_of(mean_pulls(part(study, "two arms", 0.01), against="gap"))


@pytest.mark.slow
@picture
def test_picture_against_n(study: StudyResults) -> Figure:
    """A line for each delta."""
    some = part(study, "top fifth", 0.1, 0.01)
    some.tasks = tuple(task for task in some.tasks if task.experiment.algorithm != rai.LUCB())
    return figure_of(mean_pulls(some, against="n"))


def test_means_are_those_of_the_summary(study: StudyResults) -> None:
    """Points, bands and bounds against the gap, for every algorithm."""
    some = part(study, "two arms", 0.01)
    ax, frame = mean_pulls(some, against="gap"), some.summary()
    lines = {str(line.get_label()): line for line in ax.get_lines()}
    for number, algorithm in enumerate(["Vanilla", "Butterscotch", "LUCB"]):
        rows = frame.filter(frame["algorithm"].str.starts_with(algorithm + "(")).sort(
            "bottleneck_gap_reward"
        )
        assert (
            np.asarray(lines[algorithm].get_xdata(), float).tolist()
            == rows["bottleneck_gap_reward"].to_list()
        )
        assert (
            np.asarray(lines[algorithm].get_ydata(), float).tolist() == rows["pulls_mean"].to_list()
        )
        _, heights = band(ax, number)
        assert set(rows["pulls_mean_low_95"].to_list()) <= set(heights.tolist())
        assert set(rows["pulls_mean_high_95"].to_list()) <= set(heights.tolist())
    problems = sorted(
        (task.experiment.problem for task in some.tasks[:9:3]),
        key=lambda problem: problem.bottleneck_gap,
    )
    lower = lines["Theorem 1 (δ → 0)"]
    assert sorted(np.asarray(lower.get_ydata(), float).tolist()) == sorted(
        {rai.bounds.lower(p, 0.01) for p in problems}
    )
    tight = lines["lower bound at δ (tight)"]
    assert sorted(np.asarray(tight.get_ydata(), float).tolist()) == sorted(
        {rai.bounds.at_delta(p, 0.01).pulls for p in problems}
    )
    upper = lines["Theorem 2 (w.p. 1 − δ)"]
    assert sorted(np.asarray(upper.get_ydata(), float).tolist()) == sorted(
        {rai.bounds.vanilla(p, 0.01) for p in problems}
    )
    assert "Theorem 3 (w.p. 1 − δ)" in lines
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert ax.xaxis_inverted()
    assert "band: 95 % interval" in legend_of(ax)
    without = mean_pulls(some, against="gap", bounds=False)
    assert not [label for label in legend_of(without) if "Theorem" in label]


def test_other_problems_are_no_points_of_one_line() -> None:
    """Tasks that ask for other things differ in more than their gap: a line each."""
    runs = [
        rai.simulate(rai.table_problem(task=task), rai.Vanilla(), replications=20, seed=0)
        for task in (1, 2)
    ]
    labels = [
        label
        for label in legend_of(mean_pulls(runs, against="gap", bounds=False))
        if label.startswith("Vanilla")
    ]
    assert labels == [
        "Vanilla, Bernoulli, clusters 3,5,2, required 1,0,0",
        "Vanilla, Bernoulli, clusters 3,5,2, required 3,0,0",
    ]


def test_bounds_that_do_not_hold_are_not_drawn() -> None:
    """Rewards of standard deviation 1 are not 1/2-sub-Gaussian: no bound, and the legend says why;
    guarded arms beside them keep theirs."""
    wide = rai.Problem(rai.Gaussian([1.0, 0.0], sd=1.0), (1, 1), (1, 0), strict=False)
    narrow = rai.Problem(rai.Gaussian([1.0, 0.0], sd=0.5), (1, 1), (1, 0))
    runs = [
        rai.simulate(problem, rai.Vanilla(), replications=20, seed=0) for problem in (wide, narrow)
    ]
    alone = legend_of(mean_pulls(runs[:1]))
    assert "no bounds where rewards are not 1/2-sub-Gaussian" in alone
    assert not [label for label in alone if "Theorem" in label]
    both = legend_of(mean_pulls({"wide": runs[0], "narrow": runs[1]}))
    assert "no bounds where rewards are not 1/2-sub-Gaussian" in both
    assert [label for label in both if "Theorem 2" in label]


def test_parameters_of_which_no_bound_holds_are_named() -> None:
    """sigma where it is set; a law that is not known here has no bounds for that."""
    loud = rai.Problem(rai.Gaussian([3.0, 1.0], sd=3.0, sigma=2.0), (1, 1), (1, 0), strict=False)
    (case,) = cases_of(rai.simulate(loud, rai.Vanilla(), replications=20, seed=0))
    assert _why_none([case]) == "no bounds where rewards are not 2-sub-Gaussian"
    assert not has_bounds([case], "delta")
    wide = rai.Problem(rai.Gaussian([1.0, 0.0], sd=1.0), (1, 1), (1, 0), strict=False)
    other = replace(case, experiment=replace(case.experiment, problem=wide))
    assert _why_none([case, other]) == "no bounds where rewards are not σ-sub-Gaussian"
    guarded = replace(case, experiment=replace(case.experiment, problem=rai.table_problem()))
    assert has_bounds([guarded], "delta")


def test_a_single_cluster_has_no_lower_bound(runs: list[rai.Result]) -> None:
    """Nothing is told apart, so 0 pulls are no bound to draw; Theorem 2's is one."""
    alone = rai.coarse_ranking(rai.Bernoulli([0.5, 0.4]), (2,))
    ran = [rai.simulate(alone, algorithm, replications=20, seed=0) for algorithm in ALGORITHMS[::3]]
    labels = legend_of(mean_pulls(ran))
    assert "Theorem 2 (w.p. 1 − δ)" in labels
    assert "Theorem 1 (δ → 0)" not in labels
    assert has_bounds(cases_of(ran), "delta")
    assert not has_bounds(cases_of(ran[1]), "delta")
    assert "Theorem 1 (δ → 0)" in legend_of(mean_pulls(runs[0]))


def test_whose_lower_bounds_are_drawn_is_said(runs: list[rai.Result]) -> None:
    """Of arms that are neither Bernoulli nor Gaussian of deviation sigma those of the latter."""
    (case,) = cases_of(runs[0])
    quiet = rai.best_arm(rai.Gaussian([0.7, 0.2], sd=0.25))
    other = replace(case, label="quiet", experiment=replace(case.experiment, problem=quiet))
    words = "as for Gaussian arms of sd 1/2"
    assert f"lower bounds: {words}" in legend_of(mean_pulls([other]))
    assert f"lower bounds of other laws: {words}" in legend_of(mean_pulls([case, other]))
    assert not [label for label in legend_of(mean_pulls([case])) if "as for" in label]


def test_infinite_gaps_are_refused() -> None:
    """A single cluster has no gaps to draw against."""
    single = rai.simulate(
        rai.Problem(rai.Bernoulli([0.5, 0.4]), (2,), (1,)), rai.Vanilla(), replications=5, seed=0
    )
    with pytest.raises(ValueError, match="arm gaps are infinite"):
        pulls_by_gap(single)
    with pytest.raises(ValueError, match="single cluster has an infinite one"):
        mean_pulls(single, against="gap")
    assert (
        mean_pulls(
            [single, rai.simulate(rai.table_problem(), rai.Vanilla(), replications=5, seed=0)],
            against="n",
        ).get_yscale()
        == "log"
    )
