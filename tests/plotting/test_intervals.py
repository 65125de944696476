"""Intervals: bars where a band has no width, and marks that stand aside."""

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from rai_sim.plotting.intervals import APART, aside, draw_band, room_for


def test_points_without_a_neighbour_have_bars() -> None:
    """Those between gaps, and a point that is the only one; others have the band alone."""
    ax = Figure().subplots()
    low = np.array([1.0, np.nan, 3.0, 4.0, np.nan, 6.0])
    _, bars = draw_band(ax, np.arange(6), low, low + 0.5, "C0")
    assert isinstance(bars, LineCollection)
    assert [one.tolist() for one in bars.get_segments()] == [
        [[0.0, 1.0], [0.0, 1.5]],
        [[5.0, 6.0], [5.0, 6.5]],
    ]
    (band,) = draw_band(ax, [0.0, 1.0], [1.0, 2.0], [2.0, 3.0], "C0")
    assert not isinstance(band, LineCollection)
    assert len(draw_band(ax, [0.0], [1.0], [2.0], "C0")) == 2
    assert len(draw_band(ax, [0.0], [np.nan], [2.0], "C0")) == 1


def test_marks_stand_aside_and_inside() -> None:
    """Side by side about their place, and none beyond the axis, however many there are."""
    ax = Figure(dpi=72).subplots()
    ax.set_xscale("log")
    for values in ([10.0, 10.0], [10.0, 1e5]):
        room = room_for(ax, values, 10, 1.4)
        assert room >= 1.4
        ax.set_xlim(min(values) / room, max(values) * room)
        at = [[aside(ax, i, 10).transform((value, 1.0))[0] for i in range(10)] for value in values]
        assert np.allclose(np.diff(at), APART)
        assert np.allclose(
            np.mean(at, axis=1), ax.transData.transform([(v, 1.0) for v in values])[:, 0]
        )
        assert ax.bbox.x0 < np.min(at)
        assert np.max(at) < ax.bbox.x1
    assert room_for(ax, [10.0, 20.0], 1, 3.0) == 3.0
