"""The lower bound that stands beside results by default."""

from __future__ import annotations

import numpy as np

from rai_sim.bounds.answers import number_of_answers
from rai_sim.bounds.asymptotic import check_problem
from rai_sim.bounds.finite import FiniteBound, at_delta
from rai_sim.problem import Problem, check_delta

#: Up to so many arms the tight bound mostly takes a second or less, whatever is asked, and up to 4
#: where many answers nearly tie; up to so many where there is one right answer and two or three
#: clusters (measured).
_MOST_ARMS, _MOST_ARMS_OF_ONE_ANSWER = 20, 100


def affordable(problem: Problem) -> bool:
    """Whether the tight bound is had in a second or so."""
    if problem.n_arms <= _MOST_ARMS:
        return True
    one = problem.n_clusters <= 3 and number_of_answers(problem) == 1
    return one and problem.n_arms <= _MOST_ARMS_OF_ONE_ANSWER


def shown(problem: Problem, delta: float) -> FiniteBound | None:
    """Return what tables and figures show as the lower bound at a delta, that of `at_delta`.

    None where it is not to be had in passing: of many arms, of which `at_delta` must be asked by
    name, of arms whose means are not known, as in a study of a reward law that is not known here,
    and of arms for which no bound holds, as they are not 1/2-sub-Gaussian. Theorem 1 is shown then.

    Parameters
    ----------
    problem : Problem
        The instance.
    delta : float
        Probability of error, in (0, 1).

    Returns
    -------
    FiniteBound or None
        Its `.pulls` are the bound.

    Raises
    ------
    TypeError
        If `problem` is not a `Problem` or `delta` is not a number.
    ValueError
        If `delta` is not in (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> import rai_sim as rai
    >>> bound = rai.bounds.shown(rai.table_problem(task=2), 0.01)
    >>> bound == rai.bounds.at_delta(rai.table_problem(task=2), 0.01)
    True
    >>> rai.bounds.shown(rai.best_arm(rai.Bernoulli(np.linspace(0.1, 0.9, 5000))), 0.01)
    """
    check_problem(problem)
    delta = check_delta(delta)
    if not affordable(problem) or np.isnan(problem.arms.means).any():
        return None
    holds = problem.arms.why_not_sub_gaussian() is None
    return at_delta(problem, delta) if holds else None
