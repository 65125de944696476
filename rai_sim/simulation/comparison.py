"""How two algorithms compare: the ratio of their mean pulls, with an interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rai_sim.simulation.intervals import over_mean, student_quantile
from rai_sim.simulation.result import Result
from rai_sim.support.errors import ArgumentValueError


@dataclass(frozen=True)
class Ratio:
    """A ratio of mean pulls.

    Attributes
    ----------
    value : float
        Mean pulls of the one over those of the other; NaN where the other has a mean of 0.
    low, high : float
        Its 95 % interval; NaN where either mean is 0, which has no logarithm.
    replications : int
        Pairs of finished replications; without pairs the smaller number of finished replications.
    kind : {"paired", "independent", "any dependence"}
        What the interval supposes: it knows how the two vary together; that they do not, as with
        different seeds; or nothing, so that it holds however they do.

    Examples
    --------
    >>> print(Ratio(0.5, 0.4, 0.625, 100, "paired"))
    0.5 (95 % interval 0.4 to 0.625)
    """

    value: float
    low: float
    high: float
    replications: int
    kind: str

    def __str__(self) -> str:
        """Return ratio and interval."""
        return f"{self.value:.4g} (95 % interval {self.low:.4g} to {self.high:.4g})"


def paired_ratio(one: Result, other: Result) -> Ratio:
    """Return the ratio of mean pulls of two results over the replications that finished in both.

    The interval is Student's for the logarithm of the ratio, whose variance follows from those of
    both means and from their covariance over replications of equal index (the delta method).

    Parameters
    ----------
    one, other : Result
        Two algorithms, say, on one problem.

    Raises
    ------
    ValueError
        If fewer than two replications finished in both.

    Examples
    --------
    >>> import rai_sim as rai
    >>> problem = rai.table_problem(task=4)
    >>> one, other = (rai.simulate(problem, algorithm, replications=200, seed=0) for algorithm in (rai.Butterscotch(), rai.Vanilla()))
    >>> ratio = paired_ratio(one, other)
    >>> bool(ratio.low < one.pulls.mean() / other.pulls.mean() < ratio.high)
    True
    """
    a, b = _pairs(one, other)
    x, y, n = one.pulls[a].astype(np.float64), other.pulls[b].astype(np.float64), len(a)
    if n < 2:
        raise ArgumentValueError(
            "results",
            f"results have {n} finished replications in common; simulate at least two with the "
            "same indices",
        )
    means = float(x.mean()), float(y.mean())
    if not all(means):
        return _ratio(means, math.nan, n, "paired")
    # The logarithm of a mean moves by the relative error: pairs of x / mean - y / mean have its
    # variance, covariance included.
    spread = float(np.std(x / x.mean() - y / y.mean(), ddof=1)) / math.sqrt(n)
    return _ratio(means, spread, n, "paired")


def common_replications(one: Result, other: Result) -> int:
    """Return how many replications finished in both results.

    Examples
    --------
    >>> import rai_sim as rai
    >>> one, other = (rai.simulate(rai.table_problem(), rai.Vanilla(), replications=5, seed=0, first_replication=k) for k in (0, 3))
    >>> common_replications(one, other)
    2
    """
    return len(_pairs(one, other)[0])


def _pairs(one: Result, other: Result) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of the replications that finished in both."""
    _, a, b = np.intersect1d(
        one.replication_index, other.replication_index, assume_unique=True, return_indices=True
    )
    both = one.finished[a] & other.finished[b]
    return a[both], b[both]


def ratio_of_means(
    mean: float,
    standard_error: float,
    finished: int,
    other: tuple[float, float, int],
    *,
    independent: bool = False,
) -> Ratio:
    """Return the ratio of two means of which only mean, standard error and number of replications
    are known.

    Parameters
    ----------
    mean, standard_error, finished
        Of the one; at least two replications.
    other : (float, float, int)
        The same of the other.
    independent : bool, default False
        Whether the two are known to be independent. If not, the relative standard errors are added:
        the interval is the widest that any dependence needs.

    Examples
    --------
    >>> print(ratio_of_means(2_000.0, 10.0, 400, (1_000.0, 5.0, 400)))
    2 (95 % interval 1.961 to 2.04)
    """
    other_mean, other_error, other_finished = other
    errors = over_mean(standard_error, mean), over_mean(other_error, other_mean)
    spread = math.hypot(*errors) if independent else sum(errors)
    return _ratio(
        (mean, other_mean),
        spread,
        min(finished, other_finished),
        "independent" if independent else "any dependence",
    )


def _ratio(means: tuple[float, float], spread: float, n: int, kind: str) -> Ratio:
    value, margin = over_mean(*means), math.exp(student_quantile(n) * spread)
    return Ratio(value, value / margin, value * margin, n, kind)
