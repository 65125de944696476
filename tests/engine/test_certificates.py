"""Certificates against what they say: walks, all of them or many, arm by arm; and how jumps share
a budget."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from races import draw_races, ranked_race, settled_ranks, widths

import rai_sim as rai
from rai_sim.engine import certificates
from rai_sim.engine.certificates import LONGEST, Race
from rai_sim.engine.jit import driver, exposed

# As Python can call them.
log_over_share, pair_budget, take_block = (
    exposed(certificates.log_over_share),
    exposed(certificates.pair_budget),
    exposed(certificates.take_block),
)
sure_rounds, longest_jump = exposed(certificates.sure_rounds), exposed(certificates.longest_jump)
projected_gap = exposed(certificates.projected_gap)

#: Of Vanilla's width.
SCALE = 1000.0


# --------------------------------------------------------------------------------------------------
# The constrained gap
# --------------------------------------------------------------------------------------------------


def test_an_arm_is_settled_exactly_if_the_constrained_gap_exceeds_the_width() -> None:
    """600 rankings with ties and empty clusters, every width between two gaps; infinite where one
    cluster holds all arms."""
    for sums, sizes in draw_races(1, 600):
        race, G = ranked_race(sums, sizes)
        assert math.isinf(G) == (max(sizes) == len(sums))
        assert race.constraints.number[0] <= 2 * len(sizes)
        for half in range(26):
            W = half / 2 + 0.25
            assert bool(settled_ranks(sums, sizes, W)) == (W < G), (sums, sizes, W)


def test_a_cluster_cut_elsewhere_looks_settled_too_soon() -> None:
    """Negative control: above the first arm of a middle cluster the gap that must stay within W is
    wider, and W = 7.5 lies below it while nobody is apart."""
    sums, sizes = [20.0, 18.0, 11.0, 10.0], [1, 2, 1]
    assert settled_ranks(sums, sizes, 7.5) == []
    assert ranked_race(sums, sizes)[1] < 7.5 < sums[1] - sums[3]


# --------------------------------------------------------------------------------------------------
# Bound 1
# --------------------------------------------------------------------------------------------------


def may_settle(sums: list[float], sizes: list[int], W: float, k: int) -> bool:
    """Whether rewards of 0 and 1 can settle an arm within k rounds in which W stays."""
    rounds = list(itertools.product((0, 1), repeat=len(sums)))
    for path in itertools.combinations_with_replacement(rounds, k):
        after = sorted((s + sum(r) for s, *r in zip(sums, *path, strict=True)), reverse=True)
        if settled_ranks(after, sizes, W):
            return True
    return False


@pytest.mark.parametrize(
    ("sums", "sizes"),
    [([9.0, 7.0, 4.0], [1, 2]), ([9.0, 5.0, 4.0], [1, 1, 1]), ([6.0, 6.0, 1.0], [2, 1])],
)
def test_sure_rounds_hold_no_event_whatever_the_rewards(
    sums: list[float], sizes: list[int]
) -> None:
    """All rewards of three arms are tried; negative control: the round after them may hold one."""
    G = ranked_race(sums, sizes)[1]
    for D in (0.5, 1.0, 1.5, 2.25):
        k = sure_rounds(D, 1.0)
        assert k == (0 if D == 1.0 else int(D))  # a hair is taken off for rounding
        assert not any(may_settle(sums, sizes, G + D, j) for j in range(1, k + 1))
        assert may_settle(sums, sizes, G + D, int(D) + 1)


def test_sure_rounds_of_other_spreads() -> None:
    """None of rewards without bounds or of sums that are no numbers; no event ever of constants."""
    assert sure_rounds(10.0, 3.0) == 3
    assert sure_rounds(10.0, math.inf) == sure_rounds(math.nan, 1.0) == sure_rounds(-1.0, 1.0) == 0
    assert sure_rounds(1e-300, 0.0) == sure_rounds(1e300, 1e-3) == int(LONGEST)


# --------------------------------------------------------------------------------------------------
# Bound 2
# --------------------------------------------------------------------------------------------------

SUMS, MEANS, SIZES, R = [2040.0, 2000.0, 1990.0, 1950.0], [0.6, 0.5, 0.45, 0.5], [1, 2, 1], 4000
#: 2 v ln(n (n - 1) / eps) of a jump that may hold an event with probability 0.2, v = 1/2.
LOOSE = math.log(4 * 3 / 0.2)


def drifting_race() -> tuple[Race, float]:
    """Return a race whose arms are drawn apart by their means, and D."""
    race, G = ranked_race(SUMS, SIZES, MEANS, SCALE)
    return race, float(widths(SCALE, R)) - G


def gaps_after(k: float) -> list[float]:
    """Return S_a - S_b + k (mu_a - mu_b) of the pairs that must stay within W: of constraint (x, y)
    those of an arm at x or later and one at y or before."""
    constraints = drifting_race()[0].constraints
    return [
        SUMS[a] - SUMS[b] + k * (MEANS[a] - MEANS[b])
        for x, y in zip(*(c[: constraints.number[0]] for c in constraints[:2]), strict=True)
        for a in range(x, 4)
        for b in range(y + 1)
        if a != b
    ]


def holds_an_event(rng: np.random.Generator, k: int) -> bool:
    """Whether an arm is settled within k rounds of a walk: apart from all of other clusters."""
    walk = SUMS + np.cumsum(rng.random((k, 4)) < MEANS, axis=0)
    ranked, cluster_of = -np.sort(-walk, axis=1), np.repeat(np.arange(len(SIZES)), SIZES)
    apart = abs(ranked[:, :, None] - ranked[:, None, :])
    apart[:, cluster_of[:, None] == cluster_of] = np.inf
    W = widths(SCALE, R + 1 + np.arange(k))
    return bool((apart.min(axis=2) > W[:, None]).any())


def test_projected_gaps_are_those_of_all_pairs() -> None:
    """Now and later, by arms' means."""
    race, _ = drifting_race()
    for k in (0.0, 1.0, 100.0, 5000.0):
        assert projected_gap(race, 4, k) == pytest.approx(max(gaps_after(k)))


def certified(k: int, budget: float) -> bool:
    """Whether bound 2 as it is stated certifies k rounds."""
    D = drifting_race()[1]
    D_k = float(widths(SCALE, R + k)) - max(gaps_after(k))
    return min(D_k, 2 * D) > 0 and min(D_k, 2 * D) ** 2 >= k * budget


@pytest.mark.parametrize("budget", [LOOSE, 30.0, 100.0])
def test_jumps_are_certified(budget: float) -> None:
    """By bound 2 as it is stated; negative control: a tenth more rounds are not."""
    race, D = drifting_race()
    k = longest_jump(race, 4, R, D, budget)
    assert k > 50
    assert certified(k, budget)
    assert not certified(k + k // 10, budget)


@pytest.mark.landing
def test_rounds_that_are_jumped_over_hold_an_event_as_rarely_as_was_said() -> None:
    """Not one in five of 400 walks of four arms; negative control: of those that go on twice as
    long most do."""
    race, D = drifting_race()
    k = longest_jump(race, 4, R, D, LOOSE)
    rng = np.random.default_rng(1)
    assert sum(holds_an_event(rng, k) for _ in range(400)) <= 80
    assert sum(holds_an_event(rng, 2 * k) for _ in range(50)) > 25


# --------------------------------------------------------------------------------------------------
# Budgets
# --------------------------------------------------------------------------------------------------


@driver
def shares(skip_error: float, out: NDArray[np.float64]) -> None:
    """Write the logarithms of the budget over the shares of jumps 1, 2, .."""
    for i in range(out.size):
        out[i] = certificates.log_over_share(skip_error, i + 1)


def test_jumps_share_the_budget() -> None:
    """A million jumps get between 99.9 % and all of it; a later jump never more than an earlier
    one."""
    logs = np.empty(2**20)
    shares(1e-12, logs)
    assert (np.diff(logs) >= 0.0).all()
    assert 0.999e-12 < math.fsum(np.exp(-logs)) <= 1e-12


def test_a_block_is_what_its_jumps_would_have_had() -> None:
    """The first one that begins after a jump; the next jump is behind it."""
    logs = np.empty(2**13)
    shares(1e-12, logs)
    for jump, first, last in ((0, 1024, 2047), (1023, 1024, 2047), (1024, 2048, 4095)):
        share, end = take_block(1e-12, jump)
        assert end == last
        assert share == pytest.approx(math.fsum(np.exp(-logs[first - 1 : last])), rel=1e-9)


def test_every_jump_draws_on_one_budget() -> None:
    """Round-robin pairs: what is left to chance, at 2 pairs an arm, is the jump's share."""
    law = rai.Bernoulli([0.5, 0.5]).kernel_law()
    for jump in (1, 1023, 1024, 5000):
        share = log_over_share(1e-9, jump)
        assert pair_budget(law, 2, 1e-9, jump) == pytest.approx(2 * 0.5 * (math.log(2.0) + share))
    assert pair_budget(law, 2, 0.0, 1) == math.inf
