"""Recorded rewards: what kernels read is what was recorded."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import KEY, add_up, facts_of

from rai_sim import Recorded


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=30), st.integers(0, 2**32))
def test_recorded_sums_are_cumulative_sums(jumps: list[int], seed: int) -> None:
    """Bit for bit those of numpy.cumsum, in jumps of any sizes, whatever the rewards."""
    generator = np.random.default_rng(seed)
    pulls = sum(jumps)
    rewards = generator.standard_normal((3, pulls)) * 10.0 ** generator.integers(-8, 9, (3, pulls))
    arms = Recorded(rewards)
    out = np.empty(len(jumps))
    for arm in range(3):
        add_up(arms.kernel_law(), arm, np.array(jumps), KEY, out)
        assert out.tolist() == np.cumsum(rewards[arm])[np.cumsum(jumps) - 1].tolist()
    assert facts_of(arms.kernel_law(), 0)[0] == pulls
