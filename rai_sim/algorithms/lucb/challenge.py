"""LUCB while one arm only is in question, its cluster's last, for rewards 0 and 1: rounds by the
word.

Legend as in `rai_sim.algorithms.lucb.rule`. One cluster still wants an arm and has one left, v. So
v is nearest, weakest and strongest, and a round pulls v, the arm l of least LCB among all ranked
before v and the arm u of greatest UCB among all ranked after (one of them may be missing). The best
arm of many is found like that, and the last arm of any task. Only the cuts of the ranking matter
here, not the order of arms within a cluster.

A stretch of rounds pulls the same arms, as `rai_sim.algorithms.lucb.challenge_lines` shows: those
while the sum of each of them stays between two straight lines.

The first j after which some arm may be off its chords ends the stretch. Whether it is reached is
known from the first j bits of the three words, so the bits after them remain the arms' next
rewards.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.lucb.challenge_lines import (
    DOWN,
    DOWN_END,
    UP,
    UP_END,
    Lines,
    draw_lines,
    find_clusters,
    narrowest,
    new_lines,
)
from rai_sim.algorithms.lucb.corridor_walk import exit_budget
from rai_sim.algorithms.lucb.rule import Ranking, compute_bounds, see_ranked
from rai_sim.algorithms.lucb.run import (
    JUMPS,
    LOG_TERM,
    MOST,
    PICKS,
    PULLS,
    RANKED,
    ROUND,
    SAME,
    WORTH,
    Run,
)
from rai_sim.engine import law as laws
from rai_sim.engine.history import keep_state, next_asked, stopped_at
from rai_sim.engine.jit import for_words, inlined
from rai_sim.engine.sampling import bits_set, lanes
from rai_sim.engine.streams import State
from rai_sim.engine.vectors import LANES, LONGEST_RISE, first_lane, walk_above

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_0 = np.uint64(0)
#: Arms with more pulls are left to corridors: their chords could not be compared in 256ths.
_MOST_TAKEN = 2.0**40
#: Taken off a room, in rewards, for all rounding.
_MARGIN = 2.0 / 256.0


class Rewards(NamedTuple):
    """By rank: rewards that have been drawn and not used, lowest bit first, and how many, up to
    128."""

    next: NDArray[np.uint64]
    after: NDArray[np.uint64]
    drawn: NDArray[np.int64]


class Challenge(NamedTuple):
    """Memory of a block."""

    rewards: Rewards
    lines: Lines


def new_challenge(N: int, m: int) -> Challenge:
    """Allocate."""
    rewards = Rewards(np.empty(N, np.uint64), np.empty(N, np.uint64), np.empty(N, np.int64))
    return Challenge(rewards, new_lines(m))


@inlined
def arm_in_question(run: Run) -> int:
    """Return the rank of the one arm on which all open questions hinge, -1 if there is none."""
    part, rank, p0 = run.part, -1, 0
    if run.rule.as_printed or run.clock[RANKED] < 2 or not laws.has_words(run.law):
        return -1
    for i in range(part.open_sizes.size):
        if part.found[i] < part.required[i]:
            if rank >= 0 or part.open_sizes[i] != 1:
                return -1
            rank = p0
        p0 += part.open_sizes[i]
    return rank


@inlined
def _have_word(law: Any, s: Ranking, rewards: Rewards, x: int, state: State) -> State:
    """Draw rewards until 64 are there."""
    have = rewards.drawn[x]
    if have < LANES:
        word, state = laws.word(law, s.arm_of[s.order[x]], int(s.taken[x]) + have, state)
        if have == 0:
            rewards.next[x] = word
        else:
            rewards.next[x] |= word << np.uint64(have)
            rewards.after[x] = word >> np.uint64(LANES - have)
        rewards.drawn[x] = have + LANES
    return state


@inlined
def _take(s: Ranking, rewards: Rewards, x: int, j: int) -> None:
    """Pull arm x j times, 1 to 64."""
    s.total[x] += bits_set(rewards.next[x] & lanes(0, j))
    s.taken[x] += j
    s.mean[x] = s.total[x] / s.taken[x]
    left = rewards.drawn[x] - j
    after = rewards.after[x] if rewards.drawn[x] > LANES else _0
    if j == LANES:
        rewards.next[x] = after
    else:
        rewards.next[x] = (rewards.next[x] >> np.uint64(j)) | (after << np.uint64(LANES - j))
        rewards.after[x] = after >> np.uint64(j)
    rewards.drawn[x] = left


@inlined
def _steps_inside(lines: Lines, p: int, word: np.uint64, S: float, J: int) -> int:
    """Return after how many of J pulls the sum of pick p may first be off its lines."""
    rise, fall = (
        (lines.limits[UP_END, p] - lines.limits[UP, p]) / J,
        (lines.limits[DOWN_END, p] - lines.limits[DOWN, p]) / J,
    )
    suspects = _over(word, lines.limits[UP, p] - S, rise) | _over(
        ~word, S - lines.limits[DOWN, p], 1.0 - fall
    )
    return min(first_lane(suspects) + 1, J)


@inlined
def _over(steps: np.uint64, room: float, slope: float) -> np.uint64:
    """Return the pulls after which the steps may have reached room + j slope."""
    start = room - _MARGIN
    if slope < 0.0:
        start, slope = start + LANES * slope, 0.0
    if start >= LANES:
        return _0
    if start < 0.0:
        return _ALL
    return walk_above(steps, _0, int(start * 256.0), min(int(slope * 256.0), LONGEST_RISE))


@inlined
def _longest_stretch(law: Any, s: Ranking, n: int, R: int) -> int:
    """Return for how many rounds after R lines are drawn: few at first, as radii change fast, and
    never more than the rewards there are."""
    J = np.float64(LANES if R >= 16 * LANES else max(R // 16, 1))
    most = min(np.float64(laws.pulls_available(law)), _MOST_TAKEN)
    for x in range(n):
        J = min(J, most - s.taken[x])
    return int(J)


def _no_rounds(run: Run, challenge: Challenge, same_if_wide: int, state: State) -> State:
    return state


@for_words(_no_rounds)
def advance(run: Run, challenge: Challenge, same_if_wide: int, state: State) -> State:
    """Judge the rounds that follow and pull their picks. The arms are to be ranked again.

    It stops before a round that may settle an arm or change a cluster, that the cap or the
    recording does not pay for, and where corridors would take the picks much further; these then
    count as having been the same for `same_if_wide` rounds.
    """
    law, s, clock, history = run.law, run.ranking, run.clock, run.history
    n, v = clock[RANKED], arm_in_question(run)
    rewards, lines = challenge.rewards, challenge.lines
    clusters, home = find_clusters(lines, run.part, v)
    budget = exit_budget(law, clock[PICKS], run.setting.skip_error, clock[JUMPS] + 1)
    worth = run.terms[WORTH]
    picks = 1 + (v > 0) + (v < n - 1)
    clock[SAME] = 0
    for x in range(n):
        rewards.drawn[x] = 0
    while not stopped_at(history, clock[ROUND], clock[PULLS], n):
        R = clock[ROUND] + 1
        if next_asked(history) <= R:
            see_ranked(history, s, n, clock[PULLS])
            keep_state(history, R)
        run.terms[LOG_TERM] = math.log(run.rule.scale * R * R * R)
        compute_bounds(s, n, run.terms[LOG_TERM], 1.0)
        J = min(_longest_stretch(law, s, n, R), (clock[MOST] - clock[PULLS]) // picks)
        if J < 1:  # more pulls than lines can be drawn for: corridors can
            clock[SAME] = same_if_wide
            break
        if not draw_lines(run, lines, v, home, clusters, J):
            break
        H = narrowest(lines, s, picks)
        if max(H, H * H / budget) > worth:
            clock[SAME] = same_if_wide
            break
        j = J
        for p in range(picks):
            x = lines.pick[p]
            state = _have_word(law, s, rewards, x, state)
            j = min(j, _steps_inside(lines, p, rewards.next[x], s.total[x], J))
        for p in range(picks):
            _take(s, rewards, lines.pick[p], j)
        clock[ROUND] += j
        clock[PULLS] += j * picks
    return state
