"""Categorical arms: rewards from a short list of values, such as star ratings.

What lives here: `Categorical` itself; `lattice`, which makes integers of values; `law`, what kernels
know and how they draw; `sums`, tables from which sums of many pulls are drawn; `alias`, the tables of
which these consist; `proxy`, the best variance proxy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rai_sim.arms.base import Arms, checked_sigma, frozen_array
from rai_sim.arms.categorical.lattice import lattice_of
from rai_sim.arms.categorical.law import CategoricalLaw, new_law
from rai_sim.arms.categorical.proxy import largest_variance_proxy
from rai_sim.support.errors import ArgumentValueError

#: Probabilities may miss a sum of 1 by this much (rounded tables); they are then divided by their
#: sum.
_SUM_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False, init=False)
class Categorical(Arms):
    """Arms whose rewards are `values[l]` with probability `probabilities[arm, l]`.

    Parameters
    ----------
    values : array_like, shape (L,)
        The possible rewards, distinct. Outside [0, 1] the rewards are not known to be
        1/2-sub-Gaussian and `Problem` asks for `sigma`, or for strict=False.
    probabilities : array_like, shape (N, L)
        One row an arm; each row sums to 1 (within 1e-9, then divided by its sum).
    sigma : float, optional
        Tell algorithms and bounds that rewards are sigma-sub-Gaussian: half the range of the values
        is enough, and less if all arms' laws are narrower (`Problem` checks). None is 1/2.

    Raises
    ------
    TypeError
        If an argument does not hold numbers.
    ValueError
        If a shape is wrong, a value repeats or is beyond 1e50, an entry is NaN, a probability
        negative, a row does not sum to 1, or `sigma` is not positive.

    Examples
    --------
    >>> Categorical([0.0, 0.5, 1.0], [[0.2, 0.3, 0.5], [0.6, 0.2, 0.2]]).means
    array([0.65, 0.3 ])
    >>> import rai_sim as rai
    >>> stars = Categorical([1, 2, 3, 4, 5], [[0.1, 0.1, 0.1, 0.2, 0.5], [0.2] * 5], sigma=2)
    >>> round(rai.bounds.lower(rai.best_arm(stars), 0.01))  # a gap of 0.9 in rewards
    45
    """

    values: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    means: NDArray[np.float64]
    sigma: float | None = None

    #: Means come from rounded probabilities: 7/10 of two ratings and of six differ in their last
    #: digits.
    means_rounding: ClassVar[float] = 2.0**-49

    def __init__(
        self, values: ArrayLike, probabilities: ArrayLike, sigma: float | None = None
    ) -> None:
        """Check and freeze the arguments."""
        levels = frozen_array("values", values, 1)
        table = frozen_array("probabilities", probabilities, 2)
        if table.shape[1] != len(levels):
            raise ArgumentValueError(
                "probabilities",
                f"probabilities has {table.shape[1]} columns but values has {len(levels)} "
                "entries; give one column a value",
            )
        if len(np.unique(levels)) != len(levels):
            raise ArgumentValueError(
                "values",
                f"values repeats an entry: {levels.tolist()}; give each value once and add up its "
                "probabilities",
            )
        if (table < 0.0).any():
            arm, level = (int(i) for i in np.argwhere(table < 0.0)[0])
            raise ArgumentValueError(
                "probabilities",
                f"probabilities[{arm}, {level}] is {table[arm, level]}; a probability cannot be "
                "negative",
            )
        sums = table.sum(axis=1)
        off = np.flatnonzero(abs(sums - 1.0) > _SUM_TOLERANCE)
        if off.size:
            arm = int(off[0])
            raise ArgumentValueError(
                "probabilities",
                f"probabilities[{arm}] sums to {sums[arm]:.12g}, not 1; divide the row by its sum "
                "or mend it",
            )
        # A row that sums to 1 but for rounding stays as it is: the law can be made again from its
        # own table.
        table = table / np.where(abs(sums - 1.0) > table.shape[1] * 2.0**-52, sums, 1.0)[:, None]
        # Means that are equal on paper must come out equal, so that a tie across a border is
        # noticed: sum exactly, then round once.
        means = np.array([math.fsum(row) for row in table * levels])
        for array in (table, means):
            array.setflags(write=False)
        object.__setattr__(self, "values", levels)
        object.__setattr__(self, "probabilities", table)
        object.__setattr__(self, "means", means)
        object.__setattr__(self, "sigma", checked_sigma(sigma))
        _ = self.rescaled  # which may leave the range of doubles, or make values meet

    def _over(self, scale: float) -> Categorical:
        return Categorical(self.values / scale, self.probabilities)

    def kernel_law(self) -> CategoricalLaw:
        """Return the kernels' view of the law."""
        if self.sigma is not None:
            law: CategoricalLaw = self.rescaled.kernel_law()
            return law
        origin, unit, steps = lattice_of(self.values)
        return new_law((self.means - origin) / unit, steps, self.probabilities, unit)

    def _law_units(self) -> tuple[float, float]:
        origin, unit, _ = lattice_of(self.values)
        return origin, unit

    def why_not_sub_gaussian(self) -> str | None:
        """Return None if every value lies in [0, 1]; with sigma, if the values are within 2 sigma of
        each other (Hoeffding), or sigma^2 is a variance proxy of every arm."""
        if self.sigma is not None:
            return self._why_not(self.sigma)
        outside = np.flatnonzero((self.values < 0.0) | (self.values > 1.0))
        if not outside.size:
            return None
        return f"values[{outside[0]}] is {self.values[outside[0]]}, outside [0, 1]"

    def _why_not(self, sigma: float) -> str | None:
        width = float(np.ptp(self.values))
        if width <= 2.0 * sigma:
            return None
        least = math.sqrt(largest_variance_proxy(self.values / width, self.probabilities)) * width
        return (
            None
            if least <= sigma
            else f"sigma is {sigma}, but rewards are known to be {least:.6g}-sub-Gaussian only"
        )

    def _identity_parts(self) -> tuple[object, ...]:
        return (self.values, self.probabilities.shape, self.probabilities)
