"""How often an algorithm would be right after so many pulls: a curve with a band, from one run of
each replication.

A replication goes on from one number of pulls to the next; what it recommends at each is written
down on the way (`rai_sim.engine.recommendations`). So the curve costs what one run to its last
number costs, and the sums at the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rai_sim.algorithms.base import Algorithm
from rai_sim.engine.blocks import new_block
from rai_sim.problem import Problem
from rai_sim.simulation.at_cap import is_right
from rai_sim.simulation.experiment import Experiment
from rai_sim.simulation.intervals import clopper_pearson
from rai_sim.simulation.parts import next_size, run_part
from rai_sim.simulation.simulate import checked_experiment
from rai_sim.simulation.workers import effective_workers, spread
from rai_sim.support.checks import check_count, check_switch, check_workers
from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.values import integers, real
from rai_sim.support.wording import interrupted, short

if TYPE_CHECKING:
    import polars as pl

#: Numbers of pulls in one curve, at most: a replication keeps what it recommends at each.
_MOST = 1000


@dataclass(frozen=True, eq=False, repr=False)
class SuccessCurve:
    """How often an algorithm is right if it is asked after so many pulls, as `success_by` finds it.

    Attributes
    ----------
    experiment : Experiment
        What was run; its `max_pulls` is the last number of pulls.
    replications : int
        R.
    pulls : (K,) int64
        Numbers of pulls, ascending.
    right : (K,) int64
        Replications whose recommendation within so many pulls is right (`Result.recommended` says
        what that is); of those that stopped before it is what they named.
    stopped : (K,) int64
        Replications that had stopped by themselves within so many pulls.

    Examples
    --------
    >>> import rai_sim as rai
    >>> curve = rai.success_by(rai.table_problem(1), rai.LUCB(), pulls=[100, 10_000], replications=200)
    >>> curve.pulls.tolist(), bool(curve.right[0] < curve.right[1]), curve.stopped[0].item()
    ([100, 10000], True, 0)
    """

    experiment: Experiment
    replications: int
    pulls: NDArray[np.int64]
    right: NDArray[np.int64]
    stopped: NDArray[np.int64]

    @property
    def share(self) -> NDArray[np.float64]:
        """Estimates of the probability to be right, (K,) float64."""
        return self.right / self.replications

    def band(
        self, confidence: float = 0.95, *, simultaneous: bool = False
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the lower and upper ends of Clopper and Pearson's intervals of the probabilities
        to be right, exact for any number of replications.

        Parameters
        ----------
        confidence : float, default 0.95
            With which probability an interval holds what it is of, at least.
        simultaneous : bool, default False
            Whether that is so of all intervals of the curve at once (Bonferroni), not of each alone.

        Returns
        -------
        two (K,) float64
            Lower and upper ends.

        Raises
        ------
        ValueError
            If `confidence` is not between 0 and 1.

        Examples
        --------
        >>> import rai_sim as rai
        >>> curve = rai.success_by(rai.table_problem(2), rai.Vanilla(), pulls=[100, 1000], replications=200)
        >>> low, high = curve.band()
        >>> bool((low < curve.share).all() and (curve.share <= high).all())
        True
        """
        check_switch("simultaneous", simultaneous)
        if not 0.0 < real("confidence", confidence) < 1.0:
            raise ArgumentValueError(
                "confidence", f"confidence is {confidence}; give a probability such as 0.95"
            )
        level = 1.0 - (1.0 - confidence) / (len(self.pulls) if simultaneous else 1)
        ends = [clopper_pearson(hits, self.replications, level) for hits in self.right.tolist()]
        low, high = np.array(ends).T
        return low, high

    def to_frame(self, confidence: float = 0.95, *, simultaneous: bool = False) -> pl.DataFrame:
        """Return one row a number of pulls, as a polars frame.

        Returns
        -------
        polars.DataFrame
            algorithm, delta, pulls, replications, right, stopped (numbers of replications), share,
            low, high (as `band` has them), and error_rate, which is 1 less the share.

        Examples
        --------
        >>> import rai_sim as rai
        >>> curve = rai.success_by(rai.table_problem(2), rai.Vanilla(), pulls=[100, 1000], replications=200)
        >>> curve.to_frame().columns
        ['algorithm', 'delta', 'pulls', 'replications', 'right', 'stopped', 'share', 'low', 'high', 'error_rate']
        """
        import polars as pl

        low, high = self.band(confidence, simultaneous=simultaneous)
        return pl.DataFrame(
            {
                "algorithm": [self.experiment.algorithm.label] * len(self.pulls),
                "delta": self.experiment.delta,
                "pulls": self.pulls,
                "replications": self.replications,
                "right": self.right,
                "stopped": self.stopped,
                "share": self.share,
                "low": low,
                "high": high,
                "error_rate": 1.0 - self.share,
            }
        )

    def __repr__(self) -> str:
        """Say what was run, and how far it came."""
        e, share = self.experiment, self.share
        return (
            f"SuccessCurve({e.algorithm.label}, delta={e.delta}, replications={self.replications}, "
            f"right {share[0]:.3g} at {self.pulls[0]:,} pulls to {share[-1]:.3g} at "
            f"{self.pulls[-1]:,})"
        )


class SuccessInterrupted(KeyboardInterrupt):
    """Ctrl-C during `success_by`; `.curve` is that of the finished replications, or None if there is
    none.

    Examples
    --------
    >>> import rai_sim as rai
    >>> curve = rai.success_by(rai.table_problem(2), rai.Vanilla(), pulls=[100], replications=20)
    >>> try:
    ...     raise rai.SuccessInterrupted(curve)  # as Ctrl-C does
    ... except rai.SuccessInterrupted as stopped:
    ...     print(stopped)
    interrupted; in this exception's .curve: 20 finished replications
    """

    def __init__(self, curve: SuccessCurve | None) -> None:
        """Keep what was finished."""
        finished = 0 if curve is None else curve.replications
        super().__init__(interrupted(finished, "in this exception's .curve"))
        self.curve = curve


def success_by(
    problem: Problem,
    algorithm: Algorithm,
    *,
    pulls: ArrayLike,
    delta: float = 0.01,
    replications: int = 1000,
    seed: int | None = 0,
    n_jobs: int | None = 1,
    skip_error: float = 1e-12,
) -> SuccessCurve:
    """Return how often an algorithm is right if it is asked after so many pulls.

    Each replication is run once, to the last number of pulls, and recommends at each on its way:
    what `Result.recommended` of a simulation with this cap would be. Its numbers are a function of
    (seed, replication) and `pulls`: a stretch of rounds that would be skipped in one is cut at each
    of them, so that replications differ from those of `simulate`, whose law they have.

    Parameters
    ----------
    problem, algorithm, delta, replications, seed, n_jobs, skip_error
        As in `rai_sim.simulate`; the streams are those of its replications.
    pulls : (K,) array of int
        Numbers of pulls, at least 1 each, at most 1,000 of them; sorted, equal ones once.

    Returns
    -------
    SuccessCurve
        Counts by number of pulls, with a band and a frame; `rai_sim.plotting.success` draws some.

    Raises
    ------
    TypeError, ValueError
        As `simulate` does; if `pulls` is no list of positive integers; or of an algorithm of your
        own that recommends nothing (its kernel does not call `record_recommendations`).
    SuccessInterrupted
        On Ctrl-C, with what was finished.

    Examples
    --------
    >>> import rai_sim as rai
    >>> problem = rai.best_arm(rai.Bernoulli([0.7, 0.5, 0.4]))
    >>> curve = rai.success_by(problem, rai.Vanilla(), pulls=[3, 30, 300], replications=2000)
    >>> curve.pulls.tolist(), bool((np.diff(curve.right) > 0).all())
    ([3, 30, 300], True)
    """
    caps = _checked(pulls)
    count = check_count("replications", replications, 1)
    experiment = checked_experiment(problem, algorithm, delta, seed, skip_error, caps[-1])
    jobs = check_workers(n_jobs)
    numbers = np.array(caps, np.int64)
    seen = SuccessCurve(experiment, 0, numbers, 0 * numbers, 0 * numbers)
    try:
        for found in _run(experiment, caps, count, jobs):
            right, stopped = seen.right + found.right, seen.stopped + found.stopped
            # one assignment: an interrupt finds all of it, or nothing
            seen = SuccessCurve(
                experiment, seen.replications + found.replications, numbers, right, stopped
            )
    except KeyboardInterrupt:
        raise SuccessInterrupted(seen if seen.replications else None) from None
    return seen


class _Found(NamedTuple):
    """Of some replications: their number, how many are right, and have stopped, at each number of
    pulls, and seconds."""

    replications: int
    right: NDArray[np.int64]
    stopped: NDArray[np.int64]
    seconds: float


def _run(
    experiment: Experiment, caps: Sequence[int], count: int, n_jobs: int | None
) -> Iterator[_Found]:
    """Yield what is found in parts: a first replication here, which compiles what is missing, then
    parts that take some tenths of a second."""
    run = partial(_part, experiment, tuple(caps))
    start, size = 0, 1
    workers = effective_workers(n_jobs)
    while start < count and (workers == 1 or start == 0):
        stop = min(start + size, count)
        found = run((start, stop))
        yield found
        size, start = next_size(stop - start, found.seconds), stop
    size = max(1, min(size, -(-(count - start) // (8 * workers))))
    yield from spread(
        run, ((at, min(at + size, count)) for at in range(start, count, size)), n_jobs
    )


def _part(experiment: Experiment, caps: Sequence[int], rows: tuple[int, int]) -> _Found:
    """Run replications, and count."""
    problem, (start, stop), count = experiment.problem, rows, rows[1] - rows[0]
    right, stopped, seconds = np.zeros(len(caps), np.int64), np.zeros(len(caps), np.int64), 0.0
    while start < stop:
        block = new_block(stop - start, sum(problem.required), budgets=caps)
        part = run_part(experiment, start, block, 0, stop - start)
        done = slice(0, part.finished)
        named = block.recommended[done]
        if (named < 0).any():
            raise ArgumentValueError(
                "algorithm",
                f"algorithm {experiment.algorithm.label} recommends nothing at a cap: its kernel does "
                "not call record_recommendations (see rai_sim.engine.recommendations)",
            )
        right += is_right(problem, named).sum(axis=0)
        over = block.finished[done, None] & (block.pulls[done, None] <= np.array(caps))
        stopped += over.sum(axis=0)
        start, seconds = start + part.finished, seconds + part.seconds
    return _Found(count, right, stopped, seconds)


def _checked(pulls: ArrayLike) -> list[int]:
    """Return the numbers of pulls, ascending, each once."""
    remedy = "give numbers of pulls from 1 on, such as [100, 1000, 10000]"
    values = sorted(set(integers("pulls", pulls, "numbers of pulls, such as [100, 1000]")))
    if not values or values[0] < 1 or values[-1] > 1 << 62:
        raise ArgumentValueError("pulls", f"pulls is {short.repr(pulls)}; {remedy}, up to 2^62")
    if len(values) > _MOST:
        raise ArgumentValueError(
            "pulls", f"pulls has {len(values)} numbers; give at most {_MOST}, as np.geomspace does"
        )
    return values
