"""What a replication of LUCB is given: its clock, and for how many rounds cap and recording
suffice."""

import numpy as np
import pytest
from standings import draw, draw_any, run_of

from rai_sim.algorithms.lucb import run as runs
from rai_sim.algorithms.lucb.run import (
    KNOWN,
    LOG_TERM,
    MISSING,
    MOST,
    NATS,
    PICKS,
    PULLS,
    RANKED,
    SAME,
    UNTIL,
    WORTH,
    Run,
    new_clock,
    new_terms,
)
from rai_sim.engine.faults import MOST_PULLS, NONE, TOO_MANY_PULLS
from rai_sim.engine.jit import exposed

affordable, rounds_left = exposed(runs.affordable), exposed(runs.rounds_left)
count_same, start_clock = exposed(runs.count_same), exposed(runs.start_clock)


def rounds_one_by_one(run: Run) -> int:
    """Return how many rounds like this one can be made."""
    clock, rounds = run.clock, 0
    pulls, taken = int(clock[PULLS]), run.ranking.taken[run.ranking.picks[: clock[PICKS]]].copy()
    while pulls + taken.size <= clock[MOST] and taken.max() < run.law.available:
        pulls, taken, rounds = pulls + taken.size, taken + 1, rounds + 1
    return rounds


def test_cells_are_apart() -> None:
    """Each cell of the clock has a number of its own, and there is room for all."""
    names = ["ROUND", "PULLS", "MOST", "MISSING", "RANKED", "COLD", "PICKS"]
    names += ["JUMPS", "SUITED", "SAME", "KNOWN", "CERTIFIED"]
    assert sorted(getattr(runs, name) for name in names) == list(range(new_clock().size))
    assert sorted([LOG_TERM, WORTH, NATS, UNTIL]) == list(range(new_terms().size))


@pytest.mark.parametrize("cap", [-1, 0, 1_000])
def test_the_clock_starts_when_every_arm_was_pulled_once(cap: int) -> None:
    """Whatever it showed; without a cap there may be as many pulls as can be counted."""
    run = run_of(draw_any(np.random.default_rng(1)), max_pulls=cap)
    n = run.ranking.order.size
    run.clock[:] = 7
    start_clock(run, 2)
    started = {PULLS: n, RANKED: n, MISSING: 2, MOST: MOST_PULLS if cap < 0 else cap}
    assert {int(cell): int(run.clock[cell]) for cell in np.flatnonzero(run.clock)} == {
        cell: value for cell, value in started.items() if value
    }
    assert run.terms[WORTH] == runs.WORTH_A_STRETCH


def test_rounds_that_are_left() -> None:
    """300 standings, counted one by one: the cap decides, or the arm that has most pulls behind
    it."""
    rng, by_cap = np.random.default_rng(2), 0
    for _ in range(300):
        standing = draw_any(rng, more=int(rng.integers(1, 200)))
        run = run_of(standing, max_pulls=int(standing.taken.sum() + rng.integers(300)))
        picks = rng.permutation(standing.taken.size)[: rng.integers(1, standing.taken.size + 1)]
        run.clock[PICKS] = picks.size
        run.ranking.picks[: picks.size] = picks
        left = rounds_left(run)
        assert left == rounds_one_by_one(run)
        by_cap += left == (run.clock[MOST] - run.clock[PULLS]) // picks.size
    assert 50 < by_cap < 250


def test_counts_that_no_double_holds() -> None:
    """2^62 - 1 pulls more are 2^62 - 1, not 2^62 as a double would have it; an endless law does not
    end before."""
    run = run_of(draw_any(np.random.default_rng(3)))
    run = run._replace(law=run.law._replace(available=MOST_PULLS))
    run.clock[PULLS], run.clock[MOST], run.clock[PICKS] = 0, MOST_PULLS - 1, 1
    run.ranking.picks[0] = 0
    run.ranking.taken[0] = 0.0
    assert rounds_left(run) == MOST_PULLS - 1


def test_what_the_cap_pays_for() -> None:
    """A round of three pulls if three are left; without a cap of the caller's the end is a
    fault."""
    for cap, left, pays, fault in (
        (100, 3, True, NONE),
        (100, 2, False, NONE),
        (-1, 3, True, NONE),
        (-1, 2, False, TOO_MANY_PULLS),
    ):
        run = run_of(draw(np.random.default_rng(1), (1, 3), (1, 0)), max_pulls=cap)
        run.clock[PICKS], run.clock[PULLS] = 3, run.clock[MOST] - left
        assert affordable(run) is pays
        assert run.fault[0] == fault


def test_rounds_with_the_same_picks_are_counted() -> None:
    """In any order and at any ranks; other picks and settled arms begin anew, picks that are made
    to count as known do not."""
    run = run_of(draw(np.random.default_rng(1), (1, 3), (1, 0)))
    s, clock = run.ranking, run.clock
    counts: list[int] = []
    clock[KNOWN] = -1
    for arms, settled, forget in (
        ([0, 2], 0, False),
        ([2, 0], 0, False),
        ([0, 1], 0, False),
        ([0, 1], 0, False),
        ([0, 1], 1, False),
        ([0, 1, 3], 0, True),
    ):
        s.order[:] = np.random.default_rng(len(counts)).permutation(4)
        clock[PICKS] = len(arms)
        s.picks[: len(arms)] = [s.order.tolist().index(arm) for arm in arms]
        if forget:
            clock[KNOWN] = -1
        count_same(run, settled)
        counts.append(int(clock[SAME]))
    assert counts == [1, 2, 0, 1, 0, 1]
