"""Hypergeometric counts, a sum given a later sum: by the ratio of uniforms, HRUA of Stadlober
(1989)."""

from __future__ import annotations

import math

import numpy as np

from rai_sim.engine.jit import kernel
from rai_sim.engine.sampling.log_probability import log_binomial
from rai_sim.engine.streams import State, uniform


@kernel
def hypergeometric(k: int, successes: int, h: int, state: State) -> tuple[int, State]:
    """Return how many of the successes among k exchangeable trials fall into the first h."""
    s, n = min(successes, k - successes), min(h, k - h)
    x, state = (
        _hypergeometric_small(k, s, n, state)
        if min(s, n) <= 8
        else _hypergeometric_rejection(k, s, n, state)
    )
    if n != h:
        x = s - x
    if s != successes:
        x = h - x
    return x, state


@kernel
def _hypergeometric_small(k: int, s: int, n: int, state: State) -> tuple[int, State]:
    """Place the few successes (or fill the few places) one at a time; s and n are exchangeable."""
    few, other = min(s, n), max(s, n)
    x = 0
    for i in range(few):
        u, state = uniform(state)
        x += u * (k - i) < other - x
    return x, state


@kernel
def _hypergeometric_rejection(k: int, s: int, n: int, state: State) -> tuple[int, State]:
    """HRUA; s, n <= k / 2."""
    share = n / k
    centre = s * share + 0.5
    sd = math.sqrt((k - n) / (k - 1.0) * s * share * (1.0 - s / k) + 0.5)
    width = 1.7155277699214135 * sd + 0.8989161620588988
    mode = np.floor((n + 1.0) * (s + 1.0) / (k + 2.0))
    peak = log_binomial(mode, s, share) + log_binomial(n - mode, k - s, share)
    limit = min(min(s, n) + 1.0, np.floor(centre + 16.0 * sd))
    while True:
        u, state = uniform(state)
        v, state = uniform(state)
        if u <= 0.0:
            continue
        position = centre + width * (v - 0.5) / u
        if position < 0.0 or position >= limit:
            continue
        x = np.floor(position)
        height = log_binomial(x, s, share) + log_binomial(n - x, k - s, share) - peak
        if 2.0 * math.log(u) <= height:
            return int(x), state
