"""LUCB's loop: what a replication starts from, which stride suits whom, and the counts it keeps;
whole runs are in test_lucb and test_loop_jumps."""

import numpy as np
import pytest
from stack import BITS
from standings import Standing, draw_any, run_of, state_of

from rai_sim.algorithms.lucb import loop
from rai_sim.algorithms.lucb.arm_vectors import ARMS
from rai_sim.algorithms.lucb.run import MISSING, PULLS, RANKED, SUITED
from rai_sim.algorithms.lucb.strides import IN_STEP, LANES, LAST_ARM, PLAIN, VIEW
from rai_sim.algorithms.lucb.view import NoView
from rai_sim.algorithms.lucb.view_guards import View
from rai_sim.engine.jit import exposed
from rai_sim.engine.strides import ALL, without

start, suited = exposed(loop._start), exposed(loop._suited)


def fresh(places: tuple[int, ...], wants: tuple[int, ...], as_printed: bool = False) -> Standing:
    """Return arms with a pull each."""
    n = sum(places)
    return Standing(places, wants, np.eye(n), np.ones(n, np.int64), 1, as_printed)


def test_the_view_is_a_switch() -> None:
    """A hundred arms have one, unless it is left out."""
    for strides, kind in ((ALL, View), (without(VIEW), NoView)):
        assert isinstance(run_of(fresh((1, 99), (1, 0)), strides=strides).views, kind)
    assert isinstance(run_of(fresh((1, 1), (1, 0)), strides=ALL).views, NoView)


@pytest.mark.parametrize(
    ("places", "wants", "best", "next_best"),
    [
        ((1, 1), (1, 0), IN_STEP, LAST_ARM),
        ((1, 1, 1), (1, 1, 1), IN_STEP, LANES),
        ((1, 3), (1, 0), LAST_ARM, LANES),
        ((1, ARMS), (1, 0), LAST_ARM, PLAIN),
        ((1, 2, 1), (0, 2, 0), LANES, PLAIN),
        ((2, ARMS), (2, 0), PLAIN, PLAIN),
    ],
)
def test_the_stride_that_suits(
    places: tuple[int, ...], wants: tuple[int, ...], best: int, next_best: int
) -> None:
    """The first that may be used of in step, the last arm and lanes; of laws without words, and as
    printed, in step or plain."""
    standing = fresh(places, wants)
    assert suited(run_of(standing)) == best
    off = without(VIEW, *({best} - {PLAIN}))
    assert suited(run_of(standing, strides=off)) == next_best
    run, sums_only = run_of(standing), best if best == IN_STEP else PLAIN
    assert suited(run._replace(law=run.law._replace(kind=BITS))) == sums_only
    assert suited(run_of(fresh(places, wants, as_printed=True))) == sums_only


def test_every_arm_is_pulled_once_and_ranked() -> None:
    """By mean, ties by label, whatever was there before; labels are a permutation of the arms."""
    rng = np.random.default_rng(1)
    for _ in range(100):
        standing = draw_any(rng)
        run = run_of(standing)
        run.ranking.taken[:], run.clock[:] = 99.0, 99
        assert start(run, state_of(run))[0]
        s, n = run.ranking, standing.taken.size
        assert sorted(s.arm_of.tolist()) == list(range(n))
        first = standing.rewards[s.arm_of, 0]
        assert s.order.tolist() == sorted(range(n), key=lambda a: (-first[a], a))
        assert np.array_equal(s.mean, first[s.order])
        assert np.array_equal(s.total, s.mean)
        assert (s.taken == 1.0).all()
        assert (run.clock[PULLS], run.clock[RANKED]) == (n, n)
        assert run.clock[MISSING] == sum(standing.wants)
        assert run.clock[SUITED] == suited(run)


def test_a_cap_below_the_number_of_arms_pulls_nobody() -> None:
    """Nor does one of that number stop the first pulls."""
    for cap, started in ((2, False), (3, True)):
        run = run_of(fresh((1, 2), (1, 0)), max_pulls=cap)
        assert start(run, state_of(run))[0] is started
        assert run.clock[PULLS] == (3 if started else 0)


def test_room_for_the_strides() -> None:
    """As large as the task: an arm or a cluster more has its place."""
    small, large = (
        loop.new_scratch(run_of(fresh(places, wants)).setting)
        for places, wants in (((1, 2), (1, 0)), ((1, 2, 2), (1, 0, 0)))
    )
    assert small.challenge.rewards.next.size == 3
    assert large.challenge.rewards.next.size == 5
    assert small.challenge.lines.end.size == small.constraints.high.size // 2 == 2
    assert large.challenge.lines.end.size == large.constraints.high.size // 2 == 3
