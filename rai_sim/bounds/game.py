"""The game of weights for one answer, solved with a certificate.

D = max over weights w of min over the answer's alternatives of h(w), h(w) = min over theta of the
sum of w_p d(x_p, theta) over the arms that an alternative moves (see
`rai_sim.engine.best_response`). As h is homogeneous, that is

    1 / D = min of the sum of w subject to w >= 0 and h(w) >= 1 for every alternative,

a convex problem. A pool of alternatives is solved by a primal-dual interior-point method (Newton's
method on the conditions of optimality with complementarity relaxed, Mehrotra's predictor and
corrector); those that the weights found leave too cheap join the pool, until there are none.

Certificates, which do not hang on how w and the multipliers q were found:

- Of any w, D >= min of h(w) over all alternatives, found exactly by the scan, over the sum of w.
- Of any q >= 0, D <= max over arms of the sum of q d(x_p, theta) over alternatives, over the sum of
  q: the opponent may mix, and at a fixed theta an alternative costs the sum of w_p d(x_p, theta).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rai_sim.bounds.interior import Measured, least_weight
from rai_sim.engine import best_response
from rai_sim.engine.best_response import BERNOULLI, GAUSSIAN, Moves

Floats = NDArray[np.float64]

#: Families of laws, as kernels number them.
FAMILIES = {"gaussian": GAUSSIAN, "bernoulli": BERNOULLI}

#: Relative gap between the two certificates at which a game counts as solved.
PRECISION = 1e-9
#: Rounds in which a pool is solved and extended.
_MOST_ROUNDS = 100
#: A pool is solved to such a share of what the certificates left open before.
_SHARE = 0.1
#: From this round on weights are looked at between those of the pool and the best ones, too, at
#: these shares of the way: a pool that lacks many alternatives has optima far from the game's.
_LONG, _WAYS = 10, (0.1, 0.25, 0.5)
#: Share of even weights in those with which a pool that was extended is begun.
_EVEN = 0.1
#: Rows that a search for alternatives may write, for N arms: _ROWS + 4 N.
_ROWS = 64


@dataclass(frozen=True)
class Board:
    """What a game is about: the arms by rank, best first, and what each named arm must not pass.

    Attributes
    ----------
    family : int
        Of `rai_sim.engine.best_response`.
    means : (N,) float64
        Falling.
    others : (N, 2) int64
        For every rank, how many other arms make it wrong by being as good, or as bad; 0 where none
        can.
    """

    family: int
    means: Floats
    others: NDArray[np.int64]


@dataclass(frozen=True)
class Solution:
    """A game's value between two certificates.

    Attributes
    ----------
    low, high : float
        D lies between them; nats a pull.
    weights : (N,) float64
        Of sum 1, by rank: they guarantee `low`.
    moves : Moves
        Alternatives.
    mixture : (R,) float64
        Of sum 1: mixed so, the alternatives guarantee `high`, their arms meeting at the distances
        that they tell.
    nats : (R, N) float64
        What a pull of each arm tells against each of them.
    """

    low: float
    high: float
    weights: Floats
    moves: Moves
    mixture: Floats
    nats: Floats

    def bound_for(self, named: NDArray[np.int64]) -> float:
        """Return an upper bound of D of another answer: the opponent plays those alternatives that
        concern its arms too; inf where there are none."""
        shares = np.where(np.isin(self.moves.arms, named), self.mixture, 0.0)
        total = shares.sum()
        return float((shares @ self.nats).max() / total) if total > 0.0 else np.inf


class Pool:
    """Alternatives, each once."""

    def __init__(self, board: Board) -> None:
        """Begin with none."""
        self._board, self._known = board, set[tuple[int, bool, bytes]]()
        self.moves = rows(0, len(board.means))

    def add(self, found: Moves, count: int) -> None:
        """Add the first rows of those found that are new."""
        fresh = []
        for row in range(count):
            key = (int(found.arms[row]), found.signs[row] > 0.0, found.sets[row].tobytes())
            if key not in self._known:
                self._known.add(key)
                fresh.append(row)
        self.moves = joined(self.moves, picked(found, fresh))


def rows(count: int, n: int) -> Moves:
    """Return so many rows for alternatives of n arms."""
    return Moves(
        arms=np.zeros(count, np.int64),
        signs=np.ones(count),
        distances=np.zeros(count),
        values=np.zeros(count),
        sets=np.zeros((count, n), np.uint8),
    )


def picked(moves: Moves, which: Sequence[int]) -> Moves:
    """Return some of the rows."""
    chosen = np.array(which, np.int64)
    columns: list[Any] = [column[chosen] for column in moves]
    return Moves(*columns)


def joined(one: Moves, other: Moves) -> Moves:
    """Return the rows of both."""
    both: list[Any] = list(zip(one, other, strict=True))
    columns = [np.concatenate(pair) for pair in both]
    return Moves(*columns)


def solve(board: Board, named: NDArray[np.int64], enough: float = 0.0) -> Solution:
    """Solve the game of an answer, given as ranks.

    Parameters
    ----------
    enough : float, default 0.0
        Stop as soon as `high` is below it: another answer is better.

    Returns
    -------
    Solution
        With certificates that agree to a relative `PRECISION`, or as far as rounding allows, unless
        it was stopped.
    """
    return _Game(board, named).solve(enough)


class _Game:
    """The game of one answer, in units in which a weight of 1 for every arm costs the opponent 1 at
    least."""

    def __init__(self, board: Board, named: NDArray[np.int64]) -> None:
        self._board, self._named, self._n = board, named, len(board.means)
        self._others = np.ascontiguousarray(board.others[named])
        self._scratch = np.empty((best_response.SCRATCH, self._n))
        self._ends = np.empty(best_response.OPEN)
        self._pool = Pool(board)
        self._pool.add(*_to_begin_with(board, named))
        self._slopes: Floats = np.empty((0, self._n))
        self._curves: Floats = np.empty((0, self._n))
        self._unit = self._cheapest(np.ones(self._n))

    def _cheapest(self, w: Floats) -> float:
        """Return what the cheapest alternative costs; it joins the pool."""
        found = rows(len(self._named), self._n)
        best_response.cheapest_moves(*self._asked(w, np.inf, found))
        best = int(np.argmin(found.values))
        self._pool.add(picked(found, [best]), 1)
        return float(found.values[best])

    def _add_cheaper_than(self, limit: float, w: Floats) -> None:
        """Let alternatives that cost less than `limit` join the pool."""
        found = rows(_ROWS + 4 * self._n, self._n)
        count = best_response.cheap_moves(*self._asked(w, limit, found))
        self._pool.add(found, count)

    def _asked(self, w: Floats, limit: float, moves: Moves) -> tuple[Any, ...]:
        board = self._board
        return (
            board.family,
            w,
            board.means,
            self._named,
            self._others,
            limit,
            moves,
            self._scratch,
            self._ends,
        )

    def solve(self, enough: float) -> Solution:
        """Solve pools until nothing is missing in them."""
        w, low, weights, best = np.ones(self._n), 0.0, np.ones(self._n), None
        precision = PRECISION / 4.0
        for turn in range(_MOST_ROUNDS):
            start = (1.0 - _EVEN) * w + _EVEN * w.mean()
            if best is not None:
                start *= 1.2 / best.high
            found = least_weight(self._measure, start, precision)
            w = found.weights / found.weights.sum()
            if best is None or found.high < best.high:
                best = found
            if best.high * self._unit < enough:
                break
            size = len(found.multipliers)
            between = 0.5 * (w + weights) if low > 0.0 else w
            before = weights / weights.sum()
            tried = [before + way * (w - before) for way in _WAYS if turn >= _LONG]
            for one in [w, *tried]:
                value = self._cheapest(one) / self._unit
                if value > low:
                    low, weights = value, one
            gap = 1.0 - low / best.high
            if gap <= PRECISION:
                break
            self._add_cheaper_than(self._unit * best.high * (1.0 - PRECISION / 4.0), between)
            self._add_cheaper_than(self._unit * found.low * (1.0 - PRECISION / 4.0), w)
            if len(self._pool.moves.arms) == size and precision <= PRECISION / 4.0:
                break
            precision = max(PRECISION / 4.0, _SHARE * gap)
        assert best is not None
        slopes = self._measure(best.beside).slopes
        return Solution(
            low=low * self._unit,
            high=best.high * self._unit,
            weights=weights / weights.sum(),
            moves=picked(self._pool.moves, range(len(best.multipliers))),
            mixture=best.multipliers / best.multipliers.sum(),
            nats=slopes[: len(best.multipliers)] * self._unit,
        )

    def _measure(self, w: Floats) -> Measured:
        """Measure the pool at some weights."""
        board, moves = self._board, self._pool.moves
        if len(self._slopes) != len(moves.arms):
            self._slopes = np.empty(moves.sets.shape)
            self._curves = np.empty(moves.sets.shape)
        best_response.measure(
            board.family,
            w,
            board.means,
            moves,
            len(moves.arms),
            self._slopes,
            self._curves,
            self._scratch,
        )
        self._slopes /= self._unit
        self._curves /= np.sqrt(self._unit)
        return Measured(moves.values / self._unit, self._slopes, self._curves)


def _to_begin_with(board: Board, named: NDArray[np.int64]) -> tuple[Moves, int]:
    """Return alternatives to begin with, and how many: the named arm nearest to a border with each
    arm beyond it, and the others with the nearest."""
    n = len(board.means)
    everyone, found = np.arange(n), []
    for side, nearest in ((0, np.max), (1, np.min)):
        limits = board.others[named, side]
        for others in np.unique(limits[limits > 0]):
            group = named[limits == others]
            few = len(group) * (n - others) <= _ROWS + 4 * n
            for k in group:
                order = everyone[everyone != k]
                if side:
                    order = order[::-1]
                beyond = order[others - 1 :]
                for j in beyond if k == nearest(group) or few else beyond[:1]:
                    found.append((k, 1.0 - 2.0 * side, order[: others - 1], j))
    moves = rows(len(found), n)
    for row, (k, sign, always, j) in enumerate(found):
        moves.arms[row], moves.signs[row] = k, sign
        moves.sets[row, always] = moves.sets[row, j] = 1
    return moves, len(found)
