"""A bound on all answers of a box: the opponent settles what to do about each name before knowing
who is named.

A *box* is a set of answers: names 0..K-1, those of one cluster in order of rank, and ranks
lo_j..hi_j among which name j is. Of any answer in it and weights w, name j being arm t_j, let
v = (w_p for every arm p not named; w_{t_j} for name j being t_j). A *policy* is a name j, a
direction and a set M of C_j + 1 arms, C_j as many as make an arm of its cluster wrong by being as
good ("down"; "up" is the mirror image). At a theta it costs no more than

    the sum over ranks k of the box of v_{j,k} d(x_k, theta) [x_k > theta]
    + the sum over p in M of (v_p + the sum over names i != j of v_{i,p}) d(x_p, theta) [x_p < theta]

to make name j wrong, whichever arm k it is: k is moved down to theta, or lies below already, and at
least C_j arms of M are others than k. So

    D of every answer of the box <= max over v of sum 1 of min over policies of h(v),

h(v) the least of that over theta; a game like that of one answer, which it is if the box holds one
alone. Policies are found by a search over a grid of theta; whatever they are, a mixture q of them
proves that D <= the largest entry of the sum of q times their slopes (see `rai_sim.bounds.game`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.bounds.game import Board
from rai_sim.bounds.interior import Measured, least_weight
from rai_sim.engine.policies import OTHER, OWN, divergences, measure_policies

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Rounds in which policies are found and mixed, and to which relative precision.
_MOST_ROUNDS, _FIRST_PRECISION, _PRECISION, _SHARE = 12, 1e-3, 1e-6, 0.1
#: A bound that is missed by so much, relative, is not sought further; nor a game solved so far.
_MISSED, _CLOSE = 1.002, 1.003
#: Places between two means at which alternatives are looked for, and how many of a name and
#: direction are taken at a time.
_PLACES, _TAKEN = 6, 2
#: Share of even weights in those that a round begins with.
_EVEN = 0.1
#: Policies of so small a relative share are not handed on.
_RARE = 1e-7


class Rows(NamedTuple):
    """Policies: names, directions (1 down, -1 up), and sets of arms ((R, N) bool)."""

    names: Ints
    signs: Floats
    sets: NDArray[np.bool_]

    @classmethod
    def none(cls, n: int) -> Rows:
        """Return no policies for n arms."""
        return cls(np.empty(0, np.int64), np.empty(0), np.empty((0, n), np.bool_))

    def picked(self, which: Sequence[int] | Ints) -> Rows:
        """Return some of them."""
        chosen = np.array(which, np.int64)
        return Rows(self.names[chosen], self.signs[chosen], self.sets[chosen])

    def and_those(self, other: Rows) -> Rows:
        """Return both."""
        return Rows(
            np.concatenate([self.names, other.names]),
            np.concatenate([self.signs, other.signs]),
            np.concatenate([self.sets, other.sets]),
        )


class Grid(NamedTuple):
    """Thetas at which alternatives are looked for, and what arms tell against them, (G, N) nats."""

    thetas: Floats
    nats: Floats

    @classmethod
    def of(cls, board: Board) -> Grid:
        """Return places between neighbouring means."""
        x = np.unique(board.means)
        shares = (np.arange(_PLACES) + 0.5) / _PLACES
        thetas = (x[:-1, None] + np.diff(x)[:, None] * shares).ravel()
        nats = np.empty((len(thetas), len(board.means)))
        divergences(board.family, board.means, thetas, nats)
        return cls(thetas, nats)


class Columns(NamedTuple):
    """Whose weights the game is about: arms that are not named (name -1), but those that all
    answers name, and for every name the arms that it may be."""

    names: Ints
    ranks: Ints

    @classmethod
    def of(cls, low: Ints, high: Ints, n: int) -> Columns:
        """Return the columns of a box."""
        free = np.setdiff1d(np.arange(n), low[low == high])
        sizes = high - low + 1
        own = np.concatenate([np.arange(a, b + 1) for a, b in zip(low, high, strict=True)])
        names = np.concatenate([np.full(len(free), -1), np.repeat(np.arange(len(low)), sizes)])
        return cls(names.astype(np.int64), np.concatenate([free, own]).astype(np.int64))


def size(low: Ints, high: Ints, n: int) -> int:
    """Return the number of a box's columns."""
    return int(n - (low == high).sum() + (high - low + 1).sum())


class Relaxed:
    """The game of a box.

    Attributes
    ----------
    high : float
        No answer of the box has a larger D.
    """

    def __init__(self, board: Board, grid: Grid, low: Ints, high: Ints) -> None:
        """Begin without policies."""
        self._board, self._grid = board, grid
        self._others = board.others[low]
        self._low = low
        self.columns = Columns.of(low, high, len(board.means))
        self._x = board.means[self.columns.ranks]
        self._first = np.array(
            [np.flatnonzero(self.columns.names == j)[0] for j in range(len(low))]
        )
        self._known: set[tuple[int, bool, bytes]] = set()
        self._rows = Rows.none(len(board.means))
        self._kinds = np.empty((0, len(self._x)), np.uint8)
        self._room = np.empty((2, 0, len(self._x)))
        self._distances = np.empty(0)
        self._unit, self.high = 1.0, np.inf
        self._mixture = np.empty(0)
        self._nats = np.zeros(len(self._x))
        self._weights = np.full(len(self._x), 1.0 / len(self._x))

    def solve(self, rows: Rows | None, threshold: float) -> float:
        """Bound the answers' D, beginning with some policies, until the bound is no more than the
        threshold, or will not be."""
        if rows is not None:
            self._add(rows)
        w = np.ones(len(self._x))
        self._unit, found = self._respond(w, np.inf, 1)
        self._add(found)
        if not self._unit > 0.0:  # means so close that nothing tells them apart in double precision
            self.high = 0.0
            return self.high
        limit, low, best, precision = threshold / self._unit, 0.0, np.inf, _FIRST_PRECISION
        for _ in range(_MOST_ROUNDS):
            start = (1.0 - _EVEN) * w + _EVEN * w.mean()
            game = least_weight(
                self._measure, start * (1.2 / best if best < np.inf else 1.0), precision
            )
            if not game.high < np.inf:
                break
            if game.high < best:
                best = game.high
                self._keep(game.multipliers, game.beside)
            if best <= limit or not game.low > 0.0:
                break
            w = game.weights / game.weights.sum()
            value, found = self._respond(w, self._unit * game.high * (1.0 - 1e-9), _TAKEN)
            if value / self._unit > low:
                low, self._weights = value / self._unit, w
            if low > limit and (low > limit * _MISSED or best < low * _CLOSE):
                break
            if not self._add(found) and precision <= _PRECISION:
                break
            precision = max(_PRECISION, min(precision, _SHARE * (1.0 - low / best)))
        return self.high

    def bound_for(self, low: Ints, high: Ints) -> float:
        """Return what the mixture proves for a box inside."""
        names, ranks = self.columns
        inside = (names < 0) | ((low[names] <= ranks) & (ranks <= high[names]))
        return float(self._nats[inside].max()) if len(self._mixture) else np.inf

    def of_name(self, j: int) -> tuple[Floats, Floats]:
        """Return what the weights give to each arm that a name may be, and the arms' means."""
        columns = self.columns.names == j
        return self._weights[columns], self._x[columns]

    def rows(self) -> Rows:
        """Return the policies that are mixed."""
        if not len(self._mixture):
            return self._rows
        kept = np.flatnonzero(self._mixture > _RARE * self._mixture.max())
        return self._rows.picked(kept)

    def _keep(self, multipliers: Floats, beside: Floats) -> None:
        """Keep a mixture, and what it proves."""
        self._mixture = multipliers / multipliers.sum()
        slopes = self._measure(beside).slopes
        self._nats = np.einsum("r,rc->c", self._mixture, slopes) * self._unit
        self.high = float(self._nats.max())

    def _add(self, rows: Rows) -> bool:
        """Add policies that are new; return whether there are any."""
        fresh = []
        for i, (name, sign, members) in enumerate(zip(*rows, strict=True)):
            key = (int(name), sign > 0.0, np.packbits(members).tobytes())
            if key not in self._known:
                self._known.add(key)
                fresh.append(i)
        new = rows.picked(fresh)
        own = new.names[:, None] == self.columns.names
        other = new.sets[:, self.columns.ranks] & ~own
        kinds = (own * OWN + other * OTHER).astype(np.uint8)
        self._rows = self._rows.and_those(new)
        self._kinds = np.concatenate([self._kinds, kinds])
        self._distances = np.concatenate([self._distances, np.zeros(len(fresh))])
        self._room = np.empty((2, *self._kinds.shape))
        return bool(fresh)

    def _measure(self, v: Floats) -> Measured:
        values = np.empty(len(self._kinds))
        slopes, curves = self._room
        measure_policies(
            self._board.family,
            v,
            self._x,
            self._kinds,
            self._first[self._rows.names],
            self._rows.signs,
            self._distances,
            values,
            slopes,
            curves,
            np.empty(len(v)),
        )
        slopes /= self._unit
        curves /= np.sqrt(self._unit)
        return Measured(values / self._unit, slopes, curves)

    def _respond(self, v: Floats, limit: float, most: int) -> tuple[float, Rows]:
        """Return about what the cheapest policy costs, and some that cost less than a limit."""
        x, n = self._board.means, len(self._board.means)
        thetas, nats = self._grid
        everyone = np.bincount(self.columns.ranks, v, n)
        names, signs, sets, least = [], [], [], np.inf
        for j in range(len(self._low)):
            columns = self.columns.names == j
            mine = np.bincount(self.columns.ranks[columns], v[columns], n)
            for side in np.flatnonzero(self._others[j]):
                sign = 1.0 - 2.0 * side
                right = sign * (x - thetas[:, None]) > 0.0
                costs = np.where(right, 0.0, (everyone - mine) * nats)
                count = int(self._others[j, side]) + 1
                rest = np.partition(costs, count - 1, axis=1)[:, :count].sum(axis=1)
                values = np.einsum("gp,p->g", nats * right, mine) + rest
                least = min(least, float(values.min()))
                for i in _dips(values, limit, most):
                    # of arms that cost nothing those that will do so last come first
                    members = np.zeros(n, np.bool_)
                    members[np.lexsort((-sign * x, costs[i]))[:count]] = True
                    names.append(j)
                    signs.append(sign)
                    sets.append(members)
        found = Rows.none(n)
        if names:
            found = Rows(np.array(names, np.int64), np.array(signs), np.array(sets, np.bool_))
        return least, found


def _dips(values: Floats, limit: float, most: int) -> Ints:
    """Return where values below a limit are no larger than their neighbours: the smallest ones."""
    padded = np.concatenate([[np.inf], values, [np.inf]])
    dips = np.flatnonzero((values <= padded[:-2]) & (values <= padded[2:]) & (values < limit))
    return dips[np.argsort(values[dips], kind="stable")][:most]
