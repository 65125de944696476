"""Random streams: one replication, one stream, a function of (seed, replication) alone.

The user's seed is hashed by NumPy's `SeedSequence` to a 128-bit key. Philox4x64-10 (Salmon et al.
2011), keyed by it and given the replication's index as counter, yields 256 bits: the state of that
replication's own xoshiro256++ (Blackman and Vigna 2021). So streams do not depend on blocks,
threads, backends or order, and any replication can be made again alone. The generator's state is a
tuple which functions take and give back; in compiled code its four words live in registers.

Rewards 0 and 1 are drawn 64 at a time from four further generators of the same kind, which advance
side by side in vector registers. Their states come from the Philox blocks with the same counter in
its first word and 1, 2, 3, 4 in its second. They take 16 words of memory, a block's; the tuple's
last entry is the address.

A change of anything here, or of the order in which a kernel or sampler draws, changes users'
numbers: `STREAM_VERSION` must then be raised, the reference hashes in the tests renewed, and the
README told.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.random_vectors import seed_four
from rai_sim.engine.vectors import address_of, new_vectors

#: The numbers a (seed, replication) pair stands for. Raised when they change.
STREAM_VERSION = 4

Words: TypeAlias = tuple[np.uint64, np.uint64, np.uint64, np.uint64]
#: Four words of xoshiro256++ and the address of the four generators beside it.
State: TypeAlias = tuple[np.uint64, np.uint64, np.uint64, np.uint64, np.uint64]

# Every constant is a uint64: a bare literal would turn the whole expression into float64 or int64.
_M0, _M1 = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
_W0, _W1 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
_LOW = np.uint64(0xFFFFFFFF)
_0, _1, _11, _17, _19, _23, _32 = (np.uint64(v) for v in (0, 1, 11, 17, 19, 23, 32))
_41, _45 = np.uint64(41), np.uint64(45)
#: Uniforms are multiples of this.
GRAIN = 2.0**-53


@lru_cache(maxsize=16)
def _hashed(seed: int) -> NDArray[np.uint64]:
    return np.random.SeedSequence(seed).generate_state(2, np.uint64).astype(np.uint64)


def stream_key(seed: int) -> NDArray[np.uint64]:
    """Return the (2,) uint64 Philox key that `seed` is hashed to."""
    return _hashed(seed).copy()


@kernel
def _multiply(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the high and low words of the 128-bit product."""
    al, ah, bl, bh = a & _LOW, a >> _32, b & _LOW, b >> _32
    t = al * bl
    mid = ah * bl + (t >> _32)
    low_mid = (mid & _LOW) + al * bh
    return ah * bh + (mid >> _32) + (low_mid >> _32), a * b


@kernel
def philox(counter: np.uint64, key0: np.uint64, key1: np.uint64) -> Words:
    """Return the Philox4x64-10 block of counter (counter, 0, 0, 0)."""
    c0, c1, c2, c3 = counter, _0, _0, _0
    for _ in range(10):
        h0, l0 = _multiply(_M0, c0)
        h1, l1 = _multiply(_M1, c2)
        c0, c1, c2, c3 = h1 ^ c1 ^ key0, l1, h0 ^ c3 ^ key1, l0
        key0 += _W0
        key1 += _W1
    return c0, c1, c2, c3


def new_generators() -> NDArray[np.uint64]:
    """Allocate four generators: (16,) uint64, four first words of their states, four second ones
    and so on."""
    return new_vectors((16,), np.uint64)


@kernel
def replication_stream(
    key: NDArray[np.uint64], replication: int, generators: NDArray[np.uint64]
) -> State:
    """Return the state at which a replication's stream begins; it uses `generators`, which must
    outlive it."""
    address = address_of(generators)
    seed_four(address, np.uint64(replication), key[0], key[1])
    s0, s1, s2, s3 = philox(np.uint64(replication), key[0], key[1])
    return s0, s1, s2, s3, address


@inlined
def next_word(state: State) -> tuple[np.uint64, State]:
    """Return 64 random bits and the state after them (xoshiro256++)."""
    s0, s1, s2, s3, generators = state
    mixed = s0 + s3
    word = ((mixed << _23) | (mixed >> _41)) + s0
    shifted = s1 << _17
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= shifted
    s3 = (s3 << _45) | (s3 >> _19)
    return word, (s0, s1, s2, s3, generators)


@inlined
def uniform(state: State) -> tuple[float, State]:
    """Return a uniform double on [0, 1), a multiple of 2^-53.

    Parameters
    ----------
    state : State
        State of the replication's stream.

    Returns
    -------
    (float, State)
        The variate, and the state after it.

    Examples
    --------
    >>> from rai_sim.samplers import uniform
    >>> def pull(law, arm, random):  # of a `rai_sim.OwnArms`
    ...     u, random = uniform(random)
    ...     return 1.0 if u < law.means[arm] else 0.0, random
    """
    word, state = next_word(state)
    return (word >> _11) * GRAIN, state


@kernel
def below(bound: int, state: State) -> tuple[int, State]:
    """Return an integer uniform on 0..bound-1, bound <= 2^32, without bias (Lemire 2019)."""
    size = np.uint64(bound)
    while True:
        word, state = next_word(state)
        product = (word >> _32) * size
        low = product & _LOW
        # The threshold of rejection lies below `size`, so its division is hardly ever needed.
        if low >= size or low >= (_LOW + _1 - size) % size:
            return int(product >> _32), state


@kernel
def shuffle(arms: NDArray[Any], state: State) -> State:
    """Fill `arms`, integers of any size, with a uniformly random permutation of 0..len-1."""
    for i in range(arms.size):
        arms[i] = i
    for i in range(arms.size - 1, 0, -1):
        j, state = below(i + 1, state)
        arms[i], arms[j] = arms[j], arms[i]
    return state
