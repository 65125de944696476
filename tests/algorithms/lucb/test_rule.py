"""A round of LUCB on the ranking against the plain twin, from random standings."""

import dataclasses

import numpy as np
import pytest
from standings import Judged, Standing, Twin, draw_any, judge, run_of

from rai_sim.algorithms.lucb import rule
from rai_sim.algorithms.lucb.run import Run
from rai_sim.engine.jit import exposed

close_ranks, mend = exposed(rule.close_ranks), exposed(rule.mend)


def judged(standing: Standing) -> tuple[Judged, Run]:
    """Judge a round and close ranks over whom it settled, as the loop does."""
    run = run_of(standing)
    s, n = run.ranking, len(standing.taken)
    settled, supplied, picks = judge(run)
    gone = frozenset(s.order[s.settled].tolist())
    left = [a for a in s.order.tolist() if a not in gone]
    assert (settled, supplied) == (len(gone), run.part.found.sum())
    assert close_ranks(s, n, picks) == n - settled
    assert s.order[: n - settled].tolist() == left
    assert s.taken[: n - settled].tolist() == standing.taken[left].tolist()
    assert not s.settled.any()
    assert not s.chosen.any()
    assert len(set(s.picks[:picks].tolist())) == picks
    return Judged(gone, frozenset(s.order[s.picks[:picks]].tolist())), run


@pytest.mark.landing
@pytest.mark.parametrize("as_printed", [False, True])
def test_a_round_is_the_twins(as_printed: bool) -> None:
    """1,000 rounds, few pulls and many: who is settled and where, whom it supplies, whom it picks;
    a round of the other rule is noticed."""
    rng, settling, other = np.random.default_rng(1 + as_printed), 0, 0
    for number in range(1_000):
        pulls = ((1, 6), (50, 900))[number % 2]
        standing = draw_any(rng, pulls=pulls, as_printed=as_printed)
        twin = Twin(standing)
        wanted, (found, run) = twin.judge(), judged(standing)
        named = [arm for output in twin.run.outputs for arm in output]
        assert found == wanted
        assert run.part.open_sizes.tolist() == twin.run.sizes
        assert sorted(run.part.outputs[run.part.outputs >= 0].tolist()) == sorted(named)
        assert all(run.part.settled[0, arm] == standing.R + 1 for arm in wanted.settled)
        settling += bool(wanted.settled)
        other += judged(dataclasses.replace(standing, as_printed=not as_printed))[0] != wanted
    assert min(settling, 1_000 - settling, other) > 150


def test_no_pulls_that_are_not_needed() -> None:
    """One cluster alone is settled at once, whatever the bounds, and nobody is picked."""
    standing = Standing((3,), (2,), np.zeros((3, 1)), np.ones(3, np.int64), 1)
    found, run = judged(standing)
    assert found == Judged(frozenset({0, 1, 2}), frozenset())
    assert run.part.outputs.tolist() == [0, 1]


def test_ranks_are_mended() -> None:
    """After some arms have moved, ties going to the smaller label; all that lies by rank moves
    along."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        run = run_of(draw_any(rng, most_open=6))
        s = run.ranking
        moved = rng.random(s.mean.size) < 0.4
        s.mean[moved] = rng.integers(0, 5, int(moved.sum())) / 4.0
        s.total[:] = s.mean * s.taken
        rows = sorted(zip(-s.mean, s.order, s.total, s.taken, strict=True))
        mend(s, s.mean.size)
        assert list(zip(-s.mean, s.order, s.total, s.taken, strict=True)) == rows
