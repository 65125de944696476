"""Arms that are settled in a round, ranked among themselves."""

from __future__ import annotations

import numpy as np
from rosters import watch

from rai_sim.engine.history import new_history
from rai_sim.engine.jit import exposed
from rai_sim.engine.round_robin import settling
from rai_sim.engine.round_robin.run import ACTIVE, MISSING, ROUND

settle_ranked = exposed(settling.settle_ranked)


def test_arms_join_the_clusters_between_borders() -> None:
    """In the order given, by their labels; what is more than a cluster asks for is settled, too."""
    made = watch(
        np.random.default_rng(1), [3, 0, 4, 5], R=50, history=new_history(np.zeros(0, int), 12)
    )
    run, arm_of = made.run._replace(merging=False), made.run.race.standings.arm_of
    label, total = np.array([4, 1, 7, 9]), np.array([44.0, 42.0, 20.0, 2.0])
    assert not settle_ranked(run, label, total, np.array([0, 0, 1, 2]), 4)
    settled = run.part.settled
    assert settled[0, arm_of[label]].tolist() == [50] * 4
    assert settled[1, arm_of[label]].tolist() == [0, -1, 2, 3]
    assert (settled[0] > 0).sum() == 4
    assert run.part.open_sizes.tolist() == [1, 0, 3, 4]
    assert (run.clock[ACTIVE], run.clock[MISSING]) == (8, 1)
    assert run.part.outputs[[0, 2, 3]].tolist() == arm_of[[4, 7, 9]].tolist()
    assert run.history.means[-1, arm_of[4]] == 44.0 / run.clock[ROUND]


def test_emptied_and_merged_clusters_are_told() -> None:
    """The last arm of a cluster; clusters that have all they were asked for, unless none may merge."""
    made = watch(np.random.default_rng(1), [1, 4, 5], R=50)
    assert settle_ranked(made.run, np.array([3]), np.array([44.0]), np.array([0]), 1)
    assert made.run.part.open_sizes.tolist() == [0, 4, 5]
    for merging in (True, False):
        made = watch(np.random.default_rng(1), [3, 4, 5], R=50)
        run = made.run._replace(merging=merging)
        changed = settle_ranked(run, np.array([3, 5]), np.array([44.0, 1.0]), np.array([1, 2]), 2)
        assert changed == merging
        assert run.part.open_sizes.tolist() == ([3, 0, 7] if merging else [3, 3, 4])
