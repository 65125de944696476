"""Samplers of sums against SciPy's distributions, and their log probabilities against 60-digit
arithmetic.

False alarms: fewer than 1000 statistical comparisons, each at the level of `statistics_checks`;
with fresh seeds the whole file would raise one with probability at most 1e-4. Negative controls:
the same draws, compared with a law that is 1/20 of a standard deviation off, must be rejected.
"""

from __future__ import annotations

import hashlib
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from replay import roomy_key
from scipy import stats
from statistics_checks import (
    LEVEL,
    Law,
    Tabulated,
    bin_edges,
    chi_square,
    counts_in,
    fit,
    hypergeometric_law,
    independence,
    masses,
    xoshiro,
    z_test,
)

from rai_sim.engine.jit import driver, exposed
from rai_sim.engine.sampling import (
    bernoulli_word,
    binomial,
    bits_set,
    hypergeometric,
    lanes,
    log_binomial,
    normal,
)
from rai_sim.engine.sampling.binomial import _below_pmf_ratio
from rai_sim.engine.sampling.log_probability import deviance, stirling_error
from rai_sim.engine.sampling.nearly_normal import (
    _exact_log_height,
    _log_height,
    scaled_log_binomial,
    tail_envelope,
)
from rai_sim.engine.streams import STREAM_VERSION, next_word, replication_stream

# As Python can call them.
_below_pmf_ratio = exposed(_below_pmf_ratio)
deviance = exposed(deviance)
log_binomial = exposed(log_binomial)
stirling_error = exposed(stirling_error)
scaled_log_binomial = exposed(scaled_log_binomial)
tail_envelope = exposed(tail_envelope)
KEY = roomy_key(20)
#: An intrinsic, which type checkers take for its code generator.
ones_in: Any = bits_set

SHIFT = 0.05  # of the negative controls, in standard deviations

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Floats = NDArray[np.float64]


@driver
def draw_binomial(k: int, p: float, key: Words, stream: int, out: Ints) -> None:
    """Fill `out` with sums of k trials."""
    state = replication_stream(key, stream, key[2:])
    for i in range(out.size):
        out[i], state = binomial(k, p, state)


@driver
def draw_hypergeometric(k: int, successes: int, h: int, key: Words, stream: int, out: Ints) -> None:
    """Fill `out` with successes among h of k."""
    state = replication_stream(key, stream, key[2:])
    for i in range(out.size):
        out[i], state = hypergeometric(k, successes, h, state)


@driver
def draw_split_binomial(
    k: int, p: float, h: int, key: Words, stream: int, total: Ints, early: Ints
) -> None:
    """Draw sums of k trials, then given each the sum of its first h trials."""
    state = replication_stream(key, stream, key[2:])
    for i in range(total.size):
        total[i], state = binomial(k, p, state)
        early[i], state = hypergeometric(k, total[i], h, state)


@driver
def draw_bernoulli_words(expansion: np.uint64, key: Words, stream: int, out: Words) -> None:
    """Fill `out` with words of Bernoulli bits."""
    state = replication_stream(key, stream, key[2:])
    for i in range(out.size):
        out[i], state = bernoulli_word(expansion, state)


@driver
def draw_first_bernoulli_words(
    expansion: np.uint64, key: Words, out: Words, generators: Words, words: Words
) -> None:
    """Draw two words from the beginning of each stream; show its generators before, and the words
    with which ties are broken."""
    for i in range(out.shape[0]):
        state = replication_stream(key, i, key[2:])
        for j in range(16):
            generators[i, j] = key[2 + j]
        out[i, 0], state = bernoulli_word(expansion, state)
        out[i, 1], state = bernoulli_word(expansion, state)
        state = replication_stream(key, i, key[2:])
        for j in range(words.shape[1]):
            words[i, j], state = next_word(state)


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


@driver
def count_ones(words: Words, mask: np.uint64, out: Ints) -> None:
    """Count the ones of each word under a mask."""
    for i in range(words.size):
        out[i] = ones_in(words[i] & mask)


@driver
def lag_products(words: Words, p: float, out: Floats) -> None:
    """Add up (b_i - p) (b_(i + d) - p) over words and lanes i, for every distance d."""
    out[:] = 0.0
    for word in words:
        for d in range(1, 64):
            both, either = (
                ones_in(word & (word >> np.uint64(d))),
                ones_in(word << np.uint64(d)) + ones_in(word >> np.uint64(d)),
            )
            out[d] += both - p * either + (64 - d) * p * p


@driver
def mask_of(first: int, count: int) -> np.uint64:
    """Return the mask that kernels use."""
    return lanes(first, count)


def binomial_sd(k: int, p: float) -> float:
    """Return the standard deviation."""
    return math.sqrt(k * p * (1.0 - p))


def shifted(p: float, k: int) -> float:
    """Return a probability, moved towards 1/2, whose sums of k trials lie SHIFT standard deviations
    off."""
    return p + math.copysign(SHIFT * binomial_sd(k, p) / k, 0.5 - p)


def cross(rows: Ints, columns: Ints) -> Ints:
    """Return how often each pair of bins was seen."""
    width = int(columns.max()) + 1
    return np.bincount(rows * width + columns, minlength=(int(rows.max()) + 1) * width).reshape(
        -1, width
    )


def check_both(law: Law, wrong: Law, counts: Ints, edges: Floats) -> None:
    """Assert that binned draws fit their law and not the wrong one."""
    assert chi_square(counts, masses(law, edges)) > LEVEL
    assert chi_square(counts, masses(wrong, edges)) < LEVEL


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


DYADIC = (0.0, 2.0**-11, 1 / 512, 3 / 256, 0.25, 0.5, 255 / 256)
EXPANSIONS = {
    p: int(p * 2**64)
    for p in (*DYADIC, math.nextafter(2.0**-11, 1.0), 0.3, 0.85, 0.999, 1 - 2.0**-53)
}


@pytest.mark.parametrize("expansion", [*EXPANSIONS.values(), 1, 2**64 - 1, 0x00FF00000000FFFF])
def test_bernoulli_words_compare_uniforms_with_p(expansion: int) -> None:
    """Exactly: a lane is 1 iff its random byte, or on a tie the stream's next word behind it, is
    below the digits of p 2^64."""
    ones, generators, words = (
        np.empty((300, 2), np.uint64),
        np.empty((300, 16), np.uint64),
        np.empty((300, 128), np.uint64),
    )
    draw_first_bernoulli_words(np.uint64(expansion), KEY, ones, generators, words)
    for i in range(ones.shape[0]):
        states = [generators[i, lane::4].tolist() for lane in range(4)]
        breakers = iter(words[i].tolist())
        for j in range(2):
            drawn = [xoshiro(state) for _ in range(2) for state in states]
            lanes_of = [byte for word in drawn for byte in word.to_bytes(8, "little")]
            expected = [
                byte < expansion >> 56
                or (byte == expansion >> 56 and next(breakers) < (expansion << 8) % 2**64)
                for byte in lanes_of
            ]
            assert _bits(ones[i, j]).astype(bool).tolist() == expected


def _bits(words: Words) -> NDArray[np.uint8]:
    """Return the bits of words on a new last axis, lowest first."""
    bits: NDArray[np.uint8] = np.unpackbits(
        words.astype("<u8")[..., None].view(np.uint8), axis=-1, bitorder="little"
    )
    return bits


@pytest.mark.parametrize("p", [p for p in EXPANSIONS if 0.0 < p < 0.9999])
def test_bernoulli_words_hold_independent_lanes(p: float) -> None:
    """At most nine comparisons a p: frequencies, sums under masks, both halves, pairs at every
    distance.

    Negative control: sums under the full mask do not fit a shifted p.
    """
    words = np.empty(100_000, np.uint64)
    draw_bernoulli_words(np.uint64(EXPANSIONS[p]), KEY, 5, words)
    n, variance = words.size, p * (1.0 - p)
    frequencies = _bits(words).mean(axis=0)
    assert stats.chi2.sf(n * ((frequencies - p) ** 2).sum() / variance, 64) > LEVEL

    sums = np.empty(n, np.int64)
    for first, count in ((0, 64), (0, 2), (0, 5), (0, 31), (31, 33), (63, 1)):
        count_ones(words, np.uint64((2**count - 1) << first), sums)
        law = stats.binom(count, p)
        edges = bin_edges(law, n)
        assert chi_square(counts_in(edges, sums), masses(law, edges)) > LEVEL
        if count == 64:
            assert (
                chi_square(counts_in(edges, sums), masses(stats.binom(64, shifted(p, 64)), edges))
                < LEVEL
            )

    if p > 2.0**-10:  # else too few words have ones in both halves
        halves, edges = np.empty((2, n), np.int64), bin_edges(stats.binom(32, p), 2000, 8)
        for half in range(2):
            count_ones(words, np.uint64((2**32 - 1) << 32 * half), halves[half])
        assert (
            independence(
                cross(np.searchsorted(edges, halves[0]), np.searchsorted(edges, halves[1]))
            )
            > LEVEL
        )
    if n * p * p > 1000.0:
        products = np.empty(64)
        lag_products(words, p, products)
        z = products[1:] / (variance * np.sqrt(n * np.arange(63, 0, -1)))
        assert 63.0 * 2.0 * stats.norm.sf(abs(z).max()) > LEVEL


def test_masks_and_counts_of_lanes() -> None:
    """Every mask, and the number of ones under it."""
    out, everything = np.empty(1, np.int64), np.array([2**64 - 1], np.uint64)
    for first in range(64):
        for count in range(1, 65 - first):
            mask = mask_of(first, count)
            assert mask == (2**count - 1) << first
            count_ones(everything, np.uint64(mask), out)
            assert out[0] == count


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


def half_log_2pi() -> Decimal:
    """Return log(2 pi) / 2 to the context's precision."""
    return (
        2
        * Decimal(
            "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899"
        )
    ).ln() / 2


def log_factorial(n: int) -> Decimal:
    """Return log n! to some 50 digits: up to 2000 exactly, then by ten terms of Stirling's
    series."""
    if n <= 2000:
        return Decimal(math.factorial(n)).ln()
    pairs = (
        (1, 6),
        (-1, 30),
        (1, 42),
        (-1, 30),
        (5, 66),
        (-691, 2730),
        (7, 6),
        (-3617, 510),
        (43867, 798),
    )
    bernoulli = [*(Fraction(*pair) for pair in pairs), Fraction(-174611, 330)]
    series = (
        number / (2 * j * (2 * j - 1)) / Fraction(n) ** (2 * j - 1)
        for j, number in enumerate(bernoulli, 1)
    )
    tail = sum((Decimal(term.numerator) / term.denominator for term in series), Decimal(0))
    return (n + Decimal(1) / 2) * Decimal(n).ln() - n + half_log_2pi() + tail


def log_pmf(x: int, k: int, p: float) -> Decimal:
    """Return log P(Binomial(k, p) = x) for exactly the double p."""
    chance = Decimal(p)
    return (
        log_factorial(k)
        - log_factorial(x)
        - log_factorial(k - x)
        + x * chance.ln()
        + (k - x) * (1 - chance).ln()
    )


def test_stirling_error_against_60_digits() -> None:
    """Error below 1e-14, log-gamma's rounding, where a table serves; beyond, below 1e-13 of the
    value."""
    with localcontext(prec=60):
        for n in [*range(1, 40), 100, 1999, 2000, 2001, 10**6, 10**9, 10**12, 10**14]:
            exact = float(
                log_factorial(n) - (n + Decimal(1) / 2) * Decimal(n).ln() + n - half_log_2pi()
            )
            assert stirling_error(float(n)) == pytest.approx(
                exact, rel=1e-13 if n >= 16 else 0.0, abs=0.0 if n >= 16 else 1e-14
            )
    assert stirling_error(0.0) == 0.0


def test_deviance_against_60_digits() -> None:
    """Relative error below 3e-14, near the mean as well as far from it."""
    with localcontext(prec=60):
        for mean in (1e-6, 0.3, 10.0, 12345.678, 1e9 / 3, 3e13):
            for ratio in (
                1 + 1e-12,
                1 - 1e-6,
                1.001,
                0.9,
                1.1,
                0.8181,
                1.2222,
                1.2223,
                0.5,
                2.0,
                100.0,
                1e-3,
            ):
                x = mean * ratio
                a, b = Decimal(x), Decimal(mean)
                assert deviance(x, mean) == pytest.approx(
                    float(a * (a / b).ln() + b - a), rel=3e-14, abs=0.0
                )
        assert deviance(7.0, 7.0) == 0.0


@pytest.mark.parametrize("k", [1, 2, 15, 16, 33, 1000, 10**6, 10**9, 10**12, 10**14])
def test_log_binomial_against_60_digits(k: int) -> None:
    """Error below 1e-13 and 2e-13 of the value, plus 3e-16 |x - k p| for rounding k p and k (1 -
    p).

    A shift of p by its own rounding would cost as much. Log-gammas would have lost 0.3 at k =
    10^14.
    """
    with localcontext(prec=60):
        for p in (1e-12, 1e-6, 0.01, 0.3, 0.5, 0.85, 1 - 1e-6):
            mean, sd = k * p, binomial_sd(k, p)
            near = {math.floor(mean + z * sd) for z in (-8.0, -3.0, -1.0, 0.0, 0.5, 2.0, 6.0, 12.0)}
            for x in {x for x in near if 0 < x < k} | {0, 1, k // 2, k - 1, k}:
                error = abs(log_binomial(float(x), float(k), p) - float(log_pmf(x, k, p)))
                assert error <= 1e-13 + 2e-13 * abs(float(log_pmf(x, k, p))) + 3e-16 * abs(x - mean)
    assert log_binomial(0.0, 0.0, 0.3) == 0.0


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


def test_reference_words_are_frozen() -> None:
    """Words of version 1 of the streams: a new hash means that users' numbers changed."""
    digest, words = hashlib.sha256(), np.empty(1000, np.uint64)
    for p in (0.3, 0.5, 0.85, 2.0**-11):
        draw_bernoulli_words(np.uint64(EXPANSIONS[p]), KEY, 0, words)
        digest.update(words.astype("<u8").tobytes())
    assert (STREAM_VERSION, digest.hexdigest()) == (
        2,
        "6ceedef7f1591ed43b3a80983db762fcc147328c527357b88ef0e02c7cae2dc8",
    )
