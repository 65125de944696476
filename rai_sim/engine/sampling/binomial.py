"""Binomial sums: by sequential inversion below a mean of 10; then by transformed rejection, BTRS of
Hormann (1993); from a variance of 72 on by rejection from the normal density."""

from __future__ import annotations

import math

import numpy as np

from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.sampling.log_probability import log_binomial, smooth_part
from rai_sim.engine.sampling.nearly_normal import binomial_normal
from rai_sim.engine.streams import State, uniform

#: From this variance on binomials are drawn from the normal density.
_NEARLY_NORMAL = 72.0


@inlined
def binomial(k: int, p: float, state: State) -> tuple[int, State]:
    """Return the number of successes in k trials of probability p.

    Parameters
    ----------
    k : int
        Trials, 0 or more.
    p : float
        Probability, in [0, 1].
    state : State
        State of the replication's stream.

    Returns
    -------
    (int, State)
        The successes, and the state after it.

    Examples
    --------
    >>> from rai_sim.samplers import binomial
    >>> def pull(law, arm, random):  # of a `rai_sim.OwnArms`
    ...     count, random = binomial(10, law.means[arm], random)
    ...     return count / 10, random
    """
    rarer = min(p, 1.0 - p)
    if k * rarer * (1.0 - rarer) >= _NEARLY_NORMAL:
        x, state = binomial_normal(k, rarer, state)
    elif k * rarer < 10.0:
        x, state = _binomial_inversion(k, rarer, state)
    else:
        x, state = _binomial_rejection(k, rarer, state)
    return (x if rarer == p else k - x), state


@kernel
def _binomial_inversion(k: int, p: float, state: State) -> tuple[int, State]:
    """Walk up the distribution function from zero; the mean is below 10."""
    if p <= 0.0:
        return 0, state
    odds = p / (1.0 - p)
    at_zero = math.exp(k * math.log1p(-p))
    while True:
        u, state = uniform(state)
        mass, x = at_zero, 0
        # Beyond 110 the mass is below 1e-70: only rounding of the distribution function leads
        # there.
        while u >= mass and x < 110:
            u -= mass
            x += 1
            mass *= odds * (k - x + 1) / x
        if x < 110 and x <= k:
            return x, state


@kernel
def _binomial_rejection(k: int, p: float, state: State) -> tuple[int, State]:
    """BTRS; k p >= 10, p <= 1/2. In seven of eight tries the squeeze accepts without a
    logarithm."""
    sd = math.sqrt(k * p * (1.0 - p))
    stretch = 1.15 + 2.53 * sd
    bend = -0.0873 + 0.0248 * stretch + 0.01 * p
    centre = k * p + 0.5
    squeeze = 0.92 - 4.2 / stretch
    while True:
        u, state = uniform(state)
        v, state = uniform(state)
        u -= 0.5
        inside = 0.5 - abs(u)
        x = np.floor((2.0 * bend / inside + stretch) * u + centre)
        if inside >= 0.07 and v <= squeeze:
            return int(x), state
        if x < 0.0 or x > k or inside <= 0.0:
            continue
        v *= (2.83 + 5.1 / stretch) * sd / (bend / (inside * inside) + stretch)
        if _below_pmf_ratio(v, x, np.float64(k), p):
            return int(x), state


@kernel
def _below_pmf_ratio(v: float, x: float, k: float, p: float) -> bool:
    """Whether v <= f(x) / f(mode), f the probabilities of Binomial(k, p), k p >= 10, p <= 1/2."""
    mode = np.floor((k + 1.0) * p)
    if x == 0.0 or x == k:
        return math.log(v) <= log_binomial(x, k, p) - log_binomial(mode, k, p)
    level = 0.5 * math.log(v * v * (x / mode) * ((k - x) / (k - mode)))
    middle, slack = _rough_height(x - k * p, mode - k * p, k * p, k * (1.0 - p))
    if abs(level - middle) > slack:
        return level < middle
    return level <= smooth_part(x, k, p) - smooth_part(mode, k, p)


@kernel
def _rough_height(d: float, e: float, a: float, b: float) -> tuple[float, float]:
    """Return an approximation to smooth_part(x) - smooth_part(mode) and a bound of its error.

    d and e are the distances of x and the mode from the mean a = k p, b = k - a >= a >= 10. With
    h(z) = (1 + z) log(1 + z) - z = z^2/2 - z^3/6 + z^4/12 - .., the deviances of x are a h(d/a) + b
    h(-d/b). For |z| <= 1/4 the terms after the cube add up to something between 0 and z^4/12 (1 +
    |z|), so to at most 5/48 z^4. For the mode, |e| <= 1, all terms after the square are within
    |e|^3 / (5 a^2). Stirling's errors lie between 1/(12 n + 1) and 1/(12 n), so those of x and the
    mode differ by at most |x - mode| / (12 m^2) + 1 / (144 m^2), m the least of them, likewise on
    the other side, where the numbers are larger except that k - x >= 3/4 b.
    """
    ia, ib = 1.0 / a, 1.0 / b
    if abs(d) > 0.25 * a:
        return 0.0, np.inf
    d2 = d * d
    square = 0.5 * (ia + ib)
    fourth = (5.0 / 48.0) * d2 * d2 * (ia * ia * ia + ib * ib * ib)
    middle = square * (e * e - d2) + d * d2 * (ia * ia - ib * ib) * (1.0 / 6.0) - 0.5 * fourth
    least = 0.7 * a  # at least 3/4 a for x, and a - 1 for the mode
    return middle, 0.5 * fourth + 0.4 * ia * ia + 2.0 * (abs(d) + 1.1) / (
        12.0 * least * least
    ) + 1e-9
