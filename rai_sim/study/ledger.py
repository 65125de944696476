"""Which replications of which task are there, and what they add up to."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rai_sim.simulation.statistics import Aggregate, Stretches, Sums, errors_at_cap, summed
from rai_sim.study.claims import Range
from rai_sim.study.stopping import looks_within, next_look


class Piece(NamedTuple):
    """Replications start..stop-1 of a task."""

    start: int
    stop: int
    aggregate: Aggregate


#: A piece as it is held: its ends, its histogram, packed, and the fields of `Sums`, the last one
#: first. A plain tuple, which garbage collection need not look at again: a study of 10,000 tasks
#: has some hundred thousand of them.
_Held: TypeAlias = tuple[int, int, bytes, int | None, *tuple[int, ...]]


class Pieces:
    """Disjoint pieces of one task, in ascending order.

    Neighbours are joined, though not across `cut` nor, if `looks`, across a look of
    `rai_sim.study.stopping`, so that what the first so many replications add up to remains known; a
    task never has more than some hundred pieces without gaps.
    """

    __slots__ = ("_cut", "_known", "_looks", "_pieces")

    def __init__(self, cut: int | None = None, looks: bool = True) -> None:
        """Start without replications."""
        self._pieces: tuple[_Held, ...] = ()
        self._cut = cut
        self._looks = looks
        # what `prefix` was last asked for: the number of pieces, and their sums
        self._known: tuple[int, Sums] | None = None

    def __iter__(self) -> Iterator[Piece]:
        """Iterate over the pieces."""
        return (Piece(held[0], held[1], _unpacked(held)) for held in self._pieces)

    def ranges(self) -> list[tuple[int, int]]:
        """Return first replication and the one after the last of each piece, ascending."""
        return [held[:2] for held in self._pieces]

    def all_sums(self) -> Sums | None:
        """Return what all replications add up to, those behind a gap too; None if there are
        none."""
        return _added(self._pieces)

    def cuts_within(self, start: int, stop: int) -> list[int]:
        """Return where pieces of start..stop-1 must be cut, both ends included."""
        cut = self._cut is not None and start < self._cut < stop
        if not self._looks:
            return [start, self._cut, stop] if cut else [start, stop]  # type: ignore[list-item]
        found = {start, stop, *looks_within(start, stop)}
        return sorted(found | {self._cut} if cut else found)  # type: ignore[arg-type]

    def gaps(self, start: int, stop: int) -> list[tuple[int, int]]:
        """Return the ranges of start..stop-1 that are not there, ascending."""
        found, at = [], start
        if self._pieces:  # a run asks some times for each task before anything is there
            before = max(bisect_right(self._pieces, start, key=_start) - 1, 0)
            for piece in self._pieces[before:]:
                first, end = _start(piece), _stop(piece)
                if first >= stop:
                    break
                if first > at:
                    found.append((at, first))
                at = max(at, end)
        if at < stop:
            found.append((at, stop))
        return found

    def add(self, piece: Piece) -> None:
        """Add replications of which none is there yet."""
        self.hold(_packed(piece))

    def hold(self, new: _Held) -> None:
        """Add replications as they are held."""
        at = bisect_left(self._pieces, _start(new), key=_start)
        before, after = self._pieces[:at], self._pieces[at:]
        if after and self._joins(new, after[0]):
            new, after = _joined([new, after[0]]), after[1:]
        if before and self._joins(before[-1], new):
            new, before = _joined([before[-1], new]), before[:-1]
        self._pieces = (*before, new, *after)
        self._known = None

    def _joins(self, left: _Held, right: _Held) -> bool:
        first, border = left[:2]
        # Where nothing is cut exactly there, the first border beyond `cut` is the next best.
        at_cut = self._cut is not None and first < self._cut <= border
        return (
            border == _start(right)
            and not at_cut
            and not (self._looks and next_look(border) == border)
        )

    def prefix(self, n: int) -> Sums | None:
        """Return what replications 0..n-1 add up to; None if they are not all there, or n lies
        inside a piece."""
        end = bisect_left(self._pieces, n, key=_stop) + 1
        if end > len(self._pieces) or _stop(self._pieces[end - 1]) != n:
            return None
        # Asked for at one look after the other: go on from the last one.
        first, seen = self._known if self._known and self._known[0] <= end else (0, None)
        at = _stop(self._pieces[first - 1]) if first else 0
        for piece in self._pieces[first:end]:
            if _start(piece) != at:
                return None
            at = _stop(piece)
        rest = _added(self._pieces[first:end])
        both = [sums for sums in (seen, rest) if sums is not None]
        self._known = end, _sum(both)
        return self._known[1]

    def total(self, most: int | None = None) -> tuple[int, Aggregate | None]:
        """Return the number and sum of replications from 0 on without gap, up to the first piece
        that reaches `most`."""
        within = self._without_gap(most)
        return (_stop(within[-1]), _unpacked(_joined(within))) if within else (0, None)

    def total_sums(self, most: int | None = None) -> tuple[int, Sums | None]:
        """Return what `total` does, without a histogram."""
        within = self._without_gap(most)
        return _stop(within[-1]) if within else 0, _added(within)

    def _without_gap(self, most: int | None) -> tuple[_Held, ...]:
        at = 0
        for number, piece in enumerate(self._pieces):
            if _start(piece) != at or (most is not None and at >= most):
                return self._pieces[:number]
            at = _stop(piece)
        return self._pieces

    @property
    def replications(self) -> int:
        """Number of replications that are there."""
        return sum(_stop(piece) - _start(piece) for piece in self._pieces)


def _start(piece: _Held) -> int:
    return piece[0]


def _stop(piece: _Held) -> int:
    return piece[1]


# Sums and histograms
# --------------------------------------------------------------------------------------------------


def _added(pieces: Sequence[_Held]) -> Sums | None:
    return _sum([_sums(piece) for piece in pieces]) if pieces else None


def _sums(piece: _Held) -> Sums:
    start, stop, _, at_cap, *rest = piece
    return Sums(stop - start, *rest, errors_at_cap=at_cap)


def _sum(parts: Sequence[Sums]) -> Sums:
    """Return the sums of a disjoint union."""
    if len(parts) == 1:
        return parts[0]
    least = [part.pulls_least for part in parts if part.finished]
    return Sums(
        replications=sum(part.replications for part in parts),
        finished=sum(part.finished for part in parts),
        errors=sum(part.errors for part in parts),
        pulls_sum=sum(part.pulls_sum for part in parts),
        pulls_squares=sum(part.pulls_squares for part in parts),
        rounds_sum=sum(part.rounds_sum for part in parts),
        pulls_least=min(least, default=0),
        pulls_most=max(part.pulls_most for part in parts),
        errors_at_cap=errors_at_cap(parts),
    )


def _joined(pieces: Sequence[_Held]) -> _Held:
    """Return one piece of consecutive ones."""
    if len(pieces) == 1:
        return pieces[0]
    sums = _sum([_sums(piece) for piece in pieces])
    bins, counts = (
        np.concatenate(columns)
        for columns in zip(*(_histogram(piece[2]) for piece in pieces), strict=True)
    )
    order = np.argsort(bins, kind="stable")
    bins, counts = bins[order], counts[order]
    starts = np.flatnonzero(np.diff(bins, prepend=-1))
    merged = np.add.reduceat(counts, starts) if len(starts) else counts
    return _held(_start(pieces[0]), _stop(pieces[-1]), sums, _pack(bins[starts], merged))


def _held(start: int, stop: int, sums: Sums, histogram: bytes) -> _Held:
    _, *rest = summed(sums)
    return start, stop, histogram, sums.errors_at_cap, *rest


def _packed(piece: Piece) -> _Held:
    start, stop, seen = piece
    return _held(start, stop, seen, _pack(seen.bins, seen.counts))


def _unpacked(held: _Held) -> Aggregate:
    bins, counts = _histogram(held[2])
    return Aggregate(**vars(_sums(held)), bins=bins, counts=counts)


#: Numbers of bins fit 16 bits; counts have as many bytes as the largest of them needs.
_BIN = np.dtype("<u2")
_COUNT: dict[int, np.dtype[Any]] = {
    1: np.dtype("<u1"),
    2: np.dtype("<u2"),
    4: np.dtype("<u4"),
    8: np.dtype("<i8"),
}


def _pack(bins: NDArray[np.int64], counts: NDArray[np.int64]) -> bytes:
    """Return a histogram as bytes: the width of a count, bins, counts."""
    return _packs(bins, counts, [0, len(bins)])[0]


def _packs(
    bins: NDArray[np.int64], counts: NDArray[np.int64], borders: Sequence[int]
) -> list[bytes]:
    """Return histograms that follow each other, between borders, as bytes."""
    most = int(counts.max()) if len(counts) else 0
    width = 1 if most < 1 << 8 else 2 if most < 1 << 16 else 4 if most < 1 << 32 else 8
    all_bins, all_counts = bins.astype(_BIN).tobytes(), counts.astype(_COUNT[width]).tobytes()
    return [
        b"%c%b%b" % (width, all_bins[2 * a : 2 * b], all_counts[width * a : width * b])
        for a, b in pairwise(borders)
    ]


def _histogram(packed: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return bins and counts of a packed histogram."""
    width = packed[0]
    number = (len(packed) - 1) // (2 + width)
    bins = np.frombuffer(packed, _BIN, number, 1)
    counts = np.frombuffer(packed, _COUNT[width], number, 1 + 2 * number)
    return bins.astype(np.int64), counts.astype(np.int64)


class Ledger(defaultdict[str, Pieces]):
    """Pieces by task key; `cut` and `looks` as in `Pieces`."""

    def __init__(self, cut: int | None = None, looks: bool = True) -> None:
        """Start empty."""
        super().__init__(lambda: Pieces(cut, looks))
        self.cut = cut

    def add(self, ranges: Sequence[Range], added: Stretches) -> None:
        """Add ranges of replications of which none is there yet, by what they add up to."""
        packed = _packs(added.bins, added.counts, added.borders)
        for (task, start, stop), histogram, at_cap, (_, *rest) in zip(
            ranges, packed, added.errors_at_cap, added.sums, strict=True
        ):
            self[task].hold((start, stop, histogram, at_cap, *rest))
