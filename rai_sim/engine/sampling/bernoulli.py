"""Bernoulli rewards, 64 at once."""

from __future__ import annotations

import numpy as np

from rai_sim.engine.jit import kernel
from rai_sim.engine.streams import State, next_word
from rai_sim.engine.vectors import compare_random_bytes

_0, _1, _8, _56 = (np.uint64(v) for v in (0, 1, 8, 56))


@kernel
def bernoulli_word(expansion: np.uint64, state: State) -> tuple[np.uint64, State]:
    """Return 64 independent Bernoulli(p) bits, p = expansion / 2^64.

    Lane by lane a uniform's first eight binary digits are compared with p's. In one lane of 256
    they agree, and the digits that follow decide.
    """
    ones, ties = compare_random_bytes(state[4], expansion >> _56)
    while ties != _0:
        rest, state = next_word(state)
        if rest < expansion << _8:
            ones |= ties & (~ties + _1)
        ties &= ties - _1
    return ones, state
