"""What the paper's theorems say of an experiment's pulls, where they hold for its arms. Bounds that
are tight, and what figures hold pulls against, are in `rai_sim.simulation.theory`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rai_sim.algorithms.base import Algorithm
    from rai_sim.problem import Problem


def bounds_hold(problem: Problem) -> bool:
    """Return whether the paper's bounds may be shown: not for arms that are not sub-Gaussian with
    the parameter that algorithms are told.

    Those of a stand-in for a law that is not known here are shown as they were.

    Examples
    --------
    >>> import rai_sim as rai
    >>> loud = rai.Gaussian([1.0, 0.0], sd=2.0)
    >>> bounds_hold(rai.best_arm(loud, strict=False))
    False
    >>> bounds_hold(rai.best_arm(rai.Gaussian([1.0, 0.0], sd=2.0, sigma=2.0)))
    True
    """
    return not problem.arms.means_known or problem.arms.why_not_sub_gaussian() is None


def lower_bound(problem: Problem, delta: float) -> float:
    """Return Theorem 1's bound; NaN where it does not hold for the arms."""
    from rai_sim import bounds  # here and below: most programs ask for runs alone

    return float(bounds.lower(problem, delta)) if bounds_hold(problem) else math.nan


def lower_bound_conditions(problem: Problem) -> str | None:
    """Return when Theorem 1's bound holds, and of what; None where it does not.

    Examples
    --------
    >>> import rai_sim as rai
    >>> lower_bound_conditions(rai.table_problem())
    'asymptotic (delta -> 0), as for Gaussian arms of sd 1/2'
    """
    from rai_sim import bounds
    from rai_sim.bounds.laws import is_of, sd_of

    if not bounds_hold(problem):
        return None
    laws = bounds.laws_of("gaussian", sd_of(problem))
    which = laws if is_of(problem, "gaussian") else f"as for {laws}"
    return f"asymptotic (delta -> 0), {which}"


def upper_bound(
    problem: Problem, algorithm: Algorithm, delta: float
) -> tuple[str | None, float | None]:
    """Return the theorem that bounds an algorithm's pulls with probability 1 - delta, and its
    bound.

    None without one, where it does not hold for the arms, and where the means are not known, as in
    a study of a reward law that is not known here.
    """
    known = not np.isnan(problem.arms.means).any()
    if algorithm.theorem is None or not known or not bounds_hold(problem):
        return None, None
    from rai_sim import bounds

    function, theorem = algorithm.theorem
    return theorem, float(getattr(bounds, function)(problem, delta))


def allowed_pulls(bound: float, problem: Problem) -> float:
    """Return beyond how many pulls a run is said to pass a theorem's bound: one more an arm.

    Butterscotch's theorem counts fractional pulls, which the algorithm rounds up.

    Examples
    --------
    >>> import rai_sim as rai
    >>> allowed_pulls(41_465.2, rai.table_problem())
    41475.2
    """
    return bound + problem.n_arms
