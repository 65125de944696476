"""What theory says of an experiment's pulls, for tables and figures to hold them against.

The tight bound is known where it is had in passing (`rai_sim.bounds.shown`), the sum of gap^-2 of
any number of arms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import get_args

import numpy as np

from rai_sim import bounds
from rai_sim.bounds import Threshold
from rai_sim.problem import Problem, check_delta

#: The thresholds that `bounds.practical` knows.
THRESHOLDS: tuple[Threshold, ...] = get_args(Threshold)


@dataclass(frozen=True, eq=False)
class Theory:
    """Pulls that theory has for a problem and a delta.

    Attributes
    ----------
    problem : Problem
        The instance.
    delta : float
        Probability of error.
    bound : float
        The tight lower bound of the mean at this delta (`rai_sim.bounds.at_delta`), in pulls; NaN
        where there is none: of many arms, for which it takes long, of arms that are not
        1/2-sub-Gaussian (sigma-sub-Gaussian, of arms with sigma), of a single cluster, or where one
        of several answers may be named without a pull.
    asymptotic : float
        What it grows to as delta goes to 0, ln(1/delta) / D; NaN for the first three of these.
    conditions : str
        For whom the bound holds; empty where there is none.
    complexity : float
        The sum over arms of gap^-2, gap the larger of the arm's and the bottleneck gap, of arms
        with sigma in units of 2 sigma.
    """

    problem: Problem
    delta: float
    bound: float
    asymptotic: float
    conditions: str
    complexity: float

    def practical(self, threshold: Threshold) -> float:
        """Return the pulls of an oracle under a stopping threshold (`rai_sim.bounds.practical`);
        NaN where no tight bound is known."""
        if math.isnan(self.asymptotic):
            return math.nan
        return bounds.practical(self.problem, self.delta, threshold)


def theory_of(problem: Problem, delta: float) -> Theory:
    """Return what theory says of the pulls on a problem at a delta.

    Examples
    --------
    >>> import rai_sim as rai
    >>> found = theory_of(rai.best_arm(rai.Gaussian([0.75, 0.25])), 0.01)
    >>> round(found.bound, 1), round(found.asymptotic, 1), found.complexity
    (36.0, 36.8, 8.0)
    >>> round(found.practical("pairs"), 1)
    61.7
    """
    delta = check_delta(delta)
    bound, asymptotic, conditions = math.nan, math.nan, ""
    found = bounds.shown(problem, delta) if _has_bound(problem) else None
    if found is not None:
        asymptotic = -math.log(delta) * found.tight.value
        if 0.0 < found.pulls < math.inf:
            bound, conditions = found.pulls, found.conditions
    told = problem.rescaled
    gaps = np.maximum(told.arm_gaps, told.bottleneck_gap)
    with np.errstate(over="ignore"):
        complexity = float(np.sum(1.0 / gaps / gaps))
    return Theory(problem, delta, bound, asymptotic, conditions, complexity)


def _has_bound(problem: Problem) -> bool:
    finite = math.isfinite(problem.bottleneck_gap)
    return finite and problem.arms.why_not_sub_gaussian() is None
