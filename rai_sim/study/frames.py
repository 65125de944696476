"""Finished replications and their sums as the frames that parts of a store hold, and sums read back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rai_sim.simulation.arm_pulls import BY_REPLICATION, SUMMED
from rai_sim.simulation.at_cap import NO_CAP
from rai_sim.simulation.statistics import Aggregate
from rai_sim.study.ledger import Piece
from rai_sim.study.schemas import ARM_PULLS, AT_CAP, SCHEMAS, schema_of

if TYPE_CHECKING:
    from rai_sim.study.data import Rows


def rows_frame(rows: Sequence[Rows], arm_pulls: bool = False) -> pl.DataFrame:
    """Return the rows as a frame with the columns of a part, pulls by arm if they are kept."""
    tasks, starts, stops = zip(*(one for some in rows for one in some.ranges), strict=True)
    lengths = np.subtract(stops, starts)
    columns: dict[str, Any] = {
        "task": pl.Series(tasks, dtype=pl.String).gather(np.repeat(np.arange(len(tasks)), lengths)),
        "replication": np.arange(lengths.sum())
        + np.repeat(np.array(stops) - np.cumsum(lengths), lengths),
    }
    for name in ("pulls", "rounds", "correct", "finished"):
        columns[name] = np.concatenate([getattr(one.block, name) for one in rows])
    columns["representatives"] = _lists([one.block.representatives for one in rows], pl.Int32)
    if arm_pulls:
        columns[BY_REPLICATION] = _lists([one.block.arm_pulls for one in rows], pl.Int64)
    columns |= _at_cap_columns(rows)
    keep = BY_REPLICATION if arm_pulls else "replications"
    return pl.DataFrame(columns, schema=schema_of("replications", keep))


def _at_cap_columns(rows: Sequence[Rows]) -> dict[str, pl.Series]:
    """Return what is recommended at caps, and whether it is right; null for tasks without one."""
    lengths = [len(one.block.pulls) for one in rows]
    if all(one.at_cap is None for one in rows):  # as nearly always
        return {
            name: pl.repeat(None, sum(lengths), dtype=kind, eager=True)
            for name, kind in AT_CAP["replications"].items()
        }
    found: dict[str, list[pl.Series]] = {name: [] for name in AT_CAP["replications"]}
    for one, length in zip(rows, lengths, strict=True):
        for name, kind in AT_CAP["replications"].items():
            if one.at_cap is None:
                found[name].append(pl.repeat(None, length, dtype=kind, eager=True))
                continue
            named, right = one.at_cap
            values = _lists([named], pl.Int32) if name == "recommended" else pl.Series(right == 1)
            if (right == NO_CAP).any():
                values = pl.select(pl.when(pl.Series(right != NO_CAP)).then(values)).to_series()
            found[name].append(values)
    return {name: pl.concat(parts) for name, parts in found.items()}


def _lists(tables: Sequence[NDArray[Any]], kind: Any) -> pl.Series:
    """Return the rows of tables of unlike widths as lists; tables that follow each other with one
    width are turned at once."""
    made: list[pl.Series] = []
    at = 0
    while at < len(tables):
        end = at + 1
        while end < len(tables) and tables[end].shape[1] == tables[at].shape[1]:
            end += 1
        made.append(
            pl.Series(
                np.concatenate(tables[at:end]), dtype=pl.Array(kind, tables[at].shape[1])
            ).arr.to_list()
        )
        at = end
    return pl.concat(made)


def aggregates_frame(
    sums: Sequence[tuple[str, Piece]], arms: Sequence[list[str]] | None = None
) -> pl.DataFrame:
    """Return sums as a frame with the columns of a part, those of pulls by arm if they are kept."""
    rows = [
        (
            task,
            start,
            stop,
            sum_.finished,
            sum_.errors,
            str(sum_.pulls_sum),
            str(sum_.pulls_squares),
            str(sum_.rounds_sum),
            sum_.pulls_least,
            sum_.pulls_most,
            sum_.bins.tolist(),
            sum_.counts.tolist(),
        )
        for task, (start, stop, sum_) in sums
    ]
    frame = pl.DataFrame(rows, schema=SCHEMAS["aggregates"], orient="row")
    more = (
        dict(AT_CAP["aggregates"])
        if arms is None
        else ARM_PULLS["aggregates"] | AT_CAP["aggregates"]
    )
    values: dict[str, Any] = {
        SUMMED: arms,
        "errors_at_cap": [sum_.errors_at_cap for _, (_, _, sum_) in sums],
    }
    return frame.with_columns(
        pl.Series(name, values[name], dtype=kind) for name, kind in more.items()
    )


def aggregate_of(row: dict[str, Any]) -> Aggregate:
    """Return the sums of a row of such a frame."""
    return Aggregate(
        replications=row["stop"] - row["first"],
        finished=row["finished"],
        errors=row["errors"],
        pulls_sum=int(row["pulls_sum"]),
        pulls_squares=int(row["pulls_squares"]),
        rounds_sum=int(row["rounds_sum"]),
        pulls_least=row["pulls_least"],
        pulls_most=row["pulls_most"],
        errors_at_cap=row["errors_at_cap"],
        bins=np.array(row["bins"], np.int64),
        counts=np.array(row["counts"], np.int64),
    )
