"""Intervals against scipy's."""

import math

import pytest
from scipy import stats

from rai_sim.simulation.intervals import (
    clopper_pearson,
    relative_half_width,
    student_interval,
    student_quantile,
)


@pytest.mark.parametrize("n", [2, 3, 30, 10**6])
def test_students_interval_is_scipys(n: int) -> None:
    """Around any mean; none of a single number."""
    assert student_quantile(n) == pytest.approx(stats.t.ppf(0.975, n - 1), rel=1e-10)
    assert student_interval(5.0, 2.0, n) == pytest.approx(
        stats.t.interval(0.95, n - 1, 5.0, 2.0), rel=1e-10
    )
    assert all(map(math.isnan, student_interval(5.0, 2.0, 1)))


@pytest.mark.parametrize(("errors", "n"), [(0, 1), (1, 1), (0, 50), (3, 50), (50, 50), (70, 9_000)])
def test_clopper_pearson_is_scipys(errors: int, n: int) -> None:
    """The exact binomial interval; none of nothing."""
    exact = stats.binomtest(errors, n).proportion_ci(0.95, method="exact")
    assert clopper_pearson(errors, n) == pytest.approx((exact.low, exact.high), rel=1e-9, abs=1e-15)
    assert all(map(math.isnan, clopper_pearson(0, 0)))


def test_half_widths_are_relative_to_the_mean() -> None:
    """NaN where the interval or the mean is, and where a mean is 0, as of a rule without a pull."""
    assert relative_half_width((90.0, 130.0), 100.0) == 0.2
    assert math.isnan(relative_half_width((math.nan, math.nan), 100.0))
    assert math.isnan(relative_half_width((0.0, 1.0), math.nan))
    assert math.isnan(relative_half_width((0.0, 0.0), 0.0))
