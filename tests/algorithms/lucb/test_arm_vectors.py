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
first_bounds, look_ahead_4, look_ahead_8, pull_lanes, used_up = (
    arm_vectors.first_bounds,
    arm_vectors.look_ahead_4,
    arm_vectors.look_ahead_8,
    arm_vectors.pull_lanes,
    arm_vectors.used_up,
)
TAKEN, TOTAL, MEAN, LOW, HIGH = range(5)
least_in, greatest_in, least_gap = (
    arm_vectors.least_in,
    arm_vectors.greatest_in,
    arm_vectors.least_gap,
)
lanes_at_most, lanes_at_least = arm_vectors.lanes_at_most, arm_vectors.lanes_at_least


@driver
def extremes(rows: Values, members: Masks, out: Values, lanes: Masks) -> None:
    """Find the least and the greatest value of each row among its members, and where they are."""
    for i in range(members.size):
        at = address_of(rows) + np.uint64(i) * SIDE
        out[i, 0], lanes[i, 0] = least_in(at, members[i])
        out[i, 1], lanes[i, 1] = greatest_in(at, members[i])


@driver
def gaps(rows: Values, members: Masks, L: Values, U: Values, out: Values, lanes: Masks) -> None:
    """Find the least gap of rows 2 i (LCB) and 2 i + 1 (UCB) among the members."""
    for i in range(members.size):
        at = address_of(rows) + np.uint64(2 * i) * SIDE
        out[i], lanes[i] = least_gap(at, at + SIDE, members[i], L[i], U[i])


@driver
def comparisons(rows: Values, members: Masks, limits: Values, lanes: Masks) -> None:
    """Compare the members of each row with a limit."""
    for i in range(members.size):
        at = address_of(rows) + np.uint64(i) * SIDE
        lanes[i, 0], lanes[i, 1] = (
            lanes_at_most(at, members[i], limits[i]),
            lanes_at_least(at, members[i], limits[i]),
        )


@kernel
def note(rows: Values, seen: Values, i: int) -> None:
    """Copy the five rows of what is known."""
    for row in range(5):
        for x in range(16):
            seen[i, row, x] = rows[row, x]


@driver
def play(
    rows: Values, words: Masks, logs: Values, members: Masks, seen: Values, ended: Masks
) -> None:
    """Make rounds that pull the members, by vectors of 8, 4 and 4 lanes; note the numbers of all
    arms after each of them."""
    at, at_words = address_of(rows), address_of(words)
    first_bounds(at, logs[0])
    note(rows, seen, 0)
    for i in range(members.size):
        look_ahead_8(at, at_words, logs[i + 1])
        for lane in (8, 12):
            behind = np.uint64(8 * lane)
            look_ahead_4(at + behind, at_words + behind, logs[i + 1])
        pull_lanes(at, at_words, members[i])
        note(rows, seen, i + 1)
        ended[i] = used_up(at_words)


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
    """Least and greatest among the members, with every lane that attains it; infinite where there
    are none."""
    rows, members, among = draw(1, 400)
    found, lanes = np.empty((400, 2)), np.empty((400, 2), np.uint64)
    extremes(rows, members, found, lanes)
    least, greatest = (
        np.where(among, rows, np.inf).min(axis=1),
        np.where(among, rows, -np.inf).max(axis=1),
    )
    assert np.array_equal(found, np.stack([least, greatest], axis=1))
    assert np.array_equal(lanes[:, 0], as_masks(among & (rows == least[:, None])))
    assert np.array_equal(lanes[:, 1], as_masks(among & (rows == greatest[:, None])))
    assert found[0].tolist() == [np.inf, -np.inf]


def test_least_gaps() -> None:
    """The least max(UCB - L, U - LCB); L and U may be infinite."""
    rows, members, among = draw(2, 800)
    members, among = members[::2].copy(), among[::2]
    rng = np.random.default_rng(3)
    L, U = rng.integers(-4, 5, 400) / 3.0, rng.integers(-4, 5, 400) / 3.0
    L[::5], U[::7] = np.inf, -np.inf
    found, lanes = np.empty(400), np.empty(400, np.uint64)
    gaps(rows, members, L, U, found, lanes)
    gap = np.where(among, np.maximum(rows[1::2] - L[:, None], U[:, None] - rows[::2]), np.inf)
    assert np.array_equal(found, gap.min(axis=1))
    assert np.array_equal(lanes, as_masks(among & (gap == gap.min(axis=1)[:, None])))


def test_comparisons() -> None:
    """At most and at least, among members only, equality included."""
    rows, members, among = draw(4, 400)
    limits = np.random.default_rng(5).integers(-4, 5, 400) / 3.0
    lanes = np.empty((400, 2), np.uint64)
    comparisons(rows, members, limits, lanes)
    assert np.array_equal(lanes[:, 0], as_masks(among & (rows <= limits[:, None])))
    assert np.array_equal(lanes[:, 1], as_masks(among & (rows >= limits[:, None])))


def draw_rounds(rng: np.random.Generator) -> tuple[Any, ...]:
    """Return the bits of sixteen words, at most 60 each; whom 60 rounds pull; the logarithms of
    theirs and of the round before; and rows of arms of anything from one to 2^48 pulls."""
    length = rng.integers(1, 61, 16)
    bits = (rng.random((16, 60)) < 0.5) & (np.arange(60) < length[:, None])
    among, used = rng.random((60, 16)) < rng.random(16), np.zeros(16, np.int64)
    for row in among:
        row &= used < length
        used += row
    rows = np.full((arm_vectors.ROWS, 16), np.nan)
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
    rng, others, pulled_last = np.random.default_rng(8), 0, 0
    for _ in range(200):
        length, bits, among, logs, rows = draw_rounds(rng)
        words = as_masks_of(bits) | np.uint64(1) << length.astype(np.uint64)
        taken, total, used = rows[TAKEN].copy(), rows[TOTAL].copy(), np.zeros(16, np.int64)
        seen, ended = np.empty((61, 5, 16)), np.empty(60, np.uint64)
        play(rows, words, logs, as_masks(among), seen, ended)
        assert np.array_equal(seen[0], as_defined(taken, total, logs[0]))
        for i, row in enumerate(among):
            taken += row
            total += row & bits[np.arange(16), np.minimum(used, 59)]
            used += row
            assert np.array_equal(seen[i + 1], as_defined(taken, total, logs[i + 1]))
            assert ended[i] == as_masks((used == length)[None])[0]
        others += int(np.count_nonzero(total * (1.0 / taken) != total / taken))
        pulled_last += int(np.count_nonzero(ended))
    # a control: quotients that are not mended differ, and there were words that ended
    assert others > 200
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
