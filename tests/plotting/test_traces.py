"""Figures of one replication: what is drawn is the trace."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from figures import band, figure_of, legend_of, picture
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.testing.compare import compare_images
from matplotlib.text import Text

import rai_sim as rai
from rai_sim.plotting import trace as draw_trace

# Pictures
# --------------------------------------------------------------------------------------------------


@pytest.mark.landing
@picture
def test_picture_of_vanilla() -> Figure:
    """Many states, a merge at once."""
    return figure_of(draw_trace(rai.trace(rai.table_problem(task=2), rai.Vanilla(), 0.01, 0, 3)))


@pytest.mark.slow
@picture
def test_picture_of_butterscotch() -> Figure:
    """Arms settled in the first of few rounds; clusters that merge later."""
    ranking = rai.full_ranking(rai.Bernoulli(np.linspace(0.1, 0.9, 12)))
    return figure_of(draw_trace(rai.trace(ranking, rai.Butterscotch(), 0.01, 0, 3)))


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.landing
@picture
def test_picture_of_merges() -> Figure:
    """Two merges in the middle of a run."""
    problem = rai.Problem(
        rai.Bernoulli([0.95, 0.9, 0.75, 0.7, 0.3, 0.25, 0.1, 0.05]), (2, 2, 2, 2), (1, 1, 1, 1)
    )
    return figure_of(draw_trace(rai.trace(problem, rai.Vanilla(), 0.01, 0, 1)))


@pytest.mark.landing
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


@pytest.mark.landing
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


@pytest.mark.landing
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


@pytest.mark.landing
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


def test_a_band_that_is_not_there_is_not_told_of() -> None:
    """Some algorithms have no radii."""
    trace = rai.trace(rai.table_problem(task=2), rai.Vanilla(), 0.01, 0, 3)
    words = "band: mean ± radius, if it fits"
    assert words in legend_of(draw_trace(trace))
    without = replace(trace, radii=np.full_like(trace.radii, np.nan))
    assert words not in legend_of(draw_trace(without))
