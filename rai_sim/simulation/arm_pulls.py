"""Pulls of each arm: what is kept of them, how much that may be, and what they add up to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rai_sim.support.errors import ArgumentValueError, Named
from rai_sim.support.values import short

if TYPE_CHECKING:
    import polars as pl

    from rai_sim.problem import Problem
    from rai_sim.simulation.experiment import Experiment

#: What `keep` may be besides None: a row a replication, or sums over finished replications.
BY_REPLICATION, SUMMED = "arm_pulls", "arm_pulls_sum"
#: What a message says of results without them.
NOT_KEPT = (
    f"keeps no pulls by arm; run it with keep={SUMMED!r} or keep={BY_REPLICATION!r}, a study into "
    "another folder, or run some replications again with rai_sim.arm_pulls"
)
#: By replication at most so many numbers are kept, 2 GiB; of a part whose numbers are added up at
#: once, 32 MiB.
_MOST_NUMBERS, _MOST_IN_PART = 1 << 28, 1 << 22
#: Sums are exact: they stay below this.
_MOST_PULLS = 2.0**63


class Kept(Protocol):
    """What pulls by arm are asked of: a result."""

    @property
    def experiment(self) -> Experiment: ...  # noqa: D102

    @property
    def pulls(self) -> NDArray[np.int64]: ...  # noqa: D102

    @property
    def finished(self) -> NDArray[np.bool_]: ...  # noqa: D102

    @property
    def arm_pulls(self) -> NDArray[np.int64] | None: ...  # noqa: D102

    @property
    def arm_pulls_sum(self) -> NDArray[np.int64] | None: ...  # noqa: D102


def check_keep(keep: object, replications: int, n_arms: int) -> str | None:
    """Return `keep` of `simulate`, checked.

    Raises
    ------
    ValueError
        If it is none of None, "arm_pulls" and "arm_pulls_sum", or by replication there would be
        more numbers than are kept.

    Examples
    --------
    >>> check_keep("arm_pulls", 1000, 10)
    'arm_pulls'
    """
    if keep is None:
        return None
    if not isinstance(keep, str) or keep not in (BY_REPLICATION, SUMMED):
        raise ArgumentValueError(
            "keep",
            f"keep is {short.repr(keep)}; choose None, {BY_REPLICATION!r} (the pulls of each arm by "
            f"replication) or {SUMMED!r} (their sums over replications)",
        )
    if keep == BY_REPLICATION and replications * n_arms > _MOST_NUMBERS:
        raise ArgumentValueError(
            "keep",
            f"keep is {keep!r}, which of {replications:,} replications with {n_arms:,} arms would "
            f"be {replications * n_arms:,} numbers of 8 bytes; at most {_MOST_NUMBERS:,} are kept: "
            f"take {SUMMED!r}, or at most {_MOST_NUMBERS // n_arms:,} as ",
            Named("replications"),
        )
    return str(keep)


def most_in_part(keep: str | None, n_arms: int) -> int:
    """Return how many replications may be run at once, that pulls by arm which are only to be added
    up do not take much memory."""
    return max(1, _MOST_IN_PART // n_arms) if keep == SUMMED else _MOST_NUMBERS


def check_written(algorithm: str, arm_pulls: NDArray[np.int64], pulls: NDArray[np.int64]) -> None:
    """Refuse pulls by arm, (B, N), that do not add up to the replications' pulls, (B,): an
    algorithm of somebody's own did not write them."""
    if not np.array_equal(arm_pulls.sum(axis=1), pulls):
        raise ArgumentValueError(
            "algorithm",
            f"algorithm {algorithm} keeps no pulls by arm: its run_block does not write "
            "block.arm_pulls, row by row, the pulls of each arm by the caller's index; let it, or "
            "leave out ",
            Named("keep"),
        )


def added(
    sums: NDArray[np.int64] | None, arm_pulls: NDArray[np.int64], finished: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the sums, (N,), with those of more replications, (B, N), as far as they finished.

    Raises
    ------
    OverflowError
        If all pulls together would be 2^63 or more.

    Examples
    --------
    >>> added(None, np.array([[1, 2], [3, 4], [9, 9]]), np.array([True, True, False]))
    array([4, 6])
    """
    rows = arm_pulls[finished]
    total = rows.sum(axis=0)
    return total_of([total] if sums is None else [sums, total], float(rows.sum(dtype=np.float64)))


def total_of(sums: Sequence[NDArray[np.int64]], more: float = 0.0) -> NDArray[np.int64]:
    """Return what sums add up to; `more` is what one of them may have been before it overflowed."""
    whole = sum(float(one.sum(dtype=np.float64)) for one in sums)
    if max(whole, more) >= _MOST_PULLS:
        raise OverflowError(
            f"keep is {SUMMED!r}, but the pulls of all replications are 2^63 or more, which no sum "
            f"holds; take {BY_REPLICATION!r}, or fewer replications"
        )
    total: NDArray[np.int64] = np.sum(sums, axis=0, dtype=np.int64)
    return total


def sums_of(result: Kept) -> tuple[NDArray[np.int64], int] | None:
    """Return the pulls of each arm, (N,), over the finished replications of a result, and how many
    these are; None if it does not keep them."""
    number = int(np.count_nonzero(result.finished))
    if result.arm_pulls_sum is not None:
        return result.arm_pulls_sum, number
    if result.arm_pulls is not None:
        return added(None, result.arm_pulls, result.finished), number
    return None


def by_arm_frame(result: Kept) -> pl.DataFrame:
    """Return one row an arm with what it was pulled (see `Result.by_arm`)."""
    known = sums_of(result)
    if known is None:
        raise ValueError(f"the result {NOT_KEPT}")
    rows = None if result.arm_pulls is None else result.arm_pulls[result.finished]
    return arm_rows(result.experiment.problem, *known, rows)


def shares_of(sums: NDArray[Any], everything: float) -> NDArray[np.float64]:
    """Return the share of all pulls that sums over some arms are, (A,); NaN where there is no pull.

    Examples
    --------
    >>> shares_of(np.array([3, 1]), 4.0), shares_of(np.zeros(2), 0.0)
    (array([0.75, 0.25]), array([nan, nan]))
    """
    return np.asarray(sums / everything if everything else np.full(sums.size, np.nan))


def arm_rows(
    problem: Problem, sums: NDArray[np.int64], number: int, rows: NDArray[np.int64] | None
) -> pl.DataFrame:
    """Return one row an arm, of sums over a number of replications, and of these, (number, N), if
    they are known."""
    import polars as pl

    arms = problem.arms
    nothing = np.full(problem.n_arms, np.nan)
    errors = nothing
    if rows is not None and number > 1:
        errors = rows.std(axis=0, ddof=1) / np.sqrt(number)
    frame: dict[str, Any] = {
        "arm": np.arange(problem.n_arms),
        "name": [arms.name(arm) for arm in range(problem.n_arms)],
        "cluster": np.asarray(problem.cluster_of, np.int64) + 1,
        "mean": np.asarray(arms.means, np.float64),
        "pulls_sum": sums,
        "pulls_mean": sums / number if number else nothing,
        "share": shares_of(sums, sums.sum(dtype=np.float64)),
        "pulls_standard_error": errors,
    }
    return pl.DataFrame(frame).with_columns(pl.col(pl.Float64).fill_nan(None))
