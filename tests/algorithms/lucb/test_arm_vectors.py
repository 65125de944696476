"""Operations on sixteen arms side by side against NumPy, every bit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rai_sim.algorithms.lucb import arm_vectors
from rai_sim.engine import vectors
from rai_sim.engine.jit import driver, kernel

Values = NDArray[np.float64]
Masks = NDArray[np.uint64]
LANE = np.arange(16, dtype=np.uint64)
SIDE = np.uint64(128)
#: Intrinsics, which type checkers take for their code generators.
address_of: Any = vectors.address_of
v: Any = arm_vectors
TAKEN, TOTAL, MEAN, LOW, HIGH = range(5)


@driver
def extremes(rows: Values, members: Masks, out: Values, lanes: Masks) -> None:
    """Find the least and the greatest value of each row among its members, as every lane has it, and
    where they are."""
    for i in range(members.size):
        values = v.doubles_at(address_of(rows) + np.uint64(i) * SIDE)
        least, greatest = v.least_in(values, members[i]), v.greatest_in(values, members[i])
        v.put_doubles(least, address_of(out) + np.uint64(2 * i) * SIDE)
        v.put_doubles(greatest, address_of(out) + np.uint64(2 * i + 1) * SIDE)
        lanes[i, 0], lanes[i, 1] = (
            v.lanes_at_most(values, members[i], least),
            v.lanes_at_least(values, members[i], greatest),
        )


@driver
def by_lane(rows: Values, members: Masks, numbers: Values, out: Values) -> None:
    """Write what operations lane by lane make of four rows at a time."""
    for i in range(members.size):
        at = address_of(rows) + np.uint64(4 * i) * SIDE
        first, second = v.doubles_at(at), v.doubles_at(at + SIDE)
        third, fourth = v.doubles_at(at + SIDE + SIDE), v.doubles_at(at + SIDE + SIDE + SIDE)
        into = address_of(out) + np.uint64(6 * i) * SIDE
        v.put_doubles(v.gaps(first, second, third, fourth), into)
        v.put_doubles(v.lesser(first, second), into + SIDE)
        v.put_doubles(v.greater(first, second), into + SIDE + SIDE)
        v.put_doubles(v.either(members[i], first, second), into + SIDE + SIDE + SIDE)
        into += SIDE + SIDE + SIDE + SIDE
        v.put_doubles(v.plus(first, numbers[i]), into)
        v.put_doubles(v.everywhere(v.number_of(first)), into + SIDE)


@driver
def comparisons(rows: Values, members: Masks, limits: Values, found: Masks) -> None:
    """Compare the members of each row with a limit, and with a limit and what is 2 above it."""
    for i in range(members.size):
        values = v.doubles_at(address_of(rows) + np.uint64(i) * SIDE)
        limit = v.everywhere(limits[i])
        found[i, 0], found[i, 1] = (
            v.lanes_at_most(values, members[i], limit),
            v.lanes_at_least(values, members[i], limit),
        )
        found[i, 2] = v.any_outside(values, members[i], limit, v.plus(limit, 2.0))


@kernel
def note(seen: Values, base: np.uint64, i: int, numbers: Any) -> None:
    """Copy what is known: n_a, sum, mean, LCB and UCB."""
    at = base + np.uint64(5 * i) * SIDE
    taken, total, mean, low, high = numbers
    v.put_doubles(taken, at)
    v.put_doubles(total, at + SIDE)
    v.put_doubles(mean, at + SIDE + SIDE)
    v.put_doubles(low, at + SIDE + SIDE + SIDE)
    v.put_doubles(high, at + SIDE + SIDE + SIDE + SIDE)


@driver
def play(
    rows: Values,
    words: Masks,
    logs: Values,
    members: Masks,
    seen: Values,
    near: Values,
    ended: Masks,
) -> None:
    """Make rounds that pull the members; note the numbers of all arms after each of them, with both
    kinds of bounds. Lanes are looked ahead for by 8, 12 and 16 in turn, those that there are."""
    at = address_of(rows)
    taken, total, mean = v.doubles_at(at), v.doubles_at(at + SIDE), v.doubles_at(at + SIDE + SIDE)
    bits, root = v.words_at(address_of(words)), v.near_roots(taken)
    for i in range(members.size + 1):
        low, high = v.bounds(mean, taken, logs[i])
        note(seen, address_of(seen), i, (taken, total, mean, low, high))
        low, high = v.near_bounds(mean, root, np.sqrt(logs[i]))
        note(near, address_of(near), i, (taken, total, mean, low, high))
        if i < members.size:
            new_mean, new_root = v.look_ahead_16(taken, total, bits)
            if members[i] < 1 << 8:
                new_mean, new_root = v.look_ahead_8(taken, total, bits)
            elif members[i] < 1 << 12:
                new_mean, new_root = v.look_ahead_12(taken, total, bits)
            taken, total, bits = v.pull_lanes(taken, total, bits, members[i])
            mean = v.either(members[i], new_mean, mean)
            root = v.either(members[i], new_root, root)
            for lane in range(16):
                ended[i] |= np.uint64(v.any_used_up(bits, 1 << lane)) << np.uint64(lane)
    v.put_words(bits, address_of(words))


def draw(seed: int, rows: int) -> tuple[Values, Masks, NDArray[np.bool_]]:
    """Return rows of few different values and their members, as masks and as truth values; the
    first row has none, the second all."""
    rng = np.random.default_rng(seed)
    among = rng.random((rows, 16)) < rng.random((rows, 1))
    among[0], among[1] = False, True
    return rng.integers(-4, 5, (rows, 16)) / 3.0, as_masks(among), among


def as_masks(bits: NDArray[np.bool_]) -> Masks:
    """Return rows of lanes as masks, lane 0 lowest."""
    words: Masks = (bits.astype(np.uint64) << LANE).sum(axis=1, dtype=np.uint64)
    return words


def test_extremes() -> None:
    """Least and greatest among the members, in every lane, and the lanes that attain it; infinite
    where there are no members."""
    rows, members, among = draw(1, 400)
    found, lanes = np.empty((400, 2, 16)), np.empty((400, 2), np.uint64)
    extremes(rows, members, found, lanes)
    least, greatest = (
        np.where(among, rows, np.inf).min(axis=1),
        np.where(among, rows, -np.inf).max(axis=1),
    )
    expected = np.stack([least, greatest], axis=1)
    assert np.array_equal(found, np.repeat(expected[:, :, None], 16, axis=2))
    assert np.array_equal(lanes[:, 0], as_masks(among & (rows == least[:, None])))
    assert np.array_equal(lanes[:, 1], as_masks(among & (rows == greatest[:, None])))
    assert found[0, :, 0].tolist() == [np.inf, -np.inf]


def test_lane_by_lane() -> None:
    """Gaps, of which L and U may be infinite; lesser and greater; a choice by mask; sums."""
    rows, members, among = draw(2, 800)
    rows[2::20], rows[3::28] = np.inf, -np.inf
    numbers, found = np.random.default_rng(3).integers(-4, 5, 200) / 3.0, np.empty((200, 6, 16))
    by_lane(rows, members[::4].copy(), numbers, found)
    low, high, L, U = (rows[k::4] for k in range(4))
    expected = [
        np.maximum(high - L, U - low),
        np.minimum(low, high),
        np.maximum(low, high),
        np.where(among[::4], low, high),
        low + numbers[:, None],
        np.repeat(low[:, :1], 16, axis=1),
    ]
    assert np.array_equal(found, np.stack(expected, axis=1))


def test_comparisons() -> None:
    """At most, at least, and between two limits, among members only, equality included."""
    rows, members, among = draw(4, 400)
    limits = np.random.default_rng(5).integers(-4, 5, 400) / 3.0
    found = np.empty((400, 3), np.uint64)
    comparisons(rows, members, limits, found)
    limit = limits[:, None]
    assert np.array_equal(found[:, 0], as_masks(among & (rows <= limit)))
    assert np.array_equal(found[:, 1], as_masks(among & (rows >= limit)))
    outside = (among & ((rows <= limit) | (rows >= limit + 2.0))).any(axis=1)
    assert np.array_equal(found[:, 2], outside)
    assert 40 < np.count_nonzero(outside) < 360


def draw_rounds(rng: np.random.Generator) -> tuple[Any, ...]:
    """Return the bits of sixteen words, at most 60 each; whom 60 rounds pull; the logarithms of
    theirs and of the round before; and rows of arms of anything from one to 2^48 pulls."""
    length = rng.integers(1, 61, 16)
    bits = (rng.random((16, 60)) < 0.5) & (np.arange(60) < length[:, None])
    among, used = rng.random((60, 16)) < rng.random(16), np.zeros(16, np.int64)
    for number, row in enumerate(among):
        row &= used < length
        row[(8, 12, 16)[number % 3] :] = False  # of whom lanes are looked ahead for
        used += row
    rows = np.full((3, 16), np.nan)
    rows[TAKEN] = np.floor(2.0 ** rng.uniform(0.0, 48.0, 16)) - 60.0
    rows[TAKEN] = np.maximum(rows[TAKEN], rng.integers(1, 100, 16))
    rows[TOTAL] = np.floor(rows[TAKEN] * rng.random(16))
    rows[MEAN] = rows[TOTAL] / rows[TAKEN]
    return length, bits, among, rng.uniform(1.0, 2000.0, 61), rows


def as_defined(taken: Values, total: Values, log_term: float) -> Values:
    """Return n_a, sum, mean, LCB and UCB by the operations of the definition."""
    mean, radius = total / taken, np.sqrt(log_term / (2.0 * taken))
    return np.stack([taken, total, mean, mean - radius, mean + radius])


def test_rounds_are_those_of_the_definition() -> None:
    """Sums, means and bounds after each round, to the last bit; each lane gives its bits, lowest
    first, and is used up when the mark is all that is left."""
    rng, others, pulled_last, inexact = np.random.default_rng(8), 0, 0, 0
    for _ in range(200):
        length, bits, among, logs, rows = draw_rounds(rng)
        words = as_masks_of(bits) | np.uint64(1) << length.astype(np.uint64)
        taken, total, used = rows[TAKEN].copy(), rows[TOTAL].copy(), np.zeros(16, np.int64)
        seen, near, ended = np.empty((61, 5, 16)), np.empty((61, 5, 16)), np.zeros(60, np.uint64)
        play(rows, words, logs, as_masks(among), seen, near, ended)
        assert np.array_equal(seen[0], as_defined(taken, total, logs[0]))
        for i, row in enumerate(among):
            taken += row
            total += row & bits[np.arange(16), np.minimum(used, 59)]
            used += row
            assert np.array_equal(seen[i + 1], as_defined(taken, total, logs[i + 1]))
            assert ended[i] == as_masks((used == length)[None])[0]
        assert np.abs(near - seen).max() < arm_vectors.NEAR / 4.0
        inexact += int(np.count_nonzero(near != seen))
        others += int(np.count_nonzero(total * (1.0 / taken) != total / taken))
        pulled_last += int(np.count_nonzero(ended))
    # a control: quotients that are not mended differ, near bounds are others, and words ended
    assert others > 200
    assert inexact > 10_000
    assert pulled_last > 200


def as_masks_of(bits: NDArray[np.bool_]) -> Masks:
    """Return rows of up to 64 bits as words, the first bit lowest."""
    place = np.arange(bits.shape[1], dtype=np.uint64)
    words: Masks = (bits.astype(np.uint64) << place).sum(axis=1, dtype=np.uint64)
    return words


@pytest.mark.slow
def test_processors_that_do_not_fuse_give_the_same_numbers(tmp_path: Path) -> None:
    """By divisions, as x86 had nothing else before 2013: the test above, on such a processor."""
    environment = dict(os.environ) | {
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_CACHE_DIR": str(tmp_path),
    }
    test = f"{__file__}::{test_rounds_are_those_of_the_definition.__name__}"
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-p", "no:cacheprovider", test]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
