"""Bounds on which the sampler of binomials rests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from samples import Floats

from rai_sim.engine.jit import driver, exposed
from rai_sim.engine.sampling.nearly_normal import (
    _exact_log_height,
    _log_height,
    scaled_log_binomial,
    tail_envelope,
)

scaled_log_binomial = exposed(scaled_log_binomial)
tail_envelope = exposed(tail_envelope)


@driver
def central_excess(k: int, p: float, z: Floats, out: Floats) -> None:
    """Write by how much the logarithm of f exp(z^2/2 - B) (1 + 2 g z) passes 0, its lower and its
    upper bound, and the widest band."""
    for i in range(z.size):
        x, lower, width = _log_height(k, p, z[i])
        exact = _exact_log_height(x, np.float64(k), p, z[i])
        out[0] = max(out[0], exact)
        out[1] = max(out[1], lower - exact)
        out[2] = max(out[2], exact - lower - width)
        out[3] = max(out[3], width)


@driver
def tail_excess(k: int, p: float, side: float) -> float:
    """Return by how much the logarithm of f passes that of a tail's density, at the outer end of a
    cell."""
    far, rate, height = tail_envelope(np.float64(k), p, side)
    mean = k * p
    edge = np.floor(mean + side * far + 0.5)
    worst = -np.inf
    for i in range(int(9.0 * math.sqrt(mean * (1.0 - p))) + 3):
        x = edge + side * i
        if 0.0 <= x <= k:
            beyond = max(side * (x - mean) + 0.5 - far, 0.0)
            worst = max(worst, scaled_log_binomial(x, np.float64(k), p) - height + rate * beyond)
    return worst


@pytest.mark.parametrize(
    "variance", [72.0, 73.7, 80.0, 100.0, 150.0, 225.0, 400.0, 1000.0, 3e3, 1e4, 1e5, 1e6]
)
def test_the_normal_density_lies_above_binomials(variance: float) -> None:
    """What the sampler's proof rests on, for p from 1e-7 to 1/2: B leaves 1/s^2 to spare, each
    try's bounds hold, tails are covered."""
    z = np.linspace(-3.0, 3.0, 2001)
    for p in (0.5, 0.4999, 0.45, 0.4, 0.3, 0.2, 0.1, 0.05, 0.01, 1e-3, 1e-5, 1e-7):
        for more in (0, 1, 2, 5):
            k = math.ceil(variance / (p * (1.0 - p))) + more
            excess = np.full(4, -np.inf)
            central_excess(k, p, z, excess)
            assert excess[0] < -1.0 / variance
            assert excess[1] < 0.0
            assert excess[2] < 0.0
            assert excess[3] < 0.3
            if variance <= 1e5:
                assert tail_excess(k, p, 1.0) < -0.3
                assert tail_excess(k, p, -1.0) < -0.3
