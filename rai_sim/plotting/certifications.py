"""What a certification found: an error rate with its interval for each instance, beside delta."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from rai_sim.certification.outcome import ABOVE, BELOW, OPEN, Certification, Tried
from rai_sim.plotting.style import SIZE, Look, axes_or_new, finish, plain, short_label
from rai_sim.plotting.ticks import set_ticks
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError
from rai_sim.support.wording import percent, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Rows of one figure, at most; inches of a row, and of what is above and below.
MOST_ROWS, _ROW, _AROUND = 60, 0.3, 1.2
#: How instances look by what was found of them, and what the legend says.
_LOOKS = {
    ABOVE: (Look("#D55E00", "s", "-"), "above δ"),
    BELOW: (Look("#0072B2", "o", "-"), "below δ"),
    OPEN: (Look("#000000", "v", "-"), "not clear"),
}
#: Letters of a line of a name.
_LINE = 31


def error_rates(found: Certification, ax: Axes | None = None) -> Axes:
    """Draw the error rate of each instance that was run, with the interval of the confidence
    sequence, and delta.

    Parameters
    ----------
    found : Certification
        What `rai.certify` returned.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when None.

    Returns
    -------
    matplotlib Axes
        The axes drawn into, with a line at delta.

    Raises
    ------
    TypeError, ValueError
        If `found` is something else, or no instance or more than 60 were run.

    Examples
    --------
    >>> import rai_sim as rai
    >>> from matplotlib.figure import Figure
    >>> found = rai.certify(rai.Vanilla(), 0.1, problems={"table": rai.table_problem()}, seed=0)
    >>> error_rates(found, Figure().subplots()).get_xlabel()
    'error rate'
    """
    rows = _checked(found).tried
    with axes_or_new(ax, size_for(found)) as axes:
        for finding, (look, words) in _LOOKS.items():
            _draw(axes, rows, finding, look, words)
        sure = percent(1.0 - found.alpha)
        axes.plot(
            [],
            [],
            color="0.5",
            marker="|",
            markersize=10,
            linestyle="none",
            label=f"bar: each end {sure} sure, over all instances and looks",
        )
        line = f"δ = {found.delta:g}"
        axes.axvline(found.delta, color="0.35", linewidth=1.0, linestyle=(0, (2, 2)), label=line)
        axes.set_yticks(range(len(rows)), [_wrapped(row.instance) for row in rows], fontsize=8)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlim(0.0, min(1.0, 1.15 * max(found.delta, *(row.high for row in rows))))
        set_ticks(axes, "x")
        axes.set_xlabel(found.claim.rate)
        return finish(axes, f"{short_label(found.algorithm)}:\n{found.verdict}")


def size_for(found: Certification) -> tuple[float, float]:
    """Return the inches that a certification needs, by the instances that were run."""
    return SIZE[0], _AROUND + _ROW * len(found.tried)


def _draw(ax: Axes, rows: tuple[Tried, ...], finding: str, look: Look, words: str) -> None:
    chosen = [(place, row) for place, row in enumerate(rows) if row.finding == finding]
    if not chosen:
        return
    ax.errorbar(
        [row.rate for _, row in chosen],
        [place for place, _ in chosen],
        # an error more could lie just beside its end, by rounding
        xerr=np.maximum(
            np.transpose([(row.rate - row.low, row.high - row.rate) for _, row in chosen]), 0.0
        ),
        fmt=look.marker,
        color=look.colour,
        markersize=5.0,
        capsize=2.5,
        linewidth=1.4,
        clip_on=False,
        label=words,
    )


def _wrapped(name: str) -> str:
    lines = textwrap.wrap(name, _LINE)
    return "\n".join(plain(line) for line in lines[:2]) + ("…" if len(lines) > 2 else "")


def _checked(found: Certification) -> Certification:
    if not isinstance(found, Certification):
        raise ArgumentTypeError(
            "found",
            f"found is {short.repr(found)}; give what rai.certify returned",
        )
    if not 0 < len(found.tried) <= MOST_ROWS:
        raise ArgumentValueError(
            "found",
            f"found has {len(found.tried)} instances that were run; a figure shows 1 to "
            f"{MOST_ROWS}: certify fewer",
        )
    return found
