"""Words of Bernoulli bits.

False alarms: fewer than 200 statistical comparisons, each at the level of `statistics_checks`;
the seeds are fixed. Negative controls: the same draws, compared with a law that is 1/20 of a standard
deviation off, must be rejected.
"""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from samples import KEY, Floats, Words, count_ones, cross, ones_in, shifted
from scipy import stats
from statistics_checks import (
    LEVEL,
    bin_edges,
    chi_square,
    counts_in,
    independence,
    masses,
    xoshiro,
)

from rai_sim.engine.jit import driver
from rai_sim.engine.sampling import bernoulli_word, bernoulli_words
from rai_sim.engine.streams import STREAM_VERSION, State, next_word, replication_stream


@driver
def draw_bernoulli_words(expansion: np.uint64, key: Words, stream: int, out: Words) -> None:
    """Fill `out` with words of Bernoulli bits."""
    state = replication_stream(key, stream, key[2:])
    for i in range(out.size):
        out[i], state = bernoulli_word(expansion, state)


@driver
def draw_first_bernoulli_words(
    expansion: np.uint64, key: Words, out: Words, generators: Words, words: Words
) -> None:
    """Draw two words from the beginning of each stream; show its generators before, and the words
    with which ties are broken."""
    for i in range(out.shape[0]):
        state = replication_stream(key, i, key[2:])
        for j in range(16):
            generators[i, j] = key[2 + j]
        out[i, 0], state = bernoulli_word(expansion, state)
        out[i, 1], state = bernoulli_word(expansion, state)
        state = replication_stream(key, i, key[2:])
        for j in range(words.shape[1]):
            words[i, j], state = next_word(state)


@driver
def draw_words_of_arms(
    expansion: Words,
    labels: NDArray[np.int64],
    arm_of: NDArray[np.int64],
    key: Words,
    together: Words,
    alone: Words,
    tied: Words,
) -> tuple[State, State]:
    """Draw two words of each of some labels together, then alone; return the states after."""
    state = replication_stream(key, 0, key[2:])
    for i in range(2):
        state = bernoulli_words(expansion, labels, labels.size, arm_of, together[i], tied, state)
    after = state
    state = replication_stream(key, 0, key[2:])
    for i in range(2):
        for label in labels:
            alone[i, label], state = bernoulli_word(expansion[arm_of[label]], state)
    return after, state


@driver
def lag_products(words: Words, p: float, out: Floats) -> None:
    """Add up (b_i - p) (b_(i + d) - p) over words and lanes i, for every distance d."""
    out[:] = 0.0
    for word in words:
        for d in range(1, 64):
            both, either = (
                ones_in(word & (word >> np.uint64(d))),
                ones_in(word << np.uint64(d)) + ones_in(word >> np.uint64(d)),
            )
            out[d] += both - p * either + (64 - d) * p * p


DYADIC = (0.0, 2.0**-11, 1 / 512, 3 / 256, 0.25, 0.5, 255 / 256)
EXPANSIONS = {
    p: int(p * 2**64)
    for p in (*DYADIC, math.nextafter(2.0**-11, 1.0), 0.3, 0.85, 0.999, 1 - 2.0**-53)
}


@pytest.mark.parametrize("expansion", [*EXPANSIONS.values(), 1, 2**64 - 1, 0x00FF00000000FFFF])
def test_bernoulli_words_compare_uniforms_with_p(expansion: int) -> None:
    """Exactly: a lane is 1 iff its random byte, or on a tie the stream's next word behind it, is
    below the digits of p 2^64."""
    ones, generators, words = (
        np.empty((300, 2), np.uint64),
        np.empty((300, 16), np.uint64),
        np.empty((300, 128), np.uint64),
    )
    draw_first_bernoulli_words(np.uint64(expansion), KEY, ones, generators, words)
    for i in range(ones.shape[0]):
        states = [generators[i, lane::4].tolist() for lane in range(4)]
        breakers = iter(words[i].tolist())
        for j in range(2):
            drawn = [xoshiro(state) for _ in range(2) for state in states]
            lanes_of = [byte for word in drawn for byte in word.to_bytes(8, "little")]
            expected = [
                byte < expansion >> 56
                or (byte == expansion >> 56 and next(breakers) < (expansion << 8) % 2**64)
                for byte in lanes_of
            ]
            assert _bits(ones[i, j]).astype(bool).tolist() == expected


def test_words_of_several_arms_are_those_of_each_alone() -> None:
    """In the order of the labels, others untouched; 40 arms, so that many lanes are decided by the
    words of the stream."""
    rng, kinds = np.random.default_rng(1), [*EXPANSIONS.values(), 0, 1, 2**64 - 1]
    expansion = np.array([kinds[i % len(kinds)] for i in range(40)], np.uint64)
    labels, arm_of = rng.permutation(40)[:37], rng.permutation(40)
    together, alone = np.full((2, 2, 40), 99, np.uint64)
    tied = np.empty((2, 41), np.uint64)
    after = draw_words_of_arms(expansion, labels, arm_of, KEY, together, alone, tied)
    assert after[0] == after[1]
    assert np.array_equal(together, alone)
    assert len(set(together[:, labels].ravel().tolist())) > 25


def _bits(words: Words) -> NDArray[np.uint8]:
    """Return the bits of words on a new last axis, lowest first."""
    bits: NDArray[np.uint8] = np.unpackbits(
        words.astype("<u8")[..., None].view(np.uint8), axis=-1, bitorder="little"
    )
    return bits


@pytest.mark.parametrize("p", [p for p in EXPANSIONS if 0.0 < p < 0.9999])
def test_bernoulli_words_hold_independent_lanes(p: float) -> None:
    """At most nine comparisons a p: frequencies, sums under masks, both halves, pairs at every
    distance.

    Negative control: sums under the full mask do not fit a shifted p.
    """
    words = np.empty(100_000, np.uint64)
    draw_bernoulli_words(np.uint64(EXPANSIONS[p]), KEY, 5, words)
    n, variance = words.size, p * (1.0 - p)
    frequencies = _bits(words).mean(axis=0)
    assert stats.chi2.sf(n * ((frequencies - p) ** 2).sum() / variance, 64) > LEVEL

    sums = np.empty(n, np.int64)
    for first, count in ((0, 64), (0, 2), (0, 5), (0, 31), (31, 33), (63, 1)):
        count_ones(words, np.uint64((2**count - 1) << first), sums)
        law = stats.binom(count, p)
        edges = bin_edges(law, n)
        assert chi_square(counts_in(edges, sums), masses(law, edges)) > LEVEL
        if count == 64:
            assert (
                chi_square(counts_in(edges, sums), masses(stats.binom(64, shifted(p, 64)), edges))
                < LEVEL
            )

    if p > 2.0**-10:  # else too few words have ones in both halves
        halves, edges = np.empty((2, n), np.int64), bin_edges(stats.binom(32, p), 2000, 8)
        for half in range(2):
            count_ones(words, np.uint64((2**32 - 1) << 32 * half), halves[half])
        assert (
            independence(
                cross(np.searchsorted(edges, halves[0]), np.searchsorted(edges, halves[1]))
            )
            > LEVEL
        )
    if n * p * p > 1000.0:
        products = np.empty(64)
        lag_products(words, p, products)
        z = products[1:] / (variance * np.sqrt(n * np.arange(63, 0, -1)))
        assert 63.0 * 2.0 * stats.norm.sf(abs(z).max()) > LEVEL


def test_reference_words_are_frozen() -> None:
    """Words of version 1 of the streams: a new hash means that users' numbers changed."""
    digest, words = hashlib.sha256(), np.empty(1000, np.uint64)
    for p in (0.3, 0.5, 0.85, 2.0**-11):
        draw_bernoulli_words(np.uint64(EXPANSIONS[p]), KEY, 0, words)
        digest.update(words.astype("<u8").tobytes())
    assert (STREAM_VERSION, digest.hexdigest()) == (
        4,
        "6ceedef7f1591ed43b3a80983db762fcc147328c527357b88ef0e02c7cae2dc8",
    )
