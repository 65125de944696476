"""How the pulls of single replications are distributed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rai_sim.plotting.inputs import Results, cases_of, labels_of
from rai_sim.plotting.style import Look, axes_or_new, finish, log_if_wide, looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Curves in one figure, at most; steps of a curve, more than any page shows; bars of a histogram, at most.
_CURVES, _STEPS, _BARS = 10, 400, 60
#: Numbers of pulls, ascending, and how many replications took them.
Sample: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int64]]


def distribution(results: Results, ax: Axes | None = None, *, kind: str = "ecdf") -> Axes:
    """Draw the distribution of pulls of each experiment, over its finished replications.

    Parameters
    ----------
    results : Result, sequence or dict of label to Result, or StudyResults
        What to draw, a curve each. Where a study keeps aggregates only, numbers above 512 are rounded by up to 0.2 %.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when None.
    kind : {"ecdf", "histogram"}, default "ecdf"
        The empirical distribution function, with the band that holds the whole true one with probability 95 % (Dvoretzky, Kiefer,
        Wolfowitz; Massart's constant), or the share of replications by number of pulls.

    Returns
    -------
    matplotlib Axes
        The axes drawn into.

    Raises
    ------
    TypeError, ValueError
        If `results` holds something else, no finished replication, or more than 10 experiments; or `kind` is unknown.

    Examples
    --------
    >>> import rai_sim as rai
    >>> from matplotlib.figure import Figure
    >>> result = rai.simulate(rai.table_problem(), rai.Vanilla(), replications=100, seed=0)
    >>> distribution(result, Figure().subplots()).get_ylabel()
    'share of replications'
    """
    if kind not in ("ecdf", "histogram"):
        raise ValueError(f"kind is {kind!r}; choose 'ecdf' or 'histogram'")
    cases = [case for case in cases_of(results) if case.finished]
    if not cases:
        raise ValueError("results has no finished replication; raise max_pulls")
    if len(cases) > _CURVES:
        raise ValueError(f"results holds {len(cases)} experiments; a figure shows at most {_CURVES}: choose some")
    labels, samples = labels_of(cases), [case.distribution() for case in cases]
    chosen = looks([case.label for case in cases] if len({case.label for case in cases}) == len(cases) else labels)
    keys = [case.label if case.label in chosen else label for case, label in zip(cases, labels, strict=True)]
    with axes_or_new(ax) as axes:
        log_if_wide(axes, "x", np.concatenate([values for values, _ in samples]), factor=5.0)
        draw = _draw_ecdf if kind == "ecdf" else _draw_histogram
        draw(axes, labels, samples, [chosen[key] for key in keys])
        axes.set(xlabel="pulls of a replication", ylabel="share of replications")
        axes.set_ylim(bottom=0.0)
        return finish(axes, "Distribution of pulls")


def _draw_ecdf(ax: Axes, labels: Sequence[str], samples: Sequence[Sample], styles: Sequence[Look]) -> None:
    ax.set_ylim(0.0, 1.02)
    for label, (values, counts), look in zip(labels, samples, styles, strict=True):
        below = np.cumsum(counts)
        n = int(below[-1])
        kept = np.unique(np.linspace(0, len(values) - 1, min(len(values), _STEPS)).round().astype(np.int64))
        x, y = np.concatenate([values[:1], values[kept]]), np.concatenate([[0.0], below[kept] / n])
        margin = math.sqrt(math.log(2.0 / 0.05) / (2.0 * n))
        ax.step(x, y, where="post", color=look.colour, linestyle=look.line, linewidth=1.8, label=label)
        low, high = np.maximum(y - margin, 0.0), np.minimum(y + margin, 1.0)
        ax.fill_between(x, low, high, step="post", color=look.colour, alpha=0.18, linewidth=0)
    ax.fill_between([], [], color="0.6", alpha=0.4, linewidth=0, label="band: 95 % for the whole curve (DKW)")


def _draw_histogram(ax: Axes, labels: Sequence[str], samples: Sequence[Sample], styles: Sequence[Look]) -> None:
    low, high = min(values[0] for values, _ in samples), max(values[-1] for values, _ in samples)
    bars = min(_BARS, max(8, math.ceil(2.0 * min(int(counts.sum()) for _, counts in samples) ** (1.0 / 3.0))))
    logarithmic = ax.get_xscale() == "log"
    if high <= low:
        low, high = low - 0.5, high + 0.5
    edges = np.geomspace(low, high, bars + 1) if logarithmic else np.linspace(low, high, bars + 1)
    edges[0], edges[-1] = low, high  # rounding must lose nobody
    for label, (values, counts), look in zip(labels, samples, styles, strict=True):
        shares = np.histogram(values, edges, weights=counts)[0] / counts.sum()
        ax.stairs(shares, edges, color=look.colour, linestyle=look.line, linewidth=1.8, label=label)
        ax.stairs(shares, edges, color=look.colour, alpha=0.12, fill=True)
