"""What a store that unites others is made of: which parts of theirs, and which rows of these.

What two stores both have is compared. Parts are looked at one after the other, as they may be
long; whole, with all columns, only where two have the same replications.
"""

from __future__ import annotations

import io
from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rai_sim.study.schemas import AT_CAP, SCHEMAS, filled, schema_of
from rai_sim.study.store import Store, StoreError
from rai_sim.support.wording import quoted

#: Columns of sums that must be equal where replications are.
_OF_SUMS = [
    *AT_CAP["aggregates"],
    *(name for name in SCHEMAS["aggregates"] if name not in ("task", "first", "stop")),
]
#: What parts of earlier versions do not have: compared where both do.
_MAY_LACK = {name for columns in AT_CAP.values() for name in columns}
#: Sums that do not fall when replications are added.
_GROWING = ("finished", "errors", "pulls_sum", "pulls_squares", "rounds_sum")


class Run(NamedTuple):
    """Consecutive replications first..stop-1 of a task, from row `at` of a part on."""

    task: str
    first: int
    stop: int
    at: int


class Source(NamedTuple):
    """A whole part of one of the stores, and what is taken of it: all, or these ranges."""

    store: Store
    path: Path
    taken: list[tuple[str, int, int]] | None


def united(stores: Sequence[Store]) -> list[Source]:
    """Return the parts that a store is made of which has everything that some stores have.

    Raises
    ------
    StoreError
        If two of them have other numbers for the same replications.
    """
    held: dict[str, list[tuple[Store, Path, pl.DataFrame]]] = {kind: [] for kind in SCHEMAS}
    rows, names = _Rows(), set[str]()
    for store in stores:
        for kind, path, frame in store.new_parts():
            if path.name in names:  # the same content
                continue
            names.add(path.name)
            if kind == "replications":  # which may be long: one after the other
                rows.add(store, path, frame)
            else:
                held[kind].append((store, path, frame))
    return [
        *_without_repeats(held["instances"], "instance"),
        *_without_repeats(sorted(held["tasks"], key=_written), "task"),
        *rows.taken,
        *_sums(held["aggregates"]),
    ]


def _written(part: tuple[Store, Path, pl.DataFrame]) -> str:
    """Return when a part was written, by which tasks are ordered."""
    about = part[0].about(part[1])
    return str(about.get("written", about.get("run", "")))


def _without_repeats(
    parts: Iterable[tuple[Store, Path, pl.DataFrame]], column: str
) -> Iterator[Source]:
    """Yield parts that tell of something of which those before do not."""
    known = set[str]()
    for store, path, frame in parts:
        keys = set(frame[column].to_list())
        if not keys <= known:
            known |= keys
            yield Source(store, path, None)


def runs_of(frame: pl.DataFrame) -> list[Run]:
    """Return the consecutive replications in a part of rows.

    Examples
    --------
    >>> runs_of(pl.DataFrame({"task": ["a", "a", "a"], "replication": [4, 5, 9]}))
    [Run(task='a', first=4, stop=6, at=0), Run(task='a', first=9, stop=10, at=2)]
    """
    if not len(frame):
        return []
    index = frame["replication"].to_numpy()
    task = frame["task"].rle_id().to_numpy().astype(np.int64)
    starts = np.append(0, np.flatnonzero((np.diff(index) != 1) | (np.diff(task) != 0)) + 1)
    lengths = np.diff(np.append(starts, len(index)))
    columns = frame["task"].gather(starts), index[starts], index[starts] + lengths, starts
    return [Run(key, int(a), int(b), int(at)) for key, a, b, at in zip(*columns, strict=True)]


class _Rows:
    """Replications that are taken so far, and from which part."""

    def __init__(self) -> None:
        self.taken: list[Source] = []
        # ascending by task: first, stop, and the part's place among those taken
        self._there: dict[str, list[tuple[int, int, int]]] = {}

    def add(self, store: Store, path: Path, frame: pl.DataFrame) -> None:
        """Take what is new of a part, and compare what is not."""
        new: list[tuple[str, int, int]] = []
        shared: dict[int, list[tuple[str, int, int]]] = {}
        place = len(self.taken)
        for task, first, stop, _ in runs_of(frame):
            at = first
            for start, end, owner in self._overlapping(task, first, stop):
                if start > at:
                    new.append((task, at, start))
                shared.setdefault(owner, []).append((task, max(start, first), min(end, stop)))
                at = max(at, end)
            if at < stop:
                new.append((task, at, stop))
        for owner, ranges in shared.items():
            other = self.taken[owner]
            _compare(other.store, other.path, store, path, ranges)
        if new:
            self.taken.append(Source(store, path, new if shared else None))
        for task, first, stop in new:
            insort(self._there.setdefault(task, []), (first, stop, place))

    def _overlapping(self, task: str, first: int, stop: int) -> list[tuple[int, int, int]]:
        there = self._there.get(task, [])
        at = max(bisect_right(there, first, key=lambda one: one[0]) - 1, 0)
        found = []
        for one in there[at:]:
            if one[0] >= stop:
                break
            if one[1] > first:
                found.append(one)
        return found


def _read(path: Path, schema: Mapping[str, Any]) -> pl.DataFrame:
    """Return a part's columns of a schema, null those that it lacks."""
    data = path.read_bytes()
    there = [name for name in pl.read_parquet_schema(io.BytesIO(data)) if name in schema]
    return filled(pl.read_parquet(io.BytesIO(data), columns=there), there, schema)


@lru_cache(maxsize=4)
def _whole(path: Path, keep: str) -> tuple[pl.DataFrame, Mapping[str, Sequence[Run]]]:
    """Return a part of rows of a store that keeps so much, and its runs by task."""
    frame = _read(path, schema_of("replications", keep))
    runs: dict[str, list[Run]] = {}
    for run in runs_of(frame):
        runs.setdefault(run.task, []).append(run)
    return frame, runs


def _rows_of(store: Store, path: Path, ranges: Iterable[tuple[str, int, int]]) -> pl.DataFrame:
    """Return the rows of some replications that a part has, in the order of the ranges."""
    frame, runs = _whole(path, store.keep)
    places: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    for task, start, stop in ranges:
        for run in sorted(runs.get(task, ())):
            low, high = max(start, run.first), min(stop, run.stop)
            if low < high:
                places.append(np.arange(low, high) - run.first + run.at)
    return frame[np.concatenate(places)]


def _compare(
    a: Store, in_a: Path, b: Store, in_b: Path, ranges: Sequence[tuple[str, int, int]]
) -> None:
    """Refuse replications that are other ones in two parts."""
    left, right = _rows_of(a, in_a, ranges), _rows_of(b, in_b, ranges)
    if left.equals(right):
        return
    for one, other in zip(left.iter_rows(named=True), right.iter_rows(named=True), strict=True):
        if _differ(one, other, left.columns):
            raise _conflict(
                f"replication {one['replication']}",
                one["task"],
                (a, one),
                (b, other),
                [name for name in one if name not in ("task", "replication")],
            )


def _differ(one: Mapping[str, Any], other: Mapping[str, Any], columns: Sequence[str]) -> bool:
    """Whether two have other values, but for what only one of them has."""
    return any(
        one[name] != other[name]
        for name in columns
        if name not in _MAY_LACK or None not in (one[name], other[name])
    )


def _conflict(
    what: str,
    task: str,
    one: tuple[Store, Mapping[str, Any]],
    other: tuple[Store, Mapping[str, Any]],
    columns: Sequence[str],
) -> StoreError:
    """Return the error that names what two stores have otherwise."""

    def values(row: Mapping[str, Any]) -> str:
        return ", ".join(f"{name} {quoted(row[name], 60)}" for name in columns)

    label = _label(one[0], task) or _label(other[0], task) or f"with the key {task}"
    return StoreError(
        f"stores {one[0].folder} and {other[0].folder} have other numbers for {what} of task "
        f"{label}: {values(one[1])}; and {values(other[1])}. Nothing was merged. Results are a "
        "function of seed and replication, so one of the two was changed or made by another "
        "program: rai-sim study with --verify and --store tells which; leave it out"
    )


def _label(store: Store, task: str) -> str | None:
    """Return a task in words."""
    for path in store.paths("tasks"):
        frame = pl.read_parquet(path.read_bytes()).filter(pl.col("task") == task)
        for row in frame.iter_rows(named=True):
            return f"{row['name']}, {row['algorithm']}, delta {row['delta']:g}"
    return None


# Sums
# --------------------------------------------------------------------------------------------------


class _Sum(NamedTuple):
    """Sums of replications first..stop-1 of a task, in a row of a part."""

    first: int
    stop: int
    part: int
    row: Mapping[str, Any]


def _sums(parts: Sequence[tuple[Store, Path, pl.DataFrame]]) -> list[Source]:
    """Return what is taken of parts of sums."""
    if not parts:
        return []
    whole = pl.concat(
        [frame.with_columns(part=pl.lit(place)) for place, (_, _, frame) in enumerate(parts)]
    ).sort("task", "first", "stop", "part", descending=[False, False, True, False])
    before = pl.col("stop").cum_max().shift(1).over("task")
    crowded = whole.filter((pl.col("first") < before).any().over("task"))
    dropped: dict[int, set[tuple[str, int, int]]] = {}
    for (task,), frame in crowded.group_by(["task"], maintain_order=True):
        rows = [
            _Sum(row["first"], row["stop"], row["part"], row) for row in frame.iter_rows(named=True)
        ]
        for one in _overlapped(str(task), rows, [store for store, _, _ in parts]):
            dropped.setdefault(one.part, set()).add((str(task), one.first, one.stop))
    taken = []
    for place, (store, path, frame) in enumerate(parts):
        ranges = list(frame.select("task", "first", "stop").iter_rows())
        lost = dropped.get(place, set())
        kept = [one for one in ranges if one not in lost]
        if kept:
            taken.append(Source(store, path, kept if lost else None))
    return taken


def _overlapped(task: str, rows: Sequence[_Sum], stores: Sequence[Store]) -> list[_Sum]:
    """Return those of a task's sums that are not taken, as what stands before them, sorted, has
    some of their replications; refuse what cannot be true of both."""
    kept: list[_Sum] = []
    dropped: list[_Sum] = []
    for one in rows:
        if not kept or one.first >= kept[-1].stop:
            kept.append(one)
            continue
        dropped.append(one)
        over = kept[-1]
        sides = (stores[over.part], over.row), (stores[one.part], one.row)
        if one[:2] == over[:2]:
            if _differ(one.row, over.row, _OF_SUMS):
                what = f"replications {one.first} to {one.stop - 1}"
                raise _conflict(what, task, *sides, _OF_SUMS[:-2])
        elif one.stop <= over.stop and not _fits(one.row, over.row):
            what = (
                f"replications {over.first} to {over.stop - 1}, and {one.first} to {one.stop - 1} "
                "of them,"
            )
            raise _conflict(what, task, *sides, _OF_SUMS[:-2])
    return dropped


def _fits(inner: Mapping[str, Any], outer: Mapping[str, Any]) -> bool:
    """Whether sums may be of some of the replications that others are of."""
    counts = dict(zip(outer["bins"], outer["counts"], strict=True))
    return all(int(inner[name]) <= int(outer[name]) for name in _GROWING) and all(
        count <= counts.get(number, 0)
        for number, count in zip(inner["bins"], inner["counts"], strict=True)
    )


def cut_of(part: Source) -> pl.DataFrame:
    """Return what is taken of a part."""
    assert part.taken is not None
    if part.store.kind == "replications":
        return _rows_of(part.store, part.path, part.taken)
    frame = _read(part.path, part.store.schema("aggregates"))
    wanted = pl.DataFrame(
        part.taken, schema={"task": pl.String, "first": pl.Int64, "stop": pl.Int64}, orient="row"
    )
    return frame.join(wanted, on=["task", "first", "stop"], how="semi")


def forget() -> None:
    """Forget the parts that were read as a whole, which may be large."""
    _whole.cache_clear()
