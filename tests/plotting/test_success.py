"""The figure of success against pulls: a line and a band a curve."""

import numpy as np
import pytest
from figures import figure_of, picture
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

import rai_sim as rai
from rai_sim.plotting.style import looks
from rai_sim.plotting.success import success
from rai_sim.simulation.experiment import Experiment
from rai_sim.simulation.success import SuccessCurve


def curve(algorithm: rai.Vanilla | rai.LUCB, delta: float, seed: int) -> SuccessCurve:
    """Return a curve as it might be found."""
    rng, pulls = np.random.default_rng(seed), np.array([10, 100, 1_000, 10_000])
    right = np.sort(rng.integers(0, 201, 4))
    made = Experiment(rai.table_problem(2), algorithm, delta, 0, 1e-12, 10_000)
    return SuccessCurve(made, 200, pulls, right, np.array([0, 0, 50, 200]))


@pytest.mark.landing
@picture
def test_picture_of_success() -> Figure:
    """Two algorithms, of which one has a line of its own for who has stopped."""
    pulls = np.unique(np.geomspace(4, 40_000, 30).astype(int))
    curves = []
    for place, algorithm in enumerate((rai.Vanilla(), rai.LUCB())):
        right = np.round(500 * pulls / (pulls + 60.0 * (place + 1))).astype(int)
        stopped = np.round(500 * np.clip(np.log10(pulls) - 3.0, 0.0, 1.0) * (1 - place)).astype(int)
        made = Experiment(rai.table_problem(2), algorithm, 0.1, 0, 1e-12, 40_000)
        curves.append(SuccessCurve(made, 500, pulls, right, stopped))
    return figure_of(success(curves))


def test_lines_and_bands() -> None:
    """Lines go through the shares; of two deltas each is told."""
    curves = [
        curve(rai.Vanilla(), 0.1, 1),
        curve(rai.Vanilla(), 0.01, 2),
        curve(rai.LUCB(), 0.1, 3),
    ]
    ax = success(curves, Figure().subplots(), simultaneous=True)
    labels = ax.get_legend_handles_labels()[1]
    assert labels[:3] == ["Vanilla, δ = 0.1", "Vanilla, δ = 0.01", "LUCB, δ = 0.1"]
    assert "band: 95 % intervals, all at once" in labels
    assert "stopped by itself" in labels
    assert np.allclose(np.asarray(ax.lines[0].get_ydata(), float), curves[0].share)
    assert ax.get_xscale() == "log"


def test_the_same_twice_is_numbered() -> None:
    """None hides another in the legend."""
    one = curve(rai.Vanilla(), 0.1, 1)
    ax = success([one, one], Figure().subplots())
    assert ax.get_legend_handles_labels()[1][:2] == ["Vanilla", "Vanilla (2)"]


def test_refusals() -> None:
    """Of other things, and of too many."""
    one = curve(rai.Vanilla(), 0.1, 1)
    with pytest.raises(TypeError, match=r"every entry must be what rai_sim\.success_by returned"):
        success([3], Figure().subplots())  # type: ignore[list-item]
    with pytest.raises(TypeError, match="curves is 3; give a list of curves"):
        success(3, Figure().subplots())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="curves is empty; give at least one curve"):
        success([], Figure().subplots())
    with pytest.raises(ValueError, match="curves holds 11 curves; a figure shows 1 to 10"):
        success([one] * 11, Figure().subplots())


def test_algorithms_have_their_own_colours() -> None:
    """Those of every other figure, though their labels tell of options."""
    ax = success([curve(rai.Vanilla(), 0.1, 1), curve(rai.LUCB(), 0.1, 2)], Figure().subplots())
    colours = {str(line.get_label()): line.get_color() for line in ax.get_lines()}
    own = looks(["Vanilla", "LUCB"])
    assert [colours[name] for name in own] == [look.colour for look in own.values()]


def test_one_number_of_pulls_has_bars_side_by_side() -> None:
    """A bar from end to end for each curve, none in another's place, and a dash for who has stopped;
    no band is told of."""
    made = Experiment(rai.table_problem(2), rai.Vanilla(), 0.1, 0, 1e-12, 10_000)
    other = Experiment(rai.table_problem(2), rai.LUCB(), 0.1, 0, 1e-12, 10_000)
    curves = [
        SuccessCurve(one, 200, np.array([1_000]), np.array([120]), np.array([20]))
        for one in (made, other)
    ]
    ax = success(curves, Figure().subplots())
    bars = [one for one in ax.collections if isinstance(one, LineCollection)]
    low, high = curves[0].band()
    assert [bar.get_segments()[0].tolist() for bar in bars] == [
        [[1_000.0, low[0]], [1_000.0, high[0]]]
    ] * 2
    at = [bar.get_transform().transform((1_000.0, 0.5))[0] for bar in bars]
    marks = [line.get_transform().transform((1_000.0, 0.5))[0] for line in ax.get_lines()[:4:2]]
    assert at == marks
    assert at[0] + 5.0 < at[1]
    assert [line.get_marker() for line in ax.get_lines()[1:4:2]] == ["_", "_"]
    labels = ax.get_legend_handles_labels()[1]
    assert "bar: 95 % intervals, each alone" in labels
    assert not [label for label in labels if label.startswith("band:")]
