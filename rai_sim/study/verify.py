"""Running stored replications again, and comparing them to the bit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from rai_sim.simulation.arm_pulls import BY_REPLICATION, SUMMED
from rai_sim.simulation.at_cap import right_at_cap
from rai_sim.simulation.result import Result
from rai_sim.simulation.simulate import simulate
from rai_sim.simulation.statistics import NOTHING, Aggregate
from rai_sim.simulation.workers import spread
from rai_sim.study.arm_sums import ArmSums, Unwritten, words_of
from rai_sim.study.data import StudyData
from rai_sim.study.frames import aggregates_frame
from rai_sim.study.ledger import Piece
from rai_sim.study.schemas import KEEPS
from rai_sim.study.task import Task
from rai_sim.support.wording import quoted

#: A task, the first of its replications and the one after the last, and what is stored of them.
Stored: TypeAlias = tuple[Task, int, int, tuple[Any, ...]]
#: A stored range is run again in parts of this many replications.
_AT_ONCE = 10_000
#: Where pulls by arm are added up, of at most so many numbers.
_NUMBERS = 1 << 23
_OF_PLACE = ("task", "replication")


@dataclass(frozen=True)
class Verification:
    """What came of making stored numbers again.

    Attributes
    ----------
    checked : int
        Replications that were run again.
    mismatches : tuple of str
        Those that came out otherwise, in words; empty if all are the same to the bit.
    """

    checked: int
    mismatches: tuple[str, ...]

    def __str__(self) -> str:
        """Say it in a sentence."""
        if not self.checked:
            return "nothing of this study is stored yet, so nothing was checked; run it first"
        if not self.mismatches:
            return (
                f"{self.checked:,} stored replications were run again: all are the same to the bit"
            )
        first = "; ".join(self.mismatches[:5])
        return f"{self.checked:,} stored replications were run again: {len(self.mismatches):,} mismatches, first {first}"


def verify(
    data: StudyData, tasks: Sequence[Task], sample: int, seed: int, n_jobs: int | None
) -> Verification:
    """Run a random sample of what is stored of some tasks again (see `StudyResults.verify`)."""
    draw = _draw_rows if data.store.kind == "replications" else _draw_sums
    drawn = draw(data, tasks, sample, np.random.default_rng(seed))
    checked, mismatches = 0, []
    for count, flaw in spread(partial(_check, data.store.keep), drawn, n_jobs):
        checked += count
        if flaw:
            mismatches.append(flaw)
    return Verification(checked, tuple(sorted(mismatches)))


def _draw_rows(
    data: StudyData, tasks: Sequence[Task], sample: int, rng: np.random.Generator
) -> list[Stored]:
    ranges = [(task, *ends) for task in tasks for ends in data.ledger[task.key].ranges()]
    ends = np.cumsum([stop - start for _, start, stop in ranges], dtype=np.int64)
    if not len(ends):
        return []
    total = int(ends[-1])
    chosen = (
        np.arange(total)
        if sample >= total
        else rng.choice(total, sample, replace=False, shuffle=False)
    )
    owners = np.searchsorted(ends, chosen, side="right")
    wanted = {
        (ranges[o][0].key, int(ranges[o][2] - (ends[o] - k))): ranges[o][0]
        for o, k in zip(owners, chosen, strict=True)
    }
    keys = pl.LazyFrame(
        list(wanted), schema={"task": pl.String, "replication": pl.Int64}, orient="row"
    )
    found = data.stored_rows().join(keys, on=["task", "replication"], how="semi").collect()
    columns = [name for name in data.store.schema("replications") if name not in _OF_PLACE]
    return [
        (
            wanted[row["task"], row["replication"]],
            row["replication"],
            row["replication"] + 1,
            tuple(row[name] for name in columns),
        )
        for row in found.sort("task", "replication").iter_rows(named=True)
    ]


def _draw_sums(
    data: StudyData, tasks: Sequence[Task], sample: int, rng: np.random.Generator
) -> Iterator[Stored]:
    by_key = {task.key: task for task in tasks}
    stored = [
        row for row in data.store.scan("aggregates").collect().iter_rows() if row[0] in by_key
    ]
    for at in rng.permutation(len(stored)).tolist():
        if sample <= 0:
            return
        key, start, stop, *values = stored[at]
        sample -= stop - start
        yield by_key[key], start, stop, tuple(values)


def _check(keep: str, job: Stored) -> tuple[int, str]:
    """Run stored replications again; return how many, and what differs."""
    task, start, stop, stored = job
    if KEEPS[keep] == "replications":
        again = _again(task, start, stop, BY_REPLICATION if keep == BY_REPLICATION else None)
        names = ("pulls", "rounds", "correct", "finished", "representatives", "arm_pulls")
        columns = [getattr(again, name) for name in names]
        new: list[Any] = [column[0].tolist() for column in columns if column is not None]
        # there is none without a cap, nor in parts of earlier versions
        new += [None, None]
        if again.recommended is not None and stored[-1] is not None:
            new[-2:] = again.recommended[0].tolist(), again.recommended_correct[0].item()
        what = f"replication {start}"
    else:
        total, arms = NOTHING, Unwritten() if keep == SUMMED else None
        # in parts, for a range may be long
        many = _AT_ONCE if arms is None else max(1, _NUMBERS // task.experiment.problem.n_arms)
        for at in range(start, stop, min(many, _AT_ONCE)):
            end = min(at + min(many, _AT_ONCE), stop)
            again = _again(task, at, end, None if arms is None else BY_REPLICATION)
            right = right_at_cap(task.experiment, again.recommended)
            total += Aggregate.of(again.pulls, again.rounds, again.correct, again.finished, right)
            if arms is not None and again.arm_pulls is not None:
                arms[task.key].append(ArmSums(at, end, words_of(again.arm_pulls, again.finished)))
        texts = None if arms is None else [arms.within(task.key, start, stop)]
        new = list(aggregates_frame([(task.key, Piece(start, stop, total))], texts).row(0)[3:])
        if stored[-1] is None:  # of a part of an earlier version
            new[-1] = None
        what = f"replications {start} to {stop - 1}"
    if list(stored) == list(new):
        return stop - start, ""
    return (
        stop - start,
        f"{task.label}, {what}: stored {quoted(stored, 120)}, now {quoted(tuple(new), 120)}",
    )


def _again(task: Task, start: int, stop: int, keep: str | None) -> Result:
    run = task.experiment
    return simulate(
        run.problem,
        run.algorithm,
        delta=run.delta,
        seed=run.seed,
        skip_error=run.skip_error,
        max_pulls=run.max_pulls,
        first_replication=start,
        replications=stop - start,
        keep=keep,
    )
