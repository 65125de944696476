"""Leaps of the last two arms: the bound on bridges against exact probabilities, and whole runs against
the literal loop, path by path, ordinary leaps and longer ones that have to be cut again and again.

No false alarms but those of `skip_error`, 1e-12 a replication, and of one comparison by Kolmogorov and
Smirnov's test at 1e-6; its seeds are fixed.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from mutants import Changed, Edit, Set, Trial, pathwise_findings_of_mutant
from numpy.typing import NDArray
from pathwise import misses, two_arms
from races import ranked_race
from scipy import stats
from statistics_checks import LEVEL

import rai_sim as rai
from rai_sim import Bernoulli, Categorical, Gaussian, Recorded, Vanilla
from rai_sim.algorithms.vanilla.widths import VanillaSchedule, paper, schedule_of
from rai_sim.arms.base import Arms
from rai_sim.engine.certificates import Race
from rai_sim.engine.jit import driver, exposed
from rai_sim.engine.round_robin import leaps

touched = exposed(leaps.touched)
#: Numba reads functions from a module's globals.
budget_of = leaps.leap_budget
MIXTURE = schedule_of("mixture", 2, 1, 0.01, 30)


def bound(K: int, W: float, gap: float, W_end: float, gap_end: float, v: float = 0.5) -> float:
    """Return what kernels are told; of rewards 0 and 1 unless said."""
    return touched(v, W, gap, W_end, gap_end, K)


def probability(K: int, ones: tuple[int, int], W: float, gap: float, W_end: float) -> float:
    """Return the probability that |gap| exceeds the chord of W in a round between, K rewards 0 and 1
    of two arms that add up to `ones` being in any order: by counting those that stay within."""
    a, b = (np.arange(n + 1) for n in ones)
    ways = np.zeros((len(a), len(b)))
    ways[0, 0] = 1.0
    for j in range(1, K + 1):
        ways[1:] += ways[:-1].copy()
        ways[:, 1:] += ways[:, :-1].copy()
        # an arm with too few rewards left, or too many, cannot end as it should
        ways[(j - a > K - ones[0]) | (a > j), :] = 0.0
        ways[:, (j - b > K - ones[1]) | (b > j)] = 0.0
        if j < K:
            level = W + (W_end - W) * j / K
            ways[abs(gap + a[:, None] - b) > level] = 0.0
    return 1.0 - float(ways[-1, -1]) / (math.comb(K, ones[0]) * math.comb(K, ones[1]))


def cases() -> list[tuple[int, tuple[int, int], float, float, float]]:
    """Draw bridges of which something is known, and that can leave."""
    rng, drawn = np.random.default_rng(1), list[tuple[int, tuple[int, int], float, float, float]]()
    while len(drawn) < 300:
        K = int(rng.integers(2, 60))
        share = rng.choice([0.1, 0.5, 0.5, 0.9])
        ones = (int(rng.binomial(K, share)), int(rng.binomial(K, share)))
        W, gap = rng.uniform(1.0, 10.0), rng.uniform(-9.0, 9.0)
        W_end = W + K * rng.choice([0.0, 0.05, 0.2])
        if abs(gap) < W and abs(gap + ones[0] - ones[1]) < W_end:
            drawn.append((K, ones, W, gap, W_end))
    return drawn


def test_bridges_leave_no_more_often_than_was_said() -> None:
    """300 bridges of rewards 0 and 1, exactly. Negative control: with half of the proxy many do."""
    exact, said, halved = [], [], []
    for K, ones, W, gap, W_end in cases():
        gap_end = gap + ones[0] - ones[1]
        exact.append(probability(K, ones, W, gap, W_end))
        said.append(bound(K, W, gap, W_end, gap_end))
        halved.append(bound(K, W, gap, W_end, gap_end, 0.25))
    left = np.array(exact)
    assert (left <= np.array(said) + 1e-12).all()
    assert ((left > 1e-9) & (np.array(said) < 0.5)).sum() > 20
    assert (left > np.array(halved) + 1e-12).sum() > 5


def test_what_is_known_of_a_bridge() -> None:
    """Nothing lies between a round and the next; nothing is known if an end lies on W, or beyond, or is
    no number; the nearer side counts."""
    assert bound(1, 5.0, 9.0, 5.0, 9.0) == 0.0
    for gap, gap_end in ((5.0, 0.0), (0.0, 5.0), (-6.0, 0.0), (0.0, math.nan), (math.inf, 0.0)):
        assert bound(9, 5.0, gap, 5.0, gap_end) == math.inf
    near = bound(99, 20.0, 5.0, 20.0, 9.0)
    assert near == bound(99, 20.0, -5.0, 20.0, -9.0)
    one, other = (
        math.exp(-2.0 * product * 98.0 / (0.5 * 99.0 * 100.0))
        for product in (15.0 * 11.0, 25.0 * 29.0)
    )
    assert near == pytest.approx(2.0 * one * (1.0 + one))
    assert near > 2.0 * (one + other)
    assert bound(99, 20.0, 1.0, 20.0, -1.0) == pytest.approx(
        4.0 * math.exp(-2.0 * 19.0 * 21.0 * 98.0 / (0.5 * 99.0 * 100.0))
    )


TERNARY = Categorical([0.0, 1.0, 2.0], [[0.3, 0.3, 0.4]] * 2)
RECORDED = Recorded([[0.0, 1.0], [1.0, 0.0]])


@pytest.mark.parametrize(
    ("arms", "schedule", "skip_error", "leaps_made"),
    [
        (Bernoulli([0.5, 0.4]), MIXTURE, 1e-12, True),
        pytest.param(Gaussian([0.5, 0.4]), MIXTURE, 1e-12, True, marks=pytest.mark.slow),
        (Bernoulli([0.5, 0.4]), paper(1000.0), 1e-12, False),  # its numbers are frozen
        (Bernoulli([0.5, 0.4]), MIXTURE, 0.0, False),  # nothing may be left to chance
        (Bernoulli([0.001, 0.002]), MIXTURE, 1e-12, False),  # jumps beforehand are as long
        (Bernoulli([0.5, 1e-5]), MIXTURE, 1e-12, False),  # no words near W
        pytest.param(TERNARY, MIXTURE, 1e-12, False, marks=pytest.mark.slow),
        pytest.param(RECORDED, MIXTURE, 1e-12, False, marks=pytest.mark.slow),
    ],
    ids=str,
)
@pytest.mark.parametrize("jumps", [0, 2000])
def test_who_leaps(
    arms: Arms, schedule: VanillaSchedule, skip_error: float, leaps_made: bool, jumps: int
) -> None:
    """And with what budget: of the block after the jumps that are made."""
    block = (0.25, 2047) if jumps == 0 else (0.125, 4095)
    budget, last = leap_budget(arms, schedule, skip_error, jumps)
    assert (budget, last) == ((block[0] * 1e-12, block[1]) if leaps_made else (0.0, jumps))


@driver
def looked_at(race: Race, skip_error: float, jumps: int) -> tuple[float, int]:
    """Return what kernels are told."""
    return budget_of(race, skip_error, jumps)


def leap_budget(
    arms: Arms, schedule: VanillaSchedule, skip_error: float, jumps: int
) -> tuple[float, int]:
    """Ask a kernel."""
    race, _ = ranked_race([1.0, 0.0], [1, 1])
    return looked_at(race._replace(law=arms.kernel_law(), schedule=schedule), skip_error, jumps)


#: Gaps at which leaps make most of the rounds: replications by path take milliseconds each.
LEAPT: tuple[Trial, ...] = (
    (Vanilla(width="mixture"), two_arms("words", 0.5, 0.02, 0.01), 11, 150, {}),
    (Vanilla(width="mixture"), two_arms("words", 0.8, 0.02, 0.1), 11, 150, {}),
    (Vanilla(width="stitched"), two_arms("words", 0.5, 0.02, 0.01), 11, 150, {}),
)


@pytest.mark.slow
def test_leaps_miss_nothing() -> None:
    """450 replications, path by path. Negative control: a budget that allows for all."""
    assert [misses(*trial[:4]).number for trial in LEAPT] == [0, 0, 0]
    assert misses(*LEAPT[0][:4], skip_error=100.0).number >= 5


@pytest.mark.slow
def test_arms_pulls_and_caps() -> None:
    """What traces tell of 30 replications, and 60 that a cap ends in the middle of leaps."""
    algorithm, task = LEAPT[0][:2]
    assert misses(algorithm, task, 11, 30, traced=True).number == 0
    for cap in (5_000, 20_001):
        assert misses(algorithm, task, 11, 30, max_pulls=cap).number == 0


#: Leaps that begin nearer to W and are some ten times as long, most of which have to be cut.
LONGER: tuple[Edit, ...] = (
    Set("engine/round_robin/leaps.py", "_ALLOWED_FOR", "-7.0"),
    Set("engine/round_robin/leaps.py", "_NEAR", "10.0"),
)
#: Faults that show in such leaps: events at the ends of a leap's parts are not looked for; the bound of
#: one side stands for both.
FAULTS: dict[str, Edit] = {
    "events in a leap": Changed(
        "engine/round_robin/leaps.py",
        "_bisect",
        "top >= 0 and abs(sums[0] - sums[1]) <= W",
        "top >= 0",
    ),
    "one side": Changed(
        "engine/round_robin/leaps.py",
        "touched",
        "nearer = min(below, above)",
        "nearer = above",
    ),
}


@pytest.mark.slow
def test_leaps_that_are_cut_miss_nothing(tmp_path: Path) -> None:
    """450 replications, most of whose leaps are cut, some down to single rounds."""
    missed, _ = pathwise_findings_of_mutant(tmp_path, LONGER, LEAPT)
    assert missed == [0, 0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_found(fault: str, tmp_path: Path) -> None:
    """Negative controls of the test above."""
    missed, _ = pathwise_findings_of_mutant(tmp_path, [*LONGER, FAULTS[fault]], LEAPT)
    assert sum(missed) >= 5


def pulls(arms: Arms, seed: int, skip_error: float, replications: int) -> NDArray[np.int64]:
    """Return the pulls of independent runs."""
    return rai.simulate(
        rai.best_arm(arms),
        Vanilla(width="mixture"),
        delta=0.01,
        replications=replications,
        seed=seed,
        skip_error=skip_error,
    ).pulls


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Gaussian, Bernoulli])
def test_leaps_leave_the_law_alone(kind: type[Gaussian] | type[Bernoulli]) -> None:
    """5,000 runs against 5,000 without leaps. Negative control: a gap that is larger by a tenth."""
    arms, wrong = kind([0.525, 0.475]), kind([0.5275, 0.4725])
    ours, others = pulls(arms, 1, 1e-12, 5_000), pulls(arms, 2, 0.0, 5_000)
    assert stats.ks_2samp(ours, others).pvalue > 1e-6
    assert stats.ks_2samp(pulls(wrong, 3, 1e-12, 5_000), others).pvalue < LEVEL
