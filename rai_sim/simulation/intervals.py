"""Confidence intervals of means and of probabilities, of 95 % if not said otherwise."""

from __future__ import annotations

import math

_CONFIDENCE = 0.95


def student_interval(mean: float, standard_error: float, n: int) -> tuple[float, float]:
    """Return the 95 % Student interval of a mean of n numbers; NaN for fewer than two."""
    if n < 2:
        return math.nan, math.nan
    margin = student_quantile(n) * standard_error
    return mean - margin, mean + margin


def student_quantile(n: int) -> float:
    """Return by how many standard errors the 95 % interval of a mean of n >= 2 numbers reaches."""
    # Here, not above: it is slow to load, and only summaries need it.
    from scipy.special import stdtrit

    return float(stdtrit(n - 1, (1.0 + _CONFIDENCE) / 2.0))


def over_mean(value: float, mean: float) -> float:
    """Return a number as a share of a mean of numbers that are not negative; NaN where either is, and
    where the mean is 0, of which nothing is a share.

    Examples
    --------
    >>> over_mean(1.0, 4.0), over_mean(0.0, 0.0)
    (0.25, nan)
    """
    return value / mean if mean else math.nan


def relative_half_width(interval: tuple[float, float], mean: float) -> float:
    """Return half the width of an interval of a mean over that mean; NaN where either is, or the mean
    is 0."""
    low, high = interval
    return over_mean((high - low) / 2.0, mean)


def clopper_pearson(errors: int, n: int, confidence: float = _CONFIDENCE) -> tuple[float, float]:
    """Return the Clopper-Pearson interval of a probability, of 95 % if not said otherwise, from
    cases in n; NaN for n = 0."""
    if n == 0:
        return math.nan, math.nan
    from scipy.special import betaincinv

    tail = (1.0 - confidence) / 2.0
    low = float(betaincinv(errors, n - errors + 1, tail)) if errors else 0.0
    high = float(betaincinv(errors + 1, n - errors, 1.0 - tail)) if errors < n else 1.0
    return low, high
