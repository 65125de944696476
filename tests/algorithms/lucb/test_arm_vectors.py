"""Operations on sixteen arms side by side against NumPy, every bit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.lucb import arm_vectors
from rai_sim.engine import vectors
from rai_sim.engine.jit import driver

Values = NDArray[np.float64]
Masks = NDArray[np.uint64]
LANE = np.arange(16, dtype=np.uint64)
SIDE = np.uint64(128)
#: Intrinsics, which type checkers take for their code generators.
address_of: Any = vectors.address_of
half_bounds, half_quotients = arm_vectors.half_bounds, arm_vectors.half_quotients
add_in_lanes, next_bits, used_up = (
    arm_vectors.add_in_lanes,
    arm_vectors.next_bits,
    arm_vectors.used_up,
)
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


@driver
def additions(rows: Values, members: Masks, more: Values) -> None:
    """Add to the members of each row."""
    for i in range(members.size):
        add_in_lanes(address_of(rows) + np.uint64(i) * SIDE, members[i], more[i])


@driver
def bounds(taken: Values, total: Values, log_term: float, out: Values) -> None:
    """Write means, LCB and UCB of eight lanes."""
    n, S, at = address_of(taken), address_of(total), address_of(out)
    half_quotients(S, n, at)
    half_bounds(n, at, at + np.uint64(64), at + SIDE, log_term)


@driver
def take_bits(words: Masks, members: Masks, taken: Masks, ended: Masks) -> None:
    """Take a bit of the members again and again."""
    at = address_of(words)
    for i in range(members.size):
        taken[i] = next_bits(at, members[i])
        ended[i] = used_up(at)


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


def test_additions() -> None:
    """Members get the value, others keep theirs."""
    rows, members, among = draw(6, 400)
    more, before = np.random.default_rng(7).random(400), rows.copy()
    additions(rows, members, more)
    assert np.array_equal(rows, np.where(among, before + more[:, None], before))


def test_bounds() -> None:
    """Means, LCB and UCB by the operations of the definition, to the last bit."""
    rng = np.random.default_rng(8)
    taken = rng.integers(1, 10**6, 8).astype(np.float64)
    total = np.floor(taken * rng.random(8))
    found = np.empty(24)
    bounds(taken, total, 31.7, found)
    mean, radius = total / taken, np.sqrt(31.7 / (2.0 * taken))
    assert np.array_equal(found.reshape(3, 8), [mean, mean - radius, mean + radius])


def test_bits_until_the_mark() -> None:
    """Each lane gives its bits, lowest first, and is used up when the mark is all that is left."""
    rng = np.random.default_rng(9)
    length = rng.integers(1, 64, 16)
    bits = rng.random((16, 64)) < 0.5
    words = np.array(
        [
            sum(int(bits[x, j]) << j for j in range(length[x])) | 1 << int(length[x])
            for x in range(16)
        ],
        np.uint64,
    )
    among = rng.random((200, 16)) < 0.3
    taken, ended, members, used, expected = (
        np.empty(200, np.uint64),
        np.empty(200, np.uint64),
        [],
        np.zeros(16, np.int64),
        [],
    )
    for row in among:
        row &= used < length
        members.append(row)
        expected.append(row & bits[np.arange(16), used])
        used += row
    take_bits(words, as_masks(np.array(members)), taken, ended)
    assert np.array_equal(taken, as_masks(np.array(expected)))
    assert ended[-1] == as_masks((used == length)[None])[0] != 0
