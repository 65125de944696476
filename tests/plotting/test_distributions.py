"""Distributions of pulls: every step of the curve, every share."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from figures import band, figure_of, legend_of, picture
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

import rai_sim as rai
from rai_sim.plotting import distribution, mean_pulls, pulls_by_gap, ratios


@picture
def test_picture_of_ecdf(runs: list[rai.Result]) -> Figure:
    """Four curves with bands."""
    return figure_of(distribution(runs))


@picture
def test_picture_of_histogram(runs: list[rai.Result]) -> Figure:
    """Four histograms."""
    return figure_of(distribution(runs, kind="histogram"))


def test_an_ecdf_is_the_ecdf(runs: list[rai.Result]) -> None:
    """At every step of the curve the share of replications up to there; the band is DKW's."""
    ax = distribution(runs[0])
    x, y = (np.asarray(data, float) for data in ax.get_lines()[0].get_data())
    pulls = np.sort(runs[0].pulls)
    for at, share in zip(x[1:].tolist(), y[1:].tolist(), strict=True):
        assert share == pytest.approx(np.searchsorted(pulls, at, "right") / len(pulls))
    assert (x[-1], y[-1]) == (pulls[-1], 1.0)
    _, heights = band(ax, 0)
    margin = math.sqrt(math.log(40) / (2 * 300))
    middle = (heights > 0.3) & (heights < 0.7)
    nearest = [
        np.abs(y[:, None] + np.array([-margin, margin]) - height).min()
        for height in heights[middle]
    ]
    assert max(nearest) < 1e-12
    assert "band: 95 % for the whole curve (DKW)" in legend_of(ax)


def test_a_histogram_counts_everybody(runs: list[rai.Result]) -> None:
    """Shares add up to one for every experiment."""
    ax = distribution(runs, kind="histogram")
    outlines = [patch for patch in ax.patches if not patch.get_fill()]
    assert len(outlines) == len(runs)
    for outline in outlines:
        assert float(outline.get_data().values.sum()) == pytest.approx(1.0)  # type: ignore[attr-defined]


def test_aggregates_are_drawn_as_rows_are(tmp_path: Path) -> None:
    """To within their bins' width; what needs rows says so, and comparisons are wider."""
    algorithms, problem = [rai.Vanilla(), rai.LUCB()], rai.table_problem(task=1)
    both = [
        rai.Study.grid([problem], algorithms, [0.1], replications=200, keep=keep).run(
            tmp_path / keep
        )
        for keep in ("replications", "aggregates")
    ]
    curves = [
        [np.asarray(data, float) for data in distribution(results).get_lines()[0].get_data()]
        for results in both
    ]
    for share in (0.1, 0.5, 0.9):
        exact, binned = (x[np.searchsorted(y, share)] for x, y in curves)
        assert abs(exact / binned - 1) < 0.0021
    with pytest.raises(ValueError, match="keep='replications'"):
        pulls_by_gap(both[1])
    paired, safe = (ratios(results) for results in both)
    assert "bar: 95 % interval (pairs of replications)" in legend_of(paired)
    assert "bar: 95 % interval (any dependence)" in legend_of(safe)


def test_capped_runs_are_no_part_of_the_curve() -> None:
    """A curve ends at the share that finished, and the legend says of how many; means say that they
    are of finished runs."""
    problem = rai.table_problem(task=1)
    capped = rai.simulate(problem, rai.Vanilla(), replications=200, seed=0, max_pulls=4000)
    share = float(capped.finished.mean())
    assert 0.05 < share < 0.5
    ax = distribution(capped)
    assert float(np.asarray(ax.get_lines()[0].get_ydata(), float)[-1]) == pytest.approx(share)
    assert f"Vanilla ({round(200 * share)} of 200 finished)" in legend_of(ax)
    histogram = distribution(capped, kind="histogram")
    outline: Any = next(patch for patch in histogram.patches if not patch.get_fill())
    assert float(outline.get_data().values.sum()) == pytest.approx(share)
    assert "Vanilla, finished runs only" in legend_of(mean_pulls(capped))
    other = rai.simulate(problem, rai.LUCB(), replications=200, seed=0, max_pulls=4000)
    assert "LUCB, finished runs only" in legend_of(ratios([capped, other]))
    assert any(
        "of 200 finished" in label for label in legend_of(pulls_by_gap(capped, replications=5))
    )


def test_a_curve_of_one_number_has_a_bar_for_a_band() -> None:
    """Where all replications take the same pulls, from 1 less the margin to 1."""
    sure = rai.simulate(rai.best_arm(rai.Bernoulli([1.0, 0.0])), rai.Vanilla(), replications=50)
    assert len(set(sure.pulls.tolist())) == 1
    (bar,) = [one for one in distribution(sure).collections if isinstance(one, LineCollection)]
    margin = math.sqrt(math.log(2.0 / 0.05) / 100.0)
    assert bar.get_segments()[0][:, 1].tolist() == pytest.approx([1.0 - margin, 1.0])
