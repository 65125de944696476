"""The sums beside each border after each of a word's rounds, by counting.

A border lies after the first `rank` active arms. The sum u of the last arm above it and the sum l
of the first below are order statistics; whose they are does not matter. Around each of them a
*window* of a few integer levels is laid, which rise with the rounds as fast as the sum is expected
to. For every round and level it is counted how many arms reach the level: u is the highest level
that at least `rank` arms reach, l the highest that `rank` + 1 reach. A round is known if both are
inside of their windows: the lowest level is reached by enough arms, the highest is not. In one
round a sum grows by 0 or 1, and so does an order statistic, so that a window with a margin of 1 is
never left in its first round.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rai_sim.engine import law as laws
from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.order_statistics import order_statistics
from rai_sim.engine.partition import Partition
from rai_sim.engine.round_robin.crowd.places import (
    AWAKE,
    BORDERS,
    GONE,
    MARGIN,
    MOST_LEVELS,
    STALE,
    STEADY,
    WINDOWS,
    Crowd,
)
from rai_sim.engine.round_robin.run import OVER, ROUND, Run
from rai_sim.engine.sampling import bits_set, lanes
from rai_sim.engine.streams import State
from rai_sim.engine.vectors import LANES, address_of, count_reaching, store_counts

_VECTOR = np.uint64(LANES)
#: Arms after which tallies of bytes are emptied.
_MOST_TALLIED = 255
#: An order statistic's window holds that of its neighbour, too, if they are so close.
_CLOSE = 6
_WIDEST_MARGIN = (MOST_LEVELS - 2 - _CLOSE) // 2
#: Words after which a margin that sufficed for all of them is narrowed.
_STEADY_WORDS = 4


@kernel
def place_borders(crowd: Any, part: Partition) -> None:
    """Note where the borders between clusters with active arms lie, for a crowd or a roster."""
    above, borders = 0, 0
    for i in range(part.open_sizes.size):
        if part.open_sizes[i] > 0:
            if above > 0:
                crowd.ranks[borders] = above
                borders += 1
            crowd.cluster_above[borders] = i
            above += part.open_sizes[i]
    crowd.cells[BORDERS] = borders


@kernel
def find_borders(run: Run) -> None:
    """Find the sums beside each border as of the rounds that are over."""
    crowd, clock, total = run.crowd, run.clock, run.race.standings.total
    n, over, values = crowd.cells[AWAKE], clock[OVER], crowd.values
    place = 0
    for x in range(n):
        while total[place] == GONE:
            place += 1
        values[x] = total[place]
        if over > 0:
            values[x] += bits_set(crowd.words[place] & lanes(0, over))
        place += 1
    borders = crowd.cells[BORDERS]
    for b in range(borders):
        crowd.beside[2 * b], crowd.beside[2 * b + 1] = crowd.ranks[b] - 1, crowd.ranks[b]
    room = run.race.standings.spare_total
    apart = order_statistics(
        values, n, crowd.beside, 2 * borders, crowd.sums_beside, crowd.buckets, room
    )
    for b in range(borders):  # sums that are not apart are all the same
        crowd.upper_now[b] = crowd.sums_beside[2 * b] if apart else values[0]
        crowd.lower_now[b] = crowd.sums_beside[2 * b + 1] if apart else values[0]
    crowd.cells[STALE] = 0
    crowd.known_at[0] = -1


@kernel
def lay_windows(run: Run) -> None:
    """Lay windows of levels around the sums beside the borders."""
    crowd, R = run.crowd, run.clock[ROUND]
    cells = crowd.cells
    margin, windows = cells[MARGIN], 0
    _learn_paces(crowd, R)
    for b in range(cells[BORDERS]):
        upper, lower = crowd.upper_now[b], crowd.lower_now[b]
        if upper - lower <= _CLOSE:
            pace = 0.5 * (crowd.pace[0, b] + crowd.pace[1, b])
            _lay(run, windows, lower - margin, upper - lower + 2 * margin + 2, pace)
            crowd.window_of[0, b] = crowd.window_of[1, b] = windows
            windows += 1
        else:
            for side in range(2):
                at = upper if side == 0 else lower
                _lay(run, windows, at - margin, 2 * margin + 2, crowd.pace[side, b])
                crowd.window_of[side, b] = windows
                windows += 1
    cells[WINDOWS] = windows


@inlined
def _learn_paces(crowd: Crowd, R: int) -> None:
    """Note how fast the sums beside the borders grow: as they did since they were noted last, if
    that is some rounds ago, else as they did from the start."""
    since = crowd.known_at[0]
    for b in range(crowd.cells[BORDERS]):
        for side in range(2):
            now = crowd.upper_now[b] if side == 0 else crowd.lower_now[b]
            if since < 0:
                crowd.pace[side, b] = now / max(R, 1)
            elif R - since >= LANES:
                crowd.pace[side, b] = (now - crowd.known[side, b]) / (R - since)
            crowd.pace[side, b] = min(max(crowd.pace[side, b], 0.0), 1.0)
            if since < 0 or R - since >= LANES:
                crowd.known[side, b] = now
    if since < 0 or R - since >= LANES:
        crowd.known_at[0] = R


@kernel
def _lay(run: Run, w: int, base: int, levels: int, pace: float) -> None:
    """Lay a window: its levels rise from the round after those that are over."""
    crowd, over = run.crowd, run.clock[OVER]
    first = w * MOST_LEVELS
    crowd.base[w], crowd.levels[w], crowd.whole[w] = base, levels, 0
    crowd.top[w] = base + int(pace * (LANES - over)) + levels - 1
    for j in range(LANES):
        rise = int(pace * (j - over + 1)) if j >= over else 0
        for v in range(levels):
            crowd.lines[first + v, j] = rise + v + LANES
            crowd.tally[first + v, j] = 0
            crowd.reached[first + v, j] = 0


@kernel
def count(run: Run, fresh: bool, state: State) -> State:
    """Take out the arms that are settled, draw words if they are to be fresh, and count for all
    windows the arms that reach each level."""
    crowd, clock, law = run.crowd, run.clock, run.race.law
    order, total, words = run.race.standings.order, run.race.standings.total, crowd.words
    base, top, whole, windows = crowd.base, crowd.top, crowd.whole, crowd.cells[WINDOWS]
    counts, lines, tally = (
        address_of(crowd.counts),
        address_of(crowd.lines),
        address_of(crowd.tally),
    )
    R, awake, place, tallied = clock[ROUND], crowd.cells[AWAKE], 0, 0
    for x in range(crowd.event_place.size):
        if place == awake:
            break
        total_x = total[x]
        if total_x == GONE:
            continue
        arm, word = order[x], words[x]
        if fresh:
            total_x += bits_set(word)
            word, state = laws.word(law, arm, R, state)
        order[place], total[place], words[place] = arm, total_x, word
        place += 1
        sum_ = int(total_x)
        most, ready = sum_ + bits_set(word), False
        for w in range(windows):
            if most < base[w]:
                continue
            if sum_ >= top[w]:
                whole[w] += 1
                continue
            if not ready:
                store_counts(counts, word)
                ready = True
            offset = np.uint64(sum_ - base[w] + LANES)
            row = np.uint64(w * MOST_LEVELS) * _VECTOR
            for _ in range(crowd.levels[w]):
                count_reaching(tally + row, counts, offset, lines + row)
                row += _VECTOR
        if ready:
            tallied += 1
            if tallied == _MOST_TALLIED:
                _empty_tallies(crowd)
                tallied = 0
    _empty_tallies(crowd)
    return state


@kernel
def _empty_tallies(crowd: Crowd) -> None:
    """Add the tallies to the counts."""
    for w in range(crowd.cells[WINDOWS]):
        first = w * MOST_LEVELS
        for row in range(first, first + crowd.levels[w]):
            for j in range(LANES):
                crowd.reached[row, j] += crowd.tally[row, j]
                crowd.tally[row, j] = 0


@inlined
def level_held(crowd: Crowd, w: int, j: int, rank: int) -> int:
    """Return the sum that the arm of a rank, 1 the first, has after lane j; -1 if it is outside of
    its window."""
    first, levels, whole = w * MOST_LEVELS, crowd.levels[w], crowd.whole[w]
    if (
        crowd.reached[first, j] + whole < rank
        or crowd.reached[first + levels - 1, j] + whole >= rank
    ):
        return -1
    v = levels - 2
    while crowd.reached[first + v, j] + whole < rank:
        v -= 1
    return crowd.base[w] + int(crowd.lines[first + v, j]) - LANES


@inlined
def widen(crowd: Crowd) -> None:
    """Count more levels from the next window on."""
    crowd.cells[MARGIN] = min(2 * crowd.cells[MARGIN], _WIDEST_MARGIN)
    crowd.cells[STEADY] = 0


@inlined
def narrow_in_time(crowd: Crowd) -> None:
    """Count fewer levels after some whole words in which no window was left."""
    crowd.cells[STEADY] += 1
    if crowd.cells[STEADY] == _STEADY_WORDS:
        crowd.cells[MARGIN], crowd.cells[STEADY] = max(1, crowd.cells[MARGIN] * 3 // 4), 0
