"""What kernels are told of a user's own law."""

from __future__ import annotations

import math

import pytest
from laws import facts_of
from own_rules import Noisy

from rai_sim.support.limits import MOST_PULLS


@pytest.mark.slow
def test_rewards_over_a_unit() -> None:
    """Mean and proxy are those of rewards over 2 sigma, where sigma is set."""
    for sigma, mean, proxy in ((None, 3.0, 2.25), (2.0, 0.75, 2.25 / 16.0)):
        law = Noisy([1.0, 3.0], sd=1.5, sigma=sigma).kernel_law()
        assert facts_of(law, 1) == (MOST_PULLS, math.inf, mean, 1.0, proxy)
