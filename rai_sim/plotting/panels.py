"""Small multiples: one figure of a kind for each instance, side by side, on the same scales."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rai_sim.plotting.inputs import SELECT, Case, Results, cases_of, setting_words, task_words
from rai_sim.plotting.legends import OURS, collecting, legend_for, legend_within
from rai_sim.plotting.means import mean_pulls
from rai_sim.plotting.paper import page
from rai_sim.plotting.style import axes_or_new, check_axes, plain, shared_looks
from rai_sim.support.checks import check_count, check_switch
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError
from rai_sim.support.values import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.gridspec import GridSpecFromSubplotSpec

#: Panels of one figure, at most, and side by side unless it is asked for.
MOST_PANELS, _BESIDE = 12, 3
#: Inches of a figure, of a row of panels, and of what is above and below.
_WIDTH, _ROW, _AROUND = 6.8, 1.75, 0.55
#: Space between panels over their size; numbers at the ends of axes reach beyond them.
_APART = 0.06
#: The row of a legend over one of panels, at most.
_HIGHEST = 2.5
#: Where between two rows is, in heights of the panel above.
_BETWEEN_ROWS = -0.2
#: Characters of a panel's title for each inch of its width.
_TITLE = 11.0
#: What instances are told apart by.
_BY: dict[str, Callable[[Case], str]] = {
    "instance": lambda case: case.instance or task_words(case),
    "delta": lambda case: f"δ = {case.experiment.delta:g}",
    "algorithm": lambda case: case.label,
}


def panels(
    results: Results,
    ax: Axes | None = None,
    *,
    draw: Callable[..., Axes] = mean_pulls,
    by: str = "instance",
    columns: int | None = None,
    share: bool = True,
    **options: Any,
) -> Axes:
    """Draw small multiples: a panel for each instance, all by the same function, with one legend.

    An algorithm looks the same in all panels.

    Parameters
    ----------
    results : Result, sequence or dict of label to Result, or StudyResults
        What to draw, up to 12 panels.
    ax : matplotlib Axes, optional
        Whose place in its figure the panels take; a new figure when None.
    draw : callable, default `rai_sim.plotting.mean_pulls`
        What draws a panel: it is given the results of one instance, the axes, and `options`. Most
        functions of `rai_sim.plotting` are such.
    by : {"instance", "delta", "algorithm"}, default "instance"
        What there is a panel for.
    columns : int, optional
        Panels side by side; up to 3 when None, in one column of a paper 2.
    share : bool, default True
        Whether panels have the same scales, so that heights can be compared.
    **options
        Given on to `draw`, such as ``against="gap"``.

    Returns
    -------
    matplotlib Axes
        An empty frame about the panels, which follow it in `ax.figure.axes`.

    Raises
    ------
    TypeError, ValueError
        If `results` holds something else, makes more than 12 panels, or `draw` refuses the results
        of one; `by` is unknown, `columns` no positive integer, or `ax` is in no grid of subplots.

    Examples
    --------
    >>> import rai_sim as rai
    >>> from matplotlib.figure import Figure
    >>> runs = [rai.simulate(rai.table_problem(task), rai.Vanilla(), replications=50, seed=0) for task in (1, 2)]
    >>> ax = panels(runs, Figure().subplots(), draw=rai.plotting.distribution, kind="histogram")
    >>> [panel.get_title(loc="left") for panel in ax.figure.axes[1:3]]
    ['r = 1,0,0', 'r = 3,0,0']
    """
    groups = _groups(cases_of(results), by)
    check_switch("share", share)
    if not callable(draw):
        raise ArgumentTypeError("draw", f"draw is {short.repr(draw)}; give a function")
    beside = _beside(len(groups)) if columns is None else check_count("columns", columns, 1)
    beside = min(beside, len(groups))
    rows = -(-len(groups) // beside)
    if ax is not None:
        check_axes(ax)
    if ax is not None and ax.get_subplotspec() is None:
        raise ArgumentValueError(
            "ax", "ax is in no grid of subplots, whose place panels take; make it by subplots()"
        )
    with axes_or_new(ax, size_for(len(groups), beside)) as frame:
        grid, made = _split(frame, len(groups), rows, beside)
        labels = [case.label for group in groups.values() for case in group]
        with shared_looks(labels), collecting():
            for panel, (title, group) in zip(made, groups.items(), strict=True):
                draw(group, panel, **options)
                _title(panel, title, beside)
        if share:
            _share(made)
        _label_outside(frame, made, beside, share)
        found: dict[str, Any] = {}
        for panel in made:
            for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
                found.setdefault(label, handle)
        _add_legend(frame, grid, list(found.values()), list(found))
        return frame


def size_for(number: int, columns: int | None = None) -> tuple[float, float]:
    """Return the inches that some panels need."""
    beside = _beside(number) if columns is None else columns
    return _WIDTH, _AROUND + _ROW * -(-number // beside)


def _beside(number: int) -> int:
    """Return how many panels stand side by side: as few rows as there may be, all as full as can
    be."""
    paper = page()
    most = 2 if paper is not None and paper.width < _WIDTH / 1.5 else _BESIDE
    rows = -(-number // most)
    return -(-number // rows)


def _groups(cases: Sequence[Case], by: object) -> dict[str, list[Case]]:
    """Return the cases of each panel, by its title."""
    if not isinstance(by, str) or by not in _BY:
        raise ArgumentValueError(
            "by", f"by is {short.repr(by)}; choose {', '.join(map(repr, _BY))}"
        )
    settings = [setting_words(case) for case in cases]
    varies = [len(set(column)) > 1 for column in zip(*settings, strict=True)]
    found: dict[tuple[str, str], list[Case]] = {}
    for case, words in zip(cases, settings, strict=True):
        more = [word for word, shown in zip(words, varies, strict=True) if shown]
        problem = case.experiment.problem.identity() if by == "instance" else ""
        found.setdefault((", ".join([_BY[by](case), *more]), problem), []).append(case)
    titles = [title for title, _ in found]
    groups = {
        title if titles.count(title) == 1 else f"{title}, no. {i + 1}": group
        for i, (title, group) in enumerate(zip(titles, found.values(), strict=True))
    }
    if len(groups) > MOST_PANELS:
        raise ArgumentValueError(
            "results",
            f"results makes {len(groups)} panels; a figure shows at most {MOST_PANELS}: {SELECT}",
        )
    return groups


def _split(
    frame: Axes, number: int, rows: int, columns: int
) -> tuple[GridSpecFromSubplotSpec, list[Axes]]:
    """Return axes that share the place of others, which become an empty frame, and their grid: in a
    caller's figure with a row for the legend."""
    figure, place = frame.get_figure(root=True), frame.get_subplotspec()
    assert figure is not None
    assert place is not None
    ours = figure.get_gid() == OURS
    grid = place.subgridspec(rows if ours else rows + 1, columns, wspace=_APART, hspace=_APART)
    made = [figure.add_subplot(grid[i // columns, i % columns]) for i in range(number)]
    frame.spines[:].set_visible(False)
    frame.set(xticks=[], yticks=[], facecolor="none")
    return grid, made


def _add_legend(
    frame: Axes, grid: GridSpecFromSubplotSpec, handles: Sequence[Any], labels: Sequence[str]
) -> None:
    """Give all panels one legend: below the figure if it is ours, else in the grid's last row."""
    figure = frame.get_figure(root=True)
    assert figure is not None
    if figure.get_gid() == OURS:
        legend_for(frame, handles, labels)
        return
    rows = grid.nrows - 1
    below = figure.add_subplot(grid[rows, :])
    below.set_axis_off()
    high = legend_within(below, handles, labels) / figure.get_figheight()
    panel = max(frame.get_position().height - high, high) / rows
    grid.set_height_ratios([*[1.0] * rows, min(high / panel, _HIGHEST)])


def _title(panel: Axes, title: str, columns: int) -> None:
    """Name a panel; in a paper, too, where no caption names it."""
    figure = panel.get_figure(root=True)
    assert figure is not None
    size = min(float(panel.title.get_fontsize()), 9.0)
    width = int(_TITLE * 9.0 / size * figure.get_figwidth() / columns * 1.05)
    lines = textwrap.wrap(title, max(width, 8))
    text = "\n".join(map(plain, lines[:2])) + ("…" if len(lines) > 2 else "")
    panel.set_title(text, loc="left", fontsize=size)


def _share(made: Sequence[Axes]) -> None:
    """Give panels the same ends and scales; an axis that falls goes on falling."""
    for axis in ("x", "y"):
        scales = {getattr(panel, f"get_{axis}scale")() for panel in made}
        if scales == {"linear", "log"} and all(_positive(panel, axis) for panel in made):
            for panel in made:
                getattr(panel, f"set_{axis}scale")("log")
        elif len(scales) > 1:
            continue
        ends = [sorted(getattr(panel, f"get_{axis}bound")()) for panel in made]
        low, high = min(end[0] for end in ends), max(end[1] for end in ends)
        for panel in made:
            getattr(panel, f"set_{axis}bound")(low, high)


def _positive(panel: Axes, axis: str) -> bool:
    return bool(getattr(panel, f"get_{axis}bound")()[0] > 0.0)


def _label_outside(frame: Axes, made: Sequence[Axes], columns: int, share: bool) -> None:
    """Name and number the axes at the margins alone, as far as panels agree; heights once where the
    figure is ours."""
    figure = frame.get_figure(root=True)
    assert figure is not None
    for axis in ("x", "y"):
        names = {getattr(panel, f"get_{axis}label")() for panel in made}
        same = len({tuple(getattr(panel, f"get_{axis}lim")()) for panel in made}) == 1
        one, ours = len(names) == 1, figure.get_gid() == OURS
        rows = -(-len(made) // columns)
        middle = (rows - 1) // 2 * columns
        if axis == "y" and one and rows % 2 == 0:
            made[middle].yaxis.label.set_y(_BETWEEN_ROWS)
        if axis == "y" and one and ours:
            figure.supylabel(made[0].get_ylabel(), fontsize=made[0].yaxis.label.get_fontsize())
        for i, panel in enumerate(made):
            inside = i % columns > 0 if axis == "y" else i + columns < len(made)
            if one and (inside or (axis == "y" and (ours or i != middle))):
                getattr(panel, f"set_{axis}label")("")
            if inside and share and same:
                panel.tick_params(axis=axis, labelleft=False, labelbottom=False)
            if axis == "x" and not inside and i < (rows - 1) * columns:
                # Its numbers reach into the empty place below: rows stay near each other.
                setattr(panel.xaxis, "get_tightbbox", _no_room)  # noqa: B010


def _no_room(*_: object, **__: object) -> None:
    """Tell the layout of no room that an axis takes; by its name, so that figures can be
    pickled."""
