"""A problem as a picture: arms by their means, cut into ranked clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rai_sim.plotting.style import axes_or_new, cluster_look, finish, plain
from rai_sim.problem import Problem
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError
from rai_sim.support.wording import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Arms of one figure, at most, those of which each has a row with its name, and lines.
MOST_ARMS, _MOST_NAMED, _MOST_LINES = 1000, 20, 40
#: Clusters that the legend lists one by one.
_LISTED = 6
#: Inches of a figure without its legend: its width, what is around the rows, a row, at least.
_WIDTH, _AROUND, _ROW, _LEAST = 5.0, 0.9, 0.2, 2.0


def instance(problem: Problem, ax: Axes | None = None) -> Axes:
    """Draw the arms of a problem by their means, best first, and what is asked of each cluster.

    A row is an arm, with its name where there are at most 20; dashed lines part up to 40 clusters,
    whose colours are those of `rai_sim.plotting.trace`. Marks are filled where arms are to be named
    from a cluster; the legend says how many, of up to 6 clusters. The title has the bottleneck gap.

    Parameters
    ----------
    problem : Problem
        What to draw: at most 1,000 arms.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when None.

    Returns
    -------
    matplotlib Axes
        The axes drawn into; means are in units of reward.

    Raises
    ------
    TypeError, ValueError
        If `problem` is no Problem, or has more than 1,000 arms.

    Examples
    --------
    >>> import rai_sim as rai
    >>> from matplotlib.figure import Figure
    >>> ax = instance(rai.top(rai.Bernoulli([0.5, 0.9, 0.75]), 2), Figure().subplots())
    >>> ax.get_legend_handles_labels()[1]
    ['cluster 1: name 2 of 2', 'cluster 2: name 0 of 1']
    """
    if not isinstance(problem, Problem):
        raise ArgumentTypeError(
            "problem",
            f"problem is of type {type(problem).__name__}; make one, such as rai.top(arms, 3)",
        )
    N = problem.n_arms
    if N > MOST_ARMS:
        raise ArgumentValueError(
            "problem",
            f"problem is of {count(N, 'arm')}; a figure shows at most {MOST_ARMS:,}",
        )
    high = max(_LEAST, _AROUND + _ROW * min(N, _MOST_NAMED))
    with axes_or_new(ax, (_WIDTH, high)) as axes:
        axes.set_ylim(N + 0.5, 0.5)
        _draw_clusters(axes, problem)
        if N <= _MOST_NAMED:
            order = np.argsort(-problem.arms.means, kind="stable").tolist()
            axes.set_yticks(range(1, N + 1), [plain(problem.arms.name(arm), 18) for arm in order])
        axes.set(xlabel="mean reward", ylabel="arm, best first")
        axes.margins(x=0.04)
        kind = count(N, f"{type(problem.arms).__name__} arm")
        return finish(axes, f"{kind}, bottleneck gap {problem.bottleneck_gap:.4g}")


def _draw_clusters(ax: Axes, problem: Problem) -> None:
    """Draw a mark for each mean, one look a cluster, and lines between the clusters."""
    means = np.sort(problem.arms.means)[::-1]
    size = 7.0 if problem.n_arms <= _MOST_NAMED else 3.5
    labels = _labels(problem)
    start = 0
    for cluster, (number, asked) in enumerate(zip(problem.clusters, problem.required, strict=True)):
        colour, _ = cluster_look(cluster, problem.n_clusters)
        end = start + number
        ax.plot(
            means[start:end],
            np.arange(start + 1, end + 1),
            "o",
            color=colour,
            markerfacecolor=colour if asked else "white",
            markersize=size,
            label=labels[cluster],
        )
        if start > 0 and problem.n_clusters <= _MOST_LINES:
            ax.axhline(start + 0.5, color="0.35", linestyle=(0, (2, 2)), linewidth=1.0, zorder=0.5)
        start = end
    left_out = labels.count(None)
    if left_out:
        ax.plot([], [], linestyle="none", label=f"and {count(left_out, 'more cluster')}")


def _labels(problem: Problem) -> list[str | None]:
    """Return what the legend says of each cluster: of many, of the first that are asked for arms."""
    listed = sorted(range(problem.n_clusters), key=lambda cluster: not problem.required[cluster])
    return [
        f"cluster {cluster + 1}: name {asked:,} of {size:,}"
        if cluster in listed[:_LISTED]
        else None
        for cluster, (size, asked) in enumerate(
            zip(problem.clusters, problem.required, strict=True)
        )
    ]
