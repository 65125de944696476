"""The sums beside each border, found among those on duty, and the fences about them.

Fences are for rests that are certified up to an error (see `rai_sim.engine.round_robin.roster.rest`); and
where they are, the sums need be looked for between them only.
"""

from __future__ import annotations

import math

import numpy as np

from rai_sim.engine import law as laws
from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.order_statistics import quickselect, values_of_ranks
from rai_sim.engine.round_robin.crowd.places import BORDERS
from rai_sim.engine.round_robin.roster.lists import FENCED, KNOWN_AT, LOOKS, ON, USUAL, Roster
from rai_sim.engine.round_robin.roster.rest import rest_budget
from rai_sim.engine.round_robin.run import ACTIVE, Run

#: Fences' distance from the sums, over the deviation of a reward, at first and at least; and what
#: becomes of it when they were left too early and when they were not. Half or twice as much at first
#: is alike.
_MARGIN, _LEAST_MARGIN, _WIDER, _NARROWER = 4.0, 0.2, 1.5, 0.8
#: What is added to it for the rounding of sums, in sums: else rewards of hardly any deviation call
#: all in every round.
_ROUNDED = 1e-12
#: Left too early: before as many looks as this many times the active arms.
_EARLY = 4
#: How fast sums rise is told by the rounds since they were this many times fewer.
_A_WHILE = 1.5


@kernel
def find_among_all(roster: Roster, run: Run) -> None:
    """Find the sums beside all borders; nobody rests."""
    places_among_those_on_duty(roster)
    values_of_ranks(
        roster.sums,
        roster.cells[ON],
        roster.places,
        2 * roster.cells[BORDERS],
        roster.beside,
        roster.buckets,
        run.race.standings.spare_total,
    )


@kernel
def places_among_those_on_duty(roster: Roster) -> bool:
    """Note at which places among those on duty the arms beside borders stand; return whether that is
    possible."""
    cells, resting, least = roster.cells, 0, 0
    for b in range(cells[BORDERS]):
        resting += roster.at_rest[b]
        place = roster.ranks[b] - 1 - resting
        if place < least or place + 1 >= cells[ON]:
            return False
        roster.places[2 * b], roster.places[2 * b + 1] = place, place + 1
        least = place
    return True


@kernel
def find_between_fences(roster: Roster, run: Run) -> bool:
    """Find the sums beside all borders among those on duty; return whether they are between their
    fences."""
    cells, fences, room, sums = (
        roster.cells,
        roster.fences,
        run.race.standings.spare_total,
        roster.sums,
    )
    if not places_among_those_on_duty(roster):
        return False
    for b in range(cells[BORDERS]):
        low, high, before, among = fences[2 * b + 1], fences[2 * b], 0, 0
        for x in range(cells[ON]):
            room[among] = sums[x]
            before += sums[x] > high
            among += (sums[x] <= high) & (sums[x] >= low)
        place = roster.places[2 * b] - before
        if place < 0 or place + 1 >= among:
            return False
        roster.beside[2 * b] = quickselect(room, among, place)
        lower = room[place + 1]  # none of those behind it is greater than it
        for x in range(place + 2, among):
            lower = max(lower, room[x])
        roster.beside[2 * b + 1] = lower
    return True


@kernel
def first_fences(roster: Roster, run: Run) -> None:
    """Prepare for the first fences of a roster."""
    cells, deviation = roster.cells, math.sqrt(laws.proxy(run.race.law))
    cells[LOOKS] = cells[KNOWN_AT] = 0
    for e in range(roster.margins.size):
        roster.margins[e] = _MARGIN * deviation


@kernel
def set_fences(roster: Roster, run: Run, R: int) -> None:
    """Set the fences as of round R, in which all were called: wider or narrower than before by how
    long these held."""
    cells, law = roster.cells, run.race.law
    early = cells[LOOKS] < _EARLY * run.clock[ACTIVE]
    least, some = _LEAST_MARGIN * math.sqrt(laws.proxy(law)), rest_budget(run, R) < np.inf
    _learn_paces(roster, R)
    for e in range(2 * cells[BORDERS]):
        if not early:
            roster.margins[e] = max(least, _NARROWER * roster.margins[e])
        elif cells[LOOKS] > 0 and is_beyond(roster, e):
            roster.margins[e] *= _WIDER
        now = roster.beside[e]
        margin = roster.margins[e] + _ROUNDED * abs(now) if some else np.inf
        roster.fences[e] = now + (margin if e % 2 == 0 else -margin)
        roster.set_at[e] = roster.fences[e]
    cells[USUAL] = cells[LOOKS] // max(1, R - cells[FENCED])
    cells[FENCED], cells[LOOKS] = R, 0


@inlined
def is_beyond(roster: Roster, e: int) -> bool:
    """Whether a sum beside a border is beyond its fence."""
    if e % 2 == 0:
        return roster.beside[e] > roster.fences[e]
    return roster.beside[e] < roster.fences[e]


@inlined
def _learn_paces(roster: Roster, R: int) -> None:
    """Note how fast the sums beside borders rise: as from the start until it is known better."""
    cells, at = roster.cells, roster.cells[KNOWN_AT]
    if at > 0 and _A_WHILE * at > R:
        return
    for e in range(2 * cells[BORDERS]):
        now = roster.beside[e]
        roster.paces[e] = now / R if at == 0 else (now - roster.known[e]) / (R - at)
        roster.known[e] = now
    cells[KNOWN_AT] = R


@kernel
def move_fences(roster: Roster, R: int) -> None:
    """Let the fences rise up to round R."""
    after = np.float64(R - roster.cells[FENCED])
    for e in range(2 * roster.cells[BORDERS]):
        roster.fences[e] = roster.set_at[e] + roster.paces[e] * after
