"""Categorical arms: rewards from a short list of values, such as star ratings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rai_sim.arms.base import Arms, frozen_array
from rai_sim.engine import law as operations
from rai_sim.engine.jit import implements, kernel
from rai_sim.engine.sampling import binomial
from rai_sim.engine.streams import State, uniform

#: Probabilities may miss a sum of 1 by this much (rounded tables); they are then divided by their sum.
_SUM_TOLERANCE = 1e-9
#: Up to so many pulls a level, single pulls by alias table are faster than one binomial a level (measured).
_PULLS_A_LEVEL = 6
#: With more arms than this, every arm's variance proxy is Hoeffding's bound instead of the best one.
_MOST_ARMS_FOR_BEST_PROXY = 1000


@dataclass(frozen=True, eq=False, init=False)
class Categorical(Arms):
    """Arms whose rewards are `values[l]` with probability `probabilities[k, l]`.

    Parameters
    ----------
    values : array_like, shape (L,)
        The possible rewards, distinct. Outside [0, 1] the rewards are not known to be 1/2-sub-Gaussian and `Problem` asks for strict=False.
    probabilities : array_like, shape (N, L)
        One row an arm; each row sums to 1 (within 1e-9, then divided by its sum).

    Raises
    ------
    TypeError
        If an argument does not hold numbers.
    ValueError
        If a shape is wrong, a value repeats, an entry is NaN, infinite or negative, or a row does not sum to 1.

    Examples
    --------
    >>> Categorical([0.0, 0.5, 1.0], [[0.2, 0.3, 0.5], [0.6, 0.2, 0.2]]).means
    array([0.65, 0.3 ])
    """

    values: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    means: NDArray[np.float64]

    def __init__(self, values: ArrayLike, probabilities: ArrayLike) -> None:
        """Check and freeze the arguments."""
        levels = frozen_array("values", values, 1)
        table = frozen_array("probabilities", probabilities, 2)
        if table.shape[1] != len(levels):
            raise ValueError(f"probabilities has {table.shape[1]} columns but values has {len(levels)} entries; give one column a value")
        if len(np.unique(levels)) != len(levels):
            raise ValueError(f"values repeats an entry: {levels.tolist()}; give each value once and add up its probabilities")
        if (table < 0.0).any():
            arm, level = (int(i) for i in np.argwhere(table < 0.0)[0])
            raise ValueError(f"probabilities[{arm}, {level}] is {table[arm, level]}; a probability cannot be negative")
        sums = table.sum(axis=1)
        off = np.flatnonzero(abs(sums - 1.0) > _SUM_TOLERANCE)
        if off.size:
            arm = int(off[0])
            raise ValueError(f"probabilities[{arm}] sums to {sums[arm]:.12g}, not 1; divide the row by its sum or mend it")
        # A row that sums to 1 but for rounding stays as it is: the law can be made again from its own table.
        table = table / np.where(abs(sums - 1.0) > table.shape[1] * 2.0**-52, sums, 1.0)[:, None]
        # Means that are equal on paper must come out equal, so that a tie across a border is noticed: sum exactly, then round once.
        means = np.array([math.fsum(row) for row in table * levels])
        for array in (table, means):
            array.setflags(write=False)
        object.__setattr__(self, "values", levels)
        object.__setattr__(self, "probabilities", table)
        object.__setattr__(self, "means", means)

    def kernel_law(self) -> CategoricalLaw:
        """Return the kernels' view of the law."""
        origin, unit, steps = _lattice(self.values)
        order = np.argsort(-self.probabilities, axis=1, kind="stable")
        p = np.take_along_axis(self.probabilities, order, axis=1)
        remaining = np.cumsum(p[:, ::-1], axis=1)[:, ::-1]
        conditional = np.divide(p, remaining, out=np.ones_like(p), where=remaining > 0.0)
        # From the last possible level on, everything that remains falls into it.
        last = np.count_nonzero(p > 0.0, axis=1) - 1
        conditional[np.arange(p.shape[1]) >= last[:, None]] = 1.0
        keep, alias = _alias_tables(p)
        proxy = max(float(np.ptp(steps)) ** 2 / 4, 1e-300) if self.n_arms > _MOST_ARMS_FOR_BEST_PROXY else max(
            best_variance_proxy(steps, row) for row in self.probabilities)
        return CategoricalLaw(
            np.ascontiguousarray(steps[order]), conditional, keep, alias, last.astype(np.int64),
            (self.means - origin) / unit, unit, float(np.ptp(steps)), proxy,
        )  # fmt: skip

    def why_not_sub_gaussian(self) -> str | None:
        """Return None if every value lies in [0, 1]."""
        outside = np.flatnonzero((self.values < 0.0) | (self.values > 1.0))
        if not outside.size:
            return None
        return f"values[{outside[0]}] is {self.values[outside[0]]}, outside [0, 1]"

    def _identity_parts(self) -> tuple[object, ...]:
        return (self.values, self.probabilities.shape, self.probabilities)


def _lattice(values: NDArray[np.float64]) -> tuple[float, float, NDArray[np.float64]]:
    """Return origin, unit and integer steps with values = origin + unit * steps, or (0, 1, values) if there is no short lattice.

    A value counts as the fraction of denominator up to 10,000 that it is within rounding: 0.1 is one tenth, and so is 1.1 - 1.
    """
    fractions = [Fraction(v).limit_denominator(10_000) for v in values.tolist()]
    if len(set(fractions)) < len(fractions):  # values closer than rounding stay apart
        return 0.0, 1.0, values.copy()
    if any(abs(float(f) - v) > 1e-14 * max(1.0, abs(v)) for f, v in zip(fractions, values.tolist(), strict=True)):
        return 0.0, 1.0, values.copy()
    origin = min(fractions)
    denominator = math.lcm(*(f.denominator for f in fractions))
    numerators = [int((f - origin) * denominator) for f in fractions]
    common = math.gcd(*numerators) or 1
    steps = [n // common for n in numerators]
    if max(steps) > 1_000_000:
        return 0.0, 1.0, values.copy()
    return float(origin), float(Fraction(common, denominator)), np.array(steps, dtype=np.float64)


def _alias_tables(p: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return Vose's alias tables of every row: the share of a column that keeps its own level, and the other level."""
    n, levels = p.shape
    keep, alias = np.ones((n, levels)), np.tile(np.arange(levels), (n, 1))
    for arm in range(n):
        scaled = p[arm] * levels
        small = [i for i in range(levels) if scaled[i] < 1.0]
        large = [i for i in range(levels) if scaled[i] >= 1.0]
        while small and large:
            low, high = small.pop(), large[-1]
            keep[arm, low], alias[arm, low] = scaled[low], high
            scaled[high] -= 1.0 - scaled[low]
            if scaled[high] < 1.0:
                small.append(large.pop())
    return keep, alias


def best_variance_proxy(values: NDArray[np.float64], p: NDArray[np.float64]) -> float:
    """Return a number, at most 2.1 % above the smallest, of which a law is sub-Gaussian as a variance proxy.

    The smallest is the supremum over t of 2 K(t) / t^2, K the centred cumulant generating function. K is convex with
    minimum K(0) = 0, so between grid points of ratio 1.01 the quotient is at most 1.01^2 times its value at the
    farther one. In units of the width: below the grid the variance times 1 + t bounds it (Bernstein). Above the grid
    K(t) <= |t| leaves less than the variance, or than 1/6000, which the supremum passes: one of the extreme levels
    lies 1/2 or more from the mean, and no double is a probability below 2^-1074 = e^-744.5, so on that side
    K(3000) >= 1500 - 744.5.
    """
    possible = p > 0.0
    width = float(np.ptp(values[possible]))
    if width == 0.0:
        return 1e-300
    centred, p = (values[possible] - float(p @ values)) / width, p[possible]
    variance = float(p @ centred**2)
    best = 1.001 * variance
    first, last = 1e-3, 2.0 / max(variance, 1.0 / 6000.0)
    grid = first * 1.01 ** np.arange(math.ceil(math.log(last / first, 1.01)) + 1)
    for t in (grid, -grid):
        exponents = np.outer(t, centred)
        top = exponents.max(axis=1)
        cumulant = top + np.log(np.exp(exponents - top[:, None]) @ p)
        best = max(best, 1.01**2 * float((2.0 * cumulant / t**2).max()))
    return max(min(best, 0.25) * width * width, 1e-300)


class CategoricalLaw(NamedTuple):
    """What kernels know; levels of an arm stand in order of falling probability.

    steps, conditional, keep, alias (N, L); last possible level (N,); means (N,) in law units; unit, range and variance proxy.
    """

    steps: NDArray[np.float64]
    conditional: NDArray[np.float64]
    keep: NDArray[np.float64]
    alias: NDArray[np.int64]
    last: NDArray[np.int64]
    mean: NDArray[np.float64]
    unit: float
    width: float
    variance_proxy: float


@implements(operations.one_pull, CategoricalLaw)
def _one_pull(law: CategoricalLaw, arm: int, total: float, pulls: int, state: State) -> tuple[float, State]:
    return _pull_by_pull(law, arm, total, 1, state)


@kernel
def _pull_by_pull(law: CategoricalLaw, arm: int, total: float, k: int, state: State) -> tuple[float, State]:
    steps, keep, alias = law.steps[arm], law.keep[arm], law.alias[arm]
    for _ in range(k):
        u, state = uniform(state)
        place = u * steps.size
        column = int(place)
        level = column if place - column < keep[column] else alias[column]
        total += steps[level]
    return total, state


@implements(operations.more_pulls, CategoricalLaw)
def _more_pulls(law: CategoricalLaw, arm: int, total: float, pulls: int, k: int, state: State) -> tuple[float, State]:
    if k <= _PULLS_A_LEVEL * law.last[arm]:
        return _pull_by_pull(law, arm, total, k, state)
    # Multinomial counts, a level at a time: each is binomial given what the levels before it left.
    for level in range(law.last[arm] + 1):
        count, state = binomial(k, law.conditional[arm, level], state)
        total += count * law.steps[arm, level]
        k -= count
        if k == 0:
            break
    return total, state


@implements(operations.pulls_available, CategoricalLaw)
def _pulls_available(law: CategoricalLaw) -> int:
    return 1 << 62


@implements(operations.spread, CategoricalLaw)
def _spread(law: CategoricalLaw) -> float:
    return law.width


@implements(operations.mean_of, CategoricalLaw)
def _mean_of(law: CategoricalLaw, arm: int) -> float:
    return law.mean[arm]


@implements(operations.unit, CategoricalLaw)
def _unit(law: CategoricalLaw) -> float:
    return law.unit


@implements(operations.proxy, CategoricalLaw)
def _proxy(law: CategoricalLaw) -> float:
    return law.variance_proxy


@implements(operations.has_words, CategoricalLaw)
def _has_words(law: CategoricalLaw) -> bool:
    return False


@implements(operations.word, CategoricalLaw)
def _word(law: CategoricalLaw, arm: int, pulls: int, state: State) -> tuple[np.uint64, State]:
    return np.uint64(0), state
