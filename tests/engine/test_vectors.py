"""Operations on 64 lanes against NumPy, every bit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine import vectors
from rai_sim.engine.jit import driver

Masks = NDArray[np.uint64]
LANE = np.arange(64, dtype=np.uint64)
#: Intrinsics, which type checkers take for their code generators.
address_of: Any = vectors.address_of
first_lane, store_counts, set_to = vectors.first_lane, vectors.store_counts, vectors.set_to
counts_plus, raised_to, lowered_to = vectors.counts_plus, vectors.raised_to, vectors.lowered_to
lanes_above, walk_above = vectors.lanes_above, vectors.walk_above


def masks(seed: int, count: int) -> Masks:
    """Return masks of every density, the empty and the full one among them."""
    rng = np.random.default_rng(seed)
    bits = rng.random((count, 64)) < rng.random((count, 1))
    bits[0], bits[1] = False, True
    return as_masks(bits)


def as_masks(bits: NDArray[np.bool_]) -> Masks:
    """Return rows of lanes as masks, the first lane lowest."""
    words: Masks = (bits.astype(np.uint64) << LANE).sum(axis=1, dtype=np.uint64)
    return words


def as_bits(words: Masks) -> NDArray[np.int64]:
    """Return masks as rows of lanes."""
    return ((words[:, None] >> LANE) & np.uint64(1)).astype(np.int64)


@driver
def first_lanes(words: Masks, out: NDArray[np.int64]) -> None:
    """Find every mask's first lane."""
    for i in range(words.size):
        out[i] = first_lane(words[i])


@driver
def count_lanes(words: Masks, out: NDArray[np.uint8]) -> None:
    """Write every mask's running counts."""
    for i in range(words.size):
        store_counts(address_of(out) + np.uint64(64 * i), words[i])


@driver
def write(rows: NDArray[np.int8], offsets: NDArray[np.int64], out: NDArray[np.int8]) -> None:
    """Write each row with its offset."""
    for i in range(rows.shape[0]):
        set_to(
            address_of(out) + np.uint64(64 * i), address_of(rows) + np.uint64(64 * i), offsets[i]
        )


@driver
def combine(rows: NDArray[np.int8], offsets: NDArray[np.int64], zero: Masks, out: Masks) -> None:
    """Compare the first row, the highest and the lowest of all rows, each with its offset, with
    all numbers that a byte may have."""
    start = address_of(rows)
    first = most = least = counts_plus(start, offsets[0])
    for i in range(1, rows.shape[0]):
        most = raised_to(most, start + np.uint64(64 * i), offsets[i])
        least = lowered_to(least, start + np.uint64(64 * i), offsets[i])
    nothing = counts_plus(address_of(zero), 0)
    for value in range(-128, 128):
        out[0, 128 + value] = lanes_above(first, nothing, 256 * value, 0)
        out[1, 128 + value] = lanes_above(most, nothing, 256 * value, 0)
        out[2, 128 + value] = lanes_above(least, nothing, 256 * value, 0)


@driver
def compare(
    rows: NDArray[np.int8], starts: NDArray[np.int64], slopes: NDArray[np.int64], out: Masks
) -> None:
    """Compare each row with the next one and a line."""
    for i in range(out.size):
        at = address_of(rows) + np.uint64(64 * i)
        row, following = counts_plus(at, 0), counts_plus(at + np.uint64(64), 0)
        out[i] = lanes_above(row, following, starts[i], slopes[i])


@driver
def walk(
    ups: Masks, downs: Masks, starts: NDArray[np.int64], slopes: NDArray[np.int64], out: Masks
) -> None:
    """Compare walks with lines."""
    for i in range(out.size):
        out[i] = walk_above(ups[i], downs[i], starts[i], slopes[i])


def lines(
    rng: np.random.Generator, count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return starts and slopes up to the steepest, and the lines themselves."""
    starts, slopes = (
        rng.integers(0, 63 * 256, count),
        rng.integers(0, vectors.LONGEST_RISE + 1, count),
    )
    starts[:2], slopes[:2] = 0, (0, vectors.LONGEST_RISE)
    return starts, slopes, (starts[:, None] + (1 + np.arange(64)) * slopes[:, None]) // 256


def test_first_lanes() -> None:
    """The lowest bit set; 64 if there is none."""
    words = masks(1, 500)
    found = np.empty(500, np.int64)
    first_lanes(words, found)
    bits = as_bits(words)
    assert found.tolist() == np.where(bits.any(axis=1), bits.argmax(axis=1), 64).tolist()
    assert found[0] == 64


def test_running_counts() -> None:
    """Cumulative sums of bits."""
    words = masks(2, 500)
    counts = np.empty((500, 64), np.uint8)
    count_lanes(words, counts)
    assert np.array_equal(counts, np.cumsum(as_bits(words), axis=1))
    assert counts[1, 63] == 64


def test_highest_and_lowest() -> None:
    """Signed bytes, each row with an offset of its own."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        rows, offsets = rng.integers(0, 65, (5, 64)).astype(np.int8), rng.integers(-64, 64, 5)
        above = np.empty((3, 256), np.uint64)
        combine(rows, offsets, np.zeros(8, np.uint64), above)
        # a byte exceeds as many of these numbers as it is above the least of them, -128
        found = np.array([as_bits(masks).sum(axis=0) - 128 for masks in above])
        moved = rows + offsets[:, None]
        assert np.array_equal(found, [moved[0], moved.max(axis=0), moved.min(axis=0)])
        written = np.empty_like(rows)
        write(rows, offsets, written)
        assert np.array_equal(written, moved)


def test_lanes_above_a_line() -> None:
    """Strictly above the row below plus the line, rounded down."""
    rng = np.random.default_rng(4)
    rows = rng.integers(-60, 61, (401, 64)).astype(np.int8)
    starts, slopes, line = lines(rng, 400)
    starts %= 256
    line = (starts[:, None] + (1 + np.arange(64)) * slopes[:, None]) // 256
    found = np.empty(400, np.uint64)
    compare(rows, starts, slopes, found)
    expected = rows[:-1].astype(np.int64) > rows[1:].astype(np.int64) + line
    assert np.array_equal(found, as_masks(expected))
    assert expected.any()
    assert not expected.all()


def test_walks_above_a_line() -> None:
    """Steps up and down, also both in one round."""
    rng = np.random.default_rng(5)
    ups, downs = masks(6, 400), masks(7, 400)
    ups[2:300] |= ~downs[2:300] & masks(8, 298)
    starts, slopes, line = lines(rng, 400)
    starts[::2] //= 16
    line = (starts[:, None] + (1 + np.arange(64)) * slopes[:, None]) // 256
    found = np.empty(400, np.uint64)
    walk(ups, downs, starts, slopes, found)
    expected = np.cumsum(as_bits(ups) - as_bits(downs), axis=1) > line
    assert np.array_equal(found, as_masks(expected))
    assert expected.any()


@driver
def reach(
    rows: NDArray[np.uint8],
    offsets: NDArray[np.uint64],
    line: NDArray[np.uint8],
    out: Masks,
    tally: NDArray[np.uint8],
) -> None:
    """Find the lanes in which each row, plus its offset, reaches the line; count them by lane."""
    for i in range(offsets.size):
        row = address_of(rows) + np.uint64(64 * i)
        out[i] = vectors.lanes_reaching(row, offsets[i], address_of(line))
        vectors.count_reaching(address_of(tally), row, offsets[i], address_of(line))


def test_lanes_that_reach_a_line() -> None:
    """200 rows and offsets: sums beyond 255 count as 255; tallies add up."""
    rng = np.random.default_rng(8)
    rows = rng.integers(0, 256, (200, 64)).astype(np.uint8)
    offsets = rng.integers(0, 256, 200).astype(np.uint64)
    line = rng.integers(0, 256, 64).astype(np.uint8)
    line[:2] = 255, 0
    out, tally = np.empty(200, np.uint64), np.zeros(64, np.uint8)
    reach(rows, offsets, line, out, tally)
    total = np.minimum(rows.astype(np.int64) + offsets.astype(np.int64)[:, None], 255)
    assert np.array_equal(as_bits(out), total >= line)
    assert np.array_equal(tally, (total >= line).sum(axis=0))


@driver
def exchange_rows(rows: NDArray[np.uint8]) -> None:
    """Put each row into those before it, which are sorted."""
    start = address_of(rows)
    for i in range(rows.shape[0]):
        for row in range(i):
            vectors.exchange(start + np.uint64(64 * row), start + np.uint64(64 * i))


def test_exchanges_sort() -> None:
    """40 rows of unsigned bytes, lane by lane, the greatest first."""
    rows = np.random.default_rng(9).integers(0, 256, (40, 64)).astype(np.uint8)
    rows[3] = rows[4]
    expected = np.sort(rows, axis=0)[::-1]
    exchange_rows(rows)
    assert np.array_equal(rows, expected)


def test_vectors_begin_at_lines_of_the_cache() -> None:
    """Whatever their shape and type."""
    for shape, dtype in (((3,), np.int32), ((2, 16), np.float64), ((1, 64), np.uint8)):
        array = vectors.new_vectors(shape, dtype)
        assert (array.shape, array.dtype) == (shape, np.dtype(dtype))
        assert array.flags.c_contiguous
        assert array.flags.writeable
        assert array.ctypes.data % 64 == 0
