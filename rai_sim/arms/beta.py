"""Beta arms: rewards spread over [0, 1]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rai_sim.arms.base import Arms, frozen_array, one_or_by_arm
from rai_sim.arms.plain import plain, pull_by_pull
from rai_sim.engine import law as operations
from rai_sim.engine.jit import implements
from rai_sim.engine.sampling import beta
from rai_sim.engine.streams import State
from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.values import real, short

#: Least and largest concentration: beyond the latter rewards deviate by less than 5e-7, and a mean is
#: as good.
_LEAST, _MOST = 1e-6, 1e12


@dataclass(frozen=True, eq=False, init=False)
class Beta(Arms):
    """Arms with beta distributed rewards, of shapes alpha = mean concentration and beta = (1 - mean)
    concentration.

    Rewards lie in [0, 1]; their variance is mean (1 - mean) / (concentration + 1). So Beta(alpha,
    beta) has mean alpha / (alpha + beta) and concentration alpha + beta. Nothing is known of sums of
    beta variates that could be drawn at once: rounds that are jumped over are pulled one by one.

    Parameters
    ----------
    means : array_like, shape (N,)
        Means, strictly between 0 and 1, in any order.
    concentration : float or array_like, shape (N,), default 2.0
        alpha + beta of every arm, or of each arm, from 1e-6 to 1e12; N equal ones are kept as one.
        With 2 the arm of mean 1/2 is uniform on [0, 1].

    Raises
    ------
    TypeError
        If an argument does not hold numbers.
    ValueError
        If `means` is empty, or an entry is outside (0, 1), or a concentration out of its range, or
        there is not one an arm.

    Examples
    --------
    >>> Beta([0.5, 0.25], concentration=[2.0, 8.0])
    Beta(2 arms, means [0.5, 0.25], concentration [2, 8])
    """

    means: NDArray[np.float64]
    concentration: float | NDArray[np.float64] = 2.0

    def __init__(self, means: ArrayLike, concentration: float | ArrayLike = 2.0) -> None:
        """Check and freeze the arguments."""
        array = frozen_array("means", means, 1)
        outside = np.flatnonzero((array <= 0.0) | (array >= 1.0))
        if outside.size:
            arm = int(outside[0])
            raise ArgumentValueError(
                "means",
                f"means[{arm}] is {array[arm]}; a beta mean is strictly between 0 and 1: rescale "
                "the means, or use Bernoulli arms for 0 and 1",
            )
        object.__setattr__(self, "means", array)
        both = one_or_by_arm("concentration", concentration, self.n_arms, _concentration)
        object.__setattr__(self, "concentration", both)

    def kernel_law(self) -> BetaLaw:
        """Return the kernels' view of the law."""
        alpha, beta = self.means * self.concentration, (1.0 - self.means) * self.concentration
        proxy = 0.25 / (float(np.min(self.concentration)) + 1.0)
        return BetaLaw(self.means.copy(), 1.0, proxy, alpha, beta)

    def why_not_sub_gaussian(self) -> str | None:
        """Return None: rewards lie in [0, 1]."""
        return None

    def _identity_parts(self) -> tuple[object, ...]:
        return (self.means, self.concentration)


def _concentration(name: str, value: object) -> float:
    number = real("concentration", value, "a positive number")
    if not _LEAST <= number <= _MOST:
        raise ArgumentValueError(
            "concentration",
            f"{name} is {short.repr(value)}; it must be alpha + beta, from {_LEAST:g} to {_MOST:g}",
        )
    return number


@pull_by_pull
@plain
class BetaLaw(NamedTuple):
    """What kernels know: the means (N,), the range, a variance proxy, both shapes (N,).

    Beta(alpha, beta) is sub-Gaussian with variance proxy 1 / (4 (alpha + beta + 1)) (Marchal and
    Arbel 2017, Theorem 1).
    """

    mean: NDArray[np.float64]
    width: float
    variance_proxy: float
    alpha: NDArray[np.float64]
    beta: NDArray[np.float64]


@implements(operations.one_pull, BetaLaw)
def _one_pull(
    law: BetaLaw, arm: int, total: float, pulls: int, state: State
) -> tuple[float, State]:
    x, state = beta(law.alpha[arm], law.beta[arm], state)
    return total + x, state
