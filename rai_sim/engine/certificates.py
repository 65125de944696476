"""Certified jumps of round robin, and of LUCB in step: for how many rounds can no arm be settled?

Legend. n active arms with R pulls each; S their sums, S_(0) >= S_(1) >= .. ranked; W(R) the width
in sums; everything in law units.

What an event is. A cluster holds ranks p0..p1-1. Its arm at rank x is settled iff up_x = S_(p0-1) -
S_(x) > W and down_x = S_(x) - S_(p1) > W, a side without arms holding trivially. Along the cluster
up grows and down falls. Cut it at any q in p0..p1: as long as up_(q-1) <= W and down_q <= W (each
where it exists), nobody in the cluster is settled, for every x < q has up_x <= up_(q-1) and every x
>= q has down_x <= down_q. So no arm at all is settled while at most two *constraints* a cluster
hold: pairs of ranks (x, y) with S_(x) - S_(y) <= W. We cut where the two gaps cross, which makes
the constraint tight: some arm is settled now iff G, the largest constrained gap, exceeds W now.

From ranks to arms. Fix the ranking of round R. At any later time S'_(x) is at most the largest S'_a
among the n - x arms now at ranks >= x, because only x arms are elsewhere; likewise S'_(y) is at
least the smallest S'_b among the arms now at ranks <= y. So (x, y) holds later if every pair (a, b)
of distinct arms, a now at rank >= x and b at rank <= y, has S'_a - S'_b <= W' (for a = b the
difference is 0 and W' > 0), and every such pair starts with S_a - S_b <= S_(x) - S_(y) <= G.

1. Sure bound. With rewards in an interval of length h, S_a - S_b grows by at most h a round while W
   only grows: nothing happens in the next floor((W - G) / h) rounds.

2. Bound up to eps. Let D = W(R) - G and let D_k be W(R+k) less the largest of S_a - S_b + k (mu_a -
   mu_b) over constraints and pairs. For one pair, X_j = (S'_a - S'_b) - (S_a - S_b) - j (mu_a -
   mu_b) after j more rounds is a martingale whose increments are sub-Gaussian with variance proxy v
   (the sum of the two arms' proxies; 1/2 for rewards in [0, 1]). An event in round R + j <= R + k
   needs, for some pair, X_j >= D + (D_k - D) j / k: the pair's expected difference is linear in j
   and at most G at 0 and W(R+k) - D_k at k, and W is concave, so that W less it lies above the
   chord (a lower bound of W that is itself concave serves as well). Let D_k' = min(D_k, 2 D), which
   only lowers the chord, and s = (D_k' - D) / k. For t = D_k' / (v k), exp(t X_j - v t^2 j / 2) is
   a supermartingale, and at a crossing it is at least exp(t (D + s j) - v t^2 j / 2). The exponent
   is linear in j, t D at j = 0 and t D_k' - v t^2 k / 2 = D_k'^2 / (2 v k) at j = k, and t D = D
   D_k' / (v k) is at least that since D_k' <= 2 D. By Ville's inequality

    P(some crossing by round R + k) <= exp(-D_k'^2 / (2 v k)),

so a jump of k rounds is certified up to eps if D_k'^2 >= 2 v k ln(n (n - 1) / eps).

`longest_jump` finds such a k without a search. The chord again: for k <= K, D_k >= D - k (D - D_K)
/ K, because D_k is concave in k.

Budget. The jumps of a replication are numbered; the first 1023 get eps = skip_error 2^-11 each,
together less than half of it; those with numbers 2^(9+b)..2^(10+b) - 1, b = 1, 2, .., get
skip_error 2^-(10+2b) each, together the sum over b of 2^-(1+b), which is the other half. Which
jumps are made depends on the past alone, and each bound holds given the past, so by the union bound
the skipped rounds of a whole replication hold no event except with probability skip_error. On that
event's complement the simulated replication coincides with one simulated round by round from the
same sums: skip_error bounds the total-variation distance between the two laws of (pulls, rounds,
outputs).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine import law as laws
from rai_sim.engine import schedule as schedules
from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.ranking import Standings
from rai_sim.support.limits import MOST_PULLS

_LN2 = math.log(2.0)
#: Fewer jumps than this share half of a replication's budget.
FIRST_JUMPS = 1024
#: No certificate says more than this.
LONGEST = MOST_PULLS / 2.0
#: How many lengths a search for a long jump tries.
TRIES = 3
#: Takes more off the sure bound than rounding can add to it.
CAUTION = 1.0 - 1e-9


class Constraints(NamedTuple):
    """Pairs of ranks whose gap must stay within W, at most two a cluster; and O(N) room to project
    sums in."""

    high: NDArray[np.int64]  # (2m,) rank x
    low: NDArray[np.int64]  # (2m,) rank y
    number: NDArray[np.int64]  # (1,) how many there are
    suffix: NDArray[np.float64]  # (N,) largest projected sum from a rank on
    prefix: NDArray[np.float64]  # (N,) smallest projected sum up to a rank


class Race(NamedTuple):
    """Arms with equally many pulls each, what bounds their gaps, and the words of their rewards."""

    law: Any
    schedule: Any
    standings: Standings
    constraints: Constraints
    words: Any  # `rai_sim.engine.words.Words`


def new_constraints(N: int, m: int) -> Constraints:
    """Allocate."""
    return Constraints(
        high=np.empty(2 * m, np.int64),
        low=np.empty(2 * m, np.int64),
        number=np.zeros(1, np.int64),
        suffix=np.empty(N),
        prefix=np.empty(N),
    )


@inlined
def constrain(
    constraints: Constraints, total: NDArray[np.float64], open_sizes: NDArray[np.int64], n: int
) -> float:
    """Cut each cluster, note the constraints; return G, infinite if one cluster holds every active
    arm."""
    high, low = constraints.high, constraints.low
    count, G, p0 = 0, -np.inf, 0
    for i in range(open_sizes.size):
        p1 = p0 + open_sizes[i]
        if p1 > p0:
            if p0 == 0 and p1 == n:
                count, G = 0, np.inf
                break
            q = p0
            if p1 == n:
                q = p1
            elif p0 > 0:
                q = _crossing(total, p0, p1)
            if q > p0:
                high[count], low[count] = p0 - 1, q - 1
                G = max(G, total[p0 - 1] - total[q - 1])
                count += 1
            if q < p1:
                high[count], low[count] = q, p1
                G = max(G, total[q] - total[p1])
                count += 1
        p0 = p1
    constraints.number[0] = count
    return G


@kernel
def _crossing(total: NDArray[np.float64], p0: int, p1: int) -> int:
    """Return the first rank of a middle cluster whose gap upwards is at least its gap downwards, p1
    if there is none."""
    above, below = total[p0 - 1], total[p1]
    left, right = p0, p1
    while left < right:
        x = (left + right) // 2
        if above - total[x] >= total[x] - below:
            right = x
        else:
            left = x + 1
    return left


@kernel
def projected_gap(race: Race, n: int, k: float) -> float:
    """Return the largest S_a - S_b + k (mu_a - mu_b) over constraints and their pairs."""
    law, standings, constraints = race.law, race.standings, race.constraints
    order, total, arm_of = standings.order, standings.total, standings.arm_of
    prefix, suffix = constraints.prefix, constraints.suffix
    least, most = np.inf, -np.inf
    for x in range(n):
        least = min(least, total[x] + k * laws.mean_of(law, arm_of[order[x]]))
        prefix[x] = least
    for x in range(n - 1, -1, -1):
        most = max(most, total[x] + k * laws.mean_of(law, arm_of[order[x]]))
        suffix[x] = most
    gap = -np.inf
    for j in range(constraints.number[0]):
        gap = max(gap, suffix[constraints.high[j]] - prefix[constraints.low[j]])
    return gap


@kernel
def sure_rounds(D: float, spread: float) -> int:
    """Return for how many rounds bound 1 certifies that a gap at distance D > 0 below W stays
    within it; spread may be 0 or infinite."""
    if spread <= 0.0:
        return int(LONGEST)
    # NaN is no number of rounds: none are sure
    return int(min(max(0.0, D * CAUTION / spread), LONGEST))


@kernel
def log_over_share(skip_error: float, jump: int) -> float:
    """Return log(1 / eps), eps the share of a replication's budget that jump number `jump` >= 1
    gets."""
    halvings = 11
    if jump >= FIRST_JUMPS:
        halvings = 10
        while jump >= FIRST_JUMPS:
            jump >>= 1
            halvings += 2
    return halvings * _LN2 - math.log(skip_error)


@kernel
def take_block(skip_error: float, jumps: int) -> tuple[float, int]:
    """Return the shares together of all jumps of the first block after jump number `jumps`, and the
    number of its last."""
    first, share = FIRST_JUMPS, 0.25 * skip_error
    while jumps >= first:
        first, share = 2 * first, 0.5 * share
    return share, 2 * first - 1


@kernel
def pair_budget(law: Any, n: int, skip_error: float, jump: int) -> float:
    """Return 2 v ln(n (n - 1) / eps) for jump number `jump`; infinite if nothing may be left to
    chance."""
    if skip_error <= 0.0 or n < 2:
        return np.inf
    return 4.0 * laws.proxy(law) * (math.log(n * (n - 1.0)) + log_over_share(skip_error, jump))


@kernel
def certified_on_line(D: float, slope: float, budget: float) -> float:
    """Return the largest k, infinite if there is none, with D - k slope >= sqrt(k budget), which is
    solved for sqrt(k).

    Bound 2 certifies k rounds if the distances D_1..D_k lie above that line, and 2 D >= sqrt(k
    budget).
    """
    under_root = budget + 4.0 * slope * D
    if under_root <= 0.0:
        return np.inf
    root = 2.0 * D / (math.sqrt(budget) + math.sqrt(under_root))
    return root * root


@kernel
def next_length(D: float, K: float, k: float, uncapped: float, budget: float) -> float:
    """Return a better K to try after K gave k, or 0 if there is none worth a try."""
    if uncapped > 1.5 * K:
        longer = min(min(uncapped, 4.0 * D * D / budget), LONGEST)
        return longer if longer > 1.2 * K else 0.0
    return 2.0 * k if k < 0.4 * K else 0.0  # the chord was too long to be tight


@kernel
def longest_jump(race: Race, n: int, R: int, D: float, budget: float) -> int:
    """Return a number of rounds after R, as large as a few tries can tell, that bound 2
    certifies."""
    K, longest = min(D * D / budget, LONGEST), 0.0
    for _try in range(TRIES):
        if K < 1.0:
            break
        D_K = schedules.threshold(race.schedule, R + K) / laws.unit(race.law) - projected_gap(
            race, n, K
        )
        uncapped = certified_on_line(D, (D - D_K) / K, budget)
        k = min(K, uncapped)
        longest = max(longest, k)
        K = next_length(D, K, k, uncapped, budget)
    return int(longest)
