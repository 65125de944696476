"""The stride: 64 rounds of many arms by words, in which any number of arms are settled.

Where hundreds of arms are settled, nearly every round holds an event, and what a ranking costs a
round is then what a run costs. Here an arm is looked at twice for 64 rounds: once to draw its word
and count it at the borders, and once, when the sums beside the borders are known for all rounds, to
find the round in which it is settled.

Contract. As of other strides, but that rounds with events are judged here, not by the loop, and the
last one, too. A call makes rounds up to the first of these: the end of the word; a round whose
sums beside a border are not known, as they have left their windows (which are then laid anew); a
round in which clusters merge, one is emptied, or an arm beside a border is settled, as borders are
then others; the cap or the recording's end; a round whose state was asked for; the end of the run.
What is left of the words then stays in use: a word is drawn anew only when all of its rounds are
over, whatever was looked at.

Words are those of the active arms at the time they are drawn. So the rewards of an arm after the
round in which it is settled are used by nobody.
"""

from __future__ import annotations

import numpy as np

from rai_sim.engine import law as laws
from rai_sim.engine.certificates import pair_budget, sure_rounds
from rai_sim.engine.history import NEVER, next_asked, traced
from rai_sim.engine.jit import implements, inlined, kernel
from rai_sim.engine.partition import merge_all
from rai_sim.engine.ranking import merge_sort
from rai_sim.engine.recommendations import note_arm
from rai_sim.engine.round_robin import many
from rai_sim.engine.round_robin.crowd.borders import (
    count,
    find_borders,
    lay_windows,
    narrow_in_time,
    place_borders,
)
from rai_sim.engine.round_robin.crowd.places import (
    ALARM,
    ASLEEP,
    ASLEEP_UNTIL,
    AWAKE,
    BORDERS,
    ENTERED_FROM,
    ENTERED_RESTED_FROM,
    EVENTFUL,
    FENCES,
    GONE,
    INSIDE,
    LEAVES_AT,
    LEAVING,
    LEFT_BELOW,
    LEFT_RESTED_BELOW,
    PER_BORDER,
    QUIET_AHEAD,
    SORTED,
    SORTED_UP_TO,
    STALE,
    WINDOWS,
    Crowd,
    enter,
)
from rai_sim.engine.round_robin.crowd.selection import sort_beside_borders
from rai_sim.engine.round_robin.crowd.sleep import change_of_guard, may_sleep, wake
from rai_sim.engine.round_robin.crowd.states import see_crowd
from rai_sim.engine.round_robin.crowd.zones import (
    borders_own_settled,
    find_events,
    follow_borders,
    sort_by_lane,
    stays_clear,
)
from rai_sim.engine.round_robin.run import (
    ACTIVE,
    BUDGET,
    JUMPS,
    MISSING,
    OVER,
    PULLS,
    QUIET,
    ROUND,
    TAKEN,
    Run,
    by_words,
    count_rounds,
    enough_arms,
    width,
)
from rai_sim.engine.round_robin.settling import settle_ranked
from rai_sim.engine.sampling import bits_set, lanes
from rai_sim.engine.streams import State
from rai_sim.engine.strides import CROWD, allowed
from rai_sim.engine.vectors import LANES
from rai_sim.engine.words import WORTH_A_JUMP

#: Certified rounds from which on the crowd is left for a jump, which needs the ranking: at least so
#: many (measured), and so many an arm if arms may sleep (half or twice as many take as long).
_WORTH_LEAVING = 1000.0
_WORTH_WAKING = 4.0


@implements(many.in_crowd, Crowd)
def _in_crowd(crowd: Crowd, run: Run) -> bool:
    return crowd.cells[INSIDE] == 1


@implements(many.worth_a_crowd, Crowd)
def _worth_a_crowd(crowd: Crowd, run: Run, certified: float) -> bool:
    cells, most = crowd.cells, WORTH_A_JUMP
    least, per_border = cells[ENTERED_FROM], cells[PER_BORDER]
    if may_sleep(crowd, run):
        least, per_border = _rested(crowd, cells[ENTERED_RESTED_FROM])
        most = max(most, 0.5 * _WORTH_WAKING * run.clock[ACTIVE])
    return (
        certified < most
        and enough_arms(run, least, per_border)
        and by_words(run)
        and allowed(run.setting.strides, CROWD)
    )


@inlined
def _rested(crowd: Crowd, least: int) -> tuple[int, int]:
    """Return how many arms a crowd needs where arms sleep, if it is so many with a border."""
    return least, crowd.cells[PER_BORDER] * least // crowd.cells[ENTERED_FROM]


@implements(many.worth_leaving, Crowd)
def _worth_leaving(crowd: Crowd, run: Run) -> bool:
    """Whether it is now: arms that sleep are woken first."""
    cells = crowd.cells
    if run.clock[OVER] < LANES:
        return False
    # a good deal fewer than to enter, or arms would go in and out
    least = cells[LEFT_BELOW]
    per_border = cells[PER_BORDER] * least // cells[ENTERED_FROM]
    if may_sleep(crowd, run):
        least, per_border = _rested(crowd, cells[LEFT_RESTED_BELOW])
    if enough_arms(run, least, per_border) and cells[QUIET_AHEAD] == 0:
        return False
    if cells[ASLEEP] > 0:
        cells[ALARM] = LEAVING
        return False
    return True


@implements(many.make_rounds, Crowd)
def _make_rounds(crowd: Crowd, run: Run, last: int, state: State) -> tuple[int, State]:
    clock = run.clock
    if crowd.cells[INSIDE] == 0:
        enter(crowd, run.race.standings, run.part, clock[ACTIVE])
    before, leaving = clock[ROUND], crowd.cells[ALARM] == LEAVING
    state = change_of_guard(run, state)
    if leaving:
        return 0, state
    asked = NEVER if crowd.cells[ASLEEP] > 0 else next_asked(run.history)
    until = min(LANES, clock[OVER] % LANES + min(last, asked) - before)
    known = before < clock[QUIET]
    state = (
        _make_quiet_rounds(run, until, state) if known else _make_judged_rounds(run, until, state)
    )
    if before == 0 and run.merging:
        merge_all(run.part)
    if crowd.cells[ASLEEP] > 0 and clock[MISSING] == 0 and traced(run.history):
        state = wake(run, state)  # a trace ends with everybody's state
    see_crowd(run)
    return clock[ROUND] - before, state


@implements(many.note_sums, Crowd)
def _note_sums(crowd: Crowd, run: Run, state: State) -> State:
    if crowd.cells[ASLEEP] > 0:
        state = wake(run, state)
    standings, clock, x = run.race.standings, run.clock, 0
    over = lanes(0, clock[OVER]) if clock[OVER] > 0 else np.uint64(0)
    for place in range(clock[ACTIVE]):
        while standings.total[x] == GONE:
            x += 1
        sum_ = standings.total[x] + bits_set(crowd.words[x] & over)
        note_arm(run.budgets, place, crowd.label_of[standings.order[x]], sum_)
        x += 1
    return state


@inlined
def _make_quiet_rounds(run: Run, until: int, state: State) -> State:
    """Make rounds, up to lane `until`, of which it is known from the start that they hold no
    event."""
    clock, crowd = run.clock, run.crowd
    crowd.cells[WINDOWS] = 0
    over = clock[OVER] % LANES
    if over == 0:
        state = count(run, True, state)
    clock[OVER] = min(until, over + clock[QUIET] - clock[ROUND])
    _pass_rounds(run, clock[OVER] - over)
    return state


@inlined
def _pass_rounds(run: Run, rounds: int) -> None:
    """Count rounds, and their pulls."""
    clock = run.clock
    clock[ROUND] += rounds
    clock[TAKEN] += rounds
    clock[PULLS] += clock[ACTIVE] * rounds


@inlined
def _make_judged_rounds(run: Run, until: int, state: State) -> State:
    """Make rounds, up to lane `until`, and judge them."""
    clock, crowd = run.clock, run.crowd
    cells = crowd.cells
    place_borders(crowd, run.part)
    if cells[STALE] == 1:
        find_borders(run)
    fresh = clock[OVER] == LANES
    if fresh:
        clock[OVER] = 0
    over = clock[OVER]
    state = _prepare(run, fresh, state)
    if cells[ASLEEP] > 0:
        until = min(until, over + cells[ASLEEP_UNTIL] - clock[ROUND])
    end = follow_borders(run, until)
    if end == over:  # in the next round a border leaves its fences
        cells[ALARM] = FENCES
        return state
    found = find_events(run, end)
    earliest = sort_by_lane(crowd, found)
    if earliest < end - 1 and not stays_clear(crowd, over, end):
        end = earliest + 1
    end = _settle(run, over, end, earliest)
    if end == cells[LEAVES_AT]:
        cells[ALARM] = FENCES
    for b in range(cells[BORDERS]):
        crowd.upper_now[b], crowd.lower_now[b] = crowd.upper[b, end - 1], crowd.lower[b, end - 1]
    clock[OVER] = end
    # of the word, not of this call: a trace may ask for a round in its middle
    cells[EVENTFUL] = 1 if earliest < end or (over > 0 and cells[EVENTFUL] == 1) else 0
    if end == LANES:
        if cells[SORTED] == 0:
            narrow_in_time(crowd)
        cells[QUIET_AHEAD] = 1 if cells[EVENTFUL] == 0 and _far_from_events(run) else 0
    return state


@kernel
def _prepare(run: Run, fresh: bool, state: State) -> State:
    """Draw words if they are to be fresh, and sort the arms near the borders or, where these are
    many, count in windows."""
    cells = run.crowd.cells
    cells[SORTED] = 0
    if cells[AWAKE] <= cells[SORTED_UP_TO]:
        cells[WINDOWS] = 0
        state = count(run, fresh, state)
        sort_beside_borders(run)
        fresh = False
    if cells[SORTED] == 0:
        lay_windows(run)
        state = count(run, fresh, state)
    return state


@kernel
def _settle(run: Run, over: int, end: int, earliest: int) -> int:
    """Settle the arms whose lane lies before `end`, round after round; return the lane after the
    last round that was made: earlier if it changed the borders or ended the run."""
    clock, first = run.clock, run.crowd.first_of_lane
    done = over
    for j in range(earliest, end):
        if first[j] == first[j + 1]:
            continue
        _pass_rounds(run, j + 1 - done)
        done = j + 1
        changed = _settle_lane(run, j)
        if changed or clock[MISSING] == 0:
            end = done
            break
    _pass_rounds(run, end - done)
    if earliest < end:
        run.terms[BUDGET] = -1.0
        if clock[MISSING] > 0:
            count_rounds(run)
    return end


@kernel
def _settle_lane(run: Run, j: int) -> bool:
    """Settle the arms of a lane's round, merge clusters; return whether the borders are others
    now."""
    crowd, F = run.crowd, run.crowd.clearance[j]
    label, total, behind = crowd.event_lane, crowd.values, crowd.event_place
    settled, k = _rank_lane(run, j), 0
    for x in range(settled):
        while k < crowd.cells[BORDERS] and total[x] < crowd.lower[k, j] + F:
            k += 1
        behind[x] = k
    changed = borders_own_settled(crowd, j, F)
    changed |= settle_ranked(run, label, total, behind, settled)
    crowd.cells[AWAKE] -= settled
    if changed:
        crowd.cells[STALE] = 1
    return changed


@inlined
def _rank_lane(run: Run, j: int) -> int:
    """Rank the arms that are settled in a lane, as a ranking of all would, and take them out of
    their places; return their number."""
    crowd, standings = run.crowd, run.race.standings
    label, total, places = crowd.event_lane, crowd.values, crowd.sorted_place
    start = crowd.first_of_lane[j]
    settled = crowd.first_of_lane[j + 1] - start
    for x in range(settled):
        place = places[start + x]
        label[x] = crowd.label_of[standings.order[place]]
        total[x] = standings.total[place] + bits_set(crowd.words[place] & lanes(0, j + 1))
        standings.total[place] = GONE
    merge_sort(label, total, settled, standings.spare_order, standings.spare_total)
    return settled


@kernel
def _far_from_events(run: Run) -> bool:
    """Whether so many rounds after those of the word hold no event that a jump is worth it."""
    crowd, clock, law = run.crowd, run.clock, run.race.law
    total, n, borders = run.race.standings.total, clock[ACTIVE], crowd.cells[BORDERS]
    G, worth = -np.inf, _WORTH_LEAVING
    for x in range(crowd.cells[AWAKE]):
        sum_ = total[x] + bits_set(crowd.words[x])
        up = np.inf
        for b in range(borders):
            G = max(G, min(up, sum_ - crowd.lower_now[b]))
            up = crowd.upper_now[b] - sum_
        G = max(G, up)
    D = width(run, clock[ROUND]) - G
    reach = D * D / pair_budget(law, n, run.setting.skip_error, clock[JUMPS] + 1)
    sure = np.float64(sure_rounds(D, laws.spread(law)))
    if may_sleep(crowd, run):
        worth = max(worth, _WORTH_WAKING * n)
    return D > 0.0 and max(sure, reach) >= worth
