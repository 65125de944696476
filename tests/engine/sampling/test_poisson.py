"""Poisson counts.

False alarms: ten comparisons, each at the level of `statistics_checks`; the seeds are fixed.
"""

from __future__ import annotations

import numpy as np
import pytest
from samples import KEY, SHIFT, draw_variates
from scipy import stats
from statistics_checks import LEVEL, bin_edges, chi_square, counts_in, masses


@pytest.mark.parametrize("mean", [0.01, 0.7, 3.0, 9.99, 10.0, 13.5, 100.0, 12_345.6, 1e9, 1e15])
def test_poisson(mean: float) -> None:
    """On both sides of the change of method at 10, and of sums; the control is moved by a twentieth
    of a deviation."""
    out = np.empty(200_000)
    draw_variates(2, mean, 0.0, int(mean) % 1000, KEY, out)
    assert (out == np.floor(out)).all()
    law, wrong = stats.poisson(mean), stats.poisson(mean + SHIFT * mean**0.5)
    edges = bin_edges(law, out.size)
    counts = counts_in(edges, out)
    assert chi_square(counts, masses(law, edges)) > LEVEL
    assert chi_square(counts, masses(wrong, edges)) < LEVEL


def test_a_mean_of_nothing() -> None:
    """Nothing."""
    out = np.ones(10)
    draw_variates(2, 0.0, 0.0, 1, KEY, out)
    assert not out.any()
