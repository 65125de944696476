"""Certified stretches of LUCB: for how many rounds are the same arms pulled, and is no arm settled?

Legend as in `rai_sim.algorithms.lucb.rule`; c = sqrt(ln(pi^2 R^3 N / (3 delta))), so that radius =
c / sqrt(2 n_a). Round R has been judged and settled nobody; C are its picks. As long as the picks
of the rounds after it are C as well, each arm of C takes a pull a round; before round R + j is
judged it has taken j of them.

Corridors. Arm a of C has n pulls, sum S and mean m = S / n in round R. It stays in its corridor
(-down, up) through pull j if its sum less its expected part, X_i = S' - S - i m, has -down < X_i <
up after i = 1..j pulls. Its mean is then m + X_i / (n + i), in (m - down / n, m + up / n). The
other arms keep their means. For rounds R+1..R+Q and c' = c (1 + 3 Q / (2 c^2 R)), c_R <= c_(R+j) <=
c' (since c_(R+j)^2 = c_R^2 + 3 ln(1 + j / R)), and n^-1/2 >= (n + j)^-1/2 >= n^-1/2 (1 - j / 2n);
so if all arms of C are in their corridors

    m - down / n - c' (2n)^-1/2  <=  LCB  <=  m + up / n - c (2n)^-1/2 (1 - Q / 2n),

likewise UCB, and for the arms outside of C without up, down and the last factor. A statement "LCB_a
< LCB_b in all these rounds" then follows from up_a / n_a + down_b / n_b <= D, D the difference of
the bounds for up = down = 0; we narrow both corridors to D / (1/n_a + 1/n_b), 1/n standing for 0
outside of C. `narrow_corridors` does that for the following statements and fails unless every D is
positive by more than `SLACK`, which exceeds all rounding. Together they imply that rounds R+1..R+Q
settle nobody and pick C, by induction over rounds:

1. Each border of the ranking keeps its arms on each side. So the clusters stay the same sets of
   arms. (Between ranks p-1 and p a mean is fixed which no arm of C may reach.)
2. Each arm x of cluster i has UCB_x > LCB_l or LCB_x < UCB_u, l and u being the arms that attain
   L_i and U_i in round R: as L_i <= LCB_l and U_i >= UCB_u at any later time, it is not settled.
3. For each cluster that wants arms pulled, l keeps the least LCB before it and u the greatest UCB
   after it, and the cluster's own weakest and strongest arms keep their bounds the least and the
   greatest.
4. Its nearest arm v keeps a smaller gap than each other arm x of the cluster. With L = LCB_l, U =
   UCB_u (by 3): gap_x is at least UCB_x
   - L and at least U - LCB_x, so that one of them, which we take from round R, need be larger than
     both terms of gap_v. Where cluster i is the first or the last, one of the terms is missing in
     all gaps.

Two arms may exchange a role of 3 where that changes no pick: if the cluster has one arm, which is
then the nearest, weakest and strongest whatever L_i and U_i are, and both of them are picked on
other grounds: as the only arm of a cluster that wants it, or the only one before or after such a
cluster. L_i and U_i enter nothing else, but for 2, which holds for whoever attains them.

How long all stay in their corridors. a. Rewards in an interval of length h: X_j moves by at most h
a pull, so surely for floor(H / h) pulls, H the least distance from a
   wall.
b. Up to eps: for one wall, H away, an exit within k pulls has probability at most exp(-min(H_k, 2
H)^2 / (2 v k)), where H_k = H - k
   (mu - m) for the upper wall and H - k (m - mu) for the lower one, v the variance proxy of a
   reward: X_j - j (mu - m) is a martingale, the wall less that drift a line, and bound 2 of
   `rai_sim.engine.certificates` argues the same case. So k pulls are certified for all 2 |C| walls
   if min(H_k, 2 H)^2 >= 2 v k ln(2 |C| / eps) for each. eps is the jump's share of the budget of
   that module.
c. For rewards 0 and 1 the next 64 pulls are drawn as a word and the first exit is looked up.
Whether it has come by pull j is known
   from the first j bits of all arms of C, so the bits after it are independent of all that is used,
   and thrown away.

After a jump certified for k pulls one more is made: the round it leads to is certified if all arms
are in their corridors, and is judged if not.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.lucb.rule import GREATEST, LEAST, NEAREST, STRONGEST, WEAKEST, Ranking
from rai_sim.algorithms.lucb.run import (
    CERTIFIED,
    JUMPS,
    LOG_TERM,
    PICKS,
    PULLS,
    RANKED,
    ROUND,
    WORTH_A_JUMP,
    Run,
    rounds_left,
)
from rai_sim.engine import law as laws
from rai_sim.engine.certificates import certified_on_line, log_over_share
from rai_sim.engine.faults import NOT_FINITE, finite, report
from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.sampling import bits_set, lanes
from rai_sim.engine.stop import raised
from rai_sim.engine.streams import State
from rai_sim.engine.words import new_counts

#: Relative to the means and radii, far more than the rounding of a bound, far less than bounds
#: differ.
SLACK = 1e-13
#: Rounds for which corridors are tried first, and then if there are none (measured).
_FIRST_LOOK, _SECOND_LOOK = 64.0, 8.0
#: Takes more off a bound than rounding can add to it.
_CAUTION = 1.0 - 1e-9
#: No certificate says more than this.
_LONGEST = 2.0**61


class Corridors(NamedTuple):
    """Memory of a block, O(N), by rank: what bounds can become if means stay, 1/n_a of the picks
    (else 0), and the picks' corridors."""

    lcb_lo: NDArray[np.float64]
    lcb_hi: NDArray[np.float64]
    ucb_lo: NDArray[np.float64]
    ucb_hi: NDArray[np.float64]
    weight: NDArray[np.float64]
    up: NDArray[np.float64]
    down: NDArray[np.float64]
    moved: NDArray[np.float64]  # X of the picks
    words: NDArray[np.uint64]
    counts: NDArray[np.uint8]  # by label: running counts of 64 rewards, see `rai_sim.engine.words`
    sure: NDArray[np.bool_]  # whether the arm is picked on other grounds than the role in question


def new_corridors(N: int) -> Corridors:
    """Allocate."""
    return Corridors(
        np.empty(N),
        np.empty(N),
        np.empty(N),
        np.empty(N),
        np.empty(N),
        np.empty(N),
        np.empty(N),
        np.empty(N),
        np.empty(N, np.uint64),
        new_counts(N),
        np.empty(N, np.bool_),
    )


@inlined
def widest_corridors(
    k: Corridors, s: Ranking, n: int, picks: int, log_term: float, R: int, Q: float
) -> None:
    """Bound each arm's LCB and UCB for Q rounds, were its mean to stay; open the corridors wide."""
    growth = 1.5 * Q / (log_term * R)
    for x in range(n):
        more = growth * 0.5 * (s.ucb[x] - s.lcb[x])
        k.lcb_lo[x], k.lcb_hi[x] = s.lcb[x] - more, s.lcb[x]
        k.ucb_lo[x], k.ucb_hi[x] = s.ucb[x], s.ucb[x] + more
        k.weight[x], k.up[x], k.down[x], k.sure[x] = 0.0, np.inf, np.inf, False
    for j in range(picks):
        x = s.picks[j]
        weight = 1.0 / s.taken[x]
        less = 0.25 * (s.ucb[x] - s.lcb[x]) * Q * weight
        k.lcb_hi[x] += less
        k.ucb_lo[x] -= less
        k.weight[x] = weight


@inlined
def _mark_sure_picks(
    k: Corridors, s: Ranking, n: int, open_sizes: NDArray[np.int64], as_printed: bool
) -> None:
    """Mark the arms that are the only candidates for some role."""
    p1, previous = 0, 0  # previous: where the arms that cluster i sees before it begin
    for i in range(open_sizes.size):
        p0 = p1
        p1 += open_sizes[i]
        if s.roles[NEAREST, i] >= 0:
            following = n
            if as_printed:
                following = p1 + (open_sizes[i + 1] if i + 1 < open_sizes.size else 0)
            if p1 - p0 == 1:
                k.sure[p0] = True
            if p0 - previous == 1:
                k.sure[previous] = True
            if following - p1 == 1:
                k.sure[p1] = True
        if as_printed:
            previous = p0


@inlined
def _lower(k: Corridors, a: int, b: int, D: float) -> bool:
    """Keep a bound of arm a below one of arm b, D the room, shared in proportion to 1/n; whether
    there is any."""
    if k.weight[b] == 0.0:
        k.up[a] = min(k.up[a], D)  # to no effect unless a is a pick
    elif k.weight[a] == 0.0:
        k.down[b] = min(k.down[b], D)
    else:
        H = D / (k.weight[a] + k.weight[b])
        k.up[a], k.down[b] = min(k.up[a], H * k.weight[a]), min(k.down[b], H * k.weight[b])
    return D > 0.0


@inlined
def _keep_border(k: Corridors, s: Ranking, picks: int, p: int, slack: float) -> bool:
    """Keep the arms of ranks below p above all others."""
    D = s.mean[p - 1] - s.mean[p] - 2.0 * slack
    above, below = k.weight[p - 1], k.weight[p]
    share = 0.5
    if above + below > 0.0:
        share = below / (above + below)
    border = s.mean[p] + slack + D * share
    for j in range(picks):
        x = s.picks[j]
        if x < p:
            k.down[x] = min(k.down[x], s.mean[x] - border)
        else:
            k.up[x] = min(k.up[x], border - s.mean[x])
    return D > 0.0


@inlined
def _keep_unsettled(k: Corridors, x: int, least: int, greatest: int, slack: float) -> bool:
    """Keep arm x unsettled by one of its opponents, the one that leaves more room."""
    by_least, by_greatest = -1.0, -1.0
    if least >= 0:
        by_least = k.ucb_lo[x] - k.lcb_hi[least] - slack
    if greatest >= 0:
        by_greatest = k.ucb_lo[greatest] - k.lcb_hi[x] - slack
    if by_least >= by_greatest:
        return least >= 0 and _lower(k, least, x, by_least)
    return _lower(k, x, greatest, by_greatest)


@inlined
def _keep_nearest(k: Corridors, v: int, x: int, least: int, greatest: int, slack: float) -> bool:
    """Keep v's gap smaller than x's, by that term of x's gap which is larger now."""
    safe = True
    by_least = greatest < 0
    if least >= 0 and greatest >= 0:
        by_least = k.ucb_lo[x] - k.lcb_hi[least] >= k.ucb_lo[greatest] - k.lcb_hi[x]
        # Four bounds share the room; a quarter each for the means of arms that may be outside of C
        # is simple, and hardly less.
        if by_least:  # U - LCB_v < UCB_x - L
            D = k.ucb_lo[x] + k.lcb_lo[v] - k.ucb_hi[greatest] - k.lcb_hi[least] - slack
            share = 0.25 * D
            k.down[x], k.down[v] = min(k.down[x], share), min(k.down[v], share)
            k.up[greatest], k.up[least] = min(k.up[greatest], share), min(k.up[least], share)
        else:  # UCB_v - L < U - LCB_x
            D = k.ucb_lo[greatest] + k.lcb_lo[least] - k.ucb_hi[v] - k.lcb_hi[x] - slack
            share = 0.25 * D
            k.down[greatest], k.down[least] = (
                min(k.down[greatest], share),
                min(k.down[least], share),
            )
            k.up[v], k.up[x] = min(k.up[v], share), min(k.up[x], share)
        safe = D > 0.0
    if by_least:
        return _lower(k, v, x, k.ucb_lo[x] - k.ucb_hi[v] - slack) and safe
    return _lower(k, x, v, k.lcb_lo[v] - k.lcb_hi[x] - slack) and safe


@inlined
def _keep_extreme(
    k: Corridors, winner: int, first: int, stop: int, least: bool, alone: bool, slack: float
) -> bool:
    """Keep the winner's LCB the least of those of ranks first..stop-1, or its UCB the greatest.

    Where the wanting cluster is alone, arms that are picked on other grounds may exchange the role.
    """
    safe, room = True, np.inf  # room for the winner's bound, from arms outside of C
    for x in range(np.uint64(first), np.uint64(stop)):  # unsigned: no test for indices from the end
        if x != np.uint64(winner):
            D = (
                k.lcb_lo[x] - k.lcb_hi[winner] - slack
                if least
                else k.ucb_lo[winner] - k.ucb_hi[x] - slack
            )
            if k.weight[x] == 0.0:
                room = min(room, D)
            elif not (alone and k.sure[x] and k.sure[winner]):
                safe = (_lower(k, winner, x, D) if least else _lower(k, x, winner, D)) and safe
    if winner >= 0:
        if least:
            k.up[winner] = min(k.up[winner], room)
        else:
            k.down[winner] = min(k.down[winner], room)
    return safe and room > 0.0


@inlined
def narrow_corridors(
    k: Corridors,
    s: Ranking,
    n: int,
    picks: int,
    open_sizes: NDArray[np.int64],
    as_printed: bool,
    slack: float,
) -> bool:
    """Narrow the corridors until statements 1 to 4 are certain; False if one of them is not even if
    all means stay."""
    _mark_sure_picks(k, s, n, open_sizes, as_printed)
    p1, previous = 0, 0
    for i in range(open_sizes.size):
        p0, safe = p1, True
        p1 += open_sizes[i]
        least, greatest, v = s.roles[LEAST, i], s.roles[GREATEST, i], s.roles[NEAREST, i]
        if p0 < p1 < n:
            safe = _keep_border(k, s, picks, p1, slack)
        for x in range(np.uint64(p0), np.uint64(p1)):
            if not _keep_unsettled(k, x, least, greatest, slack):
                safe = False
        if v >= 0 and safe:
            alone = p1 - p0 == 1
            following = n
            if as_printed:
                following = p1 + (open_sizes[i + 1] if i + 1 < open_sizes.size else 0)
            safe = _keep_extreme(k, least, previous, p0, True, alone, slack)
            safe = _keep_extreme(k, greatest, p1, following, False, alone, slack) and safe
            if not alone and safe:
                if not as_printed and p1 < n:
                    safe = _keep_extreme(k, s.roles[WEAKEST, i], p0, p1, True, False, slack)
                if not as_printed and p0 > 0:
                    safe = (
                        _keep_extreme(k, s.roles[STRONGEST, i], p0, p1, False, False, slack)
                        and safe
                    )
                if safe:
                    for x in range(np.uint64(p0), np.uint64(p1)):
                        if x != np.uint64(v) and not _keep_nearest(k, v, x, least, greatest, slack):
                            safe = False
        if not safe:
            return False
        if as_printed:
            previous = p0
    return True


@inlined
def narrowest(k: Corridors, s: Ranking, picks: int) -> float:
    """Return the smallest distance of a pick from a wall."""
    H = np.inf
    for j in range(picks):
        x = s.picks[j]
        H = min(H, min(k.up[x] - k.moved[x], k.down[x] + k.moved[x]))
    return H


@inlined
def open_corridors(run: Run, k: Corridors) -> int:
    """Set up corridors and return for how many pulls staying inside certifies the picks; 0 if no
    corridors are found."""
    s, clock, open_sizes, as_printed = (
        run.ranking,
        run.clock,
        run.part.open_sizes,
        run.rule.as_printed,
    )
    n, picks, R, room, unit = (
        clock[RANKED],
        clock[PICKS],
        clock[ROUND],
        rounds_left(run),
        laws.unit(run.law),
    )
    log_term = run.terms[LOG_TERM]
    slack = SLACK * (abs(s.mean[0]) + abs(s.mean[n - 1]) + 2.0 * math.sqrt(log_term) / unit)
    for j in range(picks):
        k.moved[s.picks[j]] = 0.0
    Q, good, bad, looks = min(_FIRST_LOOK, np.float64(room)), 0.0, np.inf, 0
    while True:
        widest_corridors(k, s, n, picks, log_term, R, Q)
        safe = narrow_corridors(k, s, n, picks, open_sizes, as_printed, slack)
        looks += 1
        if not safe:
            bad = Q
            if good > 0.0:
                Q, looks = good, 100  # it was safe, and is set up again
            elif looks < 2:
                Q = min(_SECOND_LOOK, np.float64(room))
            else:
                return 0
            continue
        good = Q
        for j in range(picks):  # from means to sums
            x = s.picks[j]
            k.up[x] *= s.taken[x]
            k.down[x] *= s.taken[x]
        H = narrowest(k, s, picks)
        # about how long a reward of variance 1/4 stays
        want = min(min(4.0 * H * H, np.float64(room)), _LONGEST)
        if want < 4.0 * Q or looks >= 6 or bad <= 2.0 * Q:
            return int(Q)
        Q = min(min(want, 256.0 * Q), 0.5 * bad)


@kernel
def exit_budget(law: Any, picks: int, skip_error: float, jump: int) -> float:
    """Return 2 v ln(2 |C| / eps) for jump number `jump` >= 1; infinite if nothing may be left to
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
def first_exit(word: np.uint64, m: float, at: float, up: float, down: float, most: int) -> int:
    """Return the first of pulls 1..most after which X, now `at`, is at a wall; `most` if there is
    none.

    X is looked at after strides in which it cannot reach a wall: not if all pulls are 1, nor if all
    are 0, or not with as many ones as the stride has, in whatever order.
    """
    j = 0
    rise, fall = 1.0 / (1.0 - m), 1.0 / m  # infinite if no pull takes X that way
    while j < most:
        certain = max(int(min((up - at) * rise, (down + at) * fall, 64.0)), 1)
        size = min(4 * certain, most - j)
        ones = bits_set(word & lanes(j, size))
        while size > certain and (at + ones * (1.0 - m) >= up or at - (size - ones) * m <= -down):
            size >>= 1
            ones = bits_set(word & lanes(j, size))
        at += ones - size * m
        j += size
        if at >= up or at <= -down:
            break
    return j


@inlined
def advance(run: Run, k: Corridors, state: State) -> State:
    """Pull the picks until one of them may have left its corridor, or as often as the corridors
    certify."""
    law, s, clock, skip_error = run.law, run.ranking, run.clock, run.setting.skip_error
    picks, limit = clock[PICKS], clock[CERTIFIED]
    done = 0
    while True:
        H = narrowest(k, s, picks)
        # 0 where both are infinite
        step = int(min(max(0.0, H * _CAUTION / laws.spread(law)), _LONGEST))
        budget = exit_budget(law, picks, skip_error, clock[JUMPS] + 1)
        reach = H * H / budget  # about the length that is certified when the means have settled
        if laws.has_words(law) and max(np.float64(step), reach) < WORTH_A_JUMP:
            step = min(64, limit - done)
            for j in range(picks):
                x = s.picks[j]
                k.words[x], state = laws.word(
                    law, s.arm_of[s.order[x]], int(s.taken[x]) + done, state
                )
                step = first_exit(k.words[x], s.mean[x], k.moved[x], k.up[x], k.down[x], step)
            for j in range(picks):
                x = s.picks[j]
                ones = bits_set(k.words[x] & lanes(0, step))
                s.total[x] += ones
                k.moved[x] += ones - step * s.mean[x]
        else:
            if 4.0 * reach > step:
                clock[JUMPS] += 1
                stay = _LONGEST
                for j in range(picks):
                    x = s.picks[j]
                    drift = laws.mean_of(law, s.arm_of[s.order[x]]) - s.mean[x]
                    stay = min(stay, longest_stay(k.up[x] - k.moved[x], drift, budget))
                    stay = min(stay, longest_stay(k.down[x] + k.moved[x], -drift, budget))
                step = max(step, int(stay * _CAUTION))
            step = min(step + 1, limit - done)
            for j in range(picks):
                x = s.picks[j]
                before = s.total[x]
                arm, pulls = s.arm_of[s.order[x]], int(s.taken[x]) + done
                if step == 1:
                    s.total[x], state = laws.one_pull(law, arm, before, pulls, state)
                else:
                    s.total[x], state = laws.more_pulls(law, arm, before, pulls, step, state)
                k.moved[x] += (s.total[x] - before) - step * s.mean[x]
                if not finite(s.total[x]):
                    report(run.fault, NOT_FINITE, arm, pulls + step)
                    limit = 0
        done += step
        if done >= limit or narrowest(k, s, picks) <= 0.0 or raised(run.history.stop):
            break
    for j in range(picks):
        x = s.picks[j]
        s.taken[x] += done
        s.mean[x] = s.total[x] / s.taken[x]
    clock[ROUND] += done - 1
    clock[PULLS] += done * picks
    return state
