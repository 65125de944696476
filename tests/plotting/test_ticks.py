"""Tick labels: they say where they stand, and never touch, at any magnitude, on any axis."""

import math
import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

import rai_sim as rai
from rai_sim.plotting import distribution, mean_pulls, pulls_by_gap, ratios
from rai_sim.plotting.style import SIZE, house_style, own_axes, scale_axis
from rai_sim.plotting.ticks import tick_labels

PULLS = rai.table_problem(task=1)


def value_of(label: str) -> float:
    """Return the number that a label shows."""
    text = label.replace("−", "-").replace(",", "")
    power = re.fullmatch(r"\$(-?)(?:([\d.]+)\\times)?10\^\{(-?\d+)\}\$", text)
    if power is None:
        return float(text)
    sign, digits, exponent = power.groups()
    return float(f"{sign}{digits or 1}e{exponent}")


def check_axes(ax: Axes) -> None:
    """Draw, and look at both axes: labels do not overlap, are at least one an axis, and say where
    they stand."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
    for axis, along in ((ax.xaxis, 0), (ax.yaxis, 1)):
        low, high = sorted(axis.get_view_interval())
        slack = 1e-6 * (high - low)
        ticks = [
            (tick.get_loc(), tick.label1)
            for tick in axis.get_major_ticks()
            if low - slack <= tick.get_loc() <= high + slack
        ]
        shown = [(float(at), label) for at, label in ticks if label.get_text()]
        assert shown
        boxes = sorted(
            (Text.get_window_extent(label) for _, label in shown), key=lambda box: box.bounds[along]
        )
        for one, other in pairwise(boxes):
            assert (one.x1 < other.x0) if along == 0 else (one.y1 < other.y0), [
                label.get_text() for _, label in shown
            ]
        places = [at for at, _ in shown]
        for at, label in shown:
            near = min((abs(at - other) for other in places if other != at), default=abs(at))
            assert abs(value_of(label.get_text()) - at) <= 0.02 * near + 1e-14 * abs(at)
        assert not [label.get_text() for label in axis.get_minorticklabels() if label.get_text()]
        assert not axis.get_offset_text().get_text()


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([0, 50_000, 100_000], ["0", "50,000", "100,000"]),
        ([1e8, 2e8], ["$10^{8}$", r"$2\times10^{8}$"]),
        (
            [100_000_000, 200_000_000, 250_000_000],
            ["$10^{8}$", r"$2\times10^{8}$", r"$2.5\times10^{8}$"],
        ),
        ([0.1, 0.01, 0.001], ["0.1", "0.01", "0.001"]),
        ([1e-3, 1e-10], ["$10^{-3}$", "$10^{-10}$"]),
        ([0.30000000000000004, 0.2], ["0.3", "0.2"]),
        ([123_456_788, 123_456_789], ["123,456,788", "123,456,789"]),
        ([-0.5, 0.0, 0.5], ["−0.5", "0", "0.5"]),
        ([-2e9, 0.0], [r"$-2\times10^{9}$", "0"]),
        ([2.0**62], [r"$4.612\times10^{18}$"]),
        ([1 / 3], ["0.3333"]),
    ],
)
def test_labels(values: list[float], labels: list[str]) -> None:
    """Written out up to six digits, powers of ten for all of them beyond; as many digits as tell
    neighbours apart."""
    assert tick_labels(values) == labels


@given(
    st.lists(
        st.floats(allow_nan=False, allow_infinity=False).filter(
            lambda x: x == 0.0 or 1e-300 < abs(x) < 1e300
        ),
        min_size=1,
        max_size=8,
        unique=True,
    )
)
def test_labels_say_where_they_stand(values: list[float]) -> None:
    """To within a fiftieth of the distance to the next, whatever the numbers; other ticks have
    other labels."""
    labels = tick_labels(values)
    for value, label in zip(values, labels, strict=True):
        near = min((abs(value - other) for other in values if other != value), default=abs(value))
        assert abs(value_of(label) - value) <= 0.02 * near + 3e-15 * abs(value)
    apart = sorted(values)
    if all(abs(a - b) > 1e-13 * max(abs(a), abs(b)) for a, b in pairwise(apart)):
        assert len(set(labels)) == len(values)


SMALL, WIDE = (2.2, 1.6), (9.0, 3.0)
RANGES = [
    (1.001, SIZE),
    (1.3, WIDE),
    (2.0, SIZE),
    (3.9, SMALL),
    (6.0, SMALL),
    (40.0, SIZE),
    (150.0, SIZE),
    (1e9, SMALL),
    (1e20, SIZE),
]


@pytest.mark.landing
@pytest.mark.parametrize(
    "magnitude",
    [30.0, *(pytest.param(one, marks=pytest.mark.slow) for one in (1e-12, 0.01, 3e5, 1e8, 4e18))],
)
def test_no_labels_touch(magnitude: float) -> None:
    """Ranges from a share of a thousandth to twenty decades, on long and short axes, upright and
    inverted."""
    for spread, size in RANGES:
        with house_style():
            ax = own_axes(size)
            values = np.geomspace(magnitude, magnitude * spread, 5)
            ax.plot(values, values)
            scale_axis(
                ax,
                "x",
                values,
                wanted=values[[0, 2, 4]].tolist() if spread in (2.0, 40.0) else (),
                whole=magnitude > 1.0,
            )
            scale_axis(ax, "y", values)
            if spread == 6.0:
                ax.invert_xaxis()
            check_axes(ax)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.floats(-12.0, 18.0), st.floats(1e-4, 12.0), st.floats(1.6, 10.0), st.booleans())
def test_no_labels_touch_anywhere(
    exponent: float, decades: float, width: float, whole: bool
) -> None:
    """Any magnitude, range and width."""
    with house_style():
        ax = own_axes((width, 2.5))
        values = np.array([10.0**exponent, 10.0 ** (exponent + decades)])
        ax.plot(values, values)
        scale_axis(ax, "x", values, whole=whole and exponent > 1.0)
        scale_axis(ax, "y", values)
        check_axes(ax)


def scaled(
    algorithm: Any, factor: int, delta: float = 0.01, problem: rai.Problem = PULLS
) -> rai.Result:
    """Return a result whose pulls are as large as one likes."""
    r = rai.simulate(problem, algorithm, delta=delta, replications=40, seed=0)
    return rai.Result(
        r.experiment, r.ranges, r.pulls * factor, r.rounds, r.correct, r.finished, r.representatives
    )


@pytest.mark.slow
@pytest.mark.parametrize("factor", [1, 10**5, 10**13])
def test_figures_of_any_magnitude(factor: int) -> None:
    """Distributions, histograms (of one number, too) and means from thousands to 10^17 pulls."""
    both = [scaled(rai.Vanilla(), factor), scaled(rai.Butterscotch(), factor)]
    tiny = [scaled(rai.Vanilla(), factor, delta) for delta in (0.1, 1e-4, 1e-9)]
    with house_style():
        for kind in ("ecdf", "histogram"):
            check_axes(distribution(both, own_axes(), kind=kind))
            check_axes(distribution(both[1], own_axes(), kind=kind))
        check_axes(mean_pulls(tiny, own_axes()))


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0.3, 1e-3, 1e-6])
def test_figures_of_any_gap(gap: float) -> None:
    """Means against small gaps, whose ticks stand at the points, and pulls by arm."""
    runs = [
        rai.simulate(
            rai.best_arm(rai.Bernoulli([0.5 + gap * k, 0.5])),
            rai.Vanilla(),
            delta=0.1,
            replications=30,
            seed=0,
        )
        for k in (1.0, 0.5, 0.25)
    ]
    with house_style():
        ax = mean_pulls(runs, own_axes(), against="gap")
        check_axes(ax)
        shown = [value_of(label.get_text()) for label in ax.get_xticklabels()]
        assert shown == pytest.approx([gap / 4, gap / 2, gap], rel=0.02)
        three = rai.simulate(
            rai.best_arm(rai.Bernoulli([0.5 + gap, 0.5, 0.5 - gap / 2])),
            rai.Vanilla(),
            replications=30,
            seed=0,
        )
        check_axes(pulls_by_gap(three, own_axes(), replications=30))


@pytest.mark.landing
def test_ratios_have_round_ticks() -> None:
    """One is among them, at ratios near one and far from it."""
    base = scaled(rai.Vanilla(), 1)
    for factor in (1, 3, 40, 10**6):
        other = scaled(rai.Butterscotch(), factor)
        ax = ratios([base, other], Figure(figsize=SIZE, layout="constrained").subplots())
        figure = ax.get_figure(root=True)
        assert figure is not None
        FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
        low, high = ax.get_xlim()
        labels = [
            label.get_text()
            for tick, label in zip(ax.get_xticks(), ax.get_xticklabels(), strict=True)
            if low <= tick <= high
        ]
        assert "1" in labels or "$10^{0}$" in labels
        boxes = [Text.get_window_extent(label) for label in ax.get_xticklabels()]
        assert all(
            one.x1 < other.x0 for one, other in pairwise(sorted(boxes, key=lambda box: box.x0))
        )
        assert len(labels) >= 2
        assert math.isclose(
            float(np.asarray(ax.containers[0][0].get_xdata(), float)[0]),
            other.pulls.mean() / base.pulls.mean(),
        )


def test_labels_that_touch_are_noticed() -> None:
    """Negative control: matplotlib's own ticks with numbers written out, as they were."""
    ax = own_axes((2.2, 1.6))
    ax.plot([1e8, 4e8], [1.0, 2.0])
    ax.set_xticks(
        [1e8, 2e8, 3e8, 4e8], ["100,000,000", "200,000,000", "300,000,000", "400,000,000"]
    )
    with pytest.raises(AssertionError, match="100,000,000"):
        check_axes(ax)
