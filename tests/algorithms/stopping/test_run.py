"""What a replication is given that stops by a threshold: who may be named, and at which level."""

from __future__ import annotations

import math

import numpy as np
import pytest
from adaptive import setting_of

import rai_sim as rai
from rai_sim.algorithms.stopping.run import new_answer, new_rule


def test_who_may_be_named_and_how_many_others_make_that_wrong() -> None:
    """All ranks of clusters that are asked; C_i down, N - C_{i-1} up, nothing where no cluster
    is."""
    sizes, required = np.array([2, 3, 1, 2]), np.array([1, 0, 1, 2])
    answer = new_answer(sizes, required)
    assert answer.asked.tolist() == [0, 1, 5, 6, 7]
    assert answer.others.tolist() == [[2, 0], [2, 0], [6, 3], [0, 2], [0, 2]]
    assert answer.several
    assert not new_answer(sizes, sizes).several


def test_the_level_counts_pairs_of_different_clusters() -> None:
    """Neighbours of which nothing is asked are one."""
    setting = setting_of(rai.table_problem(task=1), delta=1e-3)
    rule = new_rule("pairs", setting)
    assert rule.level == pytest.approx(math.log(3 * 7 / 1e-3))
    assert new_rule("gk16-unproven", setting).level == pytest.approx(math.log(1e3))
