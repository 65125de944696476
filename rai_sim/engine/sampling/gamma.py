"""Gamma and beta variates: rejection from a cubed normal, Marsaglia and Tsang (2000), and quotients of
two of these.

The same steps stand in NumPy's `distributions.c` and Numba's `np/random/distributions.py`; here they
are fed by the package's streams. Shapes below 1 are had from shape + 1 by a power of a uniform, as
in the same paper, for beta in logarithms, where no shape underflows.
"""

from __future__ import annotations

import math

from rai_sim.engine.jit import kernel
from rai_sim.engine.sampling.normal import normal
from rai_sim.engine.streams import State, uniform


@kernel
def gamma(shape: float, state: State) -> tuple[float, State]:
    """Return a gamma variate of a positive shape and scale 1.

    Parameters
    ----------
    shape : float
        Positive.
    state : State
        State of the replication's stream.

    Returns
    -------
    (float, State)
        The variate, and the state after it.

    Examples
    --------
    >>> from rai_sim.samplers import gamma
    >>> def pull(law, arm, random):  # of a `rai_sim.OwnArms`
    ...     waiting, random = gamma(3.0, random)
    ...     return law.means[arm] * waiting / 3.0, random
    """
    if shape >= 1.0:
        return _gamma_of_one_or_more(shape, state)
    log, state = _log_gamma(shape, state)
    return math.exp(log), state


@kernel
def beta(alpha: float, beta: float, state: State) -> tuple[float, State]:
    """Return a beta variate of positive shapes: X / (X + Y), X and Y gamma variates of these.

    Parameters
    ----------
    alpha, beta : float
        Positive.
    state : State
        State of the replication's stream.

    Returns
    -------
    (float, State)
        The variate, in [0, 1], and the state after it.

    Examples
    --------
    >>> from rai_sim.samplers import beta
    >>> def pull(law, arm, random):  # of a `rai_sim.OwnArms`
    ...     return beta(4.0 * law.means[arm], 4.0 - 4.0 * law.means[arm], random)
    """
    if alpha >= 1.0 and beta >= 1.0:
        x, state = _gamma_of_one_or_more(alpha, state)
        y, state = _gamma_of_one_or_more(beta, state)
        return x / (x + y), state
    log_x, state = _log_gamma(alpha, state)
    log_y, state = _log_gamma(beta, state)
    return 1.0 / (1.0 + math.exp(log_y - log_x)), state


@kernel
def _log_gamma(shape: float, state: State) -> tuple[float, State]:
    """Return the logarithm of a gamma variate."""
    if shape >= 1.0:
        x, state = _gamma_of_one_or_more(shape, state)
        return math.log(x), state
    x, state = _gamma_of_one_or_more(shape + 1.0, state)
    u, state = uniform(state)
    return math.log(x) + math.log(1.0 - u) / shape, state


@kernel
def _gamma_of_one_or_more(shape: float, state: State) -> tuple[float, State]:
    """Marsaglia and Tsang; at least 95 of 100 tries are accepted, most by the squeeze."""
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        z, state = normal(state)
        v = 1.0 + c * z
        if v <= 0.0:
            continue
        v = v * v * v
        u, state = uniform(state)
        u, square = 1.0 - u, z * z
        if u < 1.0 - 0.0331 * square * square:
            return d * v, state
        if math.log(u) < 0.5 * square + d * (1.0 - v + math.log(v)):
            return d * v, state
