"""The history of one replication as a figure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from rai_sim.plotting.intervals import draw_band
from rai_sim.plotting.style import axes_or_new, cluster_look, finish, height_of, plain, short_label
from rai_sim.plotting.ticks import set_ticks
from rai_sim.support.checks import check_count
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError, Named
from rai_sim.tracing.events import Event
from rai_sim.tracing.trace import Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Inches: as high as wide, for the many lines.
SIZE = (5.0, 4.2)
#: Arms whose names are written at the right edge; of more, the representatives' only.
_NAMED_ARMS = 12
_TRIANGLE: dict[str, Any] = {
    "marker": "<",
    "markersize": 6,
    "markeredgecolor": "black",
    "markeredgewidth": 0.5,
    "linestyle": "none",
}
_LEADER = {
    "arrowstyle": "-",
    "color": "0.55",
    "linewidth": 0.6,
    "relpos": (0.0, 0.5),
    "shrinkA": 1.0,
    "shrinkB": 4.0,
}
#: Clusters that the legend lists one by one.
_NAMED_CLUSTERS = 4
#: Least distance of two names in inches.
_LINE = 0.118


def trace(trace: Trace, ax: Axes | None = None, *, most_arms: int = 40) -> Axes:
    """Draw empirical means with confidence bands over the pulls of all arms, events, and the true
    means.

    Arms have the colour and line style of their true cluster. A dot marks where an arm was settled,
    a star where it was named representative; representatives' lines are thick. Bands are drawn
    where they are narrower than the figure; some algorithms have no radii. Vertical lines are merges of
    the clusters they name. Triangles at the right edge are true means.

    Parameters
    ----------
    trace : Trace
        What `rai_sim.tracing.trace` returned.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when None.
    most_arms : int, default 40
        Of more arms, those that took the most pulls are drawn, and the representatives; the title
        says so.

    Returns
    -------
    matplotlib Axes
        The axes drawn into.

    Raises
    ------
    TypeError, ValueError
        If `trace` is no Trace, or `most_arms` no positive integer; ValueError for a run without a
        single round, and for an algorithm that keeps no states.

    Examples
    --------
    >>> import rai_sim as rai
    >>> from matplotlib.figure import Figure
    >>> ax = trace(rai.trace(rai.table_problem(task=2), rai.Vanilla(), 0.01, seed=0), Figure().subplots())
    >>> ax.get_xlabel()
    'pulls of all arms'
    """
    if not isinstance(trace, Trace):
        raise ArgumentTypeError(
            "trace",
            f"trace is of type {type(trace).__name__}; make one with rai.trace(problem, "
            "algorithm, delta, seed, replication)",
        )
    if not len(trace.rounds):
        _refuse_no_state(trace)
    most = check_count("most_arms", most_arms, 1)
    with axes_or_new(ax, SIZE) as axes:
        return _Drawing(trace, axes, most).draw()


def _refuse_no_state(trace: Trace) -> NoReturn:
    """Say why a trace has nothing to draw."""
    run = trace.result
    if run.finished[0] or run.rounds[0] > 0:
        raise ArgumentValueError(
            "trace",
            f"trace has no state to draw: algorithm {trace.algorithm.label} keeps none "
            "(see rai_sim.engine.history)",
        )
    raise ArgumentValueError(
        "trace",
        "trace has no state to draw: ",
        Named("max_pulls"),
        f" = {run.experiment.max_pulls} does not pay for the first round; raise ",
        Named("max_pulls"),
    )


class _Drawing:
    low: float
    high: float

    def __init__(self, trace: Trace, ax: Axes, most: int) -> None:
        self.trace, self.ax, self.problem = trace, ax, trace.problem
        self.settled = {event.arm: event for event in trace.events if event.arm is not None}
        self.representatives = [
            event.arm for event in trace.events if event.representative and event.arm is not None
        ]
        self.arms = self._chosen(most)

    def _chosen(self, most: int) -> list[int]:
        """Return the arms to draw: the costliest, and the representatives."""
        n = self.problem.n_arms
        if n <= most:
            return list(range(n))
        costliest = np.argsort(-self.trace.arm_pulls[-1], kind="stable")[:most].tolist()
        return sorted({*costliest, *self.representatives})

    def draw(self) -> Axes:
        """Draw everything."""
        ax = self.ax
        self.low, self.high = self._heights()
        for arm in self.arms:
            self._draw_arm(arm)
        self._name_clusters()
        self._draw_marks()
        self._draw_merges()
        ax.set(
            xscale="log",
            xlabel="pulls of all arms",
            ylabel="empirical mean reward",
            ylim=(self.low, self.high),
        )
        start = min([int(self.trace.pulls[0]), *(event.pulls for event in self.trace.events)])
        end = int(max(self.trace.result.pulls[0], self.trace.pulls[-1]))
        low, high = start * 0.93, end * (end / start) ** 0.04 * 1.05
        ax.set_xlim(low, high)
        set_ticks(ax, "x", whole=True)
        self._draw_true_means()
        return finish(ax, self._title())

    def _title(self) -> str:
        run, name = self.trace.result, short_label(self.trace.algorithm)
        title = f"{name}, δ = {run.delta:g}, seed {run.seed}, replication {self.trace.replication}"
        if not run.finished[0]:
            title += f", {run.unfinished}"
        if len(self.arms) < self.problem.n_arms:
            title += f"\n{len(self.arms)} of {self.problem.n_arms:,} arms: those of most pulls, and representatives"
        return title

    def _draw_arm(self, arm: int) -> None:
        """Draw an arm's mean, and its band where that is narrower than the figure."""
        x, mean, radius = self._path(arm)
        (colour, line), chosen = self._look(arm), arm in self.representatives
        width, order = (2.6, 3) if chosen else (1.1, 2)
        marker = "." if len(x) < 8 else None
        self.ax.plot(
            x,
            mean,
            color=colour,
            linestyle=line,
            marker=marker,
            linewidth=width,
            zorder=order,
            gid=f"arm {arm}",
        )
        faint = 0.22 if len(self.arms) <= 4 else 0.12 if len(self.arms) <= 15 else 0.05
        narrow = 2.0 * radius < self.high - self.low
        around = np.where(narrow, radius, np.nan)
        draw_band(
            self.ax,
            x,
            mean - around,
            mean + around,
            colour,
            alpha=faint,
            bar_alpha=3.0 * faint,
            width=3.0,
        )

    def _look(self, arm: int) -> tuple[Any, Any]:
        return cluster_look(int(self.problem.cluster_of[arm]), len(self.problem.clusters))

    def _name_clusters(self) -> None:
        """Put the clusters into the legend, the first and the last of many."""
        clusters = sorted({int(self.problem.cluster_of[arm]) for arm in self.arms})
        shown = clusters if len(clusters) <= _NAMED_CLUSTERS else [clusters[0], clusters[-1]]
        for cluster in shown:
            colour, line = cluster_look(cluster, len(self.problem.clusters))
            between = " ..." if len(shown) < len(clusters) and cluster == shown[0] else ""
            self.ax.plot(
                [],
                [],
                color=colour,
                linestyle=line,
                linewidth=1.6,
                label=f"cluster {cluster + 1}{between}",
            )

    def _path(
        self, arm: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return pulls, mean and radius of an arm while it is active, and where it was settled."""
        t = self.trace
        seen = t.active[:, arm]
        x, mean, radius = t.pulls[seen].astype(np.float64), t.means[seen, arm], t.radii[seen, arm]
        event = self.settled.get(arm)
        if event is not None and (not len(x) or x[-1] < event.pulls):
            x, mean, radius = (
                np.append(x, event.pulls),
                np.append(mean, event.mean),
                np.append(radius, event.radius),
            )
        return x, mean, radius

    def _draw_marks(self) -> None:
        def mark(events: list[Event], marker: str, size: float, label: str) -> None:
            if events:
                colours = [self._look(event.arm or 0)[0] for event in events]
                self.ax.scatter(
                    [event.pulls for event in events],
                    [event.mean for event in events],
                    s=size,
                    marker=marker,
                    c=colours,
                    edgecolors="black",
                    linewidths=0.8,
                    zorder=4,
                    label=label,
                )

        drawn = [event for event in self.trace.events if event.arm in self.arms]
        mark([event for event in drawn if not event.representative], "o", 28, "settled")
        mark([event for event in drawn if event.representative], "*", 150, "representative")
        if np.isfinite(self.trace.radii[:, self.arms]).any():  # some rules have none
            self.ax.fill_between(
                [], [], color="0.6", alpha=0.4, linewidth=0, label="band: mean ± radius, if it fits"
            )

    def _draw_merges(self) -> None:
        label: str | None = "merge"
        middle = math.sqrt(float(self.trace.pulls[0]) * float(self.trace.result.pulls[0]))
        for pulls, where in self._merges():
            self.ax.axvline(
                pulls,
                color="0.35",
                linewidth=1.0,
                linestyle=(0, (2, 2)),
                zorder=0.5,
                label=label,
                gid="merge",
            )
            side, shift = ("left", 3) if pulls < middle else ("right", -3)  # so as to stay inside
            self.ax.annotate(
                where,
                (pulls, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(shift, -3),
                textcoords="offset points",
                rotation=90,
                va="top",
                ha=side,
                fontsize=8,
                zorder=6,
                bbox={"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 1.0},
            )
            label = None

    def _merges(self) -> list[tuple[int, str]]:
        """Return pulls and clusters of the merges, those of one round in one text."""
        found: dict[int, list[str]] = {}
        for event in self.trace.events:
            if event.arm is None:
                found.setdefault(event.pulls, []).append(event.where.removeprefix("clusters "))
        return [
            (pulls, ", ".join(where) if len(where) < 4 else f"{len(where)} merges")
            for pulls, where in found.items()
        ]

    def _heights(self) -> tuple[float, float]:
        """Return the range of means: the first pulls' wide swings and bands may leave it."""
        t, arms = self.trace, self.arms
        near = 0.25 * self.problem.arms.two_sigma
        late = np.where(t.radii[:, arms] < near, t.means[:, arms], np.nan)
        values = np.concatenate([self.problem.arms.means[arms], t.means[-1, arms], late.ravel()])
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        narrowest = float(np.min(t.radii[-1, arms]))
        room = max(0.12 * (high - low), 1.2 * narrowest if math.isfinite(narrowest) else 0.0, 1e-9)
        return low - room, high + room

    def _draw_true_means(self) -> None:
        ax, means, low, high = self.ax, self.problem.arms.means, self.low, self.high
        order = sorted(self.arms, key=lambda arm: means[arm])
        for arm in order:
            ax.plot(
                1.0,
                means[arm],
                color=self._look(arm)[0],
                clip_on=False,
                transform=ax.get_yaxis_transform(),
                zorder=5,
                **_TRIANGLE,
            )
        ax.plot([], [], color="0.5", label="true mean", **_TRIANGLE)
        named = [
            arm for arm in order if len(self.arms) <= _NAMED_ARMS or arm in self.representatives
        ]
        line = _LINE / height_of(ax)
        if len(named) * line > 1.0:
            return
        at = np.array([(means[arm] - low) / (high - low) for arm in named])
        for arm, mark, height in zip(named, at.tolist(), _apart(at, line).tolist(), strict=True):
            weight = "bold" if arm in self.representatives else "normal"
            moved = abs(height - mark) > 0.3 * line  # a line then leads from the mark to the name
            ax.annotate(
                plain(self.problem.arms.name(arm), 18),
                (1.0, mark),
                xycoords="axes fraction",
                xytext=(1.05, height),
                textcoords="axes fraction",
                va="center",
                fontsize=8,
                fontweight=weight,
                annotation_clip=False,
                arrowprops=_LEADER if moved else None,
            )


def _apart(heights: NDArray[np.float64], least: float) -> NDArray[np.float64]:
    """Return ascending heights moved apart as little as needed: runs of neighbours that are too
    close are spread about their middle."""
    groups: list[list[float]] = []  # middle and number of each run
    for height in heights.tolist():
        groups.append([height, 1])
        while (
            len(groups) > 1
            and groups[-1][0] - groups[-2][0] < least * (groups[-1][1] + groups[-2][1]) / 2.0
        ):
            middle, count = groups.pop()
            total = groups[-1][1] + count
            groups[-1] = [(groups[-1][0] * groups[-1][1] + middle * count) / total, total]
    return np.array(
        [
            middle + least * (i - (count - 1) / 2.0)
            for middle, count in groups
            for i in range(int(count))
        ]
    )
