"""Words of rewards against walks round by round."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from races import draw_races, ranked_race, settled_ranks

from rai_sim.engine import few_arms, words
from rai_sim.engine import law as laws
from rai_sim.engine.certificates import Race
from rai_sim.engine.jit import driver, exposed
from rai_sim.engine.streams import State, new_generators, replication_stream, stream_key

first_suspect, advance = exposed(words.first_suspect), exposed(words.advance)
count_words, lay_out = exposed(words.count_words), exposed(few_arms.lay_out)
draw_words = words.draw_words


def begin(race: Race, rewards: NDArray[np.int64]) -> None:
    """Let words begin in which arms get rewards, (64, N) by round and label."""
    N = rewards.shape[1]
    race.words.bits[:N] = (rewards.astype(np.uint64).T << np.arange(64, dtype=np.uint64)).sum(
        axis=1, dtype=np.uint64
    )
    lay_out(race.words.few, race.standings, N)
    count_words(race.words, race.standings.order, N)


class Walk(NamedTuple):
    """A race with the words of its arms, j rounds of which are over; a chord of W."""

    race: Race
    sizes: list[int]
    rewards: NDArray[np.int64]  # (64, N) by round and label
    j: int
    start: float
    end: float

    def sums(self, rounds: int) -> NDArray[np.float64]:
        """Return the sums by label after so many rounds of the word, from those after j."""
        return np.asarray(self.race.standings.total + self.rewards[self.j : rounds].sum(axis=0))

    def W(self, rounds: int) -> float:
        """Return the chord after so many rounds."""
        return self.start + (self.end - self.start) * (rounds - self.j) / (64 - self.j)


def draw_walks(seed: int, count: int) -> list[Walk]:
    """Draw races in the middle of a word, nobody settled after the j-th round."""
    rng, found = np.random.default_rng(seed), list[Walk]()
    for sums, sizes in draw_races(seed, count):
        j, room = int(rng.integers(64)) * int(rng.integers(2)), rng.uniform(0.0, 25.0)
        race, G = ranked_race([100.0 + s for s in sums], sizes)
        if np.isinf(G):
            continue
        rewards = (rng.random((64, len(sums))) < rng.random(len(sums))).astype(np.int64)
        standings, past = race.standings, rewards[:j].sum(axis=0)
        standings.total[:] -= past
        begin(race, rewards)
        standings.total[:] += past
        W = max(G, 0.0) + room
        found.append(Walk(race, sizes, rewards, j, W, W + rng.uniform(0.0, 10.0)))
    return found


def suspects(walk: Walk) -> int:
    """Return what `first_suspect` says."""
    return first_suspect(walk.race, walk.race.standings.order.size, walk.j, walk.start, walk.end)


def rounds_before_an_event(walk: Walk) -> int:
    """Return how many of the word's rounds there are before the first that settles an arm."""
    for rounds in range(walk.j + 1, 65):
        ranked = (-np.sort(-walk.sums(rounds))).tolist()
        if settled_ranks(ranked, walk.sizes, walk.W(rounds)):
            return rounds - 1
    return 64


def rounds_within_bounds(walk: Walk, slack: float) -> int:
    """Return how many of the word's rounds there are before the first in which a constraint's
    bound, from the arms now on its sides, exceeds the chord less some slack."""
    constraints = walk.race.constraints
    pairs = list(
        zip(
            constraints.high[: constraints.number[0]],
            constraints.low[: constraints.number[0]],
            strict=True,
        )
    )
    for rounds in range(walk.j + 1, 65):
        sums = walk.sums(rounds)
        if any(sums[x:].max() - sums[: y + 1].min() > walk.W(rounds) - slack for x, y in pairs):
            return rounds - 1
    return 64


@pytest.mark.landing
def test_rounds_before_the_first_suspect_settle_nobody() -> None:
    """1,000 races of up to six arms, of which many settle an arm within the word; negative control:
    a round more would be too many in some."""
    walks = draw_walks(1, 1000)
    said = [suspects(walk) for walk in walks]
    true = [rounds_before_an_event(walk) for walk in walks]
    assert all(a <= b for a, b in zip(said, true, strict=True))
    assert sum(b < 64 for b in true) > 100
    assert sum(a + 1 > b for a, b in zip(said, true, strict=True) if b < 64) > 50


@pytest.mark.parametrize(
    ("N", "apart", "expected"), [(20_000, 0.001, 5), (20_000, 1.0, 64), (200, 0.001, 64)]
)
@pytest.mark.parametrize("tried_apart", [False, True])
def test_what_would_take_too_long_is_not_looked_at(
    N: int, apart: float, expected: int, tried_apart: bool
) -> None:
    """Arms to be ranked, five rounds of a word over, within a word of each other, in one or in
    sixteen heaps: if they are many, the very next round may hold an event, whether the constraints
    that are asked beforehand tell so or stand apart, in pairs; in truth none of the word does."""
    falls = np.full(N, apart)
    if tried_apart:
        for k in range(16):
            falls[max(k * N // 16 - 4, 0) : k * N // 16 + 5 : 2] = 100.0
    race, G = ranked_race((1e6 - np.cumsum(falls)).tolist(), [1] * N)
    begin(race, np.repeat(np.arange(64)[:, None] % 2, N, axis=1))
    W = G + 20.0
    assert suspects(Walk(race, [1] * N, np.zeros((64, N), np.int64), 5, W, W + 1.0)) == expected


def test_suspects_are_the_bounds_that_cross_the_chord() -> None:
    """Bit by bit: up to the rounding of the chord, a quarter of a reward at most and a step of the
    line."""
    ends = set()
    for walk in draw_walks(2, 500):
        said = suspects(walk)
        assert rounds_within_bounds(walk, 0.3) <= said <= rounds_within_bounds(walk, 0.0)
        ends.add(said - walk.j)
    assert {0, 1, 64} <= ends
    assert len(ends) > 20


@pytest.mark.parametrize("N", [2, 6, 16, 17, 64, 65, 150])
def test_rewards_of_a_word_are_added_round_by_round(N: int) -> None:
    """Sums as if every reward was added, ranked anew; long rankings are repaired by another
    routine."""
    rng = np.random.default_rng(N)
    race, _ = ranked_race(np.sort(rng.integers(0, 40, N))[::-1].tolist(), [1, N - 1])
    rewards = rng.integers(0, 2, (64, N))
    check_sums(race, rewards)


@pytest.mark.parametrize("N", [2, 6, 16, 64])
def test_the_last_may_become_the_first(N: int) -> None:
    """Of arms with equal sums the last alone gets rewards, or it and the middle one: it moves past
    all others at once, and the last that is left is where the next one looks."""
    for rich in ([N - 1], [N // 2, N - 1]):
        rewards = np.zeros((64, N), np.int64)
        rewards[:, rich] = 1
        check_sums(ranked_race([9] * N, [1, N - 1])[0], rewards)


def check_sums(race: Race, rewards: NDArray[np.int64]) -> None:
    """Add rewards of a word, (64, N), in four steps; hold sums and ranking against sorting."""
    N = rewards.shape[1]
    begin(race, rewards)
    sums, standings, j = race.standings.total.copy(), race.standings, 0
    for until in (1, 5, 40, 64):
        advance(race, N, j, until)
        sums += rewards[j:until].sum(axis=0)
        j = until
        ranking = sorted(range(N), key=lambda label: (-sums[label], label))
        assert standings.order.tolist() == ranking
        assert standings.total.tolist() == sums[ranking].tolist()


@driver
def draw_twice(
    race: Race, n: int, key: NDArray[np.uint64], room: NDArray[np.uint64], out: NDArray[np.uint64]
) -> tuple[State, State]:
    """Draw words of the first n ranks into counts, and the same words as they are; return both
    states."""
    counted = draw_words(race, n, 0, replication_stream(key, 0, room))
    state = replication_stream(key, 0, room)
    for x in range(n):
        label = race.standings.order[x]
        out[label], state = laws.word(race.law, race.standings.arm_of[label], 0, state)
    return counted, state


def test_drawn_words_become_running_counts() -> None:
    """Of active arms only, each by its own law."""
    means = [0.9, 0.6, 0.5, 0.0, 0.3]
    race, _ = ranked_race([9.0, 8.0, 7.0, 6.0, 5.0], [1, 4], means)
    race.words.counts[:] = 99
    drawn = np.zeros(5, np.uint64)
    counted, state = draw_twice(race, 4, stream_key(3), new_generators(), drawn)
    assert counted == state
    bits = (drawn[:4, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    assert np.array_equal(race.words.counts[:4], np.cumsum(bits, axis=1))
    assert race.words.counts[0, 63] > 40
    assert race.words.counts[3, 63] == 0
    assert (race.words.counts[4] == 99).all()
