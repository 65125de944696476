"""Leaps of the last two arms: jumps whose end is drawn first, and that are judged given both ends.

Legend as in `rai_sim.engine.certificates`; W and gap = S_a - S_b stand for round R, W' and gap' for
round R + K, all in law units.

A jump that is certified beforehand has to allow for all ends it might have: it is a ninth of the
distance D = W - |gap| long, in standard deviations. Once its end is known, the walk in between is a
bridge, of which much more can be said: a leap is a fifth of D, so a third of the draws suffice. One leap
in some forty comes so near to W that no more than that is known. It is then cut in its middle: the
sums there are drawn given those at both ends (`law.sum_between`), and both halves are judged likewise.
Nothing is ever drawn anew, so what is looked at does not bias it.

Bound 3. Given the sums at both ends, an arm's rewards in between are exchangeable: at any time the
next one, given all before it, has the mean of those left, and is sub-Gaussian with a proxy
`bridge_proxy` = B. For rewards in an interval of length h this is h^2 / 4 (Hoeffding); for normal
ones sd^2 (their conditional variance is less). Let v = 2 B and

    c = (W - gap) (W' - gap'),  c' = (W + gap) (W' + gap'),  V = v (K + 1) / (K - 1), K >= 2.

If both arms' ends lie inside, all four factors being positive,

    P(|gap| > W in some round between | both ends) <= 2 exp(-2 c / (V K)) + 2 exp(-2 c' / (V K)),

the second of which is at most the square of the first one's half, doubled, if c' >= 2 c.

*Proof.* Let X_j be the gap after j more rounds, less its chord from gap to gap'. As m = K - j rewards
an arm are left, M_j = X_j / (K - j) is a martingale, and the logarithm of E exp(y (M_{j+1} - M_j)) is at
most y^2 v / (2 (m - 1)^2). Let T_j = j / (K (K - j)): it grows by 1 / (m (m - 1)). For j < K/2 one has m
- 1 >= (K - 1) / 2, so m / (m - 1) <= (K + 1) / (K - 1), and exp(y M_j - y^2 V T_j / 2) is a supermartingale
up to j = K/2, rounded up. W is concave, so it lies above its chord from W to W', and gap > W after j
rounds means X_j > ((W - gap) (K - j) + (W' - gap') j) / K, that is M_j > (W - gap) / K + (W' - gap') T_j. With y
= 2 (W' - gap') / V the supermartingale is then at least exp(2 c / (V K)), for which the probability is
at most exp(-2 c / (V K)) by Ville. Seen from the other end, the rewards backwards, the rest of the rounds
have the same bound; and so has -gap, with c'. []

Budget. A replication's last two arms get the shares of a whole block of jumps (`certificates.take_block`).
Given all that is drawn, what lies between two sums that nothing was drawn between has the law of such
bridges; so the bounds of all stretches that are passed over, added up, bound the probability that one
of them holds an event. A stretch is passed over only if its bound is at most half of what is
left, from which it is taken: the sum stays below the budget, whatever the number of stretches. Bounds fall by
many nats from one leap to the next, so hardly any takes a noticeable part.

W itself costs a logarithm. As W / sqrt(R + shift) does not fall, its value at an earlier round times
sqrt(R + shift) is a lower bound; at both ends it serves as W does, for its chord lies below W's. It is used as
long as it costs little: by a change of R in which W / sqrt(R + shift) grows by some hundredths of D / sqrt(R).
Where |gap| exceeds it no more is said than that the leap is over.

How long a leap is hangs on the past alone, and no proof on how long it is.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine import law as laws
from rai_sim.engine import schedule as schedules
from rai_sim.engine.certificates import Race, take_block
from rai_sim.engine.history import History, keep_state, next_asked, see_arm, stopped_at
from rai_sim.engine.jit import for_bridges, inlined, kernel
from rai_sim.engine.streams import State

#: A stretch may take this share of the budget that is left.
_SHARE = 0.5
#: Leaps are as long as may be if their end comes so many standard deviations nearer to W than
#: expected (measured).
_ALLOWED_FOR = 2.0
#: A leap spans at most so many times R.
_LONGEST = 4.0
#: Rewards that come as words are walked by words where D is no more than this (measured).
_NEAR = 64.0
#: Takes more off W than rounding can add to it.
_CAUTION = 1.0 - 2.0**-50
#: Jumps certified beforehand are as long as leaps for rewards whose proxy is below this share of their
#: bridge's.
_WORTH_IT = 0.35

#: Of arms a and b: their sums.
Sums = tuple[float, float]


class Pair(NamedTuple):
    """The two arms by the caller's indices, the pulls of all others, and mu_a - mu_b in law
    units."""

    a: int
    b: int
    others: int
    drift: float


class Ahead(NamedTuple):
    """Sums that are known of later rounds, the nearest last."""

    rounds: NDArray[np.int64]  # (64,)
    known: NDArray[np.float64]  # (64, 3) W, and both sums


def new_ahead() -> Ahead:
    """Allocate: a stretch can be cut in two 63 times."""
    return Ahead(np.zeros(64, np.int64), np.zeros((64, 3)))


@inlined
def pull(law: Any, pair: Pair, sums: Sums, R: int, rounds: int, state: State) -> tuple[Sums, State]:
    """Draw the pulls of some rounds after R as one sum an arm."""
    of_a, state = laws.more_pulls(law, pair.a, sums[0], R, rounds, state)
    of_b, state = laws.more_pulls(law, pair.b, sums[1], R, rounds, state)
    return (of_a, of_b), state


@kernel
def see(history: History, pair: Pair, sums: Sums, R: int) -> int:
    """Keep the state of round R, for a trace; return the next round asked for."""
    see_arm(history, pair.a, sums[0] / R, R, pair.others + 2 * R)
    see_arm(history, pair.b, sums[1] / R, R, pair.others + 2 * R)
    keep_state(history, R)
    return next_asked(history)


def _no_budget(race: Race, skip_error: float, jumps: int) -> tuple[float, int]:
    return 0.0, jumps


@for_bridges(_no_budget)
def leap_budget(race: Race, skip_error: float, jumps: int) -> tuple[float, int]:
    """Return what may be spent on leaps, 0 if there are none or they do not pay, and the number of the
    last jump whose share that includes."""
    law = race.law
    if not (skip_error > 0.0 and schedules.leaps(race.schedule)):
        return 0.0, jumps
    if not (laws.has_words(law) or laws.spread(law) == np.inf):
        return 0.0, jumps  # near W the sure bound is better
    if not laws.proxy(law) > _WORTH_IT * laws.bridge_proxy(law):
        return 0.0, jumps
    return take_block(skip_error, jumps)


def _never(race: Race, D: float) -> bool:
    return False


@for_bridges(_never)
def far(race: Race, D: float) -> bool:
    """Whether a leap is worth it at distance D from W."""
    return (_NEAR if laws.has_words(race.law) else 0.0) < D


def _no_leaps(
    race: Race,
    history: History,
    ahead: Ahead,
    pair: Pair,
    sums: Sums,
    R: int,
    last: int,
    budget: float,
    state: State,
) -> tuple[int, Sums, float, State]:
    return R, sums, budget, state


@for_bridges(_no_leaps)
def leap(
    race: Race,
    history: History,
    ahead: Ahead,
    pair: Pair,
    sums: Sums,
    R: int,
    last: int,
    budget: float,
    state: State,
) -> tuple[int, Sums, float, State]:
    """Leap until W is near, or to round `last`; return the round, the sums after it, and what is left
    of the budget. No round before it has |S_a - S_b| > W. R is before `last`, and within W."""
    law, schedule, due = race.law, race.schedule, next_asked(history)
    v = 2.0 * laws.bridge_proxy(law)
    slack = _ALLOWED_FOR * math.sqrt(v)
    least = slack * slack - 2.0 * v * math.log(_SHARE / 2.0 * budget)
    W, shift = (
        schedules.threshold(schedule, np.float64(R)) / laws.unit(law),
        schedules.shift(schedule),
    )
    anchor = R + shift
    rate = W / math.sqrt(anchor)
    while True:
        gap = sums[0] - sums[1]
        D = W - abs(gap)
        slope = math.copysign(pair.drift, pair.drift * gap) - 0.5 * W / (R + shift)
        root = 0.5 * (slack + math.sqrt(max(least + 4.0 * D * slope, 0.0)))
        K = int(max(min(min(D * D / (root * root), _LONGEST * R), np.float64(last - R)), 1.0))
        ends, state = pull(law, pair, sums, R, K, state)
        X_end = np.float64(R + K) + shift
        # a shift may be infinite: then W itself is asked for
        if (X_end - anchor) * W <= D * X_end < np.inf:
            W_end = rate * math.sqrt(X_end)
        else:
            W_end = schedules.threshold(schedule, np.float64(R + K)) / laws.unit(law)
            anchor, rate = X_end, W_end / math.sqrt(X_end)
        bound = touched(v, W, gap, W_end, ends[0] - ends[1], K)
        if bound <= _SHARE * budget:
            R, W, sums, budget = R + K, W_end, ends, budget - bound
        else:
            R, W, sums, budget, state = _bisect(
                race, ahead, pair, v, R, W, sums, R + K, W_end, ends, budget, state
            )
        if due <= R:
            due = see(history, pair, sums, R)
        if (
            last <= R
            or not far(race, W - abs(sums[0] - sums[1]))
            or stopped_at(history, R, pair.others + 2 * R, 2)
        ):
            return R, sums, budget, state


@inlined
def touched(v: float, W: float, gap: float, W_end: float, gap_end: float, K: int) -> float:
    """Return bound 3, K rounds from one end to the other; infinite if nothing is known."""
    if K == 1:
        return 0.0
    W, W_end, k = W * _CAUTION, W_end * _CAUTION, np.float64(K)
    if not (abs(gap) < W and abs(gap_end) < W_end):
        return np.inf
    below, above = (W - gap) * (W_end - gap_end), (W + gap) * (W_end + gap_end)
    nearer = min(below, above)
    one = math.exp(-2.0 * nearer * (k - 1.0) / (v * k * (k + 1.0)))
    return 2.0 * one * (1.0 + one) if max(below, above) >= 2.0 * nearer else 4.0 * one


@kernel
def _bisect(
    race: Race,
    ahead: Ahead,
    pair: Pair,
    v: float,
    R: int,
    W: float,
    sums: Sums,
    R_end: int,
    W_end: float,
    ends: Sums,
    budget: float,
    state: State,
) -> tuple[int, float, Sums, float, State]:
    """Go from round R to R_end, of which the sums are known, by ever shorter stretches, or to the first
    round before it with |gap| > W; return the round, W and the sums there, and the budget left."""
    law, schedule = race.law, race.schedule
    _lay_down(ahead, 0, R_end, W_end, ends)
    top = 0
    while top >= 0 and abs(sums[0] - sums[1]) <= W:
        K, W_end, ends = _next(ahead, top)
        K -= R
        bound = touched(v, W, sums[0] - sums[1], W_end, ends[0] - ends[1], K)
        if bound <= _SHARE * budget:
            R, W, sums, budget = R + K, W_end, ends, budget - bound
            top -= 1
        else:
            half = K // 2
            of_a, state = laws.sum_between(law, pair.a, sums[0], R, half, ends[0], K, state)
            of_b, state = laws.sum_between(law, pair.b, sums[1], R, half, ends[1], K, state)
            W_half = schedules.threshold(schedule, np.float64(R + half)) / laws.unit(law)
            top += 1
            _lay_down(ahead, top, R + half, W_half, (of_a, of_b))
    return R, W, sums, budget, state


@inlined
def _lay_down(ahead: Ahead, top: int, R: int, W: float, sums: Sums) -> None:
    """Note the sums of a later round."""
    ahead.rounds[top], ahead.known[top, 0] = R, W
    ahead.known[top, 1], ahead.known[top, 2] = sums


@inlined
def _next(ahead: Ahead, top: int) -> tuple[int, float, Sums]:
    """Return the next round of which sums are known, W and the sums."""
    return ahead.rounds[top], ahead.known[top, 0], (ahead.known[top, 1], ahead.known[top, 2])
