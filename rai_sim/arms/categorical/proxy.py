"""The smallest variance proxy of a law on a few values, and that of many arms."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

#: With more arms than this, every arm's variance proxy is Hoeffding's bound instead of the best
#: one.
_MOST_ARMS_FOR_BEST_PROXY = 1000
#: The proxy of a reward that is certain: certificates divide by it.
_LEAST = 1e-300


def largest_variance_proxy(steps: NDArray[np.float64], probabilities: NDArray[np.float64]) -> float:
    """Return a variance proxy of which every arm's reward is sub-Gaussian."""
    if len(probabilities) > _MOST_ARMS_FOR_BEST_PROXY:
        return max(float(np.ptp(steps)) ** 2 / 4, _LEAST)
    return max(best_variance_proxy(steps, row) for row in probabilities)


def best_variance_proxy(values: NDArray[np.float64], p: NDArray[np.float64]) -> float:
    """Return a number, at most 2.1 % above the smallest, of which a law is sub-Gaussian as a
    variance proxy.

    The smallest is the supremum over t of 2 K(t) / t^2, K the centred cumulant generating function.
    K is convex with minimum K(0) = 0, so between grid points of ratio 1.01 the quotient is at most
    1.01^2 times its value at the farther one. In units of the width: below the grid the variance
    times 1 + t bounds it (Bernstein). Above the grid K(t) <= |t| leaves less than the variance, or
    than 1/6000, which the supremum passes: one of the extreme levels lies 1/2 or more from the
    mean, and no double is a probability below 2^-1074 = e^-744.5, so on that side K(3000) >= 1500 -
    744.5.
    """
    possible = p > 0.0
    width = float(np.ptp(values[possible]))
    if width == 0.0:
        return _LEAST
    centred, p = (values[possible] - float(p @ values)) / width, p[possible]
    variance = float(p @ centred**2)
    best = 1.001 * variance
    first, last = 1e-3, 2.0 / max(variance, 1.0 / 6000.0)
    grid = first * 1.01 ** np.arange(math.ceil(math.log(last / first, 1.01)) + 1)
    for t in (grid, -grid):
        exponents = np.outer(t, centred)
        top = exponents.max(axis=1)
        cumulant = top + np.log(np.exp(exponents - top[:, None]) @ p)
        best = max(best, 1.01**2 * float((2.0 * cumulant / t**2).max()))
    return max(min(best, 0.25) * width * width, _LEAST)
