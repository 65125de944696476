"""The last two arms, in different clusters: most pulls of a run are theirs, so their rounds get a
loop of scalars and longer jumps.

Legend as in `rai_sim.engine.certificates`; n = 2, so the constraint is |S_a - S_b| <= W(R) and
there are two pairs, (a, b) and (b, a).

Where a law gives sums between two known ones, and the schedule asks for it, jumps far from W are leaps
(`rai_sim.engine.round_robin.leaps`). What follows is for all other rounds.

W itself costs a logarithm and a root. As W is concave, its chord from one round to a later one lies
below it, by about W/32 times the square of the chord's share of R; so near the threshold distances
are measured from chords. Elsewhere W is bounded from below by its growth since a round that is at
most 1/8 of R ago. W itself is computed when a bound is crossed; what is said of the rounds after
that one needs a slope measured from there, for a line from W itself with the slope of a chord that
begins lower runs above W.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rai_sim.engine import law as laws
from rai_sim.engine import schedule as schedules
from rai_sim.engine.certificates import (
    FIRST_JUMPS,
    LONGEST,
    TRIES,
    Race,
    certified_on_line,
    next_length,
    pair_budget,
    sure_rounds,
)
from rai_sim.engine.history import next_asked, stopped_at
from rai_sim.engine.jit import for_words, in_place, inlined, kernel
from rai_sim.engine.round_robin.leaps import (
    Pair,
    Sums,
    far,
    leap,
    leap_budget,
    pull,
    see,
)
from rai_sim.engine.round_robin.run import JUMPS, PULLS, ROUND, Run
from rai_sim.engine.sampling import bits_set, lanes
from rai_sim.engine.streams import State
from rai_sim.engine.vectors import LANES, LONGEST_RISE, first_lane, walk_above
from rai_sim.engine.words import WORTH_A_JUMP

_NONE, _ONE = np.uint64(0), np.uint64(1)

#: A chord of W may be this much below it.
_SAG = 0.25
#: A chord of W, and a jump judged by the growth of W at the anchor, spans at most this share of R.
_LONGEST_CHORD = 1.0 / 8.0
#: As W(R) / sqrt(X), X = R + shift, does not fall, W grows by at least W_anchor / (2 X_anchor)
#: sqrt(X_anchor / X) a round. A jump begins at most 1/8 after the anchor and is at most 1/8 of R
#: long, so R stays below 1.27 anchor, and X below 1.27 X_anchor.
_GROWTH = 0.44
#: Sums are bounded in steps of this share of a reward.
_STEPS = 256.0

#: Of arms a and b: their next 64 rewards as bits.
Words = tuple[np.uint64, np.uint64]


class Anchor(NamedTuple):
    """A round for which W itself was computed, and W there, in rewards; and by how much |gap| is
    expected to approach W in a round, at most, up to 1.27 times that round; in law units."""

    R: float
    W: float
    steepest: float


class Chord(NamedTuple):
    """A line below W from one round to another, in law units."""

    start: int
    end: int
    W: float  # at the start, at most W there
    rise: float


@kernel
def duel(run: Run, last: int, state: State) -> tuple[int, State]:
    """Pull the two arms up to the first round with |S_a - S_b| > W or to round `last`; return how
    many rounds that is."""
    race, history, clock, total = run.race, run.history, run.clock, run.race.standings.total
    law, R, skip_error = race.law, clock[ROUND], run.setting.skip_error
    pair, sums = _pair(run), (total[0], total[1])
    budget = pair_budget(law, 2, skip_error, clock[JUMPS] + 1)
    per_budget = 1.0 / budget
    anchor, chord = Anchor(0.0, 0.0, 0.0), Chord(R, R, 0.0, 0.0)
    to_leap, clock[JUMPS] = leap_budget(race, skip_error, clock[JUMPS])
    due = next_asked(history)
    while last > R and not stopped_at(history, R, pair.others + 2 * R, 2):
        if due <= R:
            due = see(history, pair, sums, R)
        gap = sums[0] - sums[1]
        anchor = _renewed_anchor(race, pair, anchor, R)
        chord = _renewed_chord(race, anchor, chord, abs(gap), R, budget)
        W, slope = _line(race, chord, gap, R)
        if not abs(gap) <= W:  # or sums that are not finite, which the caller reports
            break
        D = W - abs(gap)
        if to_leap > 0.0 and far(race, D):
            R, sums, to_leap, state = leap(
                race, history, run.ahead, pair, sums, R, last, to_leap, state
            )
            due = next_asked(history)
            continue
        sure = sure_rounds(D, laws.spread(law))
        reach = D * D * per_budget  # about the length that bound 2 certifies
        if (to_leap > 0.0 or max(sure, reach) < WORTH_A_JUMP) and laws.has_words(law):
            words, state = _draw(law, pair, R, state)
            rounds = min(_walk(race, words, gap, R, W, slope), last - R)
            while R + rounds > due:
                due = see(history, pair, _after(sums, words, due - R), due)
            sums = _after(sums, words, rounds)
        else:
            if 4.0 * reach > sure:
                clock[JUMPS] += 1
                jump = clock[JUMPS] + 1
                # the budget of a jump is cut at powers of two
                if jump >= FIRST_JUMPS and jump & (jump - 1) == 0:
                    budget = pair_budget(law, 2, skip_error, jump)
                    per_budget = 1.0 / budget
                certified = (
                    int(
                        min(
                            certified_on_line(D, anchor.steepest, budget),
                            min(4.0 * reach, _LONGEST_CHORD * R),
                        )
                    )
                    if reach < _LONGEST_CHORD * R
                    else _jump(R + schedules.shift(race.schedule), W, gap, pair.drift, budget)
                )
                sure = max(sure, certified)
            rounds = laws.handy(law, min(sure + 1, last - R))
            sums, state = pull(law, pair, sums, R, rounds, state)
        R += rounds
    total[0], total[1] = sums
    return R - clock[ROUND], state


@inlined
def _pair(run: Run) -> Pair:
    """Return the arms at ranks 0 and 1."""
    standings, clock = run.race.standings, run.clock
    a, b = standings.arm_of[standings.order[0]], standings.arm_of[standings.order[1]]
    return Pair(
        a=a,
        b=b,
        others=clock[PULLS] - 2 * clock[ROUND],
        drift=laws.mean_of(run.race.law, a) - laws.mean_of(run.race.law, b),
    )


@inlined
def _renewed_anchor(race: Race, pair: Pair, anchor: Anchor, R: int) -> Anchor:
    """Return an anchor at R if the last one is too far back."""
    if (1.0 + _LONGEST_CHORD) * anchor.R >= R:
        return anchor
    W = schedules.threshold(race.schedule, np.float64(R))
    growth = _GROWTH * W / laws.unit(race.law) / (R + schedules.shift(race.schedule))
    return Anchor(np.float64(R), W, abs(pair.drift) - growth)


@inlined
def _renewed_chord(
    race: Race, anchor: Anchor, chord: Chord, lead: float, R: int, budget: float
) -> Chord:
    """Return a chord from R on if 64 rounds from there are not below the last one; where a jump is
    worth more than words, a point below W is enough."""
    if chord.end >= R + LANES:
        return chord
    schedule, unit = race.schedule, laws.unit(race.law)
    W = schedules.threshold_after(schedule, anchor.R, anchor.W, np.float64(R)) / unit
    end, rise = R, 0.0
    if (W - lead) * (W - lead) < WORTH_A_JUMP * budget:
        end = R + LANES + int(R * min(_LONGEST_CHORD, math.sqrt(32.0 * _SAG / W)))
        rise = (schedules.threshold(schedule, np.float64(end)) / unit - W) / (end - R)
    return Chord(R, end, W, rise)


@inlined
def _line(race: Race, chord: Chord, gap: float, R: int) -> tuple[float, float]:
    """Return a lower bound of W(R) and a slope with which it bounds the 64 rounds after R: the
    chord's, or W itself where the gap crosses the chord."""
    schedule, unit = race.schedule, laws.unit(race.law)
    W = chord.W + (R - chord.start) * chord.rise
    if abs(gap) <= W:
        return W, chord.rise
    W = schedules.threshold(schedule, np.float64(R)) / unit
    return W, (schedules.threshold(schedule, np.float64(R + LANES)) / unit - W) / LANES


def _no_words(law: Any, pair: Pair, R: int, state: State) -> tuple[Words, State]:
    return (_NONE, _NONE), state


@for_words(_no_words)
@in_place
def _draw(law: Any, pair: Pair, R: int, state: State) -> tuple[Words, State]:
    """Draw the 64 rewards after round R."""
    of_a, state = laws.word(law, pair.a, R, state)
    of_b, state = laws.word(law, pair.b, R, state)
    return (of_a, of_b), state


@inlined
def _after(sums: Sums, words: Words, rounds: int) -> Sums:
    """Return the sums after some of the words' rounds."""
    mask = lanes(0, rounds)
    return sums[0] + bits_set(words[0] & mask), sums[1] + bits_set(words[1] & mask)


@kernel
def _jump(X: float, W: float, gap: float, drift: float, budget: float) -> int:
    """Return a number of rounds after R that bound 2 certifies; W is at most W(R), X is R + shift.

    W(R) / sqrt(X) does not fall with R, which bounds W(R + K) from below without a logarithm.
    """
    D = W - abs(gap)
    K, longest = min(D * D / budget, LONGEST), 0.0
    for _try in range(TRIES):
        if K < 1.0:
            break
        D_K = W * math.sqrt(1.0 + K / X) - abs(gap + K * drift)
        uncapped = certified_on_line(D, (D - D_K) / K, budget)
        k = min(K, uncapped)
        longest = max(longest, k)
        K = next_length(D, K, k, uncapped, budget)
    return int(longest)


def _no_walk(race: Race, words: Words, gap: float, R: int, W: float, slope: float) -> int:
    return LANES


@for_words(_no_walk)
def _walk(race: Race, words: Words, gap: float, R: int, W: float, slope: float) -> int:
    """Return after how many of 64 rounds the first with |gap| > W comes, 64 if none; rewards are 0
    and 1.

    W + j slope is a lower bound of W(R + j). Rounds in which the gap exceeds it are visited one
    after another.
    """
    leader, other = words if gap >= 0.0 else (words[1], words[0])
    leads, trails = leader & ~other, other & ~leader
    suspects = _above(leads, trails, W - abs(gap), slope) | _above(
        trails, leads, W + abs(gap), slope
    )
    while suspects != _NONE:
        rounds = first_lane(suspects) + 1
        change = bits_set(leads & lanes(0, rounds)) - bits_set(trails & lanes(0, rounds))
        if abs(abs(gap) + change) > schedules.threshold(race.schedule, np.float64(R + rounds)):
            return rounds
        suspects &= suspects - _ONE
    return LANES


@inlined
def _above(up: np.uint64, down: np.uint64, room: float, slope: float) -> np.uint64:
    """Return the rounds in which a walk may be above room + j slope; its steps up and down are
    bits."""
    if room >= LANES:
        return _NONE
    return walk_above(up, down, int(room * _STEPS), min(int(slope * _STEPS), LONGEST_RISE))
