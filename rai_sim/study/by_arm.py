"""A study's pulls by arm as a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from rai_sim.simulation.arm_pulls import NOT_KEPT, arm_rows, sums_of

if TYPE_CHECKING:
    from rai_sim.study.results import StudyResults

_FIRST: dict[str, Any] = {
    "instance": pl.String,
    "algorithm": pl.String,
    "delta": pl.Float64,
    "finished": pl.Int64,
}


def by_arm_of(results: StudyResults) -> pl.DataFrame:
    """Return one row a task and arm (see `StudyResults.by_arm`)."""
    if not results.keeps_arm_pulls:
        raise ValueError(f"store {results.folder} {NOT_KEPT}")
    frames = []
    for task, found in zip(results.tasks, results.summary()["replications"], strict=True):
        if not found:
            continue
        run = results.result(task) if results.keeps_rows else None
        known = results.arm_pulls_sum(task) if run is None else sums_of(run)
        assert known is not None  # the store keeps them
        rows = None if run is None or run.arm_pulls is None else run.arm_pulls[run.finished]
        e = task.experiment
        facts = (task.instance, e.algorithm.label, e.delta, known[1])
        named = [
            pl.lit(value, dtype=kind).alias(name)
            for value, (name, kind) in zip(facts, _FIRST.items(), strict=True)
        ]
        frames.append(arm_rows(e.problem, *known, rows).select(*named, pl.all()))
    return pl.concat(frames) if frames else pl.DataFrame(schema=_FIRST)
