"""Beta arms: shapes, the variance proxy, pulls and their sums.

False alarms: three statistical comparisons, each at the level of `statistics_checks`; the seeds are
fixed.
"""

from __future__ import annotations

import numpy as np
import pytest
from laws import sums
from scipy import special, stats
from statistics_checks import LEVEL, bin_edges, chi_square, counts_in, masses

from rai_sim import Beta, Problem, Vanilla, simulate


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"means": [0.5, 1.0]}, r"means\[1\] is 1.0; a beta mean is strictly between 0 and 1"),
        ({"means": [0.5, 0.0]}, r"means\[1\] is 0.0"),
        ({"means": [0.5], "concentration": 0.0}, "concentration is 0.0; it must be alpha"),
        ({"means": [0.5, 0.2], "concentration": [1.0, np.nan]}, r"concentration\[1\] is nan"),
        ({"means": [0.5, 0.2], "concentration": [1.0, -2.0]}, r"concentration\[1\] is -2.0"),
        ({"means": [0.5, 0.2], "concentration": [1.0]}, "has 1 entries for 2 arms"),
    ],
)
def test_what_is_no_beta_law(arguments: dict[str, object], message: str) -> None:
    """Is refused by the entry's name."""
    with pytest.raises(ValueError, match=message):
        Beta(**arguments)  # type: ignore[arg-type]


def test_shapes_of_each_arm() -> None:
    """alpha and beta add up to the concentration; equal ones are one law."""
    law = Beta([0.25, 0.5], concentration=[4.0, 1.0]).kernel_law()
    assert law.alpha.tolist() == [1.0, 0.5]
    assert law.beta.tolist() == [3.0, 0.5]
    assert Beta([0.25, 0.5], concentration=[4.0, 4.0]) == Beta([0.25, 0.5], concentration=4.0)
    assert Beta([0.25, 0.5], concentration=[4.0, 1.0]) != Beta([0.25, 0.5], concentration=4.0)
    assert Beta([0.25, 0.5]).why_not_sub_gaussian() is None


def excess(mean: float, concentration: float, proxy: float) -> float:
    """Return by how much the cumulant generating function passes that of a normal, at most; the
    moment generating function is Kummer's."""
    t = np.concatenate([-np.geomspace(0.1, 60.0, 200), np.geomspace(0.1, 60.0, 200)])
    cumulant = np.log(special.hyp1f1(mean * concentration, concentration, t)) - t * mean
    return float(np.max(cumulant - 0.5 * proxy * t**2))


@pytest.mark.parametrize("concentration", [0.2, 2.0, 30.0])
def test_the_variance_proxy(concentration: float) -> None:
    """Holds for all means, and is the variance at 1/2: a hundredth less does not hold."""
    proxy = Beta([0.5], concentration).kernel_law().variance_proxy
    assert all(excess(mean, concentration, proxy) < 1e-9 for mean in (0.03, 0.2, 0.5, 0.8))
    assert excess(0.5, concentration, 0.99 * proxy) > 1e-6
    several = Beta([0.5, 0.5], [concentration, 40.0]).kernel_law()
    assert several.variance_proxy == proxy


@pytest.mark.slow
def test_pulls_and_sums() -> None:
    """Chi-square of one pull against beta laws, of two pulls of a uniform arm against the triangular
    law; the controls have a mean of 0.02 more, or are not triangular."""
    arms = Beta([0.2, 0.5], concentration=[2.5, 2.0])
    for arm, k, law, wrong in (
        (0, 1, stats.beta(0.5, 2.0), stats.beta(0.55, 1.95)),
        (1, 1, stats.uniform(), stats.beta(1.04, 0.96)),
        (1, 2, stats.triang(0.5, scale=2.0), stats.norm(1.0, 6**-0.5)),
    ):
        draws = sums(arms, arm, k)
        edges = bin_edges(law, draws.size, whole=False)
        assert chi_square(counts_in(edges, draws), masses(law, edges)) > LEVEL
        assert chi_square(counts_in(edges, draws), masses(wrong, edges)) < LEVEL


@pytest.mark.slow
def test_a_run() -> None:
    """Is right, and skips rounds on the strength of the proxy without changing the law of pulls."""
    problem = Problem(Beta([0.8, 0.4, 0.3], 3.0), (1, 2), (1, 0))
    runs = [
        simulate(problem, Vanilla(), delta=0.1, replications=400, seed=1, skip_error=skip_error)
        for skip_error in (1e-12, 0.0)
    ]
    assert all(run.correct.all() for run in runs)
    assert stats.ks_2samp(*(run.pulls for run in runs)).pvalue > LEVEL
