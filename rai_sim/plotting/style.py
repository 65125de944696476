"""What all figures share: axes, and colours that colour-blind readers and grey prints tell apart.

Colours are those of Okabe and Ito; line styles and marks repeat what they say. Clusters are
ordered, so they take an ordered scale from dark to light, and line styles besides.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator

from rai_sim.algorithms.base import Algorithm
from rai_sim.plotting.legends import OURS, add_legend
from rai_sim.plotting.paper import page
from rai_sim.plotting.ticks import TickLocator, set_ticks
from rai_sim.support.errors import ArgumentTypeError
from rai_sim.support.wording import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Inches of a figure of its own, without its legend. It is legible in print at this size and on a
#: page as wide as a telephone.
SIZE = (5.0, 3.3)
#: Settings of matplotlib under which figures are made.
SETTINGS: Any = {
    "font.size": 10.0,
    "axes.labelsize": 10.0,
    "axes.titlesize": 10.5,
    "legend.fontsize": 8.5,
    "xtick.labelsize": 9.0,
    "ytick.labelsize": 9.0,
    "svg.hashsalt": "rai_sim",
    "pdf.fonttype": 42,
    "ps.fonttype": 42,  # TrueType: several venues refuse Type 3
}


@dataclass(frozen=True)
class Look:
    """How the data of one thing are drawn."""

    colour: str
    marker: str
    line: Any

    def line_options(self) -> dict[str, Any]:
        """Return them as matplotlib's `plot` takes them."""
        return {"color": self.colour, "marker": self.marker, "linestyle": self.line}


_LOOKS = (
    Look("#0072B2", "o", "-"),
    Look("#D55E00", "s", (0, (6, 2))),
    Look("#009E73", "^", (0, (1, 1.3))),
    Look("#CC79A7", "D", (0, (6, 2, 1, 2))),
    Look("#000000", "v", (0, (3, 1.5))),
    Look("#E69F00", "P", (0, (10, 2))),
    Look("#56B4E9", "X", (0, (3, 1, 1, 1, 1, 1))),
)
_MARKERS = "os^DvPX<>*"
#: The paper's algorithms look the same in every figure.
_FIXED = ("Vanilla", "Butterscotch", "LUCB")
#: Characters of a line of a title.
_TITLE = 52
_LINES = ("-", (0, (6, 2)), (0, (1, 1.3)), (0, (6, 2, 1, 2)))


_SHARED: ContextVar[tuple[str, ...]] = ContextVar("shared", default=())


@contextmanager
def shared_looks(labels: Sequence[str]) -> Iterator[None]:
    """Give these labels the same looks in everything that is drawn meanwhile, whichever of them it
    has."""
    token = _SHARED.set(tuple(dict.fromkeys(labels)))
    try:
        yield
    finally:
        _SHARED.reset(token)


def looks(labels: Sequence[str]) -> dict[str, Look]:
    """Return a look for each of some labels: the paper's algorithms have their own, others take the
    rest, in order.

    Examples
    --------
    >>> looks(["LUCB", "mine", "Vanilla"])["Vanilla"].colour
    '#0072B2'
    """
    labels = [*_SHARED.get(), *labels]
    found = {label: _LOOKS[_FIXED.index(label)] for label in labels if label in _FIXED}
    reserved = _LOOKS[: len(_FIXED)]
    free = [*_LOOKS[len(_FIXED) :], *(look for look in reserved if look not in found.values())]
    others = [label for label in dict.fromkeys(labels) if label not in found]
    return found | {label: free[i % len(free)] for i, label in enumerate(others)}


def looks_of_lines(lines: Mapping[str, str]) -> dict[str, Look]:
    """Return a look for each line, given as label and algorithm: an algorithm's lines share its
    colour, no two a mark and line style."""
    own = looks(list(lines.values()))
    if len(set(lines.values())) == len(lines):
        return {label: own[algorithm] for label, algorithm in lines.items()}
    return {
        label: Look(
            own[algorithm].colour, _MARKERS[i % len(_MARKERS)], _LOOKS[i % len(_LOOKS)].line
        )
        for i, (label, algorithm) in enumerate(lines.items())
    }


def cluster_look(cluster: int, clusters: int) -> tuple[Any, Any]:
    """Return colour and line style of a cluster, 0 being the best, dark to light."""
    from matplotlib import colormaps

    return colormaps["viridis"](0.82 * cluster / max(clusters - 1, 1)), _LINES[
        cluster % len(_LINES)
    ]


def short_label(algorithm: Algorithm) -> str:
    """Return an algorithm's name with those options that are not the defaults.

    Examples
    --------
    >>> import rai_sim as rai
    >>> short_label(rai.Vanilla()), short_label(rai.Vanilla(merging=False))
    ('Vanilla', 'Vanilla (merging=False)')
    """
    options = [
        f"{f.name}={getattr(algorithm, f.name)!r}"
        for f in fields(algorithm)  # type: ignore[arg-type]  # all are dataclasses
        if getattr(algorithm, f.name) != f.default
    ]
    return type(algorithm).__name__ + (f" ({', '.join(options)})" if options else "")


def plain(text: str, most: int = 60) -> str:
    """Return a name as matplotlib will show it: dollars begin no formula, no name is left out of
    legends, and long ones are cut.

    Examples
    --------
    >>> plain("from $5 to $10"), plain("_mine"), plain("a" * 100, 10)
    ('from \\\\$5 to \\\\$10', ' _mine', 'aaaaaaaaa…')
    """
    cut = text if len(text) <= most else f"{text[: most - 1]}…"
    return (" " if cut.startswith("_") else "") + cut.replace("$", r"\$")


def settings() -> Any:
    """Return the settings of matplotlib under which figures are made, those for a paper among
    them."""
    paper = page()
    return SETTINGS | ({} if paper is None else paper.settings)


@contextmanager
def house_style() -> Iterator[None]:
    """Draw with the package's own settings, whatever the user's are."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(settings())
        yield


def own_axes(size: tuple[float, float] = SIZE) -> Axes:
    """Return the axes of a new figure that pyplot does not know of, for files; nothing is shown or
    kept open."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=_sized(size), layout="constrained")
    figure.set_gid(OURS)
    return figure.subplots()


@contextmanager
def axes_or_new(ax: Axes | None, size: tuple[float, float] = SIZE) -> Iterator[Axes]:
    """Give the axes to draw into; if there are none, new ones in a figure of pyplot, in the user's
    style with fonts that fit its size."""
    if ax is not None:
        check_axes(ax)
        yield ax
        return
    from matplotlib import pyplot, rc_context

    # Outside of any context: the first figure of a process loads the backend, which in a notebook
    # makes pyplot interactive for good; a context would put that back at its end, and no later
    # figure, the user's own included, would be shown.
    figure = pyplot.figure(figsize=_sized(size), layout="constrained")
    figure.set_gid(OURS)
    try:
        with rc_context(settings()):
            yield figure.subplots()
    except BaseException:
        pyplot.close(figure)  # an empty figure helps nobody
        raise


def check_axes(ax: object) -> None:
    """Refuse what is given as axes and is something else, such as a figure."""
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise ArgumentTypeError(
            "ax", f"ax is {short.repr(ax)}; give matplotlib Axes, such as figure.subplots() returns"
        )


def _sized(size: tuple[float, float]) -> tuple[float, float]:
    """Return the inches of a figure that asks for some: in a paper, those of its columns."""
    paper = page()
    return size if paper is None else paper.size(size)


def title_axes(ax: Axes, title: str) -> None:
    """Set the title of axes, in lines that fit them; in a paper none, unless it is asked for."""
    paper = page()
    if paper is not None and not paper.titles:
        return
    lines = [line for part in title.split("\n") for line in textwrap.wrap(part, _TITLE)]
    ax.set_title("\n".join(plain(line) for line in lines[:4]), loc="left")


def finish(ax: Axes, title: str = "") -> Axes:
    """Give axes their frame, ticks, grid, title and legend; in a paper finer strokes and the limits
    asked for."""
    ax.spines[["top", "right"]].set_visible(False)
    for name, side in (("x", ax.xaxis), ("y", ax.yaxis)):
        # else it has its own, or names
        if not isinstance(side.get_major_locator(), TickLocator | FixedLocator):
            set_ticks(ax, name)
    ax.grid(True, color="0.88", linewidth=0.6)
    ax.set_axisbelow(True)
    title_axes(ax, title)
    paper = page()
    if paper is not None:
        _make_finer(ax, paper.finer)
        paper.limit(ax)
    add_legend(ax)
    return ax


#: Lines that are as fine as they should be, whatever is drawn into their axes later.
_finer: WeakSet[Line2D] = WeakSet()


def _make_finer(ax: Axes, share: float) -> None:
    """Draw lines and marks at a share of their size, each once."""
    for line in ax.get_lines():
        if line not in _finer:
            line.set_linewidth(share * line.get_linewidth())
            line.set_markersize(share * line.get_markersize())
            _finer.add(line)


def height_of(ax: Axes) -> float:
    """Return about how many inches high axes will be once legends and titles have taken their
    room."""
    figure = ax.get_figure(root=True)
    if figure is None:
        return SIZE[1]
    return float(ax.get_position().height * figure.get_figheight()) * (
        0.87 if figure.get_gid() == OURS else 0.65
    )


def scale_axis(
    ax: Axes,
    axis: str,
    values: Any,
    factor: float = 8.0,
    wanted: Sequence[float] = (),
    *,
    whole: bool = False,
) -> None:
    """Make an axis logarithmic if its values span more than a factor, and give it ticks (`wanted`
    and `whole` as in `set_ticks`).

    Values that are not positive (bounds that say nothing) are left aside.
    """
    numbers = np.asarray(values, float)
    numbers = numbers[np.isfinite(numbers) & (numbers > 0.0)]
    if numbers.size and numbers.max() > factor * numbers.min():
        (ax.set_xscale if axis == "x" else ax.set_yscale)("log")
    set_ticks(ax, axis, wanted, whole=whole)
