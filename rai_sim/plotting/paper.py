"""Figures for a paper: as wide as its columns, with type and strokes that suit that width."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from rai_sim.support.checks import check_switch
from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.values import is_integer_type, real, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Inches of one column, and of two with the space between: ICML's, which fit in those of IEEE and ACM.
_WIDTHS = {1: 3.25, 2: 6.75}
#: Height of a figure in a paper over that on a screen: its type is smaller.
_LOWER = 0.72
#: Widths of strokes and sizes of marks over those on a screen, in one column and in two.
_FINER = {1: 0.7, 2: 0.8}
#: Settings of matplotlib: type of 8 and 7 points, and fonts that files hold as Type 42, since
#: several venues refuse Type 3.
_SETTINGS: Any = {
    "font.size": 8.0,
    "axes.labelsize": 8.0,
    "axes.titlesize": 8.0,
    "legend.fontsize": 7.0,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "axes.linewidth": 0.6,
    "axes.labelpad": 2.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.45,
    "ytick.minor.width": 0.45,
    "xtick.major.size": 2.6,
    "ytick.major.size": 2.6,
    "xtick.minor.size": 1.5,
    "ytick.minor.size": 1.5,
    "hatch.linewidth": 0.6,
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
}
_Limits: TypeAlias = "tuple[float, float] | None"


@dataclass(frozen=True)
class Page:
    """What figures are made for.

    Attributes
    ----------
    width : float
        Inches of a figure.
    height : float or None
        Inches with the legend; None for what suits the figure.
    finer : float
        Strokes and marks over those on a screen.
    titles : bool
        Whether figures have titles; in a paper a caption says it.
    xlim, ylim : (float, float) or None
        Ends of the axes; None for what suits the data.
    settings : dict
        Of matplotlib.
    """

    width: float
    height: float | None
    finer: float
    titles: bool
    xlim: _Limits
    ylim: _Limits
    settings: Any

    def size(self, asked: tuple[float, float]) -> tuple[float, float]:
        """Return the inches of a figure that asks for others."""
        return self.width, asked[1] * _LOWER if self.height is None else self.height

    def limit(self, ax: Axes) -> None:
        """Set the ends of axes; an axis that falls goes on falling."""
        for limits, inverted, set_ends in (
            (self.xlim, ax.xaxis_inverted(), ax.set_xlim),
            (self.ylim, ax.yaxis_inverted(), ax.set_ylim),
        ):
            if limits is not None:
                set_ends(*(reversed(limits) if inverted else limits))


_PAGE: ContextVar[Page | None] = ContextVar("page", default=None)


def page() -> Page | None:
    """Return what figures are made for; None for a screen."""
    return _PAGE.get()


@contextmanager
def paper(
    columns: int = 1,
    *,
    width: float | None = None,
    height: float | None = None,
    titles: bool = False,
    xlim: tuple[float, float] | None = None,
    ylim: tuple[float, float] | None = None,
) -> Iterator[None]:
    """Make figures for a paper: inside of `with`, all are as wide as one column or two, with type of
    8 and 7 points, finer strokes and no title, and files embed fonts as Type 42.

    Save them inside of `with`, too: matplotlib asks how to embed fonts when a file is written.
    Axes of yours that are given as `ax` keep their size.

    Parameters
    ----------
    columns : {1, 2}, default 1
        Columns that a figure spans: 3.25 or 6.75 inches.
    width : float, optional
        Inches, in place of these.
    height : float, optional
        Inches with the legend; what suits the figure when None.
    titles : bool, default False
        Whether figures keep their titles.
    xlim, ylim : (float, float), optional
        Ends of the axes, the lower first, so that figures can be compared; an axis that falls
        (delta, gap) keeps its direction.

    Raises
    ------
    TypeError, ValueError
        If `columns` is neither 1 nor 2, a length is not positive, or limits are no two numbers, the
        lower first.

    Examples
    --------
    >>> import rai_sim as rai
    >>> result = rai.simulate(rai.table_problem(), rai.Vanilla(), replications=50, seed=0)
    >>> with rai.plotting.paper(columns=1, ylim=(0, 1)):
    ...     figure = rai.plotting.distribution(result).figure
    >>> float(figure.get_figwidth())
    3.25
    """
    import matplotlib

    if not is_integer_type(type(columns)) or columns not in _WIDTHS:
        raise ArgumentValueError("columns", f"columns is {short.repr(columns)}; give 1 or 2")
    check_switch("titles", titles)
    made = Page(
        width=_WIDTHS[columns] if width is None else _inches("width", width),
        height=None if height is None else _inches("height", height),
        finer=_FINER[columns],
        titles=titles,
        xlim=_limits("xlim", xlim),
        ylim=_limits("ylim", ylim),
        settings=_SETTINGS,
    )
    # Not by a context of matplotlib's: it would put back what a backend sets as it is loaded.
    before = {name: matplotlib.rcParams[name] for name in _SETTINGS}
    token = _PAGE.set(made)
    matplotlib.rcParams.update(_SETTINGS)
    try:
        yield
    finally:
        matplotlib.rcParams.update(before)
        _PAGE.reset(token)


def _inches(name: str, value: object) -> float:
    number = _number(value)
    if not number > 0.0 or not math.isfinite(number):
        raise ArgumentValueError(name, f"{name} is {short.repr(value)}; give a number of inches")
    return number


def _limits(name: str, value: object) -> _Limits:
    if value is None:
        return None
    ends = [_number(end) for end in value] if isinstance(value, tuple | list) else []
    if len(ends) != 2 or not ends[0] < ends[1] or not all(map(math.isfinite, ends)):
        raise ArgumentValueError(
            name, f"{name} is {short.repr(value)}; give two numbers, the lower first"
        )
    return ends[0], ends[1]


def _number(value: object) -> float:
    """Return a number as a double, infinite beyond all doubles; NaN for anything else."""
    try:
        return real("value", value)
    except TypeError:
        return math.nan
