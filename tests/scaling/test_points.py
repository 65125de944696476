"""Points along an axis: means drawn together, values that are refused, what every study takes."""

from typing import Any

import numpy as np
import pytest

import rai_sim as rai
from rai_sim.scaling import over_gap
from rai_sim.scaling.points import LIMITS, at_gap, checked_limits, name_of, several, study_of


def test_means_are_drawn_together() -> None:
    """About the middle of their range, in proportion; the bottleneck gap is the one asked for."""
    problem = rai.coarse_ranking(rai.Gaussian([0.9, 0.5, 0.7, 0.1], sd=0.3), (1, 2, 1))
    for gap in (0.2, 1e-3, 1e-12):
        found = at_gap(problem, gap)
        assert found.bottleneck_gap == pytest.approx(gap, rel=2e-4)
        assert isinstance(found.arms, rai.Gaussian)
        assert found.arms.sd == 0.3
        assert (found.clusters, found.required) == (problem.clusters, problem.required)
        assert (found.arms.means - 0.5) / gap == pytest.approx([2.0, 0.0, 1.0, -2.0], rel=2e-3)
    assert at_gap(problem, 0.2) == problem


def test_the_grid_of_a_gap_is_what_one_would_write() -> None:
    """Means have no digits of rounding, down to the smallest gap."""
    means = [t.experiment.problem.arms.means.tolist() for t in over_gap().tasks[::3]]
    assert means[1:4] == [[0.55, 0.45], [0.515, 0.485], [0.505, 0.495]]
    assert means[-1] == [0.5000005, 0.4999995]
    assert all(np.diff(one)[0] < 0.0 for one in means)


def test_values_are_read_one_by_one() -> None:
    """In their order, whatever they come in."""
    assert several("ks", (k for k in (3, 1, 2)), float) == [3.0, 1.0, 2.0]
    assert several("ks", np.array([5, 4]), int) == [5, 4]


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ("12", TypeError, "ks is '12'; give a list of numbers"),
        (12, TypeError, "ks is 12; give a list of numbers"),
        ([], ValueError, "ks is empty; give at least one value"),
        ([1, 2, 1], ValueError, "ks holds 1 twice; leave one out"),
    ],
)
def test_values_that_are_none(values: object, error: type[Exception], message: str) -> None:
    """Texts would be read letter by letter; twice the same is a mistake."""
    with pytest.raises(error, match=message):
        several("ks", values, int)


def test_every_algorithm_at_every_point_within_its_limit() -> None:
    """Point by point; the paper's three where none are named."""
    small, large = (rai.best_arm(rai.Bernoulli(np.linspace(0.9, 0.1, n))) for n in (3, 4))
    points: list[Any] = [(", n = 3", small, 0.1, {"n": 3}), (", n = 4", large, 0.2, {"n": 4})]
    study = study_of("arms", points, None, 50, {"seed": 7}, checked_limits({"lucb": 3}))
    found = [(t.instance, type(t.experiment.algorithm).__name__) for t in study.tasks]
    at_both = ["Vanilla", "Butterscotch"]
    assert found == [
        *(("arms, n = 3", name) for name in [*at_both, "LUCB"]),
        *(("arms, n = 4", name) for name in at_both),
    ]
    assert (study.replications, {t.experiment.seed for t in study.tasks}) == (50, {7})
    assert [t.experiment.delta for t in study.tasks] == [0.1] * 3 + [0.2] * 2
    assert study.tasks[-1].parameters == {"n": 4}
    assert checked_limits(LIMITS) is LIMITS


def test_an_instance_is_named_by_its_sizes() -> None:
    """Not by its means, which an axis may vary."""
    problem = rai.Problem(rai.Gaussian([3.0, 2.0, 1.0]), (1, 2), (1, 0))
    assert name_of(problem) == "3 Gaussian arms, clusters 1,2, required 1,0"
