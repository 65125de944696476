"""Branch and bound over answers: the best one of those that several clusters ask for.

Answers are written as ranks t_0..t_{K-1}, falling cluster by cluster, and boxes of them are bounded
by games of policies (`rai_sim.bounds.policies`). The box of the largest bound is taken first. The
weights that its game ends with tell an answer in it that may be good, which is looked at exactly,
and the name whose arm is least settled, at which the box is cut in two. What is left at the end has
no answer that is better than the best one found by more than a relative `_ENOUGH`; if the search is
given up before, the largest bound that is left is a bound still.

Arms of equal means in one cluster can be exchanged, so of those only the first ones are named.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rai_sim.bounds.game import Board, Solution
from rai_sim.bounds.policies import Grid, Relaxed, Rows, size

Ints = NDArray[np.int64]

#: Relative: answers that are better by no more are not looked for.
_ENOUGH = 5e-7
#: Columns of a box that counts as one; the work grows about like their square.
_COLUMNS = 100


class Best(Protocol):
    """The best answer so far, and its game."""

    named: Ints

    @property
    def best(self) -> Solution:
        """Its game."""
        ...

    def look_at(self, named: Ints) -> float:
        """Look at an answer; return an upper bound of its D."""
        ...


class Box(NamedTuple):
    """The answers with low <= t <= high, no better than a bound; policies to begin with."""

    low: Ints
    high: Ints
    bound: float
    rows: Rows | None


class Shape:
    """Which ranks names may be: those of one cluster differ, and rise; of equal means the first.

    Parameters
    ----------
    means : (N,) float64
        By rank, falling.
    clusters, required : sequence of int
        Sizes, and numbers of names.
    """

    def __init__(
        self, means: NDArray[np.float64], clusters: Sequence[int], required: Sequence[int]
    ) -> None:
        """Find the first box's ends."""
        ends = np.cumsum(clusters)
        cluster = np.repeat(np.arange(len(clusters)), clusters)
        fresh = np.ones(len(means), np.bool_)
        fresh[1:] = (np.diff(means) != 0.0) | (np.diff(cluster) != 0)
        starts = np.flatnonzero(fresh)
        group = np.cumsum(fresh) - 1
        #: For every rank the first one of equal arms, and the first one behind them.
        self._first = starts[group]
        self._behind = np.append(starts[1:], len(means))[group]
        asked = [(e - c, e, r) for c, e, r in zip(clusters, ends.tolist(), required, strict=True)]
        self._low = np.concatenate([np.arange(b, b + r) for b, _, r in asked]).astype(np.int64)
        self._high = np.concatenate([np.arange(e - r, e) for _, e, r in asked]).astype(np.int64)
        names = cluster[self._low]
        #: Whether a name is of the same cluster as the one before.
        self._follows = np.concatenate([[False], np.diff(names) == 0])

    def all(self) -> Box:
        """Return the box of all answers."""
        found = self.clipped(self._low, self._high, np.inf, None)
        assert found is not None
        return found

    def clipped(self, low: Ints, high: Ints, bound: float, rows: Rows | None) -> Box | None:
        """Return the least box that holds the answers of another one; None if there are none."""
        low, high = low.copy(), high.copy()
        while True:
            before = low.copy(), high.copy()
            for j in range(len(low)):
                previous = int(high[j - 1]) if self._follows[j] else -2
                if self._follows[j]:
                    low[j] = max(low[j], low[j - 1] + 1)
                if low[j] <= high[j] and self._first[low[j]] < low[j] > previous + 1:
                    low[j] = self._behind[low[j]]
                if low[j] > high[j]:
                    return None
                if self._first[high[j]] < high[j] > previous + 1:
                    high[j] = max(self._first[high[j]], previous + 1)
            for j in range(len(low) - 1, 0, -1):
                if self._follows[j]:
                    high[j - 1] = min(high[j - 1], high[j] - 1)
            if (low > high).any():
                return None
            if (low == before[0]).all() and (high == before[1]).all():
                return Box(low, high, bound, rows)

    def answer(self, wished: Ints, box: Box) -> Ints:
        """Return an answer of a box that is near to what is wished for each name."""
        t = np.clip(wished, box.low, box.high)
        for j in range(1, len(t)):
            if self._follows[j]:
                t[j] = max(t[j], t[j - 1] + 1)
        return t


def search(board: Board, shape: Shape, found: Best, budget: float) -> float:
    """Improve the best answer found until none is better, and return an upper bound of D.

    Parameters
    ----------
    board : Board
        The arms.
    shape : Shape
        The answers.
    found : Best
        Has looked at one answer at least; looks at others.
    budget : float
        Boxes of a hundred columns, at most: the search is given up then.
    """
    count, grid = itertools.count(), Grid.of(board)
    waiting: list[tuple[float, int, Box]] = []

    def add(box: Box) -> None:
        heapq.heappush(waiting, (-box.bound, next(count), box))

    add(shape.all())
    done, seen = found.best.high, {found.named.tobytes()}
    while waiting:
        box = waiting[0][2]
        limit = found.best.low * (1.0 + _ENOUGH)
        if box.bound <= limit:
            break
        alone = bool((box.low == box.high).all())
        budget -= max(size(box.low, box.high, len(board.means)) / _COLUMNS, 1.0) ** 2
        if budget < 0.0:
            break
        heapq.heappop(waiting)
        if alone:
            done = max(done, _looked_at(box.low, seen, found, box.bound))
            continue
        game = Relaxed(board, grid, box.low, box.high)
        bound = min(box.bound, game.solve(box.rows, limit))
        if bound <= limit:
            done = max(done, bound)
            continue
        heaviest = [int(np.argmax(game.of_name(j)[0])) for j in range(len(box.low))]
        wished = box.low + np.array(heaviest, np.int64)
        _looked_at(shape.answer(wished, box), seen, found, bound)
        for low, high in _halves(box, game):
            bound_there = min(bound, game.bound_for(low, high))
            half = shape.clipped(low, high, bound_there, game.rows())
            if half is not None:
                add(half)
    return max(done, waiting[0][2].bound if waiting else 0.0, found.best.high)


def _looked_at(named: Ints, seen: set[bytes], found: Best, bound: float) -> float:
    """Look at an answer, if it is new; return a bound of its D, or the best one's if it is not."""
    if named.tobytes() in seen:
        return 0.0
    seen.add(named.tobytes())
    return min(found.look_at(named), bound)


def _halves(box: Box, game: Relaxed) -> list[tuple[Ints, Ints]]:
    """Cut a box at the mean of the arms that one name may be, the one whose weights spread over
    means the furthest: spreading is what the game allows and no answer does."""
    spreads = {}
    for j in np.flatnonzero(box.low < box.high).tolist():
        w, x = game.of_name(j)
        centre = float(w @ x) / float(w.sum())
        spreads[j] = float(w @ (x - centre) ** 2), centre
    j = max(spreads, key=lambda j: spreads[j][0])
    before = int((game.of_name(j)[1] >= spreads[j][1]).sum())
    cut = int(np.clip(box.low[j] + before - 1, box.low[j], box.high[j] - 1))
    high, low = box.high.copy(), box.low.copy()
    high[j], low[j] = cut, cut + 1
    return [(box.low, high), (low, box.high)]
