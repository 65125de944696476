"""LUCB while every active arm is pulled in every round: jumps as in the round-robin loop.

Legend. n active arms with t pulls each; R round, R - t constant; S their sums, ranked; W the width
in sums; everything in law units.

When. A cluster that still wants an arm and has one open place has the arm there, whichever it is,
for its nearest and pulls it. A cluster of one place that wants nothing has its arm pulled if a
wanting cluster sees no other arm on that side. If all open clusters are of these kinds (two arms; a
full ranking), every round pulls every active arm, whatever the order. So the only event to look for
is an arm that is settled.

Threshold. With t pulls each, radius = c / sqrt(2 t), c^2 = ln(scale R^3), scale = pi^2 N / (3
delta). An arm is settled iff it is beaten by more than 2 radius by all before its cluster and beats
by more than that all after it: in sums, by more than W = 2 t radius = sqrt(2 t ln(scale R^3)). That
is the settle test of Vanilla with another threshold, so `rai_sim.engine.certificates` applies: its
proofs need that W increases and is concave in R. With l = ln(scale R^3) and rho = t / R in (0, 1],
W^2 / 2 = g = t l has g' = l + 3 rho and R g'' = 3 (2 - rho), so that 2 g g'' - g'^2 = 6 rho (2 -
rho) l - (l + 3 rho)^2 = 6 rho (1 - rho) l - l^2 - 9 rho^2 <= 1.5 l - l^2 < 0, as l >= ln(2 pi^2 /
3) > 1.5; and sqrt(g) is concave where 2 g g'' <= g'^2.

The printed rule looks at neighbouring clusters only, which for equal counts is the same, unless a
neighbour is empty and nobody is looked at on that side; then the rounds are judged one by one.

The threshold is taken a little low, by more than rounding, so that a round in which an arm might be
settled is judged by the operations of the definition. Those round relative to W, but also relative
to the means, of which they take and compare differences: four roundings of at most 2^-53 of a mean,
or t times that in sums. Taking that off, a multiple of R, leaves W concave.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rai_sim.algorithms.lucb.rule import Ranking
from rai_sim.algorithms.lucb.run import JUMPS, PICKS, PULLS, RANKED, ROUND, Run, rounds_left
from rai_sim.engine import law as laws
from rai_sim.engine import schedule as schedules
from rai_sim.engine.certificates import (
    CAUTION,
    Constraints,
    Race,
    constrain,
    longest_jump,
    pair_budget,
    sure_rounds,
)
from rai_sim.engine.faults import NOT_FINITE, finite, report
from rai_sim.engine.history import History, keep_state, next_asked, see_arm, stopped_at
from rai_sim.engine.jit import implements, inlined, kernel
from rai_sim.engine.ranking import Standings, repair
from rai_sim.engine.streams import State
from rai_sim.engine.vectors import LANES
from rai_sim.engine.words import WORTH_A_JUMP, Words, advance, draw_words, first_suspect

#: More than rounding relative to means can add to a threshold, a pull; `CAUTION` sees to rounding
#: relative to the threshold.
_OF_MEANS = 4.0 * 2.0**-52


class InStep(NamedTuple):
    """The threshold's parameters: pi^2 N / (3 delta), R - t, and what rounding relative to means
    may add to a difference of means."""

    scale: float
    behind: float
    rounding: float


@implements(schedules.threshold, InStep)
def _threshold(schedule: InStep, R: float) -> float:
    t = R - schedule.behind
    return (
        CAUTION * math.sqrt(2.0 * t * math.log(schedule.scale * R * R * R)) - schedule.rounding * t
    )


@kernel
def all_in_step(run: Run) -> bool:
    """Whether from the next round on every round pulls every active arm until one is settled, all
    with equally many pulls.

    By `rule.settle_and_choose` a wanting cluster of one arm has this arm picked, its nearest, and
    those that attain L_i and U_i. So the arm of one that wants none is picked, whatever the bounds,
    if a wanting cluster sees no other on that side: if it ranks first or last of all and the next
    one wants; as printed, where only neighbours are seen, if any next one wants. The round has been
    judged, its picks are not pulled yet.
    """
    s, part, n, as_printed = run.ranking, run.part, run.clock[RANKED], run.rule.as_printed
    # open clusters so far; about the last: wants an arm, is pulled only if the next one does
    ranks, wanted, unsure = 0, False, False
    for i in range(part.open_sizes.size):
        if part.open_sizes[i] > 1 or (
            as_printed and ranks > 0 and part.open_sizes[i] == 0 and ranks < n
        ):
            return False
        if part.open_sizes[i] == 1:
            wants = part.found[i] < part.required[i]
            if unsure and not wants:
                return False
            by_last = wanted and (as_printed or ranks == n - 1)
            unsure = not wants and not by_last
            if unsure and not (ranks + 1 < n and (as_printed or ranks == 0)):
                return False
            wanted = wants
            ranks += 1
    for j in range(run.clock[PICKS]):
        s.taken[s.picks[j]] += 1.0
    equal = True
    for x in range(n):
        equal = equal and s.taken[x] == s.taken[0]
    for j in range(run.clock[PICKS]):
        s.taken[s.picks[j]] -= 1.0
    return equal and n > 1


@inlined
def _and_one_more(quiet: int, left: int) -> int:
    """Return how many rounds to make where so many settle nobody: the next one is judged."""
    return min(quiet + 1, left)


@kernel
def pull_all(run: Run, words: Words, constraints: Constraints, state: State) -> State:
    """Pull all arms, until one might be settled."""
    law, s, part, clock, history, skip_error = (
        run.law,
        run.ranking,
        run.part,
        run.clock,
        run.history,
        run.setting.skip_error,
    )
    n, R, pulls, jumps, rounds = (
        clock[RANKED],
        clock[ROUND],
        clock[PULLS],
        clock[JUMPS],
        rounds_left(run),
    )
    unit = laws.unit(law)
    t = int(s.taken[0])
    repair(s.order, s.total, n, s.picks, s.lcb)  # by sums: means may hide differences
    schedule = InStep(
        run.rule.scale,
        np.float64(R - t),
        _OF_MEANS * unit * max(abs(s.total[0]), abs(s.total[n - 1])) / t,
    )
    race = Race(
        law=law,
        schedule=schedule,
        standings=Standings(
            order=s.order,
            total=s.total,
            arm_of=s.arm_of,
            spare_order=s.picks,
            spare_total=s.lcb,
        ),
        constraints=constraints,
        words=words,
    )
    G = constrain(constraints, s.total, part.open_sizes, n)
    made = 0
    while made < rounds and not stopped_at(history, R + made - 1, pulls + made * n, n):
        W = schedules.threshold(schedule, np.float64(R + made)) / unit
        if G > W and made > 0:
            break
        step, walk = 1, False
        if G < W:
            sure = sure_rounds(W - G, laws.spread(law))
            budget = pair_budget(law, n, skip_error, jumps + 1)
            # about the length that bound 2 certifies when means are close
            reach = (W - G) * (W - G) / budget
            if laws.has_words(law) and max(sure, reach) < WORTH_A_JUMP:
                walk = True
            elif 4.0 * reach > sure:
                jumps += 1
                sure = max(sure, longest_jump(race, n, R + made, W - G, budget))
            step = _and_one_more(sure, rounds - made)
        if walk:
            state = draw_words(race, n, t + made, state)
            W_end, step = schedules.threshold(schedule, np.float64(R + made + LANES)) / unit, 0
            most = min(LANES, rounds - made)
            while step < most and G <= W:
                until = min(1 + first_suspect(race, n, step, W, W_end), most)
                until = min(until, next_asked(history) - R - made)
                advance(race, n, step, until)
                step = until
                G = constrain(constraints, s.total, part.open_sizes, n)
                W = schedules.threshold(schedule, np.float64(R + made + step)) / unit
                _see(history, s, n, R + made + step, t + made + step, pulls + (made + step) * n)
        else:
            for x in range(n):
                s.total[x], state = laws.more_pulls(
                    law, s.arm_of[s.order[x]], s.total[x], t + made, step, state
                )
                if not finite(s.total[x]):
                    report(run.fault, NOT_FINITE, s.arm_of[s.order[x]], t + made + step)
                    rounds = 0
            repair(s.order, s.total, n, s.picks, s.lcb)
        made += step
        _see(history, s, n, R + made, t + made, pulls + made * n)
        G = constrain(constraints, s.total, part.open_sizes, n)
    for x in range(n):
        s.taken[x] = np.float64(t + made)
        s.mean[x] = s.total[x] / s.taken[x]
    clock[ROUND], clock[PULLS], clock[JUMPS] = R + made - 1, pulls + made * n, jumps
    return state


@inlined
def _see(history: History, s: Ranking, n: int, R: int, t: int, pulls: int) -> None:
    """Keep the state that round R will judge, for a trace, if it is asked for."""
    if next_asked(history) <= R:
        for x in range(n):
            see_arm(history, s.arm_of[s.order[x]], s.total[x] / t, t, pulls)
        keep_state(history, R)
