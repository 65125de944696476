"""Rounds that are made as one sum an arm, on recordings: the sums, the ranking and the clock."""

from __future__ import annotations

import numpy as np
import pytest
from races import setting_of

import rai_sim as rai
from rai_sim.algorithms.vanilla.widths import paper
from rai_sim.engine.blocks import new_block
from rai_sim.engine.jit import exposed
from rai_sim.engine.round_robin import rounds, run
from rai_sim.engine.round_robin.run import ACTIVE, PULLS, ROUND, TAKEN, Run, new_run
from rai_sim.engine.streams import replication_stream

start_clock, state_of = exposed(run.start_clock), exposed(replication_stream)
pull_sums, pass_rounds = exposed(rounds.pull_sums), exposed(rounds._pass_rounds)
#: Eighths, of which sums are exact; four arms.
REWARDS = np.random.default_rng(3).integers(0, 9, (4, 60)) / 8.0


def begun(merging: bool) -> Run:
    """Return a run of four arms in three clusters, of which the first alone is asked for one; label
    x is arm 3 - x."""
    law, setting = rai.Recorded(REWARDS).kernel_law(), setting_of([1, 1, 2], [1, 0, 0])
    found = new_run(law, paper(1000.0), merging, setting, new_block(1, 1))
    standings = found.race.standings
    standings.order[:], standings.total[:] = range(4), 0.0
    standings.arm_of[:] = [3, 2, 1, 0]
    found.part.open_sizes[:] = setting.sizes
    start_clock(found, 1)
    return found


def test_sums_are_those_of_consecutive_pulls_and_ranked() -> None:
    """Round after round, of as many pulls as are asked for; an arm that is not active any more gets
    none. Pulls are counted apart."""
    found = begun(merging=False)
    standings, state = found.race.standings, state_of(found.setting.key, 0, found.generators)
    made, taken = 0, np.zeros(4, int)
    for length, active in ((1, 4), (17, 4), (2, 3), (30, 2)):
        out = standings.order[active:].tolist()  # the last ones, as if they were settled
        found.clock[ACTIVE] = active
        state = pull_sums(found, length, state)
        taken[[x for x in range(4) if x not in out]] += length
        sums = [REWARDS[3 - x, : taken[x]].sum() for x in range(4)]
        ranked = sorted((x for x in range(4) if x not in out), key=lambda x: (-sums[x], x))
        assert standings.order.tolist() == ranked + out
        assert standings.total[:active].tolist() == [sums[x] for x in ranked]
        assert found.clock[ROUND] == made
        pass_rounds(found, length)
        made += length
        assert (found.clock[ROUND], found.clock[TAKEN]) == (made, made)
    assert found.clock[PULLS] == 18 * 4 + 2 * 3 + 30 * 2


@pytest.mark.parametrize(
    ("merging", "length", "sizes"),
    [(True, 2, [1, 0, 3]), (True, 1, [1, 1, 2]), (False, 2, [1, 1, 2])],
)
def test_clusters_are_merged_when_round_1_is_passed(
    merging: bool, length: int, sizes: list[int]
) -> None:
    """Those of which nothing is asked, in a stretch without events that begins with round 1; a round 1
    that ends the stretch is judged, and clusters are merged then. Later ones merge nothing."""
    found = begun(merging)
    pass_rounds(found, length)
    assert found.part.open_sizes.tolist() == sizes
    pass_rounds(found, 5)
    assert found.part.open_sizes.tolist() == sizes
