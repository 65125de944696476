"""Walks of single arms: a challenger's passage and the leader's pulls, beside literal loops on the
same rewards."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from literal import compiled
from numpy.typing import NDArray
from stack import WORDS, Stack, key_of, new_stack, reward

from rai_sim.algorithms.lucb.ahead import ROOM, AheadLaw, Pieces, new_pieces
from rai_sim.algorithms.lucb.run import JUMPS, UNTIL, new_clock, new_terms
from rai_sim.algorithms.lucb.variants import level_walks
from rai_sim.algorithms.lucb.variants.radii import Side, radii_of, radius_of, side_of
from rai_sim.engine.jit import exposed
from rai_sim.engine.streams import State

scan = exposed(level_walks._scan)
SIDES = [
    side_of("mixture", 0.01, False),
    side_of("mixture", 0.01, True),
    side_of("stitched", 0.01, True),
]


# --------------------------------------------------------------------------------------------------
# Words
# --------------------------------------------------------------------------------------------------


def scan_bit_by_bit(
    bits: int, k: int, low: float, below: float, high: float, above: float
) -> tuple[int, int]:
    """Return after how many pulls the sum is at a line, and the sum."""
    total = 0
    for j in range(1, k + 1):
        total += bits >> (j - 1) & 1
        if low + total - j * below <= 0.0 or high - total + j * above <= 0.0:
            return j, total
    return k, total


def test_words_are_scanned_as_bit_by_bit() -> None:
    """5,000 words, slopes and distances in 2^-10, so that sums are exact and lines are met exactly
    as well; lines that are half a reward off are noticed."""
    rng, early, moved = np.random.default_rng(1), np.zeros(2, np.int64), 0
    for _ in range(5_000):
        below, above = (np.round(rng.uniform(0.02, 0.98, 2) * 1024) / 1024).tolist()
        low, high = (
            np.round(rng.choice([1.0, 4.0, 16.0]) * rng.random(2) * 1024 + 1) / 1024
        ).tolist()
        ones = rng.random(64) < rng.choice([below, above, rng.random()])
        bits, k = (
            int(np.packbits(ones, bitorder="little").view(np.uint64)[0]),
            int(rng.integers(1, 65)),
        )
        found = scan(np.uint64(bits), k, low, below, high, above)
        assert found == scan_bit_by_bit(bits, k, low, below, high, above)
        at_low = low + found[1] - found[0] * below <= 0.0
        early[0] += found[0] < k and at_low
        early[1] += found[0] < k and not at_low
        moved += found != scan_bit_by_bit(bits, k, low + 0.5, below, high + 0.5, above)
    assert early.min() > 250
    assert moved > 250


def test_a_word_of_64_is_scanned_to_its_end() -> None:
    """All ones, all zeros, and lines that only the last reward meets."""
    assert scan(np.uint64(2**64 - 1), 64, 1.0, 0.5, 33.0, 0.5) == (64, 64)
    assert scan(np.uint64(2**64 - 1), 64, 1.0, 0.5, 32.0, 0.5) == (64, 64)
    assert scan(np.uint64(2**64 - 1), 64, 1.0, 0.5, 31.5, 0.5) == (63, 63)
    assert scan(np.uint64(0), 64, 31.5, 0.5, 1.0, 0.5) == (63, 0)
    assert scan(np.uint64(1 << 63), 64, 33.0, 0.5, 9.0, 0.5) == (64, 1)


# --------------------------------------------------------------------------------------------------
# Walks
# --------------------------------------------------------------------------------------------------


class Ranking(NamedTuple):
    """What walks know of arms."""

    order: NDArray[np.int64]
    arm_of: NDArray[np.int64]
    taken: NDArray[np.float64]
    total: NDArray[np.float64]


class Budget(NamedTuple):
    """What they know of the setting."""

    skip_error: float


class Walk(NamedTuple):
    """What they know of a run."""

    law: AheadLaw
    ranking: Ranking
    setting: Budget
    clock: NDArray[np.int64]
    terms: NDArray[np.float64]


class Found(NamedTuple):
    """Where a walk ended."""

    well: bool
    pulls: int
    total: float


@compiled
def pass_kernel(
    run: Any, behind: Pieces, side: Side, level: float, bar: float, state: State
) -> tuple[bool, int, float]:
    """Follow the challenger at rank 1."""
    well, n, S, state = level_walks.pass_level(run, behind, side, 1, level, bar, state)
    return well, n, S


@compiled
def lead_kernel(
    run: Any, behind: Pieces, side: Side, T: int, bar: float, ceiling: float, state: State
) -> tuple[bool, int, float]:
    """Follow the leader."""
    led, n, S, state = level_walks.lead(run, behind, side, T, bar, ceiling, state)
    return led, n, S


@compiled
def pass_literally(
    law: Stack,
    window: NDArray[np.uint64],
    side: Side,
    n: int,
    S: float,
    level: float,
    bar: float,
    state: State,
) -> tuple[bool, int, float]:
    """Pull arm 1 until its UCB is below the level, or its mean not below the bar; say which."""
    key = key_of(state)
    while S / n < bar:
        if S / n + radius_of(side, 0.0, float(n)) < level:
            return True, n, S
        S += reward(law, key, window, 1, n)
        n += 1
    return False, n, S


@compiled
def lead_literally(
    law: Stack,
    window: NDArray[np.uint64],
    side: Side,
    n: int,
    S: float,
    T: int,
    bar: float,
    ceiling: float,
    state: State,
) -> tuple[bool, int, float]:
    """Pull arm 0 T times, as long as its mean is above the bar and its LCB below the ceiling."""
    key, goal = key_of(state), n + T
    while S / n > bar and S / n - radius_of(side, 0.0, float(n)) < ceiling:
        if n == goal:
            return True, n, S
        S += reward(law, key, window, 0, n)
        n += 1
    return False, n, S


class Standing(NamedTuple):
    """Arms that are followed, and what follows them."""

    law: Stack
    pieces: Pieces
    behind: Pieces
    pulls: int
    total: float
    state: Any

    def run(self, skip_error: float) -> Any:
        """Return what kernels are given: both arms stand alike."""
        taken, total = np.full(2, float(self.pulls)), np.full(2, self.total)
        run = Walk(
            AheadLaw(self.law, self.pieces),
            Ranking(np.arange(2), np.arange(2), taken, total),
            Budget(skip_error),
            new_clock(),
            new_terms(),
        )
        run.terms[UNTIL] = -1.0
        return run


def standing(rng: np.random.Generator, longest: float) -> Standing:
    """Return two arms, a hundred to some 10^longest pulls behind them."""
    digits = np.full(2, round(1024 * rng.uniform(0.2, 0.8)), np.uint64)
    law = new_stack(WORDS, digits / 1024.0, 0.25, digits=digits)
    n = int(10.0 ** rng.uniform(2.0, longest))
    S = float(round(n * digits[0] / 1024.0 + math.sqrt(n) / 4.0 * rng.standard_normal()))
    words = rng.integers(1 << 63, size=3).tolist()
    state = tuple(np.uint64(word) for word in (*words, 0, 0))
    return Standing(law, new_pieces(2), new_pieces(2), n, S, state)


@compiled
def write_rewards(
    law: Stack,
    window: NDArray[np.uint64],
    arm: int,
    n: int,
    rewards: NDArray[np.float64],
    state: State,
) -> None:
    """Write an arm's rewards from number n on."""
    key = key_of(state)
    for j in range(rewards.size):
        rewards[j] = reward(law, key, window, arm, n + j)


def hold_what_was_drawn(at: Standing, arm: int, pulls: int, total: float) -> NDArray[np.float64]:
    """Pieces behind lead from where the arm was to where it is, those ahead on from there, and
    everything in them is the stack's; return the sums after 0, 1, .. pulls from where it was."""
    b, a = int(at.behind.held[arm]), int(at.pieces.held[arm])
    before = at.pulls
    ahead = [field[arm, a - 1 :: -1] if a else field[arm, :0] for field in at.pieces[1:]]
    start, end, first, last, bits, known = (
        np.concatenate([one[arm, :b], other])
        for one, other in zip(at.behind[1:], ahead, strict=True)
    )
    ends = [before, *end.tolist()]
    assert start.tolist() == ends[:-1]
    assert (end > start)[~known].all()
    assert (end >= start).all()
    assert ends[b] == pulls
    rewards = np.zeros(ends[-1] - before)
    write_rewards(at.law, np.zeros((2, 2), np.uint64), arm, before, rewards, at.state)
    sums = at.total + np.concatenate([[0.0], np.cumsum(rewards)])
    assert sums[pulls - before] == total
    assert np.array_equal(first, sums[start - before])
    assert np.array_equal(last, sums[end - before])
    for i in np.flatnonzero(known).tolist():
        inside = rewards[start[i] - before : end[i] - before]
        assert inside.size <= 64
        assert int(bits[i]) & (1 << inside.size) - 1 == sum(
            1 << j for j in range(inside.size) if inside[j]
        )
    return sums


def passages(rng: np.random.Generator, count: int, longest: float, checked: float) -> list[int]:
    """Follow challengers through passages both ways; return how many passed, how many did not, pulls and
    jumps, and for how many there was no room."""
    seen = [0, 0, 0, 0, 0]
    for number in range(count):
        at, side = standing(rng, longest), SIDES[number % 3]
        n, S = at.pulls, at.total
        radius = float(radii_of(side, np.array(float(n)), np.array(float(n))))
        drop = rng.uniform(0.05, 3.0) / n * rng.choice([1.0, 10.0, 100.0])
        level = S / n + radius - min(drop, 0.3 * radius)  # above its law's mean: it gets there
        bar = S / n + rng.uniform(0.3, 3.0) * radius * rng.choice([0.1, 1.0])
        run = at.run(float(rng.choice([0.0, 1e-12])))
        theirs = Found(
            *pass_literally(at.law, np.zeros((2, 2), np.uint64), side, n, S, level, bar, at.state)
        )
        ours = Found(*pass_kernel(run, at.behind, side, level, bar, at.state))
        if ours.well:
            assert ours == theirs
        elif theirs.well:  # there is no more room
            assert at.behind.held[1] + at.pieces.held[1] + 4 >= ROOM
            seen[4] += 1
        seen[0 if ours.well else 1] += 1
        seen[2] += ours.pulls - n
        seen[3] += int(run.clock[JUMPS])
        if rng.random() < checked:
            hold_what_was_drawn(at, 1, ours.pulls, ours.total)
    return seen


def test_passages_are_those_of_the_literal_loop() -> None:
    """Challengers with a hundred to 3,000 pulls, both lines near and far, with a budget and without:
    whether they pass, after how many pulls, and at which sum; and what was drawn is all kept."""
    passed, failed, pulls, _, full = passages(np.random.default_rng(2), 300, 3.5, 0.1)
    assert passed > 100
    assert failed > 20
    assert pulls > 20_000
    assert full == 0


@pytest.mark.slow
def test_long_passages_are_those_of_the_literal_loop() -> None:
    """Likewise with up to 300,000 pulls: nearly all of them in jumps."""
    passed, failed, pulls, jumps, full = passages(np.random.default_rng(3), 2_000, 5.5, 0.01)
    assert passed > 500
    assert failed > 100
    assert pulls > 4_000_000
    assert jumps > 200
    assert full <= 60


def leads(rng: np.random.Generator, count: int, longest: float, checked: float) -> list[int]:
    """Follow leaders both ways; return how many keep between the lines, how many do not, how many
    were not certified though they do, and pulls and jumps."""
    seen = [0, 0, 0, 0, 0]
    for number in range(count):
        at, side = standing(rng, longest), SIDES[number % 3]
        n, S = at.pulls, at.total
        radius = float(radii_of(side, np.array(float(n)), np.array(float(n))))
        room = rng.uniform(0.1, 2.0, 2) * rng.choice([0.1, 1.0], 2) * radius
        bar, ceiling = S / n - room[0], S / n - radius + room[1]
        T = int(rng.integers(1, 2 * n)) if rng.random() < 0.5 else int(rng.integers(1, 200))
        run = at.run(float(rng.choice([0.0, 1e-12])))
        theirs = Found(
            *lead_literally(
                at.law, np.zeros((2, 2), np.uint64), side, n, S, T, bar, ceiling, at.state
            )
        )
        ours = Found(*lead_kernel(run, at.behind, side, T, bar, ceiling, at.state))
        if ours.well:
            assert ours == theirs
        seen[0 if ours.well else 2 if theirs.well else 1] += 1
        seen[3] += ours.pulls - n
        seen[4] += int(run.clock[JUMPS])
        if rng.random() < checked:
            hold_what_was_drawn(at, 0, ours.pulls, ours.total)
    return seen


@pytest.mark.landing
def test_leads_are_those_of_the_literal_loop() -> None:
    """Leaders with a hundred to 3,000 pulls: who is said to keep between the lines does, and is
    where the loop is; hardly one does and is not certified."""
    led, fell, uncertain, pulls, _ = leads(np.random.default_rng(4), 300, 3.5, 0.1)
    assert led > 60
    assert fell > 60
    assert uncertain <= 3
    assert pulls > 20_000


@pytest.mark.slow
def test_long_leads_are_those_of_the_literal_loop() -> None:
    """Likewise with up to 300,000 pulls."""
    led, fell, uncertain, pulls, jumps = leads(np.random.default_rng(5), 2_000, 5.5, 0.01)
    assert led > 400
    assert fell > 400
    assert uncertain <= 20
    assert pulls > 10_000_000
    assert jumps > 1_000


@compiled
def words_kernel(
    run: Any,
    behind: Pieces,
    n: int,
    n1: int,
    S: float,
    low: float,
    slope: float,
    high: float,
    bar: float,
    state: State,
) -> tuple[int, float, float, float]:
    """Walk over words of arm 1."""
    n, S, low, high, state = level_walks._pass_by_words(
        run, behind, 1, n, n1, S, low, slope, high, bar, state
    )
    return n, S, low, high


@pytest.mark.landing
def test_words_are_passed_in_which_nothing_happens() -> None:
    """Words in a row, all of them kept, in none of which a line is met; the word after them lies
    ahead, and they end with the chord and with the room."""
    rng, lengths, over = np.random.default_rng(6), list[int](), 0
    for number in range(300):
        at = standing(rng, 4.0)
        mean = float(at.law.mean[1])
        slope, bar = mean - rng.uniform(-0.02, 0.1), mean + rng.uniform(-0.02, 0.1)
        low, high = rng.uniform(1.0, 60.0, 2).tolist()
        filled = ROOM - 10 if number % 10 == 0 else 0  # as if so many pieces were behind
        at.behind.held[1] = filled
        most = int(rng.choice([64, 300, 5_000]))
        run = at.run(0.0 if number % 2 else 1e-12)
        n, S, nearer, farther = words_kernel(
            run, at.behind, at.pulls, at.pulls + most, at.total, low, slope, high, bar, at.state
        )
        count = int(at.behind.held[1]) - filled
        assert n == at.pulls + 64 * count
        assert n <= at.pulls + max(most, 0)
        assert at.behind.held[1] <= ROOM - 3
        assert nearer == pytest.approx(low + (S - at.total) - slope * (n - at.pulls), abs=1e-8)
        assert farther == pytest.approx(high - (S - at.total) + bar * (n - at.pulls), abs=1e-8)
        assert (at.pieces.held[1], at.pieces.known[1, 0]) == (1, True)
        for field in at.behind[1:]:
            field[1, :count] = field[1, filled : filled + count].copy()
        at.behind.held[1] = count
        sums = hold_what_was_drawn(at, 1, n, S) - at.total
        j = np.arange(64 * count + 1)
        assert (low + sums[j] - slope * j > 0.0).all()
        assert (high - sums[j] + bar * j > 0.0).all()
        lengths.append(count)
        over += n + 64 > at.pulls + most
    assert max(lengths) >= 10
    assert lengths.count(0) >= 10
    assert over >= 10
