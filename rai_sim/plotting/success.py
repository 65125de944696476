"""How often algorithms are right, against the pulls that they are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.artist import Artist

from rai_sim.plotting.intervals import aside, draw_band, room_for
from rai_sim.plotting.style import Look, axes_or_new, finish, looks_of_lines, plain, short_label
from rai_sim.simulation.success import SuccessCurve
from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.values import entries

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Lines of one figure, at most.
_MOST_LINES = 10
#: Room beside single marks as a factor, at least.
_ROOM = 1.4
#: How shares that have stopped are drawn: finer than any line's own dashes.
_STOPPED: dict[str, Any] = {"linestyle": (0, (1, 1.6)), "linewidth": 1.0}


def success(
    curves: SuccessCurve | Sequence[SuccessCurve],
    ax: Axes | None = None,
    *,
    confidence: float = 0.95,
    simultaneous: bool = False,
) -> Axes:
    """Draw how often algorithms are right if they are asked after so many pulls, with bands.

    Bands are Clopper and Pearson's intervals, of each number of pulls alone or of all those of a
    curve at once (`SuccessCurve.band`). A finely dotted line is the share of replications that have stopped
    by themselves. Of a curve of one number of pulls there are a mark, a bar and a dash; those of several
    such curves stand side by side.

    Parameters
    ----------
    curves : SuccessCurve or sequence of them
        What `rai_sim.success_by` returned, a line each, at most 10.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when None.
    confidence, simultaneous
        Of the bands, as in `SuccessCurve.band`.

    Returns
    -------
    matplotlib Axes
        The axes drawn into; pulls are logarithmic.

    Raises
    ------
    TypeError, ValueError
        If `curves` holds something else, nothing or too many, or `confidence` is no probability.

    Examples
    --------
    >>> import rai_sim as rai
    >>> from matplotlib.figure import Figure
    >>> curve = rai.success_by(rai.table_problem(2), rai.Vanilla(), pulls=[100, 1000, 10_000], replications=200)
    >>> ax = success(curve, Figure().subplots())
    >>> ax.get_ylabel(), ax.get_legend_handles_labels()[1][0]
    ('probability to be right', 'Vanilla')
    """
    given: object = [curves] if isinstance(curves, SuccessCurve) else curves
    must = "what rai_sim.success_by returned"
    drawn: list[SuccessCurve] = entries("curves", given, "curves", "curve", SuccessCurve, must)
    if len(drawn) > _MOST_LINES:
        raise ArgumentValueError(
            "curves", f"curves holds {len(drawn)} curves; a figure shows 1 to {_MOST_LINES}"
        )
    labels = _labels(drawn)
    chosen = looks_of_lines(
        {
            label: short_label(one.experiment.algorithm)
            for label, one in zip(labels, drawn, strict=True)
        }
    )
    with axes_or_new(ax) as axes:
        axes.set(xscale="log", ylim=(-0.02, 1.02))
        single = [label for label, one in zip(labels, drawn, strict=True) if len(one.pulls) == 1]
        if single:
            ends = [float(end) for one in drawn for end in (one.pulls[0], one.pulls[-1])]
            room = room_for(axes, ends, len(single), _ROOM)
            axes.set_xlim(min(ends) / room, max(ends) * room)
        for label, one in zip(labels, drawn, strict=True):
            band = one.band(confidence, simultaneous=simultaneous)
            artists = _draw(axes, one, label, chosen[label], band)
            if label in single:
                for artist in artists:
                    artist.set_transform(aside(axes, single.index(label), len(single)))
        _explain(
            axes,
            drawn,
            f"{100 * confidence:g} % intervals, {'all at once' if simultaneous else 'each alone'}",
        )
        axes.set(xlabel="pulls", ylabel="probability to be right")
        return finish(axes, "Right after so many pulls")


def _draw(
    ax: Axes, curve: SuccessCurve, label: str, look: Look, ends: tuple[Any, Any]
) -> list[Artist]:
    """Draw a curve with its intervals and the share that has stopped; return what was drawn."""
    several = len(curve.pulls) > 1
    (line,) = ax.plot(
        curve.pulls,
        curve.share,
        color=look.colour,
        marker=look.marker if len(curve.pulls) <= 30 else "",
        markersize=3.5 if several else 5.5,
        linestyle=look.line,
        linewidth=1.4,
        label=plain(label),
    )
    artists = [line, *draw_band(ax, curve.pulls, *ends, look.colour, alpha=0.2, width=1.4)]
    if curve.stopped.any():
        first = max(int(np.argmax(curve.stopped > 0)) - 1, 0)
        stopped = curve.stopped[first:] / curve.replications
        mark = "" if several else "_"
        artists += ax.plot(curve.pulls[first:], stopped, marker=mark, color=look.colour, **_STOPPED)
    return artists


def _explain(ax: Axes, curves: Sequence[SuccessCurve], of: str) -> None:
    """Put into the legend what bands, bars and fine lines are."""
    if any(len(one.pulls) > 1 for one in curves):
        ax.fill_between([], [], [], color="0.5", alpha=0.3, label=f"band: {of}")
    if any(len(one.pulls) == 1 for one in curves):
        ax.plot([], [], color="0.5", marker="|", markersize=9, linestyle="none", label=f"bar: {of}")
    stopped = [len(one.pulls) for one in curves if one.stopped.any()]
    if stopped:
        mark = "_" if max(stopped) == 1 else ""
        ax.plot([], [], color="0.4", marker=mark, label="stopped by itself", **_STOPPED)


def _labels(curves: Sequence[SuccessCurve]) -> list[str]:
    """Return a name for each line: the algorithm, with delta and problem where these differ."""
    deltas = {one.experiment.delta for one in curves}
    problems = list(dict.fromkeys(one.experiment.problem.identity() for one in curves))
    labels: list[str] = []
    for one in curves:
        words = [short_label(one.experiment.algorithm)]
        if len(deltas) > 1:
            words.append(f"δ = {one.experiment.delta:g}")
        if len(problems) > 1:
            words.append(f"problem {1 + problems.index(one.experiment.problem.identity())}")
        label, times = ", ".join(words), 1
        while label in labels:
            times += 1
            label = f"{', '.join(words)} ({times})"
        labels.append(label)
    return labels
