"""Arms that can do nothing for some rounds: asleep, they cost one draw for all of them.

Where events are frequent but arms many, each event concerns few of them: those beside a border and
those about to be settled. In the late rounds of a crowd most others are so far from both that it is
certified for some thousands of rounds.

Fences. When arms go to sleep, in round R, two lines are drawn for each border, its *fences*: f+ a
little above the sum u of the last arm above the border, f- a little below l, that of the first arm
below, both rising as u and l did so far. In an arm's sleep, k rounds at most,

1. an arm above the border stays at f+ or above, an arm below at f- or below;
2. it stays less than clear on one of the sides on which its cluster has a border: S - f- <= W at
   the border below, or f+ - S <= W at the one above.

Everybody to whom this may not happen stays awake, so that what is found among those awake, with the
sleepers above a border counted as above whatever is counted, is right as long as u <= f+ and l >=
f-: for at least as many arms are at u or above as the border asks for, and fewer above u, since
sleepers below are at f- <= l <= u or below; likewise for l. By 1 no sleeper is an arm beside a
border, and by 2 none is settled, as S - l <= S - f- <= W, or u - S <= f+ - S <= W. Before the first
round in which u or l would be beyond its fence everybody is woken; and when the borders change, at
the end of the sleep, and when the crowd is left.

Bound. Each of the conditions bounds the walk S on one side, by a line or by a line and W. Let D be
the arm's distance from the bound in round R and D_k that of its expected sum in round R + k, and v
the variance proxy of a reward. The bound lies beyond the chord between these two, as W is concave
in the rounds, so that as for bound 2 of `rai_sim.engine.certificates`, with one arm in the place of
a pair, it is reached within k rounds with probability at most exp(-min(D_k, 2 D)^2 / (2 v k)). An
arm has at most three conditions. So all hold together up to eps if for each of them

    min(D_k, 2 D)^2 >= 2 v k ln(3 n / eps),

and a sleep takes eps from the budget of the replication as a jump does. That it may end earlier
changes nothing: it ends by what was seen of those awake, and the bound holds for all rounds up to
R + k at once.
"""

from __future__ import annotations

import math

import numpy as np

from rai_sim.engine import law as laws
from rai_sim.engine.certificates import log_over_share
from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.round_robin.crowd.places import (
    ALARM,
    ASLEEP,
    ASLEEP_SINCE,
    ASLEEP_UNTIL,
    AWAKE,
    BORDERS,
    FIRST_ASLEEP,
    GONE,
    LEAVES_AT,
    LEAVING,
    RESTED_FROM,
    SLEEPS,
    STALE,
    TRIED_AGAIN,
    Crowd,
)
from rai_sim.engine.round_robin.crowd.states import see_crowd
from rai_sim.engine.round_robin.run import ACTIVE, BUDGET, JUMPS, OVER, ROUND, Run, width
from rai_sim.engine.sampling import bits_set
from rai_sim.engine.streams import State
from rai_sim.engine.vectors import LANES

#: Words of a sleep over the cube root of R: drawing the sleepers' sums costs about as much then as
#: keeping awake who might do something. Half or twice as many take as long, as far as can be told; so
#: does twice the margin below.
_WORDS = 1.0
#: Fences' distance over the root of the rounds.
_MARGIN = 0.5
#: Sleep is tried again after this part of the rounds made, if it was not worth it.
_PATIENCE = 8


@inlined
def may_sleep(crowd: Crowd, run: Run) -> bool:
    """Whether it is late enough for arms to sleep, and something may be left to chance."""
    return run.clock[ROUND] >= crowd.cells[RESTED_FROM] and run.setting.skip_error > 0.0


@kernel
def change_of_guard(run: Run, state: State) -> State:
    """Wake all if they must be, and let arms sleep if a word is over and none does."""
    crowd, clock = run.crowd, run.clock
    cells, R = crowd.cells, clock[ROUND]
    if cells[ASLEEP] > 0 and (cells[STALE] + cells[ALARM] > 0 or cells[ASLEEP_UNTIL] <= R):
        leaving = cells[ALARM] == LEAVING
        state = wake(run, state)
        see_crowd(run)
        if leaving:
            return state
    if (
        cells[ASLEEP] + cells[STALE] == 0
        and clock[OVER] == LANES
        and cells[TRIED_AGAIN] <= R
        and may_sleep(crowd, run)
    ):
        _fold_words(run)
        _fall_asleep(run, LANES * int(_WORDS * R ** (1.0 / 3.0)))
    return state


@inlined
def _fold_words(run: Run) -> None:
    """Take the words that are over into the sums, and the settled out of their places."""
    cells, words = run.crowd.cells, run.crowd.words
    order, total, x = run.race.standings.order, run.race.standings.total, 0
    for place in range(cells[AWAKE]):
        while total[x] == GONE:
            x += 1
        order[place], total[place] = order[x], total[x] + bits_set(words[x])
        words[place] = np.uint64(0)
        x += 1


@kernel
def _fall_asleep(run: Run, rounds: int) -> None:
    """Let those sleep that are certified to do nothing for some rounds, if they are the most."""
    crowd, clock, setting = run.crowd, run.clock, run.setting
    cells, R, n = crowd.cells, clock[ROUND], clock[ACTIVE]
    order, total = run.race.standings.order, run.race.standings.total
    cells[TRIED_AGAIN] = R + R // _PATIENCE
    if not _set_fences(crowd, R, rounds):
        return
    share = math.log(3.0 * n) + log_over_share(setting.skip_error, clock[JUMPS] + 1)
    budget = 2.0 * laws.proxy(run.race.law) * share
    asleep, W, W_then = 0, width(run, R), width(run, R + rounds)
    for x in range(n):
        crowd.event_place[x] = _sleeper_of(run, x, rounds, budget, W, W_then)
        asleep += crowd.event_place[x] >= 0
    if 2 * asleep < n:
        return
    clock[JUMPS] += 1
    cells[SLEEPS] += 1
    run.terms[BUDGET] = -1.0
    cells[ASLEEP_SINCE], cells[ASLEEP_UNTIL], cells[TRIED_AGAIN] = R, R + rounds, 0
    cells[ASLEEP], cells[AWAKE], cells[FIRST_ASLEEP] = asleep, n - asleep, n - asleep
    for b in range(cells[BORDERS]):
        crowd.asleep_above[b] = 0
    awake, asleep = 0, 0
    for x in range(n):
        cluster = crowd.event_place[x]
        if cluster < 0:
            order[awake], total[awake] = order[x], total[x]
            awake += 1
        else:
            crowd.event_lane[asleep], crowd.values[asleep] = order[x], total[x]
            asleep += 1
            for b in range(cluster, cells[BORDERS]):
                crowd.asleep_above[b] += 1
    for x in range(asleep):
        order[awake + x], total[awake + x] = crowd.event_lane[x], crowd.values[x]


@inlined
def _set_fences(crowd: Crowd, R: int, rounds: int) -> bool:
    """Set the fences of all borders; return whether those of each stay in the borders' order."""
    margin = _MARGIN * math.sqrt(np.float64(rounds)) + 2.0
    for b in range(crowd.cells[BORDERS]):
        upper, lower = crowd.upper_now[b], crowd.lower_now[b]
        crowd.fences[0, b], crowd.fences[1, b] = upper + margin, lower - margin
        crowd.fence_pace[b] = (upper + lower) / (2.0 * R)
        if b > 0:
            apart = 2.0 * margin + (crowd.fence_pace[b] - crowd.fence_pace[b - 1]) * rounds
            if crowd.lower_now[b - 1] < upper + max(2.0 * margin, apart):
                return False
    return True


@inlined
def fence(crowd: Crowd, side: int, b: int, rounds: float) -> float:
    """Return where a border's fence is, above (side 0) or below, after rounds of sleep."""
    return crowd.fences[side, b] + crowd.fence_pace[b] * rounds


@kernel
def _sleeper_of(run: Run, x: int, rounds: int, budget: float, W: float, W_then: float) -> int:
    """Return behind how many borders an arm may sleep for some rounds, -1 if it may not; W now, and
    after them."""
    crowd, law = run.crowd, run.race.law
    borders, least = crowd.cells[BORDERS], rounds * budget
    now = run.race.standings.total[x]
    then = now + rounds * laws.mean_of(law, run.race.standings.order[x])
    k = 0
    while k < borders and now <= crowd.fences[1, k]:
        k += 1
    unclear = False
    if k > 0:
        below, below_then = crowd.fences[1, k - 1] - now, fence(crowd, 1, k - 1, rounds) - then
        if not _holds(below, below_then, least):
            return -1
        unclear = _holds(
            now - crowd.fences[0, k - 1] + W,
            then - fence(crowd, 0, k - 1, rounds) + W_then,
            least,
        )
    if k < borders:
        above, above_then = now - crowd.fences[0, k], then - fence(crowd, 0, k, rounds)
        if not _holds(above, above_then, least):
            return -1
        unclear = unclear or _holds(
            crowd.fences[1, k] - now + W, fence(crowd, 1, k, rounds) - then + W_then, least
        )
    return k if unclear else -1


@inlined
def _holds(D: float, D_then: float, least: float) -> bool:
    """Whether a walk at distance D from its bound, on average D_then in the end, keeps off it."""
    distance = min(D_then, 2.0 * D)
    return distance > 0.0 and distance * distance >= least


@kernel
def wake(run: Run, state: State) -> State:
    """Draw the sums of all that sleep, and what is left of their words."""
    crowd, clock, law = run.crowd, run.clock, run.race.law
    cells, words = crowd.cells, crowd.words
    order, total, place = run.race.standings.order, run.race.standings.total, 0
    R, over, since = clock[ROUND], clock[OVER], cells[ASLEEP_SINCE]
    x = 0
    while place < cells[AWAKE]:
        if total[x] != GONE:
            order[place], total[place], words[place] = order[x], total[x], words[x]
            place += 1
        x += 1
    for x in range(cells[FIRST_ASLEEP], cells[FIRST_ASLEEP] + cells[ASLEEP]):
        arm, sum_, word = order[x], total[x], np.uint64(0)
        if since < R:
            sum_, state = laws.more_pulls(law, arm, sum_, since, R - since, state)
        if over < LANES:  # for the rounds that are left of the others' words
            word, state = laws.word(law, arm, R, state)
            word <<= np.uint64(over)
        order[place], total[place], words[place] = arm, sum_, word
        place += 1
    cells[AWAKE], cells[ASLEEP], cells[ALARM] = place, 0, 0
    for b in range(crowd.asleep_above.size):
        crowd.asleep_above[b] = 0
    return state


@inlined
def within_fences(crowd: Crowd, j: int, R: int) -> bool:
    """Whether the sums beside all borders are within the fences in lane j, which is round R; if
    not, note it."""
    cells = crowd.cells
    if cells[ASLEEP] > 0:
        for b in range(cells[BORDERS]):
            rounds = np.float64(R - cells[ASLEEP_SINCE])
            if crowd.upper[b, j] > fence(crowd, 0, b, rounds) or crowd.lower[b, j] < fence(
                crowd, 1, b, rounds
            ):
                cells[LEAVES_AT] = j
                return False
    return True
