"""Exponents and their intervals, against formulas, against other programs, and on laws that are
known."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from rai_sim.scaling import power_law

X = np.geomspace(2.0, 2000.0, 8)


def test_an_exact_power_is_found() -> None:
    """Whatever the errors are; there is no lack of fit then, and the interval is that of the errors
    alone."""
    errors = np.linspace(0.01, 0.08, 8)
    law = power_law(X, 3.0 * X**1.7, 3.0 * X**1.7 * errors)
    assert law.exponent == pytest.approx(1.7, abs=1e-12)
    assert law.log_factor == pytest.approx(math.log(3.0), abs=1e-11)
    assert (law.lack_of_fit, law.points) == (0.0, 8)
    u, w = np.log(X), errors**-2.0
    spread = np.sum(w * (u - np.average(u, weights=w)) ** 2)
    margin = stats.t.ppf(0.975, 6) / math.sqrt(spread)
    assert (law.low, law.high) == pytest.approx((1.7 - margin, 1.7 + margin))


def test_without_errors_it_is_ordinary_regression() -> None:
    """Slope, and its interval, as scipy has them; the lack of fit is the residuals' deviation."""
    noise = np.array([0.1, -0.2, 0.05, 0.0, 0.15, -0.1, -0.05, 0.05])
    law = power_law(X, np.exp(2.0 * np.log(X) + noise), np.zeros(8))
    known: Any = stats.linregress(np.log(X), 2.0 * np.log(X) + noise)
    margin = stats.t.ppf(0.975, 6) * known.stderr
    assert law.exponent == pytest.approx(known.slope)
    assert law.high - law.low == pytest.approx(2.0 * margin, rel=1e-6)
    residuals = noise - (known.slope - 2.0) * np.log(X) - known.intercept
    assert law.lack_of_fit == pytest.approx(math.sqrt(np.sum(residuals**2) / 6.0), rel=1e-6)


def test_the_lack_of_fit_makes_residuals_as_large_as_they_are_to_be() -> None:
    """Weighted squares sum to n - 2 at tau^2; a tenth less or more does not do."""
    rng = np.random.default_rng(1)
    errors = rng.uniform(0.01, 0.1, 8)
    y = np.log(X) + 0.3 * rng.standard_normal(8)
    law = power_law(X, np.exp(y), np.exp(y) * errors)

    def weighted(tau: float) -> float:
        w = 1.0 / (errors**2 + tau**2)
        slope, level = np.polyfit(np.log(X), y, 1, w=np.sqrt(w))
        return float(np.sum(w * (y - slope * np.log(X) - level) ** 2))

    assert law.lack_of_fit > 0.1
    assert weighted(law.lack_of_fit) == pytest.approx(6.0, rel=1e-9)
    assert weighted(0.9 * law.lack_of_fit) > 6.5
    assert weighted(1.1 * law.lack_of_fit) < 5.5


@pytest.mark.slow
@pytest.mark.parametrize("tau", [0.0, 0.02, 0.5])
def test_intervals_hold_the_exponent_as_often_as_they_say(tau: float) -> None:
    """Of 2,000 draws with unequal errors, and with a lack of fit that is small, or large, beside
    them."""
    rng = np.random.default_rng(round(100 * tau))
    errors = np.array([0.01, 0.02, 0.05, 0.1, 0.01, 0.05, 0.02, 0.03])
    draws = 2000
    inside = bare = 0
    w = errors**-2.0
    u = np.log(X)
    alone = stats.t.ppf(0.975, 6) / math.sqrt(np.sum(w * (u - np.average(u, weights=w)) ** 2))
    for _ in range(draws):
        y = 2.0 * u + rng.standard_normal(8) * np.sqrt(errors**2 + tau**2)
        law = power_law(X, np.exp(y), np.exp(y) * errors)
        inside += law.low <= 2.0 <= law.high
        bare += abs(law.exponent - 2.0) <= alone
    # 95 %, or more where there is no lack of fit to be estimated; 4 standard deviations are 2 %
    assert 0.93 <= inside / draws <= 0.99
    assert tau < 0.5 or bare / draws < 0.3  # control: the means' errors alone are not enough


@pytest.mark.landing
def test_correlated_means_have_other_intervals() -> None:
    """Neighbours that err alike, as a walk does: an interval for independent ones holds the
    exponent too seldom, one that is told the correlations as often as it says."""
    rng = np.random.default_rng(7)
    covariance = 1e-4 * np.minimum.outer(np.arange(1.0, 9.0), np.arange(1.0, 9.0))
    errors = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(errors, errors)
    root, u, told, alone = np.linalg.cholesky(covariance), np.log(X), 0, 0
    for _ in range(1000):
        y = 2.0 * u + root @ rng.standard_normal(8)
        means = np.exp(y)
        one = power_law(X, means, means * errors, correlation)
        other = power_law(X, means, means * errors)
        assert one.exponent == other.exponent
        told += one.low <= 2.0 <= one.high
        alone += other.low <= 2.0 <= other.high
    assert told / 1000 >= 0.94
    assert told > alone
    pair = power_law([1.0, 2.0], [1.0, 2.0], [0.1, 0.2], np.ones((2, 2)))
    assert pair.low == pair.high == pytest.approx(1.0)  # what is common to both cancels


def test_two_points_have_the_errors_of_their_means() -> None:
    """Nothing is known of a lack of fit."""
    law = power_law([1.0, math.e], [10.0, 100.0], [0.3, 4.0])
    margin = 1.959963984540054 * math.hypot(0.03, 0.04)
    assert law.exponent == pytest.approx(math.log(10.0))
    assert (law.low, law.high) == pytest.approx((law.exponent - margin, law.exponent + margin))
    assert math.isnan(law.lack_of_fit)


def test_one_mean_without_an_error_does_not_stop_it() -> None:
    """All replications took the same number of pulls at one point: the line goes through it."""
    law = power_law([1.0, 10.0, 100.0], [5.0, 50.1, 501.0], [0.1, 0.0, 10.0])
    assert math.log(50.1) == pytest.approx(law.log_factor + law.exponent * math.log(10.0), abs=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, 0.0], [1.0, 2.0], [0.1, 0.1]), r"x\[1\] is 0.0; it must be finite and positive"),
        (([1.0, 2.0], [1.0, math.nan], [0.1, 0.1]), r"mean\[1\] is nan; it must be finite"),
        (([1.0, 2.0], [1.0, 2.0], [0.1, -0.1]), r"standard_error\[1\] is -0.1; .* not negative"),
        (([1.0, 2.0], [1.0, 2.0], [0.1]), "have 2, 2 and 1 entries"),
        (([3.0, 3.0], [1.0, 2.0], [0.1, 0.1]), "x has 1 different values; a slope needs two"),
        (([[1.0, 2.0]], [1.0, 2.0], [0.1, 0.1]), r"x has shape \(1, 2\)"),
        (("12", [1.0, 2.0], [0.1, 0.1]), "x must be numbers"),
        (
            ([1.0, 2.0], [1.0, 2.0], [0.1, 0.1], np.ones((3, 3))),
            r"correlation has shape \(3, 3\); give a row and a column for each of the 2 points",
        ),
    ],
)
def test_bad_arguments_are_named(arguments: tuple[Any, ...], message: str) -> None:
    """The argument, its value and what would do."""
    with pytest.raises((TypeError, ValueError), match=message):
        power_law(*arguments)
