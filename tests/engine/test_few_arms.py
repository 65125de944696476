"""Words of up to sixteen arms against the same words as those of many arms are looked at."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from races import constrained, draw_races, ranked_race

from rai_sim.engine.certificates import Race
from rai_sim.engine.few_arms import lay_out as lay_out_
from rai_sim.engine.jit import exposed
from rai_sim.engine.sum_vectors import ARMS
from rai_sim.engine.words import advance as advance_
from rai_sim.engine.words import count_words as count_words_
from rai_sim.engine.words import first_suspect as first_suspect_

advance, count_words = exposed(advance_), exposed(count_words_)
first_suspect, lay_out = exposed(first_suspect_), exposed(lay_out_)


def draw_words(seed: int, count: int, apart: float) -> Iterator[tuple[Race, Race, list[int]]]:
    """Draw races at the beginning of equal words, twice each: as few arms, and as if they were
    many; every third has an arm with 64 rewards and one without."""
    rng = np.random.default_rng(seed)
    for i, (sums, sizes) in enumerate(draw_races(seed, count, most_arms=ARMS)):
        N, stretch = len(sums), rng.choice([0.2, 1.0, 3.0])
        spread_out = [apart + np.floor(s * stretch) for s in sums]
        bits = rng.integers(0, 2**63, N).astype(np.uint64) << np.uint64(1)
        bits &= rng.integers(0, 2**63, N).astype(np.uint64) | np.uint64(2**63)
        if i % 3 == 0:
            bits[rng.permutation(N)[:2]] = 0, 2**64 - 1
        few, many = (ranked_race(spread_out, sizes)[0] for _ in range(2))
        for race in (few, many):
            race.words.bits[:N] = bits
            lay_out(race.words.few, race.standings, N)
            count_words(race.words, race.standings.order, N)
        many.words.few.active[0] = 0
        yield few, many, sizes


def ranking(race: Race, n: int) -> tuple[list[int], list[float]]:
    """Return labels and sums of the first n ranks."""
    return race.standings.order[:n].tolist(), race.standings.total[:n].tolist()


def settle(race: Race, gone: NDArray[np.int64], n: int) -> None:
    """Take ranks out of a ranking."""
    for numbers in (race.standings.order, race.standings.total):
        numbers[: n - gone.size] = np.delete(numbers[:n], gone)


@pytest.mark.parametrize("apart", [0.0, 1e9, 2.0**40])
def test_few_arms_are_looked_at_as_many_are(apart: float) -> None:
    """Looks at 600 words, between which arms are settled: the same suspects, of which some are
    found and some not, and the same rankings and sums."""
    rng, found = np.random.default_rng(7), []
    for few, many, sizes in draw_words(11, 600, apart):
        n, j = sum(sizes), 0
        assert few.words.few.active[0] == n
        while j < 64 and n > 1:
            at_once = min(int(rng.integers(1, 40)), 64 - j)
            open_sizes = np.array([n // 2, n - n // 2])
            G = [constrained(r.constraints, r.standings.total, open_sizes, n) for r in (few, many)]
            W = max(G[0], 0.0) + rng.uniform(0.0, 25.0)
            said = [first_suspect(r, n, j, W, W + 5.0) for r in (few, many)]
            assert said[0] == said[1]
            found.append(said[0] < 64)
            for race in (few, many):
                advance(race, n, j, j + at_once)
            assert ranking(few, n) == ranking(many, n)
            gone = np.flatnonzero(rng.random(n) < 0.1)
            for race in (few, many):
                settle(race, gone, n)
            n, j = n - gone.size, j + at_once
    assert 0.1 < np.mean(found) < 0.9


def test_arms_that_are_too_many_or_too_far_apart_have_no_lanes() -> None:
    """Seventeen arms, or sums of which keys would be no longer 32 bits; then they are looked at as
    many are."""
    for sums, lanes in (
        ([2.0**24 - 1.0, 0.0], 2),
        ([2.0**24, 0.0], 0),
        ([1.0] * 16, 16),
        ([1.0] * 17, 0),
    ):
        race, _ = ranked_race(sums, [1, len(sums) - 1])
        race.words.bits[:] = 0
        race.words.bits[1] = 2**64 - 1
        lay_out(race.words.few, race.standings, len(sums))
        count_words(race.words, race.standings.order, len(sums))
        assert race.words.few.active[0] == lanes
        advance(race, len(sums), 0, 64)
        after = np.array([sums[0], sums[1] + 64.0, *sums[2:]])
        labels = sorted(range(len(sums)), key=lambda label: (-after[label], label))
        assert ranking(race, len(sums)) == (labels, after[labels].tolist())
