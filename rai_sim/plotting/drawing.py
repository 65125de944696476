"""A figure to be drawn, and how it becomes a file."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rai_sim.plotting.inputs import Case
from rai_sim.plotting.style import SIZE, house_style, own_axes, title_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Drawing:
    """A figure to be drawn.

    Attributes
    ----------
    name : str
        For a file's name.
    caption : str
        What it shows, and what was left out.
    draw : callable
        Takes the axes.
    size : (float, float)
        Inches, without the legend.
    """

    name: str
    caption: str
    draw: Callable[[Axes], Axes]
    size: tuple[float, float] = SIZE


def render(drawing: Drawing, kind: str, dpi: int = 150) -> bytes:
    """Return a figure as a file of a kind that matplotlib writes: png, svg or pdf; equal input
    gives equal bytes."""
    with house_style():
        return figure_bytes(drawing.draw(own_axes(drawing.size)), kind, dpi)


def render_or_say_why(drawing: Drawing, kind: str) -> bytes | str:
    """Return a figure as `render` does, or why it cannot be drawn, in words: that is to cost its own
    place alone, not all the others."""
    try:
        return render(drawing, kind)
    except ValueError as error:
        return f"not drawn: {error}"


def figure_bytes(ax: Axes, kind: str, dpi: int = 150) -> bytes:
    """Return the figure of some axes as a file, without a date."""
    file = io.BytesIO()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    figure: Any = ax.get_figure(root=True)
    figure.savefig(file, format=kind, dpi=dpi, metadata=undated)
    return file.getvalue()


def draw_titled(
    draw: Callable[[Sequence[Case], Axes], Axes], group: Sequence[Case], title: str, ax: Axes
) -> Axes:
    """Draw cases, and give the axes a title of their own."""
    drawn = draw(group, ax)
    title_axes(drawn, title)
    return drawn
