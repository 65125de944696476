"""What a trace sees of a crowd."""

from __future__ import annotations

import numpy as np

from rai_sim.engine.history import keep_state, see_arm, traced
from rai_sim.engine.jit import kernel
from rai_sim.engine.round_robin.crowd.places import ASLEEP, GONE
from rai_sim.engine.round_robin.run import ACTIVE, OVER, PULLS, ROUND, Run
from rai_sim.engine.sampling import bits_set, lanes


@kernel
def see_crowd(run: Run) -> None:
    """Keep the state of the round, for a trace, if there is one and nobody sleeps: sleepers' sums
    are not known."""
    clock, standings, crowd = run.clock, run.race.standings, run.crowd
    if not traced(run.history) or crowd.cells[ASLEEP] > 0:
        return
    x, left, R = 0, clock[ACTIVE], clock[ROUND]
    over = lanes(0, clock[OVER]) if clock[OVER] > 0 else np.uint64(0)
    while left > 0:
        if standings.total[x] != GONE:
            sum_ = standings.total[x] + bits_set(crowd.words[x] & over)
            see_arm(run.history, standings.order[x], sum_ / R, R, clock[PULLS])
            left -= 1
        x += 1
    keep_state(run.history, R)
