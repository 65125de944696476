"""The summary of a study: one row a task, with statistics, bounds and verdicts.

What belongs here says what is known of a task from sums; how a row is shown is in `tables`, the
columns are in `rai_sim.simulation.columns`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from rai_sim.certification.verdicts import verdict_on
from rai_sim.simulation.columns import Found, frame_columns
from rai_sim.simulation.statistics import NOTHING, QUANTILES
from rai_sim.study.ledger import Pieces
from rai_sim.study.stopping import Verdict
from rai_sim.study.task import Task

_TYPES: dict[type | None, Any] = {
    str: pl.String,
    float: pl.Float64,
    int: pl.Int64,
    bool: pl.Boolean,
    list: pl.List(pl.Int64),
}
#: Columns of `StudyResults.summary` (see `rai_sim.simulation.columns.COLUMNS`).
SUMMARY_SCHEMA: dict[str, Any] = {column.key: _TYPES[column.kind] for column in frame_columns()}


def known_of(task: Task, pieces: Pieces, verdict: Verdict, level: float, precise: bool) -> Found:
    """Return what is known of a task, the row that its statistics are picked from.

    Parameters
    ----------
    task : Task
        The task.
    pieces : Pieces
        What there is of it.
    verdict : Verdict
        Where it stands.
    level : float
        At which its error rate is judged (`rai_sim.certification.verdicts.level_of_each`).
    precise : bool
        Whether it was to run to a precision.
    """
    n, sums = pieces.total(verdict.replications)
    seen = sums or NOTHING
    stopped = n == verdict.replications and not math.isnan(verdict.interval[0])
    facts = {
        "task": task.key,
        "instance": task.instance,
        "parameters": json.dumps(dict(task.parameters)),
        "complete": verdict.final,
        "error_verdict": verdict_on(seen, task.experiment.delta, level),
        "precision_reached": verdict.reached if precise else None,
    }
    quantiles = {share: seen.quantile(share) for share in QUANTILES}
    return Found(task.experiment, seen, quantiles, verdict.interval if stopped else None, facts)


def summary_frame(known: Sequence[Found]) -> pl.DataFrame:
    """Return one row for each task of which something is known, with the columns of
    `SUMMARY_SCHEMA`; no number is NaN, those that are not known are null.

    Examples
    --------
    >>> summary_frame([]).columns[:4]
    ['instance', 'algorithm', 'delta', 'pulls_mean']
    """
    columns = frame_columns()
    rows = [{column.key: column.rule(one) for column in columns} for one in known]
    frame = pl.DataFrame(rows, schema=SUMMARY_SCHEMA, orient="row")
    return frame.with_columns(pl.col(pl.Float64).fill_nan(None))


def more_than_asked(folder: Path, frame: pl.DataFrame, verdicts: Sequence[Verdict]) -> str | None:
    """Return the words for tasks of which more replications count than were asked for, as their
    sums cannot be cut; None if there are no such tasks."""
    wanted = pl.Series([verdict.replications for verdict in verdicts], dtype=pl.Int64)
    longer = frame["replications"].filter(frame["replications"] > wanted)
    if not len(longer):
        return None
    return (
        f"store {folder} has sums of more replications than were asked for, which "
        f"cannot be cut: of {len(longer)} "
        f"tasks all of them count, {longer[0]:,} of the first one"
    )
