"""Round robin at caps on its pulls, and at a recording's end: what is recommended there, and which
rounds are made without a look."""

from __future__ import annotations

from rai_sim.engine import law as laws
from rai_sim.engine.faults import NONE, RECORDING_RAN_OUT, TOO_MANY_PULLS, report
from rai_sim.engine.history import see_arm, traced
from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.recommendations import left, note_arm, recommend
from rai_sim.engine.round_robin.many import in_crowd, note_sums
from rai_sim.engine.round_robin.rounds import pull_sums
from rai_sim.engine.round_robin.rule import audit
from rai_sim.engine.round_robin.run import (
    ACTIVE,
    LAST_PAID,
    LAST_RECORDED,
    PER_ROUND,
    PULLS,
    ROUND,
    TAKEN,
    Run,
    count_rounds,
    last_round,
)
from rai_sim.engine.streams import State


@inlined
def has_later_cap(run: Run) -> bool:
    """Whether the replication goes on from this cap to another one."""
    return left(run.budgets) > 1 and run.clock[LAST_PAID] <= run.clock[LAST_RECORDED]


@kernel
def meet_cap(run: Run, short: int, state: State) -> State:
    """Recommend, if the caller asks for it; if at a later cap, too, be ready to go on, else make the
    last rounds, `short` of them.

    These hold no event: they are the first of a certified stretch. So they need no judgement, and
    what is drawn for them is drawn after all else, if it is asked for at all.
    """
    if has_later_cap(run):
        state = _recommend(run, state)
        count_rounds(run)
        return state
    _say_why(run)
    asked = left(run.budgets) == 1 and run.fault[0] == NONE
    if asked and short > 0:
        state = pull_sums(run, short, state)
    _pass_last(run)
    if asked and (short == 0 or audit(run)):
        state = _recommend(run, state)
    return state


@kernel
def _recommend(run: Run, state: State) -> State:
    """Recommend, by the sums of all active arms."""
    standings, n = run.race.standings, run.clock[ACTIVE]
    if in_crowd(run.crowd, run):
        state = note_sums(run.crowd, run, state)
    else:
        for x in range(n):
            note_arm(run.budgets, x, standings.order[x], standings.total[x])
    if traced(run.history):
        _see_noted(run, n)
    recommend(run.budgets, run.part, run.part.open_sizes, standings.arm_of, n)
    return state


@inlined
def _see_noted(run: Run, n: int) -> None:
    """Note the states of the n active arms, whose sums were noted, for a trace: the last rounds may
    have been made without a look, and arms may have slept, or rested."""
    budgets, clock, arm_of = run.budgets, run.clock, run.race.standings.arm_of
    taken = clock[TAKEN]
    if taken > 0:
        for x in range(n):
            mean = budgets.key[x] / taken
            see_arm(run.history, arm_of[budgets.label[x]], mean, taken, clock[PULLS])


@kernel
def stop_short(run: Run) -> int:
    """Make the last rounds for which the cap and the recording suffice: they hold no event, so no
    reward is drawn. Return their number."""
    _say_why(run)
    return _pass_last(run)


@kernel
def _say_why(run: Run) -> None:
    """Report why there are no more rounds, unless it is the caller's cap."""
    clock, fault = run.clock, run.fault
    if audit(run):
        if clock[LAST_RECORDED] < clock[LAST_PAID]:
            available = laws.pulls_available(run.race.law)
            arm = 0  # the first active one; a crowd has no ranking
            while run.part.settled[0, arm] > 0:
                arm += 1
            report(fault, RECORDING_RAN_OUT, arm, available + 1)
        elif run.setting.max_pulls < 0:
            report(fault, TOO_MANY_PULLS, 0, 0)


@inlined
def _pass_last(run: Run) -> int:
    """Count the last rounds; return their number."""
    clock = run.clock
    last, n, R = last_round(run), clock[ACTIVE], clock[ROUND]
    clock[TAKEN] += (last - R) * clock[PER_ROUND]
    clock[PULLS] += n * (last - R) * clock[PER_ROUND]
    clock[ROUND] = last
    return last - R
