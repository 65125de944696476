"""How the pulls of single replications are distributed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.plotting.inputs import Results, few_cases
from rai_sim.plotting.style import Look, axes_or_new, finish, scale_axis
from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.values import is_choice, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Curves in one figure, at most; steps of a curve, more than any page shows; bars of a histogram,
#: at most.
_CURVES, _STEPS, _BARS = 10, 400, 60


def distribution(results: Results, ax: Axes | None = None, *, kind: str = "ecdf") -> Axes:
    """Draw the distribution of pulls of each experiment.

    Shares are of all replications: where some were capped, a curve ends at the share of those that
    finished.

    Parameters
    ----------
    results : Result, sequence or dict of label to Result, or StudyResults
        What to draw, a curve each. Where a study keeps aggregates only, numbers above 512 are
        rounded by up to 0.2 %.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when None.
    kind : {"ecdf", "histogram"}, default "ecdf"
        The empirical distribution function, with the band that holds the whole true one with
        probability 95 % (Dvoretzky, Kiefer, Wolfowitz; Massart's constant; it holds for any number
        of replications, and is wide for few), or the share of replications by number of pulls.

    Returns
    -------
    matplotlib Axes
        The axes drawn into.

    Raises
    ------
    TypeError, ValueError
        If `results` holds something else, no finished replication, or more than 10 experiments; or
        `kind` is unknown.

    Examples
    --------
    >>> import rai_sim as rai
    >>> from matplotlib.figure import Figure
    >>> result = rai.simulate(rai.table_problem(), rai.Vanilla(), replications=100, seed=0)
    >>> distribution(result, Figure().subplots()).get_ylabel()
    'share of replications'
    """
    if not is_choice(kind, ("ecdf", "histogram")):
        raise ArgumentValueError(
            "kind", f"kind is {short.repr(kind)}; choose 'ecdf' or 'histogram'"
        )
    curves = [
        Curve(label, look, *case.distribution(), case.replications)
        for case, label, look in few_cases(results, _CURVES)
    ]
    with axes_or_new(ax) as axes:
        scale_axis(
            axes, "x", np.concatenate([curve.values for curve in curves]), factor=5.0, whole=True
        )
        (draw_ecdf if kind == "ecdf" else _draw_histogram)(axes, curves)
        axes.set(xlabel="pulls of a replication", ylabel="share of replications")
        axes.set_ylim(bottom=0.0)
        return finish(axes, "Distribution of pulls")


class Curve(NamedTuple):
    """What a curve is drawn from: numbers of pulls, ascending, how many replications took them, and
    of how many."""

    label: str
    look: Look
    values: NDArray[np.float64]
    counts: NDArray[np.int64]
    replications: int


def draw_ecdf(ax: Axes, curves: Sequence[Curve]) -> None:
    """Draw empirical distribution functions with their bands."""
    ax.set_ylim(0.0, 1.02)
    for label, look, values, counts, n in curves:
        below = np.cumsum(counts)
        kept = np.unique(
            np.linspace(0, len(values) - 1, min(len(values), _STEPS)).round().astype(np.int64)
        )
        x, y = np.concatenate([values[:1], values[kept]]), np.concatenate([[0.0], below[kept] / n])
        margin = math.sqrt(math.log(2.0 / 0.05) / (2.0 * n))
        ax.step(
            x, y, where="post", color=look.colour, linestyle=look.line, linewidth=1.8, label=label
        )
        low, high = np.maximum(y - margin, 0.0), np.minimum(y + margin, 1.0)
        ax.fill_between(x, low, high, step="post", color=look.colour, alpha=0.18, linewidth=0)
        if len(values) == 1:  # a band without a width
            ax.vlines(x[-1:], low[-1:], high[-1:], color=look.colour, alpha=0.3, linewidth=7)
    ax.fill_between(
        [], [], color="0.6", alpha=0.4, linewidth=0, label="band: 95 % for the whole curve (DKW)"
    )


def _draw_histogram(ax: Axes, curves: Sequence[Curve]) -> None:
    low, high = min(curve.values[0] for curve in curves), max(curve.values[-1] for curve in curves)
    bars = min(
        _BARS,
        max(8, math.ceil(2.0 * min(int(curve.counts.sum()) for curve in curves) ** (1.0 / 3.0))),
    )
    logarithmic = ax.get_xscale() == "log"
    if high <= low:
        low, high = low - 0.5, high + 0.5
    edges = np.geomspace(low, high, bars + 1) if logarithmic else np.linspace(low, high, bars + 1)
    edges[0], edges[-1] = low, high  # rounding must lose nobody
    for label, look, values, counts, n in curves:
        shares = np.histogram(values, edges, weights=counts)[0] / n
        ax.stairs(shares, edges, color=look.colour, linestyle=look.line, linewidth=1.8, label=label)
        ax.stairs(shares, edges, color=look.colour, alpha=0.12, fill=True)
