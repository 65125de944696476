"""Uniting stores: what parts of a study have written, each into a folder of its own, in one.

Files of results are named by their content, so most are copied as they are, with what they say of
the run that made them. What two stores both hold is compared, and kept once.
"""

from __future__ import annotations

import os
import secrets
import shutil
from bisect import bisect_right, insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rai_sim.study.interrupts import Interrupts
from rai_sim.study.results import StudyResults, open_study
from rai_sim.study.store import SCHEMAS, Store, StoreError
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError
from rai_sim.support.files import flush_folder, write_atomically
from rai_sim.support.forks import refuse_forked_polars
from rai_sim.support.values import short
from rai_sim.support.wording import quoted

#: Columns of results that must be equal where replications are.
_OF_ROWS = [name for name in SCHEMAS["replications"] if name not in ("task", "replication")]
_OF_SUMS = [name for name in SCHEMAS["aggregates"] if name not in ("task", "first", "stop")]
#: Sums that do not fall when replications are added.
_GROWING = ("finished", "errors", "pulls_sum", "pulls_squares", "rounds_sum")


class Run(NamedTuple):
    """Consecutive replications first..stop-1 of a task, from row `at` of a part on."""

    task: str
    first: int
    stop: int
    at: int


class _Source(NamedTuple):
    """A whole part of one of the stores, and what is taken of it: all, or these ranges."""

    store: Store
    path: Path
    taken: list[tuple[str, int, int]] | None


def merge_studies(
    sources: Iterable[str | os.PathLike[str]], folder: str | os.PathLike[str]
) -> StudyResults:
    """Unite what several folders hold of studies, in a new folder: each replication once.

    Parameters
    ----------
    sources : iterable of path
        The folders, such as those of a study's parts (`Study.run`). Nothing in them is changed.
    folder : path
        The new one, or an empty one. It is there when all of it is.

    Returns
    -------
    StudyResults
        Of everything in the new folder, as `open_study` returns it; a study goes on from there.

    Raises
    ------
    StoreError
        An OSError: a folder is no store, or keeps other things than the first one, the new one is
        not empty or cannot be written; or two folders have other numbers for the same replication
        of a task, which the message names, with both. Nothing is written then.
    StudyInterrupted
        On Ctrl-C while the new folder is opened; before, a KeyboardInterrupt, with nothing written.

    Notes
    -----
    Where sums alone are kept, sums of the same replications must be equal; of sums that overlap
    otherwise those of the longer range from an earlier replication on are kept, and the sums within
    it must fit in. What is lost so, as sums cannot be cut, is run again when the study is.

    Examples
    --------
    >>> import tempfile
    >>> import rai_sim as rai
    >>> study = rai.Study.grid([rai.table_problem()], [rai.Vanilla()], [0.01], replications=100)
    >>> place = Path(tempfile.mkdtemp())
    >>> parts = [study.run(place / f"part-{k}", part=(k, 3)).folder for k in (1, 2, 3)]
    >>> rai.merge_studies(parts, place / "whole").progress()
    (100, 100)
    >>> study.results(place / "whole").summary().equals(study.run(place / "alone").summary())
    True
    """
    refuse_forked_polars("merge_studies")
    if isinstance(sources, str | os.PathLike):
        raise ArgumentTypeError(
            "sources", f"sources is {short.repr(sources)}; give a list of folders"
        )
    places, target = [Path(source) for source in sources], Path(folder)
    if not places:
        raise ArgumentValueError("sources", "sources is empty; give at least one folder")
    _check_target(target, places)
    with Interrupts() as interrupts, interrupts.held():
        stores = [Store(place, None, interrupts.heed) for place in places]
        for store in stores[1:]:
            if store.keep != stores[0].keep:
                raise StoreError(
                    f"store {store.folder} keeps {store.keep}, but {stores[0].folder} keeps "
                    f"{stores[0].keep}; merge folders that keep the same"
                )
        _write(target, stores, _united(stores), interrupts.heed)
    return open_study(target)


def _check_target(target: Path, sources: Sequence[Path]) -> None:
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise StoreError(
            f"{target} is there already; give the name of a new folder, or of an empty one, for "
            "what is merged"
        )
    for source in sources:
        if source.resolve() in target.resolve().parents:
            raise StoreError(
                f"{target} lies within {source}, which is to be merged; give another folder"
            )


# What is taken of which part
# --------------------------------------------------------------------------------------------------


def _united(stores: Sequence[Store]) -> list[_Source]:
    """Return the parts that the new store is made of."""
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
) -> Iterator[_Source]:
    """Yield parts that tell of something of which those before do not."""
    known = set[str]()
    for store, path, frame in parts:
        keys = set(frame[column].to_list())
        if not keys <= known:
            known |= keys
            yield _Source(store, path, None)


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
        self.taken: list[_Source] = []
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
            self.taken.append(_Source(store, path, new if shared else None))
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


@lru_cache(maxsize=4)
def _whole(path: Path) -> tuple[pl.DataFrame, Mapping[str, Sequence[Run]]]:
    """Return all columns of a part of rows, and its runs by task."""
    frame = pl.read_parquet(path.read_bytes(), columns=list(SCHEMAS["replications"]))
    runs: dict[str, list[Run]] = {}
    for run in runs_of(frame):
        runs.setdefault(run.task, []).append(run)
    return frame, runs


def _rows_of(path: Path, ranges: Iterable[tuple[str, int, int]]) -> pl.DataFrame:
    """Return the rows of some replications that a part has, in the order of the ranges."""
    frame, runs = _whole(path)
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
    left, right = _rows_of(in_a, ranges), _rows_of(in_b, ranges)
    if left.equals(right):
        return
    for one, other in zip(left.iter_rows(named=True), right.iter_rows(named=True), strict=True):
        if one != other:
            raise _conflict(
                f"replication {one['replication']}", one["task"], (a, one), (b, other), _OF_ROWS
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


def _sums(parts: Sequence[tuple[Store, Path, pl.DataFrame]]) -> list[_Source]:
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
            taken.append(_Source(store, path, kept if lost else None))
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
            if any(one.row[name] != over.row[name] for name in _OF_SUMS):
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


# Writing
# --------------------------------------------------------------------------------------------------


def _write(
    target: Path, stores: Sequence[Store], parts: Sequence[_Source], heed: Callable[[], None]
) -> None:
    """Make the new store under a temporary name, and rename it."""
    place = Path(os.path.realpath(target))
    temporary = place.with_name(f".{place.name[:40]}.{secrets.token_hex(8)}.merging")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        new = Store(temporary, stores[0].keep)
        for part in parts:
            heed()
            if part.taken is None:
                _copy(part.path, temporary)
            else:
                frame = _cut(part, new.keep)
                new.write(part.path.name.partition("-")[0], frame, part.store.about(part.path))
        for path in _records(stores):
            heed()
            _copy(path, temporary)
        (temporary / ".lock").unlink(missing_ok=True)
        os.rename(temporary, place)
        flush_folder(place.parent)
    except OSError as error:
        if isinstance(error, StoreError):
            raise
        raise StoreError(
            f"{target} cannot be written: {error.strerror or error}; free space or give another "
            "folder, then merge again: nothing was changed"
        ) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        _whole.cache_clear()


def _copy(path: Path, folder: Path) -> None:
    data = path.read_bytes()
    write_atomically(folder / path.name, lambda file: file.write(data))


def _cut(part: _Source, keep: str) -> pl.DataFrame:
    """Return what is taken of a part."""
    assert part.taken is not None
    if keep == "replications":
        return _rows_of(part.path, part.taken)
    frame = pl.read_parquet(part.path.read_bytes(), columns=list(SCHEMAS["aggregates"]))
    wanted = pl.DataFrame(
        part.taken, schema={"task": pl.String, "first": pl.Int64, "stop": pl.Int64}, orient="row"
    )
    return frame.join(wanted, on=["task", "first", "stop"], how="semi")


def _records(stores: Sequence[Store]) -> list[Path]:
    """Return the records of runs; of one that was copied while it ran that which tells of its
    end."""
    found: dict[str, Path] = {}
    for store in stores:
        for path in sorted(store.folder.glob("run-*.json")):
            with suppress(OSError):
                before = found.get(path.name)
                if before is None or _ended(path) > _ended(before):
                    found[path.name] = path
    return list(found.values())


def _ended(path: Path) -> bool:
    return b'"status": "running"' not in path.read_bytes()
