"""Binomial sums of the same numbers of trials again and again: by inversion, from the mode outward,
of a distribution function that is kept in a table once it is asked for often.

The values are numbered from the mode outward: mode, mode + 1, mode - 1, mode + 2 and so on; F(j) is
the probability of those up to number j. A uniform u stands for the first number with F(j) > u. The
probability at the mode is that of `log_binomial`, the others follow by their ratios. F is summed
up anew for each draw (`binomial_outward`), or looked up (`tabulate`, `look_up`): the sums are the
same, and so is what a u stands for, whether there is a table or not.

What that is exact to. Let s be the standard deviation, at most 20 s + 40 the numbers that are
reached at all, and d = 2^-53. Each value's probability in use is F(j) - F(j - 1), cut to the grain of
uniforms. It differs from the binomial's
- by the error of the mode's probability, the same share for all, below 2^-46 (`log_binomial` is a
  sum of logarithms below 40, each rounded to 53 digits);
- by 6 d of itself for each step from the mode, 4 roundings and the odds' error: 6 d E|X - mode|, at
  most 6 d (s + 1) in all;
- by one rounding of F, at most d / 2, and twice half a grain, at most d in all, a number.
So half the sum of the differences, the distance in total variation, is below
2^-47 + 3 d (s + 1) + 3/4 d (20 s + 40) < 2^-46 + 18 s d: 5e-14 for s = 15, 1e-12 for s = 500. If
rounding makes all probabilities sum up to less than u, the draw is repeated.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.sampling.log_probability import log_binomial
from rai_sim.engine.streams import State, uniform

#: Cells of a table's guide, a power of two: in cell g stands the first number with F > g / cells.
GUIDE = 1024
#: A table reaches so many standard deviations from the mode; some draws in a million are beyond.
_REACH = 5.0
#: After a table's last number: above every uniform.
_END = 2.0
#: Values less probable than this are never drawn, as uniforms lie 2^-53 apart.
_NEVER = 2.0**-60
#: What `look_up` gives where a table ends: no table reaches so far.
BEYOND = 1 << 40
#: Binomials of at least this variance have tables: both sides of the mode are there.
LEAST_VARIANCE = 10.0


def entries(trials: float) -> int:
    """Return the room that a table needs, whatever the probability of success."""
    return 2 * math.ceil(_REACH * 0.5 * math.sqrt(trials)) + 4  # two more, for rounding


@inlined
def mode_of(k: float, p: float) -> float:
    """Return the mode, the number that values are numbered from."""
    return np.floor((k + 1.0) * p)


@inlined
def _ratios(k: float, odds: float, mode: float, step: float) -> tuple[float, float]:
    """Return what the probabilities of the values before are multiplied with, `step` above the mode
    and as far below."""
    up = odds * (k - mode - step + 1.0) / (mode + step)
    down = (mode - step + 1.0) / (odds * (k - mode + step))
    return up, down


@kernel
def binomial_outward(k: float, p: float, u: float, state: State) -> tuple[float, State]:
    """Return the successes in k trials that u stands for; k p (1 - p) >= 10. The random state is
    touched if rounding leaves u without a value only."""
    mode, odds = mode_of(k, p), p / (1.0 - p)
    first = math.exp(log_binomial(mode, k, p))
    while True:
        F = above = below = first
        step = 0.0
        if u < F:
            return mode, state
        while above + below > _NEVER:
            step += 1.0
            up, down = _ratios(k, odds, mode, step)
            above *= up
            F += above
            if u < F:
                return mode + step, state
            below *= down
            F += below
            if u < F:
                return mode - step, state
        u, state = uniform(state)


@kernel
def tabulate(
    k: float, p: float, F: NDArray[np.float64], start: int, guide: NDArray[np.uint16], cell: int
) -> None:
    """Fill a table: `entries(k)` of F from `start` on, `GUIDE` of the guide from `cell` on."""
    mode, odds = mode_of(k, p), p / (1.0 - p)
    above = below = sum_ = math.exp(log_binomial(mode, k, p))
    F[start] = sum_
    steps = math.ceil(_REACH * math.sqrt(k * p * (1.0 - p)))
    for i in range(1, steps + 1):
        up, down = _ratios(k, odds, mode, np.float64(i))
        above *= up
        sum_ += above
        F[start + 2 * i - 1] = sum_
        below *= down
        sum_ += below
        F[start + 2 * i] = sum_
    F[start + 2 * steps + 1] = _END
    g = 0
    for j in range(2 * steps + 2):
        end = math.ceil(min(F[start + j], 1.0) * GUIDE)
        while g < end:
            guide[cell + g] = j
            g += 1


@inlined
def look_up(
    u: float, F: NDArray[np.float64], start: int, guide: NDArray[np.uint16], cell: int
) -> int:
    """Return how far from the mode the value lies that u stands for; `BEYOND` if a table does not
    reach it."""
    j = int(guide[cell + int(u * GUIDE)])
    while F[start + j] <= u:
        j += 1
    if F[start + j] == _END:
        return BEYOND
    step = (j + 1) >> 1
    return step if j & 1 else -step
