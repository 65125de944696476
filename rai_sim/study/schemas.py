"""What a store may keep, and the columns of each kind of its parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import polars as pl

from rai_sim.simulation.arm_pulls import BY_REPLICATION, SUMMED

Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)
#: What a store may keep, and the kind of parts that has it: a row for every replication, or sums
#: alone; either with the pulls of each arm.
KEEPS = {
    "replications": "replications",
    "aggregates": "aggregates",
    BY_REPLICATION: "replications",
    SUMMED: "aggregates",
}
#: Columns of each kind of part; pulls and rounds in numbers of them, exact integers beyond int64 as
#: decimal text.
SCHEMAS: dict[str, dict[str, Any]] = {
    "instances": {
        "instance": pl.String,
        "law": pl.String,
        "arguments": pl.String,
        "n_arms": pl.Int64,
        "clusters": pl.List(pl.Int64),
        "required": pl.List(pl.Int64),
        "bottleneck_gap_reward": pl.Float64,
        "names": pl.List(pl.String),
        "ids": pl.List(pl.Int64),
    },
    "tasks": {
        "task": pl.String,
        "experiment": pl.String,
        "instance": pl.String,
        "name": pl.String,
        "parameters": pl.String,
        "algorithm": pl.String,
        "algorithm_options": pl.String,
        "delta": pl.Float64,
        "seed": pl.String,
        "skip_error": pl.Float64,
        "max_pulls": pl.Int64,
        "stream_version": pl.Int64,
    },
    "replications": {
        "task": pl.String,
        "replication": pl.Int64,
        "pulls": pl.Int64,
        "rounds": pl.Int64,
        "correct": pl.Boolean,
        "finished": pl.Boolean,
        "representatives": pl.List(pl.Int32),
    },
    "aggregates": {
        "task": pl.String,
        "first": pl.Int64,
        "stop": pl.Int64,
        "finished": pl.Int64,
        "errors": pl.Int64,
        "pulls_sum": pl.String,
        "pulls_squares": pl.String,
        "rounds_sum": pl.String,
        "pulls_least": pl.Int64,
        "pulls_most": pl.Int64,
        "bins": pl.List(pl.Int64),
        "counts": pl.List(pl.Int64),
    },
}
#: The column of pulls by arm, where they are kept; it is read when it is asked for.
ARM_PULLS: dict[str, dict[str, Any]] = {
    "replications": {BY_REPLICATION: pl.List(pl.Int64)},
    "aggregates": {SUMMED: pl.List(pl.String)},
}
#: Columns about caps (`rai_sim.simulation.at_cap`). Parts have those in which some task has a value;
#: what a part lacks, as those of earlier versions do, is read as null.
AT_CAP: dict[str, dict[str, Any]] = {
    "replications": {"recommended": pl.List(pl.Int32), "recommended_correct": pl.Boolean},
    "aggregates": {"errors_at_cap": pl.Int64},
}


def keeps_arm_pulls(keep: str) -> bool:
    """Whether the pulls of each arm are kept, of `KEEPS`."""
    return keep in (BY_REPLICATION, SUMMED)


def schema_of(kind: str, keep: str) -> dict[str, Any]:
    """Return the columns of a kind of parts where so much is kept.

    Examples
    --------
    >>> list(schema_of("aggregates", "arm_pulls_sum"))[-3:]
    ['counts', 'arm_pulls_sum', 'errors_at_cap']
    """
    by_arm = ARM_PULLS.get(kind, {}) if keeps_arm_pulls(keep) else {}
    return SCHEMAS[kind] | by_arm | AT_CAP.get(kind, {})


def as_written(kind: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame without the columns about caps that have no value.

    Examples
    --------
    >>> as_written("aggregates", pl.DataFrame({"first": [0], "errors_at_cap": [None]})).columns
    ['first']
    """
    there = [name for name in AT_CAP.get(kind, {}) if name in frame.columns]
    return frame.drop([name for name in there if frame[name].null_count() == len(frame)])


def filled(frame: Frame, found: Iterable[str], schema: Mapping[str, Any]) -> Frame:
    """Return those columns of a frame, of which it has the `found` ones, that a schema names, in its
    order; null what is missing."""
    there = set(found)
    return frame.select(
        name if name in there else pl.lit(None, kind).alias(name) for name, kind in schema.items()
    )
