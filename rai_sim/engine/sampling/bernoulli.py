"""Bernoulli rewards, 64 at once, of one arm or of several."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.random_vectors import compare_random_bytes, generators_at, put_back
from rai_sim.engine.streams import State, next_word

_0, _1, _8, _56 = (np.uint64(v) for v in (0, 1, 8, 56))


@kernel
def bernoulli_word(expansion: np.uint64, state: State) -> tuple[np.uint64, State]:
    """Return 64 independent Bernoulli(p) bits, p = expansion / 2^64.

    Lane by lane a uniform's first eight binary digits are compared with p's. In one lane of 256
    they agree, and the digits that follow decide.
    """
    ones, ties, generators = compare_random_bytes(generators_at(state[4]), expansion >> _56)
    put_back(generators, state[4])
    decided, state = _decided(ties, expansion, state)
    return ones | decided, state


@inlined
def _decided(ties: np.uint64, expansion: np.uint64, state: State) -> tuple[np.uint64, State]:
    """Return which of the lanes that agree in eight digits are 1."""
    ones = _0
    while ties != _0:
        rest, state = next_word(state)
        if rest < expansion << _8:
            ones |= ties & (~ties + _1)
        ties &= ties - _1
    return ones, state


@inlined
def bernoulli_words(
    expansion: NDArray[np.uint64],
    labels: NDArray[np.int64],
    n: int,
    arm_of: NDArray[np.int64],
    bits: NDArray[np.uint64],
    tied: NDArray[np.uint64],
    state: State,
) -> State:
    """Write into `bits`, by label, the words that `bernoulli_word` gives the arms of n labels one
    after the other; `tied` (2, N + 1) is room to work in.

    The bytes of all come first, so that the generators stay in registers and nothing depends on
    whether some lane is to be decided: in a fifth of the words one is, which a processor cannot
    foresee. Bytes and deciding words come from different generators, of which each is asked in the
    same order as arm by arm.
    """
    generators = generators_at(state[4])
    late = _0
    for x in range(np.uint64(n)):
        label = np.uint64(labels[x])
        byte = expansion[np.uint64(arm_of[label])] >> _56
        bits[label], ties, generators = compare_random_bytes(generators, byte)
        # written in any case; it counts if there are ties
        tied[_0, late], tied[_1, late] = label, ties
        late += np.uint64(ties != _0)
    put_back(generators, state[4])
    for i in range(late):
        label = tied[_0, i]
        decided, state = _decided(tied[_1, i], expansion[np.uint64(arm_of[label])], state)
        bits[label] |= decided
    return state
