"""Gaussian arms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rai_sim.arms.base import LARGEST, TOO_LARGE, Arms, checked_sigma, frozen_array, one_or_by_arm
from rai_sim.arms.plain import plain
from rai_sim.engine import law as operations
from rai_sim.engine.jit import gives_bridges, implements
from rai_sim.engine.sampling import normal
from rai_sim.engine.streams import State
from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.values import real, short


@dataclass(frozen=True, eq=False, init=False)
class Gaussian(Arms):
    """Arms with normal rewards of standard deviation `sd`, one for all arms or one an arm.

    Parameters
    ----------
    means : array_like, shape (N,)
        Means, in any order.
    sd : float or array_like, shape (N,), default 0.5
        Standard deviation of every arm's rewards, or of each arm's, positive; N equal ones are kept
        as one. Above 1/2 the rewards are not 1/2-sub-Gaussian and the algorithms' guarantees do not
        hold: `Problem` then asks for `sigma`, or for strict=False.
    sigma : float, optional
        Tell algorithms and bounds that rewards are sigma-sub-Gaussian, as those are whose standard
        deviation is at most sigma: they then see rewards over 2 sigma. None is 1/2. Algorithms are
        told one sigma, not each arm's deviation.

    Raises
    ------
    TypeError
        If an argument does not hold numbers.
    ValueError
        If `means` is empty or holds NaN, a number is beyond 1e50, or `sd` or `sigma` is not positive,
        or `sd` has not one entry an arm.

    Examples
    --------
    >>> Gaussian([0.3, -1.0], sd=0.25).sd
    0.25
    >>> import rai_sim as rai
    >>> noisy = rai.best_arm(Gaussian([3.0, 1.0], sd=[2.0, 0.5], sigma=2.0))
    >>> round(rai.bounds.lower(noisy, 0.01), 3)  # as for means 3/4 and 1/4, sd 1/2
    9.21
    """

    means: NDArray[np.float64]
    sd: float | NDArray[np.float64] = 0.5
    sigma: float | None = None

    def __init__(
        self, means: ArrayLike, sd: float | ArrayLike = 0.5, sigma: float | None = None
    ) -> None:
        """Check and freeze the arguments."""
        object.__setattr__(self, "means", frozen_array("means", means, 1))
        object.__setattr__(self, "sd", one_or_by_arm("sd", sd, self.n_arms, _deviation))
        object.__setattr__(self, "sigma", checked_sigma(sigma))
        _ = self.rescaled  # which may leave the range of doubles

    def _over(self, scale: float) -> Gaussian:
        return Gaussian(self.means / scale, self.sd / scale)

    def kernel_law(self) -> GaussianLaw | GaussianByArmLaw:
        """Return the kernels' view of the law."""
        if self.sigma is not None:
            law: GaussianLaw | GaussianByArmLaw = self.rescaled.kernel_law()
            return law
        if isinstance(self.sd, float):
            return GaussianLaw(self.means.copy(), self.sd)
        widest = float(self.sd.max())
        return GaussianByArmLaw(self.means.copy(), math.inf, max(widest**2, 1e-200), self.sd.copy())

    def why_not_sub_gaussian(self) -> str | None:
        """Return None for standard deviations of at most sigma, 1/2 where it is not set."""
        most = 0.5 if self.sigma is None else self.sigma
        than = f"more than {most}" if self.sigma is None else f"more than sigma, {most}"
        if isinstance(self.sd, float):
            return None if self.sd <= most else f"sd is {self.sd}, {than}"
        over = np.flatnonzero(self.sd > most)
        return f"sd[{over[0]}] is {self.sd[over[0]]}, {than}" if over.size else None

    def _identity_parts(self) -> tuple[object, ...]:
        return (self.means, self.sd)


def _deviation(name: str, sd: object) -> float:
    """Return a standard deviation, or raise what `Gaussian` raises."""
    deviation = real("sd", sd, "a positive number")
    if not 0.0 < deviation < math.inf:
        raise ArgumentValueError(
            "sd",
            f"{name} is {short.repr(sd)}; it must be a positive finite standard deviation, at "
            "most 0.5 for the guarantees to hold",
        )
    if deviation > LARGEST:
        raise ArgumentValueError("sd", f"{name} is {deviation}; {TOO_LARGE}")
    return deviation


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


@plain
class GaussianByArmLaw(NamedTuple):
    """What kernels know of arms with a standard deviation each: the means (N,), the range, the
    largest variance, the standard deviations (N,)."""

    mean: NDArray[np.float64]
    width: float
    variance_proxy: float
    sd: NDArray[np.float64]


@implements(operations.one_pull, GaussianByArmLaw)
def _one_pull_by_arm(
    law: GaussianByArmLaw, arm: int, total: float, pulls: int, state: State
) -> tuple[float, State]:
    z, state = normal(state)
    return total + (law.mean[arm] + law.sd[arm] * z), state


@implements(operations.more_pulls, GaussianByArmLaw)
def _more_pulls_by_arm(
    law: GaussianByArmLaw, arm: int, total: float, pulls: int, k: int, state: State
) -> tuple[float, State]:
    z, state = normal(state)
    return total + (k * law.mean[arm] + law.sd[arm] * math.sqrt(k) * z), state
