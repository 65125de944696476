"""trace(): the history of one replication, its numbers unchanged."""

from __future__ import annotations

import html
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rai_sim.algorithms.base import Algorithm
from rai_sim.checks import check_count, short
from rai_sim.engine.blocks import Block, new_block
from rai_sim.engine.faults import MOST_PULLS
from rai_sim.engine.history import new_history, states_kept
from rai_sim.experiment import Experiment
from rai_sim.problem import Problem
from rai_sim.result import Result
from rai_sim.simulate import checked_experiment, simulate
from rai_sim.workers import run_into

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

#: Rounds whose states are kept unless rounds are chosen; fewer, but at least _FEWEST, where they would take much memory.
_ROUNDS, _FEWEST, _MOST_NUMBERS = 200, 20, 4_000_000
#: A notebook shows so many events.
_MOST_SHOWN = 200


@dataclass(frozen=True)
class Event:
    """An arm that was settled, or two clusters that were merged.

    Attributes
    ----------
    kind : {"settled", "merged"}
        What happened.
    round, pulls : int
        When: the round, exactly, and the pulls of all arms by then.
    first_cluster, cluster : int
        The cluster in which the arm was settled, twice; 1 is the best. Where several had been merged, the first and the last of them; of a
        merge, of those that are one from then on.
    arm : int or None
        The caller's index of the arm; None for a merge.
    mean, radius : float
        The arm's empirical mean and confidence radius in that round, in rewards; NaN for a merge.
    arm_pulls : int
        The arm's pulls; 0 for a merge.
    representative : bool
        Whether the arm was named for the cluster: the first r_i settled in cluster i are.
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
        return f"arm {self.arm} settled in {self.where}" + (", representative" if self.representative else "")

    @property
    def where(self) -> str:
        """The clusters in words: cluster 1, clusters 2+3, clusters 4-9."""
        first, last = self.first_cluster, self.cluster
        if first == last:
            return f"cluster {first}"
        return f"clusters {first}{'+' if last == first + 1 else '-'}{last}"


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """One replication's history. `trace` makes it.

    A state is what the check of a round saw, before arms were settled and clusters merged in it. Skipping knows states only where it
    stopped: a state is that of the first such round at or after a chosen one. Events are exact.

    Attributes
    ----------
    result : Result
        The replication, as `simulate` returns it.
    events : tuple of Event
        In order of rounds; within a round cluster by cluster, each cluster's settled arms before its merge. Left out are merges of which
        one side has no open arm, and those in the round that ends the run.
    rounds, pulls : (S,) int64
        Of each state: the round, ascending, and the pulls of all arms by then.
    means, radii : (S, N) float64
        Empirical means and confidence radii, in rewards; of an arm that is settled those of its last check.
    arm_pulls : (S, N) int64
        Pulls of each arm.
    active : (S, N) bool
        Whether the arm took part in the check.
    """

    result: Result
    events: tuple[Event, ...]
    rounds: NDArray[np.int64]
    pulls: NDArray[np.int64]
    means: NDArray[np.float64]
    radii: NDArray[np.float64]
    arm_pulls: NDArray[np.int64]
    active: NDArray[np.bool_]

    @property
    def problem(self) -> Problem:
        """The problem that was simulated."""
        return self.result.problem

    @property
    def algorithm(self) -> Algorithm:
        """The algorithm that was simulated."""
        return self.result.algorithm

    @property
    def replication(self) -> int:
        """The replication's index."""
        return self.result.ranges[0][0]

    @property
    def representatives(self) -> tuple[int, ...]:
        """The arms that were named, grouped by cluster, as in the result; of a capped run those that had been named by then."""
        named = [(event.cluster, event.arm) for event in self.events if event.representative and event.arm is not None]
        return tuple(arm for _, arm in sorted(named, key=lambda one: one[0]))

    def headline(self) -> str:
        """Return in words what was traced, and how it ended.

        Examples
        --------
        >>> import rai_sim as rai
        >>> rai.trace(rai.table_problem(), rai.Butterscotch(), 0.01, 0, 7).headline()
        'Butterscotch(merging=True), delta 0.01, seed 0, replication 7: 10,370 pulls in 1 round, correct'
        """
        run = self.result
        end = ("correct" if run.correct[0] else "WRONG") if run.finished[0] else "stopped at the cap"
        rounds = f"{run.rounds[0]:,} round" + ("" if run.rounds[0] == 1 else "s")
        return (f"{self.algorithm.label}, delta {run.delta:g}, seed {run.seed}, replication {self.replication}: "
                f"{run.pulls[0]:,} pulls in {rounds}, {end}")

    def __repr__(self) -> str:
        """Say what was traced."""
        return f"Trace({self.headline()}; {len(self.events)} events, {len(self.rounds)} states)"

    def events_frame(self) -> pl.DataFrame:
        """Return one row an event.

        Returns
        -------
        polars.DataFrame
            round, pulls, event ("settled" or "merged"), first_cluster and cluster (1 is the best), arm, name, mean and radius (rewards),
            arm_pulls, representative; null where an event has none.

        Examples
        --------
        >>> import rai_sim as rai
        >>> arms = rai.Bernoulli([0.2, 0.9]).with_names(["Solaris", "Stalker"])
        >>> trace = rai.trace(rai.best_arm(arms), rai.Vanilla(), 0.1, seed=0)
        >>> trace.events_frame().select("event", "cluster", "arm", "name", "representative").rows()
        [('settled', 1, 1, 'Stalker', True), ('settled', 2, 0, 'Solaris', False)]
        """
        import polars as pl

        rows = []
        for event in self.events:
            row: list[Any] = [event.round, event.pulls, event.kind, event.first_cluster, event.cluster]
            if event.arm is None:
                rows.append([*row, None, None, None, None, None, None])
            else:
                name = self.problem.arms.name(event.arm)
                rows.append([*row, event.arm, name, event.mean, event.radius, event.arm_pulls, event.representative])
        schema: dict[str, Any] = {
            "round": pl.Int64, "pulls": pl.Int64, "event": pl.String, "first_cluster": pl.Int64, "cluster": pl.Int64, "arm": pl.Int64,
            "name": pl.String,
            "mean": pl.Float64, "radius": pl.Float64, "arm_pulls": pl.Int64, "representative": pl.Boolean,
        }  # fmt: skip
        return pl.DataFrame(rows, schema=schema, orient="row")

    def to_frame(self) -> pl.DataFrame:
        """Return one row a state and arm.

        Returns
        -------
        polars.DataFrame
            round, pulls (of all arms), arm, mean, radius (rewards), arm_pulls, active.

        Examples
        --------
        >>> import rai_sim as rai
        >>> trace = rai.trace(rai.table_problem(), rai.LUCB(), 0.01, seed=0, rounds=[1, 100])
        >>> trace.to_frame().filter(round=1)["arm_pulls"].to_list()
        [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
        """
        import polars as pl

        S, N = self.means.shape
        return pl.DataFrame({
            "round": np.repeat(self.rounds, N), "pulls": np.repeat(self.pulls, N), "arm": np.tile(np.arange(N), S),
            "mean": self.means.ravel(), "radius": self.radii.ravel(), "arm_pulls": self.arm_pulls.ravel(), "active": self.active.ravel(),
        })  # fmt: skip

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the trace (see `rai_sim.plotting.trace`); needs the extra `plot`.

        Examples
        --------
        >>> import rai_sim as rai
        >>> from matplotlib.figure import Figure
        >>> trace = rai.trace(rai.table_problem(), rai.Vanilla(), 0.01, seed=0)
        >>> trace.plot(Figure().subplots()).get_xscale()
        'log'
        """
        from rai_sim import plotting

        return plotting.trace(self, ax)

    def _repr_html_(self) -> str:
        """Return the events as a table, for notebooks."""
        from rai_sim.html_tables import table  # here: only notebooks need it

        columns = ("round", "pulls", "event", "arm's mean", "radius", "arm's pulls")
        rows = [(f"{e.round:,}", f"{e.pulls:,}", *event_cells(self.problem, e)) for e in self.events[:_MOST_SHOWN]]
        left = len(self.events) - len(rows)
        more = f"<p>... and {left:,} more events; events_frame() has all</p>" if left else ""
        return f"<div><p>{html.escape(self.headline())}</p>{table(columns, rows, left=0)}{more}</div>"


def event_cells(problem: Problem, event: Event) -> tuple[str, str, str, str]:
    """Return an event in words, and the arm's mean, radius and pulls as text, for tables."""
    if event.arm is None:
        return str(event), "", "", ""
    words = str(event) if problem.arms.names is None else str(event).replace(f"arm {event.arm}", problem.arms.name(event.arm), 1)
    return words, f"{event.mean:.4f}", f"{event.radius:.4f}", f"{event.arm_pulls:,}"


def trace(
    problem: Problem,
    algorithm: Algorithm,
    delta: float = 0.01,
    seed: int | None = 0,
    replication: int = 0,
    *,
    rounds: ArrayLike | None = None,
    skip_error: float = 1e-12,
    max_pulls: int | None = None,
) -> Trace:
    """Return the history of one replication: what `simulate` does with these arguments, number for number.

    Parameters
    ----------
    problem, algorithm, delta, seed, skip_error, max_pulls
        As in `rai_sim.simulate`; all of them, and the index, decide the numbers.
    replication : int, default 0
        Index of the replication.
    rounds : sequence of int, optional
        Rounds whose states are wanted, each at least 1; some 200 evenly spaced in their logarithm when None. A round that was jumped
        over is stood for by the next one at which the kernel stopped.

    Returns
    -------
    Trace
        Events, and the arms' states.

    Raises
    ------
    TypeError, ValueError, OverflowError
        As `simulate` does; or if `rounds` holds something else than positive integers.

    Examples
    --------
    >>> import rai_sim as rai
    >>> problem = rai.table_problem(task=1)
    >>> trace = rai.trace(problem, rai.Vanilla(), 0.01, seed=0, replication=3)
    >>> trace.result == rai.simulate(problem, rai.Vanilla(), delta=0.01, seed=0, first_replication=3, replications=1)
    True
    >>> for event in trace.events:
    ...     print(event.round, event.pulls, event)
    1 10 clusters 2+3 merged
    118 1180 arm 9 settled in clusters 2+3
    146 1432 arm 8 settled in clusters 2+3
    331 2912 arm 7 settled in clusters 2+3
    354 3073 arm 5 settled in clusters 2+3
    484 3853 arm 6 settled in clusters 2+3
    876 5813 arm 0 settled in cluster 1, representative
    """
    experiment = checked_experiment(problem, algorithm, delta, seed, skip_error, max_pulls)
    index = check_count("replication", replication, 0)
    chosen = None if rounds is None else _check_rounds(rounds)
    return trace_of(experiment, index, chosen)


def trace_of(experiment: Experiment, replication: int, rounds: NDArray[np.int64] | None = None) -> Trace:
    """Return the history of one replication of an experiment; `rounds` as in `trace`, ascending."""
    e = experiment
    result = simulate(e.problem, e.algorithm, delta=e.delta, replications=1, seed=e.seed, skip_error=e.skip_error,
                      max_pulls=e.max_pulls, first_replication=replication)
    if rounds is None:
        number = max(_FEWEST, min(_ROUNDS, _MOST_NUMBERS // e.problem.n_arms))
        rounds = np.unique(np.geomspace(1.0, max(int(result.rounds[0]), 1), number).round().astype(np.int64))
    block = _traced(experiment, replication, rounds)
    if not (block.pulls[0] == result.pulls[0] and block.rounds[0] == result.rounds[0]
            and np.array_equal(block.representatives, result.representatives)):
        raise RuntimeError("tracing changed the replication; this is a defect of rai_sim, please report it")
    return read_trace(result, block, rounds)


def read_trace(result: Result, block: Block, rounds: NDArray[np.int64]) -> Trace:
    """Return the trace of a result of one replication, with states at some rounds, from the block that a kernel wrote its history into."""
    return _Reader(result, block).read(rounds)


def arm_pulls(result: Result, replications: int = 100) -> NDArray[np.int64]:
    """Return the pulls of each arm in the first finished replications of a result, which are run again for it.

    Parameters
    ----------
    result : Result
        What `simulate` or a study returned.
    replications : int, default 100
        How many at most.

    Returns
    -------
    (R, N) int64
        Row sums are the replications' pulls.

    Raises
    ------
    TypeError, ValueError
        If `replications` is no positive integer; ValueError for an algorithm that keeps no history.

    Examples
    --------
    >>> import rai_sim as rai
    >>> result = rai.simulate(rai.table_problem(), rai.LUCB(), replications=50, seed=0)
    >>> pulls = rai.arm_pulls(result, 20)
    >>> pulls.shape, bool((pulls.sum(axis=1) == result.pulls[:20]).all())
    ((20, 10), True)
    """
    wanted = check_count("replications", replications, 1)
    indices = result.replication_index[result.finished][:wanted]
    found = np.empty((len(indices), result.problem.n_arms), np.int64)
    for row, index in enumerate(indices.tolist()):
        block = _traced(result.experiment, index, np.empty(0, np.int64))
        found[row] = block.history.pulls[-1, 0]
        if found[row].sum() != block.pulls[0]:
            raise ValueError(f"algorithm {result.algorithm.label} keeps no pulls by arm: its kernel does not write block.history "
                             "(see rai_sim.engine.history)")
    return found


def _check_rounds(rounds: ArrayLike) -> NDArray[np.int64]:
    remedy = "give rounds from 1 on, such as [1, 10, 100]"
    values = np.asarray(rounds)
    if values.size and values.dtype.kind not in "iu":
        raise TypeError(f"rounds is {short.repr(rounds)}; {remedy}")
    if values.ndim != 1 or not values.size or values.min() < 1 or values.max() > MOST_PULLS:
        raise ValueError(f"rounds is {short.repr(rounds)}; {remedy}, up to 2^62")
    return np.unique(values.astype(np.int64))


def _traced(experiment: Experiment, replication: int, rounds: NDArray[np.int64]) -> Block:
    """Run one replication with its history; round 1 is always asked for, as clusters may merge in it."""
    problem = experiment.problem
    block = new_block(1, sum(problem.required), problem.n_arms, new_history(np.union1d(rounds, [1]), problem.n_arms))
    run_into(experiment, replication, block)
    return block


class _Clusters:
    """Open sizes and outputs that are missing, as steps 3 and 4 of the round-robin loop leave them; clusters count from 0 here."""

    def __init__(self, problem: Problem) -> None:
        self.sizes, self.missing = list(problem.clusters), list(problem.required)
        self.missing_in_all = sum(self.missing)
        self.first = list(range(1, len(self.sizes) + 1))  # of the clusters that are merged into each, counted from 1
        self.met = False  # whether the last merge brought open arms of both together

    def settle(self, i: int, representative: bool) -> None:
        """Take an arm out of cluster i."""
        self.sizes[i] -= 1
        self.missing[i] -= representative
        self.missing_in_all -= representative

    def merge_with_previous(self, i: int) -> bool:
        """Merge cluster i - 1 into i if both have all they were asked for; whether that moved any arm."""
        if not 0 < i < len(self.sizes) or self.missing[i - 1] or self.missing[i] or not self.sizes[i - 1]:
            return False
        self.met = self.sizes[i] > 0
        self.first[i] = self.first[i - 1]
        self.sizes[i - 1], self.sizes[i] = 0, self.sizes[i - 1] + self.sizes[i]
        return True


class _Reader:
    """From what a kernel wrote to a trace."""

    def __init__(self, result: Result, block: Block) -> None:
        self.result, self.history = result, block.history
        self.problem, self.algorithm = result.problem, result.algorithm
        self.settled = block.settled[0]

    def read(self, chosen: NDArray[np.int64]) -> Trace:
        """Return the trace."""
        rounds, rows = self._states(chosen)
        history, settled_in = self.history, self.settled[0]
        active = (settled_in == 0) | (settled_in >= rounds[:, None])
        origin, unit = self.problem.arms.law_units()
        pulls = history.pulls[rows, 0]
        # An arm that is settled keeps the interval of its last check.
        checked = np.where(active, rounds[:, None], settled_in)
        return Trace(
            self.result, tuple(self._events()), rounds, history.pulls[rows, 1].max(axis=1, initial=0),
            origin + unit * history.means[rows], self._radius(checked, pulls), pulls, active,
        )  # fmt: skip

    def _states(self, chosen: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[int]]:
        """Return the rounds and the rows of the states that stand for chosen rounds, and of a finished run's end, which was seen last."""
        kept, end = states_kept(self.history), int(self.result.rounds[0])
        standing = np.searchsorted(self.history.rounds[:kept], chosen)
        rows = np.unique(standing[standing < kept]).tolist()
        rounds = self.history.rounds[rows].tolist()
        if self.result.finished[0] and (not rounds or rounds[-1] < end):
            rounds.append(end)
            rows.append(len(self.history.rounds))
        return np.array(rounds, np.int64), rows

    def _radius(self, rounds: NDArray[np.int64], pulls: NDArray[np.int64]) -> NDArray[np.float64]:
        return self.algorithm.radius(rounds, pulls, self.problem.n_arms, self.result.delta)

    def _events(self) -> list[Event]:
        """Return the events: the settled arms are known, and merges follow from which clusters had all they were asked for."""
        merging = bool(getattr(self.algorithm, "merging", False))
        by_round = {r: list(arms) for r, arms in groupby(self._settled_in_order(), key=lambda arm: int(self.settled[0, arm]))}
        if merging and self.result.rounds[0] > 0:
            by_round.setdefault(1, [])  # clusters of which nothing is asked merge at once
        clusters, events = _Clusters(self.problem), []
        for r in sorted(by_round):
            here = self._events_of_round(r, by_round[r], clusters, merging)
            over = not clusters.missing_in_all  # then merges change nothing any more
            events += [event for event in here if event.arm is not None or not over]
        return events

    def _events_of_round(self, round_: int, settled: list[int], clusters: _Clusters, merging: bool) -> list[Event]:
        """Return a round's events, cluster after cluster: its settled arms, then its merge with the one before."""
        events, pulls = [], self._pulls_of(round_, settled)
        arms_of: dict[int, list[int]] = {}
        for arm in settled:
            arms_of.setdefault(_cluster(self.settled[1, arm]), []).append(arm)
        # Only clusters that changed can be merged with a neighbour; in round 1 any can.
        to_do = list(range(len(clusters.sizes))) if round_ == 1 else sorted({*arms_of, *(i + 1 for i in arms_of)})
        while to_do:
            i = heappop(to_do)
            for arm in arms_of.pop(i, ()):
                events.append(self._settlement(arm, clusters.first[i], i + 1))
                clusters.settle(i, events[-1].representative)
            if merging and clusters.merge_with_previous(i):
                if clusters.met:
                    events.append(Event("merged", round_, pulls, clusters.first[i], i + 1))
                if i + 1 not in to_do:
                    heappush(to_do, i + 1)
        return events

    def _settled_in_order(self) -> list[int]:
        """Return the settled arms by round, those of one round in the order in which they were named, then by index."""
        named = self.result.representatives[0].tolist()
        place = {arm: i for i, arm in enumerate(named)}
        arms = np.flatnonzero(self.settled[0]).tolist()
        return sorted(arms, key=lambda arm: (int(self.settled[0, arm]), place.get(arm, len(named))))

    def _settlement(self, arm: int, first: int, cluster: int) -> Event:
        round_, home = self.settled[:, arm].tolist()
        origin, unit = self.problem.arms.law_units()
        taken, pulls = self.history.pulls[-1, :, arm].tolist()
        mean, radius = origin + unit * float(self.history.means[-1, arm]), float(self._radius(np.array(round_), np.array(taken)))
        return Event("settled", round_, pulls, first, cluster, arm, mean, radius, taken, home >= 0)

    def _pulls_of(self, round_: int, settled: list[int]) -> int:
        """Return the pulls by a round with an event; where round 1 was skipped, every arm had one pull."""
        if settled:
            return int(self.history.pulls[-1, 1, settled[0]])
        seen = states_kept(self.history) > 0 and self.history.rounds[0] == round_
        return int(self.history.pulls[0, 1].max()) if seen else self.problem.n_arms


def _cluster(home: int) -> int:
    """Return the cluster that the kernel's note of a settled arm names (see `rai_sim.engine.partition`)."""
    return int(home) if home >= 0 else -1 - int(home)
