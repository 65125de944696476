"""How long picks stay in corridors: words walked bit by bit, and what certificates promise."""

import math

import numpy as np
import pytest

import rai_sim as rai
from rai_sim.algorithms.lucb import corridor_walk
from rai_sim.engine import certificates
from rai_sim.engine.jit import exposed

first_exit, longest_stay = exposed(corridor_walk.first_exit), exposed(corridor_walk.longest_stay)
exit_budget, log_over_share = (
    exposed(corridor_walk.exit_budget),
    exposed(certificates.log_over_share),
)


def exit_bit_by_bit(
    word: int, mean: float, at: float, up: float, down: float, most: int, slack: float = 0.0
) -> int:
    """Return the first pull after which X is at a wall, or less than a slack beyond it."""
    for j in range(1, most + 1):
        x = at + (word & ((1 << j) - 1)).bit_count() - j * mean
        if x >= up + slack or x <= -down - slack:
            return j
    return most


@pytest.mark.parametrize("mean", [0.0, 0.03, 0.5, 0.9, 1.0])
def test_first_exits(mean: float) -> None:
    """2,000 words of ones and zeros as the mean has them: the first pull at a wall, but for walls
    met up to rounding; walls half a reward off are noticed."""
    rng, early, moved = np.random.default_rng(1), 0, 0
    for _ in range(2_000):
        bits = rng.random(64) < mean + rng.uniform(-0.3, 0.3)
        word, most = sum(1 << j for j in range(64) if bits[j]), int(rng.integers(1, 65))
        up, down = rng.uniform(0.01, 8.0, 2)
        at = float(rng.uniform(-down, up))
        found = first_exit(np.uint64(word), mean, at, up, down, most)
        nearly = [exit_bit_by_bit(word, mean, at, up, down, most, s) for s in (-1e-9, 1e-9)]
        assert nearly[0] <= found <= nearly[1]
        early += found < most
        moved += found > exit_bit_by_bit(word, mean, at, up, down, most, -0.5)
    assert early > 300
    assert moved > 100


def test_a_wall_met_exactly_is_reached() -> None:
    """Three ones less three halves are 1.5."""
    assert first_exit(np.uint64(0b0111), 0.5, 0.0, 1.5, 9.0, 64) == 3
    assert first_exit(np.uint64(0b0111), 0.5, 0.0, 1.75, 9.0, 4) == 4
    assert first_exit(np.uint64(0), 0.5, 0.0, 9.0, 1.5, 64) == 3
    assert first_exit(np.uint64(0), 0.5, 0.25, 9.0, 1.5, 64) == 4


def fits(k: float, H: float, drift: float, budget: float) -> bool:
    """Whether min(H - k drift, 2 H)^2 >= k budget, a wall that comes nearer not having passed."""
    room = min(H - k * drift, 2.0 * H)
    return room > 0.0 and room * room >= k * budget


def test_longest_stays() -> None:
    """10,000 walls: what is promised fits, and, unless the wall recedes, a thousandth more does
    not."""
    rng = np.random.default_rng(2)
    for _ in range(10_000):
        H, budget = math.exp(rng.uniform(-3.0, 9.0)), math.exp(rng.uniform(-2.0, 4.0))
        drift = float(rng.choice([-1.0, 0.0, 1.0])) * math.exp(rng.uniform(-12.0, 0.0))
        k = longest_stay(H, drift, budget)
        assert k > 0.0
        assert fits(k * (1.0 - 1e-9), H, drift, budget)
        assert drift < 0.0 or not fits(k * 1.001, H, drift, budget)
    assert longest_stay(1.0, 0.0, math.inf) == 0.0


@pytest.mark.landing
def test_a_stay_errs_no_more_than_its_share() -> None:
    """One wall, share 0.05: of 40,000 walks of fair rewards up to 2,500 may leave within the stay,
    and within one four times as long more do.

    The bound exceeds the true probability by so much that chance plays no part.
    """
    share, H = 0.05, 12.0
    k = int(longest_stay(H, 0.0, 2.0 * 0.25 * -math.log(share)))
    steps = np.random.default_rng(3).random((40_000, 4 * k)) < 0.5
    walks = np.cumsum(steps - 0.5, axis=1, dtype=np.float32)
    left = [int((walks[:, :length] >= H).any(axis=1).sum()) for length in (k, 4 * k)]
    assert 200 < left[0] <= share * 40_000 < left[1]


def test_walls_draw_on_the_budget_of_all_jumps() -> None:
    """What is left to chance, at two walls a pick, is the jump's share; nothing if nothing may
    be."""
    law = rai.Bernoulli([0.5, 0.5]).kernel_law()
    for jump in (1, 1023, 1024, 5000):
        share = log_over_share(1e-9, jump)
        assert exit_budget(law, 3, 1e-9, jump) == pytest.approx(2 * 0.25 * (math.log(6.0) + share))
    assert exit_budget(law, 2, 0.0, 1) == math.inf
