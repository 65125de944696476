"""Where a cap or a recording ends a replication: the last rounds, and what is recommended."""

from __future__ import annotations

import numpy as np
from races import setting_of

import rai_sim as rai
from rai_sim.engine.blocks import new_block
from rai_sim.engine.faults import NONE, NOT_FINITE
from rai_sim.engine.history import new_history


def test_a_cap_ends_after_the_last_round_that_it_pays_for() -> None:
    """50 pulls are 16 rounds of three arms, with nobody settled yet."""
    block = new_block(4, 1, arms_with_settle_rounds=3)
    law = rai.Bernoulli([0.9, 0.5, 0.4]).kernel_law()
    rai.Vanilla().run_block(law, setting_of([1, 2], [1, 0], max_pulls=50), 0, block)
    assert (block.pulls.tolist(), block.rounds.tolist()) == ([48] * 4, [16] * 4)
    assert not block.finished.any()
    assert not block.settled[:, 0].any()


def test_a_sum_at_the_cap_that_is_not_finite_is_reported() -> None:
    """Ten rounds for which the cap pays are drawn for what is recommended alone: nobody is ranked by a
    NaN among them. One pull later it is of no interest."""
    law = rai.Recorded(np.array([[1.0] * 30, [0.5] * 30, [0.25] * 30])).kernel_law()
    for first_nan, fault in ((10, [NOT_FINITE, 2, 10]), (11, [NONE, 0, 0])):
        prefix = law.prefix.copy()
        prefix[2, first_nan:] = np.nan
        block = new_block(1, 1, budgets=[32])
        setting = setting_of([1, 2], [1, 0], max_pulls=32)
        rai.Vanilla().run_block(law._replace(prefix=prefix), setting, 0, block)
        assert block.fault.tolist() == fault
    assert (block.pulls[0], block.rounds[0], block.recommended[0, 0, 0]) == (30, 10, 0)


def test_a_trace_ends_with_the_sums_that_are_recommended_by() -> None:
    """Of the ten rounds for which the cap pays, whoever looked at none of them; of a cap below the arms
    nothing is seen."""
    law = rai.Recorded(np.array([[1.0] * 30, [0.5] * 30, [0.25] * 30])).kernel_law()
    for cap, taken, means in ((32, 10, [1.0, 0.5, 0.25]), (2, 0, [np.nan] * 3)):
        history = new_history(np.array([1000]), 3)
        block = new_block(1, 1, arms_with_settle_rounds=3, history=history, budgets=[cap])
        rai.Vanilla().run_block(law, setting_of([1, 2], [1, 0], max_pulls=cap), 0, block)
        assert not block.finished[0]
        assert history.pulls[-1].tolist() == [[taken] * 3, [3 * taken] * 3]
        assert np.array_equal(history.means[-1], means, equal_nan=True)
