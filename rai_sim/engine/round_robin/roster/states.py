"""What a trace sees of a roster."""

from __future__ import annotations

from rai_sim.engine.history import keep_state, see_arm, traced
from rai_sim.engine.jit import kernel
from rai_sim.engine.round_robin.roster.lists import MEMBERS, ON, ON_DUTY, Roster
from rai_sim.engine.round_robin.run import PULLS, Run


@kernel
def see_roster(roster: Roster, run: Run, R: int) -> None:
    """Keep the state of a round in which all were called, for a trace, if there is one."""
    cells, standings, pulls = roster.cells, run.race.standings, run.clock[PULLS]
    if not traced(run.history):
        return
    for x in range(cells[ON]):
        see_arm(run.history, standings.order[x], roster.sums[x] / R, R, pulls)
    for x in range(cells[MEMBERS]):
        arm = roster.members[x]
        if roster.behind[arm] != ON_DUTY:
            see_arm(run.history, arm, standings.total[arm] / R, R, pulls)
    keep_state(run.history, R)
