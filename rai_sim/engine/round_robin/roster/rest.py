"""For how many rounds an arm may be left alone, and why what is found without it is right.

Legend. c arms stand above a border; u and l are the sums of ranks c and c + 1 among all active arms,
the last above it and the first below. An arm at rest stands *behind* k borders: above border k, counted
from 0, and below border k - 1. n arms are on the roster at first; all is in law units.

What rest means. In every round in which it rests, an arm behind k borders

1. is above u of border k, and below l of border k - 1;
2. is not clear on one of the sides on which its cluster has a border: S - l <= W at border k, or
   u - S <= W at border k - 1.

By 2 it is not settled in these rounds. By 1 it is none of the arms beside border k or k - 1, nor beside
any other, as u and l fall from border to border: the sums beside borders can be found among those on
duty.

There are two reasons to rest, and for each condition the one that holds for longer is taken.

Sure bound. If rewards lie in an interval of length h, each sum rises by something in it a round, and so
does every order statistic of the same arms. So S - u and S - l change by at most h a round, and what is
at distance D stays on its side for k rounds if k h < D, whatever the rewards. When arms are settled the
active arms are others, but u and l stay what they were: as many of those settled are above u as ranks
are fewer, unless one of them stands beside a border. If one does, or if clusters merge, all are called
in the next round (`stride`). Rounding: a sum of a round is rounded once, by half of its last place at
most; `_ROUNDING` adds to h more than that does to the arm's sum and another in a round, while they do
not more than double, and `CAUTION` more than it does to what rewards add to that.

Up to eps. When all are called, *fences* are set for each border: lines f+ above u and f- below l, which
rise as u and l are expected to. An arm that begins to rest in round R does so with regard to them:
for 1, S > f+ of border k and S < f- of border k - 1; for 2, S < f- + W(R) of border k or S > f+ - W(R) of
border k - 1, as W only grows. S is a walk and each of these a line, so that by the bound of
`rai_sim.engine.certificates`, with one arm in the place of a pair, at distance D now and D_k on average
after k rounds the line is reached within k rounds with probability at most exp(-min(D_k, 2 D)^2 / (2 v
k)), v the variance proxy of a reward. Of an arm that begins to rest three lines are asked for at most:
two for 1, and for 2 one, chosen at that time. With

    min(D_k, 2 D)^2 >= 2 v k ln(3 n R (R + 1) / eps)

one is reached with probability at most eps / (n R (R + 1)), given all before. An arm begins to rest at
most once a round, and the sum of 1 / (R (R + 1)) is 1: no rest of any arm fails but with probability
eps, which is the share that a jump has of the replication's budget. An arm may be called before it is
due: that hangs on what was seen of others, and the bound is for all of the k rounds at once. All are
called before fences are set anew, so that an arm rests with regard to the fences that stand.

What is found is right. In a round, let a arms be at rest above a border, and u' and l' the sums of
ranks c - a and c - a + 1 among those on duty. Suppose that these ranks are there, that they do not fall
from border to border, and that u' <= f+ and l' >= f- at each (where there are fences). Then u' = u and l'
= l at each. For an arm at rest above the border is above u (sure bound) or above u' (it is above f+ of
its own border, which is no less than u' there, nor than u' here); and one below is below l or below l'.
If u < u', then those a, and c - a of those on duty, would be above u: but c - 1 are at most. If u > u', the
c arms at u or above would be among the a and the c - a - 1 of those on duty who are above u', for
those at rest below are below l <= u or below l' <= u' < u: too few. Likewise for l. The sure bound needs u
and l of the round before, or rather of the one in which the arm began to rest: they were found, and
right.

If something of what is supposed does not hold, all are called in that very round, which their rests
do not reach into then, and it is judged with all sums known.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rai_sim.engine import law as laws
from rai_sim.engine.certificates import CAUTION, certified_on_line, log_over_share
from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.round_robin.roster.lists import JUMP, SHARERS, Roster
from rai_sim.engine.round_robin.run import Run, width

#: Half of a last place is 2^-53 of a number at most.
_ROUNDING = 2.0**-49


class Reach(NamedTuple):
    """What the certificates of a round have in common."""

    W: float
    spread: float  # h
    far: float  # the largest absolute value that a sum beside a border has, or W
    budget: float  # 2 v ln(..), infinite if nothing may be left to chance
    least: float  # no round is certified up to eps at a smaller distance


@kernel
def reach_in(run: Run, R: int) -> Reach:
    """Return what is certified by after round R; `far` is W."""
    law, W, budget = run.race.law, width(run, R), rest_budget(run, R)
    return Reach(W, laws.spread(law), W, budget, 0.5 * math.sqrt(budget))


@kernel
def rest_budget(run: Run, R: int) -> float:
    """Return 2 v ln(3 n R (R + 1) / eps) for rests that begin after round R; infinite if nothing may
    be left to chance."""
    cells, skip_error = run.crowd.cells, run.setting.skip_error
    if skip_error <= 0.0:
        return np.inf
    ways = 3.0 * cells[SHARERS] * np.float64(R) * (R + 1.0)
    return (
        2.0 * laws.proxy(run.race.law) * (math.log(ways) + log_over_share(skip_error, cells[JUMP]))
    )


@inlined
def rounds_of_rest(
    roster: Roster, borders: int, k: int, sum_: float, mean: float, reach: Reach
) -> float:
    """Return for how many rounds an arm behind k borders may rest."""
    beside, fences, paces, W = roster.beside, roster.fences, roster.paces, reach.W
    share = CAUTION / (reach.spread + _ROUNDING * (abs(sum_) + reach.far))
    kept, unclear = np.inf, 0.0
    if k > 0:
        e = 2 * k - 1
        kept = _held(beside[e] - sum_, share, fences[e] - sum_, mean - paces[e], reach)
        if kept < 1.0:
            return 0.0
    if k < borders:
        e = 2 * k
        above = _held(sum_ - beside[e], share, sum_ - fences[e], paces[e] - mean, reach)
        if above < 1.0:
            return 0.0
        kept = min(kept, above)
        e = 2 * k + 1
        unclear = _held(W - (sum_ - beside[e]), share, fences[e] - sum_ + W, mean - paces[e], reach)
    if k > 0:
        e = 2 * k - 2
        also = _held(W - (beside[e] - sum_), share, sum_ - fences[e] + W, paces[e] - mean, reach)
        unclear = max(unclear, also)
    return min(kept, unclear)


@inlined
def _held(D: float, share: float, D_line: float, slope: float, reach: Reach) -> float:
    """Return for how many rounds a condition holds of an arm at distance D from a sum, of which the
    share of a round is the reciprocal of what it may lose, and at distance D_line from a line that it
    approaches by `slope` a round."""
    rounds = D * share
    if D_line >= reach.least:
        most = 4.0 * D_line * D_line / reach.budget
        rounds = max(rounds, min(most, certified_on_line(D_line, slope, reach.budget)))
    return rounds
