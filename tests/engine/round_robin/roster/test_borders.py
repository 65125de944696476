"""The sums beside borders, among those on duty, and their fences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from rosters import Watch, beside, watch

import rai_sim as rai
from rai_sim.engine.jit import exposed
from rai_sim.engine.round_robin.roster import borders
from rai_sim.engine.round_robin.roster.lists import FENCED, KNOWN_AT, LOOKS, ON, USUAL

find_among_all = exposed(borders.find_among_all)
find_between_fences = exposed(borders.find_between_fences)
first_fences, set_fences = exposed(borders.first_fences), exposed(borders.set_fences)
move_fences = exposed(borders.move_fences)


def let_rest(made: Watch, resting: np.ndarray, behind: np.ndarray) -> None:
    """Take arms off duty, each behind so many borders."""
    roster, N = made.roster, len(made.sums)
    on = np.flatnonzero(~resting)
    roster.cells[ON] = len(on)
    made.run.race.standings.order[: len(on)], roster.sums[: len(on)] = on, made.sums[on]
    roster.sums[len(on) : N] = np.nan  # not to be read
    roster.at_rest[:] = 0
    np.add.at(roster.at_rest, behind[resting], 1)


@pytest.mark.boundscheck
def test_sums_beside_borders_are_those_of_all() -> None:
    """100 rosters, ties and empty clusters among them, with all on duty, and with those who are away
    from all borders at rest."""
    rng = np.random.default_rng(1)
    for number in range(100):
        sizes = rng.integers(1, 40, int(rng.integers(2, 6))).tolist()
        sizes[int(rng.integers(1, len(sizes)))] *= int(rng.integers(2))
        if sum(size > 0 for size in sizes) < 2:
            continue
        N = sum(sizes)
        sums = rng.integers(0, 30, N) if number % 2 else 9.0 * rng.standard_normal(N)
        made = watch(rng, sizes, R=100, sums=sums)
        run, roster, edges = made.run, made.roster, beside(made.sums, made.cuts)
        find_among_all(roster, run)
        assert roster.beside[: len(edges)].tolist() == edges
        k = sum((made.sums < edges[2 * b]).astype(int) for b in range(len(made.cuts)))
        away = np.array([min(abs(s - e) for e in edges) > 1.0 for s in made.sums])
        let_rest(made, away & (rng.random(N) < 0.7), np.asarray(k))
        roster.beside[:] = np.nan
        roster.fences[::2], roster.fences[1::2] = math.inf, -math.inf
        assert find_between_fences(roster, run)
        assert roster.beside[: len(edges)].tolist() == edges
        roster.fences[: len(edges)] = edges  # on its fence is within
        roster.beside[:] = np.nan
        assert find_between_fences(roster, run)
        assert roster.beside[: len(edges)].tolist() == edges
        at = int(rng.integers(len(edges)))
        roster.fences[at] += 1e-9 if at % 2 else -1e-9
        assert not find_between_fences(roster, run)


def test_all_the_same_is_found() -> None:
    """Sums without a range."""
    made = watch(np.random.default_rng(1), [3, 4], R=10, sums=[4.0] * 7)
    find_among_all(made.roster, made.run)
    assert made.roster.beside[:2].tolist() == [4.0, 4.0]


def test_too_few_on_duty_are_told() -> None:
    """If all above a border rest, or all below."""
    made = watch(np.random.default_rng(1), [3, 4], R=10, sums=[7, 6, 5, 4, 3, 2, 1])
    roster = made.roster
    roster.fences[:2] = math.inf, -math.inf
    for resting, found in (([0, 1], True), ([0, 1, 2], False), ([3, 4, 5, 6], False), ([6], True)):
        away = np.isin(np.arange(7), resting)
        let_rest(made, away, (np.arange(7) > 2).astype(int))
        assert find_between_fences(roster, made.run) == found


@pytest.mark.slow
def test_fences_are_set_about_the_sums_and_rise_with_them() -> None:
    """At first four deviations away; as fast as the sums rose from the start, later as in the last third
    of the rounds."""
    made = watch(np.random.default_rng(1), [3, 4], R=200, arms=rai.Gaussian([0.5] * 7, sd=0.25))
    run, roster = made.run, made.roster
    first_fences(roster, run)
    roster.beside[:2] = 120.0, 90.0
    set_fences(roster, run, 200)
    assert roster.fences[:2] == pytest.approx([121.0, 89.0])
    assert roster.paces[:2].tolist() == [0.6, 0.45]
    move_fences(roster, 210)
    assert roster.fences[:2] == pytest.approx([127.0, 93.5])
    assert roster.cells[FENCED] == roster.cells[KNOWN_AT] == 200
    roster.beside[:2] = 155.0, 120.0
    set_fences(roster, run, 250)
    assert roster.paces[:2].tolist() == [0.6, 0.45]
    roster.beside[:2] = 190.0, 140.0
    set_fences(roster, run, 300)
    assert roster.paces[:2] == pytest.approx([0.7, 0.5])


def test_margins_follow_how_long_fences_held() -> None:
    """Wider where a sum left its fence before four looks at an arm, narrower if none did; never too
    narrow."""
    made = watch(np.random.default_rng(1), [30, 40], R=200)
    run, roster = made.run, made.roster
    first_fences(roster, run)
    roster.beside[:2] = 100.0, 99.0
    set_fences(roster, run, 200)
    assert roster.margins[:2].tolist() == [2.0, 2.0]
    roster.cells[LOOKS], roster.beside[:2] = 100, (103.0, 99.0)
    set_fences(roster, run, 220)
    assert roster.margins[:2].tolist() == [3.0, 2.0]
    assert roster.cells[[LOOKS, USUAL]].tolist() == [0, 5]
    roster.cells[LOOKS] = 280
    set_fences(roster, run, 240)
    assert roster.margins[:2] == pytest.approx([2.4, 1.6])
    for R in range(241, 300):
        roster.cells[LOOKS] = 1000
        set_fences(roster, run, R)
    assert roster.margins[:2] == pytest.approx([0.1, 0.1])


@pytest.mark.slow
@pytest.mark.parametrize("arms", ["replayed", "sure"])
def test_there_are_no_fences_where_nothing_is_left_to_chance(arms: str) -> None:
    """For a recording, or without an error."""
    rewards = rai.Recorded(np.ones((7, 10)))
    made = (
        watch(np.random.default_rng(1), [3, 4], R=10, arms=rewards)
        if arms == "replayed"
        else watch(np.random.default_rng(1), [3, 4], R=10, skip_error=0.0)
    )
    first_fences(made.roster, made.run)
    made.roster.beside[:2] = 9.0, 8.0
    set_fences(made.roster, made.run, 10)
    move_fences(made.roster, 12)
    assert made.roster.fences[:2].tolist() == [math.inf, -math.inf]
