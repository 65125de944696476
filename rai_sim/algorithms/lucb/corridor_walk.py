"""How long LUCB's picks stay in their corridors: pulls made while they do.

Legend as in `rai_sim.algorithms.lucb.corridors`: a pick of mean m, its law's mean mu, has moved by
X_j after j pulls; H is how far the walls leave it to go.

a. Rewards in an interval of length h: X_j moves by at most h a pull, so surely for floor(H / h)
   pulls, H the least distance from a wall.
b. Up to eps: for one wall, H away, an exit within k pulls has probability at most exp(-min(H_k, 2
   H)^2 / (2 proxy k)), where H_k = H - k (mu - m) for the upper wall and H - k (m - mu) for the
   lower one, proxy the variance proxy of a reward: X_j - j (mu - m) is a martingale, the wall less
   that drift a line, and bound 2 of `rai_sim.engine.certificates` argues the same case. So k pulls
   are certified for all 2 |C| walls if min(H_k, 2 H)^2 >= 2 proxy k ln(2 |C| / eps) for each. eps is
   the jump's share of the budget of that module.
   Of a pick of which a later sum is known, by `rai_sim.algorithms.lucb.bridges` instead.
c. For rewards 0 and 1 the next 64 pulls are drawn as a word and the first exit is looked up.
   Whether it has come by pull j is known from the first j bits of all arms of C, so the bits after
   it are independent of all that is used, and thrown away.

After a jump certified for k pulls one more is made: the round it leads to is certified if all arms
are in their corridors, and is judged if not.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rai_sim.algorithms.lucb.ahead import foreseen
from rai_sim.algorithms.lucb.bridges import foreseen_stay
from rai_sim.algorithms.lucb.corridors import Corridors, narrowest
from rai_sim.algorithms.lucb.run import (
    CERTIFIED,
    COLD,
    JUMPS,
    PICKS,
    PULLS,
    RANKED,
    ROUND,
    WORTH_A_STRETCH,
    Run,
)
from rai_sim.engine import law as laws
from rai_sim.engine.certificates import (
    CAUTION,
    LONGEST,
    certified_on_line,
    log_over_share,
    sure_rounds,
)
from rai_sim.engine.faults import NOT_FINITE, finite, report
from rai_sim.engine.history import stopped_at
from rai_sim.engine.jit import for_words, in_place, inlined, kernel
from rai_sim.engine.sampling import bits_set, lanes
from rai_sim.engine.streams import State


@kernel
def exit_budget(law: Any, picks: int, skip_error: float, jump: int) -> float:
    """Return 2 proxy ln(2 |C| / eps) for jump number `jump` >= 1; infinite if nothing may be left to
    chance."""
    if skip_error <= 0.0:
        return np.inf
    return 2.0 * laws.proxy(law) * (math.log(2.0 * picks) + log_over_share(skip_error, jump))


@kernel
def longest_stay(H: float, drift: float, budget: float) -> float:
    """Return a k with min(H - k drift, 2 H)^2 >= k budget: the largest, unless the wall recedes
    fast."""
    return min(4.0 * H * H / budget, certified_on_line(H, drift, budget))


@kernel
def first_exit(word: np.uint64, mean: float, at: float, up: float, down: float, most: int) -> int:
    """Return the first of pulls 1..most after which X, now `at`, is at a wall; `most` if there is
    none.

    X is looked at after strides in which it cannot reach a wall: not if all pulls are 1, nor if all
    are 0, or not with as many ones as the stride has, in whatever order.
    """
    j = 0
    rise, fall = 1.0 / (1.0 - mean), 1.0 / mean  # infinite if no pull takes X that way
    while j < most:
        certain = max(int(min((up - at) * rise, (down + at) * fall, 64.0)), 1)
        size = min(4 * certain, most - j)
        ones = bits_set(word & lanes(j, size))
        while size > certain and (
            at + ones * (1.0 - mean) >= up or at - (size - ones) * mean <= -down
        ):
            size >>= 1
            ones = bits_set(word & lanes(j, size))
        at += ones - size * mean
        j += size
        if at >= up or at <= -down:
            break
    return j


def _no_walk(run: Run, walls: Corridors, done: int, most: int, state: State) -> tuple[int, State]:
    return most, state


@for_words(_no_walk)
@in_place
def _walk_by_words(
    run: Run, walls: Corridors, done: int, most: int, state: State
) -> tuple[int, State]:
    """Pull the picks at most 64 times and `most` times, until one of them is at a wall, `done`
    pulls after the round; return how often."""
    law, s, picks = run.law, run.ranking, run.clock[PICKS]
    step = min(64, most)
    for j in range(picks):
        x = s.picks[j]
        walls.words[x], state = laws.word(law, s.arm_of[s.order[x]], int(s.taken[x]) + done, state)
        step = first_exit(
            walls.words[x], s.mean[x], walls.moved[x], walls.up[x], walls.down[x], step
        )
    for j in range(picks):
        x = s.picks[j]
        ones = bits_set(walls.words[x] & lanes(0, step))
        s.total[x] += ones
        walls.moved[x] += ones - step * s.mean[x]
    return step, state


@inlined
def _stay_up_to_an_error(
    run: Run, walls: Corridors, budget: float, state: State
) -> tuple[int, State]:
    """Return for how many pulls all picks stay inside, up to the jump's share of errors, or, of picks
    of which something is known, as bridges certify."""
    law, s = run.law, run.ranking
    stay = LONGEST
    for j in range(run.clock[PICKS]):
        x = s.picks[j]
        arm = s.arm_of[s.order[x]]
        if foreseen(law, arm):
            up, down = walls.up[x] - walls.moved[x], walls.down[x] + walls.moved[x]
            known, state = foreseen_stay(law, run, arm, s.mean[x], up, down, state)
            stay = min(stay, known)
            continue
        drift = laws.mean_of(law, s.arm_of[s.order[x]]) - s.mean[x]
        stay = min(stay, longest_stay(walls.up[x] - walls.moved[x], drift, budget))
        stay = min(stay, longest_stay(walls.down[x] + walls.moved[x], -drift, budget))
    return int(stay * CAUTION), state


@inlined
def _foreseen_picks(run: Run) -> int:
    """Return of how many picks something is known."""
    law, s, number = run.law, run.ranking, 0
    for j in range(run.clock[PICKS]):
        number += foreseen(law, s.arm_of[s.order[s.picks[j]]])
    return number


@inlined
def _pull_all(run: Run, walls: Corridors, done: int, step: int, state: State) -> tuple[bool, State]:
    """Pull every pick so many times, `done` pulls after the round; False if a sum is not finite."""
    law, s, fine = run.law, run.ranking, True
    for j in range(run.clock[PICKS]):
        x = s.picks[j]
        before = s.total[x]
        arm, pulls = s.arm_of[s.order[x]], int(s.taken[x]) + done
        if step == 1:
            s.total[x], state = laws.one_pull(law, arm, before, pulls, state)
        else:
            s.total[x], state = laws.more_pulls(law, arm, before, pulls, step, state)
        walls.moved[x] += (s.total[x] - before) - step * s.mean[x]
        if not finite(s.total[x]):
            report(run.fault, NOT_FINITE, arm, pulls + step)
            fine = False
    return fine, state


@inlined
def advance(run: Run, walls: Corridors, state: State) -> State:
    """Pull the picks until one of them may have left its corridor, or as often as the corridors
    certify."""
    law, s, clock = run.law, run.ranking, run.clock
    picks, limit, fine, done = clock[PICKS], clock[CERTIFIED], True, 0
    while True:
        H = narrowest(walls, s, picks)
        step = sure_rounds(H, laws.spread(law))
        sampled = _foreseen_picks(run) == 0
        budget = exit_budget(law, picks, run.setting.skip_error, clock[JUMPS] + 1)
        reach = H * H / budget  # about the length that is certified when the means have settled
        if laws.has_words(law) and sampled and max(np.float64(step), reach) < WORTH_A_STRETCH:
            step, state = _walk_by_words(run, walls, done, limit - done, state)
        else:
            if 4.0 * reach > step:
                clock[JUMPS] += 1
                stay, state = _stay_up_to_an_error(run, walls, budget, state)
                step = max(step, stay)
            step = min(step + 1, limit - done)
            fine, state = _pull_all(run, walls, done, step, state)
        done += step
        if (
            not fine
            or done >= limit
            or narrowest(walls, s, picks) <= 0.0
            or stopped_at(
                run.history,
                clock[ROUND] + done - 1,
                clock[PULLS] + done * picks,
                clock[RANKED] + clock[COLD],
            )
        ):
            break
    for j in range(picks):
        x = s.picks[j]
        s.taken[x] += done
        s.mean[x] = s.total[x] / s.taken[x]
    clock[ROUND] += done - 1
    clock[PULLS] += done * picks
    return state
