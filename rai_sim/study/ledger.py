"""Which replications of which task are there, and what they add up to."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from functools import reduce
from operator import add
from typing import NamedTuple

from rai_sim.simulation.statistics import Aggregate
from rai_sim.study.stopping import looks_within, next_look


class Piece(NamedTuple):
    """Replications start..stop-1 of a task."""

    start: int
    stop: int
    aggregate: Aggregate


class Pieces:
    """Disjoint pieces of one task, in ascending order.

    Neighbours are joined, though not across `cut` nor, if `looks`, across a look of
    `rai_sim.study.stopping`, so that what the first so many replications add up to remains known; a
    task never has more than some hundred pieces without gaps.
    """

    def __init__(self, cut: int | None = None, looks: bool = True) -> None:
        """Start without replications."""
        self._pieces: list[Piece] = []
        self._cut = cut
        self._looks = looks
        self._prefixes: dict[int, Aggregate] = {}

    def __iter__(self) -> Iterator[Piece]:
        """Iterate over the pieces."""
        return iter(self._pieces)

    def cuts_within(self, start: int, stop: int) -> list[int]:
        """Return where pieces of start..stop-1 must be cut, both ends included."""
        found = {start, stop, *(looks_within(start, stop) if self._looks else ())}
        if self._cut is not None and start < self._cut < stop:
            found.add(self._cut)
        return sorted(found)

    def gaps(self, start: int, stop: int) -> list[tuple[int, int]]:
        """Return the ranges of start..stop-1 that are not there, ascending."""
        found, at = [], start
        first = max(bisect_right(self._pieces, start, key=lambda piece: piece.start) - 1, 0)
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
        at = bisect_left(self._pieces, piece.start, key=lambda other: other.start)
        if at < len(self._pieces) and self._joins(piece, self._pieces[at]):
            piece = _joined(piece, self._pieces.pop(at))
        if at and self._joins(self._pieces[at - 1], piece):
            at -= 1
            piece = _joined(self._pieces.pop(at), piece)
        self._pieces.insert(at, piece)
        # a border between pieces that were joined is none any more
        self._prefixes = {n: seen for n, seen in self._prefixes.items() if n <= piece.start}

    def _joins(self, left: Piece, right: Piece) -> bool:
        border = left.stop
        # Where nothing is cut exactly there, the first border beyond `cut` is the next best.
        at_cut = self._cut is not None and left.start < self._cut <= border
        return (
            border == right.start
            and not at_cut
            and not (self._looks and next_look(border) == border)
        )

    def prefix(self, n: int) -> Aggregate | None:
        """Return what replications 0..n-1 add up to; None if they are not all there, or n lies
        inside a piece."""
        # Asked for at one look after the other, and again at every plan: go on from the last one.
        at = max((known for known in self._prefixes if known <= n), default=0)
        within = [self._prefixes[at]] if at else []
        for piece in self._pieces[bisect_left(self._pieces, at, key=lambda piece: piece.start) :]:
            if piece.start != at or at >= n:
                break
            within.append(piece.aggregate)
            at = piece.stop
        if at != n:
            return None
        self._prefixes[n] = seen = reduce(add, within)
        return seen

    def total(self, most: int | None = None) -> tuple[int, Aggregate | None]:
        """Return the number and sum of replications from 0 on without gap, up to the first piece
        that reaches `most`."""
        at, within = 0, []
        for piece in self._pieces:
            if piece.start != at or (most is not None and at >= most):
                break
            within.append(piece.aggregate)
            at = piece.stop
        return at, reduce(add, within) if within else None

    @property
    def replications(self) -> int:
        """Number of replications that are there."""
        return sum(piece.stop - piece.start for piece in self._pieces)


def _joined(left: Piece, right: Piece) -> Piece:
    return Piece(left.start, right.stop, left.aggregate + right.aggregate)


class Ledger(defaultdict[str, Pieces]):
    """Pieces by task key; `cut` and `looks` as in `Pieces`."""

    def __init__(self, cut: int | None = None, looks: bool = True) -> None:
        """Start empty."""
        super().__init__(lambda: Pieces(cut, looks))
        self.cut = cut
