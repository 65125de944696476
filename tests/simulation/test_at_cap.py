"""What is recommended at the cap, and whether it is right."""

import numpy as np
import pytest

import rai_sim as rai
from rai_sim.simulation.at_cap import at_cap_of, is_right
from rai_sim.simulation.workers import block_for, run_into

PROBLEM = rai.table_problem(2)


def test_arms_are_right_in_their_clusters() -> None:
    """Every arm of every answer, one by one; a missing arm is wrong."""
    problem = rai.Problem(rai.Bernoulli([0.1, 0.9, 0.5, 0.6]), (1, 2, 1), (1, 1, 1))
    named = np.array(np.meshgrid(*[range(-1, 4)] * 3), np.int32).reshape(3, -1).T
    cluster = {1: 0, 2: 1, 3: 1, 0: 2, -1: None}
    wanted = [[cluster[arm] for arm in row] == [0, 1, 2] for row in named.tolist()]
    assert is_right(problem, named).tolist() == wanted
    assert sum(wanted) == 2


@pytest.mark.parametrize("cap", [None, 3_000])
def test_what_stopped_keeps_what_it_named(cap: int | None) -> None:
    """Without a cap there is nothing; with one a finished replication recommends what it named, an
    unfinished one what it would name, and a part is cut with its rows."""
    run = rai.simulate(PROBLEM, rai.Vanilla(), delta=0.1, replications=1, max_pulls=cap).experiment
    block = block_for(run, 40)
    run_into(run, 0, block)
    found = at_cap_of(run, block)
    if cap is None:
        assert found is None
        return
    assert found is not None
    assert not block.finished.any()
    assert np.array_equal(found.named, block.recommended[:, 0])
    assert 0 < found.right.sum() < 40
    block.finished[3], block.representatives[3] = True, 5
    named = at_cap_of(run, block)
    assert named is not None
    assert (named.named[3] == 5).all()
    part = found.cut(7, 9)
    assert part.named.tolist() == found.named[7:9].tolist()
    assert part.right.tolist() == found.right[7:9].tolist()
