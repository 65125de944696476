"""The stride: rounds of many arms, one by one, in which only those are looked at that might do
something.

Where arms are many, those of which a round decides are few: the arms beside borders, and those about to
be settled. All others rest, each for as long as it is certified to do neither, and what that takes
to be right stands in `rai_sim.engine.round_robin.roster.rest`. An arm that is due gets one reward if it
was on duty and the sum of all its rewards since it began to rest if it was not.

Contract. As of the crowd's: a round is judged here, whether it holds an event or not. A call makes one
round. All are called in the first round of a roster; in a round whose sums beside borders are beyond
their fences; after one in which clusters merge, one is emptied, or an arm beside a border is settled, as
borders are then others; and now and then, to see whether a jump is worth it.
"""

from __future__ import annotations

import numpy as np

from rai_sim.engine import law as laws
from rai_sim.engine.certificates import pair_budget, sure_rounds
from rai_sim.engine.faults import NONE, NOT_FINITE, finite, report
from rai_sim.engine.history import traced
from rai_sim.engine.jit import implements, inlined, kernel
from rai_sim.engine.ranking import merge_sort
from rai_sim.engine.recommendations import note_arm
from rai_sim.engine.round_robin import many
from rai_sim.engine.round_robin.crowd.borders import place_borders
from rai_sim.engine.round_robin.crowd.places import BORDERS
from rai_sim.engine.round_robin.roster.borders import (
    find_among_all,
    find_between_fences,
    first_fences,
    move_fences,
    set_fences,
)
from rai_sim.engine.round_robin.roster.lists import (
    ALL_DUE,
    ENTERED_FROM,
    FENCED,
    INSIDE,
    JUMP,
    KNOWN_AT,
    LEAVING,
    LEFT_BELOW,
    LISTS,
    LOOKS,
    MEMBERS,
    NOBODY,
    ON,
    ON_DUTY,
    PATIENCE,
    PER_BORDER,
    PER_ROUND,
    SHARERS,
    USUAL,
    Roster,
    enter,
    nobody_rests,
    rest,
    take_list,
)
from rai_sim.engine.round_robin.roster.rest import Reach, reach_in, rounds_of_rest
from rai_sim.engine.round_robin.roster.states import see_roster
from rai_sim.engine.round_robin.run import (
    ACTIVE,
    BUDGET,
    GAP,
    JUMPS,
    MISSING,
    PULLS,
    ROUND,
    TAKEN,
    Run,
    count_rounds,
    enough_arms,
    width,
)
from rai_sim.engine.round_robin.settling import settle_ranked
from rai_sim.engine.streams import State
from rai_sim.engine.strides import CROWD, allowed

#: Looks at an arm a round, times the rounds made: about as many are to be expected (half or twice as
#: many take as long).
_NEAR = 16.0
#: A jump must be so many times better for the roster to be left.
_WORTH_LEAVING = 2.0
#: How many times the active arms are looked at before all are called, at first and at most.
_PATIENCE, _MOST_PATIENCE = 4, 64


@implements(many.in_crowd, Roster)
def _in_crowd(roster: Roster, run: Run) -> bool:
    return roster.cells[INSIDE] == 1


@implements(many.worth_a_crowd, Roster)
def _worth_a_crowd(roster: Roster, run: Run, certified: float) -> bool:
    cells, clock, law = roster.cells, run.clock, run.race.law
    return (
        clock[ROUND] > 0
        and certified < _alike(roster, clock[ACTIVE], clock[ROUND])
        and enough_arms(run, cells[ENTERED_FROM], cells[PER_BORDER])
        and allowed(run.setting.strides, CROWD)
        and min(laws.spread(law), pair_budget(law, 2, run.setting.skip_error, 1)) < np.inf
    )


@inlined
def _alike(roster: Roster, n: int, R: int) -> float:
    """Return the length of jumps that take about as long as a roster of n arms after round R."""
    return 1.0 / (roster.cells[PER_ROUND] / n + _NEAR / R)


@implements(many.worth_leaving, Roster)
def _worth_leaving(roster: Roster, run: Run) -> bool:
    return roster.cells[LEAVING] == 1 and roster.cells[ON] == run.clock[ACTIVE]


@implements(many.make_rounds, Roster)
def _make_rounds(roster: Roster, run: Run, last: int, state: State) -> tuple[int, State]:
    """Make one round; `last` is later than those made."""
    clock, cells = run.clock, roster.cells
    if cells[INSIDE] == 0:
        _begin(roster, run)
    R = clock[ROUND] + 1
    clock[ROUND], clock[TAKEN], clock[PULLS] = R, R, clock[PULLS] + clock[ACTIVE]
    state = _pull_those_due(roster, run, R, state)
    move_fences(roster, R)
    all_called = cells[ALL_DUE] == 1 or _patience_is_over(roster, run, R)
    if not all_called and run.fault[0] == NONE:
        all_called = not find_between_fences(roster, run)
    if all_called:
        state = _call_all(roster, run, R, state)
    if run.fault[0] != NONE:
        return 1, state
    if all_called:
        find_among_all(roster, run)
        set_fences(roster, run, R)
    else:
        cells[LOOKS] += cells[ON]
    settled = _judge(roster, run, R)
    if settled > 0:
        _settle(roster, run, settled)
    elif all_called:
        _look_ahead(roster, run, R)
    if not all_called and clock[MISSING] == 0 and traced(run.history):
        state = _call_all(roster, run, R, state)  # a trace ends with everybody's state
        all_called = True
    if all_called:
        see_roster(roster, run, R)
    return 1, state


@implements(many.note_sums, Roster)
def _note_sums(roster: Roster, run: Run, state: State) -> State:
    cells, on = roster.cells, run.race.standings.order
    all_due = cells[ALL_DUE]  # in the next round, if borders are others then
    state = _call_all(roster, run, run.clock[ROUND], state)
    cells[ALL_DUE] = all_due
    for x in range(cells[ON]):
        note_arm(run.budgets, x, roster.label_of[on[x]], roster.sums[x])
    return state


@kernel
def _begin(roster: Roster, run: Run) -> None:
    """Make a roster; it takes the share of the budget that the next jump would have."""
    clock, cells = run.clock, roster.cells
    clock[JUMPS] += 1
    run.terms[BUDGET] = -1.0
    cells[JUMP], cells[SHARERS] = clock[JUMPS], clock[ACTIVE]
    cells[FENCED], cells[PATIENCE] = clock[ROUND], _PATIENCE
    enter(roster, run.race.standings, run.part, clock[ACTIVE])
    place_borders(roster, run.part)
    first_fences(roster, run)


@inlined
def _patience_is_over(roster: Roster, run: Run, R: int) -> bool:
    """Whether it is time to see whether a jump is worth it."""
    cells = roster.cells
    spent = cells[LOOKS] + cells[PER_ROUND] * (R - cells[FENCED])
    return spent > cells[PATIENCE] * run.clock[ACTIVE]


@kernel
def _pull_those_due(roster: Roster, run: Run, R: int, state: State) -> State:
    """Draw the rewards of round R of those on duty, and all of those who are due, who then are,
    too."""
    law, cells, total = run.race.law, roster.cells, run.race.standings.total
    on, sums, since = run.race.standings.order, roster.sums, roster.since
    n, fine = cells[ON], True
    for x in range(n):
        sums[x], state = laws.more_pulls(law, on[x], sums[x], R - 1, 1, state)
        fine &= finite(sums[x])
    arm = take_list(roster, R)
    while arm != NOBODY:
        before = since[arm]
        sums[n], state = laws.more_pulls(law, arm, total[arm], before, R - before, state)
        fine &= finite(sums[n])
        roster.at_rest[roster.behind[arm]] -= 1
        on[n], roster.behind[arm] = arm, ON_DUTY
        arm = roster.follower[arm]
        n += 1
    cells[ON] = n
    if not fine:
        _report(roster, run)
    return state


@kernel
def _report(roster: Roster, run: Run) -> None:
    """Report the last of those on duty whose sum is not finite."""
    for x in range(roster.cells[ON]):
        if not finite(roster.sums[x]):
            report(run.fault, NOT_FINITE, run.race.standings.order[x], run.clock[TAKEN])


@kernel
def _call_all(roster: Roster, run: Run, R: int, state: State) -> State:
    """Draw what is left up to round R of those who rest, and put all on duty, by the caller's
    index."""
    law, cells, total = run.race.law, roster.cells, run.race.standings.total
    on, sums, members, since = run.race.standings.order, roster.sums, roster.members, roster.since
    for x in range(cells[ON]):
        total[on[x]] = sums[x]
    n, fine = 0, True
    for x in range(cells[MEMBERS]):
        arm = members[x]
        if run.part.settled[0, arm] > 0:
            continue
        sum_ = total[arm]
        if roster.behind[arm] != ON_DUTY and since[arm] < R:  # as of R at the end of a trace
            sum_, state = laws.more_pulls(law, arm, sum_, since[arm], R - since[arm], state)
        fine &= finite(sum_)
        on[n], sums[n], members[n], roster.behind[arm] = arm, sum_, arm, ON_DUTY
        n += 1
    cells[ON] = cells[MEMBERS] = n
    cells[ALL_DUE] = 0
    nobody_rests(roster)
    if not fine:
        _report(roster, run)
    return state


@kernel
def _judge(roster: Roster, run: Run, R: int) -> int:
    """Note who is settled in round R, in no order, and let rest who may; return how many are
    settled. `GAP` is the largest gap of those on duty."""
    cells, law, label_of = roster.cells, run.race.law, roster.label_of
    on, sums, total = run.race.standings.order, roster.sums, run.race.standings.total
    beside, borders, stay = roster.beside, cells[BORDERS], cells[LEAVING] == 1
    reach = _reach_of_all(roster, run, R)
    settled, kept, G = 0, 0, -np.inf
    for x in range(cells[ON]):
        arm, sum_ = on[x], sums[x]
        k = 0
        while k < borders and sum_ < beside[2 * k]:
            k += 1
        up = beside[2 * k - 2] - sum_ if k > 0 else np.inf
        down = sum_ - beside[2 * k + 1] if k < borders else np.inf
        if up > reach.W and down > reach.W:
            roster.label[settled], roster.sum_[settled] = label_of[arm], sum_
            settled += 1
            continue
        G = max(G, min(up, down))
        rounds = rounds_of_rest(roster, borders, k, sum_, laws.mean_of(law, arm), reach)
        if rounds < 1.0 or stay:
            on[kept], sums[kept] = arm, sum_
            kept += 1
        else:
            total[arm] = sum_
            most = 1 + int(min(rounds, min(R, LISTS - 2)))
            rest(roster, arm, k, R, R + laws.handy(law, most))
    cells[ON], run.terms[GAP] = kept, G
    return settled


@inlined
def _reach_of_all(roster: Roster, run: Run, R: int) -> Reach:
    """Return what is certified by after round R, with what rounding can do to sums beside
    borders."""
    reach = reach_in(run, R)
    far = reach.far
    for e in range(2 * roster.cells[BORDERS]):
        far = max(far, abs(roster.beside[e]))
    return Reach(reach.W, reach.spread, far, reach.budget, reach.least)


@kernel
def _settle(roster: Roster, run: Run, settled: int) -> None:
    """Settle the arms that are noted; all are due next if borders are then others, or for the last
    time if few are left."""
    cells, clock, standings, part = roster.cells, run.clock, run.race.standings, run.part
    sums, number, beside, borders = roster.sum_, roster.number, roster.beside, cells[BORDERS]
    merge_sort(roster.label, sums, settled, standings.spare_order, standings.spare_total)
    k, changed = 0, False
    for x in range(settled):
        while k < borders and sums[x] < beside[2 * k]:
            k += 1
        number[x] = k
        changed |= k < borders and sums[x] == beside[2 * k]
        changed |= k > 0 and sums[x] == beside[2 * k - 1]
    changed |= settle_ranked(run, roster.label, sums, number, settled)
    run.terms[BUDGET] = -1.0
    if clock[MISSING] == 0:
        return
    count_rounds(run)
    place_borders(roster, part)
    if changed:
        cells[ALL_DUE], cells[KNOWN_AT] = 1, 0
    per_border = cells[PER_BORDER] * cells[LEFT_BELOW] // cells[ENTERED_FROM]
    if not enough_arms(run, cells[LEFT_BELOW], per_border):
        cells[LEAVING] = cells[ALL_DUE] = 1


@kernel
def _look_ahead(roster: Roster, run: Run, R: int) -> None:
    """See whether a jump is worth it after round R, in which all were called and nobody is settled: if
    it is, all are due in the next round, after which the roster is left."""
    cells, clock, law = roster.cells, run.clock, run.race.law
    D, n, jump = width(run, R) - run.terms[GAP], clock[ACTIVE], clock[JUMPS] + 1
    sure = np.float64(sure_rounds(D, laws.spread(law)))
    certified = max(sure, D * D / pair_budget(law, n, run.setting.skip_error, jump))
    as_long = max(n / (cells[PER_ROUND] + cells[USUAL] + 1.0), _alike(roster, n, R))
    if certified > _WORTH_LEAVING * as_long:
        cells[LEAVING] = cells[ALL_DUE] = 1
    else:
        cells[PATIENCE] = min(2 * cells[PATIENCE], _MOST_PATIENCE)
