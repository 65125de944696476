"""Hypergeometric draws against SciPy's law, and against tables where SciPy is slow.

False alarms: fewer than 200 statistical comparisons, each at the level of `statistics_checks`;
the seeds are fixed. Negative controls: the same draws, compared with a law that is 1/20 of a standard
deviation off, must be rejected.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from samples import KEY, SHIFT, Floats, Ints, Words, check_both
from scipy import stats
from statistics_checks import (
    LEVEL,
    Tabulated,
    bin_edges,
    chi_square,
    counts_in,
    hypergeometric_law,
)

from rai_sim.engine.jit import driver
from rai_sim.engine.sampling import (
    hypergeometric,
)
from rai_sim.engine.streams import replication_stream


@driver
def draw_hypergeometric(k: int, successes: int, h: int, key: Words, stream: int, out: Ints) -> None:
    """Fill `out` with successes among h of k."""
    state = replication_stream(key, stream, key[2:])
    for i in range(out.size):
        out[i], state = hypergeometric(k, successes, h, state)


def hypergeometric_cases() -> list[tuple[int, int, int]]:
    """Return populations up to 10^12, successes and draws: few and many, all symmetries, both
    methods."""
    cases = [
        (2, 1, 1),
        (9, 4, 5),
        (16, 8, 8),
        (18, 9, 9),
        (19, 10, 9),
        (40, 9, 20),
        (64, 30, 1),
        (64, 2, 31),
        (1000, 8, 400),
        (1000, 9, 400),
    ]
    for k, s, h in (
        (64, 20, 11),
        (64, 32, 32),
        (1000, 300, 70),
        (10**4, 5000, 5000),
        (10**6, 9, 10**5),
        (10**6, 3 * 10**5, 77),
        (10**9, 12, 4 * 10**8),
        (10**9, 10**5, 10**5),
        (10**9, 10**7, 3 * 10**8),
        (10**9, 5 * 10**8, 123_456_789),
        (10**12, 8, 10**11),
        (10**12, 10**6, 10**6),
        (10**12, 10**6, 2 * 10**11),
        (10**12, 10**8, 4 * 10**11),
    ):
        cases += [(k, s, h), (k, k - s, h), (k, s, k - h), (k, k - s, k - h)]
    return [*cases, (10**12, 2 * 10**11, 5 * 10**11)]


def test_tabulated_hypergeometric_laws_are_scipys() -> None:
    """The reference of the next tests agrees with SciPy wherever SciPy is quick."""
    for k, s, h in hypergeometric_cases():
        if k <= 10**6:
            law, scipys = hypergeometric_law(k, s, h), stats.hypergeom(k, s, h)
            x = np.unique(scipys.ppf(np.linspace(0.001, 0.999, 30)))
            assert law.cdf(x) == pytest.approx(scipys.cdf(x), rel=1e-9, abs=1e-12)
            assert law.sf(x) == pytest.approx(scipys.sf(x), rel=1e-9, abs=1e-12)
            assert law.ppf(law.cdf(x) - 1e-9).tolist() == x.tolist()


@pytest.mark.parametrize(("k", "s", "h"), hypergeometric_cases())
def test_hypergeometric(k: int, s: int, h: int) -> None:
    """Chi-square; at most two comparisons a case."""
    draws = np.empty(100_000, np.int64)
    draw_hypergeometric(k, s, h, KEY, 40 + s % 1000 + h % 7, draws)
    assert draws.min() >= max(0, s + h - k)
    assert draws.max() <= min(s, h)
    law = hypergeometric_law(k, s, h)
    sd = math.sqrt(h / k * s * (1.0 - s / k) * (k - h) / (k - 1.0))
    wrong = ShiftedBetween(law, SHIFT * sd)
    edges = bin_edges(law, draws.size)
    check_both(law, wrong, counts_in(edges, draws), edges)
    if sd > 100.0:
        assert chi_square(np.bincount(draws % 16, minlength=16), [1 / 16] * 16) > LEVEL


class ShiftedBetween:
    """The law of X + a, spread over integers: X + floor(a), or one more with probability a -
    floor(a)."""

    def __init__(self, law: Tabulated, by: float) -> None:
        """Keep both."""
        self.law, self.by = law, by

    def cdf(self, x: Floats) -> Floats:
        """Return P(X + a <= x)."""
        return 1.0 - self.sf(x)

    def sf(self, x: Floats) -> Floats:
        """Return P(X + a > x)."""
        whole = math.floor(self.by)
        more = self.by - whole
        above: Floats = (1.0 - more) * self.law.sf(x - whole) + more * self.law.sf(x - whole - 1)
        return above

    def ppf(self, q: Floats) -> Floats:
        """Return nothing: only probabilities of given bins are asked for."""
        raise NotImplementedError


@pytest.mark.parametrize(
    ("k", "s", "h", "x"),
    [
        (10, 0, 4, 0),
        (10, 10, 4, 4),
        (10, 3, 0, 0),
        (10, 3, 10, 3),
        (10**12, 0, 10**9, 0),
        (1, 1, 1, 1),
        (1, 0, 1, 0),
    ],
)
def test_hypergeometric_without_chance(k: int, s: int, h: int, x: int) -> None:
    """No successes, no failures, no draws, or all of them."""
    draws = np.empty(100, np.int64)
    draw_hypergeometric(k, s, h, KEY, 3, draws)
    assert (draws == x).all()
