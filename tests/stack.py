"""The law of rewards that tests give to kernels: fixed, known to the twin as well, and of every
kind that kernels tell apart.

Each arm of each replication has a stack of rewards: reward number j is a function of the
replication's stream, the arm and j alone, hashed, never drawn; or it is that of a recording. So
kernels run unmodified, by words or by sums, jumps by certificate included, in blocks of any size,
and a twin can be run on the very same rewards. One law serves all tests, as kernels are compiled
once a law.

Kinds: rewards 0 and 1 as words, or as sums alone; ten levels, of unit 1/10; a continuous law
without bounds known, of dyadic fractions, whose sums are exact; a recording of rewards 0 and 1 that
come as words.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from literal import compiled, inlined
from numba.core.dispatcher import Dispatcher
from numpy.typing import NDArray

from rai_sim.algorithms.lucb.variants import loop as _loaded  # noqa: F401  # for `_drivers`
from rai_sim.engine import law as operations
from rai_sim.engine.jit import gives_bridges, gives_words, implements
from rai_sim.engine.kernel_cache import KernelCache
from rai_sim.engine.sampling import bits_set, lanes
from rai_sim.engine.streams import State

#: Kinds of stacks.
WORDS, BITS, LEVELS, REALS, RECORDING = 0, 1, 2, 3, 4
#: Means are multiples of 2^-DIGITS, so that a bit costs so many hashes a word.
DIGITS = 10
#: Modes of a stack: plain; note which rewards are asked for; give those that were not used anew.
PLAIN, NOTE, ANEW = 0, 1, 2
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_0, _1, _27, _30, _31 = (np.uint64(v) for v in (0, 1, 27, 30, 31))
_STEP, _ARM, _DIGIT = (
    np.uint64(0x9E3779B97F4A7C15),
    np.uint64(0xD1342543DE82EF95),
    np.uint64(0xA0761D6478BD642F),
)
_MIX1, _MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@gives_words
@gives_bridges
class Stack(NamedTuple):
    """What kernels and literal loops know of the rewards."""

    kind: int
    digits: NDArray[np.uint64]  # (N,) p times 2^DIGITS; for kind REALS unused
    # (N, 10) for kind LEVELS: probabilities of at most level l, times 2^16
    cumulative: NDArray[np.uint64]
    mean: NDArray[np.float64]  # (N,) in law units
    variance_proxy: float
    spread: float
    unit: float
    mode: int
    # (C, 4) in mode NOTE: arm, first pull, pulls of each call, whether it is a word, which may be
    # used in part
    calls: NDArray[np.int64]
    used: NDArray[np.int64]  # (C,) in mode ANEW: how many of them were used
    cursor: NDArray[np.int64]  # (1,) the number of the next call
    # (2,) the replication last seen, and the state's count of calls that is to come back
    course: NDArray[np.uint64]
    lost: NDArray[np.int64]  # (1,) how often another state came back than the last one given
    prefix: NDArray[np.float64]  # (N, T + 1) for kind RECORDING: sums of the first t rewards
    available: int  # pulls of an arm that there are


@inlined
def _mix(z: np.uint64) -> np.uint64:
    """Return 64 well-mixed bits (the finaliser of SplitMix64; Steele, Lea and Flood 2014)."""
    z = (z ^ (z >> _30)) * _MIX1
    z = (z ^ (z >> _27)) * _MIX2
    return z ^ (z >> _31)


@inlined
def key_of(state: State) -> np.uint64:
    """Return a number that tells replications apart: after the opening permutation nothing is drawn
    from the stream.

    The state's fourth word counts calls (`_passed_on`).
    """
    return _mix(state[0] ^ _mix(state[1] ^ _mix(state[2])))


@inlined
def _passed_on(law: Stack, state: State) -> State:
    """Return the state after a call, and note whether the one before it is that of the last call:
    kernels may drop none."""
    s0, s1, s2, count, generators = state
    if law.course[0] == s0 and law.course[1] != count:
        law.lost[0] += 1
    law.course[0], law.course[1] = s0, count + _1
    return s0, s1, s2, count + _1, generators


# Below, functions that are called take few arrays: handing one on is seven words, and inlined code
# is compiled once a call.


@compiled
def _aligned_word(digits: np.uint64, key: np.uint64, arm: int, index: int) -> np.uint64:
    """Return rewards 64 index .. 64 index + 63 of an arm as bits: from p's last binary digit to its
    first, or with random bits or and."""
    if digits >> np.uint64(DIGITS):
        return _ALL
    start = key ^ _mix(np.uint64(arm) * _ARM + np.uint64(index) * _STEP)
    word = _0
    for digit in range(DIGITS):
        drawn = _mix(start + np.uint64(digit + 1) * _DIGIT)
        word = (word | drawn) if (digits >> np.uint64(digit)) & _1 else (word & drawn)
    return word


@compiled
def _word_at(digits: np.uint64, key: np.uint64, arm: int, pulls: int) -> np.uint64:
    """Return rewards pulls .. pulls + 63 of an arm as bits."""
    index, shift = pulls // 64, np.uint64(pulls % 64)
    word = _aligned_word(digits, key, arm, index) >> shift
    if shift != _0:
        word |= _aligned_word(digits, key, arm, index + 1) << (np.uint64(64) - shift)
    return word


@compiled
def _recorded_word(prefix: NDArray[np.float64], arm: int, pulls: int) -> np.uint64:
    """Return rewards pulls .. pulls + 63 of a recording as bits; zeros beyond its end."""
    bits = _0
    for j in range(min(64, prefix.shape[1] - 1 - pulls)):
        bits |= np.uint64(prefix[arm, pulls + j + 1] - prefix[arm, pulls + j]) << np.uint64(j)
    return bits


@compiled
def _sum_of_bits(digits: np.uint64, key: np.uint64, arm: int, pulls: int, k: int) -> int:
    """Return the sum of rewards pulls .. pulls + k - 1 of an arm."""
    total, j, stop = 0, pulls, pulls + k
    while j < stop:
        size = min(stop - j, 64 - j % 64)
        total += bits_set(
            (_aligned_word(digits, key, arm, j // 64) >> np.uint64(j % 64)) & lanes(0, size)
        )
        j += size
    return total


@compiled
def _others_added(
    total: float,
    kind: int,
    cumulative: NDArray[np.uint64],
    mean: float,
    key: np.uint64,
    arm: int,
    pulls: int,
    k: int,
) -> float:
    """Return a sum with rewards pulls .. pulls + k - 1 of an arm added one by one, for kinds LEVELS
    and REALS."""
    for j in range(pulls, pulls + k):
        drawn = _mix(key ^ _mix(np.uint64(arm) * _ARM + np.uint64(j) * _STEP))
        if kind == LEVELS:
            u, level = drawn >> np.uint64(48), 0
            while u >= cumulative[arm, level]:
                level += 1
            total += float(level)
        else:
            uniforms = 0.0  # four, in multiples of 2^-16
            for part in range(4):
                uniforms += float((drawn >> np.uint64(16 * part)) & np.uint64(0xFFFF)) + 0.5
            total += mean + 0.75 * (uniforms / 65536.0 - 2.0)
    return total


@inlined
def reward(law: Stack, key: np.uint64, window: NDArray[np.uint64], arm: int, j: int) -> float:
    """Return reward number j of an arm: what literal loops see; the window keeps the arm's word,
    and its number plus 1."""
    if law.kind > BITS:
        return _others_added(0.0, law.kind, law.cumulative, law.mean[arm], key, arm, j, 1)
    number = np.uint64(j // 64 + 1)
    if window[arm, 0] != number:
        window[arm, 0], window[arm, 1] = number, _aligned_word(law.digits[arm], key, arm, j // 64)
    return float((window[arm, 1] >> np.uint64(j % 64)) & _1)


@inlined
def _added(law: Stack, total: float, key: np.uint64, arm: int, pulls: int, k: int) -> float:
    if law.kind > BITS:
        return _others_added(total, law.kind, law.cumulative, law.mean[arm], key, arm, pulls, k)
    return total + _sum_of_bits(law.digits[arm], key, arm, pulls, k)


@compiled
def _noted(
    mode: int,
    calls: NDArray[np.int64],
    used: NDArray[np.int64],
    cursor: NDArray[np.int64],
    arm: int,
    pulls: int,
    size: int,
    word: bool,
) -> int:
    """Note a call; return how many of its rewards are to be those of the stack."""
    number = cursor[0]
    cursor[0] += 1
    if number >= calls.shape[0]:
        return size
    calls[number, 0], calls[number, 1], calls[number, 2], calls[number, 3] = arm, pulls, size, word
    return used[number] if mode == ANEW else size


@implements(operations.one_pull, Stack)
def _one_pull(law: Stack, arm: int, total: float, pulls: int, state: State) -> tuple[float, State]:
    if law.mode != PLAIN:
        _noted(law.mode, law.calls, law.used, law.cursor, arm, pulls, 1, False)
    if law.kind == RECORDING:
        return law.prefix[arm, pulls + 1], state
    return _added(law, total, key_of(state), arm, pulls, 1), _passed_on(law, state)


@implements(operations.more_pulls, Stack)
def _more_pulls(
    law: Stack, arm: int, total: float, pulls: int, k: int, state: State
) -> tuple[float, State]:
    if law.mode != PLAIN:
        _noted(law.mode, law.calls, law.used, law.cursor, arm, pulls, k, False)
    if law.kind == RECORDING:
        return law.prefix[arm, pulls + k], state
    return _added(law, total, key_of(state), arm, pulls, k), _passed_on(law, state)


@implements(operations.word, Stack)
def _word(law: Stack, arm: int, pulls: int, state: State) -> tuple[np.uint64, State]:
    if law.kind == RECORDING:
        return _recorded_word(law.prefix, arm, pulls), state
    key = key_of(state)
    word = _word_at(law.digits[arm], key, arm, pulls)
    if law.mode != PLAIN:
        number = law.cursor[0]
        used = _noted(law.mode, law.calls, law.used, law.cursor, arm, pulls, 64, True)
        if used < 64:
            stack = lanes(0, used) if used > 0 else _0
            word = (word & stack) | (_aligned_word(law.digits[arm], ~key, arm, number) & ~stack)
    return word, _passed_on(law, state)


@implements(operations.words, Stack)
def _words(
    law: Stack,
    labels: NDArray[np.int64],
    n: int,
    arm_of: NDArray[np.int64],
    pulls: int,
    bits: NDArray[np.uint64],
    tied: NDArray[np.uint64],
    state: State,
) -> State:
    for x in range(n):
        bits[labels[x]], state = operations.word(law, arm_of[labels[x]], pulls, state)
    return state


@implements(operations.pulls_available, Stack)
def _pulls_available(law: Stack) -> int:
    return law.available


@implements(operations.spread, Stack)
def _spread(law: Stack) -> float:
    return law.spread


@implements(operations.mean_of, Stack)
def _mean_of(law: Stack, arm: int) -> float:
    return law.mean[arm]


@implements(operations.unit, Stack)
def _unit(law: Stack) -> float:
    return law.unit


@implements(operations.proxy, Stack)
def _proxy(law: Stack) -> float:
    return law.variance_proxy


@implements(operations.handy, Stack)
def _handy(law: Stack, k: int) -> int:
    return k - k % 8 if law.kind == LEVELS and k > 64 else k


@implements(operations.has_words, Stack)
def _has_words(law: Stack) -> bool:
    return law.kind in (WORDS, RECORDING)


@implements(operations.sum_between, Stack)
def _sum_between(
    law: Stack,
    arm: int,
    total: float,
    pulls: int,
    k: int,
    later: float,
    later_k: int,
    state: State,
) -> tuple[float, State]:
    return _added(law, total, key_of(state), arm, pulls, k), _passed_on(law, state)


@implements(operations.bridge_proxy, Stack)
def _bridge_proxy(law: Stack) -> float:
    return 0.25 if law.kind <= BITS else np.inf


def new_stack(kind: int, means: NDArray[np.float64], variance_proxy: float, **others: Any) -> Stack:
    """Return a law in mode PLAIN; arrays that its kind does not use are empty."""
    N = len(means)
    fields: dict[str, Any] = {
        "digits": np.zeros(N, np.uint64),
        "cumulative": np.zeros((N, 10), np.uint64),
        "spread": 1.0,
        "unit": 1.0,
        "mode": PLAIN,
        "calls": np.zeros((0, 4), np.int64),
        "used": np.zeros(0, np.int64),
        "cursor": np.zeros(1, np.int64),
        "course": np.zeros(2, np.uint64),
        "lost": np.zeros(1, np.int64),
        "prefix": np.zeros((0, 0)),
        "available": 1 << 62,
    }
    return Stack(kind=kind, mean=means, variance_proxy=variance_proxy, **(fields | others))


@contextmanager
def kept_apart() -> Iterator[None]:
    """Mark kernels on the disk with the state of the tests' sources, of which the package's own
    digest knows nothing."""
    files = [(one._cache._cache_file, one._cache._cache_file._stamp) for one in _drivers()]
    for one, stamp in files:
        one._stamp = (stamp, _sources_of_stacks())
    try:
        yield
    finally:
        for one, stamp in files:
            one._stamp = stamp


@cache
def _sources_of_stacks() -> str:
    """Return a digest of what a stack is compiled from."""
    here = Path(__file__).parent
    return hashlib.sha256(
        b"".join((here / name).read_bytes() for name in ("stack.py", "literal.py"))
    ).hexdigest()


@cache
def _drivers() -> list[Any]:
    """Return what the package compiles with a disk cache."""
    modules = [module for name, module in sys.modules.items() if name.startswith("rai_sim.")]
    found = {
        id(x): x for module in modules for x in vars(module).values() if isinstance(x, Dispatcher)
    }
    drivers: list[Any] = list(found.values())
    return [driver for driver in drivers if isinstance(driver._cache, KernelCache)]
