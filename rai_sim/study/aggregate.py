"""Sums over replications that merge exactly: in whatever pieces replications come, the total is the same to the bit."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

#: Pulls are counted in bins of this many to an octave, so that a bin is at most 1/256 of its pulls wide.
_BITS = 8
_PER_OCTAVE = 1 << _BITS
#: Numbers below 2^63 are three digits of this many bits; products of two digits, summed 2^20 times, fit int64.
_DIGIT_BITS = 21
_MOST_AT_ONCE = 1 << 20


@dataclass(frozen=True, eq=False)
class Aggregate:
    """What is kept of a set of replications; `a + b` is that of a disjoint union, exactly.

    Everything about pulls and rounds is over finished replications. Sums are Python integers, so nothing is rounded or overflows.

    Attributes
    ----------
    replications, finished, errors : int
        Replications, those that max_pulls did not end, and those of them with a wrong representative.
    pulls_sum, pulls_squares, rounds_sum : int
        Sums of pulls, of their squares, and of rounds.
    pulls_least, pulls_most : int
        Smallest and largest number of pulls; 0 if none finished.
    bins, counts : (B,) int64
        Histogram of pulls: ascending bin numbers (see `bin_of`) and how many replications fell into each.
    """

    replications: int
    finished: int
    errors: int
    pulls_sum: int
    pulls_squares: int
    rounds_sum: int
    pulls_least: int
    pulls_most: int
    bins: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def of(
        cls, pulls: NDArray[np.int64], rounds: NDArray[np.int64], correct: NDArray[np.bool_], finished: NDArray[np.bool_]
    ) -> Aggregate:
        """Aggregate replications given as columns.

        Examples
        --------
        >>> import rai_sim as rai
        >>> r = rai.simulate(rai.table_problem(), rai.Vanilla(), replications=100, seed=0)
        >>> a = Aggregate.of(r.pulls, r.rounds, r.correct, r.finished)
        >>> b = Aggregate.of(r.pulls[:30], r.rounds[:30], r.correct[:30], r.finished[:30])
        >>> c = Aggregate.of(r.pulls[30:], r.rounds[30:], r.correct[30:], r.finished[30:])
        >>> b + c == a, a.mean == float(r.pulls.mean())
        (True, True)
        """
        done = int(np.count_nonzero(finished))
        if done < len(pulls):
            pulls, rounds = pulls[finished], rounds[finished]
        if not done:
            empty = np.empty(0, np.int64)
            return cls(len(finished), 0, 0, 0, 0, 0, 0, 0, empty, empty)
        bins, counts = np.unique(bin_of(pulls), return_counts=True)
        most = int(pulls.max())
        return cls(
            replications=len(finished), finished=done, errors=done - int(np.count_nonzero(correct)), pulls_sum=_sum(pulls, most),
            pulls_squares=_sum_of_squares(pulls, most), rounds_sum=_sum(rounds, most), pulls_least=int(pulls.min()), pulls_most=most,
            bins=bins, counts=counts.astype(np.int64),
        )  # fmt: skip

    def __add__(self, other: Aggregate) -> Aggregate:
        """Aggregate the union of disjoint sets."""
        if not self.finished or not other.finished:
            least, most = self.pulls_least + other.pulls_least, self.pulls_most + other.pulls_most
        else:
            least, most = min(self.pulls_least, other.pulls_least), max(self.pulls_most, other.pulls_most)
        bins, place = np.unique(np.concatenate([self.bins, other.bins]), return_inverse=True)
        counts = np.zeros(len(bins), np.int64)
        np.add.at(counts, place, np.concatenate([self.counts, other.counts]))
        return Aggregate(
            self.replications + other.replications, self.finished + other.finished, self.errors + other.errors,
            self.pulls_sum + other.pulls_sum, self.pulls_squares + other.pulls_squares, self.rounds_sum + other.rounds_sum,
            least, most, bins, counts,
        )  # fmt: skip

    def __eq__(self, other: object) -> bool:
        """Compare all sums and the histogram."""
        return isinstance(other, Aggregate) and self._content == other._content

    __hash__ = None  # type: ignore[assignment]

    @property
    def _content(self) -> tuple[object, ...]:
        return (
            self.replications, self.finished, self.errors, self.pulls_sum, self.pulls_squares, self.rounds_sum,
            self.pulls_least, self.pulls_most, self.bins.tolist(), self.counts.tolist(),
        )  # fmt: skip

    @property
    def mean(self) -> float:
        """Mean pulls, correctly rounded; NaN if none finished."""
        return self.pulls_sum / self.finished if self.finished else math.nan

    @property
    def mean_rounds(self) -> float:
        """Mean rounds; NaN if none finished."""
        return self.rounds_sum / self.finished if self.finished else math.nan

    @cached_property
    def standard_deviation(self) -> float:
        """Of pulls, with n - 1; NaN for fewer than two finished replications."""
        n = self.finished
        # Exact before the division: no digits cancel.
        return math.sqrt((n * self.pulls_squares - self.pulls_sum**2) / (n * (n - 1))) if n > 1 else math.nan

    @property
    def standard_error(self) -> float:
        """Of the mean number of pulls; NaN for fewer than two finished replications."""
        return self.standard_deviation / math.sqrt(self.finished) if self.finished > 1 else math.nan

    def quantile(self, share: float) -> float:
        """Return the pulls that a share of finished replications did not exceed, to within 1/512 of themselves; NaN if none finished.

        Examples
        --------
        >>> pulls, yes = np.arange(1, 1001), np.ones(1000, bool)
        >>> Aggregate.of(pulls, pulls, yes, yes).quantile(0.5)
        500.0
        """
        if not self.finished:
            return math.nan
        if share >= 1.0:
            return float(self.pulls_most)
        rank = max(1, math.ceil(share * self.finished))
        number = int(self.bins[bisect_left(np.cumsum(self.counts).tolist(), rank)])
        low, high = bin_edges(number)
        return float(min(max((low + high) // 2, self.pulls_least), self.pulls_most))


#: What no replications add up to.
NOTHING = Aggregate(0, 0, 0, 0, 0, 0, 0, 0, np.empty(0, np.int64), np.empty(0, np.int64))


def aggregates_of(
    pulls: NDArray[np.int64], rounds: NDArray[np.int64], correct: NDArray[np.bool_], finished: NDArray[np.bool_], starts: NDArray[np.int64]
) -> list[Aggregate]:
    """Aggregate consecutive stretches of columns, the i-th from row starts[i] on; `Aggregate.of` for many short ones.

    Parameters
    ----------
    pulls, rounds, correct, finished : (R,) arrays
        The columns; `correct` is False where not finished.
    starts : (S,) int64
        First row of each stretch, ascending from 0, no stretch empty.

    Examples
    --------
    >>> pulls, yes = np.arange(1, 11), np.ones(10, bool)
    >>> [a.pulls_sum for a in aggregates_of(pulls, pulls, yes, yes, np.array([0, 4]))]
    [10, 45]
    """
    ends = np.append(starts[1:], len(pulls))
    most, longest = int(pulls.max()), int((ends - starts).max())
    if most * most * longest >= 2**63 or longest > 4096:
        return [Aggregate.of(pulls[a:b], rounds[a:b], correct[a:b], finished[a:b]) for a, b in zip(starts, ends, strict=True)]
    done = np.add.reduceat(finished, starts, dtype=np.int64)
    seen = np.where(finished, pulls, 0)
    least = np.where(done > 0, np.minimum.reduceat(np.where(finished, pulls, most), starts), 0)
    # One sort makes all histograms: no bin number needs more than 14 bits.
    owner = np.repeat(np.arange(len(starts)), ends - starts)[finished]
    cells, counts = np.unique((owner << 14) + bin_of(pulls[finished]), return_counts=True)
    borders = np.searchsorted(cells, np.arange(1, len(starts)) << 14)
    sums = np.column_stack([
        ends - starts, done, done - np.add.reduceat(correct, starts, dtype=np.int64), np.add.reduceat(seen, starts),
        np.add.reduceat(seen * seen, starts), np.add.reduceat(np.where(finished, rounds, 0), starts), least,
        np.maximum.reduceat(seen, starts),
    ])  # fmt: skip
    bins, counts_of = np.split(cells & 0x3FFF, borders), np.split(counts.astype(np.int64), borders)
    return [Aggregate(*fields) for fields in zip(*sums.T.tolist(), bins, counts_of, strict=True)]


def bin_of(pulls: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the bin of each non-negative number of pulls: itself below 512, then 256 bins to an octave.

    Examples
    --------
    >>> bin_of(np.array([3, 511, 512, 513, 514])).tolist()
    [3, 511, 512, 512, 513]
    """
    exponent = np.frexp(pulls.astype(np.float64))[1].astype(np.int64) - 1
    exponent -= (pulls >> np.maximum(exponent, 0)) == 0  # beyond 2^53 the conversion may round up to the next power of two
    shift = np.maximum(exponent - _BITS, 0)
    bins: NDArray[np.int64] = (pulls >> shift) + shift * _PER_OCTAVE
    return bins


def bin_edges(number: int) -> tuple[int, int]:
    """Return the smallest and the largest number of pulls in a bin.

    Examples
    --------
    >>> bin_edges(512), bin_edges(3)
    ((512, 513), (3, 3))
    """
    shift = max(number // _PER_OCTAVE - 1, 0)
    low = (number - shift * _PER_OCTAVE) << shift
    return low, low + (1 << shift) - 1


def _sum(values: NDArray[np.int64], most: int) -> int:
    """Return the exact sum of non-negative numbers of at most `most`."""
    if most * len(values) < 2**63:
        return int(values.sum())
    high, low = values >> 32, values & 0xFFFFFFFF
    return (int(high.sum()) << 32) + int(low.sum())


def _sum_of_squares(values: NDArray[np.int64], most: int) -> int:
    if most * most * len(values) < 2**63:
        return int(np.dot(values, values))
    return sum(_long_sum_of_squares(values[at : at + _MOST_AT_ONCE]) for at in range(0, len(values), _MOST_AT_ONCE))


def _long_sum_of_squares(values: NDArray[np.int64]) -> int:
    mask = (1 << _DIGIT_BITS) - 1
    digits = [(values >> (place * _DIGIT_BITS)) & mask for place in range(3)]
    return sum(int(np.dot(digits[i], digits[j])) << (_DIGIT_BITS * (i + j)) for i in range(3) for j in range(3))
