"""Standard normals.

False alarms: fewer than 20 statistical comparisons, each at the level of `statistics_checks`;
the seeds are fixed. Negative controls: the same draws, compared with a law that is 1/20 of a standard
deviation off, must be rejected.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from samples import KEY, Floats, Words, check_both
from scipy import stats
from statistics_checks import (
    LEVEL,
    Law,
    bin_edges,
    chi_square,
    counts_in,
    independence,
    masses,
    z_test,
)

from rai_sim.engine.jit import driver
from rai_sim.engine.sampling import (
    normal,
)
from rai_sim.engine.streams import replication_stream


@driver
def draw_normal(key: Words, stream: int, out: Floats) -> None:
    """Fill `out` with standard normals."""
    state = replication_stream(key, stream, key[2:])
    for i in range(out.size):
        out[i], state = normal(state)


@driver
def draw_normal_beyond(bound: float, key: Words, stream: int, out: Floats) -> None:
    """Fill `out` with those standard normals whose size exceeds a bound."""
    state = replication_stream(key, stream, key[2:])
    for i in range(out.size):
        out[i] = 0.0
        while abs(out[i]) <= bound:
            out[i], state = normal(state)


@pytest.mark.landing
def test_normal() -> None:
    """Chi-square over 300 bins, Kolmogorov-Smirnov, four moments, sign against size: seven
    comparisons.

    Negative controls: normals of mean 0.02 and of standard deviation 1.02.
    """
    z = np.empty(2_000_000)
    draw_normal(KEY, 30, z)
    edges = bin_edges(stats.norm, z.size, 300, whole=False)
    counts = counts_in(edges, z)
    assert chi_square(counts, masses(stats.norm, edges)) > LEVEL
    for wrong in (stats.norm(0.02), stats.norm(0.0, 1.02)):
        assert chi_square(counts, masses(wrong, edges)) < LEVEL
    assert stats.kstest(z[:1_000_000], stats.norm.cdf).pvalue > LEVEL
    for order, moment, variance in ((1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)):
        assert z_test(float((z**order).mean()), moment, math.sqrt(variance / z.size)) > LEVEL
    size = np.minimum(abs(z) * 10.0, 35.0).astype(np.int64)
    assert independence([np.bincount(size[z < 0.0]), np.bincount(size[z >= 0.0])]) > LEVEL


class Beyond:
    """A law on the positive half line given that it exceeds a bound."""

    def __init__(self, law: Law, bound: float) -> None:
        """Keep both."""
        self.law, self.bound, self.all = law, bound, law.sf(bound)

    def cdf(self, x: Floats) -> Floats:
        """Return P(X <= x | X > bound)."""
        return 1.0 - self.sf(x)

    def sf(self, x: Floats) -> Floats:
        """Return P(X > x | X > bound)."""
        above: Floats = self.law.sf(np.maximum(x, self.bound)) / self.all
        return above

    def ppf(self, q: Floats) -> Floats:
        """Return the quantile, by bisection."""
        low, high = np.full(np.shape(q), self.bound), np.full(np.shape(q), self.bound + 40.0)
        for _ in range(60):
            middle = 0.5 * (low + high)
            enough = self.cdf(middle) >= q
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return high


def test_the_tail_of_the_normal() -> None:
    """30,000 normals beyond 3.6, where the ziggurat's tail begins at 3.654; two comparisons.

    Negative control: an exponential tail, the proposal without its acceptance step.
    """
    z = np.empty(30_000)
    draw_normal_beyond(3.6, KEY, 31, z)
    tail = Beyond(stats.norm, 3.6)
    edges = bin_edges(tail, z.size, 20, whole=False)
    check_both(tail, Beyond(stats.expon(0.0, 1.0 / 3.654), 3.6), counts_in(edges, abs(z)), edges)
    assert abs(z).max() > 5.0  # expected 54 times
    assert chi_square([(z < 0.0).sum(), (z > 0.0).sum()], [0.5, 0.5]) > LEVEL
