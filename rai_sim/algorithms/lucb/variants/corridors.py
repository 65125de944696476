"""Certified stretches of LUCB's variants whose radius is a function of an arm's own pulls.

Corridors are those of `rai_sim.algorithms.lucb.corridors`, whose legend and argument hold here, and
so is the walk in them (`rai_sim.algorithms.lucb.corridor_walk`). Two things differ.

Bounds over a stretch. An arm outside of C keeps its mean and its pulls, so its LCB and UCB as well. A pick
with n pulls has n + j before round R + j, j <= Q, and down(n + Q) <= down(n + j) <= down(n), as
radii fall from n = 2 on (below); likewise up. So if all picks are in their corridors

    m - down / n - down(n)  <=  LCB  <=  m + up / n - down(n + Q),

likewise UCB, where down / n and up / n are the corridor's and down(n) the radius. Nothing grows with the
round: this takes the place of the bounds by Q / R in that module, and statements 1 to 4 follow as there.

Radii fall. u(v) / n falls where u >= 0 is concave from 0 on, which the mixture's is: its square is X h / 2, X = n +
4 rho, h = 2 L + ln(X / 4 rho) or that of the one-sided form, and `rai_sim.algorithms.vanilla.widths`
shows it for the latter; for the former f = X h has f' = h + 1, f'' = 1 / X, and 2 f f'' = 2 h <= (h + 1)^2.
`stitched`: the square of the radius is in proportion to l(n) / n, which falls where n l' = s / ln(2 n) < l;
from n = 2 on s / ln 4 < 1.1, and l > s ln ln 4 + ln(zeta(s) / (ln 2)^s) > 2 whatever alpha <= 1 is. A pick has
more than two pulls: stretches are looked for after rounds that had the same picks.

Borders. For `lucb++` and `rank`, rounds R + 1 .. R + Q pick C if at each wanted border

1. the arms above stay above: a mean between the two arms beside it is fixed, which no pick may reach;
2. if it is open, h keeps the least LCB above it, l the greatest UCB below, and LCB_h < UCB_l: so it is
   open, and its picks are h and l;
3. if it is closed, with v half way between LCB_h and UCB_l, the picks above keep their LCB above v, those
   below their UCB below it. The other arms' bounds stay where they are, on the right side of v: so it is
   closed, whoever attains what.

By 1 to 3 the same borders are open, and one is, since C is not empty: nobody is settled. []

`k-m` has no stretches: where arms lie between, the one with the fewest pulls is another one in every round.
"""

from __future__ import annotations

import numpy as np

from rai_sim.algorithms.lucb.corridors import (
    FIRST_LOOK,
    LOOKS,
    SECOND_LOOK,
    SLACK,
    Corridors,
    keep_border,
    keep_extreme,
    limit_fall,
    limit_rise,
    longer_look,
    lower,
    narrow_corridors,
)
from rai_sim.algorithms.lucb.rule import GREATEST, LEAST, Ranking
from rai_sim.algorithms.lucb.run import PICKS, RANKED, Run, rounds_left
from rai_sim.algorithms.lucb.variants.picks import ALL, Choice
from rai_sim.algorithms.lucb.variants.radii import radius_of
from rai_sim.engine import law as laws
from rai_sim.engine.jit import inlined
from rai_sim.engine.partition import Partition


@inlined
def own_corridors(
    walls: Corridors, s: Ranking, choice: Choice, n: int, picks: int, unit: float, Q: float
) -> None:
    """Bound each arm's LCB and UCB for Q rounds, were its mean to stay; open the corridors wide."""
    for x in range(n):
        walls.lcb_lo[x] = walls.lcb_hi[x] = s.lcb[x]
        walls.ucb_lo[x] = walls.ucb_hi[x] = s.ucb[x]
        walls.weight[x], walls.up[x], walls.down[x], walls.sure[x] = 0.0, np.inf, np.inf, False
    for j in range(picks):
        x = s.picks[j]
        down = radius_of(choice.down, 0.0, s.taken[x] + Q) / unit
        up = down if choice.alike else radius_of(choice.up, 0.0, s.taken[x] + Q) / unit
        walls.lcb_hi[x], walls.ucb_lo[x] = s.mean[x] - down, s.mean[x] + up
        walls.weight[x] = 1.0 / s.taken[x]


@inlined
def narrow_at_borders(
    walls: Corridors, s: Ranking, part: Partition, n: int, picks: int, slack: float
) -> bool:
    """Narrow the corridors of `lucb++` and `rank` until statements 1 to 3 are certain; False if one
    of them is not even if all means stay."""
    p, required = 0, part.required
    for i in range(part.open_sizes.size - 1):
        p += part.open_sizes[i]
        if required[i] > 0 or required[i + 1] > 0:
            h, below = s.roles[LEAST, i + 1], s.roles[GREATEST, i]
            safe = keep_border(walls, s, picks, p, slack)
            if s.lcb[h] > s.ucb[below]:
                safe = (
                    _keep_closed(walls, s, picks, p, 0.5 * (s.lcb[h] + s.ucb[below]), slack)
                    and safe
                )
            else:
                room = walls.ucb_lo[below] - walls.lcb_hi[h] - slack
                safe = lower(walls, h, below, room) and safe
                safe = keep_extreme(walls, h, 0, p, True, False, slack) and safe
                safe = keep_extreme(walls, below, p, n, False, False, slack) and safe
            if not safe:
                return False
    return True


@inlined
def _keep_closed(
    walls: Corridors, s: Ranking, picks: int, p: int, level: float, slack: float
) -> bool:
    """Keep the picks of ranks below p clear above a level, all others below it."""
    safe = True
    for j in range(picks):
        x = s.picks[j]
        room = walls.lcb_lo[x] - level if x < p else level - walls.ucb_hi[x]
        if x < p:
            limit_fall(walls, x, room - slack)
        else:
            limit_rise(walls, x, room - slack)
        safe = safe and room > slack
    return safe


@inlined
def open_own_corridors(run: Run, choice: Choice, walls: Corridors) -> int:
    """Set up corridors and return for how many pulls staying inside certifies the picks; 0 if no
    corridors are found."""
    s, clock, part, unit = run.ranking, run.clock, run.part, laws.unit(run.law)
    n, picks, room = clock[RANKED], clock[PICKS], np.float64(rounds_left(run))
    slack = SLACK * (abs(s.mean[0]) + abs(s.mean[n - 1]) + (s.ucb[0] - s.lcb[0]))
    for j in range(picks):
        x = s.picks[j]
        slack += SLACK * (s.ucb[x] - s.lcb[x])
        walls.moved[x] = 0.0
    Q, good, bad, looks = min(FIRST_LOOK, room), 0.0, np.inf, 0
    while True:
        own_corridors(walls, s, choice, n, picks, unit, Q)
        if choice.picks == ALL:
            safe = narrow_corridors(walls, s, n, picks, part.open_sizes, False, slack)
        else:
            safe = narrow_at_borders(walls, s, part, n, picks, slack)
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
