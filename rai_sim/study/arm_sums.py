"""Pulls by arm added up over replications of a task, exactly: they may pass what an integer of 64
bits holds.

A sum is two words, its upper and its lower 31 bits as they add up; on disk it is decimal text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_BITS = 31


class ArmSums(NamedTuple):
    """Finished replications among start..stop-1, and the pulls of each arm in them, (2, N)."""

    start: int
    stop: int
    words: NDArray[np.int64]


def words_of(arm_pulls: NDArray[np.int64], finished: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the sums of the finished rows of (B, N) as two words an arm, (2, N).

    Examples
    --------
    >>> decimals(words_of(np.array([[1 << 62, 3], [1 << 62, 4]]), np.array([True, True])))
    ['9223372036854775808', '7']
    """
    rows = arm_pulls[finished]
    return np.stack([(rows >> _BITS).sum(axis=0), (rows & ((1 << _BITS) - 1)).sum(axis=0)])


def decimals(words: NDArray[np.int64]) -> list[str]:
    """Return sums as text."""
    return [str((high << _BITS) + low) for high, low in zip(*words.tolist(), strict=True)]


class Unwritten(defaultdict[str, list[ArmSums]]):
    """Sums by task that wait for being written with the other sums."""

    def __init__(self) -> None:
        """Start empty."""
        super().__init__(list)

    def within(self, task: str, start: int, stop: int) -> list[str]:
        """Return what those add up to that lie within start..stop-1, which they make up."""
        inside = [one.words for one in self[task] if start <= one.start and one.stop <= stop]
        return decimals(np.sum(inside, axis=0))


def whole(texts: Sequence[Sequence[str]]) -> NDArray[np.int64]:
    """Return what sums, as text, add up to by arm.

    Raises
    ------
    OverflowError
        If a sum is 2^63 or more.

    Examples
    --------
    >>> whole([["1", "20"], ["3", "4"]])
    array([ 4, 24])
    """
    totals = [sum(map(int, column)) for column in zip(*texts, strict=True)]
    if max(totals) >= 1 << 63:
        raise OverflowError(
            f"the pulls of arm {totals.index(max(totals))} add up to {max(totals)}, 2^63 or more; "
            "read them as text from the aggregates in the study's folder"
        )
    return np.array(totals, np.int64)
