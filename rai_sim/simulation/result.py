"""What a simulation gives back: one row a replication, and the experiment the rows belong to."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.base import Algorithm
from rai_sim.problem import Problem
from rai_sim.simulation.arm_pulls import by_arm_frame
from rai_sim.simulation.at_cap import is_right
from rai_sim.simulation.experiment import Experiment as Experiment
from rai_sim.simulation.merging import joined, kept_by_all, refuse_other_experiment
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError
from rai_sim.support.values import entries
from rai_sim.support.wording import short

if TYPE_CHECKING:
    import polars as pl

    from rai_sim.simulation.summary import Summary

#: The arrays with one row a replication, and their types.
_COLUMNS: dict[str, type[np.generic]] = {
    "pulls": np.int64,
    "rounds": np.int64,
    "correct": np.bool_,
    "finished": np.bool_,
    "representatives": np.int32,
    "arm_pulls": np.int64,
    "recommended": np.int32,
}
#: Not there where they were not asked for.
_KEPT = ("arm_pulls", "arm_pulls_sum", "recommended")


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """Simulated replications of one experiment, in ascending order of their indices.

    `simulate` makes them. Results of one experiment with disjoint replications merge: `a + b`,
    `sum([...])`, or, for many at once, `Result.merge`. Two results are equal if experiment,
    replications and all rows are; the time spent does not count. The arrays are read-only.

    Parameters
    ----------
    experiment : Experiment
        What was run.
    ranges : sequence of (int, int)
        Half-open ranges of replication indices that the rows belong to, in ascending order; kept as
        a tuple, adjacent ranges joined.
    pulls : (R,) int64
        Pulls until the stop, or until the cap.
    rounds : (R,) int64
        Rounds until the stop, or until the cap.
    correct : (R,) bool
        Whether every representative belongs to its cluster; False where not finished.
    finished : (R,) bool
        False where max_pulls ended the replication: it counts neither as right nor as wrong.
    representatives : (R, sum of required) int32
        The caller's arm indices, grouped by cluster, best cluster first; -1 where not finished.
    seconds : float
        Wall time spent, compiling kernels left out, added up by merges.
    compile_seconds : float
        Wall time spent compiling kernels in this process, added up by merges; 0 where they were on
        disk.
    arm_pulls : (R, N) int64, optional
        Pulls of each arm, by the caller's index, whose row sums are `pulls`; None unless simulated
        with keep="arm_pulls".
    arm_pulls_sum : (N,) int64, optional
        Their sums over the finished replications; None unless with keep="arm_pulls_sum".
    recommended : (R, sum of required) int32, optional
        The arms named as it stood at the end: of replications that max_pulls ended, the answer that
        the algorithm would have given then. Arms that were settled stay where they were named. The
        others are ranked by empirical mean, equal ones at random, and the ranking is cut into what
        is left of the clusters; of each part those arms are taken, as many as are lacking, whose
        means are farthest from those of the parts beside it. So it is for Vanilla, Butterscotch,
        LUCB and rules of your own; TopTwo and BatchedTrackAndStop recommend their leader: the
        arms that would cost most to make wrong, had all as many pulls. None where it was not
        kept, or an algorithm of your own recommends nothing; without a cap it is what was named.

    Raises
    ------
    ValueError
        If ranges overlap or are empty, an array does not have one row a replication, or the sums
        not one an arm.

    Examples
    --------
    >>> import rai_sim as rai
    >>> problem = rai.table_problem(task=1)
    >>> first = rai.simulate(problem, rai.Butterscotch(), replications=30, seed=0)
    >>> rest = rai.simulate(problem, rai.Butterscotch(), replications=70, seed=0, first_replication=30)
    >>> first + rest == rai.simulate(problem, rai.Butterscotch(), replications=100, seed=0)
    True
    >>> (first + rest).ranges
    ((0, 100),)
    """

    experiment: Experiment
    ranges: tuple[tuple[int, int], ...]
    pulls: NDArray[np.int64]
    rounds: NDArray[np.int64]
    correct: NDArray[np.bool_]
    finished: NDArray[np.bool_]
    representatives: NDArray[np.int32]
    seconds: float = 0.0
    compile_seconds: float = 0.0
    arm_pulls: NDArray[np.int64] | None = None
    arm_pulls_sum: NDArray[np.int64] | None = None
    recommended: NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        """Join ranges, protect the arrays and check that they fit."""
        ranges = joined(self.ranges)
        object.__setattr__(self, "ranges", ranges)
        replications = sum(stop - start for start, stop in ranges)
        if self.experiment.max_pulls is None:
            object.__setattr__(self, "recommended", self.representatives)
        arms, named = (self.problem.n_arms,), (sum(self.problem.required),)
        widths = {"representatives": named, "recommended": named, "arm_pulls": arms}
        shapes = {name: (replications, *widths.get(name, ())) for name in _COLUMNS}
        for name, shape in (shapes | {"arm_pulls_sum": arms}).items():
            if name in _KEPT and getattr(self, name) is None:
                continue
            dtype = _COLUMNS.get(name, np.int64)
            # A view, so that the caller's own array stays writable.
            array: NDArray[Any] = np.asarray(getattr(self, name), dtype=dtype).view()
            if array.shape != shape:
                raise ArgumentValueError(
                    name,
                    f"{name} has shape {array.shape} but ranges={short.repr(tuple(ranges))} need "
                    f"{shape}; give one row a replication",
                )
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def problem(self) -> Problem:
        """The problem that was simulated."""
        return self.experiment.problem

    @property
    def algorithm(self) -> Algorithm:
        """The algorithm that was simulated."""
        return self.experiment.algorithm

    @property
    def delta(self) -> float:
        """The error probability the algorithm was run with."""
        return self.experiment.delta

    @property
    def seed(self) -> int:
        """The seed; the drawn one if `simulate` was given None."""
        return self.experiment.seed

    @property
    def unfinished(self) -> str:
        """What became of a replication that is not finished, in words."""
        return "not finished" if self.experiment.max_pulls is None else "stopped at the cap"

    @property
    def recommended_correct(self) -> NDArray[np.bool_]:
        """Whether every recommended arm belongs to its cluster, (R,) bool: 1 less its mean is the
        error rate at `max_pulls` pulls. ValueError where recommendations were not kept."""
        if self.recommended is None:
            raise ArgumentValueError(
                "recommended",
                "recommended was not kept in this result; simulate it again, or give the frame it "
                "was made of that column",
            )
        return is_right(self.problem, self.recommended)

    @property
    def replications(self) -> int:
        """Number of replications R."""
        return len(self.pulls)

    @property
    def replication_index(self) -> NDArray[np.int64]:
        """Index of each row's replication, (R,) int64, ascending; made anew at each use."""
        return np.concatenate(
            [np.arange(start, stop, dtype=np.int64) for start, stop in self.ranges]
        )

    @classmethod
    def merge(cls, results: Iterable[Result]) -> Result:
        """Return the union of results of one experiment, in one pass over all rows.

        Parameters
        ----------
        results : iterable of Result
            At least one, with disjoint replications, in any order.

        Raises
        ------
        TypeError
            If one is something else.
        ValueError
            If there is none, if experiments differ (naming in what), if replications are in two
            results (naming them), or if some keep pulls by arm and others none.

        Examples
        --------
        >>> import rai_sim as rai
        >>> problem = rai.table_problem(task=1)
        >>> parts = [rai.simulate(problem, rai.Butterscotch(), replications=10, seed=0, first_replication=k)
        ...          for k in (20, 0, 10)]
        >>> rai.Result.merge(parts).replications
        30
        """
        parts: list[Result] = entries("results", results, "results", "result", Result, "a Result")
        for part in parts:
            refuse_other_experiment(parts[0].experiment, part.experiment)
        pieces: list[tuple[int, int, Result, int]] = []
        for part in parts:
            row = 0
            for start, stop in part.ranges:
                pieces.append((start, stop, part, row))
                row += stop - start
        pieces.sort(key=lambda piece: piece[:2])
        for (_, stop, _, _), (start, next_stop, _, _) in pairwise(pieces):
            if start < stop:
                last = min(stop, next_stop) - 1
                raise ArgumentValueError(
                    "results",
                    f"cannot merge: replications {start} to {last} are in two results; simulate "
                    "disjoint ranges with first_replication",
                )
        ranges = tuple((start, stop) for start, stop, _, _ in pieces)

        def column(name: str) -> NDArray[Any]:
            return np.concatenate(
                [getattr(part, name)[row : row + b - a] for a, b, part, row in pieces]
            )

        columns = {name: column(name) for name in _COLUMNS if name not in _KEPT}
        by_row, summed = kept_by_all(parts)
        unknown = any(part.recommended is None for part in parts)
        return cls(
            parts[0].experiment,
            ranges,
            **columns,
            arm_pulls=column("arm_pulls") if by_row else None,
            arm_pulls_sum=summed,
            recommended=None if unknown else column("recommended"),
            seconds=sum(part.seconds for part in parts),
            compile_seconds=sum(part.compile_seconds for part in parts),
        )

    def __add__(self, other: Result) -> Result:
        """Merge disjoint replications of one experiment."""
        return Result.merge((self, other)) if isinstance(other, Result) else NotImplemented

    def __radd__(self, other: int) -> Result:
        """Let `sum` start from 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        """Compare experiment, replications and rows."""
        if not isinstance(other, Result):
            return NotImplemented
        if self.ranges != other.ranges or self.experiment != other.experiment:
            return False
        names = [*_COLUMNS, "arm_pulls_sum"]
        if self.recommended is None or other.recommended is None:
            names.remove("recommended")
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)

    # Equal by content that is too long to hash.
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Say what was run, without the rows."""
        return (
            f"Result({self.algorithm.label}, delta={self.delta}, seed={self.seed}, "
            f"replications={self.replications}, finished={np.count_nonzero(self.finished)})"
        )

    def _repr_html_(self) -> str:
        """Return the summary as a table, for notebooks."""
        return self.summary()._repr_html_()

    def summary(self) -> Summary:
        """Return statistics of pulls and errors, with the theory's bounds beside them.

        Returns
        -------
        Summary
            Print it for a text, `to_dict` it for JSON.

        Examples
        --------
        >>> import rai_sim as rai
        >>> result = rai.simulate(rai.table_problem(task=1), rai.Butterscotch(), replications=100, seed=0)
        >>> summary = result.summary()
        >>> summary.mean, summary.standard_error
        (10370.0, 0.0)
        """
        from rai_sim.simulation.summary import summarise  # workers need none

        return summarise(self)

    def to_frame(self) -> pl.DataFrame:
        """Return one row a replication, as a polars frame.

        Returns
        -------
        polars.DataFrame
            replication, pulls, rounds (Int64), correct, finished (Boolean), representatives
            (List(Int32)); arm_pulls (List(Int64)) if it is kept; with a cap also recommended
            (List(Int32)), unless it was not kept.

        Examples
        --------
        >>> import rai_sim as rai
        >>> result = rai.simulate(rai.table_problem(task=1), rai.Butterscotch(), replications=100, seed=0)
        >>> result.to_frame().shape
        (100, 6)
        """
        import polars as pl  # slow to load, and most runs never ask for a frame

        columns: dict[str, Any] = {"replication": self.replication_index}
        columns |= {name: getattr(self, name) for name in _COLUMNS if name not in _KEPT}
        columns["representatives"] = pl.Series(self.representatives).arr.to_list()
        if self.arm_pulls is not None:
            columns["arm_pulls"] = pl.Series(self.arm_pulls).arr.to_list()
        if self.recommended is not None and self.experiment.max_pulls is not None:
            columns["recommended"] = pl.Series(self.recommended).arr.to_list()
        return pl.DataFrame(columns)

    @classmethod
    def from_frame(
        cls,
        frame: pl.DataFrame | pl.LazyFrame,
        problem: Problem,
        algorithm: Algorithm,
        *,
        delta: float = 0.01,
        seed: int = 0,
        skip_error: float = 1e-12,
        max_pulls: int | None = None,
    ) -> Result:
        """Return the result whose rows a frame holds: the inverse of `to_frame`.

        A frame does not tell what was run: it is told by the arguments of `simulate`, with its
        defaults. Whether the rows can be of that problem is checked; whether of that algorithm,
        delta and seed cannot be.

        Parameters
        ----------
        frame : polars.DataFrame or polars.LazyFrame
            One row a replication, in any order, with the columns of `to_frame`; others are passed
            over, so rows of a study's task will do.
        problem, algorithm, delta, seed, skip_error, max_pulls
            As `simulate` was given them; `seed` is `Result.seed` where it was drawn.

        Returns
        -------
        Result
            Of the rows' replications; `seconds` is 0.

        Raises
        ------
        TypeError, ValueError
            If a column is missing, of another kind, or holds what cannot be of this problem and
            cap, naming the column; or as `simulate` does.

        Examples
        --------
        >>> import rai_sim as rai
        >>> result = rai.simulate(rai.table_problem(2), rai.Vanilla(), replications=100)
        >>> frame = result.to_frame()
        >>> rai.Result.from_frame(frame, rai.table_problem(2), rai.Vanilla()) == result
        True
        >>> rai.Result.from_frame(frame[40:], rai.table_problem(2), rai.Vanilla()).ranges
        ((40, 100),)
        """
        from rai_sim.simulation.frames import check_rows, rows_of
        from rai_sim.simulation.simulate import checked_experiment  # which makes results

        if seed is None:
            raise ArgumentTypeError(
                "seed", "seed is None; give the seed that the replications were run with"
            )
        run = checked_experiment(problem, algorithm, delta, seed, skip_error, max_pulls)
        rows = rows_of(frame, problem)
        check_rows(rows, problem, run.max_pulls)
        return cls(run, **rows._asdict())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result into a Parquet file, from which `rai_sim.load_result` reads it.

        The rows are those of `to_frame`, for any reader of Parquet. The file's metadata, a JSON
        document under the key rai_sim, has all that defines the experiment (arms, clusters,
        algorithm with its options, delta, seed, ...), the time, versions and platform of the
        process that saves it, and a SHA-256 of the rows. The file is there whole or not at all.

        Parameters
        ----------
        path : path
            A name that ends in .parquet; a file of that name is replaced.

        Raises
        ------
        ValueError
            If the name ends otherwise, or the experiment is of an algorithm or a law that is not
            known here.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> import rai_sim as rai
        >>> result = rai.simulate(rai.table_problem(2), rai.Vanilla(), replications=100)
        >>> file = tempfile.mkdtemp() + "/vanilla.parquet"
        >>> result.save(file)
        >>> rai.load_result(file) == result
        True
        """
        from rai_sim.study.saved import save_result  # a store's forms of what was run

        save_result(self, path)

    def named(self) -> pl.DataFrame:
        """Return how often each arm was named for each cluster, most often first within a cluster.

        Returns
        -------
        polars.DataFrame
            cluster (1 is the best), arm (index), id, name (as `arms.with_names` has them, else null
            and "arm 3"), mean (reward), times, and share of the finished replications. Only
            clusters of which something is asked, and arms that were named.

        Examples
        --------
        >>> import rai_sim as rai
        >>> arms = rai.Bernoulli([0.3, 0.9]).with_names(["Solaris", "Stalker"])
        >>> result = rai.simulate(rai.best_arm(arms), rai.Vanilla(), replications=20, seed=0)
        >>> result.named().select("cluster", "name", "times", "share").rows()
        [(1, 'Stalker', 20, 1.0)]
        """
        from rai_sim.simulation.frames import named_frame

        return named_frame(self)

    def by_arm(self) -> pl.DataFrame:
        """Return one row an arm: what the finished replications pulled it, where that was kept.

        Returns
        -------
        polars.DataFrame
            arm (index), name, cluster (1 is the best), mean (reward), pulls_sum, pulls_mean, share
            of all pulls, pulls_standard_error (of pulls_mean; null where only sums are kept).

        Raises
        ------
        ValueError
            If it was not kept.

        Examples
        --------
        >>> import rai_sim as rai
        >>> problem = rai.table_problem(task=1)
        >>> result = rai.simulate(problem, rai.Vanilla(), replications=100, keep="arm_pulls_sum")
        >>> int(result.by_arm()["pulls_sum"].sum()) == int(result.pulls.sum())
        True
        """
        return by_arm_frame(self)
