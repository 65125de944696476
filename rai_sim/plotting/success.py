"""How often algorithms are right, against the pulls that they are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rai_sim.plotting.style import axes_or_new, finish, looks_of_lines, plain, short_label
from rai_sim.simulation.success import SuccessCurve
from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.values import entries

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Lines of one figure, at most.
_MOST_LINES = 10
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
    by themselves.

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
        {label: one.experiment.algorithm.label for label, one in zip(labels, drawn, strict=True)}
    )
    with axes_or_new(ax) as axes:
        axes.set(xscale="log", ylim=(-0.02, 1.02))
        for label, one in zip(labels, drawn, strict=True):
            look, (low, high) = chosen[label], one.band(confidence, simultaneous=simultaneous)
            axes.plot(
                one.pulls,
                one.share,
                color=look.colour,
                marker=look.marker if len(one.pulls) <= 30 else "",
                markersize=3.5,
                linestyle=look.line,
                linewidth=1.4,
                label=plain(label),
            )
            axes.fill_between(one.pulls, low, high, color=look.colour, alpha=0.2, linewidth=0)
            if one.stopped.any():
                first = max(int(np.argmax(one.stopped > 0)) - 1, 0)
                stopped = one.stopped[first:] / one.replications
                axes.plot(one.pulls[first:], stopped, color=look.colour, **_STOPPED)
        of = "all at once" if simultaneous else "each alone"
        axes.fill_between(
            [], [], [], color="0.5", alpha=0.3, label=f"{100 * confidence:g} % intervals, {of}"
        )
        if any(one.stopped.any() for one in drawn):
            axes.plot([], [], color="0.4", label="stopped by itself", **_STOPPED)
        axes.set(xlabel="pulls", ylabel="probability to be right")
        return finish(axes, "Right after so many pulls")


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
