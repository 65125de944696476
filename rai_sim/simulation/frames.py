"""Results as frames: what they hold as columns, and such columns read back, or refused by the one
that is at fault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.simulation.merging import ranges_of
from rai_sim.simulation.summary import outputs_by_cluster
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError
from rai_sim.support.forks import refuse_forked_polars
from rai_sim.support.values import short
from rai_sim.support.wording import listed

if TYPE_CHECKING:
    import polars as pl

    from rai_sim.problem import Problem
    from rai_sim.simulation.result import Result

#: Columns of one number a replication.
_COUNTS, _SWITCHES = ("replication", "pulls", "rounds"), ("correct", "finished")
_NEEDED = (*_COUNTS, *_SWITCHES, "representatives")
#: There where they were kept; the latter, of results with a cap.
_ARMS, _RECOMMENDED = "arm_pulls", "recommended"


class Rows(NamedTuple):
    """Replications in ascending order: half-open ranges of their indices, and the arrays of
    `Result`."""

    ranges: tuple[tuple[int, int], ...]
    pulls: NDArray[np.int64]
    rounds: NDArray[np.int64]
    correct: NDArray[np.bool_]
    finished: NDArray[np.bool_]
    representatives: NDArray[np.int32]
    arm_pulls: NDArray[np.int64] | None = None
    recommended: NDArray[np.int32] | None = None


def rows_of(frame: pl.DataFrame | pl.LazyFrame, problem: Problem) -> Rows:
    """Return the replications of a frame, in any order of its rows; other columns are passed over.

    Raises
    ------
    TypeError, ValueError
        If it is no polars frame, or is empty; if a column is missing, of another kind or has no
        value; if a replication stands there twice; or if not as many arms are named as `problem`
        asks for. The message names the column.

    Examples
    --------
    >>> import rai_sim as rai
    >>> result = rai.simulate(rai.table_problem(task=1), rai.Butterscotch(), replications=3)
    >>> rows_of(result.to_frame().reverse(), result.problem).ranges
    ((0, 3),)
    """
    import polars as pl

    refuse_forked_polars("Result.from_frame")
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if not isinstance(frame, pl.DataFrame):
        raise ArgumentTypeError(
            "frame",
            f"frame is of type {type(frame).__name__}; give a polars frame as Result.to_frame "
            "returns it: polars.from_pandas makes one of pandas' frame",
        )
    missing = [name for name in _NEEDED if name not in frame.columns]
    if missing:
        raise ArgumentValueError(
            "frame",
            f"frame has no column {missing[0]!r} among {listed(frame.columns, 12)}; it needs "
            f"{', '.join(_NEEDED)}, as Result.to_frame writes them",
        )
    if not len(frame):
        raise ArgumentValueError(
            "frame", "frame has no rows; a result has at least one replication"
        )
    names = [*_NEEDED, *(name for name in (_ARMS, _RECOMMENDED) if name in frame.columns)]
    for name in names:
        _check_column(frame[name])
    frame = frame.select(names).sort("replication")
    index = frame["replication"].cast(pl.Int64).to_numpy()
    twice = np.flatnonzero(np.diff(index) == 0)
    if twice.size:
        raise ArgumentValueError(
            "frame",
            f"frame: column 'replication' holds {index[twice[0]]} twice; give every replication one "
            "row, and one experiment a frame",
        )
    return Rows(
        ranges_of(index),
        frame["pulls"].cast(pl.Int64).to_numpy(),
        frame["rounds"].cast(pl.Int64).to_numpy(),
        frame["correct"].to_numpy(),
        frame["finished"].to_numpy(),
        _arms_in(frame, "representatives", problem),
        _arm_pulls(frame, problem) if _ARMS in names else None,
        _arms_in(frame, _RECOMMENDED, problem) if _RECOMMENDED in names else None,
    )


def _check_column(column: pl.Series) -> None:
    """Refuse a column of another kind, and one with an entry that is no value."""
    import polars as pl

    name, kind = column.name, column.dtype
    if name in _COUNTS:
        fine, wanted = kind.is_integer(), "integers"
    elif name in _SWITCHES:
        fine, wanted = kind == pl.Boolean, "true and false"
    else:
        nested = kind.inner if isinstance(kind, pl.List | pl.Array) else None
        fine = nested is not None and nested.is_integer()
        wanted = "lists of pulls" if name == _ARMS else "lists of arms, by their indices"
    if not fine:
        raise ArgumentTypeError(
            "frame", f"frame: column {name!r} is of type {kind}; it must hold {wanted}"
        )
    if column.null_count():
        row = int(column.is_null().arg_max() or 0)
        raise ArgumentValueError(
            "frame",
            f"frame: column {name!r} has no value in row {row}; fill it in, or leave the row out",
        )
    if name in _COUNTS:
        least, most = int(column.min()), int(column.max())  # type: ignore[arg-type]  # integers
        if least < 0 or most >= 2**63:
            raise ArgumentValueError(
                "frame",
                f"frame: column {name!r} holds {least if least < 0 else most}; it must hold "
                "integers from 0 on, below 2^63",
            )


def _arms_in(frame: pl.DataFrame, name: str, problem: Problem) -> NDArray[np.int32]:
    """Return a column of arms that were named, as a table; `frame` is in order of replications."""
    import polars as pl

    column, width = frame[name], sum(problem.required)
    lists = column.arr.to_list() if isinstance(column.dtype, pl.Array) else column
    lengths = lists.list.len().to_numpy()
    wrong = np.flatnonzero(lengths != width)
    if wrong.size:
        raise ArgumentValueError(
            "frame",
            f"frame: column {name!r} holds {lengths[wrong[0]]} arms at replication "
            f"{frame['replication'][int(wrong[0])]}, but problem asks for {width}: required="
            f"{short.repr(problem.required)}",
        )
    arms = lists.explode().to_numpy()
    flaw = np.flatnonzero((arms < -1) | (arms >= problem.n_arms))
    if lists.explode().null_count() or flaw.size:
        what = arms[flaw[0]] if flaw.size else "an entry without a value"
        raise ArgumentValueError(
            "frame",
            f"frame: column {name!r} holds {what}; problem has arms 0 to "
            f"{problem.n_arms - 1}, and -1 stands for none",
        )
    return arms.astype(np.int32).reshape(-1, width)


def _arm_pulls(frame: pl.DataFrame, problem: Problem) -> NDArray[np.int64]:
    """Return the pulls of each arm, one row a replication, which add up to its pulls."""
    import polars as pl

    lists = frame[_ARMS].cast(pl.List(pl.Int64))
    lengths = lists.list.len().to_numpy()
    pulls = lists.explode()
    fine = bool((lengths == problem.n_arms).all()) and not pulls.null_count()
    table = pulls.to_numpy().reshape(-1, problem.n_arms) if fine else None
    if table is None or not np.array_equal(table.sum(axis=1), frame["pulls"].to_numpy()):
        raise ArgumentValueError(
            "frame",
            f"frame: column {_ARMS!r} must hold {problem.n_arms} numbers a row, whose sum is in the "
            "column 'pulls'; leave the column out if it is something else",
        )
    return table


def check_rows(rows: Rows, problem: Problem, max_pulls: int | None) -> None:
    """Refuse replications that cannot be of a problem, or of a run with such a cap.

    Raises
    ------
    ValueError
        If a finished replication names no arm or one twice, or one that is not finished names any,
        if `correct` is not what the arms named and the problem's clusters come to, if what is
        recommended at a cap is no arm or one twice, or pulls are beyond the cap.

    Examples
    --------
    >>> import rai_sim as rai
    >>> result = rai.simulate(rai.table_problem(task=1), rai.Butterscotch(), replications=3)
    >>> check_rows(rows_of(result.to_frame(), result.problem), rai.table_problem(task=5), None)
    Traceback (most recent call last):
    ...
    rai_sim.support.errors.ArgumentValueError: frame: column 'correct' says True of replication 0, which names arms [...
    """
    index = np.concatenate([np.arange(start, stop) for start, stop in rows.ranges])
    named = (rows.representatives >= 0).all(axis=1)
    some = (rows.representatives >= 0).any(axis=1)
    wrong = np.flatnonzero(np.where(rows.finished, ~named, some))
    if wrong.size:
        at = int(wrong[0])
        raise ArgumentValueError(
            "frame",
            f"frame: column 'finished' says {bool(rows.finished[at])} of replication {index[at]}, "
            f"whose representatives are {rows.representatives[at].tolist()}; those of a finished "
            "one are arms, of another one all -1",
        )
    ordered = np.sort(rows.representatives, axis=1)
    twice = rows.finished & (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    if twice.any():
        at = int(twice.argmax())
        raise ArgumentValueError(
            "frame",
            f"frame: column 'representatives' holds {rows.representatives[at].tolist()} at "
            f"replication {index[at]}, an arm twice; a replication names each arm once at most",
        )
    if rows.recommended is not None and max_pulls is not None:
        ordered = np.sort(rows.recommended, axis=1)
        none = (ordered < 0).any(axis=1) | (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
        if none.any():
            at = int(none.argmax())
            raise ArgumentValueError(
                "frame",
                f"frame: column 'recommended' holds {rows.recommended[at].tolist()} at replication "
                f"{index[at]}; what is recommended at a cap are arms, each once: leave the column out "
                "if it is something else",
            )
    if rows.recommended is not None:
        other = (rows.recommended != rows.representatives).any(axis=1) & rows.finished
        if other.any():
            at = int(np.argmax(other))
            raise ArgumentValueError(
                "frame",
                f"frame: column 'recommended' holds {rows.recommended[at].tolist()} at replication "
                f"{index[at]}, which is finished and names {rows.representatives[at].tolist()}; what "
                "a finished one recommends is what it names",
            )
    if problem.arms.means_known:
        asked = np.repeat(np.arange(problem.n_clusters), problem.required)
        right = rows.finished & (problem.cluster_of[rows.representatives] == asked).all(axis=1)
        wrong = np.flatnonzero(right != rows.correct)
        if wrong.size:
            at = int(wrong[0])
            raise ArgumentValueError(
                "frame",
                f"frame: column 'correct' says {bool(rows.correct[at])} of replication {index[at]}, "
                f"which names arms {rows.representatives[at].tolist()}; on problem that is "
                f"{bool(right[at])}: give the problem that the frame was made of",
            )
    if max_pulls is not None and rows.pulls.max() > max_pulls:
        at = int(rows.pulls.argmax())
        raise ArgumentValueError(
            "frame",
            f"frame: column 'pulls' holds {rows.pulls[at]} at replication {index[at]}, beyond "
            f"max_pulls={max_pulls}; give the cap that the frame was made with",
        )


def named_frame(result: Result) -> pl.DataFrame:
    """Return how often each arm was named for each cluster (see `Result.named`)."""
    import polars as pl

    arms = result.problem.arms
    finished = int(np.count_nonzero(result.finished))
    rows = [
        (
            cluster + 1,
            arm,
            None if arms.ids is None else arms.ids[arm],
            arms.name(arm),
            float(arms.means[arm]),
            times,
            times / finished,
        )
        for cluster, outputs in outputs_by_cluster(result)
        for arm, times in outputs
    ]
    schema: dict[str, Any] = {
        "cluster": pl.Int64,
        "arm": pl.Int64,
        "id": pl.Int64,
        "name": pl.String,
        "mean": pl.Float64,
        "times": pl.Int64,
        "share": pl.Float64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")
