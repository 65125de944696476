"""Certificates of bridges: does a sum keep on one side of a line between two pulls at which it is known?

Legend. k rewards 0 and 1 of an arm, exchangeable given their sum; a line of slope b in sums against pulls,
0 <= b <= 1; the sum is d1 above the line before these rewards and d2 after them, both positive, d is the larger
of the two. (A sum below a line is the mirror image: rewards 1 - X, slope 1 - b.)

1. *Sure.* If (1 - b) d1 + b d2 > b (1 - b) k no order of the rewards leads to the line. *Proof.* The
   distance falls by b with a 0 and rises by 1 - b with a 1. It gets least if the z zeros come first:
   d1 - b z. As d2 = d1 - b z + (1 - b) (k - z), z = (1 - b) k + d1 - d2, and d1 - b z is the left side less the
   right one. []
2. *Up to an error.* The sum is at the line, or below it, after some of the rewards with probability at
   most exp(-8 d1 d2 / k * d / (d + 1)). *Proof.* D is the distance when m rewards are left, D' the next one.
   The next reward is 1 with probability (ones left) / m, so that E[D'] = D + (d2 - D) / m. By Hoeffding's
   lemma, for l = c d2 / (m - 1), the mean of exp(-l D') is at most

       exp(-l D - l (d2 - D) / m + l^2 / 8) = exp(-c d2 D / m - c d2^2 / (m (m - 1)) + c^2 d2^2 / (8 (m - 1)^2)),

   which is at most exp(-c d2 D / m) if c <= 8 (m - 1) / m. So for c = 8 d2 / (d2 + 1) h_m = exp(-c d2 D / m) is a
   supermartingale over the steps from m >= d2 + 1 rewards left. With fewer than d2 left the sum is not at the
   line, or it could not end d2 above it. So at the first time at which it is m >= d2 rewards are left, all steps
   before are from d2 + 1 or more, and h_m >= 1. By Ville's inequality such a time comes with probability
   at most h_k = exp(-8 d1 d2 / k * d2 / (d2 + 1)). Read backwards d1 and d2 change places. []

A certificate up to an error is a jump of `rai_sim.engine.certificates` and takes its share of the budget. Which
bridges are asked about depends on what is known; 2 holds given all of that, as what is known outside of a
bridge is independent of the rewards in it, given its ends. That a bridge was certified before, of another
line or of the same, says that it kept on one side of that: on the complement of errors paid for.
"""

from __future__ import annotations

import math
from typing import Any

from rai_sim.algorithms.lucb.ahead import ROOM, AheadLaw, split_sum
from rai_sim.algorithms.lucb.run import JUMPS, NATS, UNTIL, Run
from rai_sim.engine.certificates import LONGEST, log_over_share
from rai_sim.engine.jit import for_type, inlined
from rai_sim.engine.streams import State

#: Of the length at which a certificate just holds if the distance stays: then a fiftieth fails
#: (measured).
_CAREFUL = 5.0 / 8.0


@inlined
def nats(run: Run) -> float:
    """Return -ln of the error that the next certificate may have, no more than its share.

    It is that of a later jump, up to twice the number, so that a logarithm serves many.
    """
    terms = run.terms
    if run.clock[JUMPS] >= terms[UNTIL]:
        until = 2 * run.clock[JUMPS] + 1024
        terms[UNTIL], terms[NATS] = until, log_over_share(run.setting.skip_error, until)
    return terms[NATS]


@inlined
def surely_above(d1: float, d2: float, k: float, slope: float) -> bool:
    """Statement 1."""
    return (1.0 - slope) * d1 + slope * d2 > slope * (1.0 - slope) * k


@inlined
def keeps_above(run: Run, d1: float, d2: float, k: float, slope: float) -> bool:
    """Whether k rewards are certified to keep above a line, d1 before and d2 after them."""
    if not (d1 > 0.0 and d2 > 0.0 and 0.0 <= slope <= 1.0):
        return False
    if surely_above(d1, d2, k, slope):
        return True
    d = max(d1, d2)
    if run.setting.skip_error <= 0.0 or 8.0 * d1 * d2 / k * (d / (d + 1.0)) < nats(run):
        return False
    run.clock[JUMPS] += 1
    return True


@inlined
def keeps_below(run: Run, d1: float, d2: float, k: float, slope: float) -> bool:
    """Likewise below a line."""
    return keeps_above(run, d1, d2, k, 1.0 - slope)


@inlined
def likely_length(run: Run, d: float) -> float:
    """Return how many rewards will likely be certified at distance d from the nearest line."""
    if run.setting.skip_error <= 0.0:
        return d
    return max(d, 8.0 * _CAREFUL * d * d / nats(run))


@inlined
def distance_for(run: Run, k: float) -> float:
    """Return at which distance so many rewards will likely be certified."""
    if run.setting.skip_error <= 0.0:
        return k
    return min(k, math.sqrt(k * nats(run) / (8.0 * _CAREFUL)))


def _as_long_as_any(
    law: Any, run: Run, arm: int, mean: float, up: float, down: float, state: State
) -> tuple[float, State]:
    return LONGEST, state


@for_type(AheadLaw, _as_long_as_any)
def foreseen_stay(
    law: Any, run: Run, arm: int, mean: float, up: float, down: float, state: State
) -> tuple[float, State]:
    """Return for how many pulls an arm of which something is known is certified to stay between two
    walls, `up` above and `down` below a line of slope `mean` from where it is; 0 if for none.

    A piece that is too long is cut.
    """
    p = law.pieces
    while True:
        i = p.held[arm] - 1
        k = p.end[arm, i] - p.start[arm, i]
        moved = (p.after[arm, i] - p.before[arm, i]) - k * mean
        if keeps_below(run, up, up - moved, float(k), mean) and keeps_above(
            run, down, down + moved, float(k), mean
        ):
            return float(k), state
        if p.known[arm, i] or k < 64 or i + 2 >= ROOM:
            return 0.0, state
        size = int(min(max(32.0, likely_length(run, min(up, down))), k // 2))
        state = split_sum(law.base, p, arm, size, state)
