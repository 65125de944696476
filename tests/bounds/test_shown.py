"""Which lower bound stands beside results."""

from __future__ import annotations

import numpy as np
import pytest
from unchecked import unchecked

import rai_sim as rai
from rai_sim.bounds import shown
from rai_sim.bounds.shown import affordable
from rai_sim.problem import Problem


def means(n: int) -> rai.Bernoulli:
    """Return n arms."""
    return rai.Bernoulli(np.linspace(0.1, 0.9, n))


@pytest.mark.parametrize(
    ("problem", "is_affordable"),
    [
        (rai.full_ranking(means(20)), True),
        (rai.full_ranking(means(21)), False),
        (rai.best_arm(means(100)), True),
        (rai.best_arm(means(101)), False),
        (rai.coarse_ranking(means(100), (30, 50, 20)), True),
        (rai.coarse_ranking(means(100), (30, 30, 20, 20)), False),
        (rai.m_of_top(means(30), 2, 10), False),
    ],
)
def test_what_takes_long_is_left_out(problem: Problem, is_affordable: bool) -> None:
    """Many arms; several right answers, or many clusters, of more than twenty."""
    assert affordable(problem) is is_affordable
    if not is_affordable:
        assert shown(problem, 0.01) is None


def test_what_is_shown_is_the_bound_at_delta() -> None:
    """For the arms' own laws."""
    for problem in (rai.table_problem(task=3), rai.best_arm(rai.Gaussian([0.7, 0.5, 0.1]))):
        assert shown(problem, 0.01) == rai.bounds.at_delta(problem, 0.01)


@pytest.mark.parametrize("n", [3, 5000])
def test_arguments_are_checked_whatever_is_shown(n: int) -> None:
    """Of many arms, too, of which there is nothing to show."""
    problem = rai.best_arm(means(n))
    with pytest.raises(ValueError, match=r"delta is 1\.5"):
        shown(problem, 1.5)
    with pytest.raises(TypeError, match=r"build one: rai\.Problem"):
        shown(problem.arms, 0.1)  # type: ignore[arg-type]


def test_means_that_are_not_known_have_no_tight_bound() -> None:
    """As in a study of a law that is not known here."""
    arms = unchecked(rai.Gaussian([1.0, 0.0]), means=np.array([0.5, np.nan]))
    problem = rai.best_arm(rai.Gaussian([1.0, 0.0]))
    object.__setattr__(problem, "arms", arms)
    assert shown(problem, 0.01) is None


def test_arms_for_which_no_bound_holds_have_no_tight_bound() -> None:
    """Those that strict=False lets pass."""
    loud = rai.best_arm(rai.Gaussian([0.2, 0.0], 4.0), strict=False)
    assert shown(loud, 0.01) is None
    assert shown(rai.best_arm(rai.Gaussian([0.2, 0.0]), strict=False), 0.01) is not None
