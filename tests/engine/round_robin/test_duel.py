"""The last two arms' loop: its lines, walks and jumps against what they say, and runs with
certified jumps against runs without, the whole law of pulls.

False alarms of the latter: four comparisons by Kolmogorov and Smirnov's test and four of means, each at 1e-6:
with fresh seeds one in 1.2e5 runs of the file; the seeds are fixed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from races import ranked_race, widths
from scipy import stats

from rai_sim import Bernoulli, Categorical, Gaussian, Vanilla, best_arm, simulate
from rai_sim.arms.base import Arms
from rai_sim.engine.jit import exposed
from rai_sim.engine.round_robin import duel
from rai_sim.engine.round_robin.duel import Anchor, Chord
from rai_sim.engine.round_robin.leaps import Pair

# As Python can call them.
walk, jump = exposed(duel._walk), exposed(duel._jump)
renewed_anchor, renewed_chord = exposed(duel._renewed_anchor), exposed(duel._renewed_chord)
line = exposed(duel._line)


SCALE = 1000.0
LEVEL = 1e-6
REPLICATIONS = 5_000
VALUES = np.linspace(0.1, 1.0, 10)


def ten_levels(mean: float) -> NDArray[np.float64]:
    """Return probabilities of .1, .2, .. 1 with the given mean, by tilting them linearly."""
    tilt = (mean - 0.55) / float(((VALUES - 0.55) ** 2).sum())
    return 0.1 + tilt * (VALUES - 0.55)


def two_arms(kind: str, gap: float) -> Arms:
    """Return arms at 1/2 plus and minus half the gap."""
    means = [0.5 + gap / 2, 0.5 - gap / 2]
    if kind == "Categorical":
        return Categorical(VALUES, [ten_levels(mean) for mean in means])
    return Gaussian(means) if kind == "Gaussian" else Bernoulli(means)


def pulls(arms: Arms, seed: int, skip_error: float) -> NDArray[np.int64]:
    """Return the pulls of independent runs."""
    return simulate(
        best_arm(arms),
        Vanilla(),
        delta=0.01,
        replications=REPLICATIONS,
        seed=seed,
        skip_error=skip_error,
    ).pulls


def p_values(first: NDArray[Any], second: NDArray[Any]) -> tuple[float, float]:
    """Return the p-values of equal laws and of equal means."""
    return float(stats.ks_2samp(first, second).pvalue), float(
        stats.ttest_ind(first, second, equal_var=False).pvalue
    )


@pytest.mark.parametrize(
    ("kind", "gap"),
    [("Categorical", 0.1), ("Categorical", 0.05), ("Gaussian", 0.1), ("Bernoulli", 0.05)],
)
def test_certified_jumps_leave_the_law_alone(kind: str, gap: float) -> None:
    """5,000 runs with the default budget against 5,000 by the sure bound alone; Gaussians, without
    one, go round by round."""
    arms = two_arms(kind, gap)
    assert min(p_values(pulls(arms, 1, 1e-12), pulls(arms, 2, 0.0))) > LEVEL


def first_passage(words: NDArray[np.bool_], gap: float, R: int) -> int:
    """Return after how many of 64 rounds the first with |gap| > W comes, 64 if none, one by one."""
    gaps = gap + np.cumsum(words[0].astype(float) - words[1])
    over = np.flatnonzero(abs(gaps) > widths(SCALE, R + 1 + np.arange(64)))
    return int(over[0]) + 1 if over.size else 64


def as_words(bits: NDArray[np.bool_]) -> tuple[np.uint64, np.uint64]:
    """Return rows of 64 rewards as words, the first pull lowest."""
    packed = np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64)
    return packed[0, 0], packed[1, 0]


def test_a_walk_ends_in_the_first_round_beyond_the_width() -> None:
    """1,000 walks near the threshold, many of which leave it there and some on the other side,
    judged by chords that lie up to a quarter of a reward too low."""
    rng, sides = np.random.default_rng(1), []
    race, _ = ranked_race([0.0, 0.0], [1, 1], scale=SCALE)
    for _ in range(1000):
        R = int(10.0 ** rng.uniform(0.0, 4.0))
        W, W_end = widths(SCALE, np.array([R, R + 64]))
        gap = float(max(0.0, np.floor(W) - rng.integers(0, 20))) * rng.choice([-1, 1])
        bits = rng.random((2, 64)) < rng.choice([0.02, 0.5, 0.98], (2, 1))
        low = rng.uniform(0.0, 0.25)
        found = walk(race, as_words(bits), gap, R, W - low, (W_end - W) / 64)
        assert found == first_passage(bits, gap, R)
        end = gap + float(bits[0, :found].sum()) - float(bits[1, :found].sum())
        sides.append(0.0 if found == 64 else np.sign(gap) * np.sign(end))
    assert min(sides.count(-1.0), sides.count(0.0), sides.count(1.0)) >= 10


def certified(R: int, W: float, gap: float, drift: float, k: int, budget: float) -> bool:
    """Whether bound 2 as it is stated certifies k rounds after R."""
    if k == 0:
        return True
    D = W - abs(gap)
    D_k = float(widths(SCALE, R + k)) - max(gap + k * drift, -gap - k * drift)
    return bool(min(D_k, 2 * D) > 0 and min(D_k, 2 * D) ** 2 >= k * budget)


def test_jumps_are_certified() -> None:
    """300 of them by bound 2 as it is stated; negative control: of those of half the budget, and of
    those half as long again, most are not."""
    rng, said = np.random.default_rng(2), []
    for _ in range(300):
        R, budget = int(10.0 ** rng.uniform(3.0, 9.0)), rng.uniform(30.0, 200.0)
        W = float(widths(SCALE, R))
        gap, drift = W * rng.uniform(-0.9, 0.9), rng.choice([0.0, 1.0, 3.0]) * W / R
        k = jump(R, W, gap, drift, budget)
        half = jump(R, W, gap, drift, budget / 2)
        said.append([certified(R, W, gap, drift, j, budget) for j in (k, half, k + k // 2 + 1)])
    assert np.all(said, axis=0)[0]
    assert (np.mean(said, axis=0)[1:] < 0.25).all()


def test_lines_lie_below_the_width() -> None:
    """For 64 rounds from each of a thousand, a chord's and W's own where a gap crosses it; by half
    a reward at most. Negative control: from W itself a chord that begins lower runs above W."""
    race, _ = ranked_race([1.0, 0.0], [1, 1], [0.5, 0.5], SCALE)
    pair, above = Pair(0, 1, 0, 0.0), 0
    R = 2000
    anchor, chord = Anchor(0.0, 0.0, 0.0), Chord(R, R, 0.0, 0.0)
    while R < 3000:
        W = widths(SCALE, R + np.arange(65))
        gap = float(W[0]) - 0.05
        anchor = renewed_anchor(race, pair, anchor, R)
        chord = renewed_chord(race, anchor, chord, gap, R, 50.0)
        for at in (gap - 1.0, gap):
            start, slope = line(race, chord, at, R)
            below = W - (start + slope * np.arange(65))
            assert start >= at
            assert below.min() >= -1e-9
            assert below.max() < 0.5
        above += bool((W[0] + chord.rise * np.arange(65) > W + 1e-6).any())
        R += 7
    assert above > 20
