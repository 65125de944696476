"""What happens in a replication: arms are settled, clusters merged."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.blocks import Block
from rai_sim.engine.history import states_kept
from rai_sim.problem import Problem
from rai_sim.simulation.result import Result
from rai_sim.support.columns import Catalogue, Column

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Event:
    """An arm that was settled, or two clusters that were merged.

    Attributes
    ----------
    kind : {"settled", "merged"}
        What happened.
    round, pulls : int
        When: the round, exactly, and the pulls of all arms by then.
    first_cluster, cluster : int
        The cluster in which the arm was settled, twice; 1 is the best. Where several had been
        merged, the first and the last of them; of a merge, of those that are one from then on.
    arm : int or None
        The caller's index of the arm; None for a merge.
    mean, radius : float
        The arm's empirical mean and confidence radius in that round, in rewards; NaN for a merge.
    arm_pulls : int
        The arm's pulls; 0 for a merge.
    representative : bool
        Whether the arm was named for the cluster: the first r_i settled in cluster i are.

    Examples
    --------
    >>> import rai_sim as rai
    >>> trace = rai.trace(rai.table_problem(), rai.Butterscotch(), 0.01, seed=0)
    >>> event = trace.events[0]
    >>> print(event.round, event.pulls, event)
    1 10370 arm 0 settled in cluster 1, representative
    """

    kind: str
    round: int
    pulls: int
    first_cluster: int
    cluster: int
    arm: int | None = None
    mean: float = float("nan")
    radius: float = float("nan")
    arm_pulls: int = 0
    representative: bool = False

    def __str__(self) -> str:
        """Return the event in words."""
        if self.arm is None:
            return f"{self.where} merged"
        return f"arm {self.arm} settled in {self.where}" + (
            ", representative" if self.representative else ""
        )

    @property
    def where(self) -> str:
        """The clusters in words: cluster 1, clusters 2+3, clusters 4-9."""
        first, last = self.first_cluster, self.cluster
        if first == last:
            return f"cluster {first}"
        return f"clusters {first}{'+' if last == first + 1 else '-'}{last}"


def event_columns(problem: Problem) -> Catalogue[Column]:
    """Return what tables show of the events of a replication of a problem; rows are events.

    Examples
    --------
    >>> import rai_sim as rai
    >>> settled = Event("settled", 7, 900, 1, 1, 0, 0.9, 0.05, 450, True)
    >>> columns = event_columns(rai.table_problem()).pick("event", "arm_pulls")
    >>> [column.cell(settled).text for column in columns]
    ['arm 0 settled in cluster 1, representative', '450']
    """

    def words(event: Event) -> str:
        if event.arm is None or problem.arms.names is None:
            return str(event)
        return str(event).replace(f"arm {event.arm}", problem.arms.name(event.arm), 1)

    def of_arm(key: str, title: str, form: Callable[[Any], str], unit: str) -> Column:
        def get(event: Event) -> Any:
            return None if event.arm is None else getattr(event, key)

        return Column(
            key=key,
            title=title,
            unit=unit,
            form=lambda value: "" if value is None else "n/a" if value != value else form(value),
            get=get,
        )

    reward = f"{{:.{_digits(problem)}f}}".format
    return Catalogue(
        [
            Column(
                key="round",
                title="round",
                unit="rounds",
                form="{:,}".format,
                get=lambda event: event.round,
            ),
            Column(
                key="pulls",
                title="pulls",
                unit="pulls",
                form="{:,}".format,
                get=lambda event: event.pulls,
            ),
            Column(key="event", title="event", get=words),
            of_arm("mean", "arm's mean", reward, "reward"),
            of_arm("radius", "radius", reward, "reward"),
            of_arm("arm_pulls", "arm's pulls", "{:,}".format, "pulls"),
        ]
    )


def _digits(problem: Problem) -> int:
    """Return how many decimals tell means and radii apart: two of the bottleneck gap, four at
    least."""
    gap = problem.bottleneck_gap
    return 4 if not 0.0 < gap < 1.0 else max(4, 2 - math.floor(math.log10(gap)))


def events_frame(events: Iterable[Event], problem: Problem) -> pl.DataFrame:
    """Return the events of a replication of a problem, one row an event (see
    `rai_sim.Trace.events_frame`)."""
    import polars as pl

    rows = []
    for event in events:
        row: list[Any] = [
            event.round,
            event.pulls,
            event.kind,
            event.first_cluster,
            event.cluster,
        ]
        if event.arm is None:
            rows.append([*row, None, None, None, None, None, None])
        else:
            name = problem.arms.name(event.arm)
            rows.append(
                [
                    *row,
                    event.arm,
                    name,
                    event.mean,
                    event.radius,
                    event.arm_pulls,
                    event.representative,
                ]
            )
    schema: dict[str, Any] = {
        "round": pl.Int64,
        "pulls": pl.Int64,
        "event": pl.String,
        "first_cluster": pl.Int64,
        "cluster": pl.Int64,
        "arm": pl.Int64,
        "name": pl.String,
        "mean": pl.Float64,
        "radius": pl.Float64,
        "arm_pulls": pl.Int64,
        "representative": pl.Boolean,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


class _Clusters:
    """Open sizes and outputs that are missing, as steps 3 and 4 of the round-robin loop leave them;
    clusters count from 0 here."""

    def __init__(self, problem: Problem) -> None:
        self.sizes, self.missing = list(problem.clusters), list(problem.required)
        self.missing_in_all = sum(self.missing)
        # of the clusters that are merged into each, counted from 1
        self.first = list(range(1, len(self.sizes) + 1))
        self.met = False  # whether the last merge brought open arms of both together

    def settle(self, i: int, representative: bool) -> None:
        """Take an arm out of cluster i."""
        self.sizes[i] -= 1
        self.missing[i] -= representative
        self.missing_in_all -= representative

    def merge_with_previous(self, i: int) -> bool:
        """Merge cluster i - 1 into i if both have all they were asked for; whether that moved any
        arm."""
        if (
            not 0 < i < len(self.sizes)
            or self.missing[i - 1]
            or self.missing[i]
            or not self.sizes[i - 1]
        ):
            return False
        self.met = self.sizes[i] > 0
        self.first[i] = self.first[i - 1]
        self.sizes[i - 1], self.sizes[i] = 0, self.sizes[i - 1] + self.sizes[i]
        return True


def read_events(result: Result, block: Block) -> tuple[Event, ...]:
    """Return the events of a result of one replication from the block that a kernel wrote its
    history into."""
    return tuple(_Reader(result, block).events())


class _Reader:
    """Settled arms are known, and merges follow from which clusters had all they were asked for."""

    def __init__(self, result: Result, block: Block) -> None:
        self.result, self.history = result, block.history
        self.problem, self.algorithm = result.problem, result.algorithm
        self.settled = block.settled[0]

    def events(self) -> list[Event]:
        """Return the events, in order."""
        merging = bool(getattr(self.algorithm, "merging", False))
        by_round = self._settled_by_round()
        if merging and self.result.rounds[0] > 0:
            # clusters of which nothing is asked merge at once
            by_round.setdefault(1, np.empty(0, np.int64))
        clusters, events = _Clusters(self.problem), list[Event]()
        for r in sorted(by_round):
            here = self._events_of_round(r, by_round[r], clusters, merging)
            over = not clusters.missing_in_all  # then merges change nothing any more
            events += [event for event in here if event.arm is not None or not over]
        return events

    def _events_of_round(
        self, round_: int, settled: NDArray[np.int64], clusters: _Clusters, merging: bool
    ) -> list[Event]:
        """Return a round's events, cluster after cluster: its settled arms, then its merge with the
        one before."""
        events, pulls = list[Event](), self._pulls_of(round_, settled)
        arms_of = self._settlements(round_, settled)
        # Only clusters that changed can be merged with a neighbour; in round 1 any can.
        to_do = (
            list(range(len(clusters.sizes)))
            if round_ == 1
            else sorted({*arms_of, *(i + 1 for i in arms_of)})
        )
        while to_do:
            i = heappop(to_do)
            for one in arms_of.pop(i, ()):
                first = clusters.first[i]
                events.append(one if first == i + 1 else replace(one, first_cluster=first))
                clusters.settle(i, one.representative)
            if merging and clusters.merge_with_previous(i):
                if clusters.met:
                    events.append(Event("merged", round_, pulls, clusters.first[i], i + 1))
                if i + 1 not in to_do:
                    heappush(to_do, i + 1)
        return events

    def _settled_by_round(self) -> dict[int, NDArray[np.int64]]:
        """Return the arms that were settled in each round that settled any, in the order in which
        they were named, then by index."""
        settled_in, named = self.settled[0], self.result.representatives[0]
        named = named[named >= 0]
        place = np.full(len(settled_in), len(named))
        place[named] = np.arange(len(named))
        arms = np.flatnonzero(settled_in)
        arms = arms[np.lexsort((place[arms], settled_in[arms]))]
        rounds, starts = np.unique(settled_in[arms], return_index=True)
        return dict(zip(rounds.tolist(), np.split(arms, starts[1:]), strict=bool(len(arms))))

    def _settlements(self, round_: int, arms: NDArray[np.int64]) -> dict[int, list[Event]]:
        """Return the events of arms that were settled in a round, by cluster, counted from 0; as if
        clusters had not been merged."""
        found: dict[int, list[Event]] = {}
        if not len(arms):
            return found
        origin, unit = self.problem.arms.law_units()
        taken, pulls = self.history.pulls[-1][:, arms]
        radii = self.problem.arms.two_sigma * self.algorithm.radius(
            np.full(len(arms), round_), taken, self.problem, self.result.delta
        )
        for arm, home, own, all_, mean, radius in zip(
            arms.tolist(),
            self.settled[1, arms].tolist(),
            taken.tolist(),
            pulls.tolist(),
            (origin + unit * self.history.means[-1, arms]).tolist(),
            radii.tolist(),
            strict=True,
        ):
            i = _cluster(home)
            found.setdefault(i, []).append(
                Event("settled", round_, all_, i + 1, i + 1, arm, mean, radius, own, home >= 0)
            )
        return found

    def _pulls_of(self, round_: int, settled: NDArray[np.int64]) -> int:
        """Return the pulls by a round with an event; where round 1 was skipped, every arm had one
        pull."""
        if len(settled):
            return int(self.history.pulls[-1, 1, settled[0]])
        seen = states_kept(self.history) > 0 and self.history.rounds[0] == round_
        return int(self.history.pulls[0, 1].max()) if seen else self.problem.n_arms


def _cluster(home: int) -> int:
    """Return the cluster that the kernel's note of a settled arm names (see
    `rai_sim.engine.partition`)."""
    return int(home) if home >= 0 else -1 - int(home)
