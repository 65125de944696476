"""When a task has enough replications for a wanted precision, and an interval that this way of
stopping does not spoil.

The numbers of replications at which a task may stop are fixed beforehand (`next_look`), and what
happens at each follows from the first so many replications alone. So a task's number of
replications does not depend on workers, interruptions or what else was stored.

The interval is Stein's (1945): the standard deviation in it is that of an earlier look, the one at
which the present number of replications was decided on, while the mean is over all of them. With
normal pulls that standard deviation, and so the decision, is independent of the final mean: for a
single decision and a width in pulls coverage is 95 % exactly, and a width relative to the mean and
later decisions change little. An interval from the standard deviation at the end would be too
short, because one stops when it happens to be small. Otherwise coverage is approximate, and falls
with skewness: of lognormal numbers (sigma 1, to 8 %) 92.6 %, where a Student interval at a fixed
number has 94.6 %. A first decision far from its end is taken anew half way (Hall 1981), so that it
does not hang on 256 replications.

References: C. Stein, A two-sample test for a linear hypothesis whose power is independent of the
variance, Annals of Mathematical Statistics 16 (1945); P. Hall, Asymptotic theory of triple sampling
for sequential estimation of a mean, Annals of Statistics 9 (1981).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.simulation.intervals import relative_half_width, student_interval
from rai_sim.simulation.statistics import Sums

#: Replications before the first decision.
FIRST_LOOK = 256
#: Looks to a doubling: a task runs at most a fifth longer than it must.
TO_A_DOUBLING = 4
#: A decision stands if it at most so many times multiplies the replications it is based on; else it
#: is taken anew half way.
_FAR = 2.5
#: With fewer finished replications than this nothing is planned on them: where most are given up at
#: max_pulls, they are doubled.
_FEW = 30
#: Half-width of a 95 % interval in standard errors, for estimates of what is to come.
NORMAL = 1.96


def next_look(n: float) -> int:
    """Return the smallest number of replications at least n at which a task may stop: 256, 305,
    363, 431, 512, ...

    Examples
    --------
    >>> next_look(0), next_look(257), next_look(305), next_look(512)
    (256, 305, 305, 512)
    """
    k = 0 if n <= FIRST_LOOK else math.floor(TO_A_DOUBLING * math.log2(n / FIRST_LOOK)) - 1
    while _look(k) < n:
        k += 1
    return _look(max(k, 0))


def _look(k: int) -> int:
    octave, part = divmod(k, TO_A_DOUBLING)
    return math.ceil(math.ldexp(FIRST_LOOK * 2.0 ** (part / TO_A_DOUBLING), octave))


def looks_within(start: int, stop: int) -> list[int]:
    """Return the looks strictly between two numbers of replications.

    Examples
    --------
    >>> looks_within(0, 400)
    [256, 305, 363]
    """
    found, n = [], next_look(start + 1)
    while n < stop:
        found.append(n)
        n = next_look(n + 1)
    return found


def looks_for(
    precision: float, spread: NDArray[np.float64], finished: NDArray[np.float64], most: int
) -> NDArray[np.float64]:
    """Return at which looks tasks may be expected to reach a precision; NaN where something is not
    known.

    Parameters
    ----------
    precision : float
        As in `follow`.
    spread : (T,) float64
        Variance of the pulls of each task over their squared mean.
    finished : (T,) float64
        Share of replications that finish.
    most : int
        As in `follow`.

    Examples
    --------
    >>> looks_for(0.01, np.array([1e-9, 0.04, 0.04, 1.0]), np.array([1.0, 1.0, 0.5, 1.0]), 20_000)
    array([  256.,  1723.,  3445., 20000.])
    """
    needed = spread * (NORMAL / precision) ** 2 / finished
    steps = np.ceil(TO_A_DOUBLING * np.log2(np.maximum(needed, FIRST_LOOK) / FIRST_LOOK))
    looks: NDArray[np.float64] = np.ceil(
        np.minimum(FIRST_LOOK * 2.0 ** (steps / TO_A_DOUBLING), most)
    )
    return looks


class Verdict(NamedTuple):
    """Where a task stands on its way to a precision.

    Attributes
    ----------
    replications : int
        Replications needed as far as is known; all that is needed if `final`.
    final : bool
        Whether the task stops there.
    reached : bool
        Whether the precision is reached; a final verdict without it came at the limit, or at the
        first look with none finished.
    interval : (float, float)
        95 % interval of the mean number of pulls; NaN where undefined.
    relative_half_width : float
        Half of its width over the mean; NaN where undefined.
    """

    replications: int
    final: bool
    reached: bool
    interval: tuple[float, float] = (math.nan, math.nan)
    relative_half_width: float = math.nan


def follow(precision: float, most: int, prefix: Callable[[int], Sums | None]) -> Verdict:
    """Follow the schedule as far as the replications go.

    Parameters
    ----------
    precision : float
        Wanted half-width of the 95 % interval of the mean number of pulls, as a share of that mean.
    most : int
        Replications at which to stop in any case.
    prefix : callable
        Given n, the sums of replications 0..n-1, or None if they are not all there.

    Returns
    -------
    Verdict
        The final one, or the next look as far as the replications tell.

    Examples
    --------
    >>> import numpy as np
    >>> pulls = np.random.default_rng(0).poisson(1000, 10_000)
    >>> yes = np.ones(10_000, bool)
    >>> verdict = follow(0.0025, 10**6, lambda n: Sums.of(pulls[:n], pulls[:n], yes[:n], yes[:n]))
    >>> verdict.replications, verdict.reached, verdict.relative_half_width <= 0.0025
    (609, True, True)
    """
    n, deciding, verdict = min(FIRST_LOOK, most), None, None
    while True:
        seen = prefix(n)
        if seen is None:
            return verdict or Verdict(n, False, False)
        deciding = deciding or seen
        low, high = interval = stein_interval(seen, deciding)
        width = relative_half_width(interval, seen.mean)
        reached = (high - low) / 2.0 <= precision * seen.mean
        if reached or n >= most or not seen.finished:
            return Verdict(n, True, reached, interval, width)
        n = min(_planned(precision, n, seen), most)
        verdict, deciding = Verdict(n, False, False, interval, width), seen


def stein_interval(seen: Sums, deciding: Sums) -> tuple[float, float]:
    """Return the 95 % interval of the mean of `seen`, with the standard deviation and degrees of
    freedom of `deciding`."""
    if seen.finished < 2 or deciding.finished < 2:
        return math.nan, math.nan
    low, high = student_interval(
        0.0, deciding.standard_deviation / math.sqrt(seen.finished), deciding.finished
    )
    return seen.mean + low, seen.mean + high


def _planned(precision: float, n: int, seen: Sums) -> int:
    """Return the next look: where what is seen after n replications says that the precision is
    reached, or half way if that is far."""
    if seen.finished < _FEW:
        return next_look(2.0 * n)
    low, high = stein_interval(seen, seen)
    needed = n * ((high - low) / 2.0 / (precision * seen.mean)) ** 2
    return next_look(max(needed if needed <= _FAR * n else needed / 2.0, n + 1.0))
