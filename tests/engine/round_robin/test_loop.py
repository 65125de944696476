"""Round robin's loop: where it may begin, and how a block ends."""

from __future__ import annotations

import numpy as np
import pytest
from races import setting_of, widths

import rai_sim as rai
from rai_sim.algorithms.butterscotch import paper as butterscotch
from rai_sim.algorithms.vanilla.widths import paper
from rai_sim.engine.blocks import Block, new_block
from rai_sim.engine.faults import NONE, STOPPED
from rai_sim.engine.jit import exposed
from rai_sim.engine.round_robin import loop

quiet_start = exposed(loop.quiet_start)
SCALE = 1000.0


@pytest.mark.parametrize(("unit", "spread"), [(1.0, 1.0), (0.25, 2.0)])
def test_no_gap_can_exceed_the_width_at_the_start(unit: float, spread: float) -> None:
    """For as many rounds as the extreme gap R times the spread stays within W; negative control: in
    the next round it does not."""
    values = [0.0, 1.0] if unit == 1.0 else [0.0, 0.25, 0.5]
    law = rai.Categorical(values, [[1.0 / len(values)] * len(values)] * 2).kernel_law()
    for scale in (10.0, 1e3, 1e9):
        quiet = quiet_start(law, paper(scale))
        rounds = np.arange(1, 1000)
        within = unit * spread * rounds <= widths(scale, rounds)
        assert within[:quiet].all()
        assert not within[quiet]
    assert quiet_start(law, butterscotch(2, 0.1)) == 0
    gaussians = rai.Gaussian([0.5, 0.0]).kernel_law()
    assert quiet_start(gaussians, paper(SCALE)) == 0


def run_block(count: int, first: int = 0, stop: bool = False) -> Block:
    """Run replications of Vanilla on three coins."""
    block = new_block(count, 1, arms_with_settle_rounds=3)
    block.history.stop[0] = stop
    setting = setting_of([1, 2], [1, 0])
    rai.Vanilla().run_block(rai.Bernoulli([0.9, 0.5, 0.4]).kernel_law(), setting, first, block)
    return block


def test_rows_belong_to_replications_wherever_a_block_begins() -> None:
    """Rows 3.. of a block are those of a block from replication 3 on."""
    whole, rest = run_block(8), run_block(5, first=3)
    assert whole.fault[0] == NONE
    assert whole.finished.all()
    assert np.unique(whole.pulls).size > 3
    for column in ("pulls", "rounds", "correct", "finished", "representatives", "settled"):
        assert np.array_equal(getattr(whole, column)[3:], getattr(rest, column))


def test_a_raised_flag_ends_a_block() -> None:
    """Of which no replication was finished."""
    block = run_block(4, stop=True)
    assert block.fault[:2].tolist() == [STOPPED, 0]
    assert not block.pulls.any()
