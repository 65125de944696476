"""Arms with rewards of Student's t: heavy tails."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rai_sim.arms.base import LARGEST, Arms, checked_sigma, frozen_array
from rai_sim.arms.plain import plain, pull_by_pull
from rai_sim.engine import law as operations
from rai_sim.engine.jit import implements
from rai_sim.engine.sampling import gamma, normal
from rai_sim.engine.streams import State
from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.values import real, short

#: Of more degrees of freedom a t is a normal to the last digit.
_MOST_DF = 1e12


@dataclass(frozen=True, eq=False, init=False)
class StudentT(Arms):
    """Arms whose rewards are a mean plus `scale` times a Student's t: the algorithms' guarantees do
    not hold for them.

    Tails fall as a power, |x|^-df: no moment generating function is finite, so `Problem` asks for
    strict=False, and no bound is shown, whatever `sigma` is. Nothing is known of sums that could be
    drawn at once: every pull is drawn.

    Parameters
    ----------
    means : array_like, shape (N,)
        Means, in any order.
    df : float, default 3.0
        Degrees of freedom, above 1, where the mean is finite, to 1e12; up to 2 the variance is
        infinite.
    scale : float, default 0.5
        What a t is multiplied by, positive. The standard deviation is scale sqrt(df / (df - 2)).
    sigma : float, optional
        The sub-Gaussian parameter that algorithms are told although there is none: they divide
        rewards by 2 sigma, and go by radii that are not proved. None is 1/2.

    Raises
    ------
    TypeError
        If an argument does not hold numbers.
    ValueError
        If `means` is empty or holds NaN or a number beyond 1e50, `df` is not above 1, or `scale` or
        `sigma` is not positive.

    Examples
    --------
    >>> StudentT([1.0, 0.0], df=2.5)
    StudentT(2 arms, means [1, 0], df 2.5, scale 0.5)
    """

    means: NDArray[np.float64]
    df: float = 3.0
    scale: float = 0.5
    sigma: float | None = None

    def __init__(
        self, means: ArrayLike, df: float = 3.0, scale: float = 0.5, sigma: float | None = None
    ) -> None:
        """Check and freeze the arguments."""
        degrees = real("df", df)
        if not 1.0 < degrees <= _MOST_DF:
            raise ArgumentValueError(
                "df",
                f"df is {short.repr(df)}; it must be above 1, or there is no mean, and at most "
                f"{_MOST_DF:g}",
            )
        object.__setattr__(self, "means", frozen_array("means", means, 1))
        object.__setattr__(self, "df", degrees)
        object.__setattr__(self, "scale", _scale(scale))
        object.__setattr__(self, "sigma", checked_sigma(sigma))
        _ = self.rescaled  # which may leave the range of doubles

    def _over(self, scale: float) -> StudentT:
        return StudentT(self.means / scale, self.df, self.scale / scale)

    def kernel_law(self) -> StudentTLaw:
        """Return the kernels' view of the law."""
        if self.sigma is not None:
            law: StudentTLaw = self.rescaled.kernel_law()
            return law
        return StudentTLaw(self.means.copy(), math.inf, math.inf, 0.5 * self.df, self.scale)

    def why_not_sub_gaussian(self) -> str | None:
        """Return that rewards of Student's t never are."""
        return f"rewards of Student's t, df {self.df:g}, are sub-Gaussian for no sigma"

    def _identity_parts(self) -> tuple[object, ...]:
        return (self.means, self.df, self.scale)


def _scale(scale: float) -> float:
    number = real("scale", scale, "a positive number")
    if not 0.0 < number <= LARGEST:
        raise ArgumentValueError(
            "scale",
            f"scale is {short.repr(scale)}; it must be what a t is multiplied by, positive and at "
            f"most {LARGEST:g}",
        )
    return number


@pull_by_pull
@plain
class StudentTLaw(NamedTuple):
    """What kernels know: the means (N,), an infinite range and variance proxy, half the degrees of
    freedom, the scale."""

    mean: NDArray[np.float64]
    width: float
    variance_proxy: float
    half_df: float
    scale: float


@implements(operations.one_pull, StudentTLaw)
def _one_pull(
    law: StudentTLaw, arm: int, total: float, pulls: int, state: State
) -> tuple[float, State]:
    z, state = normal(state)
    # half a chi square
    g, state = gamma(law.half_df, state)
    return total + (law.mean[arm] + law.scale * z * math.sqrt(law.half_df / g)), state
