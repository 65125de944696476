"""Gaussian arms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rai_sim.arms.base import LARGEST, TOO_LARGE, Arms, frozen_array
from rai_sim.engine import law as operations
from rai_sim.engine.jit import gives_bridges, implements
from rai_sim.engine.sampling import normal
from rai_sim.engine.streams import State
from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.values import real, short


@dataclass(frozen=True, eq=False, init=False)
class Gaussian(Arms):
    """Arms with normal rewards of standard deviation `sd`.

    Parameters
    ----------
    means : array_like, shape (N,)
        Means, in any order.
    sd : float, default 0.5
        Standard deviation of every arm's rewards, positive. Above 1/2 the rewards are not
        1/2-sub-Gaussian and the algorithms' guarantees do not hold: `Problem` then asks for
        strict=False.

    Raises
    ------
    TypeError
        If an argument does not hold numbers.
    ValueError
        If `means` is empty or holds NaN, or a number is beyond 1e50, or `sd` is not positive.

    Examples
    --------
    >>> Gaussian([0.3, -1.0], sd=0.25).sd
    0.25
    """

    means: NDArray[np.float64]
    sd: float = 0.5

    def __init__(self, means: ArrayLike, sd: float = 0.5) -> None:
        """Check and freeze the arguments."""
        deviation = real("sd", sd, "a positive number")
        if not 0.0 < deviation < math.inf:
            raise ArgumentValueError(
                "sd",
                f"sd is {short.repr(sd)}; it must be a positive finite standard deviation, at "
                "most 0.5 for the guarantees to hold",
            )
        if deviation > LARGEST:
            raise ArgumentValueError("sd", f"sd is {deviation}; {TOO_LARGE}")
        object.__setattr__(self, "means", frozen_array("means", means, 1))
        object.__setattr__(self, "sd", deviation)

    def kernel_law(self) -> GaussianLaw:
        """Return the kernels' view of the law."""
        return GaussianLaw(self.means.copy(), self.sd)

    def why_not_sub_gaussian(self) -> str | None:
        """Return None for a standard deviation of at most 1/2."""
        return None if self.sd <= 0.5 else f"sd is {self.sd}, more than 0.5"

    def _identity_parts(self) -> tuple[object, ...]:
        return (self.means, self.sd)


@gives_bridges
class GaussianLaw(NamedTuple):
    """What kernels know: the means (N,) and the common standard deviation."""

    mean: NDArray[np.float64]
    sd: float


@implements(operations.one_pull, GaussianLaw)
def _one_pull(
    law: GaussianLaw, arm: int, total: float, pulls: int, state: State
) -> tuple[float, State]:
    z, state = normal(state)
    return total + (law.mean[arm] + law.sd * z), state


@implements(operations.more_pulls, GaussianLaw)
def _more_pulls(
    law: GaussianLaw, arm: int, total: float, pulls: int, k: int, state: State
) -> tuple[float, State]:
    z, state = normal(state)
    return total + (k * law.mean[arm] + law.sd * math.sqrt(k) * z), state


@implements(operations.pulls_available, GaussianLaw)
def _pulls_available(law: GaussianLaw) -> int:
    return operations.ENDLESS


@implements(operations.spread, GaussianLaw)
def _spread(law: GaussianLaw) -> float:
    return math.inf


@implements(operations.mean_of, GaussianLaw)
def _mean_of(law: GaussianLaw, arm: int) -> float:
    return law.mean[arm]


@implements(operations.unit, GaussianLaw)
def _unit(law: GaussianLaw) -> float:
    return 1.0


@implements(operations.proxy, GaussianLaw)
def _proxy(law: GaussianLaw) -> float:
    return max(law.sd * law.sd, 1e-200)  # squares of distances are divided by it


@implements(operations.handy, GaussianLaw)
def _handy(law: GaussianLaw, k: int) -> int:
    return k


@implements(operations.has_words, GaussianLaw)
def _has_words(law: GaussianLaw) -> bool:
    return False


@implements(operations.word, GaussianLaw)
def _word(law: GaussianLaw, arm: int, pulls: int, state: State) -> tuple[np.uint64, State]:
    return np.uint64(0), state


@implements(operations.sum_between, GaussianLaw)
def _sum_between(
    law: GaussianLaw,
    arm: int,
    total: float,
    pulls: int,
    k: int,
    later: float,
    later_k: int,
    state: State,
) -> tuple[float, State]:
    z, state = normal(state)
    share = k / later_k
    sd = law.sd * math.sqrt(k * (1.0 - share))
    return total + share * (later - total) + sd * z, state


@implements(operations.bridge_proxy, GaussianLaw)
def _bridge_proxy(law: GaussianLaw) -> float:
    return max(law.sd * law.sd, 1e-200)
