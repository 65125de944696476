"""The look of figures: told apart by everybody, in the caller's axes or their own."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib
import pytest
from figures import figure_of, legend_of, picture
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import rai_sim as rai
from rai_sim.plotting import distribution, mean_pulls, panels, pulls_by_gap, ratios, style
from rai_sim.plotting import trace as draw_trace
from rai_sim.plotting.choice import choose
from rai_sim.plotting.drawing import render


@pytest.mark.landing
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


def test_axes_may_be_drawn_into_twice(runs: list[rai.Result]) -> None:
    """The second drawing does not turn the axis round again, nor leave the first legend behind."""
    ax = mean_pulls(runs[:1])
    mean_pulls(runs[3:], ax)
    assert ax.xaxis_inverted()
    assert len(figure_of(ax).legends) == 1
    assert {"Vanilla", "LUCB"} <= set(legend_of(ax))


@pytest.mark.landing
@pytest.mark.parametrize(
    "name",
    [
        r"$\frac$",
        *(
            pytest.param(one, marks=pytest.mark.slow)
            for one in ("cost $5 to $10", "_mine", "$", "x" * 150)
        ),
    ],
)
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


@pytest.mark.landing
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


def test_what_is_no_axes_is_refused(runs: list[rai.Result]) -> None:
    """By its name, such as the figure that they are in."""
    with pytest.raises(TypeError, match=r"ax is <.*>; give matplotlib Axes, such as figure.sub"):
        distribution(runs, Figure())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="ax is 3; give matplotlib Axes"):
        panels(runs, 3)  # type: ignore[arg-type]


def test_settings_of_the_user_are_left_alone(runs: list[rai.Result]) -> None:
    """Drawing changes no global setting."""
    before = dict(matplotlib.rcParams)
    distribution(runs)
    assert dict(matplotlib.rcParams) == before
