"""Categorical arms: what becomes of a table of probabilities."""

from __future__ import annotations

import numpy as np
import pytest

from rai_sim import Categorical


def test_probabilities_within_rounding_are_kept() -> None:
    """A table that sums to 1 within 1e-9 is divided by its sum; a law's own table is not divided
    again."""
    generator = np.random.default_rng(3)
    for levels in (2, 3, 7, 40):
        rough = np.round(generator.dirichlet(np.ones(levels), size=50), 9)
        rough[:, 0] += 1.0 - rough.sum(axis=1) + 4e-10
        arms = Categorical(np.arange(levels) / levels, rough)
        assert abs(arms.probabilities.sum(axis=1) - 1.0).max() < levels * 2.0**-52
        assert arms.probabilities == pytest.approx(rough, rel=1e-9)
        assert Categorical(arms.values, arms.probabilities) == arms
    exact = [[0.1] * 10]  # adds up to 0.9999999999999999
    assert Categorical(range(10), exact).probabilities.tolist() == exact


def test_each_arm_has_its_likeliest_levels_first() -> None:
    """Steps follow the arm's own order; levels without chance come last and are never reached."""
    law = Categorical([0, 1, 2], [[0.2, 0.3, 0.5], [0.0, 1.0, 0.0], [0.5, 0.0, 0.5]]).kernel_law()
    assert law.steps.tolist() == [[2, 1, 0], [1, 0, 2], [0, 2, 1]]
    assert law.last.tolist() == [2, 0, 1]
    assert law.conditional == pytest.approx(
        np.array([[0.5, 0.6, 1], [1, 1, 1], [0.5, 1, 1]]), rel=1e-15
    )
