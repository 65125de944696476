"""LUCB at caps: before the first pull, and with many arms of which few are looked at."""

import budgets
import numpy as np
import pytest
from pathwise import draw_tasks
from replay import draw_instance, lucb_length

from rai_sim import LUCB
from rai_sim.algorithms.lucb.strides import VIEW
from rai_sim.engine.strides import without


def test_caps_before_all_arms_are_pulled() -> None:
    """Nothing is pulled, and the opening permutation alone decides; a run that goes on from there is
    the one that was not asked."""
    rng = np.random.default_rng(2)
    for _ in range(10):
        instance = draw_instance(rng, lucb_length, (0.4, 0.9), capped=0.0)
        N = instance.n_arms
        if N == 1:
            continue
        caps = [1, N - 1, 3 * N] if N > 2 else [1, 3 * N]
        ours = budgets.of_kernel(LUCB(), instance, caps)
        assert ours == budgets.of_twin(LUCB(), instance, caps)
        assert ours is None or ours[0] == ours[-2]


@pytest.mark.slow
def test_arms_out_of_view_are_recommended_by_their_means() -> None:
    """210 recommendations with 60 to 200 arms, as with all of them in the ranking."""
    tasks = draw_tasks(7, 6, ("words",), (60, 200), (0.2, 0.4))
    found, compared, _ = budgets.depend_on_strides(LUCB(), tasks, 5, without(VIEW))
    assert (found, compared) == ([], 210)
