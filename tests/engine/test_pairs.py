"""Pairs of arms that a round robin must not judge the wrong way round."""

import naive
import numpy as np

from rai_sim.engine.pairs import pairs_to_order


def test_known_tasks() -> None:
    """Best arm N - 1; top K K (N - K), whatever is asked of them; a full ranking all."""
    assert pairs_to_order((1, 9), (1, 0), True) == 9
    assert pairs_to_order((3, 7), (3, 0), True) == pairs_to_order((3, 7), (1, 0), True) == 21
    assert pairs_to_order((1,) * 6, (1,) * 6, True) == 15
    assert pairs_to_order((4,), (2,), True) == 1


def test_clusters_of_which_nothing_is_asked_are_one() -> None:
    """Neighbours alone, and with merging alone."""
    assert pairs_to_order((2, 3, 4), (2, 0, 0), True) == 2 * 7
    assert pairs_to_order((2, 3, 4), (0, 1, 0), True) == 2 * 3 + 2 * 4 + 3 * 4
    assert pairs_to_order((2, 3, 4), (2, 0, 0), False) == 2 * 3 + 2 * 4 + 3 * 4
    assert pairs_to_order((2, 3, 4, 5), (0, 0, 1, 0), True) == 5 * 4 + 5 * 5 + 4 * 5


def test_they_are_the_twins() -> None:
    """On 300 tasks, counted pair by pair."""
    rng = np.random.default_rng(1)
    for _ in range(300):
        clusters = rng.integers(1, 6, rng.integers(1, 7)).tolist()
        required = [int(rng.integers(c + 1)) * int(rng.random() < 0.5) for c in clusters]
        for merging in (True, False):
            ours = pairs_to_order(clusters, required, merging)
            assert ours == naive.pairs(clusters, required, merging)
