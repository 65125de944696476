"""What theory says beside results."""

import math

import numpy as np
import pytest

import rai_sim as rai
from rai_sim.simulation.theory import THRESHOLDS, theory_of


def test_numbers_are_those_of_the_bounds() -> None:
    """The bound at the delta, its limit, every oracle, and the sum of gap^-2."""
    problem = rai.table_problem(task=2)
    for delta in (0.1, 1e-100):
        found, bound = theory_of(problem, delta), rai.bounds.at_delta(problem, delta)
        assert (found.bound, found.conditions) == (bound.pulls, bound.conditions)
        assert found.asymptotic == pytest.approx(-math.log(delta) * bound.tight.value)
        assert found.complexity == pytest.approx(np.sum(problem.arm_gaps**-2.0))
        for threshold in THRESHOLDS:
            practical = rai.bounds.practical(problem, delta, threshold)
            assert found.practical(threshold) == practical > found.bound
    assert set(THRESHOLDS) == {"paper", "pairs", "gk16-unproven"}


def test_an_arm_counts_with_the_bottleneck_gap_at_least() -> None:
    """Of clusters of which nothing is asked arms may be nearer to a border."""
    problem = rai.Problem(rai.Bernoulli([0.9, 0.5, 0.45]), (1, 1, 1), (1, 0, 0))
    gaps = np.maximum(problem.arm_gaps, problem.bottleneck_gap)
    assert theory_of(problem, 0.1).complexity == pytest.approx(np.sum(gaps**-2.0))
    assert gaps.min() == problem.bottleneck_gap > problem.arm_gaps.min()


@pytest.mark.parametrize(
    "problem",
    [
        rai.best_arm(rai.Bernoulli(rai.instances.evenly_spaced(101))),
        rai.best_arm(rai.Gaussian([0.0, 1.0], sd=1.0), strict=False),
        rai.coarse_ranking(rai.Bernoulli([0.5, 0.4]), (2,)),
    ],
)
def test_what_is_not_known_is_nan(problem: rai.Problem) -> None:
    """Of many arms, of laws that no theorem is about, and where nothing is to be found out."""
    found = theory_of(problem, 0.1)
    assert math.isnan(found.bound)
    assert math.isnan(found.asymptotic)
    assert math.isnan(found.practical("pairs"))
    assert found.conditions == ""
    assert found.complexity >= 0.0


def test_a_bound_of_nothing_is_none() -> None:
    """One of ten answers may be guessed at delta 0.1: oracles are known all the same."""
    arms = rai.Bernoulli(rai.instances.evenly_spaced(20))
    found = theory_of(rai.one_of_top(arms, 10), 0.1)
    assert math.isnan(found.bound)
    assert 0.0 < found.asymptotic < found.practical("pairs")
