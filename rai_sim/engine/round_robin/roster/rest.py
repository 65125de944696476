"""For how many rounds an arm may be left alone, and why what is found without it is right.

Legend. u and l of a border: the least sum of the active arms above it and the greatest of those
below, order statistics of ranks c and c + 1, c being how many arms stand above. An arm at rest stands
*behind* k borders: above border k, counted from 0, and below border k - 1. All sums in law units.

What rest means. In every round in which it rests, an arm behind k borders

1. is above u of border k, and below l of border k - 1;
2. is not clear on one of the sides on which its cluster has a border: S - l <= W at border k, or u - S
   <= W at border k - 1.

By 2 it is not settled in these rounds. By 1 it is above u of all later borders and below l of all
earlier ones, as these are ordered; so order statistics are found without those at rest: with a of them
above a border, u is at rank c - a of those on duty. For take any ranking in which, among equal sums, no
one at rest comes next to the border: by 1 those at rest above it are among its first c - 1 arms, those
below are not among its first c + 1.

Two reasons to rest, of which the one that holds for longer counts for each of the conditions.

Sure bound. If rewards lie in an interval of length h, each sum rises by something in it a round, and so
does every order statistic of the same arms. So S - u and S - l change by at most h a round, and an arm
at distance D is on the same side of a border, or not clear of it, for k rounds if k h < D. When arms
are settled the active arms are others, but u and l stay what they were: of those settled, as many as
ranks are fewer are above u, unless an arm beside a border is among them. If one is, or if clusters
merge, all are called in the next round (`stride`), and rest begins anew. (Not even rounding of sums is
neglected: `step` adds to h what it can do to two sums.)

Up to eps. When all are called, in round R, *fences* are set about the border, lines f+ above u and f- below
l that rise as u and l are expected to. An arm rests with regard to these: it is above f+, or below
f-; or S <= f- + W(R), or S >= f+ - W(R). Its sum is a walk, and each of these bounds a line, so that by the
bound of `rai_sim.engine.certificates`, with one arm in the place of a pair and W(R) for the larger W
later, at distance D now and D_k after k rounds on average it is reached within k rounds with probability
at most exp(-min(D_k, 2 D)^2 / (2 v k)), v the variance proxy of a reward. At most three bounds
concern an arm at a time: the fences beside it, and one for 2, chosen as it begins to rest. With

    min(D_k, 2 D)^2 >= 2 v k ln(3 n R (R + 1) / eps)

all of them hold, but for a share eps / (n R (R + 1)) of probability. An arm begins to rest at most once a
round; so all rests of n arms take less than eps, since the sum of 1 / (R (R + 1)) is 1: the share
that a jump of the replication's budget has. When an arm is called before it is due nothing changes:
that is decided by rewards of others, and the bounds hold for all rounds at once.

Between them: let u' and l' be what is found among those on duty, and suppose u' <= f+ and l' >= f- in a
round, for all borders. Then u' = u. For if u < u', then the arms at rest above, who are above u or above
f+ >= u', and those on duty at u' or above, c in all, would be above u, where there are c - 1 at most. If u
> u', there are c arms at u or above; on duty are c - a - 1 of these at most, at rest above a; those
at rest below are below l <= u or below f- <= l' <= u' < u: too few. Likewise l' = l. So the fences are
held against what is found; if that is beyond them, or is not found as too few are on duty, all arms are
called in that very round (they rest in the rounds before), and it is judged with all sums known.

For the sure bound that argument goes from round to round: u of the round before is right.
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

#: More than rounding can do to two sums a round, relatively, while they double: eight times the
#: half of a last place.
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
