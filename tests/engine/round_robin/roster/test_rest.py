"""For how many rounds arms may be left alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
from rosters import beside, watch

import rai_sim as rai
from rai_sim.engine.jit import exposed
from rai_sim.engine.round_robin.roster import rest
from rai_sim.engine.round_robin.roster.lists import JUMP, SHARERS
from rai_sim.engine.round_robin.roster.rest import Reach
from rai_sim.engine.round_robin.run import width

reach_in, rest_budget = exposed(rest.reach_in), exposed(rest.rest_budget)
rounds_of_rest, width_of = exposed(rest.rounds_of_rest), exposed(width)


def test_a_rest_takes_its_share_of_a_jumps_share() -> None:
    """By the formula, for the arms that share it; nothing where nothing may be left to chance."""
    made = watch(np.random.default_rng(1), [20, 30], R=300, arms=rai.Gaussian([0.5] * 50, sd=0.3))
    made.roster.cells[[SHARERS, JUMP]] = 70, 3
    share = math.log(3.0 * 70 * 300 * 301) + 11.0 * math.log(2.0) + 12.0 * math.log(10.0)
    assert rest_budget(made.run, 300) == pytest.approx(2.0 * 0.09 * share)
    made.roster.cells[JUMP] = 1024
    assert rest_budget(made.run, 300) == pytest.approx(2.0 * 0.09 * (share + math.log(2.0)))
    reach = reach_in(made.run, 300)
    assert reach.W == reach.far == width_of(made.run, 300)
    assert reach.spread == math.inf
    assert reach.least == pytest.approx(0.5 * math.sqrt(reach.budget))
    assert (
        rest_budget(watch(np.random.default_rng(1), [2, 3], R=9, skip_error=0.0).run, 9) == math.inf
    )


def longest(holds: list[bool]) -> int:
    """Return for how many rounds a condition holds, from the first on."""
    return holds.index(False) if False in holds else len(holds)


@pytest.mark.parametrize("spread", [1.0, math.inf])
@pytest.mark.parametrize("budget", [6.0, math.inf])
def test_rounds_are_those_that_are_certified(spread: float, budget: float) -> None:
    """600 arms of three clusters: the condition that holds for the fewest rounds, the better of two
    sides for the one of being settled, each by the sure bound or up to an error; by the definition,
    round by round, but for the last round of all, which rounding may take."""
    rng, R = np.random.default_rng(int(min(spread, 2.0) + min(budget, 9.0))), 2000
    made = watch(rng, [200, 250, 150], R=R)
    roster = made.roster
    means = rng.permutation(np.linspace(0.9, 0.1, 600)) * 0.1 + 0.45
    sums = 1000.0 + 40.0 * rng.standard_normal(600)
    edges = beside(sums, made.cuts)
    roster.beside[:4] = edges
    roster.fences[:4] = [edges[0] + 2.0, edges[1] - 3.0, edges[2] + 1.0, edges[3] - 2.0]
    roster.paces[:4] = [0.5, 0.49, 0.5, 0.52]
    W = 60.0
    reach = Reach(W, spread, 1100.0, budget, 0.5 * math.sqrt(budget))
    k_of = [sum(bool(s < edges[2 * b]) for b in range(2)) for s in sums]
    most, seen = 400, set()
    steps = np.arange(1, most + 1)

    def held(D: float, line: float, slope: float) -> int:
        sure = longest((steps * spread < D * (1.0 - 1e-12)).tolist())
        if line <= 0.0 or budget == math.inf:
            return sure
        far = np.minimum(line - steps * slope, 2.0 * line)
        return max(sure, longest(((far > 0.0) & (far**2 >= steps * budget)).tolist()))

    for x in range(600):
        s, k, mean = sums[x], k_of[x], float(means[x])
        sides, unclear = [], []
        if k > 0:
            up, fence, pace = edges[2 * k - 1], roster.fences[2 * k - 1], roster.paces[2 * k - 1]
            sides.append(held(up - s, fence - s, mean - pace))
            u, fence, pace = edges[2 * k - 2], roster.fences[2 * k - 2], roster.paces[2 * k - 2]
            unclear.append(held(W - (u - s), s - fence + W, pace - mean))
        if k < 2:
            u, fence, pace = edges[2 * k], roster.fences[2 * k], roster.paces[2 * k]
            sides.append(held(s - u, s - fence, pace - mean))
            low, fence, pace = edges[2 * k + 1], roster.fences[2 * k + 1], roster.paces[2 * k + 1]
            unclear.append(held(W - (s - low), fence - s + W, mean - pace))
        expected = min(*sides, max(unclear))
        mine = min(max(int(rounds_of_rest(roster, 2, k, s, mean, reach)), 0), most)
        assert expected - 1 <= mine <= expected
        seen.add((k, mine > 0, min(sides) > max(unclear)))
    certain = budget == spread == math.inf
    assert {k for k, some, _ in seen if some} == (set() if certain else {0, 1, 2})
    if not certain:
        assert {(0, True, True), (0, True, False), (1, True, False)} <= seen


def test_who_may_be_settled_at_once_does_not_rest() -> None:
    """On the edge of a zone, on a border, or in a lone cluster."""
    made = watch(np.random.default_rng(1), [2, 2], R=100, arms=rai.Gaussian([0.5] * 4))
    roster, reach = made.roster, Reach(10.0, 1.0, 60.0, math.inf, math.inf)
    roster.beside[:2], roster.fences[:2] = (50.0, 48.0), (math.inf, -math.inf)
    for sum_, rounds in ((58.0, 0), (57.9, 0), (56.5, 1), (50.0, 0), (53.0, 2), (51.9, 1)):
        assert int(rounds_of_rest(roster, 1, 0, sum_, 0.5, reach)) == rounds
    assert rounds_of_rest(roster, 0, 0, 70.0, 0.5, reach) == 0.0


def test_rounding_is_allowed_for() -> None:
    """Sums so large that their last places are longer than the rewards may do anything."""
    made = watch(np.random.default_rng(1), [2, 2], R=100)
    roster = made.roster
    roster.beside[:2], roster.fences[:2] = (1e15, 1e15), (math.inf, -math.inf)
    sure = Reach(1e3, 1.0, 1e15, math.inf, math.inf)
    assert 10.0 < rounds_of_rest(roster, 1, 0, 1e15 + 100.0, 0.5, sure) < 30.0
    assert rounds_of_rest(roster, 1, 0, 1e15 + 3.0, 0.5, sure) < 1.0
