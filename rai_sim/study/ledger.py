"""Which replications of which task are there, and what they add up to."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.simulation.statistics import Aggregate, Sums, errors_at_cap
from rai_sim.study.stopping import looks_within, next_look


class Piece(NamedTuple):
    """Replications start..stop-1 of a task."""

    start: int
    stop: int
    aggregate: Aggregate


class _Held(NamedTuple):
    """A piece as it is held: a study of 10,000 tasks has some hundred thousand of them. The sums
    are those of `Sums`, the histogram is packed."""

    start: int
    stop: int
    finished: int
    errors: int
    pulls_sum: int
    pulls_squares: int
    rounds_sum: int
    pulls_least: int
    pulls_most: int
    errors_at_cap: int | None
    histogram: bytes

    def sums(self) -> Sums:
        """Return the sums alone."""
        return Sums(self.stop - self.start, *self[2:9], errors_at_cap=self.errors_at_cap)


class Pieces:
    """Disjoint pieces of one task, in ascending order.

    Neighbours are joined, though not across `cut` nor, if `looks`, across a look of
    `rai_sim.study.stopping`, so that what the first so many replications add up to remains known; a
    task never has more than some hundred pieces without gaps.
    """

    __slots__ = ("_cut", "_known", "_looks", "_pieces")

    def __init__(self, cut: int | None = None, looks: bool = True) -> None:
        """Start without replications."""
        self._pieces: list[_Held] = []
        self._cut = cut
        self._looks = looks
        # what `prefix` was last asked for: the number of pieces, and their sums
        self._known: tuple[int, Sums] | None = None

    def __iter__(self) -> Iterator[Piece]:
        """Iterate over the pieces."""
        return (Piece(held.start, held.stop, _unpacked(held)) for held in self._pieces)

    def ranges(self) -> list[tuple[int, int]]:
        """Return first replication and the one after the last of each piece, ascending."""
        return [(held.start, held.stop) for held in self._pieces]

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
        first = max(bisect_right(self._pieces, start, key=_start) - 1, 0)
        for piece in self._pieces[first:]:
            if piece.start >= stop:
                break
            if piece.start > at:
                found.append((at, piece.start))
            at = max(at, piece.stop)
        if at < stop:
            found.append((at, stop))
        return found

    def add(self, piece: Piece) -> None:
        """Add replications of which none is there yet."""
        new = _packed(piece)
        at = bisect_left(self._pieces, new.start, key=_start)
        if at < len(self._pieces) and self._joins(new, self._pieces[at]):
            new = _joined([new, self._pieces.pop(at)])
        if at and self._joins(self._pieces[at - 1], new):
            at -= 1
            new = _joined([self._pieces.pop(at), new])
        self._pieces.insert(at, new)
        self._known = None

    def _joins(self, left: _Held, right: _Held) -> bool:
        border = left.stop
        # Where nothing is cut exactly there, the first border beyond `cut` is the next best.
        at_cut = self._cut is not None and left.start < self._cut <= border
        return (
            border == right.start
            and not at_cut
            and not (self._looks and next_look(border) == border)
        )

    def prefix(self, n: int) -> Sums | None:
        """Return what replications 0..n-1 add up to; None if they are not all there, or n lies
        inside a piece."""
        end = bisect_left(self._pieces, n, key=_stop) + 1
        if end > len(self._pieces) or self._pieces[end - 1].stop != n:
            return None
        # Asked for at one look after the other: go on from the last one.
        first, seen = self._known if self._known and self._known[0] <= end else (0, None)
        at = self._pieces[first - 1].stop if first else 0
        for piece in self._pieces[first:end]:
            if piece.start != at:
                return None
            at = piece.stop
        rest = _added(self._pieces[first:end])
        both = [sums for sums in (seen, rest) if sums is not None]
        self._known = end, _sum(both)
        return self._known[1]

    def total(self, most: int | None = None) -> tuple[int, Aggregate | None]:
        """Return the number and sum of replications from 0 on without gap, up to the first piece
        that reaches `most`."""
        within = self._without_gap(most)
        return (within[-1].stop, _unpacked(_joined(within))) if within else (0, None)

    def total_sums(self, most: int | None = None) -> tuple[int, Sums | None]:
        """Return what `total` does, without a histogram."""
        within = self._without_gap(most)
        return within[-1].stop if within else 0, _added(within)

    def _without_gap(self, most: int | None) -> list[_Held]:
        at = 0
        for number, piece in enumerate(self._pieces):
            if piece.start != at or (most is not None and at >= most):
                return self._pieces[:number]
            at = piece.stop
        return self._pieces

    @property
    def replications(self) -> int:
        """Number of replications that are there."""
        return sum(piece.stop - piece.start for piece in self._pieces)


def _start(piece: _Held) -> int:
    return piece.start


def _stop(piece: _Held) -> int:
    return piece.stop


# Sums and histograms
# --------------------------------------------------------------------------------------------------


def _added(pieces: Sequence[_Held]) -> Sums | None:
    return _sum([piece.sums() for piece in pieces]) if pieces else None


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
    sums = _sum([piece.sums() for piece in pieces])
    bins, counts = (
        np.concatenate(columns)
        for columns in zip(*(_histogram(piece.histogram) for piece in pieces), strict=True)
    )
    order = np.argsort(bins, kind="stable")
    bins, counts = bins[order], counts[order]
    starts = np.flatnonzero(np.diff(bins, prepend=-1))
    merged = np.add.reduceat(counts, starts) if len(starts) else counts
    return _held(pieces[0].start, pieces[-1].stop, sums, _pack(bins[starts], merged))


def _held(start: int, stop: int, sums: Sums, histogram: bytes) -> _Held:
    return _Held(
        start=start,
        stop=stop,
        finished=sums.finished,
        errors=sums.errors,
        pulls_sum=sums.pulls_sum,
        pulls_squares=sums.pulls_squares,
        rounds_sum=sums.rounds_sum,
        pulls_least=sums.pulls_least,
        pulls_most=sums.pulls_most,
        errors_at_cap=sums.errors_at_cap,
        histogram=histogram,
    )


def _packed(piece: Piece) -> _Held:
    start, stop, seen = piece
    return _held(start, stop, seen, _pack(seen.bins, seen.counts))


def _unpacked(held: _Held) -> Aggregate:
    bins, counts = _histogram(held.histogram)
    return Aggregate(**vars(held.sums()), bins=bins, counts=counts)


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
    most = int(counts.max()) if len(counts) else 0
    width = 1 if most < 1 << 8 else 2 if most < 1 << 16 else 4 if most < 1 << 32 else 8
    return b"%c%b%b" % (
        width,
        bins.astype(_BIN).tobytes(),
        counts.astype(_COUNT[width]).tobytes(),
    )


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
