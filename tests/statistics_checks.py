"""Goodness-of-fit tests shared by the tests; they use NumPy and SciPy only, never the package.

A comparison rejects at the nominal level `LEVEL` = 1e-8. Two bins are compared by the exact
binomial test; with more, every bin expects at least 100 draws, and that far out the chi-square
approximation may be off tenfold at the most. So a file of fewer than 1000 comparisons would, with
fresh seeds, raise a false alarm with probability at most 1e-4; its seeds being fixed, it always
passes or never.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

Floats: TypeAlias = NDArray[np.float64]

#: Nominal level of one comparison.
LEVEL = 1e-8


class Law(Protocol):
    """A distribution on the line, such as a frozen one of scipy.stats."""

    def cdf(self, x: Any) -> Any:
        """Return P(X <= x)."""

    def sf(self, x: Any) -> Any:
        """Return P(X > x)."""

    def ppf(self, q: Any) -> Any:
        """Return the smallest x with P(X <= x) >= q."""


class Tabulated:
    """A law on consecutive integers, from its masses up to a factor."""

    def __init__(self, first: int, masses: Floats) -> None:
        """Add up the masses from both ends."""
        masses = masses / masses.sum()
        self.first = first
        self._below, self._above = np.cumsum(masses), np.cumsum(masses[::-1])[::-1]

    def cdf(self, x: Any) -> Any:
        """Return P(X <= x)."""
        i = np.asarray(x, dtype=np.float64) - self.first
        known = self._below[np.clip(i, 0, self._below.size - 1).astype(np.int64)]
        return np.where(i < 0, 0.0, np.where(i >= self._below.size - 1, 1.0, known))

    def sf(self, x: Any) -> Any:
        """Return P(X > x)."""
        i = np.asarray(x, dtype=np.float64) - self.first + 1.0
        known = self._above[np.clip(i, 0, self._above.size - 1).astype(np.int64)]
        return np.where(i <= 0, 1.0, np.where(i >= self._above.size, 0.0, known))

    def ppf(self, q: Any) -> Any:
        """Return the smallest x with P(X <= x) >= q."""
        place = np.minimum(np.searchsorted(self._below, q), self._below.size - 1)
        return self.first + place.astype(np.float64)


def hypergeometric_law(population: int, successes: int, draws: int) -> Tabulated:
    """Return the law of the successes among `draws` of a population.

    The table reaches 12 standard deviations and 60 more to each side of the mean.
    SciPy's own takes seconds and gigabytes at populations of 10^9 and more.
    """
    mean = draws / population * successes
    sd = np.sqrt(
        mean * (1.0 - successes / population) * (population - draws) / max(population - 1, 1)
    )
    first = max(0, draws + successes - population, int(mean - 12.0 * sd) - 60)
    last = min(draws, successes, int(mean + 12.0 * sd) + 60)
    x = np.arange(first, last, dtype=np.float64)
    ratios = (
        (successes - x) / (x + 1.0) * ((draws - x) / (population - successes - draws + x + 1.0))
    )
    # 1e-11 of rounding in a table of millions
    logs = np.concatenate([[0.0], np.cumsum(np.log(ratios))])
    return Tabulated(first, np.exp(logs - logs.max()))


def convolved_law(p: Floats, k: int) -> Tabulated:
    """Return the law of the sum of k independent integers, each i with probability p[i]."""
    power, result = np.asarray(p), np.ones(1)
    while True:
        result = np.convolve(result, power) if k & 1 else result
        k >>= 1
        if not k:
            return Tabulated(0, result)
        power = np.convolve(power, power)


def masses(law: Law, edges: ArrayLike) -> Floats:
    """Return the probabilities of (-inf, e_0], (e_0, e_1], .., (e_last, inf), accurate in both
    tails."""
    below = np.concatenate([[0.0], law.cdf(edges), [1.0]])
    above = np.concatenate([[1.0], law.sf(edges), [0.0]])
    differences: Floats = np.where(below[:-1] < 0.5, np.diff(below), -np.diff(above))
    return differences


def bin_edges(law: Law, size: int, most: int = 50, whole: bool = True) -> Floats:
    """Return edges that cut the law into about `most` bins or fewer, each expecting at least 100 of
    `size`.

    Where the law leaves one such bin only, bins that expect at least 10. `whole`: the law lives on
    integers.
    """
    wanted = np.concatenate([[100.0 / size], np.arange(1, most) / most, [1.0 - 100.0 / size]])
    quantiles = law.ppf(wanted)
    edges = np.unique(np.concatenate([quantiles, quantiles - 1.0]) if whole else quantiles)
    for least in (100.0, 10.0):
        kept, mass = [], 0.0
        for edge, more in zip(edges, masses(law, edges)[:-1], strict=True):
            mass += more
            if mass * size >= least:
                kept.append(edge)
                mass = 0.0
        while kept and law.sf(kept[-1]) * size < least:
            kept.pop()
        if kept:
            return np.array(kept)
    raise ValueError(f"{size} draws are too few: all but one value expect fewer than 10 of them")


def counts_in(edges: Floats, draws: ArrayLike) -> NDArray[np.int64]:
    """Return how many draws fall into each bin."""
    return np.bincount(np.searchsorted(edges, draws), minlength=edges.size + 1)


def chi_square(counts: ArrayLike, probabilities: ArrayLike) -> float:
    """Return the p-value of Pearson's test that counts come from given probabilities; for two, the
    exact."""
    seen = np.asarray(counts, dtype=np.float64).ravel()
    p = np.asarray(probabilities, dtype=np.float64).ravel()
    assert seen.size == p.size >= 2
    assert abs(p.sum() - 1.0) < 1e-6
    if seen.size == 2:
        rare = int(np.argmin(p))
        return float(stats.binomtest(int(seen[rare]), int(seen.sum()), float(p[rare])).pvalue)
    expected = p * seen.sum()
    return float(stats.chi2.sf(((seen - expected) ** 2 / expected).sum(), seen.size - 1))


def fit(law: Law, draws: ArrayLike, most: int = 50, whole: bool = True) -> float:
    """Return the p-value of the test that independent draws come from a law."""
    edges = bin_edges(law, np.size(draws), most, whole)
    return chi_square(counts_in(edges, draws), masses(law, edges))


def same_law(first: ArrayLike, second: ArrayLike, most: int = 50) -> float:
    """Return the p-value of the test that two equally large, independent samples of integers share
    a law."""
    pooled = np.sort(np.concatenate([np.ravel(first), np.ravel(second)]))
    edges = np.unique(pooled[np.arange(1, most) * pooled.size // most])
    table = np.array([counts_in(edges, first), counts_in(edges, second)])
    if table[:, -1].sum() < 200:  # the largest value is an edge
        table = np.column_stack([table[:, :-2], table[:, -2:].sum(axis=1)])
    assert table.sum(axis=0).min() >= 200
    return independence(table)


def independence(table: ArrayLike) -> float:
    """Return the p-value of Pearson's test that rows and columns are independent."""
    return float(stats.chi2_contingency(table, correction=False).pvalue)


def z_test(estimate: float, expected: float, standard_error: float) -> float:
    """Return the two-sided p-value of an estimate that is normal about its expectation."""
    return float(special.erfc(abs(estimate - expected) / standard_error / np.sqrt(2.0)))


def xoshiro(s: list[int]) -> int:
    """Return the next word of xoshiro256++ and advance the state."""

    def rotate(word: int, by: int) -> int:
        return (word << by | word >> 64 - by) % 2**64

    word = (rotate((s[0] + s[3]) % 2**64, 23) + s[0]) % 2**64
    shifted = (s[1] << 17) % 2**64
    s[2] ^= s[0]
    s[3] ^= s[1]
    s[1] ^= s[2]
    s[0] ^= s[3]
    s[2] ^= shifted
    s[3] = rotate(s[3], 45)
    return word
