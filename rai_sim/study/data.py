"""A store together with the ledger of what it holds: no replication gets into it twice, nor is one
read twice."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rai_sim.engine.blocks import Block, part_of
from rai_sim.engine.streams import STREAM_VERSION
from rai_sim.simulation.arm_pulls import SUMMED
from rai_sim.simulation.at_cap import NO_CAP, AtCap
from rai_sim.simulation.provenance import now
from rai_sim.simulation.statistics import stretches_of
from rai_sim.study.arm_sums import Unwritten, whole
from rai_sim.study.claims import Range
from rai_sim.study.frames import aggregate_of, aggregates_frame, rows_frame
from rai_sim.study.ledger import Ledger, Piece
from rai_sim.study.schemas import SCHEMAS
from rai_sim.study.store import Store, StoreWarning
from rai_sim.study.stored import VERSION, Reader, origins_of
from rai_sim.study.task import Task, instance_key, instance_row, task_rows
from rai_sim.support.forks import refuse_forked_polars
from rai_sim.support.wording import count


class Rows(NamedTuple):
    """Finished replications of tasks: those of one range after the other, in the rows of a block."""

    ranges: Sequence[Range]
    block: Block
    at_cap: AtCap | None = None  # where the tasks have a cap

    def cut(self, parts_of: Callable[[str, int, int], Iterable[tuple[int, int]]]) -> Iterator[Rows]:
        """Yield those parts of each range that `parts_of` returns of it, each by itself."""
        before = 0
        for task, first, last in self.ranges:
            for start, stop in parts_of(task, first, last):
                rows = before + start - first, before + stop - first
                at_cap = None if self.at_cap is None else self.at_cap.cut(*rows)
                yield Rows([(task, start, stop)], part_of(self.block, *rows), at_cap)
            before += last - first

    def columns(self) -> tuple[NDArray[Any], ...]:
        """Return pulls, rounds, correct, finished, and whether recommendations at the cap are right
        (int8, `NO_CAP` without one)."""
        if self.at_cap is None:
            return (*self.block[:4], np.full(len(self.block.pulls), NO_CAP, np.int8))
        return (*self.block[:4], self.at_cap.right)


def ranges_of(rows: Iterable[Rows]) -> list[Range]:
    """Return the ranges of rows, in their order."""
    return [one for some in rows for one in some.ranges]


class StudyData:
    """What a store holds, kept up to date with what others write into it.

    Parameters
    ----------
    folder, keep
        As in `Store`.
    cut : int, optional
        A number of replications at which sums must be known.
    looks : bool, default False
        Whether they must also be known at the looks of `rai_sim.study.stopping`.
    heed : callable, optional
        As in `Store`, while the store is opened.

    Raises
    ------
    StoreError
        As `Store` does.
    RuntimeError
        In a forked process in which polars would wait for ever (`rai_sim.support.forks`).
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        keep: str | None = None,
        cut: int | None = None,
        looks: bool = False,
        heed: Callable[[], None] = lambda: None,
    ) -> None:
        """Open the store and read it."""
        refuse_forked_polars("a study's store")
        self.store = Store(folder, keep, heed)
        self.ledger = Ledger(cut, looks)
        #: Whether some row stands in two parts, as it may where the system has no locks.
        self.duplicates = False
        self._instances: dict[str, dict[str, Any]] = {}
        self._tasks: dict[str, dict[str, Any]] = {}
        # When each task was first written down, and its place among those written with it: the
        # order of the studies that were run.
        self._order: dict[str, tuple[str, int]] = {}
        if keep is None:
            self._read_new()
        else:
            self.refresh()
        self.store.heed = lambda: None

    def refresh(self) -> None:
        """Read what has been written since."""
        with self.store.locked():
            self._read_new()

    def _read_new(self) -> None:
        sums: list[pl.DataFrame] = []
        for kind, path, frame in self.store.new_parts():
            if kind == "instances":
                self._instances |= {row["instance"]: row for row in frame.iter_rows(named=True)}
            elif kind == "tasks":
                self._know(frame.iter_rows(named=True), self.store.about(path))
            elif kind == "replications":
                self._read_rows(frame)
            else:
                sums.append(frame)
        if sums:
            self._read_aggregates(pl.concat(sums))

    def _know(self, rows: Iterable[dict[str, Any]], about: dict[str, Any]) -> None:
        """Take in rows that say what tasks are; of several about one task the one written first
        counts."""
        # earlier versions wrote no time, but names of runs begin with one
        written = str(about.get("written", about.get("run", "")))
        for place, row in enumerate(rows):
            key = row["task"]
            if key not in self._order or (written, place) < self._order[key]:
                self._tasks[key], self._order[key] = row, (written, place)

    def _read_rows(self, frame: pl.DataFrame) -> None:
        index = frame["replication"].to_numpy()
        breaks = (np.diff(index) != 1) | (
            np.diff(frame["task"].rle_id().to_numpy().astype(np.int64)) != 0
        )
        starts = [0, *(np.flatnonzero(breaks) + 1).tolist()] if len(index) else []
        lengths = np.diff([*starts, len(index)]).tolist()
        new: list[Range] = []
        places: list[slice] = []
        stretches = zip(frame["task"].gather(starts), starts, lengths, strict=True)
        for (task, at, length), first in zip(stretches, index[starts].tolist(), strict=True):
            for start, stop in self.ledger[task].gaps(first, first + length):
                new.append((task, start, stop))
                places.append(slice(at + start - first, at + stop - first))
        columns = [frame[name].to_numpy() for name in ("pulls", "rounds", "correct", "finished")]
        columns.append(frame["recommended_correct"].cast(pl.Int8).fill_null(NO_CAP).to_numpy())
        if sum(stop - start for _, start, stop in new) < len(index):
            self.duplicates = True
            columns = [
                np.concatenate([column[:0], *(column[place] for place in places)])
                for column in columns
            ]
        _note(self.ledger, new, columns)

    def _read_aggregates(self, frame: pl.DataFrame) -> None:
        # Of overlapping sums the earlier and longer one counts.
        for row in frame.sort("task", "first", "stop", descending=[False, False, True]).iter_rows(
            named=True
        ):
            pieces = self.ledger[row["task"]]
            if pieces.gaps(row["first"], row["stop"]) == [(row["first"], row["stop"])]:
                pieces.add(Piece(row["first"], row["stop"], aggregate_of(row)))

    def arm_sums(self, task: str, most: int | None) -> tuple[NDArray[np.int64] | None, int]:
        """Return the pulls of each arm in the finished ones of a task's replications from 0 on,
        without gap, up to the first sum that reaches `most`, and how many replications that is.

        Raises
        ------
        OverflowError
            If a sum is 2^63 or more.
        """
        stored = self.store.scan("aggregates").filter(pl.col("task") == task)
        at, texts = 0, list[list[str]]()
        # of overlapping sums that one counts which the ledger has taken, too
        for row in (
            stored.sort("first", "stop", descending=[False, True]).collect().iter_rows(named=True)
        ):
            if row["first"] == at and (most is None or at < most):
                texts.append(row[SUMMED])
                at = row["stop"]
        return (whole(texts) if texts else None), at

    def stored_rows(self) -> pl.LazyFrame:
        """Return the rows of all tasks in the store, each once."""
        rows = self.store.scan("replications")
        return rows.unique(subset=["task", "replication"]) if self.duplicates else rows

    # Tasks
    # ----------------------------------------------------------------------------------------------

    def add_tasks(self, tasks: Iterable[Task], about: dict[str, str]) -> None:
        """Write down what tasks are, as far as it is not known."""

        def unknown(
            task: Task,
        ) -> bool:  # also of tasks that are known, an instance may have been lost with its part
            return (
                task.key not in self._tasks
                or self._tasks[task.key]["instance"] not in self._instances
            )

        new = [task for task in tasks if unknown(task)]
        if not new:
            return
        with self.store.locked():
            self._read_new()
            new = [task for task in new if unknown(task)]
            problems = {
                instance_key(task.experiment.problem): task.experiment.problem for task in new
            }
            about = about | {"classes": json.dumps(origins_of(task.experiment for task in new))}
            instances = [
                instance_row(key, problem)
                for key, problem in problems.items()
                if key not in self._instances
            ]
            rows = task_rows(task for task in new if task.key not in self._tasks)
            if instances:
                self.store.write(
                    "instances",
                    pl.DataFrame(instances, schema=SCHEMAS["instances"], orient="row"),
                    about,
                )
            if rows:
                dated = about | {"written": re.sub(r"[:-]", "", now())}
                self.store.write(
                    "tasks", pl.DataFrame(rows, schema=SCHEMAS["tasks"], orient="row"), dated
                )
                self._know(rows, dated)
        self._instances |= {row["instance"]: row for row in instances}

    def tasks(self) -> list[Task]:
        """Return the tasks that were written down, in the order of the study that they were first
        run in, earlier runs' tasks first."""
        reader = Reader(self._instances, self._origins)
        tasks = []
        lost = self.ledger.keys() - self._tasks.keys()
        if lost:
            self._warn(
                f"store {self.store.folder}: replications of {count(len(lost), 'task')} are left out: "
                "the part that says of what task they are is missing; running their study again "
                "writes it anew"
            )
        for key in sorted(self._tasks, key=self._order.__getitem__):
            row = self._tasks[key]
            if row["stream_version"] != STREAM_VERSION:
                self._warn(
                    f"task {row['experiment']} has the streams of version "
                    f"{row['stream_version']}, this rai_sim those of version "
                    f"{STREAM_VERSION}; it is left out"
                )
                continue
            if row["instance"] not in self._instances:
                self._warn(
                    f"task {row['experiment']} is left out: the part with its instance is "
                    "missing; running its study again "
                    "writes it anew"
                )
                continue
            try:
                tasks.append(reader.task(row))
            except (ValueError, TypeError, KeyError, OverflowError) as error:
                self._warn(
                    f"store {self.store.folder}: task {row['experiment']} is left out, as what is "
                    "written about it makes no sense "
                    f"({error}); use the version of rai_sim that wrote it"
                )
        for remedy, found in reader.remedies.items():
            self._warn(
                f"store {self.store.folder}: {found} of {len(tasks)} tasks can be looked at, but "
                f"not run again: {remedy}"
            )
        return tasks

    @staticmethod
    def _warn(message: str) -> None:
        warnings.warn(message, StoreWarning, stacklevel=4)

    def _origins(self) -> dict[str, str]:
        """Return where the classes of the parts' tasks and instances come from, by lower-case name,
        and the package's versions."""
        found: dict[str, str] = {}
        versions = set()
        for path in [*self.store.paths("tasks"), *self.store.paths("instances")]:
            about = self.store.about(path)
            versions.add(str(about.get("rai_sim", "unknown")))
            # raised by what no version of the package wrote
            with suppress(ValueError, TypeError, AttributeError):
                found |= {
                    str(name): str(origin)
                    for name, origin in json.loads(about.get("classes", "{}")).items()
                }
        return found | {VERSION: " or ".join(sorted(versions - {"unknown"}))}

    # Writing
    # ----------------------------------------------------------------------------------------------

    def write_rows(self, rows: Sequence[Rows], about: dict[str, str]) -> None:
        """Write a part of rows, leaving out what the store has by now."""
        with self.store.locked():
            self._read_new()
            new = [part for one in rows for part in self._new(one)]
            if new:
                self.store.write("replications", rows_frame(new, self.store.keeps_arm_pulls), about)
                note(self.ledger, new)

    def _new(self, rows: Rows) -> Iterator[Rows]:
        """Yield those of the rows that the ledger does not have."""

        def missing(task: str, start: int, stop: int) -> list[tuple[int, int]]:
            return self.ledger[task].gaps(start, stop)

        if all(missing(*one) == [one[1:]] for one in rows.ranges):
            yield rows
        else:
            yield from rows.cut(missing)

    def write_aggregates(
        self, sums: Ledger, about: dict[str, str], arms: Unwritten | None = None
    ) -> None:
        """Write a part of sums, with those of `arms` if they are kept, leaving out what the store
        has a replication of by now."""
        with self.store.locked():
            self._read_new()
            new = [
                (task, piece)
                for task, pieces in sums.items()
                for piece in pieces
                if self.ledger[task].gaps(piece.start, piece.stop) == [(piece.start, piece.stop)]
            ]
            if new:
                texts = (
                    None
                    if arms is None
                    else [arms.within(task, piece.start, piece.stop) for task, piece in new]
                )
                frame = aggregates_frame(new, texts)
                self.store.write("aggregates", frame, about)
            for task, piece in new:
                self.ledger[task].add(piece)


def note(ledger: Ledger, rows: Sequence[Rows]) -> None:
    """Add rows to a ledger that has none of them yet."""
    if rows:
        columns = [
            np.concatenate(column) for column in zip(*(one.columns() for one in rows), strict=True)
        ]
        _note(ledger, ranges_of(rows), columns)


def _note(ledger: Ledger, ranges: Sequence[Range], columns: Sequence[NDArray[Any]]) -> None:
    """Add replications first..stop-1 of tasks, whose values follow each other in the columns, those
    of `Rows.columns`."""
    cut = [
        (task, *ends)
        for task, first, stop in ranges
        for ends in pairwise(ledger[task].cuts_within(first, stop))
    ]
    if not cut:
        return
    lengths = np.array([stop - start for _, start, stop in cut])
    pulls, rounds, correct, finished, at_cap = columns
    starts = np.cumsum(lengths) - lengths
    ledger.add(cut, stretches_of(pulls, rounds, correct, finished, starts, at_cap))
