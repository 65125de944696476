"""Sums of Bernoulli trials against SciPy's binomials.

False alarms: fewer than 200 statistical comparisons, each at the level of `statistics_checks`;
the seeds are fixed. Negative controls: the same draws, compared with a law that is 1/20 of a standard
deviation off, must be rejected.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from samples import KEY, SHIFT, Ints, Words, binomial_sd, check_both, cross, shifted
from scipy import stats
from statistics_checks import (
    LEVEL,
    bin_edges,
    chi_square,
    counts_in,
    fit,
    independence,
)

from rai_sim.engine.jit import driver, exposed
from rai_sim.engine.sampling import (
    binomial,
    hypergeometric,
    log_binomial,
)
from rai_sim.engine.sampling.binomial import _below_pmf_ratio
from rai_sim.engine.streams import replication_stream

log_binomial = exposed(log_binomial)

# As Python can call them.
_below_pmf_ratio = exposed(_below_pmf_ratio)


@driver
def draw_binomial(k: int, p: float, key: Words, stream: int, out: Ints) -> None:
    """Fill `out` with sums of k trials."""
    state = replication_stream(key, stream, key[2:])
    for i in range(out.size):
        out[i], state = binomial(k, p, state)


@driver
def draw_split_binomial(
    k: int, p: float, h: int, key: Words, stream: int, total: Ints, early: Ints
) -> None:
    """Draw sums of k trials, then given each the sum of its first h trials."""
    state = replication_stream(key, stream, key[2:])
    for i in range(total.size):
        total[i], state = binomial(k, p, state)
        early[i], state = hypergeometric(k, total[i], h, state)


def check_binomial(k: int, p: float, stream: int) -> None:
    """Compare draws with SciPy's law; where one value has nearly all, draw until 10 others are
    expected."""
    law, wrong = stats.binom(k, p), stats.binom(k, shifted(p, k))
    others = 1.0 - max(law.pmf([math.floor((k + 1) * p), math.ceil(k * p)]))
    size = int(np.clip(10.0 / others + 1.0, 100_000, 10_000_001))
    edges, chunk = bin_edges(law, size), np.empty(min(size, 1_000_000), np.int64)
    counts = np.zeros(edges.size + 1, np.int64)
    chunks = -(-size // chunk.size)
    for i in range(chunks):
        draw_binomial(k, p, KEY, 1000 * stream + i, chunk)
        assert chunk.min() >= 0
        assert chunk.max() <= k
        counts += counts_in(edges, chunk)
    check_both(law, wrong, counts, edges)
    # the last hexadecimal digit is uniform but for e^-(2 pi^2 sd^2 / 256) = e^-771
    if law.std() > 100.0:
        assert chi_square(np.bincount(chunk % 16, minlength=16), [1 / 16] * 16) > LEVEL


SIZES = [1, 2, 3, 10, 19, 21, 64, 100, 1000, 10**4, 10**5, 10**6, 10**7, 10**8, 10**9]
CHANCES = [
    1e-6,
    1e-5,
    1e-4,
    1e-3,
    0.01,
    0.1,
    0.3,
    0.5,
    0.7,
    0.9,
    0.99,
    0.999,
    1 - 1e-4,
    1 - 1e-5,
    1 - 1e-6,
]


@pytest.mark.parametrize("k", SIZES)
def test_binomial(k: int) -> None:
    """Chi-square for 15 probabilities from 1e-6 to 1 - 1e-6; at most 30 comparisons."""
    for i, p in enumerate(CHANCES):
        check_binomial(k, p, 100 * SIZES.index(k) + i)


@pytest.mark.parametrize(
    ("k", "p"),
    [(10**12, 1e-6), (10**12, 0.3), (10**14, 0.5), (10**14, 1e-12), (10**14, 1 - 1e-9)]
    # where inversion gives way to rejection
    + [(k, mean / k) for k in (20, 25, 10**4, 10**9) for mean in (9.999, 10.0, 10.001)]
    + [(k, 1.0 - mean / k) for k in (25, 10**4) for mean in (9.999, 10.001)],
)
def test_binomial_at_its_borders(k: int, p: float) -> None:
    """Chi-square; at most two comparisons a case."""
    check_binomial(k, p, 2000 + round(1000.0 * math.log(k)) + round(100.0 * p))


@pytest.mark.parametrize(
    ("k", "p", "sum_"), [(0, 0.3, 0), (0, 0.9, 0), (7, 0.0, 0), (7, 1.0, 7), (10**14, 1.0, 10**14)]
)
def test_binomial_without_chance(k: int, p: float, sum_: int) -> None:
    """No trials, or trials whose outcome is certain."""
    draws = np.empty(100, np.int64)
    draw_binomial(k, p, KEY, 1, draws)
    assert (draws == sum_).all()


def test_binomial_of_the_largest_number_of_trials() -> None:
    """2^62 trials, where doubles lie up to 512 apart, 5e-7 deviations: one comparison, and a
    control."""
    draws = np.empty(200_000, np.int64)
    draw_binomial(2**62, 0.5, KEY, 2, draws)
    z = (draws - 2**61) / 2.0**30
    edges = bin_edges(stats.norm, z.size, whole=False)
    check_both(stats.norm, stats.norm(SHIFT), counts_in(edges, z), edges)


@pytest.mark.parametrize(
    ("k", "p", "h"),
    [(64, 0.3, 20), (1000, 0.5, 900), (10**6, 1e-3, 4 * 10**5), (10**9, 0.85, 10**8)],
)
def test_a_sum_given_a_later_sum(k: int, p: float, h: int) -> None:
    """A sum, then its part in the first h trials, make two independent binomials: three
    comparisons.

    Negative control: the part and the whole are not independent.
    """
    total, early = np.empty(200_000, np.int64), np.empty(200_000, np.int64)
    draw_split_binomial(k, p, h, KEY, 50, total, early)
    assert fit(stats.binom(h, p), early) > LEVEL
    assert fit(stats.binom(k - h, p), total - early) > LEVEL
    ranks = [
        np.searchsorted(bin_edges(stats.binom(trials, p), 2000, 12), sums)
        for sums, trials in ((early, h), (total - early, k - h), (total, k))
    ]
    assert independence(cross(ranks[0], ranks[1])) > LEVEL
    assert independence(cross(ranks[0], ranks[2])) < LEVEL


@pytest.mark.parametrize("k", [21, 30, 100, 10**4, 10**6, 10**9, 10**12, 10**14])
def test_rejection_decides_as_the_exact_ratio_does(k: int) -> None:
    """A uniform that is 1e-7 of itself below P(x) / P(mode) is accepted, one as much above is
    not."""
    for mean in (10.0, 15.0, 100.0, 0.01 * k, 0.3 * k, 0.5 * k):
        p = min(mean / k, 0.5)
        if k * p < 10.0:
            continue
        mode, sd = math.floor((k + 1) * p), binomial_sd(k, p)
        places = {mode + round(z * sd) for z in np.linspace(-6.0, 6.0, 121)} | {
            *range(mode - 30, mode + 31),
            0,
            1,
            k,
        }
        peak = log_binomial(float(mode), float(k), p)
        for x in sorted(x for x in places if 0 <= x <= k):
            ratio = math.exp(log_binomial(float(x), float(k), p) - peak)
            if ratio > 1e-200:
                assert _below_pmf_ratio(ratio * (1.0 - 1e-7), float(x), float(k), p)
                assert not _below_pmf_ratio(ratio * (1.0 + 1e-7), float(x), float(k), p)
