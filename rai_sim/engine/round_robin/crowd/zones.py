"""Who is settled in which of a word's rounds.

With u and l the sums beside a border (see `rai_sim.engine.round_robin.crowd.borders`), an arm is
clear above it in a round iff its sum is at least l + F, and clear below iff it is at most u - F, F
= floor(W) + 1: sums are integers. It is settled in the first round in which it is clear below the
border above its cluster and clear above the border below, a side without a border holding
trivially; and it then is between these borders, as F > 0.
"""

from __future__ import annotations

import numpy as np

from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.round_robin.crowd.borders import level_held, widen
from rai_sim.engine.round_robin.crowd.places import (
    AWAKE,
    BORDERS,
    LEAVES_AT,
    MOST_LEVELS,
    SORTED,
    Crowd,
)
from rai_sim.engine.round_robin.crowd.sleep import within_fences
from rai_sim.engine.round_robin.run import OVER, ROUND, Run, width
from rai_sim.engine.sampling import bits_set, lanes
from rai_sim.engine.vectors import (
    LANES,
    address_of,
    first_lane,
    lanes_reaching,
    store_counts,
)

_VECTOR = np.uint64(LANES)
_NONE = np.uint64(0)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
#: Edges are bytes; a line that rises by more is cut.
_LONGEST_EDGE = 254 - LANES
#: More than what rounding can do to W, relatively.
_ROUNDING = 1e-9


@kernel
def follow_borders(run: Run, until: int) -> int:
    """Find the sums beside all borders and the edges of the zones, from the lane after those that
    are over up to `until`, as if nobody were settled. Return the end of the lanes for which that is
    possible: no border's own arm is settled before the last of them, nor do borders leave the fences
    of those asleep; windows are widened from the next time on if one was left."""
    crowd, over, R = run.crowd, run.clock[OVER], run.clock[ROUND]
    borders = crowd.cells[BORDERS]
    end = until
    crowd.cells[LEAVES_AT] = -1
    _note_clearances(run, until)
    for j in range(over, until):
        for b in range(borders if crowd.cells[SORTED] == 0 else 0):
            rank = crowd.ranks[b] - crowd.asleep_above[b]
            upper = level_held(crowd, crowd.window_of[0, b], j, rank)
            lower = level_held(crowd, crowd.window_of[1, b], j, rank + 1)
            if upper < 0 or lower < 0:
                end = j
                widen(crowd)
                break
            crowd.upper[b, j], crowd.lower[b, j] = upper, lower
        if end == j:
            break
        if not within_fences(crowd, j, R + 1 + j - over):
            end = j
            break
        if borders_own_settled(crowd, j, crowd.clearance[j]):
            end = j + 1
            break
    return _draw_edges(crowd, over, end)


@inlined
def clearance(run: Run, R: int) -> int:
    """Return F, the least difference of sums that is more than W(R)."""
    return int(np.floor(width(run, R))) + 1


@kernel
def _note_clearances(run: Run, until: int) -> None:
    """Note F for the lanes from the one after those that are over up to `until`."""
    crowd, over, R = run.crowd, run.clock[OVER], run.clock[ROUND]
    first, last = width(run, R + 1), width(run, R + until - over)
    # W grows with R; where it passes no integer, and rounding could not take it past one, F stays
    near = last * _ROUNDING
    stays = np.floor(first - near) == np.floor(last + near)
    F = clearance(run, R + 1)
    for j in range(over, until):
        crowd.clearance[j] = F if stays else clearance(run, R + 1 + j - over)


@inlined
def borders_own_settled(crowd: Crowd, j: int, F: int) -> bool:
    """Whether an arm beside a border is settled in lane j."""
    borders = crowd.cells[BORDERS]
    for b in range(borders):
        upper, lower = crowd.upper[b, j], crowd.lower[b, j]
        if upper - lower >= F and (
            b == 0
            or crowd.upper[b - 1, j] - upper >= F
            or b == borders - 1
            or lower - crowd.lower[b + 1, j] >= F
        ):
            return True
    return False


@kernel
def _draw_edges(crowd: Crowd, over: int, end: int) -> int:
    """Draw the zones' edges as lines of bytes; return the end of the lanes that they suffice for,
    one at least."""
    for edge in range(2 * crowd.cells[BORDERS]):
        least = most = _edge_at(crowd, edge, over)
        for j in range(over + 1, end):
            at = _edge_at(crowd, edge, j)
            if max(most, at) - min(least, at) > _LONGEST_EDGE:
                end = j
                break
            least, most = min(least, at), max(most, at)
        for j in range(over, end):
            crowd.edges[edge, j] = _edge_at(crowd, edge, j) - least + LANES
        crowd.edge_range[edge, 0], crowd.edge_range[edge, 1] = least, most
    return end


@inlined
def _edge_at(crowd: Crowd, edge: int, j: int) -> int:
    """Return from which sum on an arm is clear above a border (even edges), or not clear below it
    (odd ones), after lane j."""
    if edge % 2 == 0:
        return crowd.lower[edge // 2, j] + crowd.clearance[j]
    return crowd.upper[edge // 2, j] - crowd.clearance[j] + 1


@kernel
def find_events(run: Run, until: int) -> int:
    """Note the arms that are settled before the end of lane `until` - 1, by place, and the lane in
    which each is; return how many there are."""
    crowd, over = run.crowd, run.clock[OVER]
    total, words, edge_range = run.race.standings.total, crowd.words, crowd.edge_range
    counts, edges = address_of(crowd.counts), address_of(crowd.edges)
    borders, found = crowd.cells[BORDERS], 0
    asked = lanes(over, until - over)
    for x in range(crowd.cells[AWAKE]):
        sum_, word = int(total[x]), words[x]
        most, ready = sum_ + bits_set(word), False
        settled, clear_below = _NONE, _ALL
        for edge in range(2 * borders):
            if most < edge_range[edge, 0]:
                reaching = _NONE
            elif sum_ >= edge_range[edge, 1]:
                reaching = _ALL
            else:
                if not ready:
                    store_counts(counts, word)
                    ready = True
                offset = np.uint64(sum_ - edge_range[edge, 0] + LANES)
                reaching = lanes_reaching(counts, offset, edges + np.uint64(edge) * _VECTOR)
            if edge % 2 == 0:
                settled |= clear_below & reaching
            else:
                clear_below = ~reaching
        settled = (settled | clear_below) & asked
        if settled != _NONE:
            crowd.event_place[found], crowd.event_lane[found] = x, first_lane(settled)
            found += 1
    return found


@kernel
def sort_by_lane(crowd: Crowd, found: int) -> int:
    """Sort the events by lane; return the first lane that has one, 64 if there is none."""
    first, places = crowd.first_of_lane, crowd.sorted_place
    for j in range(LANES + 1):
        first[j] = 0
    for e in range(found):
        first[crowd.event_lane[e] + 1] += 1
    earliest = LANES
    for j in range(LANES):
        if first[j + 1] > 0 and earliest == LANES:
            earliest = j
        first[j + 1] += first[j]
    for e in range(found - 1, -1, -1):
        # the end of a lane's events moves down to their beginning
        lane = crowd.event_lane[e]
        first[lane + 1] -= 1
        places[first[lane + 1]] = crowd.event_place[e]
    # what was the end of lane j is now its beginning
    for j in range(LANES):
        first[j] = first[j + 1]
    first[LANES] = found
    return earliest


@kernel
def stays_clear(crowd: Crowd, over: int, until: int) -> bool:
    """Whether an arm that is settled before lane `until`, but stays among those that are counted,
    is above all levels or below all until then, so that it does not change what they say."""
    for b in range(crowd.cells[BORDERS]):
        # sums do not fall: an arm above stays above the highest that is looked at
        if crowd.edge_range[2 * b, 0] < _highest(crowd, b, until):
            return False
        least = crowd.edge_range[2 * b + 1, 0] - LANES
        for j in range(over, until):
            clear_below = least + int(crowd.edges[2 * b + 1, j]) - 1
            if clear_below + (until - 1 - j) >= _lowest(crowd, b, j, over):
                return False
    return True


@inlined
def _highest(crowd: Crowd, b: int, until: int) -> int:
    """Return the highest sum that is looked at beside a border."""
    if crowd.cells[SORTED] == 1:
        return crowd.upper[b, until - 1]
    return max(crowd.top[crowd.window_of[0, b]], crowd.top[crowd.window_of[1, b]])


@inlined
def _lowest(crowd: Crowd, b: int, j: int, over: int) -> int:
    """Return the lowest sum that is looked at beside a border in a lane, or one below it."""
    if crowd.cells[SORTED] == 1:
        return crowd.lower[b, over]
    return min(
        _lowest_level(crowd, crowd.window_of[0, b], j),
        _lowest_level(crowd, crowd.window_of[1, b], j),
    )


@inlined
def _lowest_level(crowd: Crowd, w: int, j: int) -> int:
    return crowd.base[w] + int(crowd.lines[w * MOST_LEVELS, j]) - LANES
