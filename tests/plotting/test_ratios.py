"""Ratios of mean pulls: paired where replications are, and honest where they are not."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from figures import figure_of, legend_of, part, picture
from matplotlib.figure import Figure

import rai_sim as rai
from rai_sim.plotting import ratios
from rai_sim.simulation.comparison import paired_ratio
from rai_sim.study import StudyResults


@pytest.mark.landing
@picture
def test_picture_of_ratios(study: StudyResults) -> Figure:
    """Ten ratios."""
    return figure_of(ratios(part(study, "", 0.01)))


def test_ratios_are_the_paired_ones(runs: list[rai.Result]) -> None:
    """Value and interval, of every algorithm to the chosen baseline."""
    ax = ratios(runs, baseline="LUCB")
    expected = [paired_ratio(result, runs[3]) for result in runs[:3]]
    drawn = [container for container in ax.containers if len(container) == 3]
    for container, ratio in zip(drawn, expected, strict=True):
        assert float(np.asarray(container[0].get_xdata(), float)[0]) == pytest.approx(ratio.value)
        ends = container[2][0].get_segments()[0][:, 0]
        assert ends.tolist() == pytest.approx([ratio.low, ratio.high])
    assert ax.get_xlabel() == "mean pulls over those of LUCB"


def test_ratios_of_other_seeds_are_of_independent_means() -> None:
    """Seeds that were drawn differ: the comparison is made all the same, and says how."""
    problem = rai.table_problem()
    runs = [
        rai.simulate(problem, rai.Vanilla(), replications=50, seed=0),
        rai.simulate(problem, rai.LUCB(), replications=50, seed=1),
    ]
    ax = ratios(runs)
    assert "bar: 95 % interval (other seeds: independent)" in legend_of(ax)
    assert float(np.asarray(ax.containers[0][0].get_xdata(), float)[0]) == pytest.approx(
        runs[1].pulls.mean() / runs[0].pulls.mean()
    )


@pytest.mark.landing
def test_runs_of_which_hardly_a_pair_finished_are_compared(tmp_path: Path) -> None:
    """Under a tight cap other replications finish for one than for the other: the widest interval,
    not an error; a report as well."""
    problem = rai.table_problem(task=1)
    one, other = (
        rai.simulate(problem, algorithm, replications=40, seed=0, max_pulls=3700)
        for algorithm in (rai.Vanilla(), rai.LUCB())
    )
    assert min(one.finished.sum(), other.finished.sum()) > 1
    assert (one.finished & other.finished).sum() < 2
    ax = ratios([one, other])
    assert "no interval: fewer than 30 replications" in legend_of(ax)
    many, others = (
        rai.simulate(problem, algorithm, replications=500, seed=0, max_pulls=3700)
        for algorithm in (rai.Vanilla(), rai.LUCB())
    )
    assert min(many.finished.sum(), others.finished.sum()) >= 30
    assert (many.finished & others.finished).sum() < 30
    assert "bar: 95 % interval (any dependence)" in legend_of(ratios([many, others]))
    assert "LUCB, finished runs only" in legend_of(ax)
    study = rai.Study.grid(
        [problem], [rai.Vanilla(), rai.LUCB()], [0.01], replications=40, max_pulls=3700
    )
    study.run(tmp_path / "store").report(tmp_path / "report.html")


def test_what_pulls_nothing_is_left_out(runs: list[rai.Result]) -> None:
    """The first algorithm that pulls is the baseline then; what pulls nothing can be none."""
    idle = replace(runs[0], pulls=np.zeros_like(runs[0].pulls))
    ax = ratios({"idle": idle, "Vanilla": runs[0], "LUCB": runs[3]})
    assert ax.get_xlabel() == "mean pulls over those of Vanilla"
    assert "idle" not in legend_of(ax)
    with pytest.raises(ValueError, match="baseline is 'idle'; choose one of 'Vanilla', 'LUCB'"):
        ratios({"idle": idle, "Vanilla": runs[0], "LUCB": runs[3]}, baseline="idle")
    with pytest.raises(ValueError, match="two finished replications and pulls"):
        ratios({"idle": idle, "Vanilla": runs[0]})


def test_a_base_that_was_capped_is_told() -> None:
    """The other one finished everywhere, but the ratio is of finished runs only all the same."""
    problem = rai.table_problem(task=1)
    base = rai.simulate(problem, rai.Vanilla(), replications=60, seed=0, max_pulls=4200)
    other = rai.simulate(problem, rai.LUCB(), replications=60, seed=1, max_pulls=4200)
    other = rai.Result(
        other.experiment,
        other.ranges,
        other.pulls,
        other.rounds,
        other.correct,
        np.ones(60, bool),
        other.representatives,
    )
    assert 1 < base.finished.sum() < 60
    assert "LUCB, finished runs only" in legend_of(ratios([base, other]))
