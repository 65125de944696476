"""Exact sums of whole numbers below 2^63, and the bins in which they are counted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Pulls are counted in bins of this many to an octave, so that a bin is at most 1/256 of its pulls
#: wide.
_BITS = 8
_PER_OCTAVE = 1 << _BITS
#: Numbers below 2^63 are three digits of this many bits; products of two digits, summed 2^20 times,
#: fit int64.
_DIGIT_BITS = 21
_MOST_AT_ONCE = 1 << 20


def bin_of(pulls: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the bin of each non-negative number of pulls: itself below 512, then 256 bins to an
    octave.

    Examples
    --------
    >>> bin_of(np.array([3, 511, 512, 513, 514])).tolist()
    [3, 511, 512, 512, 513]
    """
    exponent = np.frexp(pulls.astype(np.float64))[1].astype(np.int64) - 1
    exponent -= (
        pulls >> np.maximum(exponent, 0)
    ) == 0  # beyond 2^53 the conversion may round up to the next power of two
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


def exact_sum(values: NDArray[np.int64], most: int) -> int:
    """Return the sum of non-negative numbers of at most `most`.

    Examples
    --------
    >>> exact_sum(np.full(4, 2**62), 2**62) == 2**64
    True
    """
    if most * len(values) < 2**63:
        return int(values.sum())
    high, low = values >> 32, values & 0xFFFFFFFF
    return (int(high.sum()) << 32) + int(low.sum())


def exact_sum_of_squares(values: NDArray[np.int64], most: int) -> int:
    """Return the sum of the squares of non-negative numbers of at most `most`.

    Examples
    --------
    >>> exact_sum_of_squares(np.full(4, 2**62), 2**62) == 2**126
    True
    """
    if most * most * len(values) < 2**63:
        return int(np.dot(values, values))
    return sum(
        _long_sum_of_squares(values[at : at + _MOST_AT_ONCE])
        for at in range(0, len(values), _MOST_AT_ONCE)
    )


def _long_sum_of_squares(values: NDArray[np.int64]) -> int:
    mask = (1 << _DIGIT_BITS) - 1
    digits = [(values >> (place * _DIGIT_BITS)) & mask for place in range(3)]
    return sum(
        int(np.dot(digits[i], digits[j])) << (_DIGIT_BITS * (i + j))
        for i in range(3)
        for j in range(3)
    )
