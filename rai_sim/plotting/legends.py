"""Legends that leave the page to the data: in as many columns as fit, below the axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from matplotlib.container import ErrorbarContainer
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from matplotlib.transforms import ScaledTranslation

from rai_sim.plotting.paper import page

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: What tells the package's own figures, which have room for a legend, from a caller's.
OURS = "rai_sim"
#: How a legend is set, in heights of its type.
_HANDLE, _PAD, _BETWEEN, _SPACING = 1.9, 0.5, 1.3, 0.3
#: Heights of type between axes and a legend below them: the axis' numbers and its name.
_BELOW = 3.3
#: A legend below a caller's axes takes no more than this share of them: else it lies inside.
_MOST_BELOW = 0.4
#: Inches that a line takes, in points of its type; and share of the room that columns may fill.
_LINE, _FILLED = 1.42 / 72.0, 0.94
#: What goes last: what bands, bars and bounds are, and why there are none.
_LAST = ("band:", "bar:", "lower bounds", "no ")
#: Of figures of ours: inches by which they were made higher for their legends, and points of the
#: type, which stays what it was when they were made.
_made: WeakKeyDictionary[Figure, tuple[float, float]] = WeakKeyDictionary()
_COLLECTING: ContextVar[bool] = ContextVar("collecting", default=False)


def columns_that_fit(labels: Sequence[str], room: float, size: float) -> int:
    """Return how many columns of a legend fit side by side.

    Parameters
    ----------
    labels : sequence of str
        In the order in which they fill the columns, one after the other.
    room : float
        Points that they may take.
    size : float
        Of the type, in points.

    Examples
    --------
    >>> columns_that_fit(["Vanilla", "LUCB", "Butterscotch"], 300.0, 9.0)
    3
    >>> columns_that_fit(["Vanilla", "LUCB", "Butterscotch"], 100.0, 9.0)
    1
    """
    widths = [text_width(text, size) for text in labels]
    for number in range(len(labels), 1, -1):
        columns = np.array_split(np.array(widths), number)  # as matplotlib deals them out
        texts = sum(float(column.max()) for column in columns)
        if texts + size * (number * (_HANDLE + _PAD) + (number - 1) * _BETWEEN) <= _FILLED * room:
            return number
    return 1


def text_width(text: str, size: float) -> float:
    """Return how many points wide a text is, of type of some points."""
    font = FontProperties(size=size)
    return float(text_to_path.get_text_width_height_descent(text, font, text.count("$") > 1)[0])


@contextmanager
def collecting() -> Iterator[None]:
    """Give no axes a legend: whoever draws several gives them one together."""
    token = _COLLECTING.set(True)
    try:
        yield
    finally:
        _COLLECTING.reset(token)


def add_legend(ax: Axes) -> None:
    """Give axes the legend of what they show: below them, or inside where the caller's figure makes
    no room."""
    if not _COLLECTING.get():
        legend_for(ax, *ax.get_legend_handles_labels())


def legend_for(ax: Axes, handles: Sequence[Any], labels: Sequence[str]) -> None:
    """Give axes a legend of some things."""
    figure = ax.get_figure(root=True)
    if not handles or figure is None:
        return
    handles, labels = _in_order(handles, labels)
    if figure.get_gid() == OURS:
        _below_figure(figure, handles, labels)
        return
    size = _points("small")
    columns = columns_that_fit(labels, width_of(ax), size)
    high = 72.0 * figure.get_figheight() * ax.get_position().height
    lines = _LINE * 72.0 * size * -(-len(labels) // columns)
    if figure.get_layout_engine() is not None and lines <= _MOST_BELOW * high:  # it makes room
        below = ScaledTranslation(0.0, -_BELOW * _points("medium") / 72.0, figure.dpi_scale_trans)
        ax.legend(
            handles,
            labels,
            loc="upper left",
            bbox_to_anchor=(0.0, 0.0),
            bbox_transform=ax.transAxes + below,
            fontsize="small",
            **_set(columns),
        )
    else:
        ax.legend(handles, labels, framealpha=0.7, fontsize="small")


def legend_within(ax: Axes, handles: Sequence[Any], labels: Sequence[str]) -> float:
    """Fill axes that show nothing else with a legend; return how many inches high it is."""
    handles, labels = _in_order(handles, labels)
    size = _points("small")
    columns = columns_that_fit(labels, width_of(ax), size)
    legend = ax.legend(handles, labels, loc="lower left", fontsize="small", **_set(columns))
    legend.set_in_layout(False)
    return _LINE * size * -(-len(labels) // columns)


def _in_order(handles: Sequence[Any], labels: Sequence[str]) -> tuple[list[Any], list[str]]:
    """Return what was found first (marks with bars are such), then lines that it is held against,
    and last what bands and bars are; each label once, though it may be drawn twice."""
    order = sorted(
        {label: labels.index(label) for label in labels}.values(),
        key=lambda i: (labels[i].startswith(_LAST), not isinstance(handles[i], ErrorbarContainer)),
    )
    return [handles[i] for i in order], [labels[i] for i in order]


def width_of(ax: Axes) -> float:
    """Return about how many points wide axes are."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return float(72.0 * figure.get_figwidth() * ax.get_position().width)


def _below_figure(figure: Figure, handles: Sequence[Any], labels: Sequence[str]) -> None:
    """Put a legend below a figure of ours, which grows by it unless its height is given."""
    import matplotlib

    for old in figure.legends:  # of what was drawn into these axes before
        old.remove()
    had, size = _made.get(figure, (0.0, _points(matplotlib.rcParams["legend.fontsize"])))
    columns = columns_that_fit(labels, 72.0 * figure.get_figwidth(), size)
    figure.legend(handles, labels, loc="outside lower left", fontsize=size, **_set(columns))
    paper = page()
    fixed = paper is not None and paper.height is not None
    more = 0.0 if fixed else _LINE * size * -(-len(labels) // columns)
    figure.set_figheight(figure.get_figheight() + more - had)
    _made[figure] = more, size


def _points(size: str | float) -> float:
    return float(FontProperties(size=size).get_size_in_points())


def _set(columns: int) -> dict[str, Any]:
    """Return how a legend without a frame is set."""
    return {
        "ncols": columns,
        "frameon": False,
        "handlelength": _HANDLE,
        "handletextpad": _PAD,
        "columnspacing": _BETWEEN,
        "labelspacing": _SPACING,
        "borderpad": 0.2,
        "borderaxespad": 0.5,
    }
