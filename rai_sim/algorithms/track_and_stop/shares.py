"""The shares of pulls at which an answer costs most to make wrong, found in a kernel between two
certificates.

As in `rai_sim.bounds.game`: of all w >= 0 with h_r(w) >= 1 for every alternative r those of least
sum have the best shares, and 1 / D is that sum; h_r is concave and homogeneous. A pool of
alternatives is kept. The convex function tau sum w - sum ln(h_r - 1) - sum ln w is minimised by
damped Newton steps, tau grows tenfold, and alternatives that the weights leave cheap join the pool.
A hundredth is enough here, for which three or four stages of some five steps do.

Certificates: any w has D >= min of h over all alternatives / sum w; any multipliers q >= 0 have
D <= max over arms of sum q_r d_r / sum q. With q_r = 1 / (tau (h_r - 1)) they meet as tau grows.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.stopping.run import new_moves
from rai_sim.engine import best_response
from rai_sim.engine.best_response import (
    GAUSSIAN,
    Moves,
    find_cheap_moves,
    find_cheapest_moves,
    measure_moves,
)
from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.positive_definite import add_squares, factor_matrix, solve_factored
from rai_sim.engine.stop import raised

#: Relative gap between the certificates that is good enough.
ENOUGH = 0.01
#: Stages, and Newton steps of each, at most.
_MOST_STAGES, _MOST_STEPS = 12, 12
#: Alternatives join the pool that cost less than so many times the cheapest one.
_CHEAP = 1.5
#: The gap that the first stage aims at, and the growth of tau.
_FIRST_GAP, _GROWTH = 0.3, 10.0
#: Share of even weights in those to begin with.
_EVEN = 0.1
#: A step to the border of what is allowed goes so far.
_NEARLY = 0.95
#: A Newton step that promises to lower the function by less ends a stage.
_CENTRED = 0.02
#: Rows of the pool, for N arms: _ROWS + 4 N.
_ROWS = 64


class Game(NamedTuple):
    """Room to find shares in; K named arms, R rows."""

    means: NDArray[np.float64]  # (N,) by rank, in units in which even weights of 1 cost 1
    named: NDArray[np.int64]  # (K,) ranks
    others: NDArray[np.int64]  # (K, 2) as in `best_response.find_cheapest_moves`
    shares: NDArray[np.float64]  # (N,) by rank: the best found
    w: NDArray[np.float64]
    tried: NDArray[np.float64]
    gradient: NDArray[np.float64]
    step: NDArray[np.float64]
    diagonal: NDArray[np.float64]
    cheapest: Moves  # K rows
    pool: Moves  # R rows
    size: NDArray[np.int64]  # (1,) rows of the pool that are used
    slopes: NDArray[np.float64]  # (R, N)
    curves: NDArray[np.float64]  # (R, N)
    squares: NDArray[np.float64]  # (2, R) factors
    matrix: NDArray[np.float64]
    upper: NDArray[np.float64]
    scale: NDArray[np.float64]
    rest: NDArray[np.float64]
    places: NDArray[np.int64]
    scratch: NDArray[np.float64]
    ends: NDArray[np.float64]


def new_game(N: int, K: int) -> Game:
    """Allocate for N arms, K of which are named."""
    rows = _ROWS + 4 * N
    return Game(
        means=np.empty(N),
        named=np.empty(K, np.int64),
        others=np.empty((K, 2), np.int64),
        shares=np.empty(N),
        w=np.empty(N),
        tried=np.empty(N),
        gradient=np.empty(N),
        step=np.empty(N),
        diagonal=np.empty(N),
        cheapest=new_moves(K, N),
        pool=new_moves(rows, N),
        size=np.zeros(1, np.int64),
        slopes=np.empty((rows, N)),
        curves=np.empty((rows, N)),
        squares=np.empty((2, rows)),
        matrix=np.empty((N, N)),
        upper=np.empty((N, N)),
        scale=np.empty(N),
        rest=np.empty(N),
        places=np.empty(N, np.int64),
        scratch=np.empty((best_response.SCRATCH, N)),
        ends=np.empty(best_response.OPEN),
    )


@kernel
def find_shares(game: Game, x: NDArray[np.float64], stop: NDArray[np.int64]) -> float:
    """Write the best shares for the named arms on falling means, beginning with those that are
    there; return the relative gap between the certificates, 1 where an alternative costs nothing:
    shares are even then. A raised flag ends the search."""
    n, w, shares = game.w.size, game.w, game.shares
    for p in range(n):
        game.means[p] = x[p]
        game.tried[p] = (1.0 - _EVEN) * shares[p] + _EVEN / n
        shares[p] = w[p] = 1.0
    unit = _cheapest(game)
    if not 0.0 < unit < np.inf:
        for p in range(n):
            shares[p] = 1.0 / n
        return 1.0
    for p in range(n):
        game.means[p] /= math.sqrt(unit)
        w[p] = game.tried[p]
    return _search(game, stop)


@kernel
def _search(game: Game, stop: NDArray[np.int64]) -> float:
    """Go through the stages; the best weights met become the shares."""
    n, w, shares = game.w.size, game.w, game.shares
    low, high, tau = 0.0, np.inf, 0.0
    _begin(game)
    for _ in range(_MOST_STAGES):
        least, total = _cheapest(game), _sum(w)
        if least / total > low:
            low = least / total
            for p in range(n):
                shares[p] = w[p] / total
        if low >= (1.0 - ENOUGH) * high or raised(stop):
            break
        _extend(game, _CHEAP * least if tau == 0.0 else max(_CHEAP * least, 1.0 + ENOUGH))
        grow = 1.0
        if least < 1.02 or tau == 0.0:
            grow = (1.5 if tau == 0.0 else 1.05) / least
            for p in range(n):
                w[p] *= grow
        if tau == 0.0:
            tau = (game.size[0] + n) / (_FIRST_GAP * _sum(w))
        elif grow < 1.3:
            tau *= _GROWTH
        _centre(game, tau, stop)
        high = min(high, _mixed_most(game))
    return 1.0 - low / high


@inlined
def _sum(w: NDArray[np.float64]) -> float:
    total = 0.0
    for p in range(w.size):
        total += w[p]
    return total


@inlined
def _cheapest(game: Game) -> float:
    """Return what the cheapest alternative costs at the weights."""
    values, least = game.cheapest.values, np.inf
    find_cheapest_moves(
        GAUSSIAN,
        game.w,
        game.means,
        game.named,
        game.others,
        np.inf,
        game.cheapest,
        game.scratch,
        game.ends,
    )
    for j in range(values.size):
        least = min(least, values[j])
    return least


@kernel
def _begin(game: Game) -> None:
    """Fill the pool with alternatives to begin with: every named arm passes the first arm beyond
    its border, and the last one before it any of those beyond, as far as there is room."""
    groups = 0
    for i in range(game.named.size):
        for side in range(2):
            groups += _is_nearest(game, i, side)
    game.size[0], most = 0, max((game.pool.arms.size - 2 * game.named.size) // (2 * groups), 1)
    for i in range(game.named.size):
        for side in range(2):
            if game.others[i, side] > 0:
                _begin_with(game, i, side, most if _is_nearest(game, i, side) else 1)


@inlined
def _is_nearest(game: Game, i: int, side: int) -> bool:
    """Whether no other named arm of the cluster is nearer to the border on a side."""
    if game.others[i, side] == 0:
        return False
    for j in range(game.named.size):
        nearer = game.named[j] > game.named[i] if side == 0 else game.named[j] < game.named[i]
        if nearer and game.others[j, side] == game.others[i, side]:
            return False
    return True


@kernel
def _begin_with(game: Game, i: int, side: int, most: int) -> None:
    """Let a named arm pass one of so many arms beyond a border, the nearest ones, in turn."""
    n, pool, others = game.w.size, game.pool, game.others[i, side]
    for j in range(others, min(others + most, n)):
        row = game.size[0]
        if row == pool.arms.size:
            return
        pool.arms[row], pool.signs[row] = game.named[i], 1.0 - 2.0 * side
        for p in range(n):
            place = p if side == 0 else n - 1 - p  # from the best, or from the worst
            pool.sets[row, place] = (p < others or p == j) and place != game.named[i]
        game.size[0] += 1


@kernel
def _extend(game: Game, limit: float) -> None:
    """Let alternatives that cost less than a limit at the weights join the pool."""
    size, rows = game.size[0], game.pool.arms.size
    rest = Moves(
        game.pool.arms[size:],
        game.pool.signs[size:],
        game.pool.distances[size:],
        game.pool.values[size:],
        game.pool.sets[size:],
    )
    found = find_cheap_moves(
        GAUSSIAN,
        game.w,
        game.means,
        game.named,
        game.others,
        limit,
        rest,
        game.scratch,
        game.ends,
    )
    for row in range(size, min(size + found, rows)):
        if not _known(game.pool, row, game.size[0]):
            _copy(game.pool, row, game.size[0])
            game.size[0] += 1


@kernel
def _known(pool: Moves, row: int, size: int) -> bool:
    """Whether one of the first rows is the same alternative."""
    for other in range(size):
        if pool.arms[other] == pool.arms[row] and pool.signs[other] == pool.signs[row]:
            same = True
            for p in range(pool.sets.shape[1]):
                same = same and pool.sets[other, p] == pool.sets[row, p]
            if same:
                return True
    return False


@kernel
def _copy(pool: Moves, row: int, to: int) -> None:
    """Copy what an alternative is."""
    pool.arms[to], pool.signs[to] = pool.arms[row], pool.signs[row]
    for p in range(pool.sets.shape[1]):
        pool.sets[to, p] = pool.sets[row, p]


@inlined
def _measure(game: Game, w: NDArray[np.float64]) -> None:
    """Measure the pool at weights."""
    measure_moves(
        GAUSSIAN, w, game.means, game.pool, game.size[0], game.slopes, game.curves, game.scratch
    )


@kernel
def _centre(game: Game, tau: float, stop: NDArray[np.int64]) -> None:
    """Take Newton steps until the function is nearly least."""
    n, w, tried, step = game.w.size, game.w, game.tried, game.step
    _measure(game, w)
    for _ in range(_MOST_STEPS):
        if raised(stop):
            return
        fall = _newton(game, tau)
        if not fall > _CENTRED:
            return
        length = 1.0
        for p in range(n):
            if step[p] < 0.0:
                length = min(length, -_NEARLY * w[p] / step[p])
        while length > 1e-12:
            for p in range(n):
                tried[p] = w[p] + length * step[p]
            _measure(game, tried)
            if _not_passed(game, tau, fall):
                break
            length *= 0.5
        if length <= 1e-12:
            _measure(game, w)
            return
        for p in range(n):
            w[p] = tried[p]


@kernel
def _newton(game: Game, tau: float) -> float:
    """Write a Newton step at the weights that were measured; return what it promises to lower the
    function by, twice."""
    n, w, values, size = game.w.size, game.w, game.pool.values, game.size[0]
    for row in range(size):
        s = values[row] - 1.0
        game.squares[0, row], game.squares[1, row] = 1.0 / (s * s), 1.0 / s
    _slope(game, w, tau)
    for p in range(n):
        game.diagonal[p] = 1.0 / (w[p] * w[p])
        game.gradient[p] = -game.gradient[p]
    add_squares(
        game.matrix,
        size,
        game.slopes,
        game.squares[0],
        game.curves,
        game.squares[1],
        game.diagonal,
        game.places,
    )
    factor_matrix(game.matrix, game.upper, game.scale)
    solve_factored(game.matrix, game.upper, game.scale, game.gradient, game.step, game.rest)
    fall = 0.0
    for p in range(n):
        fall += game.gradient[p] * game.step[p]
    return fall


@kernel
def _slope(game: Game, w: NDArray[np.float64], tau: float) -> None:
    """Write the function's gradient at weights that were measured."""
    n, gradient = w.size, game.gradient
    for p in range(n):
        gradient[p] = tau - 1.0 / w[p]
    for row in range(game.size[0]):
        q = 1.0 / (game.pool.values[row] - 1.0)
        for p in range(n):
            gradient[p] -= q * game.slopes[row, p]


@inlined
def _not_passed(game: Game, tau: float, fall: float) -> bool:
    """Whether what was tried is allowed, and not far beyond where the function is least."""
    for row in range(game.size[0]):
        if not game.pool.values[row] > 1.0:
            return False
    _slope(game, game.tried, tau)
    along = 0.0
    for p in range(game.tried.size):
        along += game.gradient[p] * game.step[p]
    return along <= 0.5 * fall


@kernel
def _mixed_most(game: Game) -> float:
    """Return the most that a pull of an arm tells against the mixture of alternatives."""
    n, mixed, total = game.w.size, game.gradient, 0.0
    for p in range(n):
        mixed[p] = 0.0
    for row in range(game.size[0]):
        q = 1.0 / (game.pool.values[row] - 1.0)
        total += q
        for p in range(n):
            mixed[p] += q * game.slopes[row, p]
    most = 0.0
    for p in range(n):
        most = max(most, mixed[p])
    return most / total
