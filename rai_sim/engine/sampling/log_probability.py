"""Log probabilities of binomials and Poisson counts in Loader's saddle-point form (2000): its terms are small numbers,
so they stay accurate where differences of log-gammas would have lost all digits (k = 10^14 and
more)."""

from __future__ import annotations

import math

import numpy as np

from rai_sim.engine.jit import kernel

HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
#: log(n!) minus Stirling's formula, n = 0..15; from 16 on a series is exact to a double.
_STIRLING = np.array(
    [0.0] + [math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - HALF_LOG_2PI for n in range(1, 16)]
)


@kernel
def log_binomial(x: float, k: float, p: float) -> float:
    """Return log P(Binomial(k, p) = x), 0 < p < 1, accurate for every k."""
    if k == 0.0:
        return 0.0
    if x == 0.0:
        return k * math.log1p(-p)
    if x == k:
        return k * math.log(p)
    return stirling_error(k) + smooth_part(x, k, p) + 0.5 * math.log(k / x / (k - x)) - HALF_LOG_2PI


@kernel
def log_poisson(x: float, mean: float) -> float:
    """Return log P(Poisson(mean) = x), mean > 0, accurate for every mean."""
    if x == 0.0:
        return -mean
    return -stirling_error(x) - deviance(x, mean) - 0.5 * math.log(x) - HALF_LOG_2PI


@kernel
def smooth_part(x: float, k: float, p: float) -> float:
    """Return log P(Binomial(k, p) = x) less log sqrt(k / (2 pi x (k - x))) and less a term in k
    alone, 0 < x < k."""
    y = k - x
    return -stirling_error(x) - stirling_error(y) - deviance(x, k * p) - deviance(y, k * (1.0 - p))


@kernel
def stirling_error(n: float) -> float:
    """Return log(n!) - log(sqrt(2 pi n) (n/e)^n)."""
    if n < 16.0:
        return _STIRLING[int(n)]
    inverse = 1.0 / n
    square = inverse * inverse
    series = 1 / 1260 - (1 / 1680 - square * (1 / 1188)) * square
    return (1 / 12 - (1 / 360 - series * square) * square) * inverse


@kernel
def deviance(x: float, mean: float) -> float:
    """Return x log(x / mean) + mean - x, without cancellation near x = mean."""
    difference = x - mean
    ratio = difference / (x + mean)
    if abs(ratio) >= 0.1:
        return x * math.log(x / mean) - difference
    # with r the ratio, difference r + 2 x (r^3/3 + r^5/5 + ..): for |r| < 0.1 the first omitted
    # term is below 1e-18 of the sum
    square = ratio * ratio
    tail = 1 / 11 + square * (1 / 13 + square * (1 / 15 + square * (1 / 17)))
    series = 1 / 3 + square * (1 / 5 + square * (1 / 7 + square * (1 / 9 + square * tail)))
    return difference * ratio + 2.0 * x * ratio * square * series
