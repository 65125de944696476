"""What most laws tell kernels alike."""

from __future__ import annotations

import numpy as np
import pytest
from laws import KEY, add_up, facts_of

from rai_sim import Uniform
from rai_sim.support.limits import MOST_PULLS


@pytest.mark.slow
def test_what_a_plain_law_tells() -> None:
    """No end, its range, means and proxy as they stand in the tuple."""
    law = Uniform([0.0, 0.25], [0.5, 1.0]).kernel_law()
    assert facts_of(law, 1) == (MOST_PULLS, 1.0, 0.625, 1.0, law.variance_proxy)


@pytest.mark.slow
def test_sums_are_those_of_pulls() -> None:
    """A jump of k draws what k pulls draw, in their order."""
    law = Uniform([0.0, 0.25], [0.5, 1.0]).kernel_law()
    at_once, one_by_one = np.empty(2), np.empty(9)
    add_up(law, 1, np.array([2, 7]), KEY, at_once)
    add_up(law, 1, np.ones(9, np.int64), KEY, one_by_one)
    assert at_once.tolist() == one_by_one[[1, 8]].tolist()
