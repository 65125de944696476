"""Poisson counts: by sequential inversion below a mean of 10, from there on by transformed rejection,
PTRS of Hormann (1993, Insurance: Mathematics and Economics 12).

PTRS is what NumPy's `distributions.c` and Numba's `np/random/distributions.py` use; here the
acceptance test takes log probabilities in Loader's form, which stay accurate for sums of 10^15.
"""

from __future__ import annotations

import math

import numpy as np

from rai_sim.engine.jit import kernel
from rai_sim.engine.sampling.log_probability import log_poisson
from rai_sim.engine.streams import State, uniform


@kernel
def poisson(mean: float, state: State) -> tuple[float, State]:
    """Return a Poisson count of a mean of 0 or more, as a double.

    Parameters
    ----------
    mean : float
        0 or more.
    state : State
        State of the replication's stream.

    Returns
    -------
    (float, State)
        The count, and the state after it.

    Examples
    --------
    >>> from rai_sim.samplers import poisson
    >>> def pull(law, arm, random):  # of a `rai_sim.OwnArms`
    ...     return poisson(law.means[arm], random)
    """
    if mean < 10.0:
        return _poisson_inversion(mean, state)
    return _poisson_rejection(mean, state)


@kernel
def _poisson_inversion(mean: float, state: State) -> tuple[float, State]:
    """Walk up the distribution function from zero; the mean is below 10."""
    at_zero = math.exp(-mean)
    while True:
        u, state = uniform(state)
        mass, x = at_zero, 0.0
        # Beyond 110 the mass is below 1e-70: only rounding of the distribution function leads
        # there.
        while u >= mass and x < 110.0:
            u -= mass
            x += 1.0
            mass *= mean / x
        if x < 110.0:
            return x, state


@kernel
def _poisson_rejection(mean: float, state: State) -> tuple[float, State]:
    """PTRS; mean >= 10. In nine of ten tries the squeeze accepts without a logarithm."""
    stretch = 0.931 + 2.53 * math.sqrt(mean)
    bend = -0.059 + 0.02483 * stretch
    scale = 1.1239 + 1.1328 / (stretch - 3.4)
    squeeze = 0.9277 - 3.6224 / (stretch - 2.0)
    while True:
        u, state = uniform(state)
        v, state = uniform(state)
        u -= 0.5
        inside = 0.5 - abs(u)
        if inside <= 0.0:
            continue
        x = np.floor((2.0 * bend / inside + stretch) * u + mean + 0.43)
        if inside >= 0.07 and v <= squeeze:
            return x, state
        if x < 0.0 or (inside < 0.013 and v > inside):
            continue
        v *= scale / (bend / (inside * inside) + stretch)
        if math.log(v) <= log_poisson(x, mean):
            return x, state
