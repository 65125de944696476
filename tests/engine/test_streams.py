"""The generators against NumPy, published vectors and plain Python; and what is built on them is
uniform.

False alarms: fewer than 100 statistical comparisons, each at the level of `statistics_checks`; with
fresh seeds the whole file would raise one with probability at most 1e-5.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray
from replay import roomy_key
from scipy import stats
from statistics_checks import LEVEL, chi_square, independence, xoshiro

from rai_sim.engine.jit import driver, exposed
from rai_sim.engine.streams import (
    STREAM_VERSION,
    State,
    below,
    next_word,
    philox,
    replication_stream,
    shuffle,
    stream_key,
    uniform,
)

WORD = 2**64
# As Python can call them.
philox = exposed(philox)
replication_stream = exposed(replication_stream)
uniform = exposed(uniform)


def test_helpers_have_no_way_in_from_python() -> None:
    """They are compiled without one, which takes less time: a call says so instead of ending the
    process."""
    from rai_sim.engine import streams

    with pytest.raises(
        TypeError,
        match="uniform is compiled into other compiled functions only; to call it from Python "
        "take `exposed`",
    ):
        streams.uniform((np.uint64(1),) * 5)
    assert exposed(streams.uniform)((np.uint64(1),) * 5)[0] == uniform((np.uint64(1),) * 5)[0]


@driver
def draw_words(state: State, out: NDArray[np.uint64]) -> None:
    """Fill `out` with a state's next words."""
    for i in range(out.size):
        out[i], state = next_word(state)


@driver
def draw_below(
    bound: int, key: NDArray[np.uint64], replication: int, out: NDArray[np.int64]
) -> None:
    """Fill `out` with bounded integers from one stream."""
    state = replication_stream(key, replication, key[2:])
    for i in range(out.size):
        out[i], state = below(bound, state)


@driver
def first_words(
    key: NDArray[np.uint64], first: int, words: NDArray[np.uint64], uniforms: NDArray[np.float64]
) -> None:
    """Take the first word, and the uniform made of it, of each stream from `first` on."""
    for i in range(uniforms.size):
        words[i], _ = next_word(replication_stream(key, first + i, key[2:]))
        uniforms[i], _ = uniform(replication_stream(key, first + i, key[2:]))


@driver
def draw_shuffles(key: NDArray[np.uint64], one_stream: bool, out: NDArray[np.int64]) -> None:
    """Fill every row of `out` with a permutation, each from the beginning of a stream or all from
    one."""
    state = replication_stream(key, 0, key[2:])
    for i in range(out.shape[0]):
        if not one_stream:
            state = replication_stream(key, i, key[2:])
        state = shuffle(out[i], state)


@driver
def draw_careless_shuffles(key: NDArray[np.uint64], out: NDArray[np.int64]) -> None:
    """Swap every place with any place: the well-known mistake; n^n outcomes do not divide among n!
    orders."""
    state = replication_stream(key, 0, key[2:])
    for i in range(out.shape[0]):
        arms = out[i]
        for x in range(arms.size):
            arms[x] = x
        for x in range(arms.size):
            y, state = below(arms.size, state)
            arms[x], arms[y] = arms[y], arms[x]


def as_state(words: tuple[int, ...] | list[int]) -> State:
    """Return four Python integers as a state without generators beside it."""
    a, b, c, d = (np.uint64(word) for word in words)
    return a, b, c, d, np.uint64(0)


def replication_words(key: NDArray[np.uint64], replication: int) -> State:
    """Return a stream's first state, which Python sees as four plain integers."""
    return as_state([int(word) for word in replication_stream(key, replication, key[2:])[:4]])


def words_from(state: State, count: int) -> NDArray[np.uint64]:
    """Return the next words of a state."""
    out = np.empty(count, np.uint64)
    draw_words(state, out)
    return out


def random_words(generator: np.random.Generator, count: int) -> list[int]:
    """Return words of which some are extreme."""
    words = generator.integers(0, WORD, count, dtype=np.uint64).tolist()
    extremes = [0, 1, WORD - 1, 2**63, 2**32 - 1, 2**32]
    return [extremes[i] if i < len(extremes) else word for i, word in enumerate(words)]


def test_philox_gives_numpys_blocks() -> None:
    """Bit for bit. NumPy raises the counter, modulo 2^256, before it makes a block."""
    generator = np.random.default_rng(1)
    counters, keys = random_words(generator, 1000), random_words(generator, 2000)
    for i, counter in enumerate([*counters, *range(1000)]):
        key0, key1 = keys[i], keys[-1 - i % 7]
        theirs = np.random.Philox(
            key=key0 + WORD * key1, counter=(counter - 1) % 2**256
        ).random_raw(4)
        assert list(philox(np.uint64(counter), np.uint64(key0), np.uint64(key1))) == theirs.tolist()


def test_philox_gives_its_authors_vector() -> None:
    """The known answer for counter 0 and key 0 that comes with Random123."""
    zero = np.uint64(0)
    assert [f"{word:016x}" for word in philox(zero, zero, zero)] == [
        "16554d9eca36314c",
        "db20fe9d672d0fdc",
        "d7e772cee186176b",
        "7e68b68aec7ba23b",
    ]


def test_xoshiro_gives_its_authors_vector() -> None:
    """The first outputs of the reference implementation from state 1, 2, 3, 4, as in
    rand_xoshiro."""
    assert words_from(as_state([1, 2, 3, 4]), 10).tolist() == [
        41943041,
        58720359,
        3588806011781223,
        3591011842654386,
        9228616714210784205,
        9973669472204895162,
        14011001112246962877,
        12406186145184390807,
        15849039046786891736,
        10450023813501588000,
    ]


def test_xoshiro_agrees_with_plain_python() -> None:
    """Bit for bit, 200 words from each of 50 states."""

    generator = np.random.default_rng(2)
    for i in range(50):
        s = random_words(generator, 12)[i % 9 : i % 9 + 4]
        state = as_state(s)
        assert words_from(state, 200).tolist() == [xoshiro(s) for _ in range(200)]


@pytest.mark.parametrize("seed", [0, 1, 12345, 2**63, 2**64 - 1, 2**127 + 1, 2**200])
def test_the_key_is_the_one_numpys_philox_takes_from_the_seed(seed: int) -> None:
    """SeedSequence hashes the seed; its first two words are the key."""
    key = stream_key(seed)
    assert key.dtype == np.uint64
    assert key.tolist() == np.random.Philox(seed).state["state"]["key"].tolist()


def block(key: NDArray[np.uint64], replication: int, generator: int) -> list[int]:
    """Return NumPy's Philox block; NumPy raises the counter before it makes one."""
    counter = (replication + generator * WORD - 1) % 2**256
    words: list[int] = np.random.Philox(key=key[:2], counter=counter).random_raw(4).tolist()
    return words


def test_a_stream_is_the_block_of_its_replication() -> None:
    """The replication's index is the counter: any replication's stream can be had alone; so with
    the four generators beside it."""
    key = roomy_key(7)
    for replication in (0, 1, 2, 1000, 2**40, 2**62):
        assert list(replication_stream(key, replication, key[2:])[:4]) == block(key, replication, 0)
        for i in range(4):
            assert key[2 + i :: 4].tolist() == block(key, replication, i + 1)


def test_streams_differ_between_seeds_and_replications() -> None:
    """No two of 50 x 2000 streams begin with the same word; by chance two would with probability
    3e-10."""
    words, uniforms = np.empty((50, 2000), np.uint64), np.empty(2000)
    for seed in range(50):
        first_words(roomy_key(seed), 0, words[seed], uniforms)
    assert np.unique(words).size == words.size


def test_neighbouring_streams_are_unrelated() -> None:
    """First uniforms of 400,000 neighbours are uniform, independent of the next ones' and the next
    seed's.

    Five comparisons. Negative control: overlapping windows of two draws are rejected.
    """
    ranks = np.empty((2, 400_000), np.int64)
    for seed in range(2):
        words, uniforms = np.empty(ranks.shape[1], np.uint64), np.empty(ranks.shape[1])
        first_words(roomy_key(seed), 0, words, uniforms)
        ranks[seed] = uniforms * 20
        assert stats.kstest(uniforms, "uniform").pvalue > LEVEL
    pairs = [(ranks[0, ::2], ranks[0, 1::2]), (ranks[1, ::2], ranks[1, 1::2]), (ranks[0], ranks[1])]
    for rows, columns in pairs:
        assert independence(np.bincount(20 * rows + columns, minlength=400).reshape(20, 20)) > LEVEL
    moving = (ranks[0, :-1] + ranks[0, 1:]) // 2
    pairs_of_moving = np.bincount(20 * moving[:-1] + moving[1:], minlength=400).reshape(20, 20)
    assert independence(pairs_of_moving[5:15, 5:15]) < LEVEL


def test_uniforms_are_the_words_first_53_bits() -> None:
    """So they lie in [0, 1) and are multiples of 2^-53; the largest and the smallest word, too."""
    words, uniforms = np.empty(10_000, np.uint64), np.empty(10_000)
    first_words(roomy_key(3), 5, words, uniforms)
    assert uniforms.tolist() == [(word >> 11) / 2**53 for word in words.tolist()]
    # From a state (s0, 0, s2, -s0) the word is s0 itself.
    for word in (WORD - 1, WORD - 2**11, 2**11, 2**11 - 1, 0):
        u, _ = uniform(as_state([word, 0, 1, -word % WORD]))
        assert u == (word >> 11) / 2**53
        assert 0.0 <= u < 1.0


BOUNDS = [2, 3, 5, 6, 7, 10, 100, 2**16 + 1, 3 * 2**30, 2**31 + 1, 2**32 - 1, 2**32]


@pytest.mark.parametrize("bound", BOUNDS)
def test_below_is_uniform(bound: int) -> None:
    """Residues modulo 3, and 64 even stretches (or all values): two comparisons a bound."""
    draws = np.empty(500_000, np.int64)
    draw_below(bound, roomy_key(4), bound, draws)
    assert draws.min() >= 0
    assert draws.max() < bound
    parts = min(bound, 64)
    # values with v * parts // bound = i
    starts = [-(-bound * i // parts) for i in range(parts + 1)]
    assert (
        chi_square(np.bincount(draws * parts // bound, minlength=parts), np.diff(starts) / bound)
        > LEVEL
    )
    residues = [len(range(r, bound, 3)) / bound for r in range(min(bound, 3))]
    assert chi_square(np.bincount(draws % 3, minlength=len(residues)), residues) > LEVEL


def test_below_without_rejection_is_rejected() -> None:
    """Negative control: without Lemire's threshold every third value below 3 * 2^30 comes twice as
    often."""
    high = words_from(as_state([1, 2, 3, 4]), 500_000) >> np.uint64(32)
    careless = (high * np.uint64(3 * 2**30) >> np.uint64(32)).astype(np.int64)
    assert chi_square(np.bincount(careless % 3), [1 / 3] * 3) < LEVEL


def test_below_one_is_zero() -> None:
    """One value, drawn without end."""
    draws = np.ones(1000, np.int64)
    draw_below(1, roomy_key(4), 1, draws)
    assert not draws.any()


@pytest.mark.slow
@pytest.mark.parametrize("one_stream", [True, False])
def test_shuffles_are_uniform(one_stream: bool) -> None:
    """All 24 orders of 4 arms, in one stream and as each replication's first draw: one comparison
    each."""
    orders = np.empty((240_000, 4), np.int64)
    draw_shuffles(roomy_key(5), one_stream, orders)
    assert chi_square(_tally(orders), [1 / 24] * 24) > LEVEL


@pytest.mark.slow
def test_careless_shuffles_are_rejected() -> None:
    """Negative control of the test before."""
    orders = np.empty((240_000, 4), np.int64)
    draw_careless_shuffles(roomy_key(5), orders)
    assert chi_square(_tally(orders), [1 / 24] * 24) < LEVEL


def _tally(orders: NDArray[np.int64]) -> list[int]:
    seen = Counter(map(tuple, orders.tolist()))
    counts = [seen.pop(order, 0) for order in permutations(range(4))]
    assert not seen  # nothing but permutations
    return counts


@pytest.mark.parametrize("size", [0, 1, 2, 50, 1000])
def test_a_shuffle_is_a_permutation(size: int) -> None:
    """Of any size, whatever the array held."""
    orders = np.full((3, size), 7, np.int64)
    draw_shuffles(roomy_key(6), True, orders)
    assert np.sort(orders, axis=1).tolist() == [list(range(size))] * 3


def test_reference_draws_are_frozen() -> None:
    """Words, bounded integers and shuffles, those of version 1 of the streams still.

    A new hash here means that users' numbers changed: then raise STREAM_VERSION and say so.
    """
    digest = hashlib.sha256()
    for seed in (0, 1, 2**64):
        key = roomy_key(seed)
        for replication in (0, 1, 10**6):
            words = words_from(replication_words(key, replication), 100)
            draws = np.empty(100, np.int64)
            draw_below(10, key, replication, draws)
            digest.update(words.astype("<u8").tobytes() + draws.astype("<i8").tobytes())
        orders = np.empty((20, 10), np.int64)
        draw_shuffles(key, False, orders)
        digest.update(orders.astype("<i8").tobytes())
    assert (STREAM_VERSION, digest.hexdigest()) == (
        4,
        "88dbf436c4897d59f6e5c22ddf5e6669c2f4184974f8b250710eeffc302923bc",
    )
