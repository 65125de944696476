"""LUCB's rounds in lanes against the plain twin, from random standings on."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from stack import BITS
from standings import Standing, Twin, draw, draw_any, run_of, state_of

from rai_sim.algorithms.lucb import lanes
from rai_sim.algorithms.lucb.arm_vectors import ARMS, MOST_TAKEN
from rai_sim.algorithms.lucb.lane_picks import Lanes
from rai_sim.algorithms.lucb.lanes import _KEPT, new_lanes
from rai_sim.algorithms.lucb.run import MOST, PULLS, ROUND, SAME, Run
from rai_sim.engine.history import new_history, states_kept
from rai_sim.engine.jit import exposed, kernel
from rai_sim.engine.streams import State

fit_lanes = exposed(lanes.fit_lanes)
#: No stretch has as many rounds.
NEVER = 1 << 40


@exposed
@kernel
def advance(run: Run, room: Lanes, same_limit: int, state: State) -> State:
    """Judge the rounds that follow."""
    return lanes.advance(run, room, same_limit, state)


def walked(standing: Standing, same_limit: int = NEVER, max_pulls: int = -1) -> Run:
    """Make rounds in lanes."""
    run = run_of(standing, max_pulls=max_pulls)
    assert fit_lanes(run)
    advance(run, new_lanes(), same_limit, state_of(run))
    return run


@pytest.mark.slow
def test_a_walk_is_the_twins() -> None:
    """80 walks of up to 16 arms to the round before an arm is settled, the cap or the end of the
    recording: all sums, and the picks of every round on the way."""
    rng = np.random.default_rng(1)
    stops, rounds = {"event": 0, "cap": 0, "end": 0}, 0
    for number in range(80):
        standing = draw_any(rng, pulls=(1, 60), more=600)
        spare = int(rng.integers(500)) if number % 4 == 0 else 1 << 40
        run, twin = walked(standing, max_pulls=int(standing.taken.sum()) + spare), Twin(standing)
        following = twin.follow(run)
        rounds += run.clock[ROUND] - standing.R
        if following.settled:
            stops["event"] += 1
        elif run.clock[PULLS] + len(following.picks) > run.clock[MOST]:
            stops["cap"] += 1
        else:
            stops["end"] += 1
            left = standing.rewards.shape[1] - standing.taken.max()
            assert run.clock[ROUND] - standing.R == left
    assert min(stops.values()) >= 5, stops
    assert rounds > 3_000


def test_walks_of_any_number_of_arms() -> None:
    """Two of each number, with one vector of eight lanes, or four more, or two of eight; the second
    passes the last round whose logarithm is kept."""
    rng, least = np.random.default_rng(5), 1 << 40
    for n in range(3, ARMS + 1):
        upper = int(rng.integers(1, n))
        standing = draw(rng, (upper, n - upper), (1, 1), pulls=(1, 60), more=40)
        for R in (standing.R, _KEPT - 5):
            begun = dataclasses.replace(standing, R=R)
            run = walked(begun, max_pulls=int(standing.taken.sum()) + 60)
            Twin(begun).follow(run)
            least = min(least, run.clock[ROUND] - R)
    assert least >= 10


def test_states_that_are_asked_for() -> None:
    """Of a trace: every arm's pulls and mean as some rounds find them, 20 walks."""
    rng, kept = np.random.default_rng(6), 0
    for _ in range(20):
        standing = draw_any(rng, pulls=(1, 60), more=60)
        asked = standing.R + np.arange(1, 30, 4)
        run = run_of(standing, max_pulls=int(standing.taken.sum()) + 80)
        run, twin = run._replace(history=new_history(asked, standing.taken.size)), Twin(standing)
        advance(run, new_lanes(), NEVER, state_of(run))
        for row in range(states_kept(run.history)):
            R = run.history.rounds[row]
            assert asked[row] == R
            while twin.run.rounds < R - 1:
                twin.pull(twin.judge().picks)
            counts, sums = np.array(twin.run.counts), np.array(twin.run.sums)
            assert np.array_equal(run.history.pulls[row, 0], counts)
            assert (run.history.pulls[row, 1] == counts.sum()).all()
            assert np.array_equal(run.history.means[row], sums / counts)
            kept += 1
    assert kept > 50


@pytest.mark.slow
def test_ties_are_broken_as_the_ranking_does() -> None:
    """200 walks of three rounds from standings in which whole clusters have equal bounds: two coin
    flips an arm, three to four clusters."""
    rng, tied = np.random.default_rng(4), 0
    for _ in range(200):
        places = rng.integers(1, 3, int(rng.integers(3, 5))).tolist()
        wants = rng.integers(0, np.array(places) + 1)
        wants[rng.integers(len(places))] = 1
        standing = draw(rng, places, wants.tolist(), pulls=(2, 2), more=5)
        before = standing.rewards[:, :2].sum(axis=1)
        tied += np.unique(before).size < before.size
        Twin(standing).follow(walked(standing, max_pulls=int(standing.taken.sum()) + 18))
    assert tied > 150


@pytest.mark.landing
def test_wrong_twins_are_noticed() -> None:
    """Negative control: of 30 walks, those of a twin of the other rule, or in which a reward of an
    arm is another, differ in many."""
    rng, differ = np.random.default_rng(3), [0, 0]
    for _ in range(30):
        standing = draw_any(rng, pulls=(1, 60), more=300)
        run, rewards = walked(standing), standing.rewards.copy()
        rewards[:, standing.taken.max() + 5] = 1.0 - rewards[:, standing.taken.max() + 5]
        others = (
            dataclasses.replace(standing, as_printed=True),
            dataclasses.replace(standing, rewards=rewards),
        )
        for number, other in enumerate(others):
            try:
                Twin(other).follow(run)
            except (AssertionError, IndexError):  # a wrong twin may pull beyond the recording
                differ[number] += 1
    assert min(differ) > 8, differ


def test_it_stops_where_picks_stay_the_same() -> None:
    """After so many rounds with the picks of the one before, and no earlier."""
    rng, stopped = np.random.default_rng(2), 0
    for _ in range(40):
        standing = draw_any(rng, pulls=(1, 30), more=300)
        run, twin = walked(standing, same_limit=4), Twin(standing)
        rounds = []
        for _ in range(standing.R, run.clock[ROUND]):
            rounds.append(twin.judge().picks)
            twin.pull(rounds[-1])
        same = [one == before for before, one in pairwise(rounds)]
        ends = [k for k in range(4, len(same) + 1) if all(same[k - 4 : k])]
        assert ends == ([len(same)] if run.clock[SAME] == 4 else [])
        stopped += run.clock[SAME] == 4
    assert stopped > 10


@pytest.mark.parametrize("room", [5, 0, -7])
def test_where_quotients_end_corridors_go_on(room: int) -> None:
    """Three equal arms of some 2^48 pulls make the rounds that are left to the first of them, and
    then count as having had the same picks; not so where a recording ends."""
    standing = Standing((1, 1, 1), (1, 1, 1), np.zeros((3, 1)), np.ones(3, np.int64), 10)
    for most, endless in ((MOST_TAKEN, True), (2.0**40, False)):
        run = run_of(standing)
        run = run._replace(law=run.law._replace(available=1 << 62 if endless else 1 << 40))
        s, before = run.ranking, most - room
        s.taken[:], s.total[:] = before, before // 2.0
        s.mean[:] = s.total / s.taken
        advance(run, new_lanes(), 30, state_of(run))
        assert run.clock[ROUND] - standing.R == max(room, 0)
        assert s.taken.max() == before + max(room, 0)
        assert np.array_equal(s.mean, s.total / s.taken)
        assert bool(run.clock[SAME] == 30) is endless


def test_who_fits() -> None:
    """Rewards that come as words, arms and open clusters that are few, and our rule."""

    def fits(places: tuple[int, ...], as_printed: bool = False, words: bool = True) -> bool:
        n = sum(places)
        wants = (1,) + (0,) * (len(places) - 1)
        standing = Standing(places, wants, np.ones((n, 1)), np.ones(n, np.int64), 1, as_printed)
        run = run_of(standing)
        return fit_lanes(run if words else run._replace(law=run.law._replace(kind=BITS)))

    assert fits((1, ARMS - 1))
    assert fits((1, 1, 0, 0, 1, 1))
    assert not fits((1, ARMS))
    assert not fits((1, 1, 1, 1, 1))
    assert not fits((1, 1), as_printed=True)
    assert not fits((1, 1), words=False)
