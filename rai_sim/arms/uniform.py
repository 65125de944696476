"""Uniform arms: rewards spread evenly over an interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rai_sim.arms.base import Arms, checked_sigma, frozen_array
from rai_sim.arms.plain import plain, pull_by_pull
from rai_sim.engine import law as operations
from rai_sim.engine.jit import implements
from rai_sim.engine.streams import State, uniform
from rai_sim.support.errors import ArgumentValueError


@dataclass(frozen=True, eq=False, init=False)
class Uniform(Arms):
    """Arms whose rewards are uniform on [low[k], high[k]); the means are the middles.

    A uniform law of width w is sub-Gaussian with sigma = w / sqrt(12), its standard deviation: up
    to a width of sqrt(3) there is nothing to set. Nothing cheap is known that draws a sum of
    uniforms at once: rounds that are jumped over are pulled one by one.

    Parameters
    ----------
    low, high : array_like, shape (N,)
        Ends of each arm's interval, low < high, in any order of the arms.
    sigma : float, optional
        Tell algorithms and bounds that rewards are sigma-sub-Gaussian: the largest width / sqrt(12)
        is enough. None is 1/2.

    Raises
    ------
    TypeError
        If an argument does not hold numbers.
    ValueError
        If an array is empty, holds NaN or a number beyond 1e50, or the two have not as many
        entries, or a low end is not below the high one, or `sigma` is not positive.

    Examples
    --------
    >>> Uniform(low=[0.0, 0.5], high=[0.5, 1.0]).means
    array([0.25, 0.75])
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    means: NDArray[np.float64]
    sigma: float | None = None

    #: Middles are rounded.
    means_rounding: ClassVar[float] = 2.0**-50

    def __init__(self, low: ArrayLike, high: ArrayLike, sigma: float | None = None) -> None:
        """Check and freeze the arguments."""
        lows, highs = frozen_array("low", low, 1), frozen_array("high", high, 1)
        if len(lows) != len(highs):
            raise ArgumentValueError(
                "high",
                f"high has {len(highs)} entries but low has {len(lows)}; give one of each an arm",
            )
        empty = np.flatnonzero(lows >= highs)
        if empty.size:
            arm = int(empty[0])
            raise ArgumentValueError(
                "high",
                f"high[{arm}] is {highs[arm]} but low[{arm}] is {lows[arm]}; give an interval: the "
                "low end, then a higher one",
            )
        object.__setattr__(self, "low", lows)
        object.__setattr__(self, "high", highs)
        object.__setattr__(self, "means", frozen_array("means", 0.5 * lows + 0.5 * highs, 1))
        object.__setattr__(self, "sigma", checked_sigma(sigma))
        _ = self.rescaled  # which may leave the range of doubles

    def _over(self, scale: float) -> Uniform:
        return Uniform(self.low / scale, self.high / scale)

    def kernel_law(self) -> UniformLaw:
        """Return the kernels' view of the law."""
        if self.sigma is not None:
            law: UniformLaw = self.rescaled.kernel_law()
            return law
        widths = self.high - self.low
        # squares of distances are divided by it
        proxy = max(float(widths.max()) ** 2 / 12.0, 1e-200)
        whole = float(self.high.max() - self.low.min())
        return UniformLaw(self.means.copy(), whole, proxy, self.low.copy(), widths)

    def why_not_sub_gaussian(self) -> str | None:
        """Return None if every width is at most sqrt(12) sigma, sigma 1/2 where it is not set."""
        widths = self.high - self.low
        arm = int(np.argmax(widths))
        # a sigma that was computed as a width over sqrt(12) counts
        most = math.sqrt(3.0) * self.two_sigma * (1.0 + 2.0**-50)
        if widths[arm] <= most:
            return None
        told = "1/2" if self.sigma is None else f"{self.sigma:g}"
        return (
            f"the interval of arm {arm} is {widths[arm]:.6g} wide, more than sqrt(12) times sigma, "
            f"{told}"
        )

    def _identity_parts(self) -> tuple[object, ...]:
        return (self.low, self.high)


@pull_by_pull
@plain
class UniformLaw(NamedTuple):
    """What kernels know: the means (N,), the range of all arms, a variance proxy, low ends and widths
    (N,).

    With half-width h the moment generating function of a centred uniform is sinh(h t) / (h t), the
    sum of (h t)^(2n) / (2n + 1)!, and that of a normal of the same variance h^2 / 3 the sum of (h
    t)^(2n) / (6^n n!). As (2n + 1)! >= 6^n n! (from n to n + 1 the factors are (2n + 2) (2n + 3) and
    6 (n + 1)), the variance is a variance proxy.
    """

    mean: NDArray[np.float64]
    width: float
    variance_proxy: float
    low: NDArray[np.float64]
    widths: NDArray[np.float64]


@implements(operations.one_pull, UniformLaw)
def _one_pull(
    law: UniformLaw, arm: int, total: float, pulls: int, state: State
) -> tuple[float, State]:
    u, state = uniform(state)
    return total + (law.low[arm] + law.widths[arm] * u), state
