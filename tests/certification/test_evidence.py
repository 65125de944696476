"""Evidence: a martingale, an interval, and what they promise, computed exactly."""

import math

import numpy as np
import pytest
from coins import Rule, decided
from scipy import stats
from scipy.special import logsumexp

from rai_sim.certification.evidence import Evidence

CASES = [(0, 0), (0, 1), (1, 1), (0, 500), (3, 500), (5, 500), (40, 500), (499, 500), (500, 500)]
#: Every toss is looked at.
EVERY = range(1, 501)


@pytest.mark.parametrize("scale", [0.3, 0.01])
@pytest.mark.parametrize("tosses", [1, 7, 200])
def test_it_is_a_martingale(scale: float, tosses: int) -> None:
    """Under the probability in question its mean is 1."""
    ones = np.arange(tosses + 1)
    values = [Evidence(int(s), tosses, scale)._log_martingale(scale) for s in ones]
    mean = logsumexp(stats.binom.logpmf(ones, tosses, scale) + values)
    assert mean == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(("ones", "tosses"), CASES)
@pytest.mark.parametrize("level", [0.1, 1e-6])
def test_the_interval_is_where_the_martingale_is_small(
    ones: int, tosses: int, level: float
) -> None:
    """At its ends it is 1 / level, inside less; it holds what was seen."""
    seen = Evidence(ones, tosses, 0.01)
    low, high = seen.interval(level)
    assert 0.0 <= low <= (ones / tosses if tosses else 0.0) <= high <= 1.0
    for end in {low, high} - {0.0, 1.0}:
        # beside 1 doubles are coarse
        near = 1e-6 if end < 0.999 else 0.1
        assert seen._log_martingale(end) == pytest.approx(-math.log(level), abs=near)
    if tosses == 500:
        assert (low == 0.0) == (ones == 0)
        assert (high == 1.0) == (ones == 500)


@pytest.mark.parametrize(("ones", "tosses"), CASES)
@pytest.mark.parametrize("scale", [0.3, 0.01])
def test_a_side_is_said_exactly_where_the_interval_lies_there(
    ones: int, tosses: int, scale: float
) -> None:
    """Verdict, e-value and interval are one statement."""
    seen, level = Evidence(ones, tosses, scale), 0.02
    low, high = seen.interval(level)
    assert seen.is_above(level) == (low > scale)
    assert seen.is_below(level) == (high < scale)
    assert seen.is_above(level) == (seen.log_e_value >= math.log(50.0))


def test_an_e_value_against_at_most_is_the_least_against_each() -> None:
    """Where fewer ones came than the probability says, smaller ones fit better."""
    seen = Evidence(2, 400, 0.1)
    each = [seen._log_martingale(q) for q in np.linspace(1e-4, 0.1, 2_000)]
    assert seen.log_e_value == pytest.approx(min(each), abs=1e-4)
    assert seen.log_e_value < 0.0 < seen._log_martingale(0.1)
    assert Evidence(0, 0, 0.1).log_e_value == 0.0


def by_evidence(side: str, level: float) -> Rule:
    """Return the rule by which a test of 0.1 says a side."""
    return lambda ones, tosses: bool(getattr(Evidence(ones, tosses, 0.1), side)(level))


@pytest.mark.parametrize("level", [0.2, 0.01])
def test_whoever_looks_after_every_toss_is_rarely_wrong(level: float) -> None:
    """At exactly the probability in question both sides together are said with probability at most
    level."""
    above, below = decided(
        0.1, EVERY, by_evidence("is_above", level), by_evidence("is_below", level)
    )
    assert 0.0 < above + below <= level


def test_intervals_for_a_fixed_number_of_tosses_are_often_wrong() -> None:
    """Negative control: with p-values of that level, looked at after every toss, far more often."""
    level = 0.01

    def above(ones: int, tosses: int) -> bool:
        return bool(stats.binom.sf(ones - 1, tosses, 0.1) <= level / 2)

    def below(ones: int, tosses: int) -> bool:
        return False

    assert decided(0.1, EVERY, above, below)[0] > 2 * level


def test_half_as_much_again_is_found() -> None:
    """Within 200 / 0.1 tosses, at the level of one instance of 27."""
    level = 0.01 / 27
    above, below = decided(
        0.15, range(20, 2001, 20), by_evidence("is_above", level), by_evidence("is_below", level)
    )
    assert above > 0.95
    assert below < 1e-6


@pytest.mark.parametrize("scale", [0.1, 0.01, 0.001])
def test_without_errors_ten_over_delta_are_enough(scale: float) -> None:
    """For one instance of 27."""
    level = 0.01 / 27
    assert Evidence(0, math.ceil(10.0 / scale), scale).is_below(level)
    assert not Evidence(0, math.ceil(8.0 / scale), scale).is_below(level)
