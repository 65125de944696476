"""Making rounds by a stride: their pulls, the ranking after them, and the clock."""

from __future__ import annotations

from rai_sim.engine import law as laws
from rai_sim.engine.history import next_asked
from rai_sim.engine.jit import inlined
from rai_sim.engine.partition import merge_all
from rai_sim.engine.ranking import repair
from rai_sim.engine.round_robin.duel import duel
from rai_sim.engine.round_robin.many import make_rounds
from rai_sim.engine.round_robin.run import (
    ACTIVE,
    GAP,
    OVER,
    PER_ROUND,
    PULLS,
    QUIET,
    ROUND,
    TAKEN,
    WIDTH,
    WIDTH_AFTER,
    Run,
    width,
)
from rai_sim.engine.streams import State
from rai_sim.engine.strides import CROWD, SUMS, WORDS
from rai_sim.engine.vectors import LANES
from rai_sim.engine.words import advance, draw_words, first_suspect


@inlined
def advance_by(run: Run, stride: int, rounds: int, last: int, state: State) -> tuple[int, State]:
    """Make rounds by a stride: as many as asked for by sums, as far as they lead by others; return
    how many."""
    if stride == CROWD:
        return make_rounds(run.crowd, run, last, state)
    if stride == SUMS:
        state = pull_sums(run, rounds, state)
    elif stride == WORDS:
        rounds, state = _pull_words(run, last, state)
    else:
        rounds, state = duel(run, last, state)
        _repair(run)
    _pass_rounds(run, rounds)
    return rounds, state


@inlined
def _pass_rounds(run: Run, rounds: int) -> None:
    """Count rounds whose pulls are made."""
    clock = run.clock
    if run.merging and clock[ROUND] == 0 and rounds > 1:  # round 1 is over, without an event
        merge_all(run.part)
    pulls = rounds * clock[PER_ROUND]
    clock[ROUND] += rounds
    clock[TAKEN] += pulls
    clock[PULLS] += clock[ACTIVE] * pulls


@inlined
def pull_sums(run: Run, rounds: int, state: State) -> State:
    """Draw the pulls of some rounds as one sum an arm."""
    law, standings, clock = run.race.law, run.race.standings, run.clock
    order, total, arm_of = standings.order, standings.total, standings.arm_of
    pulls = rounds * clock[PER_ROUND]
    for x in range(clock[ACTIVE]):
        total[x], state = laws.more_pulls(
            law, arm_of[order[x]], total[x], clock[TAKEN], pulls, state
        )
    _repair(run)
    return state


@inlined
def _repair(run: Run) -> None:
    """Sort the ranking."""
    standings = run.race.standings
    repair(
        standings.order,
        standings.total,
        run.clock[ACTIVE],
        standings.spare_order,
        standings.spare_total,
    )


@inlined
def _pull_words(run: Run, last: int, state: State) -> tuple[int, State]:
    """Make rounds of the words, drawn anew if none is left, up to the first that may hold an event;
    return how many."""
    race, clock, terms = run.race, run.clock, run.terms
    R, n, over = clock[ROUND], clock[ACTIVE], clock[OVER]
    if over == LANES:
        state = draw_words(race, n, clock[TAKEN], state)
        terms[WIDTH_AFTER], over = width(run, R + LANES), 0
    until = over + 1
    if R == 0:
        until = min(1 + clock[QUIET], LANES)
    elif terms[GAP] <= terms[WIDTH]:  # else the arms left may be settled in the very next round
        suspect = first_suspect(race, n, over, terms[WIDTH], terms[WIDTH_AFTER])
        until = min(1 + suspect, LANES)
    until = min(until, over + min(last, next_asked(run.history)) - R)
    advance(race, n, over, until)
    clock[OVER] = until
    return until - over, state
