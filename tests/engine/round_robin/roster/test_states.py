"""What a trace sees of a roster."""

from __future__ import annotations

import numpy as np
from rosters import watch

from rai_sim.engine.history import new_history, states_kept
from rai_sim.engine.jit import exposed
from rai_sim.engine.round_robin.roster import states
from rai_sim.engine.round_robin.roster.lists import MEMBERS, ON

see_roster = exposed(states.see_roster)


def test_means_are_those_of_all_that_are_active() -> None:
    """On duty or just at rest; of the settled, what was seen of them last."""
    history = new_history(np.array([100, 119, 500]), 9)
    made = watch(np.random.default_rng(3), [4, 5], R=120, history=history)
    run, roster, standings = made.run, made.roster, made.run.race.standings
    standings.order[:3], roster.sums[:3] = [8, 1, 4], made.sums[[8, 1, 4]]
    roster.members[:8], roster.cells[[MEMBERS, ON]] = [0, 1, 3, 4, 5, 6, 7, 8], (8, 3)
    roster.behind[[0, 3, 5, 6, 7]] = 1
    standings.total[[1, 4, 8]] = -99.0  # of a while ago
    see_roster(roster, run, 120)
    assert states_kept(history) == 1
    assert history.rounds[0] == 120
    active = roster.members[:8]
    assert np.array_equal(history.means[0, active], made.sums[active] / 120)
    assert (history.pulls[0, 0, active] == 120).all()
    assert np.isnan(history.means[0, 2])
    see_roster(roster, run, 120)
    assert states_kept(history) == 1
    see_roster(watch(np.random.default_rng(3), [4, 5], R=120).roster, run, 501)
    assert states_kept(history) == 2
