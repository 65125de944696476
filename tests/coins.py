"""An algorithm of known error, for tests of tests; and what a sequential test does with a coin of
known bias, exactly."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.engine.blocks import Block, Setting


class Rule(Protocol):
    """Whether something is said of a coin."""

    def __call__(self, ones: int, tosses: int) -> bool:
        """Return it, after so many ones in so many tosses."""


@dataclass(frozen=True)
class Coin(Algorithm):
    """Errs with probability `error`, and is stopped by its cap with probability `capped`, whatever
    the instance; replication i's outcome is a function of the seed and i.
    """

    upper_bound: ClassVar[tuple[str, str] | None] = ("vanilla", "Theorem 2")
    error: float = 0.0
    capped: float = 0.0

    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Toss it."""
        u = _uniforms(setting.key, first, len(block.pulls))
        block.finished[:] = u >= self.capped
        block.correct[:] = u >= self.capped + self.error
        block.pulls[:] = 10
        block.rounds[:] = 1
        best = np.flatnonzero(setting.cluster_of == 0)
        block.representatives[:] = np.resize(best, block.representatives.shape[1])


del ALGORITHMS["coin"]


def _uniforms(key: NDArray[np.uint64], first: int, count: int) -> NDArray[np.float64]:
    """Return a number in [0, 1) for each index: splitmix64's function of index and key."""
    with np.errstate(over="ignore"):
        z = np.arange(first, first + count, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z += key[0] ^ key[1]
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
        z ^= z >> np.uint64(31)
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-53


def decided(
    bias: float,
    looks: Iterable[int],
    above: Rule,
    below: Rule,
) -> tuple[float, float]:
    """Return with which probabilities a coin of this bias is said to lie above, and below, at the
    first look at which either is said.

    Both rules take ones and tosses; who says above says so of more ones, too, who says below of
    fewer. Exactly: the law of the number of ones in tests that go on is carried from look to look.
    """
    law, n, said_above, said_below = np.ones(1), 0, 0.0, 0.0
    for look in looks:
        law = np.convolve(law, stats.binom.pmf(np.arange(look - n + 1), look - n, bias))
        n, counts = look, range(len(law))
        start = bisect_left(counts, True, key=partial(above, tosses=n))
        end = len(counts) - bisect_left(counts[::-1], True, key=partial(below, tosses=n))
        said_above, said_below = said_above + law[start:].sum(), said_below + law[:end].sum()
        law = np.where(np.arange(start) < end, 0.0, law[:start])
        if not law.any():
            break
    return float(said_above), float(said_below)
