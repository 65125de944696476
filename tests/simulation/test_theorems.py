"""What theorems say, and of which arms and algorithms they say nothing."""

import math
from collections.abc import Callable

import pytest

import rai_sim as rai
from rai_sim.algorithms.base import Algorithm
from rai_sim.simulation.theorems import allowed_pulls, bounds_hold, lower_bound, upper_bound

PROBLEM = rai.table_problem(2)
LOUD = rai.best_arm(rai.Gaussian([1.0, 0.0], sd=2.0), strict=False)


@pytest.mark.parametrize(
    ("algorithm", "theorem", "bound"),
    [
        (rai.Vanilla(), "Theorem 2", rai.bounds.vanilla),
        (rai.Butterscotch(), "Theorem 3", rai.bounds.butterscotch),
    ],
    ids=["vanilla", "butterscotch"],
)
def test_algorithms_have_their_theorem(
    algorithm: Algorithm, theorem: str, bound: Callable[[rai.Problem, float], float]
) -> None:
    """By its name, with the bound at that delta; Theorem 1 is anybody's."""
    for delta in (0.1, 1e-9):
        assert upper_bound(PROBLEM, algorithm, delta) == (theorem, bound(PROBLEM, delta))
        assert lower_bound(PROBLEM, delta) == rai.bounds.lower(PROBLEM, delta)


def test_some_algorithms_have_none() -> None:
    """Then there is no bound either."""
    assert upper_bound(PROBLEM, rai.LUCB(), 0.1) == (None, None)


def test_arms_that_are_not_sub_gaussian_have_none() -> None:
    """Unless algorithms are told their sigma."""
    assert not bounds_hold(LOUD)
    assert math.isnan(lower_bound(LOUD, 0.1))
    assert upper_bound(LOUD, rai.Vanilla(), 0.1) == (None, None)
    told = rai.best_arm(rai.Gaussian([1.0, 0.0], sd=2.0, sigma=2.0))
    assert lower_bound(told, 0.1) > 0.0
    assert upper_bound(told, rai.Vanilla(), 0.1)[0] == "Theorem 2"


def test_a_run_may_pass_a_bound_by_a_pull_an_arm() -> None:
    """Rounding up costs no more."""
    assert allowed_pulls(1000.5, PROBLEM) == 1010.5
