"""The walks of single arms for a level: a challenger's passage, and the leader's pulls beside it.

Legend as in `rai_sim.algorithms.lucb.variants.levels`; an arm has n pulls, sum S and radius r(n).

Lines. UCB >= x means S >= n x - n r(n), and n r(n) is concave in n (below). So the curve is convex, its
chords lie above it, and a sum above a chord has UCB >= x. LCB < c means S < n c + n r(n), a concave
curve, whose chords lie below it. A mean is compared with the bar on the line of slope b. So between two
known sums each condition asks whether the sum keeps on one side of a line: certified as a bridge
(`rai_sim.algorithms.lucb.bridges`), or looked at reward by reward. Where a chord is met the UCB, computed as
the rule does, says whether the level is passed.

n r(n) is concave: it is u(n / 4) of `rai_sim.algorithms.lucb.variants.radii`. The mixture's u is concave
(`rai_sim.algorithms.lucb.variants.corridors`). `stitched`: u^2 is in proportion to f = n l(n), l = s ln ln 2n +
C. With w = n l' = s / ln 2n, f' = l + w and f'' = (w - w^2 / s) / n, so 2 f f'' <= 2 l w <= (l + w)^2 = f'^2, and
sqrt(f) is concave. []

Rounding. Sums, n x and n r(n) are exact to some 1e-15 n; a condition must hold by `SLACK` n.

How far to look ahead. Near a line the next 64 rewards are drawn as a word; else the sum of as many pulls
as will likely be certified. A sum that is not is cut, and 64 pulls or fewer are drawn one by one.
"""

from __future__ import annotations

import math

import numpy as np

from rai_sim.algorithms.lucb.ahead import (
    ROOM,
    Pieces,
    draw_bits,
    move_top,
    push,
    split_bits,
    split_sum,
)
from rai_sim.algorithms.lucb.bridges import (
    distance_for,
    keeps_above,
    keeps_below,
    likely_length,
    surely_above,
)
from rai_sim.algorithms.lucb.run import Run
from rai_sim.algorithms.lucb.variants.radii import Side, radius_of
from rai_sim.engine import law as laws
from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.sampling import bits_set, lanes
from rai_sim.engine.streams import State

#: By how much conditions on means must hold, relative to rewards.
SLACK = 1e-12
#: Pulls below which words are faster than sums (measured).
_BY_WORDS = 500.0
#: Sums are exact below 2^53; no walk goes on from here, nor looks as far ahead.
_MOST_PULLS = 2**51


@inlined
def _curve(side: Side, bound: float, n: float, sign: float) -> float:
    """Return the sum after n pulls at which mean + sign * radius is a bound."""
    return n * (bound - sign * radius_of(side, 0.0, n))


@inlined
def _goes_on(ahead: Pieces, behind: Pieces, arm: int, n: int) -> bool:
    """Whether there is room for more pieces, and their sums are exact."""
    return ahead.held[arm] + behind.held[arm] + 4 < ROOM and n < _MOST_PULLS


@kernel
def pass_level(
    run: Run, behind: Pieces, side: Side, x: int, level: float, bar: float, state: State
) -> tuple[bool, int, float, State]:
    """Follow the challenger at rank x through its passage below the level; return whether its mean is
    certain to stay below the bar, and its pulls and sum."""
    s, ahead = run.ranking, run.law.pieces
    arm, n, S = s.arm_of[s.order[x]], int(s.taken[x]), s.total[x]
    # a chord from n0 to n1, and its values there
    n0, n1, y0, y1, slope = n, n, 0.0, _curve(side, level, float(n), 1.0), 0.0
    while True:
        if n >= n1:
            n0, n1, y0 = n, n + _chord_length(n), y1
            y1 = _curve(side, level, float(n1), 1.0)
            slope = (y1 - y0) / (n1 - n0)
        slack = SLACK * n
        low, high = S - (y0 + slope * (n - n0)) - slack, bar * n - S - slack
        if high <= 0.0 or not 0.0 < slope < 1.0 or not _goes_on(ahead, behind, arm, n):
            return False, n, S, state
        if ahead.held[arm] == 0:
            if likely_length(run, min(low, high)) < _BY_WORDS:
                n, S, low, high, state = _pass_by_words(
                    run, behind, arm, n, n1, S, low, slope, high, bar, state
                )
            else:
                state = _draw_ahead(run, arm, n, S, min(low, high), np.inf, state)
        i = ahead.held[arm] - 1
        end, after = ahead.end[arm, i], ahead.after[arm, i]
        k = end - n
        if ahead.known[arm, i]:
            size = min(k, n1 - n)
            done, ones = _scan(ahead.bits[arm, i], size, low, slope, high, bar)
            _walk_over(ahead, behind, arm, done, k)
            n += done
            S += ones
            if low + ones - done * slope <= 0.0:
                ucb = S / n + radius_of(side, 0.0, float(n))
                if ucb < level:
                    return bar * n - S > slack, n, S, state
            continue
        y, b = y0 + slope * (end - n0), slope
        if end > n1:
            y = _curve(side, level, float(end), 1.0)
            b = (y - (S - low - slack)) / k
        if keeps_above(run, low, after - y - slack, float(k), b) and keeps_below(
            run, high, bar * end - after - slack, float(k), bar
        ):
            move_top(ahead, behind, arm)
            if end > n1:
                n1, y1 = end, y
            n, S = end, after
        else:
            state = _look_closer(run, arm, k, min(low, high), state)


@inlined
def _chord_length(n: int) -> int:
    """Return over how many pulls a chord is less than a thousandth of a reward from the curve.

    n r(n) is some 3 sqrt(n), its second derivative 3 / 4 n^-1.5: 3 / 32 k^2 n^-1.5 for k pulls.
    """
    return 64 + int(math.sqrt(n * math.sqrt(n)) / 16.0)


@kernel
def _pass_by_words(
    run: Run,
    behind: Pieces,
    arm: int,
    n: int,
    n1: int,
    S: float,
    low: float,
    slope: float,
    high: float,
    bar: float,
    state: State,
) -> tuple[int, float, float, float, State]:
    """Walk over words in which no order of the rewards leads to a line, until the chord ends or sums
    are faster; the word after them is left ahead. Return pulls, sum and distances before it."""
    i = behind.held[arm]
    last, near = min(n1 - 64, n + 64 * (ROOM - 4 - i)), distance_for(run, _BY_WORDS)
    while True:
        bits, state = laws.word(run.law.base, arm, n, state)
        ones = bits_set(bits)
        nearer, farther = low + ones - 64.0 * slope, high - ones + 64.0 * bar
        if (
            n > last
            or not surely_above(low, nearer, 64.0, slope)
            or not surely_above(high, farther, 64.0, 1.0 - bar)
            or min(low, high) >= near
        ):
            break
        behind.start[arm, i], behind.end[arm, i] = n, n + 64
        behind.before[arm, i], behind.after[arm, i] = S, S + ones
        behind.bits[arm, i], behind.known[arm, i] = bits, True
        i += 1
        n, S, low, high = n + 64, S + ones, nearer, farther
    behind.held[arm] = i
    push(run.law.pieces, arm, n, n + 64, S, S + ones, bits, True)
    return n, S, low, high, state


@kernel
def lead(
    run: Run, behind: Pieces, side: Side, T: int, bar: float, ceiling: float, state: State
) -> tuple[bool, int, float, State]:
    """Follow the leader through T pulls; return whether its mean is certain to stay above the bar and
    its LCB below the ceiling, and its pulls and sum."""
    s, base, ahead = run.ranking, run.law.base, run.law.pieces
    arm, n, S = s.arm_of[s.order[0]], int(s.taken[0]), s.total[0]
    goal, y = n + T, _curve(side, ceiling, float(n), -1.0)
    while n < goal:
        slack = SLACK * n
        low, high = S - bar * n - slack, y - S - slack
        if min(low, high) <= 0.0 or not _goes_on(ahead, behind, arm, n):
            return False, n, S, state
        if ahead.held[arm] == 0:
            state = _draw_ahead(run, arm, n, S, min(low, high), float(goal - n), state)
        i = ahead.held[arm] - 1
        if ahead.end[arm, i] > goal:
            if ahead.known[arm, i]:
                split_bits(ahead, arm, goal - n, ahead)
            else:
                state = split_sum(base, ahead, arm, goal - n, state)
            i += 1
        end, after = ahead.end[arm, i], ahead.after[arm, i]
        k, y_end = end - n, _curve(side, ceiling, float(end), -1.0)
        slope = (y_end - y) / k
        if ahead.known[arm, i]:
            certain = 0.0 < slope < 1.0
            if certain:
                done, _ones = _scan(ahead.bits[arm, i], k, low, bar, high, slope)
                rise = after - S
                certain = done == k and min(low + rise - k * bar, high - rise + k * slope) > 0.0
            if not certain:
                return False, n, S, state
        elif not (
            keeps_above(run, low, after - bar * end - slack, float(k), bar)
            and keeps_below(run, high, y_end - after - slack, float(k), slope)
        ):
            state = _look_closer(run, arm, k, min(low, high), state)
            continue
        move_top(ahead, behind, arm)
        n, S, y = end, after, y_end
    return True, n, S, state


@kernel
def _draw_ahead(run: Run, arm: int, n: int, S: float, d: float, most: float, state: State) -> State:
    """Draw the sum of as many pulls as will likely be certified d away from a line, `most` at most."""
    k = int(min(min(max(likely_length(run, d), 64.0), most), _MOST_PULLS))
    after, state = laws.more_pulls(run.law.base, arm, S, n, k, state)
    push(run.law.pieces, arm, n, n + k, S, after, np.uint64(0), False)
    return state


@kernel
def _look_closer(run: Run, arm: int, k: int, d: float, state: State) -> State:
    """Cut the top piece, of k pulls of which the sum is known, or draw its rewards."""
    ahead = run.law.pieces
    if k <= 64:
        return draw_bits(run.law.base, ahead, arm, state)
    size = int(min(max(likely_length(run, d), 64.0), k // 2))
    return split_sum(run.law.base, ahead, arm, size, state)


@inlined
def _walk_over(ahead: Pieces, behind: Pieces, arm: int, done: int, k: int) -> None:
    """Move the first `done` of k pulls of the top piece, whose rewards are known; none at the end of a
    chord."""
    if done == k:
        move_top(ahead, behind, arm)
    elif done > 0:
        split_bits(ahead, arm, done, behind)


@kernel
def _scan(
    bits: np.uint64, k: int, low: float, below: float, high: float, above: float
) -> tuple[int, int]:
    """Return after how many of k pulls the sum is at one of two lines for the first time, k if after
    none but perhaps the last, and the sum of these; it is `low` above the line of slope `below`, `high` below that
    of slope `above`.

    It is looked at after strides in which no order of the rewards leads to a line.
    """
    done, total = 0, 0
    while done < k:
        size = k - done
        ones = bits_set(bits & lanes(0, size))
        while size > 1 and not (
            surely_above(low, low + ones - size * below, float(size), below)
            and surely_above(high, high - ones + size * above, float(size), 1.0 - above)
        ):
            size = (size + 3) >> 2
            ones = bits_set(bits & lanes(0, size))
        total += ones
        low += ones - size * below
        high += size * above - ones
        done += size
        if low <= 0.0 or high <= 0.0:
            break
        if size < 64:
            bits >>= np.uint64(size)
    return done, total
