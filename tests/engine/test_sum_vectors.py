"""Operations on sums of sixteen arms against NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine import sum_vectors
from rai_sim.engine.jit import driver
from rai_sim.engine.sum_vectors import ARMS, NOBODY
from rai_sim.engine.vectors import address_of, lanes_above

Longs = NDArray[np.int32]
Masks = NDArray[np.uint64]
add_rewards, write_sums = sum_vectors.add_rewards, sum_vectors.write_sums
keep_lanes, rank_of = sum_vectors.keep_lanes, sum_vectors.rank_of
write_leads, counts_ahead = sum_vectors.write_leads, sum_vectors.counts_ahead
raised_ahead, lowered_ahead = sum_vectors.raised_ahead, sum_vectors.lowered_ahead
above = lanes_above
#: Lane 0, 1, .. as labels.
LABEL = np.arange(ARMS)


@driver
def advance(
    keys: Longs, words: Masks, mask: np.uint64, base: float, sums: NDArray[np.float64], ranks: Longs
) -> None:
    """Add rewards; write sums and ranks."""
    new = add_rewards(address_of(keys), address_of(words), mask)
    write_sums(new, base, address_of(sums))
    for lane in range(ARMS):
        ranks[lane] = rank_of(new, address_of(keys) + np.uint64(4 * lane))


@driver
def keep(keys: Longs, mask: np.uint64) -> None:
    """Let nobody be in other lanes."""
    keep_lanes(address_of(keys), mask)


@driver
def lead(sums: Longs, over: int, leads: Longs) -> None:
    """Write leads."""
    write_leads(address_of(sums), over, address_of(leads))


@driver
def combine(rows: NDArray[np.uint8], leads: Longs, zero: Masks, out: Masks) -> None:
    """Compare the first row ahead, and the highest and the lowest of all, with all numbers that a
    byte may have."""
    row, at = address_of(rows), address_of(leads)
    first = most = least = counts_ahead(row, at)
    for i in range(1, rows.shape[0]):
        most = raised_ahead(most, row + np.uint64(64 * i), at + np.uint64(4 * i))
        least = lowered_ahead(least, row + np.uint64(64 * i), at + np.uint64(4 * i))
    nothing = counts_ahead(address_of(zero), address_of(zero))
    for value in range(-128, 128):
        out[0, 128 + value] = above(first, nothing, 256 * value, 0)
        out[1, 128 + value] = above(most, nothing, 256 * value, 0)
        out[2, 128 + value] = above(least, nothing, 256 * value, 0)


def test_sums_and_ranks_after_rewards() -> None:
    """Of the bits under a mask, whatever lies elsewhere; equal sums by label."""
    rng, sums = np.random.default_rng(1), np.empty(ARMS)
    ranks = np.empty(ARMS, np.int32)
    for i in range(200):
        before = rng.integers(-(2**24), 1, ARMS) if i % 2 else rng.integers(-3, 1, ARMS)
        keys = (64 * before - LABEL).astype(np.int32)
        words = rng.integers(0, 2**64, ARMS, dtype=np.uint64)
        mask = int(rng.integers(0, 2**64, dtype=np.uint64)) if i else 2**64 - 1
        advance(keys, words, np.uint64(mask), 2.0**40, sums, ranks)
        after = before + [(word & mask).bit_count() for word in words.tolist()]
        assert keys.tolist() == (64 * after - LABEL).tolist()
        assert sums.tolist() == (2.0**40 + after).tolist()
        assert np.argsort(ranks).tolist() == np.lexsort((LABEL, -after)).tolist()


def test_nobody_is_below_all() -> None:
    """In lanes that are not kept."""
    keys, ranks = (64 * -LABEL - LABEL).astype(np.int32), np.empty(ARMS, np.int32)
    kept = 0b1010_0000_1111_0110
    keep(keys, np.uint64(kept))
    mine = np.array([kept >> lane & 1 == 1 for lane in LABEL])
    assert (keys[~mine] == NOBODY).all()
    assert keys[mine].tolist() == (-65 * LABEL[mine]).tolist()
    advance(keys, np.zeros(ARMS, np.uint64), np.uint64(0), 0.0, np.empty(ARMS), ranks)
    assert ranks[mine].tolist() == list(range(mine.sum()))
    assert (ranks[~mine] == mine.sum()).all()


def test_leads_are_four_equal_bytes() -> None:
    """Of what a byte can hold, else of the nearest number."""
    sums = np.random.default_rng(2).integers(-300, 300, ARMS).astype(np.int32)
    sums[:3] = -(2**24), 2**24, 7
    leads = np.empty(ARMS, np.int32)
    for over in (0, 7, -250, 2**24 + 64):
        lead(sums, over, leads)
        expected = np.clip(sums.astype(np.int64) - over, -128, 127)
        assert (leads.view(np.int8).reshape(ARMS, 4) == expected[:, None]).all()


def test_rows_ahead() -> None:
    """Counts plus leads, the nearest byte where that is none; the highest and the lowest of rows."""
    rng, zero = np.random.default_rng(3), np.zeros(8, np.uint64)
    for _ in range(50):
        rows = rng.integers(0, 65, (5, 64)).astype(np.uint8)
        leads = np.repeat(rng.integers(-128, 128, 5).astype(np.int8), 4).view(np.int32)
        out = np.empty((3, 256), np.uint64)
        combine(rows, leads, zero, out)
        bits = (out[:, :, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
        # a byte exceeds as many of these numbers as it is above the least of them, -128
        found = bits.astype(np.int64).sum(axis=1) - 128
        ahead = np.clip(rows + leads.view(np.int8)[::4, None].astype(np.int64), -128, 127)
        assert found.tolist() == [
            ahead[0].tolist(),
            *(f(ahead, 0).tolist() for f in (np.max, np.min)),
        ]
