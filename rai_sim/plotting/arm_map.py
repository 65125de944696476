"""Pulls of each arm by each algorithm, as a map of colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import LogNorm, Normalize
from matplotlib.ticker import FixedLocator, NullLocator
from numpy.typing import NDArray

from rai_sim.plotting.counted import counted
from rai_sim.plotting.inputs import Results, few_cases_of_one_problem
from rai_sim.plotting.legends import OURS, text_width
from rai_sim.plotting.style import axes_or_new, finish
from rai_sim.plotting.ticks import TickFormatter, TickLocator, set_ticks
from rai_sim.support.checks import check_count
from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.wording import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

#: Rows and arms of one figure, at most; arms of which each has a tick.
MOST_ROWS, MOST_ARMS, _TICKS = 12, 60, 12
#: Points of the type of numbers in cells, between them, and that the bar of colours takes with its
#: numbers and name.
_TYPE, _BETWEEN, _BAR = 7.0, 3.0, 78.0
#: Inches of a map, of a row, and of what is above and below.
_WIDTH, _ROW, _AROUND = 6.0, 0.36, 1.0
#: Colours are logarithmic where pulls differ by more than this factor; shades on which black is
#: read better than white.
_WIDE, _LIGHT = 4.0, 0.36


def arm_map(results: Results, ax: Axes | None = None, *, replications: int = 100) -> Axes:
    """Draw each arm's mean pulls by each algorithm as a map of colours, with the numbers where there
    is room.

    Arms stand in the order of their means, best first, with white lines between clusters; a row is
    an experiment. Pulls by arm are those of all finished replications where they are kept (`keep` in
    `rai_sim.simulate` and `rai_sim.Study`); else the first finished replications of each are run
    again (`rai_sim.arm_pulls`).

    Parameters
    ----------
    results : Result, sequence or dict of label to Result, or StudyResults that keep rows or pulls by arm
        What to draw, up to 12 experiments on one problem of at most 60 arms.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when None.
    replications : int, default 100
        How many of each experiment are run again, at most, where pulls by arm are not kept.

    Returns
    -------
    matplotlib Axes
        The axes drawn into; a bar beside them says what colours mean.

    Raises
    ------
    TypeError, ValueError
        If `results` holds something else, several problems, more than 60 arms or 12 experiments,
        aggregates only, or no finished replication; or `replications` is no positive integer.

    Examples
    --------
    >>> import rai_sim as rai
    >>> from matplotlib.figure import Figure
    >>> runs = [rai.simulate(rai.table_problem(2), a, replications=20, seed=0) for a in (rai.Vanilla(), rai.LUCB())]
    >>> [label.get_text() for label in arm_map(runs, Figure().subplots()).get_yticklabels()]
    ['Vanilla', 'LUCB']
    """
    number = check_count("replications", replications, 1)
    chosen, problem = few_cases_of_one_problem(results, MOST_ROWS)
    if problem.n_arms > MOST_ARMS:
        raise ArgumentValueError(
            "results",
            f"results is of {count(problem.n_arms, 'arm')}; a map shows at most {MOST_ARMS}: "
            "rai_sim.plotting.pulls_by_gap shows more",
        )
    order = np.argsort(-problem.arms.means, kind="stable")
    pulls = np.stack([one.mean for one in counted([case for case, _, _ in chosen], number, order)])
    with axes_or_new(ax, size_for(len(chosen))) as axes:
        labels = [label for _, label, _ in chosen]
        image = _draw_map(axes, pulls, labels)
        for border in np.cumsum(problem.clusters)[:-1] + 0.5:
            axes.axvline(border, color="white", linewidth=2.5)
        axes.yaxis.set_major_locator(FixedLocator(range(len(chosen))))
        axes.set_yticklabels(labels)
        axes.tick_params(axis="y", length=0)
        places = range(1, problem.n_arms + 1)
        set_ticks(axes, "x", places if len(places) <= _TICKS else (), whole=True)
        axes.set_xlabel("arm, best first, clusters by white lines")
        _add_bar(axes, image)
        finish(axes, "Mean pulls of each arm")
        axes.grid(False)
        axes.spines[:].set_visible(False)
        return axes


def size_for(rows: int) -> tuple[float, float]:
    """Return the inches that a map needs."""
    return _WIDTH, _AROUND + _ROW * rows


def _draw_map(ax: Axes, pulls: NDArray[np.float64], labels: Sequence[str]) -> AxesImage:
    """Draw the cells, with numbers if there is room."""
    low, high = float(pulls.min()), float(pulls.max())
    wide = high > _WIDE * low > 0.0
    norm = LogNorm(low, high) if wide else Normalize(0.0, high)
    rows, arms = pulls.shape
    extent = (0.5, arms + 0.5, rows - 0.5, -0.5)
    image = ax.imshow(
        pulls, cmap="viridis", norm=norm, aspect="auto", interpolation="nearest", extent=extent
    )
    widest = max(text_width(compact(value), _TYPE) for value in pulls.flat)
    if _room(ax, labels) / arms >= widest + _BETWEEN:
        colours = image.to_rgba(pulls)[..., :3]
        light = colours @ np.array([0.2126, 0.7152, 0.0722]) > _LIGHT
        for (row, arm), value in np.ndenumerate(pulls):
            colour = "black" if light[row, arm] else "white"
            ax.text(
                arm + 1, row, compact(value), color=colour, ha="center", va="center", fontsize=_TYPE
            )
    return image


def _room(ax: Axes, labels: Sequence[str]) -> float:
    """Return about how many points wide the map will be, beside the rows' names in a new figure, and
    the bar of colours."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    if figure.get_gid() != OURS:
        return 72.0 * ax.get_position().width * figure.get_figwidth() - _BAR
    size = float(ax.yaxis.get_major_ticks(1)[0].label1.get_fontsize())
    names = max(text_width(label, size) for label in labels)
    return 72.0 * figure.get_figwidth() - names - _BAR


def _add_bar(ax: Axes, image: AxesImage) -> None:
    figure = ax.get_figure(root=True)
    assert figure is not None
    bar: Any = figure.colorbar(image, ax=ax, pad=0.02, aspect=14)
    bar.outline.set_visible(False)
    bar.set_label("mean pulls")
    bar.ax.yaxis.set_major_locator(TickLocator())
    bar.ax.yaxis.set_major_formatter(TickFormatter())
    bar.ax.yaxis.set_minor_locator(NullLocator())


def compact(value: float) -> str:
    """Return a number of pulls in at most five characters.

    Examples
    --------
    >>> [compact(value) for value in (7.25, 950.4, 1234.0, 99_999.0, 3.4e6, 2.5e14)]
    ['7.2', '950', '1.2k', '100k', '3.4M', '250T']
    """
    if value >= 0.9995e15:
        return f"{value:.0e}".replace("e+", "e")
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")):
        if value >= 0.9995 * size or size == 1.0:
            return f"{value / size:.{1 if value / size < 9.95 else 0}f}{letter}"
    raise AssertionError
