"""Bernoulli arms: rewards 0 and 1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rai_sim.arms.base import Arms, frozen_array
from rai_sim.engine import law as operations
from rai_sim.engine.jit import gives_bridges, gives_words, implements, sums_are_binomial
from rai_sim.engine.sampling import (
    bernoulli_word,
    bernoulli_words,
    binomial,
    bits_set,
    hypergeometric,
    lanes,
)
from rai_sim.engine.streams import State, uniform
from rai_sim.engine.vectors import LANES
from rai_sim.support.errors import ArgumentValueError


@dataclass(frozen=True, eq=False, init=False)
class Bernoulli(Arms):
    """Arms whose rewards are 1 with probability `means[k]`, else 0.

    Parameters
    ----------
    means : array_like, shape (N,)
        Success probabilities, in [0, 1], in any order.

    Raises
    ------
    TypeError
        If `means` does not hold numbers.
    ValueError
        If `means` is empty, or an entry is NaN, infinite or outside [0, 1].

    Examples
    --------
    >>> Bernoulli([0.9, 0.5]).means
    array([0.9, 0.5])
    """

    means: NDArray[np.float64]

    def __init__(self, means: ArrayLike) -> None:
        """Check and freeze the means."""
        array = frozen_array("means", means, 1)
        outside = np.flatnonzero((array < 0.0) | (array > 1.0))
        if outside.size:
            arm = int(outside[0])
            raise ArgumentValueError(
                "means",
                f"means[{arm}] is {array[arm]}; a Bernoulli mean is a probability in [0, 1]: "
                "rescale the means, or use Gaussian or Categorical arms",
            )
        object.__setattr__(self, "means", array)

    def kernel_law(self) -> BernoulliLaw:
        """Return the kernels' view of the law."""
        p = self.means.copy()
        # Words compare 64 binary digits; a double of at least 2^-11 has no digit beyond the 64th,
        # smaller ones may.
        wordy = ((p == 0.0) | (p >= 2.0**-11)) & (p < 1.0)
        expansion = np.where(wordy, np.ldexp(np.where(wordy, p, 0.0), 64), 0.0).astype(np.uint64)
        return BernoulliLaw(
            p, expansion, bool(wordy.all()), kearns_saul(float(p[np.argmin(abs(p - 0.5))]))
        )

    def why_not_sub_gaussian(self) -> str | None:
        """Return None: rewards lie in [0, 1]."""
        return None

    def _identity_parts(self) -> tuple[object, ...]:
        return (self.means,)


def kearns_saul(p: float) -> float:
    """Return the best variance proxy of a Bernoulli(p): (1 - 2p) / (2 log((1 - p) / p)) (Kearns and
    Saul 1998); it is largest at 1/2."""
    if p <= 0.0 or p >= 1.0:
        return 0.0
    if abs(p - 0.5) < 1e-4:
        return 0.25  # the formula's limit, and never below its value
    return (1.0 - 2.0 * p) / (2.0 * (math.log1p(-p) - math.log(p)))  # (1 - p) / p may overflow


@gives_words
@gives_bridges
@sums_are_binomial
class BernoulliLaw(NamedTuple):
    """What kernels know: p (N,), p times 2^64 (N,), whether words are exact for every arm, the
    largest variance proxy."""

    p: NDArray[np.float64]
    expansion: NDArray[np.uint64]
    wordy: bool
    variance_proxy: float


@implements(operations.one_pull, BernoulliLaw)
def _one_pull(
    law: BernoulliLaw, arm: int, total: float, pulls: int, state: State
) -> tuple[float, State]:
    u, state = uniform(state)
    return (total + 1.0 if u < law.p[arm] else total), state


@implements(operations.more_pulls, BernoulliLaw)
def _more_pulls(
    law: BernoulliLaw, arm: int, total: float, pulls: int, k: int, state: State
) -> tuple[float, State]:
    if k <= LANES and law.wordy:
        word, state = bernoulli_word(law.expansion[arm], state)
        return total + bits_set(word & lanes(0, k)), state
    successes, state = binomial(k, law.p[arm], state)
    return total + successes, state


@implements(operations.pulls_available, BernoulliLaw)
def _pulls_available(law: BernoulliLaw) -> int:
    return operations.ENDLESS


@implements(operations.spread, BernoulliLaw)
def _spread(law: BernoulliLaw) -> float:
    return 1.0


@implements(operations.mean_of, BernoulliLaw)
def _mean_of(law: BernoulliLaw, arm: int) -> float:
    return law.p[arm]


@implements(operations.unit, BernoulliLaw)
def _unit(law: BernoulliLaw) -> float:
    return 1.0


@implements(operations.proxy, BernoulliLaw)
def _proxy(law: BernoulliLaw) -> float:
    return law.variance_proxy


@implements(operations.handy, BernoulliLaw)
def _handy(law: BernoulliLaw, k: int) -> int:
    return k


@implements(operations.has_words, BernoulliLaw)
def _has_words(law: BernoulliLaw) -> bool:
    return law.wordy


@implements(operations.word, BernoulliLaw)
def _word(law: BernoulliLaw, arm: int, pulls: int, state: State) -> tuple[np.uint64, State]:
    return bernoulli_word(law.expansion[np.uint64(arm)], state)


@implements(operations.words, BernoulliLaw)
def _words(
    law: BernoulliLaw,
    labels: NDArray[np.int64],
    n: int,
    arm_of: NDArray[np.int64],
    pulls: int,
    bits: NDArray[np.uint64],
    tied: NDArray[np.uint64],
    state: State,
) -> State:
    return bernoulli_words(law.expansion, labels, n, arm_of, bits, tied, state)


@implements(operations.sum_between, BernoulliLaw)
def _sum_between(
    law: BernoulliLaw,
    arm: int,
    total: float,
    pulls: int,
    k: int,
    later: float,
    later_k: int,
    state: State,
) -> tuple[float, State]:
    successes, state = hypergeometric(later_k, int(later - total), k, state)
    return total + successes, state


@implements(operations.bridge_proxy, BernoulliLaw)
def _bridge_proxy(law: BernoulliLaw) -> float:
    return 0.25
