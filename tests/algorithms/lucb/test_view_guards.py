"""The guards of LUCB's view: if they hold, a round judged on the view is that of all active arms,
and nobody outside is settled or picked."""

import dataclasses
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from standings import Judged, Standing, draw, judge, look, run_of

from rai_sim.algorithms.lucb import view_guards
from rai_sim.algorithms.lucb.run import RANKED
from rai_sim.algorithms.lucb.view_guards import (
    BY_L,
    BY_U,
    CAUTION,
    DEPTH,
    GUARDS,
    HIGH,
    LOW,
    MEAN,
    TAKEN,
    View,
    allocate_view,
)
from rai_sim.engine.jit import exposed

view_holds, fold_in = exposed(view_guards.view_holds), exposed(view_guards.fold_in)
no_guards, combine_guards = exposed(view_guards.no_guards), exposed(view_guards.combine_guards)
carry_on, set_bounds = exposed(view_guards.carry_on), exposed(view_guards.set_bounds)
Flags = NDArray[np.bool_]
#: Rounds for which guards are made.
MARGIN = 30
TASKS = [((3, 30), (2, 0)), ((20, 20), (0, 1)), ((2, 20, 2), (0, 5, 0)), ((4, 15, 15), (1, 1, 1))]


def roots(standing: Standing, R: int) -> float:
    """Return sqrt(ln(pi^2 R^3 N / (3 delta)))."""
    return math.sqrt(math.log(standing.scale * R * R * R))


def draw_view(rng: np.random.Generator, standing: Standing) -> tuple[View, Flags]:
    """Choose arms for a view of the next round at random, extreme ones rather than others, and
    make guards of the rest; return which are in it."""
    run, m = run_of(standing), len(standing.places)
    look(run)
    s, keep = run.ranking, int(rng.integers(1, 5))
    v, hot = allocate_view(s.order.size, m, 0), np.zeros(s.order.size, np.bool_)
    for level in (0, 1):
        no_guards(v, level)
    v.state[DEPTH], v.until[1], p1 = 1, standing.R + 1 + MARGIN, 0
    v.arms[s.order, MEAN] = s.mean
    for i, size in enumerate(standing.places):
        p0, p1 = p1, p1 + size
        for key in (s.lcb, -s.ucb, -s.lcb, s.ucb, s.mean, -s.mean, rng.random(s.order.size)):
            hot[s.order[p0 + np.argsort(key[p0:p1], kind="stable")[:keep]]] = True
        L, U = s.lcb[:p0].min(initial=np.inf), s.ucb[p1:].max(initial=-np.inf)
        _leave_out(v, standing, [a for a in s.order[p0:p1].tolist() if not hot[a]], i, L, U)
    assert combine_guards(v) == np.count_nonzero(~hot)
    return v, hot


def _leave_out(v: View, standing: Standing, cold: list[int], i: int, L: float, U: float) -> None:
    """Make the guards of a cluster's cold arms, the best first."""
    m = v.first.size
    now = v.less[1] = roots(standing, standing.R + 1) * (1.0 - CAUTION)
    then = v.more[1] = roots(standing, standing.R + 1 + MARGIN) * (1.0 + CAUTION)
    v.cold[1, i], all_q = len(cold), 1.0 / np.sqrt(2.0 * standing.taken)
    if cold:
        v.edge[2 * (m + i)], v.edge[2 * (m + i) + 1] = cold[0], cold[-1]
        v.least_q[1, i], v.most_q[1, i] = all_q[cold].min(), all_q[cold].max()
    for a in cold:
        n_a, mean, q = float(standing.taken[a]), float(v.arms[a, MEAN]), float(all_q[a])
        lcb, ucb = mean - now * q, mean + now * q
        by_gap = (BY_L, -ucb) if ucb - L >= U - lcb else (BY_U, lcb)
        for way, key in ((LOW, then * q - mean), (HIGH, mean + then * q), by_gap):
            fold_in(v, (GUARDS + way) * m + i, key, n_a, mean, q, a, -np.inf)


def moved(rng: np.random.Generator, standing: Standing, hot: Flags, times: int = 1) -> Standing:
    """Return the standing some rounds later, or so many times as many, in which arms of the view
    alone were pulled."""
    later = int(rng.integers(MARGIN + 6)) * times
    pulled = rng.integers(later // 4 + 1, size=hot.size) * (hot & (rng.random(hot.size) < 0.3))
    return dataclasses.replace(standing, taken=standing.taken + pulled, R=standing.R + later)


def outcome(
    standing: Standing, v: View | None = None, hot: Flags | None = None
) -> tuple[Judged, bool]:
    """Judge the next round on all arms or on a view; return whether that one's guards hold."""
    run = run_of(standing)
    s, n, R = run.ranking, standing.taken.size, standing.R + 1
    if v is not None and hot is not None:
        run.part.open_sizes[:] -= v.cold[0]
        among, n = hot[s.order], int(np.count_nonzero(hot))
        for row in (s.order, s.mean, s.total, s.taken):
            row[:n] = row[among]
        run.clock[RANKED] = n
    look(run)
    holds = v is not None and view_holds(v, s, run.part, n, R, 0, standing.as_printed)
    _, _, picks = judge(run)
    gone = s.order[:n][s.settled[:n]]
    return Judged(frozenset(gone.tolist()), frozenset(s.order[s.picks[:picks]].tolist())), holds


def misjudged(seed: int, lowered: float = 0.0, carried: bool = False) -> tuple[int, int, int]:
    """Judge 500 rounds on views and on all arms; return how often guards hold, how often rounds
    differ, and how often both. Guards may be lowered, and carried on to later rounds."""
    rng, held, differ, wrong = np.random.default_rng(seed), 0, 0, 0
    for number in range(500):
        pulls = ((1, 3), (20, 60), (200, 400))[number % 3]
        standing = draw(rng, *TASKS[number % 4], pulls=pulls, more=20, as_printed=number % 5 == 0)
        v, hot = draw_view(rng, standing)
        later = moved(rng, standing, hot, 10 if carried else 1)
        if carried:
            carry_on(v, 1, (standing.R + later.R + 1) // 2 + 1, standing.scale)
            carry_on(v, 1, later.R + 1, standing.scale)
            combine_guards(v)
        v.key[:], v.other[:] = v.key - lowered, v.other - lowered
        found, holds = outcome(later, v, hot)
        if v.until[0] < later.R + 1:
            assert not holds
            assert not carried
        held, other = held + holds, found != outcome(later)[0]
        differ, wrong = differ + other, wrong + (holds and other)
    return held, differ, wrong


@pytest.mark.slow
def test_nobody_outside_is_settled_or_picked() -> None:
    """If guards hold; negative control: not so if they are lowered by a twentieth."""
    held, differ, wrong = misjudged(1)
    assert held > 100
    assert differ > 50
    assert wrong == 0
    assert misjudged(1, lowered=0.05)[2] > 10


@pytest.mark.slow
def test_guards_carried_on_are_guards() -> None:
    """Up to 350 rounds later they say as much; negative control as before."""
    held, differ, wrong = misjudged(3, carried=True)
    assert held > 100
    assert differ > 50
    assert wrong == 0
    assert misjudged(3, lowered=0.05, carried=True)[2] > 10


def drawn_guards(rng: np.random.Generator) -> tuple[View, Flags, float]:
    """Put some arms of equal and of unlike pulls and means under guards made for round 1,000; in
    the view's arrays, which of them are held to the gap by L, and pi^2 N / (3 delta)."""
    n, scale = int(rng.integers(1, 12)), 10.0 ** rng.uniform(2.0, 9.0)
    v = allocate_view(n, 1, 0)
    v.arms[:, TAKEN] = rng.choice([1.0, 2.0, 3.0, 1000.0, 1e9], n)
    v.arms[:, MEAN] = rng.choice([0.0, 1e-3, 0.5, 1.0, 1e6], n)
    q = q_of(v)
    no_guards(v, 1)
    set_bounds(v, 1, 1_000, scale)
    v.least_q[1, 0], v.most_q[1, 0] = q.min(), q.max()
    by_L = rng.random(n) < 0.5
    for way, key in enumerate(keys_of(v)):
        for a in range(n):
            n_a, mean = v.arms[a, TAKEN], v.arms[a, MEAN]
            if way < BY_L or by_L[a] == (way == BY_L):
                fold_in(v, GUARDS + way, key[a], n_a, mean, q[a], a, -np.inf)
    return v, by_L, scale


def q_of(v: View) -> NDArray[np.float64]:
    """Return every arm's q."""
    return 1.0 / np.sqrt(2.0 * v.arms[:, TAKEN])


def keys_of(v: View) -> list[NDArray[np.float64]]:
    """Return how extreme arms are, in each way, for the bounds of c of level 1."""
    mean, more, less = v.arms[:, MEAN], v.more[1] * q_of(v), v.less[1] * q_of(v)
    return [more - mean, mean + more, -(mean + less), mean - less]


def too_low(v: View, by_L: Flags) -> int:
    """Count the guards of level 1 that are below what they are to bound."""
    low = 0
    for way, key in enumerate(keys_of(v)):
        row = GUARDS + way
        under = np.full(by_L.size, True) if way < BY_L else by_L == (way == BY_L)
        like = (v.arms[:, TAKEN] == v.n_a[row]) & (v.arms[:, MEAN] == v.of_mean[row])
        low += bool(np.any(key[under] > v.key[row]))
        low += bool(np.any(key[under & ~like] > v.other[row]))
    return low


@pytest.mark.landing
def test_guards_grow_as_their_arms_do() -> None:
    """1,000 sets of guards, carried on to three later rounds: each bounds its arms, the one of its
    own kind to the last bit where that is the most extreme; negative control: not so if arms are
    taken to be pulled more often."""
    rng, low, exact = np.random.default_rng(4), 0, 0
    for number in range(1_000):
        v, by_L, scale = drawn_guards(rng)
        assert too_low(v, by_L) == 0
        if number % 2:
            v.least_q[1, 0], v.most_q[1, 0] = 2.0 * v.least_q[1, 0], 0.5 * v.most_q[1, 0]
        for R in np.cumsum(rng.integers(1, 10**6, 3)).tolist():
            carry_on(v, 1, 1_000 + R, scale)
            assert v.until[1] >= 1_000 + R
            if number % 2:
                low += too_low(v, by_L)
            else:
                assert too_low(v, by_L) == 0
                exact += bool(v.key[GUARDS + HIGH] == keys_of(v)[HIGH].max())
    assert low > 100
    assert exact > 300


def test_a_guard_is_of_the_most_extreme_arm() -> None:
    """Arms of few kinds, in any order and over two levels: the greatest key, the least label of
    that kind, and a bound of all others; combined the same again."""
    rng = np.random.default_rng(2)
    for _ in range(500):
        v = allocate_view(12, 1, 0)
        v.arms[:, MEAN], v.state[DEPTH], v.until[1:3] = -np.arange(12), 2, (9, 7)
        for level in range(3):
            no_guards(v, level)
        kinds, keys = rng.integers(4, size=12), rng.integers(6, size=4) / 5.0
        levels = rng.integers(1, 3, 12)
        for a in rng.permutation(12).tolist():
            kind = int(kinds[a])
            fold_in(v, levels[a] * GUARDS, keys[kind], kind + 1.0, 0.5, 0.1, a, -np.inf)
        for level in (1, 2):
            own = np.flatnonzero(levels == level)
            v.cold[level, 0] = own.size
            if own.size:
                v.edge[2 * level], v.edge[2 * level + 1] = own[0], own[-1]
        assert combine_guards(v) == 12
        assert (v.until[0], v.edge[0], v.edge[1]) == (7, 0, 11)
        for level, here in ((0, levels > 0), (1, levels == 1), (2, levels == 2)):
            row = level * GUARDS
            if not here.any():
                assert (v.label[row], v.key[row]) == (-1, -np.inf)
                continue
            like = here & (kinds == v.n_a[row] - 1)
            others = keys[kinds[here & ~like]].max(initial=-np.inf)
            assert v.key[row] == keys[kinds[here]].max()
            assert others == v.other[row]
            assert v.key[row] == others or v.label[row] == np.flatnonzero(like)[0]
