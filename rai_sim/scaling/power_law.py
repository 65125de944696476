"""The exponent of a power law, with an interval for both what was sampled and what does not fit.

**The model.** Mean pulls m_i at points x_i > 0 are exp(a) x_i^b, but for two things. A mean of R
replications has a standard error s_i, so its logarithm has variance v_i = (s_i / m_i)^2 (to first
order, which is enough where s_i is some percent of m_i). And pulls follow no power law exactly:
logarithms, thresholds and rounds of doubling length move them off it. Let the means themselves be
off the line by independent normal numbers of variance tau^2 in ln m:

    ln m_i = a + b ln x_i + e_i,  Var e_i = v_i + tau^2.

**The exponent.** With weights w_i = 1 / (v_i + tau^2), means u' and y' of u = ln x and y = ln m
under them, and S = sum w_i (u_i - u')^2, least squares give b = sum w_i (u_i - u') y_i / S, of
variance 1 / S. Where replication i has the same stream at all points their means are correlated, and
may be strongly. With the covariance matrix V of ln m and a_i = w_i (u_i - u') / S the variance is
a' V a + tau^2 a' a, whatever the correlations are.

**The lack of fit.** Q(tau^2) = sum of w_i times squared residuals falls in tau^2, and has mean
n - 2 at the true one. So tau^2 is where Q = n - 2, or 0 if Q(0) is less already (Paule and Mandel
1982; DerSimonian and Kacker 2007). The interval is b -+ t sd(b), t Student's quantile of n - 2
degrees of freedom, as tau^2 is estimated from n points (Knapp and Hartung 2003, who scale 1 / S by
Q / (n - 2), which is 1 here, and may not be less than 1).

**What it is not.** The interval is that of the exponent which describes the points at hand. Where
pulls are x^b ln x the exponent changes slowly along the axis, neighbours are off the line by
similar amounts, and the exponent in the limit may lie outside: `local_exponents` shows that.

References: R. C. Paule, J. Mandel, Consensus values and weighting factors, J. Res. NBS 87 (1982);
R. DerSimonian, R. Kacker, Random-effects model for meta-analysis of clinical trials: an update,
Contemporary Clinical Trials 28 (2007); G. Knapp, J. Hartung, Improved tests for a random effects
meta-regression with a single covariate, Statistics in Medicine 22 (2003).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rai_sim.simulation.intervals import student_quantile
from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.values import doubles

#: No mean counts as known better than to this share of itself: weights stay finite where all
#: replications took the same number of pulls.
_LEAST_ERROR = 1e-9
#: Halvings of an interval that holds the variance of the lack of fit.
_HALVINGS = 200
#: Standard errors to a side of a 95 % interval where the error itself is known.
NORMAL_95 = 1.959963984540054


@dataclass(frozen=True)
class PowerLaw:
    """What `power_law` found: pulls are about exp(`log_factor`) x^`exponent`.

    Attributes
    ----------
    exponent : float
        The power.
    low, high : float
        Its 95 % interval.
    log_factor : float
        Logarithm of the pulls at x = 1.
    lack_of_fit : float
        tau: by what share of themselves means are off the line, beyond what sampling explains; NaN
        for two points, which tell nothing of it.
    points : int
        How many.

    Examples
    --------
    >>> import rai_sim as rai
    >>> law = rai.scaling.power_law([1.0, 10.0, 100.0], [50.0, 5050.0, 499_000.0], [1.0, 50.0, 5000.0])
    >>> law.points, law.low < 2.0 < law.high
    (3, True)
    """

    exponent: float
    low: float
    high: float
    log_factor: float
    lack_of_fit: float
    points: int


def power_law(
    x: ArrayLike,
    mean: ArrayLike,
    standard_error: ArrayLike,
    correlation: NDArray[np.float64] | None = None,
) -> PowerLaw:
    """Return the power law through means by weighted least squares of logarithms (see the module).

    Parameters
    ----------
    x : array_like, shape (n,)
        What pulls depend on, positive, at least two different values.
    mean : array_like, shape (n,)
        Mean pulls there, positive.
    standard_error : array_like, shape (n,)
        Of the means, in pulls, not negative.
    correlation : (n, n) float64, optional
        Matrix of the means' correlations; independent when None.

    Returns
    -------
    PowerLaw
        With two points the interval has the errors of the means alone.

    Raises
    ------
    TypeError, ValueError
        If an argument does not hold such numbers, or they have different lengths.

    Examples
    --------
    >>> law = power_law([1.0, 10.0, 100.0], [50.0, 5050.0, 499_000.0], [1.0, 50.0, 5000.0])
    >>> round(law.exponent, 3), round(law.low, 2), round(law.high, 2), law.lack_of_fit
    (1.998, 1.94, 2.05, 0.0)
    """
    places, means, errors = _checked(x, mean, standard_error)
    if correlation is not None and np.shape(correlation) != (len(places),) * 2:
        raise ArgumentValueError(
            "correlation",
            f"correlation has shape {np.shape(correlation)}; give a row and a column for each of "
            f"the {len(places)} points",
        )
    u, y = np.log(places), np.log(means)
    v = np.maximum(errors / means, _LEAST_ERROR) ** 2
    n = len(u)
    tau2 = _lack_of_fit(u, y, v) if n > 2 else 0.0
    exponent, log_factor, shares, _ = _line(u, y, v + tau2)
    error = np.sqrt(v) * shares
    sampled = error @ error if correlation is None else max(error @ correlation @ error, 0.0)
    spread = math.sqrt(sampled + tau2 * (shares @ shares))
    margin = (student_quantile(n - 1) if n > 2 else NORMAL_95) * spread
    return PowerLaw(
        exponent=exponent,
        low=exponent - margin,
        high=exponent + margin,
        log_factor=log_factor,
        lack_of_fit=math.sqrt(tau2) if n > 2 else math.nan,
        points=n,
    )


def _line(
    u: NDArray[np.float64], y: NDArray[np.float64], variance: NDArray[np.float64]
) -> tuple[float, float, NDArray[np.float64], float]:
    """Return slope, intercept, what each height contributes to the slope, and the weighted sum of
    squared residuals of a line."""
    w = variance.min() / variance  # none overflows
    centre, level = np.average(u, weights=w), np.average(y, weights=w)
    spread = float(np.sum(w * (u - centre) ** 2))
    shares: NDArray[np.float64] = w * (u - centre) / spread
    slope = float(np.sum(shares * (y - level)))
    residuals = y - level - slope * (u - centre)
    scale = float(variance.min())
    return (
        slope,
        float(level - slope * centre),
        shares,
        float(np.sum(w * residuals**2)) / scale,
    )


def _lack_of_fit(u: NDArray[np.float64], y: NDArray[np.float64], v: NDArray[np.float64]) -> float:
    """Return the variance beyond `v` with which the residuals are as large as they are to be."""
    wanted = len(u) - 2

    def excess(tau2: float) -> float:
        return _line(u, y, v + tau2)[3] - wanted

    if excess(0.0) <= 0.0:
        return 0.0
    # Unweighted residuals bound it: with tau^2 this large every weight is below 1 / tau^2.
    low, high = 0.0, _line(u, y, np.ones_like(u))[3] / wanted
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        if not low < middle < high:
            break
        low, high = (middle, high) if excess(middle) > 0.0 else (low, middle)
    return high


def _checked(
    x: ArrayLike, mean: ArrayLike, standard_error: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    found = []
    for name, value, least in (
        ("x", x, math.ulp(0.0)),
        ("mean", mean, math.ulp(0.0)),
        ("standard_error", standard_error, 0.0),
    ):
        array = doubles(name, value, "one for each point")
        if array.ndim != 1:
            raise ArgumentValueError(
                name, f"{name} has shape {array.shape}; give one number for each point"
            )
        wrong = np.flatnonzero(~(np.isfinite(array) & (array >= least)))
        if wrong.size:
            kind = "positive" if least else "not negative"
            at = int(wrong[0])
            raise ArgumentValueError(
                name, f"{name}[{at}] is {array[at]}; it must be finite and {kind}"
            )
        found.append(array)
    places, means, errors = found
    if not len(places) == len(means) == len(errors):
        raise ArgumentValueError(
            "mean",
            f"x, mean and standard_error have {len(places)}, {len(means)} and {len(errors)} "
            "entries; give one of each for every point",
        )
    if len(np.unique(places)) < 2:
        raise ArgumentValueError(
            "x", f"x has {len(np.unique(places))} different values; a slope needs two"
        )
    return places, means, errors
