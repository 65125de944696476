"""The paper's bounds on the number of pulls (arXiv 2408.14195, Theorems 1 to 3).

Theorems 2 and 3 are about the paper's widths: those of `Vanilla(width="paper")` and
`Butterscotch(width="paper")`, the defaults, and of no other. All hold for 1/2-sub-Gaussian arms; of
others, which a `Problem` built with strict=False may have, they warn. Of arms with sigma they are
those of the rescaled rewards, so gaps count in units of 2 sigma.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rai_sim.bounds.asymptotic import warn_of_arms_without_bounds
from rai_sim.problem import Problem, check_delta


def lower(problem: Problem, delta: float) -> float:
    """Return the lower bound on the expected pulls of any delta-PC algorithm, as delta goes to 0.

    ln(1/delta) / (2 gap^2), gap the bottleneck gap (arXiv 2408.14195, Theorem 1). It is asymptotic:
    the theorem is about the limit of E[pulls] / ln(1/delta), so at a fixed delta an algorithm may
    need less. It is about Gaussian arms of standard deviation 1/2; other 1/2-sub-Gaussian laws may
    be easier.

    Parameters
    ----------
    problem : Problem
        The instance.
    delta : float
        Probability of error, in (0, 1).

    Returns
    -------
    float
        Pulls; 0.0 for an infinite bottleneck gap, inf beyond the double range.

    Raises
    ------
    TypeError
        If `problem` is not a `Problem` or `delta` is not a number.
    ValueError
        If `delta` is not in (0, 1).

    Warns
    -----
    UserWarning
        If the arms are not known to be sub-Gaussian with the parameter that algorithms are told, so
        that no bound holds for them.

    Examples
    --------
    >>> import rai_sim as rai
    >>> round(rai.bounds.lower(rai.table_problem(), delta=0.01), 2)
    36.84
    """
    delta = check_delta(delta)
    gap = warn_of_arms_without_bounds(problem).rescaled.bottleneck_gap
    return -math.log(delta) / 2.0 / gap / gap


def vanilla(problem: Problem, delta: float) -> float:
    """Return the pulls that Vanilla, with the paper's width, exceeds with probability at most delta.

    The sum over arms of 26/g^2 ln(16 pi sqrt(N / (3 delta)) / g^2) + 1, g the larger of the arm's
    gap and the bottleneck gap (arXiv 2408.14195, Theorem 2). An infinite g contributes its limit 1,
    and so does a g so large that the logarithm is negative: every arm is pulled at least once.

    Parameters
    ----------
    problem : Problem
        The instance.
    delta : float
        Probability of error, in (0, 1).

    Returns
    -------
    float
        Pulls; inf beyond the double range.

    Raises
    ------
    TypeError
        If `problem` is not a `Problem` or `delta` is not a number.
    ValueError
        If `delta` is not in (0, 1).

    Warns
    -----
    UserWarning
        If the arms are not known to be sub-Gaussian with the parameter that algorithms are told, so
        that no bound holds for them.

    Examples
    --------
    >>> import rai_sim as rai
    >>> round(rai.bounds.vanilla(rai.table_problem(), delta=0.01))
    39923
    """
    delta = check_delta(delta)
    return theorem_2(warn_of_arms_without_bounds(problem), delta)


def theorem_2(problem: Problem, delta: float) -> float:
    """Return `vanilla`'s number without a warning: where it does not hold it still says about how
    many pulls there may be."""
    g = _gaps(problem)
    finite = g[np.isfinite(g)]
    # Logarithms are taken apart: neither a tiny delta nor a tiny gap leaves the double range on the
    # way.
    root = 0.5 * (math.log(problem.n_arms / 3.0) - math.log(delta))
    log = np.maximum(math.log(16.0 * math.pi) + root - 2.0 * np.log(finite), 0.0)
    with np.errstate(over="ignore"):
        return float(np.sum(26.0 / finite / finite * log)) + problem.n_arms


def butterscotch(problem: Problem, delta: float) -> float:
    """Return the pulls that Butterscotch, with the paper's width, exceeds with probability at most
    delta, rounding of t_R aside.

    The sum over arms of max(32/g^2 ln(N pi^2 / (3 delta) ceil(log2(1/(2 g)))^2), 128 ln(N pi^2 / (3
    delta))), g the larger of the arm's gap and the bottleneck gap (arXiv 2408.14195, Theorem 3).
    For g >= 1/2, where the first term's inner logarithm is not positive, it is the second term: the
    cost of one round. The theorem counts real t_R; the algorithm rounds t_R up, so it may use up to
    one pull an arm more.

    Parameters
    ----------
    problem : Problem
        The instance.
    delta : float
        Probability of error, in (0, 1).

    Returns
    -------
    float
        Pulls; inf beyond the double range.

    Raises
    ------
    TypeError
        If `problem` is not a `Problem` or `delta` is not a number.
    ValueError
        If `delta` is not in (0, 1).

    Warns
    -----
    UserWarning
        If the arms are not known to be sub-Gaussian with the parameter that algorithms are told, so
        that no bound holds for them.

    Examples
    --------
    >>> import rai_sim as rai
    >>> round(rai.bounds.butterscotch(rai.table_problem(), delta=0.01))
    41465
    """
    delta = check_delta(delta)
    g = _gaps(warn_of_arms_without_bounds(problem))
    log = math.log(problem.n_arms * math.pi**2 / 3.0) - math.log(delta)
    small = g[g < 0.5]  # here the first term is the larger one, for 32/g^2 > 128 and ln(R^2) >= 0
    # A g in [2^(e-1), 2^e) has ceil(log2(1/(2 g))) = -e, without rounding.
    rounds = -np.frexp(small)[1]
    with np.errstate(over="ignore"):
        terms = 32.0 / small / small * (log + 2.0 * np.log(rounds))
        return float(np.sum(terms)) + 128.0 * log * (len(g) - len(small))


def _gaps(problem: Problem) -> NDArray[np.float64]:
    """Return the larger of the arm's gap and the bottleneck gap for every arm, in units of 2
    sigma."""
    told = problem.rescaled
    return np.maximum(told.arm_gaps, told.bottleneck_gap)
