"""LUCB rounds in which nothing is settled, one after another.

Legend as in `rai_sim.engine.lucb_rounds`. `quick_rounds` is long on purpose: a round takes some fifty
nanoseconds, and handing a dozen arrays on to a helper, inlined or not, takes as long again.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine import law as laws
from rai_sim.engine.jit import kernel
from rai_sim.engine.lucb_corridors import (
    DOWN,
    UP,
    bound_all,
    exit_budget,
    first_exit,
    longest_stay,
    narrowest,
    squeeze,
)
from rai_sim.engine.lucb_rounds import SLACK, Flags, Floats, Ints
from rai_sim.engine.sampling import bits_set, lanes
from rai_sim.engine.streams import State

#: Rounds a corridor must be likely to last; narrower ones cost more than they save (measured).
_WORTH_A_TRY = 4.0
#: Certified stretches shorter than this are better walked by words, for laws that have them (measured).
_WORTH_A_JUMP = 100.0
#: After a try in vain, wait for 2, 4, 8, .. rounds, at most so many.
_LONGEST_WAIT = 32
#: Takes more off the sure bound than rounding can add to it.
_CAUTION = 1.0 - 1e-9
_LONGEST = 2.0**61


@kernel
def quick_rounds(
    law: Any, scale: float, as_printed: bool, skip_error: float, order: Ints, mean: Floats, inv: Floats,
    lcb: Floats, ucb: Floats,
    chosen: Flags, picks: Ints, arm_of: Ints, total: Floats, count: Ints, open_sizes: Ints, wants: Flags,
    roles: Ints, bounds: Floats,
    words: NDArray[np.uint64], n: int, R: int, pulls: int, most: int, jumps: int, state: State,
) -> tuple[int, int, int, State]:  # fmt: skip
    """Play rounds from R + 1 on; return the first to be judged exactly, the pulls before, jumps, state."""
    unit, available, m = laws.unit(law), laws.pulls_available(law), open_sizes.size
    next_try, wait = R + 2, 1
    while True:
        R += 1
        c = math.sqrt(math.log(scale * R * R * R))
        slack = SLACK * (abs(mean[0]) + abs(mean[n - 1]) + c / unit)
        for x in range(n):
            radius = c * inv[x]
            lcb[x], ucb[x] = mean[x] - radius, mean[x] + radius
        # The opponents; among equals the first in the ranking wins.
        best, p = -1, 0
        for i in range(m):
            roles[0, i] = best
            if as_printed:
                best = -1  # only cluster i itself will count for cluster i + 1
            for x in range(p, p + open_sizes[i]):
                if best < 0 or lcb[x] < lcb[best]:
                    best = x
            p += open_sizes[i]
        best = -1
        for i in range(m - 1, -1, -1):
            roles[1, i] = best
            if as_printed:
                best = -1
            for x in range(p - 1, p - 1 - open_sizes[i], -1):
                if best < 0 or ucb[x] >= ucb[best]:
                    best = x
            p -= open_sizes[i]
        # The choice.
        number, clear, p1 = 0, True, 0
        for i in range(m):
            p0, p1 = p1, p1 + open_sizes[i]
            if p1 == p0:
                continue
            L = lcb[roles[0, i]] if roles[0, i] >= 0 else np.inf
            U = ucb[roles[1, i]] if roles[1, i] >= 0 else -np.inf
            nearest, weakest, strongest = p0, p0, p0
            nearest_gap, second_gap = max(ucb[p0] - L, U - lcb[p0]), np.inf
            for x in range(p0 + 1, p1):
                gap = max(ucb[x] - L, U - lcb[x])
                if gap < nearest_gap:
                    nearest, nearest_gap, second_gap = x, gap, nearest_gap
                elif gap < second_gap:
                    second_gap = gap
                if lcb[x] < lcb[weakest]:
                    weakest = x
                if ucb[x] > ucb[strongest]:
                    strongest = x
            clear = clear and nearest_gap > slack
            if wants[i]:
                roles[2, i] = nearest
                roles[3, i] = weakest if p1 < n and not as_printed else nearest
                roles[4, i] = strongest if p0 > 0 and not as_printed else nearest
                if second_gap - nearest_gap <= slack and roles[0, i] >= 0 and roles[1, i] >= 0:
                    clear = False
                for role in range(5):
                    x = roles[role, i]
                    if x >= 0 and not chosen[x]:
                        chosen[x] = True
                        picks[number] = x
                        number += 1
        for j in range(number):
            chosen[picks[j]] = False
        if not clear or number > most - pulls:
            return R, pulls, jumps, state
        room = (most - pulls) // number
        for j in range(number):
            room = min(room, available - count[order[picks[j]]])
        if room <= 0:
            return R, pulls, jumps, state
        k, kind = 1, _BY_ONE
        if next_try <= R and room > 1:
            k, kind, state = _stretch(
                law, skip_error, order, mean, inv, lcb, ucb, picks, number, arm_of, count, open_sizes, wants,
                roles, bounds, words,
                n, R, c, room, jumps, as_printed, state,
            )  # fmt: skip
            jumps += kind == _BY_CHANCE
            wait = 1 if k > 8 else min(2 * wait, _LONGEST_WAIT)
            next_try = R + k + wait - 1
            if kind == _BY_WORDS:
                for j in range(number):
                    label = order[picks[j]]
                    total[label] += bits_set(words[picks[j]] & lanes(0, k))
            elif kind != _BY_ONE:
                for j in range(number):
                    label = order[picks[j]]
                    total[label], state = laws.more_pulls(law, arm_of[label], total[label], count[label], k,
                    state)
        if kind == _BY_ONE:
            for j in range(number):
                label = order[picks[j]]
                total[label], state = laws.one_pull(law, arm_of[label], total[label], count[label], state)
        for j in range(number):
            x = picks[j]
            label = order[x]
            count[label] += k
            n_a = np.float64(count[label])
            mean[x], inv[x] = total[label] / n_a, 1.0 / (math.sqrt(2.0 * n_a) * unit)
        R += k - 1
        pulls += number * k
        for x in range(1, n):
            key, arm = mean[x], order[x]
            if mean[x - 1] > key or (mean[x - 1] == key and order[x - 1] < arm):
                continue
            factor, y = inv[x], x
            while y > 0 and (key > mean[y - 1] or (key == mean[y - 1] and arm < order[y - 1])):
                mean[y], order[y], inv[y] = mean[y - 1], order[y - 1], inv[y - 1]
                y -= 1
            mean[y], order[y], inv[y] = key, arm, factor



_BY_ONE, _SURELY, _BY_WORDS, _BY_CHANCE = 0, 1, 2, 3


@kernel
def _stretch(
    law: Any, skip_error: float, order: Ints, mean: Floats, inv: Floats, lcb: Floats, ucb: Floats,
    picks: Ints, number: int,
    arm_of: Ints, count: Ints, open_sizes: Ints, wants: Flags, roles: Ints, bounds: Floats,
    words: NDArray[np.uint64], n: int, R: int,
    c: float, room: int, jumps: int, as_printed: bool, state: State,
) -> tuple[int, int, State]:  # fmt: skip
    """Return how many pulls the picked arms may take at once, and how that is certified."""
    Q, k, kind = 64.0, 1, _BY_ONE
    budget = exit_budget(law, number, skip_error, jumps + 1)
    for _look in range(6):
        bound_all(bounds, mean, inv, lcb, ucb, order, count, picks, number, n, c, R, Q)
        H = -1.0
        if squeeze(bounds, mean, roles, open_sizes, wants, n, as_printed):
            H = narrowest(bounds, picks, number)
        if H <= 0.0:
            if Q <= 64.0:
                break
            Q = max(64.0, Q / 16.0)
            continue
        stay = H * _CAUTION / laws.spread(law)
        certified = _SURELY
        by_chance = _LONGEST
        if budget < np.inf:
            for j in range(number):
                x = picks[j]
                drift = laws.mean_of(law, arm_of[order[x]]) - mean[x]
                by_chance = min(by_chance, longest_stay(bounds[UP, x], drift, budget))
                by_chance = min(by_chance, longest_stay(bounds[DOWN, x], -drift, budget))
            if by_chance > stay:
                stay, certified = by_chance, _BY_CHANCE
        walkable = laws.has_words(law) and Q <= 64.0 and room >= 64
        if walkable and stay < _WORTH_A_JUMP and H * H > _WORTH_A_TRY:
            return _walk(law, order, mean, picks, number, arm_of, count, bounds, words, state)
        reach = int(min(stay, Q, _LONGEST))
        if reach + 1 > k:
            k, kind = reach + 1, certified
        if stay < 2.0 * Q or room <= Q:
            break
        Q = min(2.0 * stay, 1024.0 * Q)
    return min(k, room), kind if k > 1 else _BY_ONE, state


@kernel
def _walk(
    law: Any, order: Ints, mean: Floats, picks: Ints, number: int, arm_of: Ints, count: Ints, bounds: Floats,
    words: NDArray[np.uint64],
    state: State,
) -> tuple[int, int, State]:  # fmt: skip
    """Draw a word for each picked arm; return the first pull after which one has left, at most 64."""
    k = 64
    for j in range(number):
        x = picks[j]
        words[x], state = laws.word(law, arm_of[order[x]], count[order[x]], state)
        k = min(k, first_exit(words[x], mean[x], bounds[UP, x], bounds[DOWN, x], k))
    return min(k, 64), _BY_WORDS, state
