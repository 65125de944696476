"""Poisson arms: rewards that are counts, with tails that are not sub-Gaussian."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rai_sim.arms.base import Arms, RescaledArms, checked_sigma, frozen_array
from rai_sim.arms.plain import plain
from rai_sim.engine import law as operations
from rai_sim.engine.jit import implements
from rai_sim.engine.sampling import poisson
from rai_sim.engine.streams import State
from rai_sim.support.errors import ArgumentValueError

#: The largest mean: sums of 2^62 pulls are still finer than a hundredth of their deviation.
_MOST = 1e9


@dataclass(frozen=True, eq=False, init=False)
class Poisson(Arms):
    """Arms with Poisson rewards: the algorithms' guarantees do not hold for them.

    Their tails are heavier than those of any normal, so `Problem` asks for strict=False, and no bound
    is shown, whatever `sigma` is. Sums of pulls are Poisson, and are drawn at once; but without a
    variance proxy nothing certifies that rounds may be jumped over, so only Butterscotch, whose
    rounds are long, gains by it.

    Parameters
    ----------
    means : array_like, shape (N,)
        Means, from 0 to 1e9, in any order.
    sigma : float, optional
        The sub-Gaussian parameter that algorithms are told although there is none: they divide
        rewards by 2 sigma, and go by radii that are not proved. The square root of the largest mean
        has the variance right, but not the tail. None is 1/2.

    Raises
    ------
    TypeError
        If an argument does not hold numbers.
    ValueError
        If `means` is empty, or an entry is NaN, negative or above 1e9, or `sigma` is not positive.

    Examples
    --------
    >>> Poisson([4.0, 1.0], sigma=2.0).why_not_sub_gaussian()
    'Poisson rewards are sub-Gaussian for no sigma'
    """

    means: NDArray[np.float64]
    sigma: float | None = None

    def __init__(self, means: ArrayLike, sigma: float | None = None) -> None:
        """Check and freeze the arguments."""
        array = frozen_array("means", means, 1)
        outside = np.flatnonzero((array < 0.0) | (array > _MOST))
        if outside.size:
            arm = int(outside[0])
            raise ArgumentValueError(
                "means",
                f"means[{arm}] is {array[arm]}; a Poisson mean is a number from 0 to {_MOST:g}: "
                "rescale the means, or use Gaussian arms",
            )
        object.__setattr__(self, "means", array)
        object.__setattr__(self, "sigma", checked_sigma(sigma))
        _ = self.rescaled  # which may leave the range of doubles

    def _over(self, scale: float) -> RescaledArms:
        return RescaledArms.over(self)

    def kernel_law(self) -> PoissonLaw:
        """Return the kernels' view of the law; its units are counts."""
        return PoissonLaw(self.means.copy(), math.inf, math.inf, 1.0 / self.two_sigma)

    def law_units(self) -> tuple[float, float]:
        """Return 0 and 1: kernels see counts, whatever sigma is."""
        return 0.0, 1.0

    def why_not_sub_gaussian(self) -> str | None:
        """Return that Poisson rewards never are."""
        return "Poisson rewards are sub-Gaussian for no sigma"

    def _identity_parts(self) -> tuple[object, ...]:
        return (self.means,)


@plain
class PoissonLaw(NamedTuple):
    """What kernels know: the means (N,), an infinite range and variance proxy, and the length of a
    count in what they see."""

    mean: NDArray[np.float64]
    width: float
    variance_proxy: float
    unit: float


@implements(operations.one_pull, PoissonLaw)
def _one_pull(
    law: PoissonLaw, arm: int, total: float, pulls: int, state: State
) -> tuple[float, State]:
    x, state = poisson(law.mean[arm], state)
    return total + x, state


@implements(operations.more_pulls, PoissonLaw)
def _more_pulls(
    law: PoissonLaw, arm: int, total: float, pulls: int, k: int, state: State
) -> tuple[float, State]:
    x, state = poisson(k * law.mean[arm], state)
    return total + x, state
