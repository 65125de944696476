"""Best arm by levels: many rounds of LUCB's variants at once, in which challengers take turns.

Legend. Two open clusters, of one arm and of the rest; the one arm is asked for, of the rest none.
Round R has been judged and settled nobody. Its picks are the *leader* h, of the greatest mean, and
of the other arms, the *challengers*, the one of greatest UCB. With a radius that is a function of an
arm's own pulls alone, UCB_a is a function of a's own rewards. x is a *level* and b a *bar*, both
fixed when the stride begins; the *passage* of a challenger below x is the number of pulls it takes
from now until its UCB is less than x for the first time, 0 if it is so now. T is the sum of the
passages, T >= 1.

Statement. Suppose that

1. every challenger's mean is less than b, now and after each of the pulls of its passage;
2. the leader's mean is greater than b, now and after each of T more pulls; and
3. then, too, the leader's LCB is less than the UCB that any challenger has after its passage.

Then rounds R .. R + T - 1 pull the leader and one challenger each and settle nobody; after them each
challenger has made the pulls of its passage, and the leader T pulls.

*Proof.* By induction over rounds a challenger pulls no further than its passage: as long as not all
passages are made, the greatest UCB of a challenger is at least x, so it is that of one whose passage
is not yet made, and it is this one that is pulled. So after j <= T rounds j pulls of passages are made,
and after T all. By 1 and 2 the leader ranks first throughout. A challenger's UCB is at least x before
the end of its passage and less than x at the end, so it is never less than its last value, and by 3 the
leader's LCB is less than every UCB of a challenger. So nobody is settled: with the picks "all" the gap
of every arm is positive, with "lucb++" and "rank" the border is open, LCB_h < UCB_l. []

Whose turn it is in which round, and how ties are broken, matters to nobody.

Walks. Each arm is followed by itself (`rai_sim.algorithms.lucb.variants.level_walks`), its rewards being
drawn ahead of the pulls (`rai_sim.algorithms.lucb.ahead`). Where 1, 2 or 3 cannot be certified nothing
is made; what was drawn is kept, and binds when the arms are pulled. So it biases nothing that a try
is given up, or how the level was chosen.

How far below the greatest UCB the level is, y. It takes the sum of an arm with n pulls down by some n y.
Before that it rises by H, to the bar, with probability n y / H or so, H = n (b - mean); or takes more than H^2
pulls, after which the leader may have moved by the H that is left to it, with probability 2 n y / H or so.
y makes these add up to `share`, which is halved where a try is given up, and doubled where it is not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.lucb.ahead import AheadLaw, Pieces, move_top, new_pieces
from rai_sim.algorithms.lucb.run import MOST, PULLS, RANKED, ROUND, Run
from rai_sim.algorithms.lucb.variants.level_walks import SLACK, lead, pass_level
from rai_sim.algorithms.lucb.variants.picks import Choice
from rai_sim.algorithms.lucb.variants.radii import radius_of
from rai_sim.engine import law as laws
from rai_sim.engine.jit import for_type, inlined, kernel
from rai_sim.engine.streams import State

#: Arms for which levels are worth their memory, some 170 kB each.
MOST_ARMS = 64
#: The share to begin with, which is the largest, and the least.
_SHARE, _LEAST_SHARE = 0.2, 0.02
#: Rounds that are judged after a try that was given up before the next.
_WAIT = 32.0
#: A try is worth its time if the leader may move by so much, and the challengers move by so much
#: together, in sums (measured).
_ROOM, _WORTH = 8.0, 3.0
#: Cells of `Levels.terms`.
_SHARE_NOW, _WAITING = 0, 1


class Levels(NamedTuple):
    """Memory of a block."""

    behind: Pieces  # those that a try has walked over
    terms: NDArray[np.float64]  # (2,)
    pulls: NDArray[np.int64]  # (N,) by rank, where a try has come to
    sums: NDArray[np.float64]


def new_levels(N: int) -> Levels:
    """Allocate."""
    return Levels(new_pieces(N), np.zeros(2), np.zeros(N, np.int64), np.zeros(N))


@inlined
def start_levels(levels: Levels) -> None:
    """Begin a replication."""
    levels.terms[_SHARE_NOW], levels.terms[_WAITING] = _SHARE, 0.0


def _no_levels(
    law: Any, run: Run, levels: Levels, choice: Choice, state: State
) -> tuple[int, State]:
    return 0, state


@for_type(AheadLaw, _no_levels)
def try_levels(
    law: Any, run: Run, levels: Levels, choice: Choice, state: State
) -> tuple[int, State]:
    """Make the rounds from the one that was judged on until all challengers are below a level; return
    how many, 0 if none are made."""
    clock, terms, part = run.clock, levels.terms, run.part
    if terms[_WAITING] > 0.0:
        terms[_WAITING] -= 1.0
        return 0, state
    if clock[RANKED] < 3 or part.open_sizes[0] != 1 or not _suits(law.base):
        return 0, state
    level, bar = _choose_level(run, terms[_SHARE_NOW])
    if level == np.inf:
        return 0, state
    T, state = _follow_all(run, levels, choice, level, bar, state)
    if T > 0:
        _accept(run, levels, T)
        terms[_SHARE_NOW] = min(2.0 * terms[_SHARE_NOW], _SHARE)
    else:
        _give_up(run, levels)
        terms[_SHARE_NOW] = max(0.5 * terms[_SHARE_NOW], _LEAST_SHARE)
        terms[_WAITING] = _WAIT
    return T, state


@inlined
def _suits(law: Any) -> bool:
    """Whether a law has words for these arms, and no end."""
    return laws.has_words(law) and laws.pulls_available(law) >= laws.ENDLESS


@kernel
def _choose_level(run: Run, share: float) -> tuple[float, float]:
    """Return a level and a bar, infinite if none are worth a try."""
    s, n = run.ranking, run.clock[RANKED]
    top, least = -np.inf, np.inf
    for x in range(1, n):
        top, least = max(top, s.ucb[x]), min(least, s.ucb[x])
    most = np.inf
    for look in range(2):  # the second is without challengers that are far below the level
        second, inverse, pulls = -np.inf, 0.0, 0.0
        for x in range(1, n):
            if s.ucb[x] >= top - most:
                second = max(second, s.mean[x])
        bar = max(0.5 * (second + s.mean[0]), s.mean[1] + SLACK)
        room = s.taken[0] * min(s.mean[0] - bar, least - s.lcb[0])
        if room < _ROOM:
            if look == 1:
                break
            room = _ROOM  # there may be more without them
        for x in range(1, n):
            if s.ucb[x] >= top - most:
                inverse += 1.0 / (bar - s.mean[x])
                pulls += s.taken[x]
        drop = min(most, share / (inverse + 2.0 * pulls / room))
        if look == 1 and pulls * drop >= _WORTH:
            return top - drop, bar
        most = 4.0 * drop
    return np.inf, np.inf


@kernel
def _follow_all(
    run: Run, levels: Levels, choice: Choice, level: float, bar: float, state: State
) -> tuple[int, State]:
    """Follow all arms through T rounds; return T, 0 if the statement's conditions are not certified
    or the cap does not pay for the rounds."""
    s, clock, pulls, sums = run.ranking, run.clock, levels.pulls, levels.sums
    T, ceiling = 0, np.inf
    for x in range(clock[RANKED]):
        pulls[x], sums[x] = int(s.taken[x]), s.total[x]
    for x in range(1, clock[RANKED]):
        if s.ucb[x] >= level:
            passed, pulls[x], sums[x], state = pass_level(
                run, levels.behind, choice.up, x, level, bar, state
            )
            if not passed:
                return 0, state
            T += pulls[x] - int(s.taken[x])
        ceiling = min(ceiling, sums[x] / pulls[x] + radius_of(choice.up, 0.0, float(pulls[x])))
    room = clock[MOST] - clock[PULLS]
    if room < 2 * T:
        return 0, state
    led, pulls[0], sums[0], state = lead(run, levels.behind, choice.down, T, bar, ceiling, state)
    return T if led else 0, state


@inlined
def _accept(run: Run, levels: Levels, T: int) -> None:
    """Make the pulls that were followed; what lies ahead of them stays known."""
    s, clock = run.ranking, run.clock
    for x in range(clock[RANKED]):
        levels.behind.held[s.arm_of[s.order[x]]] = 0
        s.taken[x], s.total[x] = float(levels.pulls[x]), levels.sums[x]
        s.mean[x] = s.total[x] / s.taken[x]
    clock[ROUND] += T - 1
    clock[PULLS] += 2 * T


@inlined
def _give_up(run: Run, levels: Levels) -> None:
    """Put what was walked over back ahead of the arms."""
    s = run.ranking
    for x in range(run.clock[RANKED]):
        arm = s.arm_of[s.order[x]]
        while levels.behind.held[arm] > 0:
            move_top(levels.behind, run.law.pieces, arm)
