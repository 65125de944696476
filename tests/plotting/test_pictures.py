"""Figures: what is drawn is what was found, the pictures are the stored ones, and everybody can
read them.

Stored pictures are renewed by: pytest -n 0 tests/plotting
--mpl-generate-path=tests/plotting/baseline. Look at each before keeping it.
"""

import math
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import FillBetweenPolyCollection, PathCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.testing.compare import compare_images
from matplotlib.text import Text

import rai_sim as rai
from rai_sim.plotting import distribution, mean_pulls, pulls_by_gap, ratios, style
from rai_sim.plotting import trace as draw_trace
from rai_sim.plotting.choice import choose, render
from rai_sim.simulation.comparison import paired_ratio
from rai_sim.study import StudyResults

picture = pytest.mark.mpl_image_compare(savefig_kwargs={"dpi": 80})
ALGORITHMS = [rai.Vanilla(), rai.Vanilla(merging=False), rai.Butterscotch(), rai.LUCB()]
STUDY = """
algorithms = ["vanilla", "butterscotch", "lucb"]
delta = [0.1, 0.03, 0.01]
replications = 60
[[instances]]
name = "two arms"
family = "evenly_spaced"
n = 2
middle = 0.5
gap = [0.4, 0.2, 0.1]
problem = "best_arm"
[[instances]]
name = "top fifth"
family = "linear_gaps"
n = [5, 10]
problem = "top"
k = "20%"
"""


@pytest.fixture(autouse=True)
def headless() -> Iterator[None]:
    """Pictures without a screen, and no figure left open."""
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def runs() -> list[rai.Result]:
    """Four variants on one problem."""
    return [
        rai.simulate(rai.table_problem(task=2), algorithm, replications=300, seed=0)
        for algorithm in ALGORITHMS
    ]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    """45 tasks in which delta, the gap and the number of arms vary."""
    folder = tmp_path_factory.mktemp("study")
    file = folder / "study.toml"
    file.write_text(STUDY)
    return rai.Study.from_toml(file).run(folder / "store")


def part(study: StudyResults, instance: str, *deltas: float) -> StudyResults:
    """Return some tasks' results."""
    some = StudyResults(study._data, study.study)
    wanted = deltas or (0.1, 0.03, 0.01)
    some.tasks = tuple(
        task
        for task in study.tasks
        if task.instance.startswith(instance) and task.experiment.delta in wanted
    )
    return some


def figure_of(ax: Axes) -> Figure:
    """Return the axes' figure."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure


def legend_of(ax: Axes) -> list[str]:
    """Return the texts of the legend, wherever it stands."""
    legends = [*figure_of(ax).legends, *([ax.get_legend()] if ax.get_legend() else [])]
    return [
        text.get_text() for legend in legends if legend is not None for text in legend.get_texts()
    ]


def band(ax: Axes, number: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the corners of a band."""
    bands = [one for one in ax.collections if isinstance(one, FillBetweenPolyCollection)]
    corners = bands[number].get_paths()[0].vertices
    assert isinstance(corners, np.ndarray)
    return corners[:, 0], corners[:, 1]


# Pictures
# --------------------------------------------------------------------------------------------------


@picture
def test_picture_of_vanilla() -> Figure:
    """Many states, a merge at once."""
    return figure_of(draw_trace(rai.trace(rai.table_problem(task=2), rai.Vanilla(), 0.01, 0, 3)))


@picture
def test_picture_of_butterscotch() -> Figure:
    """Arms settled in the first of few rounds; clusters that merge later."""
    ranking = rai.full_ranking(rai.Bernoulli(np.linspace(0.1, 0.9, 12)))
    return figure_of(draw_trace(rai.trace(ranking, rai.Butterscotch(), 0.01, 0, 3)))


@picture
def test_picture_of_lucb() -> Figure:
    """Named arms, unequal pulls."""
    names = [
        "Alien",
        "Brazil",
        "Casablanca",
        "Dune",
        "Eraserhead",
        "Fargo",
        "Gattaca",
        "Heat",
        "Ikiru",
        "Jaws and a very long title",
    ]
    problem = rai.table_problem(task=4)
    named = rai.Problem(problem.arms.with_names(names), problem.clusters, problem.required)
    return figure_of(draw_trace(rai.trace(named, rai.LUCB(), 0.01, 0, 3)))


@picture
def test_picture_of_many_arms() -> Figure:
    """40 of 300."""
    return figure_of(
        draw_trace(
            rai.trace(
                rai.top(rai.Bernoulli(np.linspace(0.1, 0.9, 300)), 3), rai.Vanilla(), 0.01, 0, 3
            )
        )
    )


@picture
def test_picture_of_merges() -> Figure:
    """Two merges in the middle of a run."""
    problem = rai.Problem(
        rai.Bernoulli([0.95, 0.9, 0.75, 0.7, 0.3, 0.25, 0.1, 0.05]), (2, 2, 2, 2), (1, 1, 1, 1)
    )
    return figure_of(draw_trace(rai.trace(problem, rai.Vanilla(), 0.01, 0, 1)))


@picture
def test_picture_of_ecdf(runs: list[rai.Result]) -> Figure:
    """Four curves with bands."""
    return figure_of(distribution(runs))


@picture
def test_picture_of_histogram(runs: list[rai.Result]) -> Figure:
    """Four histograms."""
    return figure_of(distribution(runs, kind="histogram"))


@picture
def test_picture_of_gaps(runs: list[rai.Result]) -> Figure:
    """Pulls of ten arms."""
    return figure_of(pulls_by_gap(runs, replications=50))


@picture
def test_picture_of_ratios(study: StudyResults) -> Figure:
    """Ten ratios."""
    return figure_of(ratios(part(study, "", 0.01)))


@picture
def test_picture_against_delta(study: StudyResults) -> Figure:
    """Three algorithms and their bounds."""
    return figure_of(mean_pulls(part(study, "top fifth, n = 10"), against="delta"))


@picture
def test_picture_against_gap(study: StudyResults) -> Figure:
    """Smaller gaps to the right."""
    return figure_of(mean_pulls(part(study, "two arms", 0.01), against="gap"))


@picture
def test_picture_against_n(study: StudyResults) -> Figure:
    """A line for each delta."""
    some = part(study, "top fifth", 0.1, 0.01)
    some.tasks = tuple(task for task in some.tasks if task.experiment.algorithm != rai.LUCB())
    return figure_of(mean_pulls(some, against="n"))


@picture
def test_picture_in_a_callers_axes(runs: list[rai.Result]) -> Figure:
    """Four in one figure, legends inside."""
    figure = Figure(figsize=(10, 8), layout="constrained")
    axes = figure.subplots(2, 2)
    draw_trace(rai.trace(rai.table_problem(task=2), rai.Vanilla(), 0.01, 0, 3), axes[0, 0])
    distribution(runs, axes[0, 1])
    pulls_by_gap(runs[:2], axes[1, 0], replications=20)
    ratios(runs, axes[1, 1])
    return figure


def test_a_changed_picture_is_noticed(tmp_path: Path) -> None:
    """Negative control of the comparison: without the settle marks the picture of Vanilla is
    another one at the same tolerance."""
    matplotlib.rcdefaults()
    ax = draw_trace(rai.trace(rai.table_problem(task=2), rai.Vanilla(), 0.01, 0, 3))
    expected = tmp_path / "expected.png"
    expected.write_bytes(
        (Path(__file__).parent / "baseline" / "test_picture_of_vanilla.png").read_bytes()
    )
    drawn = tmp_path / "drawn.png"
    figure_of(ax).savefig(drawn, dpi=80)
    assert compare_images(str(expected), str(drawn), tol=3.0) is None
    for mark in [one for one in ax.collections if isinstance(one, PathCollection)]:
        mark.remove()
    figure_of(ax).savefig(drawn, dpi=80)
    assert compare_images(str(expected), str(drawn), tol=3.0) is not None


# What is drawn
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", [rai.Vanilla(), rai.Butterscotch(), rai.LUCB()], ids=str)
def test_a_trace_is_drawn_as_it_is(algorithm: Any) -> None:
    """Every arm's line, every mark, every merge, every true mean."""
    problem = rai.table_problem(task=2)
    trace = rai.trace(problem, algorithm, 0.01, 0, 3)
    ax = draw_trace(trace)
    lines = {
        line.get_gid(): line for line in ax.get_lines() if str(line.get_gid()).startswith("arm")
    }
    assert len(lines) == 10
    for arm in range(10):
        x, y = (np.asarray(data, float) for data in lines[f"arm {arm}"].get_data())
        seen = trace.active[:, arm]
        assert (x[: seen.sum()] == trace.pulls[seen]).all()
        assert (y[: seen.sum()] == trace.means[seen, arm]).all()
        chosen = arm in trace.representatives
        assert (lines[f"arm {arm}"].get_linewidth() > 2) == chosen
    marks = [one for one in ax.collections if isinstance(one, PathCollection)]
    points = sorted(
        tuple(point) for mark in marks for point in np.asarray(mark.get_offsets()).tolist()
    )
    assert points == sorted((float(e.pulls), e.mean) for e in trace.events if e.arm is not None)
    merges = [
        float(np.asarray(line.get_xdata(), float)[0])
        for line in ax.get_lines()
        if line.get_gid() == "merge"
    ]
    assert merges == sorted({float(e.pulls) for e in trace.events if e.arm is None})
    triangles = [
        y
        for line in ax.get_lines()
        if line.get_marker() == "<"
        for y in np.asarray(line.get_ydata(), float).tolist()
    ]
    assert sorted(triangles) == sorted(problem.arms.means.tolist())
    low, high = ax.get_ylim()
    assert low < problem.arms.means.min()
    assert high > problem.arms.means.max()
    assert ax.get_xscale() == "log"
    assert "band: mean ± radius, if it fits" in legend_of(ax)


def test_bands_of_a_trace_are_the_radii() -> None:
    """Where they are drawn: mean -+ radius."""
    trace = rai.trace(rai.best_arm(rai.Bernoulli([0.6, 0.4])), rai.Vanilla(), 0.01, 0)
    x, y = band(draw_trace(trace), 0)
    limits = {}
    for k in range(len(trace.rounds)):
        limits[float(trace.pulls[k])] = (
            trace.means[k, 0] - trace.radii[k, 0],
            trace.means[k, 0] + trace.radii[k, 0],
        )
    inner = [(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True) if a in limits]
    assert len(inner) > 20
    for a, b in inner:
        assert min(abs(b - limits[a][0]), abs(b - limits[a][1])) < 1e-12


def test_names_at_the_edge_do_not_touch() -> None:
    """Twelve names, several of them of nearly equal means: no two overlap, none leaves the
    figure."""
    means = np.array([0.5, 0.501, 0.502, 0.503, 0.51, 0.2, 0.201, 0.8, 0.801, 0.802, 0.9, 0.1])
    trace = rai.trace(rai.top(rai.Bernoulli(means), 1), rai.Vanilla(), 0.1, 0, max_pulls=100_000)
    ax = draw_trace(trace)
    figure = figure_of(ax)
    figure.canvas.draw()
    names = [text for text in ax.texts if text.get_text().startswith("arm")]
    # without lines to the marks
    boxes = sorted((Text.get_window_extent(text) for text in names), key=lambda box: box.y0)
    assert len(boxes) == 12
    for below, above in pairwise(boxes):
        assert below.y1 <= above.y0 + 0.5
    for box in boxes:
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1


def test_the_costliest_of_many_arms_are_drawn() -> None:
    """most_arms is obeyed, and representatives are always there."""
    trace = rai.trace(rai.top(rai.Bernoulli(np.linspace(0.1, 0.9, 60)), 2), rai.Vanilla(), 0.1, 0)
    ax = draw_trace(trace, most_arms=5)
    drawn = {
        int(str(line.get_gid()).split()[1])
        for line in ax.get_lines()
        if str(line.get_gid()).startswith("arm")
    }
    assert len(drawn) <= 7
    assert set(trace.representatives) <= drawn
    assert int(np.argmax(trace.arm_pulls[-1])) in drawn
    assert f"{len(drawn)} of 60 arms" in ax.get_title(loc="left")


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
    lower = lines["lower bound of the mean (Theorem 1, asymptotic)"]
    assert sorted(np.asarray(lower.get_ydata(), float).tolist()) == sorted(
        {rai.bounds.lower(p, 0.01) for p in problems}
    )
    upper = lines["Theorem 2 (Vanilla: at most, with probability 1 − δ)"]
    assert sorted(np.asarray(upper.get_ydata(), float).tolist()) == sorted(
        {rai.bounds.vanilla(p, 0.01) for p in problems}
    )
    assert "Theorem 3 (Butterscotch: at most, with probability 1 − δ)" in lines
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert ax.xaxis_inverted()
    assert "band: 95 % interval of the mean" in legend_of(ax)
    without = mean_pulls(some, against="gap", bounds=False)
    assert not [label for label in legend_of(without) if "Theorem" in label]


def test_pulls_by_gap_are_the_means(runs: list[rai.Result]) -> None:
    """Of the replications that were run again."""
    ax = pulls_by_gap(runs[0], replications=30)
    expected = rai.arm_pulls(runs[0], 30).mean(axis=0)
    points = ax.containers[0][0]
    assert np.asarray(points.get_ydata(), float) == pytest.approx(expected)
    assert np.asarray(points.get_xdata(), float) == pytest.approx(runs[0].problem.arm_gaps)
    assert "Vanilla (30 replications)" in legend_of(ax)
    assert "bar: 95 % interval of the mean" in legend_of(ax)


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


def test_labels_tell_experiments_apart() -> None:
    """Two deltas of one algorithm."""
    results = [
        rai.simulate(rai.table_problem(), rai.Vanilla(), delta=delta, replications=20, seed=0)
        for delta in (0.1, 0.01)
    ]
    assert {"Vanilla, δ = 0.1", "Vanilla, δ = 0.01"} <= set(legend_of(distribution(results)))
    named = dict(zip(["loose", "tight"], results, strict=True))
    assert {"loose", "tight"} <= set(legend_of(distribution(named)))


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


def test_every_experiment_has_a_label_of_its_own() -> None:
    """Other tasks, seeds, caps; in the end a number."""
    one = rai.simulate(rai.table_problem(task=1), rai.Vanilla(), replications=9, seed=0)
    other = rai.simulate(rai.table_problem(task=2), rai.Vanilla(), replications=9, seed=0)
    capped = rai.simulate(
        rai.table_problem(task=1), rai.Vanilla(), replications=9, seed=0, max_pulls=10**6
    )
    assert legend_of(distribution([one, other]))[:2] == ["Vanilla, r = 1,0,0", "Vanilla, r = 3,0,0"]
    assert legend_of(distribution([one, capped]))[:2] == [
        "Vanilla, no cap",
        "Vanilla, cap 1,000,000",
    ]
    ax = distribution([one, one])
    assert legend_of(ax)[:2] == ["Vanilla, no. 1", "Vanilla, no. 2"]
    assert len({str(line.get_color()) for line in ax.get_lines()}) == 2


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


def test_axes_may_be_drawn_into_twice(runs: list[rai.Result]) -> None:
    """The second drawing does not turn the axis round again, nor leave the first legend behind."""
    ax = mean_pulls(runs[:1])
    mean_pulls(runs[3:], ax)
    assert ax.xaxis_inverted()
    assert len(figure_of(ax).legends) == 1
    assert {"Vanilla", "LUCB"} <= set(legend_of(ax))


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


@pytest.mark.parametrize("name", ["cost $5 to $10", r"$\frac$", "_mine", "$", "x" * 150])
def test_names_are_shown_as_they_are(name: str, tmp_path: Path, runs: list[rai.Result]) -> None:
    """No formula, no crash, nobody left out of the legend, whatever a name holds; and nothing
    leaves the page."""
    ax = distribution({name: runs[0], "other": runs[3]})
    figure = figure_of(ax)
    figure.canvas.draw()
    assert len(legend_of(ax)) == 3
    assert legend_of(ax)[0].strip().replace("\\$", "$").startswith(name[:50])
    arms = rai.Bernoulli([0.9, 0.5, 0.1]).with_names([name, "b", "c"])
    figure_of(draw_trace(rai.trace(rai.best_arm(arms), rai.Vanilla(), 0.1))).canvas.draw()
    study = rai.Study.grid(
        {name: rai.best_arm(arms)}, [rai.Vanilla(), rai.LUCB()], [0.1, 0.01], replications=5
    ).run(tmp_path / "store")
    for drawing in choose(study):
        assert render(drawing, "svg")


@pytest.mark.parametrize("max_pulls", [None, 2000])
def test_titles_stay_inside(max_pulls: int | None) -> None:
    """However much there is to say."""
    trace = rai.trace(
        rai.table_problem(), rai.Vanilla(merging=False), 0.01, 12345, 1000, max_pulls=max_pulls
    )
    ax = draw_trace(trace)
    figure = figure_of(ax)
    figure.canvas.draw()
    title = ax.title if ax.title.get_text() else ax._left_title  # type: ignore[attr-defined]
    box = title.get_window_extent()
    assert box.x1 <= figure.bbox.x1


@pytest.mark.parametrize("rounds", [[800], None])
def test_ticks_do_not_touch(rounds: list[int] | None) -> None:
    """On short ranges as well; and the axis begins with the first event."""
    for problem, delta in (
        (rai.best_arm(rai.Gaussian([30.0, 10.0])), 0.1),
        (rai.table_problem(task=1), 0.01),
    ):
        trace = rai.trace(problem, rai.Vanilla(), delta, 0, 3, rounds=rounds)
        ax = draw_trace(trace)
        figure = figure_of(ax)
        figure.canvas.draw()
        low, high = ax.get_xlim()
        assert low < min(event.pulls for event in trace.events)
        shown = [
            label.get_window_extent()
            for tick, label in zip(ax.get_xticks(), ax.get_xticklabels(), strict=True)
            if label.get_text() and low <= tick <= high
        ]
        assert shown
        assert all(
            left.x1 < right.x0 for left, right in pairwise(sorted(shown, key=lambda box: box.x0))
        )


# Readable by everybody
# --------------------------------------------------------------------------------------------------


def luminance(colour: Any) -> float:
    """Relative luminance of a colour (WCAG 2)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_algorithms_are_told_apart_without_colour() -> None:
    """Up to seven looks differ in mark and in line style; lines of one colour do as well."""
    found = style.looks([f"algorithm {i}" for i in range(7)])
    assert (
        len({look.marker for look in found.values()})
        == len({str(look.line) for look in found.values()})
        == 7
    )
    lines = style.looks_of_lines(
        {"a, 1": "Vanilla", "a, 2": "Vanilla", "b, 1": "LUCB", "b, 2": "LUCB"}
    )
    assert len({(look.marker, str(look.line)) for look in lines.values()}) == 4
    assert lines["a, 1"].colour == lines["a, 2"].colour != lines["b, 1"].colour


@pytest.mark.parametrize("clusters", [2, 3, 5, 12])
def test_clusters_go_from_dark_to_light(clusters: int) -> None:
    """In grey as well; neighbours have other line styles; the lightest still stands out from the
    page."""
    seen = [style.cluster_look(i, clusters) for i in range(clusters)]
    greys = [luminance(colour[:3]) for colour, _ in seen]
    assert greys == sorted(greys)
    assert all(a[1] != b[1] for a, b in pairwise(seen))
    assert 1.05 / (greys[-1] + 0.05) > 1.5


def untyped(draw: Any, *arguments: Any, **options: Any) -> Any:
    """Call a function with what its types forbid."""
    return draw(*arguments, **options)


def small(max_pulls: int | None = None) -> rai.Result:
    """Two replications of another problem."""
    return rai.simulate(
        rai.table_problem(), rai.Vanilla(), replications=2, seed=0, max_pulls=max_pulls
    )


# Use
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["trace", "distribution", "mean_pulls", "pulls_by_gap", "ratios"])
def test_a_given_ax_is_used_and_returned(name: str, runs: list[rai.Result]) -> None:
    """No other figure is made, and the caller's figure keeps its size."""
    from matplotlib import pyplot

    ax = Figure(figsize=(4, 3)).subplots()
    given: Any = rai.trace(rai.table_problem(), rai.Vanilla()) if name == "trace" else runs
    if name == "mean_pulls":
        given = runs[:1]
    assert getattr(rai.plotting, name)(given, ax) is ax
    assert pyplot.get_fignums() == []
    assert figure_of(ax).get_size_inches().tolist() == [4, 3]
    assert ax.get_legend() is not None


def test_settings_of_the_user_are_left_alone(runs: list[rai.Result]) -> None:
    """Drawing changes no global setting."""
    before = dict(matplotlib.rcParams)
    distribution(runs)
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda runs: distribution([]), ValueError, "results is empty; give a Result"),
        (lambda runs: untyped(distribution, 3), TypeError, "results is of type int; give a Result"),
        (lambda runs: untyped(distribution, [3]), TypeError, "results holds something of type int"),
        (
            lambda runs: distribution(runs, kind="pie"),
            ValueError,
            "kind is 'pie'; choose 'ecdf' or 'histogram'",
        ),
        (
            lambda runs: distribution(runs * 3),
            ValueError,
            "results holds 12 experiments; a figure shows at most 10",
        ),
        (
            lambda runs: mean_pulls(runs, against="luck"),
            ValueError,
            "against is 'luck', which a result has no number for",
        ),
        (
            lambda runs: mean_pulls([runs[0], runs[0]]),
            ValueError,
            "two experiments of Vanilla at delta = 0.01",
        ),
        (
            lambda runs: untyped(mean_pulls, runs, bounds=1),
            TypeError,
            "bounds is 1; it must be True or False",
        ),
        (lambda runs: ratios(runs[0]), ValueError, "results has nothing to compare"),
        (
            lambda runs: ratios(runs, baseline="mine"),
            ValueError,
            "baseline is 'mine'; choose one of 'Vanilla'",
        ),
        (lambda runs: pulls_by_gap(runs, replications=0), ValueError, "replications is 0"),
        (lambda runs: pulls_by_gap([runs[0], small()]), ValueError, "several problems"),
        (
            lambda runs: draw_trace(runs[0]),
            TypeError,
            "trace is of type Result; make one with rai.trace",
        ),
        (
            lambda runs: draw_trace(rai.trace(rai.table_problem(), rai.LUCB(), max_pulls=3)),
            ValueError,
            "max_pulls = 3, before a check",
        ),
        (
            lambda runs: draw_trace(rai.trace(rai.table_problem(), rai.LUCB()), most_arms=0),
            ValueError,
            "most_arms is 0",
        ),
        (lambda runs: distribution(small(max_pulls=3)), ValueError, "raise max_pulls"),
    ],
)
def test_bad_input(call: Any, error: type[Exception], words: str, runs: list[rai.Result]) -> None:
    """Name, value, remedy; and no figure is left behind."""
    from matplotlib import pyplot

    with pytest.raises(error, match=words):
        call(runs)
    assert pyplot.get_fignums() == []


def test_a_study_gets_the_figures_that_suit_it(study: StudyResults) -> None:
    """Of everything that varies one figure a family, equal bytes each time, all of them
    pictures."""
    drawings = choose(study)
    names = [drawing.name for drawing in drawings]
    kinds = {
        "pulls-against-delta",
        "pulls-against-gap",
        "pulls-against-n",
        "ratios",
        "distribution",
        "histogram",
        "pulls-by-gap",
    }
    assert kinds <= set(names)
    assert len(set(names)) == len(names)
    gap = next(drawing for drawing in drawings if drawing.name == "pulls-against-gap")
    assert gap.caption.startswith("two arms, δ = 0.01: mean pulls against the bottleneck gap")
    assert "(3 of 5 such figures" in next(
        drawing.caption for drawing in drawings if drawing.name == "distribution"
    )
    first_of_each = [drawing for drawing in drawings if drawing.name in kinds]
    assert all(render(drawing, "svg") == render(drawing, "svg") for drawing in first_of_each)
    with matplotlib.rc_context({"axes.facecolor": "black", "font.size": 30}):
        dark = render(gap, "svg")
    assert dark == render(gap, "svg")
    assert render(gap, "png").startswith(b"\x89PNG")
    assert render(gap, "pdf") == render(gap, "pdf")


def test_studies_made_by_hand(tmp_path: Path) -> None:
    """Instances without parameters: drawn against what differs, the gap or the number of arms;
    nothing for a single task."""
    two = {f"gap {gap}": rai.best_arm(rai.Bernoulli([0.5 + gap, 0.5])) for gap in (0.2, 0.4)}
    names = [
        drawing.name
        for drawing in choose(
            rai.Study.grid(two, [rai.Vanilla()], [0.1], replications=20).run(tmp_path / "a")
        )
    ]
    assert names == [
        "pulls-against-gap",
        "distribution",
        "histogram",
        "distribution-2",
        "histogram-2",
    ]
    one = choose(
        rai.Study.grid([rai.table_problem()], [rai.Vanilla()], [0.1], replications=20).run(
            tmp_path / "b"
        )
    )
    assert [drawing.name for drawing in one] == ["distribution", "histogram", "pulls-by-gap"]


def test_a_large_comparison_is_cut(tmp_path: Path) -> None:
    """50 rows: the figure has at most 40 and says which; all of them make two figures, of 40 and of
    10 rows."""
    problems = {
        f"instance {i}": rai.best_arm(rai.Bernoulli([0.9, 0.5 - i / 200])) for i in range(50)
    }
    results = rai.Study.grid(
        problems, [rai.Butterscotch(), rai.Vanilla(), rai.LUCB()], [0.1], replications=3
    ).run(tmp_path / "store")
    drawing = next(drawing for drawing in choose(results) if drawing.name == "ratios")
    assert "for the first 40 of 50 instances alone; --all draws all of them" in drawing.caption
    assert len(drawing.draw(Figure().subplots()).get_yticks()) == 40
    both = [
        drawing for drawing in choose(results, everything=True) if drawing.name.startswith("ratios")
    ]
    assert [len(drawing.draw(Figure().subplots()).get_yticks()) for drawing in both] == [40, 10]
    assert both[1].name == "ratios-2"


_WITHOUT = """
import sys
sys.modules["matplotlib"] = None
import rai_sim as rai
rai.simulate(rai.table_problem(), rai.Vanilla(), replications=2, seed=0).summary()
trace = rai.trace(rai.table_problem(), rai.Vanilla())
for use in (lambda: rai.plotting, trace.plot):
    try:
        use()
    except ImportError as error:
        print(error)
"""


def test_without_matplotlib() -> None:
    """Everything else works, traces too; figures name the extra that is missing."""
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT], capture_output=True, text=True, check=True
    )
    assert (
        done.stdout.splitlines()
        == ["plots need matplotlib, which is not installed: pip install 'rai_sim[plot]'"] * 2
    )


def test_importing_loads_no_matplotlib() -> None:
    """Nor do a simulation, a trace, a study and its summary."""
    code = (
        "import sys, tempfile, rai_sim as rai; p = rai.table_problem(); rai.trace(p, "
        "rai.Vanilla());"
        "rai.Study.grid([p], [rai.Vanilla()], [0.1], "
        "replications=2).run(tempfile.mkdtemp())._repr_html_();"
        "import rai_sim.cli; print([name for name in sys.modules if name.partition('.')[0] == "
        "'matplotlib'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
