"""Families of means for instances whose number of arms or gap is varied, and shares of arms as
cluster sizes.

Each family is fixed by its two ends (`high`, `low`), or by its smallest gap between successive
means and one anchor: the highest mean (`high`) or the centre of the range (`middle`). Means are
returned best first, as float64 arrays of shape (n,), in units of reward.

Examples
--------
>>> import rai_sim as rai
>>> rai.coarse_ranking(rai.Bernoulli(rai.instances.evenly_spaced(6)), rai.instances.shares(6, [1, 2])).clusters
(2, 4)
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rai_sim.arms.base import LARGEST, TOO_LARGE
from rai_sim.support.checks import check_count
from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.values import integers, real

__all__ = ["evenly_spaced", "geometric_gaps", "linear_gaps", "one_apart", "random_means", "shares"]

_HIGH, _LOW = 0.9, 0.1
_MOST_ARMS = 10**8


def evenly_spaced(
    n: int,
    *,
    high: float | None = None,
    low: float | None = None,
    middle: float | None = None,
    gap: float | None = None,
) -> NDArray[np.float64]:
    """Return n means with equal gaps.

    Parameters
    ----------
    n : int
        Number of arms, at least 2.
    high, low : float, optional
        Largest and smallest mean; 0.9 and 0.1 where nothing else fixes them.
    middle : float, optional
        Centre of the range; needs `gap` and excludes `high` and `low`.
    gap : float, optional
        Smallest gap between successive means, positive; excludes `low`.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type, is not finite, or contradicts another.

    Examples
    --------
    >>> evenly_spaced(5)
    array([0.9, 0.7, 0.5, 0.3, 0.1])
    >>> evenly_spaced(2, middle=0.5, gap=0.25)
    array([0.625, 0.375])
    """
    n = _number_of_arms(n, 2)
    return _from_gaps(np.ones(n - 1), high, low, middle, gap)


def linear_gaps(
    n: int,
    *,
    high: float | None = None,
    low: float | None = None,
    middle: float | None = None,
    gap: float | None = None,
) -> NDArray[np.float64]:
    """Return n means whose successive gaps grow in the proportions 1 : 2 : ... : n - 1 from the
    best arm on.

    Parameters and errors are those of `evenly_spaced`.

    Examples
    --------
    >>> linear_gaps(4, high=0.875, gap=0.125)
    array([0.875, 0.75 , 0.5  , 0.125])
    """
    n = _number_of_arms(n, 2)
    return _from_gaps(np.arange(1.0, n), high, low, middle, gap)


def geometric_gaps(
    n: int,
    *,
    ratio: float = 2.0,
    high: float | None = None,
    low: float | None = None,
    middle: float | None = None,
    gap: float | None = None,
) -> NDArray[np.float64]:
    """Return n means whose successive gaps grow by the factor `ratio` from the best arm on, or
    shrink if it is below 1.

    Parameters and errors are those of `evenly_spaced`, besides:

    Parameters
    ----------
    ratio : float, default 2.0
        Factor from one gap to the next, positive.

    Examples
    --------
    >>> geometric_gaps(4, high=0.875, gap=0.0625)
    array([0.875 , 0.8125, 0.6875, 0.4375])
    """
    n = _number_of_arms(n, 2)
    factor = _finite("ratio", ratio)
    if factor <= 0.0:
        raise ArgumentValueError("ratio", f"ratio is {factor}; it must be positive, such as 2.0")
    with np.errstate(over="ignore", under="ignore"):
        gaps = factor ** np.arange(n - 1.0)
        whole = gaps.sum()
    if not (math.isfinite(whole) and gaps.all()):
        raise ArgumentValueError(
            "ratio",
            f"ratio is {factor} with n = {n}; its powers leave the range of doubles: take one "
            "nearer to 1, or fewer arms",
        )
    return _from_gaps(gaps, high, low, middle, gap)


def one_apart(n: int, *, high: float = _HIGH, low: float = _LOW) -> NDArray[np.float64]:
    """Return n means of which the first is `high` and all others are `low`.

    Parameters
    ----------
    n : int
        Number of arms, at least 2.
    high, low : float, default 0.9 and 0.1
        The best mean and the others, low < high.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type or value.

    Examples
    --------
    >>> one_apart(3, high=0.7, low=0.3)
    array([0.7, 0.3, 0.3])
    """
    n = _number_of_arms(n, 2)
    top, bottom = _range(high, low)
    means = np.full(n, bottom)
    means[0] = top
    return means


def random_means(
    n: int, *, seed: int = 0, high: float = _HIGH, low: float = _LOW
) -> NDArray[np.float64]:
    """Return n independent means, uniform on [low, high), best first.

    The means are a function of (n, seed, high, low): `numpy.random.Generator` over PCG64.

    Parameters
    ----------
    n : int
        Number of arms, at least 1.
    seed : int, default 0
        Seed of the means; it has nothing to do with the seed of a simulation.
    high, low : float, default 0.9 and 0.1
        Ends of the range, low < high.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type or value.

    Examples
    --------
    >>> random_means(3, seed=1)
    array([0.86037096, 0.5094573 , 0.21532769])
    """
    n, seed = _number_of_arms(n, 1), check_count("seed", seed, 0)
    top, bottom = _range(high, low)
    means = np.random.Generator(np.random.PCG64(seed)).uniform(bottom, top, n)
    return np.sort(means)[::-1].copy()


def shares(n: int, proportions: Sequence[int]) -> tuple[int, ...]:
    """Return cluster sizes of sum n in the given proportions, rounded by largest remainders (ties
    to the better cluster).

    Parameters
    ----------
    n : int
        Number of arms.
    proportions : sequence of int
        Positive integers, best cluster first, such as (3, 5, 2).

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type, a proportion is not positive, or a cluster would be
        empty.

    Examples
    --------
    >>> shares(20, (3, 5, 2)), shares(11, (1, 1))
    ((6, 10, 4), (6, 5))
    """
    n = _number_of_arms(n, 1)
    parts = integers("proportions", proportions)
    if min(parts, default=0) < 1:
        raise ArgumentValueError(
            "proportions",
            f"proportions is {parts}; every entry must be a positive integer, one a cluster",
        )
    whole = sum(parts)
    sizes = [n * part // whole for part in parts]
    by_remainder = sorted(range(len(parts)), key=lambda i: (-(n * parts[i] % whole), i))
    for i in by_remainder[: n - sum(sizes)]:
        sizes[i] += 1
    if min(sizes) < 1:
        raise ArgumentValueError(
            "proportions",
            f"proportions is {parts} for n = {n}, which leaves a cluster empty: give more arms or "
            "other proportions",
        )
    return tuple(sizes)


def _from_gaps(
    gaps: NDArray[np.float64],
    high: float | None,
    low: float | None,
    middle: float | None,
    gap: float | None,
) -> NDArray[np.float64]:
    """Return means with these successive gaps, scaled and placed as asked."""
    given = {
        name: _finite(name, value)
        for name, value in (("high", high), ("low", low), ("middle", middle), ("gap", gap))
        if value is not None
    }
    if "middle" in given and ("gap" not in given or "high" in given or "low" in given):
        raise ArgumentValueError(
            "middle",
            f"middle is {middle}; give it with gap, and without high and low",
        )
    if "gap" in given and "low" in given:
        raise ArgumentValueError("gap", f"gap is {gap} and low is {low}; give one of the two")
    falls = np.concatenate([[0.0], np.cumsum(gaps)])
    if "gap" not in given:
        top, bottom = _range(given.get("high", _HIGH), given.get("low", _LOW))
        # Rounded to 15 digits the means are those one would write, 0.7 and not 0.7000000000000001.
        return _tidy(top - (top - bottom) * (falls / falls[-1]))
    smallest = given["gap"]
    if smallest <= 0.0:
        raise ArgumentValueError("gap", f"gap is {smallest}; it must be positive, such as 0.1")
    with np.errstate(over="ignore"):
        falls *= smallest / gaps.min()
    if not falls[-1] <= LARGEST:
        raise ArgumentValueError(
            "gap",
            f"gap is {smallest}, the smallest of {len(gaps)}, which add up to {falls[-1]}; "
            f"{TOO_LARGE}",
        )
    return _tidy(
        given.get(
            "high", given.get("middle", _HIGH) + (falls[-1] / 2.0 if "middle" in given else 0.0)
        )
        - falls
    )


def _tidy(means: NDArray[np.float64]) -> NDArray[np.float64]:
    rounded = np.round(means, 15)
    # Gaps near 1e-15 must not be rounded away.
    return rounded if (np.diff(rounded) < 0.0).all() else means


def _number_of_arms(n: object, least: int) -> int:
    number = check_count("n", n, least)
    if number > _MOST_ARMS:
        raise ArgumentValueError("n", f"n is {number}; it must be at most {_MOST_ARMS}")
    return number


def _range(high: float, low: float) -> tuple[float, float]:
    top, bottom = _finite("high", high), _finite("low", low)
    if not bottom < top:
        raise ArgumentValueError(
            "low",
            f"low is {bottom} but high is {top}; low must be the smaller one",
        )
    return top, bottom


def _finite(name: str, value: object) -> float:
    number = real(name, value)
    if not math.isfinite(number):
        raise ArgumentValueError(name, f"{name} is {number}; it must be finite")
    if abs(number) > LARGEST:
        raise ArgumentValueError(name, f"{name} is {number}; {TOO_LARGE}")
    return number
