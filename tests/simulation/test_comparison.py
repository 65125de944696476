"""Ratios of mean pulls: the right number, an interval that covers, and covers only thanks to what
it accounts for."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

import rai_sim as rai
from rai_sim.simulation.comparison import paired_ratio, ratio_of_means
from rai_sim.simulation.result import Experiment, Result

PROBLEM = rai.table_problem(task=1)


def result_of(
    pulls: NDArray[np.float64], finished: NDArray[np.bool_] | None = None, first: int = 0
) -> Result:
    """Return a result with these pulls."""
    n = len(pulls)
    yes = np.ones(n, bool) if finished is None else finished
    experiment = Experiment(PROBLEM, rai.Vanilla(), 0.01, 0, 1e-12, None)
    return Result(
        experiment,
        ((first, first + n),),
        pulls.astype(np.int64),
        np.ones(n, np.int64),
        yes,
        yes,
        np.zeros((n, 1), np.int32),
    )


def covered(trials: int, draw: int, paired: bool) -> int:
    """Count in how many trials of 150 replications the interval holds the true ratio 2; the two are
    drawn with correlation 0.9."""
    rng = np.random.default_rng(draw)
    held = 0
    for _ in range(trials):
        shared, own, other = rng.standard_normal((3, 150))
        x = 20_000 + 3000 * (0.95 * shared + math.sqrt(1 - 0.95**2) * own)
        y = 10_000 + 1500 * (0.95 * shared + math.sqrt(1 - 0.95**2) * other)
        if paired:
            ratio = paired_ratio(result_of(x), result_of(y))
        else:
            ratio = ratio_of_means(
                x.mean(),
                x.std(ddof=1) / math.sqrt(150),
                150,
                (y.mean(), y.std(ddof=1) / math.sqrt(150), 150),
            )
        held += ratio.low <= 2.0 <= ratio.high
    return held


@pytest.mark.slow
def test_the_paired_interval_covers() -> None:
    """Of 4,000 simulated comparisons 95 %, within 3.9 standard errors of that (false alarm 1e-4);
    shuffled pairs cover far more."""
    held = covered(4000, 1, paired=True)
    assert abs(held - 3800) < 3.9 * math.sqrt(4000 * 0.95 * 0.05)
    assert covered(1000, 2, paired=False) > 990  # whatever the dependence; here nearly always


@pytest.mark.landing
def test_independent_means() -> None:
    """Of 4,000 comparisons of independent samples 95 %; with correlated ones it is another number
    (negative control)."""
    rng, held, correlated = np.random.default_rng(3), 0, 0
    for _ in range(4000):
        x, y, shared = rng.standard_normal((3, 150))
        for mixed in (False, True):
            a = 20_000 + 3000 * (0.6 * x + 0.8 * shared if mixed else x)
            b = 10_000 + 1500 * (0.6 * y + 0.8 * shared if mixed else y)
            error = [float(sample.std(ddof=1)) / math.sqrt(150) for sample in (a, b)]
            ratio = ratio_of_means(
                float(a.mean()), error[0], 150, (float(b.mean()), error[1], 150), independent=True
            )
            held += not mixed and ratio.low <= 2.0 <= ratio.high
            correlated += mixed and ratio.low <= 2.0 <= ratio.high
    assert abs(held - 3800) < 3.9 * math.sqrt(4000 * 0.95 * 0.05)
    assert abs(correlated - 3800) > 3.9 * math.sqrt(4000 * 0.95 * 0.05)


def test_pairs_are_those_of_equal_index_that_finished_in_both() -> None:
    """Overlap of two ranges, less what was capped in either."""
    x, y = np.arange(1000.0, 1010.0), np.arange(500.0, 510.0)
    capped = np.ones(10, bool)
    capped[[5, 6]] = False
    ratio = paired_ratio(result_of(x, capped), result_of(y, first=4))
    assert ratio.replications == 4  # indices 4, 7, 8, 9
    assert ratio.value == pytest.approx(np.mean(x[[4, 7, 8, 9]]) / np.mean(y[[0, 3, 4, 5]]))
    assert ratio.low < ratio.value < ratio.high
    assert "95 % interval" in str(ratio)


def test_too_few_pairs() -> None:
    """Clear words."""
    with pytest.raises(
        ValueError,
        match="1 finished replications in common; simulate at least two with the same indices",
    ):
        paired_ratio(result_of(np.array([5.0, 6.0])), result_of(np.array([5.0, 6.0]), first=1))


def test_a_constant_ratio_has_no_width() -> None:
    """Proportional pulls."""
    x = np.array([10.0, 20.0, 40.0])
    ratio = paired_ratio(result_of(3 * x), result_of(x))
    assert (ratio.low, ratio.value, ratio.high) == pytest.approx((3.0, 3.0, 3.0))


def test_a_mean_of_no_pulls_has_no_ratio() -> None:
    """Nothing is a multiple of it, and it has no logarithm, thus no interval; nothing is warned of."""
    some, none = np.array([100.0, 300.0]), np.zeros(2)
    over = paired_ratio(result_of(some), result_of(none))
    under = paired_ratio(result_of(none), result_of(some))
    loose = ratio_of_means(0.0, 0.0, 2, (200.0, 100.0, 2))
    assert math.isnan(over.value)
    assert (under.value, loose.value) == (0.0, 0.0)
    assert all(math.isnan(end) for one in (over, under, loose) for end in (one.low, one.high))
