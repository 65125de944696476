"""Binomial sums of large variance, by rejection from a skewed normal density with exponential tails."""

from __future__ import annotations

import math

import numpy as np

from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.sampling.log_probability import HALF_LOG_2PI, log_binomial
from rai_sim.engine.sampling.normal import normal
from rai_sim.engine.streams import State, uniform

#: The normal density's edge in standard deviations; the share of tries beyond it, and the area
#: under each tail's density, over that of exp(B), in standard deviations.
_EDGE = 3.0
_TAILS = 1.0 / 160.0
_TAIL_AREA = 0.5 * _TAILS / (1.0 - _TAILS) * math.sqrt(2.0 * math.pi)


@inlined
def binomial_normal(k: int, p: float, state: State) -> tuple[int, State]:
    """Rejection from a skewed normal density; k p (1 - p) >= 72, p <= 1/2.

    Let s be the standard deviation and f the probabilities times s sqrt(2 pi), each spread over a
    cell of length 1. A normal z stands for the point k p + s (z + g (z^2 - 1)), g = (1 - 2 p) / (6
    s), whose law has the binomial's skewness (Cornish and Fisher), so that f exp(z^2/2) (1 + 2 g
    z), which has to be bounded, is 1 up to terms in 1/s^2 and up to the difference between a cell's
    middle and its outer end, 1/2 z/s. For |z| <= 3 (`_EDGE`) it is at most exp(B) with B = 1.5/s +
    2/s^2; the tests find less than 1.5/s + 0.7/s^2 wherever they look. Beyond the edges
    probabilities fall at least as fast as at the edge, f being log-concave, and exponential tails
    lie above them (`_tail`); one try in 160 (`_TAILS`) is made there, which suffices for that.

    Most tries are decided by the bounds of `_log_height`.
    """
    u, state = uniform(state)
    z, state = normal(state)
    x, lower, _width = _log_height(k, p, z)
    if _TAILS <= u < 1.0 + lower and abs(z) <= _EDGE:
        return int(x), state
    return _binomial_undecided(k, p, u, z, state)


@inlined
def _log_height(k: int, p: float, z: float) -> tuple[float, float, float]:
    """Return z's place, a lower bound of log(f exp(z^2/2 - B) (1 + 2 g z)) there, |z| <= 3, and how
    far above it the truth may be.

    By Stirling's formula log f = -a h(d/a) - b h(-d/b) - log(x/a (k - x)/b)/2 - (1/x + 1/(k - x) -
    1/k)/12 and less than 0.02/s^4, where d is the distance of x from the mean a = k p, b = k - a,
    and h(z) = (1 + z) log(1 + z) - z = z^2/2 - z^3/6 + z^4/12 - ..; |d| <= 0.4 a. Of each part the
    terms up to 1/s^2 are taken; with d in units of s from here on, the next ones of h are at most
    0.08 |d|^5 / s^3, those of the second part 0.52 |d|^3 / s^3, of the third 0.28 |d| / s^3, and of
    log(1 + 2 g z) 0.4 |2 g z|^3.
    """
    q = 1.0 - p
    pq, mean = p * q, k * p
    variance = k * pq
    inverse, sd = 1.0 / variance, math.sqrt(variance)
    each = sd * inverse
    tilt = (q - p) * each
    x = np.floor(mean + sd * (z + (1.0 / 6.0) * tilt * (z * z - 1.0)) + 0.5)
    d = (x - mean) * each
    d2, bent, size = d * d, (1.0 / 3.0) * tilt * z, abs(d)
    second = d2 * (0.5 * pq - (1.0 / 12.0 - 0.25 * pq) * d2) - (1.0 / 12.0) * (1.0 - pq) - 2.0
    middle = (
        0.5 * (z * z - d2)
        + tilt * d * ((1.0 / 6.0) * d2 - 0.5)
        + 0.25 * tilt * tilt * d2
        + bent
        - 0.5 * bent * bent
    )
    error = (
        inverse * each * (size * (d2 * (0.08 * d2 + 0.55) + 0.3) + 0.3)
        + 0.4 * abs(bent) * bent * bent
        + 1e-9
    )
    return x, middle - 1.5 * each + inverse * second - error, 2.0 * error


@kernel
def _binomial_undecided(k: int, p: float, u: float, z: float, state: State) -> tuple[int, State]:
    """Decide about a try of `binomial_normal`, and make others until one is accepted."""
    while True:
        if u < _TAILS:
            x, accepted, state = _tail(np.float64(k), p, state)
            if accepted:
                return int(x), state
        elif abs(z) <= _EDGE:
            x, lower, width = _log_height(k, p, z)
            level = (u - _TAILS) * (1.0 / (1.0 - _TAILS))
            least = math.exp(lower)
            # exp(w) <= 1 + 1.2 w for w <= 0.3, and the widest band is narrower
            if level <= least or (
                level < least * (1.0 + 1.2 * width)
                and math.log(level) <= _exact_log_height(x, np.float64(k), p, z)
            ):
                return int(x), state
        u, state = uniform(state)
        z, state = normal(state)


@inlined
def _log_envelope(sd: float) -> float:
    """Return B of `binomial_normal`."""
    return (1.5 + 2.0 / sd) / sd


@kernel
def _exact_log_height(x: float, k: float, p: float, z: float) -> float:
    """Return what `_log_height` bounds."""
    sd = math.sqrt(k * (p * (1.0 - p)))
    return (
        scaled_log_binomial(x, k, p)
        + 0.5 * z * z
        + math.log1p((1.0 - 2.0 * p) / (3.0 * sd) * z)
        - _log_envelope(sd)
    )


@kernel
def _tail(k: float, p: float, state: State) -> tuple[float, bool, State]:
    """Try a place beyond the edge, on either side, from an exponential density; return it and
    whether it is accepted."""
    u, state = uniform(state)
    v, state = uniform(state)
    w, state = uniform(state)
    side = 1.0 if u < 0.5 else -1.0
    far, rate, height = tail_envelope(k, p, side)
    beyond = -math.log(1.0 - v) / rate
    x = np.floor(k * p + side * (far + beyond) + 0.5)
    if x < 0.0 or x > k:
        return x, False, state
    return x, math.log(w) + height - rate * beyond <= scaled_log_binomial(x, k, p), state


@kernel
def tail_envelope(k: float, p: float, side: float) -> tuple[float, float, float]:
    """Return where the right (side 1) or left (-1) tail begins, from the mean; the rate at which
    its density falls; its log at the edge."""
    mean, sd = k * p, math.sqrt(k * (p * (1.0 - p)))
    far = sd * _EDGE + side * (1.0 - 2.0 * p) * ((_EDGE * _EDGE - 1.0) / 6.0)
    # the rate is that from the edge's own cell to the next one out
    edge = np.floor(mean + side * far + 0.5)
    odds = p / (1.0 - p)
    rate = (
        -math.log((k - edge) / (edge + 1.0) * odds)
        if side > 0.0
        else -math.log(edge / (k - edge + 1.0) / odds)
    )
    return far, rate, math.log(rate * sd * _TAIL_AREA) + _log_envelope(sd)


@kernel
def scaled_log_binomial(x: float, k: float, p: float) -> float:
    """Return log P(Binomial(k, p) = x) and log(s sqrt(2 pi)), s the standard deviation."""
    return log_binomial(x, k, p) + 0.5 * math.log(k * (p * (1.0 - p))) + HALF_LOG_2PI
