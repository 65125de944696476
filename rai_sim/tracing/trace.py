"""trace(): the history of one replication, its numbers unchanged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rai_sim.algorithms.base import Algorithm
from rai_sim.engine.blocks import Block
from rai_sim.engine.faults import MOST_PULLS
from rai_sim.engine.history import History, states_kept
from rai_sim.problem import Problem
from rai_sim.simulation.experiment import Experiment
from rai_sim.simulation.result import Result
from rai_sim.simulation.simulate import checked_experiment, simulate
from rai_sim.support.checks import check_count, short
from rai_sim.support.columns import cells, titles
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError
from rai_sim.support.values import integers
from rai_sim.support.wording import and_more, count
from rai_sim.tracing.events import Event, event_columns, events_frame, read_events
from rai_sim.tracing.history import run_with_history

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

#: Rounds whose states are kept unless rounds are chosen; fewer, but at least _FEWEST (the first, the
#: last and one between them), where they would take much memory: of a million arms four.
_ROUNDS, _FEWEST, _MOST_NUMBERS = 200, 3, 4_000_000
#: A notebook shows so many events.
_MOST_SHOWN = 200


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """One replication's history. `trace` makes it.

    A state is what the check of a round saw, before arms were settled and clusters merged in it.
    Skipping knows states only where it stopped: a state is that of the first such round at or after
    a chosen one. The last state is that of the round that ended the run, also at a cap. Events are
    exact.

    Attributes
    ----------
    result : Result
        The replication, as `simulate` returns it.
    events : tuple of Event
        In order of rounds; within a round cluster by cluster, each cluster's settled arms before
        its merge. Left out are merges of which one side has no open arm, and those in the round
        that ends the run.
    rounds, pulls : (S,) int64
        Of each state: the round, ascending, and the pulls of all arms by then.
    means, radii : (S, N) float64
        Empirical means and confidence radii, in rewards; of an arm that is settled those of its
        last check.
    arm_pulls : (S, N) int64
        Pulls of each arm.
    active : (S, N) bool
        Whether the arm took part in the check.

    Examples
    --------
    >>> import rai_sim as rai
    >>> rai.trace(rai.table_problem(), rai.Butterscotch(), 0.01, seed=0)
    Trace(Butterscotch(merging=True), delta 0.01, seed 0, replication 0: 10,370 pulls in 1 round, correct; ... events, 1 state)
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
        """The arms that were named, grouped by cluster, as in the result; of a capped run those
        that had been named by then."""
        named = [
            (event.cluster, event.arm)
            for event in self.events
            if event.representative and event.arm is not None
        ]
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
        end = ("correct" if run.correct[0] else "WRONG") if run.finished[0] else run.unfinished
        return (
            f"{self.algorithm.label}, delta {run.delta:g}, seed {run.seed}, replication "
            f"{self.replication}: "
            f"{count(int(run.pulls[0]), 'pull')} in {count(int(run.rounds[0]), 'round')}, {end}"
        )

    def __repr__(self) -> str:
        """Say what was traced."""
        found = f"{count(len(self.events), 'event')}, {count(len(self.rounds), 'state')}"
        return f"Trace({self.headline()}; {found})"

    def events_frame(self) -> pl.DataFrame:
        """Return one row an event.

        Returns
        -------
        polars.DataFrame
            round, pulls, event ("settled" or "merged"), first_cluster and cluster (1 is the best),
            arm, name, mean and radius (rewards), arm_pulls, representative; null where an event has
            none.

        Examples
        --------
        >>> import rai_sim as rai
        >>> arms = rai.Bernoulli([0.2, 0.9]).with_names(["Solaris", "Stalker"])
        >>> trace = rai.trace(rai.best_arm(arms), rai.Vanilla(), 0.1, seed=0)
        >>> trace.events_frame().select("event", "cluster", "arm", "name", "representative").rows()
        [('settled', 1, 1, 'Stalker', True), ('settled', 2, 0, 'Solaris', False)]
        """
        return events_frame(self.events, self.problem)

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
        return pl.DataFrame(
            {
                "round": np.repeat(self.rounds, N),
                "pulls": np.repeat(self.pulls, N),
                "arm": np.tile(np.arange(N), S),
                "mean": self.means.ravel(),
                "radius": self.radii.ravel(),
                "arm_pulls": self.arm_pulls.ravel(),
                "active": self.active.ravel(),
            }
        )

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
        from rai_sim.support import html_tables  # here: only notebooks need it

        columns = event_columns(self.problem).pick(
            "round", "pulls", "event", "mean", "radius", "arm_pulls"
        )
        rows = [cells(columns, event) for event in self.events[:_MOST_SHOWN]]
        left = len(self.events) - len(rows)
        more = and_more(left, "event", "events_frame() has all")
        return html_tables.block(
            self.headline(),
            html_tables.table(titles(columns), rows, left=0),
            html_tables.line(more),
        )


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
    """Return the history of one replication: what `simulate` does with these arguments, number for
    number.

    Parameters
    ----------
    problem, algorithm, delta, seed, skip_error, max_pulls
        As in `rai_sim.simulation.simulate`; all of them, and the index, decide the numbers.
    replication : int, default 0
        Index of the replication.
    rounds : sequence of int, optional
        Rounds whose states are wanted, each at least 1; when None some 200, evenly spaced in their
        logarithm, fewer of more than 20,000 arms (four of a million). A round that was jumped
        over is stood for by the next one at which the kernel stopped; the last round of the run
        is there as well.

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


def trace_of(
    experiment: Experiment, replication: int, rounds: NDArray[np.int64] | None = None
) -> Trace:
    """Return the history of one replication of an experiment; `rounds` as in `trace`, ascending."""
    e = experiment
    result = simulate(
        e.problem,
        e.algorithm,
        delta=e.delta,
        replications=1,
        seed=e.seed,
        skip_error=e.skip_error,
        max_pulls=e.max_pulls,
        first_replication=replication,
    )
    if rounds is None:
        number = max(_FEWEST, min(_ROUNDS, _MOST_NUMBERS // e.problem.n_arms))
        rounds = np.unique(
            np.geomspace(1.0, max(int(result.rounds[0]), 1), number).round().astype(np.int64)
        )
    block = run_with_history(experiment, replication, rounds)
    if not (
        block.pulls[0] == result.pulls[0]
        and block.rounds[0] == result.rounds[0]
        and np.array_equal(block.representatives, result.representatives)
    ):
        raise RuntimeError(
            "tracing changed the replication; this is a defect of rai_sim, please report it"
        )
    return read_trace(result, block, rounds)


def read_trace(result: Result, block: Block, rounds: NDArray[np.int64]) -> Trace:
    """Return the trace of a result of one replication, with states at some rounds, from the block
    that a kernel wrote its history into."""
    seen_in, rows = _states(result, block.history, rounds)
    history, settled_in, problem = block.history, block.settled[0, 0], result.problem
    active = (settled_in == 0) | (settled_in >= seen_in[:, None])
    origin, unit = problem.arms.law_units()
    pulls = history.pulls[rows, 0]
    # An arm that is settled keeps the interval of its last check.
    checked = np.where(active, seen_in[:, None], settled_in)
    return Trace(
        result,
        read_events(result, block),
        seen_in,
        history.pulls[rows, 1].max(axis=1, initial=0),
        origin + unit * history.means[rows],
        problem.arms.two_sigma * result.algorithm.radius(checked, pulls, problem, result.delta),
        pulls,
        active,
    )


def _states(
    result: Result, history: History, chosen: NDArray[np.int64]
) -> tuple[NDArray[np.int64], list[int]]:
    """Return the rounds and the rows of the states that stand for chosen rounds, and of the run's end,
    which was seen last; but for algorithms that keep no history, and where a cap lets no round be
    made."""
    kept, end = states_kept(history), int(result.rounds[0])
    standing = np.searchsorted(history.rounds[:kept], chosen)
    rows = np.unique(standing[standing < kept]).tolist()
    rounds = history.rounds[rows].tolist()
    seen = end > 0 and int(history.pulls[-1, 0].sum()) == int(result.pulls[0])
    if seen and (not rounds or rounds[-1] < end):
        rounds.append(end)
        rows.append(len(history.rounds))
    return np.array(rounds, np.int64), rows


def _check_rounds(rounds: ArrayLike) -> NDArray[np.int64]:
    remedy = "give rounds from 1 on, such as [1, 10, 100]"
    try:
        values = integers("rounds", rounds)
    except TypeError:
        nested = isinstance(rounds, list | tuple) and any(
            isinstance(item, list | tuple | np.ndarray) for item in rounds
        )
        table = nested or getattr(rounds, "ndim", 1) != 1
        error = ArgumentValueError if table else ArgumentTypeError
        raise error("rounds", f"rounds is {short.repr(rounds)}; {remedy}") from None
    if not values or min(values) < 1 or max(values) > MOST_PULLS:
        raise ArgumentValueError("rounds", f"rounds is {short.repr(rounds)}; {remedy}, up to 2^62")
    return np.unique(np.array(values, np.int64))
