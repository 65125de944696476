"""What a trace sees of a crowd."""

from __future__ import annotations

import numpy as np
from crowds import moment

from rai_sim.engine.history import new_history, states_kept
from rai_sim.engine.jit import exposed
from rai_sim.engine.round_robin.crowd import states
from rai_sim.engine.round_robin.crowd.places import ASLEEP, GONE
from rai_sim.engine.round_robin.run import ACTIVE

see_crowd = exposed(states.see_crowd)


def test_means_are_those_of_the_rounds_that_are_over() -> None:
    """Of all active arms, by the caller's index; the settled keep what was seen of them last; of a
    crowd in which arms sleep nothing is kept."""
    made = moment(np.random.default_rng(3), 9, [4, 5], R=120, scale=1.001, over=20)
    run = made.run._replace(history=new_history(np.array([100, 119, 500]), 9))
    run.race.standings.total[2] = GONE
    run.clock[ACTIVE] = 8
    run.crowd.cells[ASLEEP] = 1
    see_crowd(run)
    assert states_kept(run.history) == 0
    run.crowd.cells[ASLEEP] = 0
    see_crowd(run)
    assert states_kept(run.history) == 1
    assert run.history.rounds[0] == 120
    others = np.array([0, 1, 3, 4, 5, 6, 7, 8])
    assert np.array_equal(run.history.means[0, others], made.sums[others, 20] / 120)
    assert (run.history.pulls[0, 0, others] == 120).all()
    see_crowd(run)
    assert states_kept(run.history) == 1
