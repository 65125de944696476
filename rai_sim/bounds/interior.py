"""The least total weight that makes every one of some concave functions at least 1, by
interior-point methods.

    minimise the sum of w subject to w >= 0 and h_r(w) >= 1 for r = 1..R,

h_r concave and homogeneous of degree 1, its second derivative minus the square of one vector. With
multipliers q of the functions and y of the weights, and slopes G = (dh_r / dw_p), the conditions of
optimality are

    1 - G^T q - y = 0,  h - 1 - s = 0,  q s = 0,  y w = 0,  all of w, s, q, y >= 0.

`_primal_dual` solves them by Newton's method, the last two relaxed to a mu that goes to 0
(Mehrotra's predictor and corrector): some ten steps. It has no proof of convergence, and where
second derivatives jump, as where an arm begins to be moved, it fails for one pool in some
thousands. Then `_barrier` goes the slow way, which always leads there: the convex function
tau sum w - sum ln(h - 1) - sum ln w is minimised by damped Newton steps, tau grows, and each of its
minima is a point from which the fast way is tried again.

Nobody need believe either: any q >= 0 bounds the optimum from below by the sum of q over the
largest of G^T q, as homogeneity makes h(w) = G w, and a w is what it is worth.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.positive_definite import factor, solve, sum_of_squares

Floats = NDArray[np.float64]

#: Steps of the fast method before it counts as failed, and the shares of the way to the border that
#: one of its steps goes.
_MOST_STEPS, _SHARE = 30, 0.995
#: The slow method: tau grows so much at a time, so often, with so many Newton steps at most each.
_GROWTH, _STAGES, _MOST_NEWTON = 8.0, 40, 30
#: Relative: a duality gap that rounding has eaten up.
_NOTHING = 1e-14


class Measured(NamedTuple):
    """Functions at some weights: values (R,), slopes (R, N), and curves (R, N), the vectors whose
    squares are minus the second derivatives."""

    values: Floats
    slopes: Floats
    curves: Floats


#: Measures functions at weights; the arrays may be overwritten by the next call.
Measure = Callable[[Floats], Measured]


class Found(NamedTuple):
    """The best weights and multipliers met, and what they prove: the optimum, the sum of w, lies
    between 1 / high and 1 / low. `beside` are the weights with whose slopes the multipliers prove
    `high`."""

    weights: Floats
    low: float
    multipliers: Floats
    beside: Floats
    high: float


def least_weight(measure: Measure, start: Floats, precision: float) -> Found:
    """Solve the problem to a relative precision, as far as rounding allows.

    Parameters
    ----------
    start : (N,) float64
        Positive weights.
    """
    best = _Best(precision)
    with np.errstate(all="ignore"):  # a method that fails is told by what it returns
        _primal_dual(measure, _begin(measure, start), best)
        if not best.reached():
            _barrier(measure, start, best)
    return best.found()


class _Point(NamedTuple):
    """Weights, by how much the functions exceed 1, and both kinds of multipliers: all positive."""

    w: Floats
    s: Floats
    q: Floats
    y: Floats

    def moved(self, by: _Point, along: float, beside: float) -> _Point:
        """Return the point after a step."""
        w, s, q, y = self
        dw, ds, dq, dy = by
        return _Point(w + along * dw, s + along * ds, q + beside * dq, y + beside * dy)

    def gap(self) -> float:
        """Return what complementarity leaves open."""
        return float(self.q @ self.s + self.w @ self.y)


def _begin(measure: Measure, w: Floats) -> _Point:
    """Return a point from which the fast way may be gone."""
    s = np.maximum(measure(w).values - 1.0, 0.1)
    scale = w.sum() / ((1.0 / s).sum() + len(w))
    return _Point(w, s, scale / s, scale / w)


class _Best:
    """The best that was met."""

    def __init__(self, precision: float) -> None:
        self._precision = precision
        self._weights = self._multipliers = self._beside = np.zeros(0)
        self._low, self._high = 0.0, np.inf

    def see(self, w: Floats, q: Floats, at: Measured) -> None:
        """Look at weights and multipliers."""
        low = float(at.values.min() / w.sum())
        if low > self._low:
            self._weights, self._low = w, low
        high = float(_mixed(q, at.slopes).max() / q.sum())
        if high < self._high:
            self._multipliers, self._beside, self._high = q, w, high

    def reached(self) -> bool:
        """Whether low and high agree."""
        return self._low > 0.0 and self._high - self._low <= self._precision * self._high

    def found(self) -> Found:
        return Found(self._weights, self._low, self._multipliers, self._beside, self._high)


def _primal_dual(measure: Measure, now: _Point, best: _Best) -> None:
    """Go the fast way."""
    size = len(now.q) + len(now.w)
    for _ in range(_MOST_STEPS):
        at = measure(now.w)
        best.see(now.w, now.q, at)
        gap = now.gap()
        if best.reached() or not _NOTHING * now.w.sum() < gap < np.inf:
            return
        w, s, q, y = now
        newton = _Newton(now, at)
        step = newton.step(-q * s, -w * y)
        after = now.moved(step, *_lengths(now, step)).gap()
        aim = gap / size * (after / gap) ** 3
        step = newton.step(aim - step.q * step.s - q * s, aim - step.w * step.y - w * y)
        now = now.moved(step, *_lengths(now, step))


class _Newton:
    """The linear equations of a step, solved for several right-hand sides."""

    def __init__(self, now: _Point, at: Measured) -> None:
        w, s, q, y = now
        self._now, self._slopes = now, at.slopes
        self._primal, self._dual = at.values - 1.0 - s, 1.0 - _mixed(q, at.slopes) - y
        self._equations = _Equations(at, q / s, q, y / w)

    def step(self, to_qs: Floats, to_wy: Floats) -> _Point:
        """Return changes of w, s, q, y that change q s and w y by so much, to first order."""
        w, s, q, y = self._now
        right = _mixed((to_qs - q * self._primal) / s, self._slopes) + to_wy / w - self._dual
        dw = self._equations.solve(right)
        ds = np.einsum("rn,n->r", self._slopes, dw) + self._primal
        return _Point(dw, ds, (to_qs - q * ds) / s, (to_wy - y * dw) / w)


def _lengths(now: _Point, step: _Point) -> tuple[float, float]:
    """Return how much of a step w and s, and q and y, can go."""
    return (
        min(_length(now.w, step.w), _length(now.s, step.s)),
        min(_length(now.q, step.q), _length(now.y, step.y)),
    )


def _barrier(measure: Measure, start: Floats, best: _Best) -> None:
    """Go the slow way, and from each of its stages the fast way as far as that leads."""
    w = start * (2.0 / measure(start).values.min())
    tau = (len(measure(w).values) + len(w)) / w.sum()
    for _ in range(_STAGES):
        w = _centred(measure, w, tau)
        s = measure(w).values - 1.0
        _primal_dual(measure, _Point(w, s, 1.0 / (tau * s), 1.0 / (tau * w)), best)
        if best.reached():
            return
        tau *= _GROWTH


def _centred(measure: Measure, w: Floats, tau: float) -> Floats:
    """Return the weights at which tau sum w - sum ln(h - 1) - sum ln w is least."""
    at = measure(w)
    for _ in range(_MOST_NEWTON):
        s, slopes = at.values - 1.0, at.slopes
        gradient = tau - _mixed(1.0 / s, slopes) - 1.0 / w
        dw = -_Equations(at, s**-2.0, 1.0 / s, w**-2.0).solve(gradient)
        fall = float(-gradient @ dw)
        if not fall > 1e-6:
            break
        length = _length(w, dw)
        while length > 1e-12:
            tried = w + length * dw
            at = measure(tried)
            if (at.values > 1.0).all():
                gradient = tau - _mixed(1.0 / (at.values - 1.0), at.slopes) - 1.0 / tried
                if gradient @ dw <= 0.5 * fall:  # the least is not passed by much
                    break
            length *= 0.5
        else:
            return w
        w = tried
    return w


class _Equations:
    """Equations with the matrix of a step: rows' squares times factors, and a diagonal."""

    def __init__(self, at: Measured, slope: Floats, curve: Floats, diagonal: Floats) -> None:
        n = len(diagonal)
        self._matrix, self._upper, self._scale = np.empty((n, n)), np.empty((n, n)), np.empty(n)
        sum_of_squares(
            self._matrix,
            len(at.slopes),
            at.slopes,
            slope,
            at.curves,
            curve,
            diagonal,
            np.empty(n, np.int64),
        )
        factor(self._matrix, self._upper, self._scale)

    def solve(self, right: Floats) -> Floats:
        """Return the solution for a right-hand side."""
        found, room = np.empty_like(right), np.empty_like(right)
        solve(self._matrix, self._upper, self._scale, right, found, room)
        return found


def _mixed(q: Floats, rows: Floats) -> Floats:
    """Return the sum of rows times factors; not by a BLAS (see `positive_definite`)."""
    found: Floats = np.einsum("r,rn->n", q, rows)
    return found


def _length(now: Floats, change: Floats) -> float:
    """Return how much of a change keeps all numbers well above 0, at most 1."""
    return min(1.0, float(_SHARE / np.max(-change / now, initial=1e-300)))
