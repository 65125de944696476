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
4. Its nearest arm keeps a smaller gap than each other arm x of the cluster. With L = LCB_l, U =
   UCB_u (by 3): gap_x is at least UCB_x - L and at least U - LCB_x, so that one of them, which we
   take from round R, need be larger than both terms of the nearest arm's gap. Where cluster i is
   the first or the last, one of the terms is missing in all gaps.

Two arms may exchange a role of 3 where that changes no pick: if the cluster has one arm, which is
then the nearest, weakest and strongest whatever L_i and U_i are, and both of them are picked on
other grounds: as the only arm of a cluster that wants it, or the only one before or after such a
cluster. L_i and U_i enter nothing else, but for 2, which holds for whoever attains them.

How long all stay in their corridors is the matter of `rai_sim.algorithms.lucb.corridor_walk`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.lucb.rule import GREATEST, LEAST, NEAREST, STRONGEST, WEAKEST, Ranking
from rai_sim.algorithms.lucb.run import LOG_TERM, PICKS, RANKED, ROUND, Run, rounds_left
from rai_sim.engine import law as laws
from rai_sim.engine.certificates import LONGEST
from rai_sim.engine.jit import inlined
from rai_sim.engine.words import Words, new_words

#: Relative to the means and radii, far more than the rounding of a bound, far less than bounds
#: differ.
SLACK = 1e-13
#: Rounds for which corridors are tried first, and then if there are none (measured); and how often
#: longer ones are tried.
FIRST_LOOK, SECOND_LOOK, LOOKS = 64.0, 8.0, 6


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
    in_step: Words  # of rounds in which all arms are pulled
    sure: NDArray[np.bool_]  # whether the arm is picked on other grounds than the role in question


def new_corridors(N: int) -> Corridors:
    """Allocate."""
    return Corridors(
        lcb_lo=np.empty(N),
        lcb_hi=np.empty(N),
        ucb_lo=np.empty(N),
        ucb_hi=np.empty(N),
        weight=np.empty(N),
        up=np.empty(N),
        down=np.empty(N),
        moved=np.empty(N),
        words=np.empty(N, np.uint64),
        in_step=new_words(N),
        sure=np.empty(N, np.bool_),
    )


@inlined
def widest_corridors(
    walls: Corridors, s: Ranking, n: int, picks: int, log_term: float, R: int, Q: float
) -> None:
    """Bound each arm's LCB and UCB for Q rounds, were its mean to stay; open the corridors wide."""
    growth = 1.5 * Q / (log_term * R)
    for x in range(n):
        more = growth * 0.5 * (s.ucb[x] - s.lcb[x])
        walls.lcb_lo[x], walls.lcb_hi[x] = s.lcb[x] - more, s.lcb[x]
        walls.ucb_lo[x], walls.ucb_hi[x] = s.ucb[x], s.ucb[x] + more
        walls.weight[x], walls.up[x], walls.down[x], walls.sure[x] = 0.0, np.inf, np.inf, False
    for j in range(picks):
        x = s.picks[j]
        weight = 1.0 / s.taken[x]
        less = 0.25 * (s.ucb[x] - s.lcb[x]) * Q * weight
        walls.lcb_hi[x] += less
        walls.ucb_lo[x] -= less
        walls.weight[x] = weight


@inlined
def _end_of_those_after(
    open_sizes: NDArray[np.int64], i: int, p1: int, n: int, as_printed: bool
) -> int:
    """Return the rank behind the arms that cluster i, which ends at p1, sees after it."""
    if not as_printed:
        return n
    return p1 + (open_sizes[i + 1] if i + 1 < open_sizes.size else 0)


@inlined
def _mark_sure_picks(
    walls: Corridors, s: Ranking, n: int, open_sizes: NDArray[np.int64], as_printed: bool
) -> None:
    """Mark the arms that are the only candidates for some role."""
    p1, previous = 0, 0  # previous: where the arms that cluster i sees before it begin
    for i in range(open_sizes.size):
        p0 = p1
        p1 += open_sizes[i]
        if s.roles[NEAREST, i] >= 0:
            if p1 - p0 == 1:
                walls.sure[p0] = True
            if p0 - previous == 1:
                walls.sure[previous] = True
            if _end_of_those_after(open_sizes, i, p1, n, as_printed) - p1 == 1:
                walls.sure[p1] = True
        if as_printed:
            previous = p0


@inlined
def _may_exchange(walls: Corridors, holder: int, x: int, alone: bool) -> bool:
    """Whether a pick may take a role from its holder, the cluster alone or not: Lemma 4 of the
    README."""
    return alone and walls.sure[x] and walls.sure[holder]


@inlined
def limit_rise(walls: Corridors, x: int, room: float) -> None:
    """Let the mean of arm x rise by less than the room."""
    walls.up[x] = min(walls.up[x], room)


@inlined
def limit_fall(walls: Corridors, x: int, room: float) -> None:
    """Let the mean of arm x fall by less than the room."""
    walls.down[x] = min(walls.down[x], room)


@inlined
def lower(walls: Corridors, a: int, b: int, D: float) -> bool:
    """Keep a bound of arm a below one of arm b, D the room, shared in proportion to 1/n; whether
    there is any."""
    if walls.weight[b] == 0.0:
        limit_rise(walls, a, D)  # to no effect unless a is a pick
    elif walls.weight[a] == 0.0:
        limit_fall(walls, b, D)
    else:
        share = D / (walls.weight[a] + walls.weight[b])
        limit_rise(walls, a, share * walls.weight[a])
        limit_fall(walls, b, share * walls.weight[b])
    return D > 0.0


@inlined
def keep_border(walls: Corridors, s: Ranking, picks: int, p: int, slack: float) -> bool:
    """Keep the arms of ranks below p above all others."""
    D = s.mean[p - 1] - s.mean[p] - 2.0 * slack
    above, below = walls.weight[p - 1], walls.weight[p]
    share = 0.5
    if above + below > 0.0:
        share = below / (above + below)
    border = s.mean[p] + slack + D * share
    for j in range(picks):
        x = s.picks[j]
        if x < p:
            limit_fall(walls, x, s.mean[x] - border)
        else:
            limit_rise(walls, x, border - s.mean[x])
    return D > 0.0


@inlined
def _keep_unsettled(walls: Corridors, x: int, least: int, greatest: int, slack: float) -> bool:
    """Keep arm x unsettled by one of its opponents, the one that leaves more room."""
    by_least, by_greatest = -1.0, -1.0
    if least >= 0:
        by_least = walls.ucb_lo[x] - walls.lcb_hi[least] - slack
    if greatest >= 0:
        by_greatest = walls.ucb_lo[greatest] - walls.lcb_hi[x] - slack
    if by_least >= by_greatest:
        return least >= 0 and lower(walls, least, x, by_least)
    return lower(walls, x, greatest, by_greatest)


@inlined
def _keep_nearest(
    walls: Corridors, nearest: int, x: int, least: int, greatest: int, slack: float
) -> bool:
    """Keep the nearest arm's gap smaller than x's, by that term of x's gap which is larger now."""
    safe = True
    by_least = greatest < 0
    if least >= 0 and greatest >= 0:
        by_least = walls.ucb_lo[x] - walls.lcb_hi[least] >= walls.ucb_lo[greatest] - walls.lcb_hi[x]
        # Four bounds share the room; a quarter each for the means of arms that may be outside of C
        # is simple, and hardly less.
        if by_least:  # U - LCB_nearest < UCB_x - L
            D = walls.ucb_lo[x] + walls.lcb_lo[nearest]
            D = D - walls.ucb_hi[greatest] - walls.lcb_hi[least] - slack
            limit_fall(walls, x, 0.25 * D)
            limit_fall(walls, nearest, 0.25 * D)
            limit_rise(walls, greatest, 0.25 * D)
            limit_rise(walls, least, 0.25 * D)
        else:  # UCB_nearest - L < U - LCB_x
            D = walls.ucb_lo[greatest] + walls.lcb_lo[least]
            D = D - walls.ucb_hi[nearest] - walls.lcb_hi[x] - slack
            limit_fall(walls, greatest, 0.25 * D)
            limit_fall(walls, least, 0.25 * D)
            limit_rise(walls, nearest, 0.25 * D)
            limit_rise(walls, x, 0.25 * D)
        safe = D > 0.0
    if by_least:
        return lower(walls, nearest, x, walls.ucb_lo[x] - walls.ucb_hi[nearest] - slack) and safe
    return lower(walls, x, nearest, walls.lcb_lo[nearest] - walls.lcb_hi[x] - slack) and safe


@inlined
def keep_extreme(
    walls: Corridors, holder: int, first: int, stop: int, least: bool, alone: bool, slack: float
) -> bool:
    """Keep the holder's LCB the least of those of ranks first..stop-1, or its UCB the greatest, but
    for picks that may exchange the role with it."""
    safe, room = True, np.inf  # room for the holder's bound, from arms outside of C
    for x in range(np.uint64(first), np.uint64(stop)):  # unsigned: no test for indices from the end
        if x != np.uint64(holder):
            D = (
                walls.lcb_lo[x] - walls.lcb_hi[holder] - slack
                if least
                else walls.ucb_lo[holder] - walls.ucb_hi[x] - slack
            )
            if walls.weight[x] == 0.0:
                room = min(room, D)
            elif not _may_exchange(walls, holder, x, alone):
                safe = (
                    lower(walls, holder, x, D) if least else lower(walls, x, holder, D)
                ) and safe
    if holder >= 0:
        if least:
            limit_rise(walls, holder, room)
        else:
            limit_fall(walls, holder, room)
    return safe and room > 0.0


@inlined
def _keep_own(
    walls: Corridors, s: Ranking, n: int, i: int, p0: int, p1: int, as_printed: bool, slack: float
) -> bool:
    """Keep the weakest, the strongest and the nearest arm of cluster i, at ranks p0..p1-1, which
    wants arms and has several."""
    safe = True
    if not as_printed and p1 < n:
        safe = keep_extreme(walls, s.roles[WEAKEST, i], p0, p1, True, False, slack)
    if not as_printed and p0 > 0:
        safe = keep_extreme(walls, s.roles[STRONGEST, i], p0, p1, False, False, slack) and safe
    if safe:
        nearest, least, greatest = s.roles[NEAREST, i], s.roles[LEAST, i], s.roles[GREATEST, i]
        for x in range(np.uint64(p0), np.uint64(p1)):
            if x != np.uint64(nearest) and not _keep_nearest(
                walls, nearest, x, least, greatest, slack
            ):
                safe = False
    return safe


@inlined
def narrow_corridors(
    walls: Corridors,
    s: Ranking,
    n: int,
    picks: int,
    open_sizes: NDArray[np.int64],
    as_printed: bool,
    slack: float,
) -> bool:
    """Narrow the corridors until statements 1 to 4 are certain; False if one of them is not even if
    all means stay."""
    _mark_sure_picks(walls, s, n, open_sizes, as_printed)
    p1, previous = 0, 0
    for i in range(open_sizes.size):
        p0, safe = p1, True
        p1 += open_sizes[i]
        least, greatest = s.roles[LEAST, i], s.roles[GREATEST, i]
        if p0 < p1 < n:
            safe = keep_border(walls, s, picks, p1, slack)
        for x in range(np.uint64(p0), np.uint64(p1)):
            if not _keep_unsettled(walls, x, least, greatest, slack):
                safe = False
        if s.roles[NEAREST, i] >= 0 and safe:
            alone = p1 - p0 == 1
            following = _end_of_those_after(open_sizes, i, p1, n, as_printed)
            safe = keep_extreme(walls, least, previous, p0, True, alone, slack)
            safe = keep_extreme(walls, greatest, p1, following, False, alone, slack) and safe
            if not alone and safe:
                safe = _keep_own(walls, s, n, i, p0, p1, as_printed, slack)
        if not safe:
            return False
        if as_printed:
            previous = p0
    return True


@inlined
def narrowest(walls: Corridors, s: Ranking, picks: int) -> float:
    """Return the smallest distance of a pick from a wall."""
    H = np.inf
    for j in range(picks):
        x = s.picks[j]
        H = min(H, min(walls.up[x] - walls.moved[x], walls.down[x] + walls.moved[x]))
    return H


@inlined
def longer_look(
    walls: Corridors, s: Ranking, picks: int, room: float, Q: float, bad: float, looks: int
) -> float:
    """Turn room for means into room for sums where corridors for Q rounds are found; return for how
    many rounds longer ones are worth a look, 0 if for none.

    `room` is for how many rounds cap and recording suffice, `bad` for how many corridors are known
    not to be found, `looks` how often they were looked for.
    """
    for j in range(picks):
        x = s.picks[j]
        walls.up[x] *= s.taken[x]
        walls.down[x] *= s.taken[x]
    H = narrowest(walls, s, picks)
    # about how long a reward of variance 1/4 stays
    want = min(min(4.0 * H * H, room), LONGEST)
    if want < 4.0 * Q or looks >= LOOKS or bad <= 2.0 * Q:
        return 0.0
    return min(min(want, 256.0 * Q), 0.5 * bad)


@inlined
def open_corridors(run: Run, walls: Corridors) -> int:
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
        np.float64(rounds_left(run)),
        laws.unit(run.law),
    )
    log_term = run.terms[LOG_TERM]
    slack = SLACK * (abs(s.mean[0]) + abs(s.mean[n - 1]) + 2.0 * math.sqrt(log_term) / unit)
    for j in range(picks):
        walls.moved[s.picks[j]] = 0.0
    Q, good, bad, looks = min(FIRST_LOOK, room), 0.0, np.inf, 0
    while True:
        widest_corridors(walls, s, n, picks, log_term, R, Q)
        safe = narrow_corridors(walls, s, n, picks, open_sizes, as_printed, slack)
        looks += 1
        if not safe:
            bad = Q
            if good > 0.0:
                Q, looks = good, LOOKS  # it was safe, and is set up again
            elif looks < 2:
                Q = min(SECOND_LOOK, room)
            else:
                return 0
            continue
        good = Q
        longer = longer_look(walls, s, picks, room, Q, bad, looks)
        if longer == 0.0:
            return int(Q)
        Q = longer
