"""Intervals of points: bands along lines, bars where a band has no width, and marks of several lines
at one place side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.transforms import ScaledTranslation, Transform
from numpy.typing import ArrayLike, NDArray

from rai_sim.plotting.legends import width_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Points by which marks at one place stand apart, and half of the room that a mark takes.
APART, _HALF_A_MARK = 6.5, 5.0


def alone(there: Sequence[bool] | NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which of the points that are there have no neighbour: neither a line nor a band shows
    them.

    Examples
    --------
    >>> alone([True, False, True, True, False, True]).tolist()
    [True, False, False, False, False, True]
    """
    known = np.asarray(there, bool)
    beside = np.zeros_like(known)
    beside[1:] |= known[:-1]
    beside[:-1] |= known[1:]
    found: NDArray[np.bool_] = known & ~beside
    return found


def draw_band(
    ax: Axes,
    x: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    colour: Any,
    *,
    alpha: float = 0.22,
    bar_alpha: float = 1.0,
    width: float = 1.8,
) -> list[Artist]:
    """Draw a band, and where one has no width, at points without a neighbour, bars; return what was
    drawn. Where an end is NaN there is nothing."""
    at, below, above = (np.asarray(values, float) for values in (x, low, high))
    bars = alone(~np.isnan(below + above))
    drawn: list[Artist] = [
        ax.fill_between(at, below, above, color=colour, alpha=alpha, linewidth=0, zorder=1)
    ]
    if bars.any():
        drawn.append(
            ax.vlines(
                at[bars],
                below[bars],
                above[bars],
                color=colour,
                alpha=bar_alpha,
                linewidth=width,
            )
        )
    return drawn


def aside(ax: Axes, place: int, lines: int, apart: float = APART) -> Transform:
    """Return where data of one of several lines are drawn so that none hides another: a few points
    to the left or to the right."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    points = apart * (place - (lines - 1) / 2.0)
    return ax.transData + ScaledTranslation(points / 72.0, 0.0, figure.dpi_scale_trans)


def room_for(ax: Axes, values: Sequence[float], lines: int, least: float) -> float:
    """Return the factor by which a logarithmic axis must reach beyond its least and largest value so
    that marks stay inside which stand aside; `least`, if that is more."""
    share = min((APART * (lines - 1) / 2.0 + _HALF_A_MARK) / width_of(ax), 0.3)
    span = math.log(max(values) / min(values))
    return max(least, math.exp(span * share / (1.0 - 2.0 * share)))
