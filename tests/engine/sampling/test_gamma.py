"""Gamma and beta variates.

False alarms: eleven comparisons, each at the level of `statistics_checks`; the seeds are fixed.
"""

from __future__ import annotations

import numpy as np
import pytest
from samples import KEY, SHIFT, Floats, draw_variates
from scipy import stats
from statistics_checks import LEVEL, Law, bin_edges, chi_square, counts_in, masses


def check(law: Law, wrong: Law, draws: Floats) -> None:
    """Assert that draws fit their law, and not a wrong one."""
    edges = bin_edges(law, draws.size, whole=False)
    counts = counts_in(edges, draws)
    assert chi_square(counts, masses(law, edges)) > LEVEL
    assert chi_square(counts, masses(wrong, edges)) < LEVEL


@pytest.mark.parametrize("shape", [0.05, 0.7, 1.0, 2.5, 1e6])
def test_gamma(shape: float) -> None:
    """Below and above 1, and of a nearly normal one; the control's shape is one twentieth of a
    deviation larger."""
    out = np.empty(200_000)
    draw_variates(0, shape, 0.0, 1, KEY, out)
    wrong = stats.gamma(shape + 2 * SHIFT * shape**0.5 * min(1.0, shape**0.5))
    check(stats.gamma(shape), wrong, out)


@pytest.mark.parametrize(
    ("first", "second"), [(0.05, 0.1), (0.5, 0.5), (0.3, 4.0), (1.0, 1.0), (2.0, 7.5), (3e4, 1e5)]
)
def test_beta(first: float, second: float) -> None:
    """Of small shapes, through logarithms, and of large ones; the control is moved by one tenth of a
    deviation."""
    out = np.empty(200_000)
    draw_variates(1, first, second, 2, KEY, out)
    assert out.min() >= 0.0
    assert out.max() <= 1.0
    law = stats.beta(first, second)
    total, mean = first + second, law.mean() + 2 * SHIFT * law.std()
    check(law, stats.beta(mean * total, (1.0 - mean) * total), out)


def test_the_smallest_shapes() -> None:
    """Gamma variates of shapes near 1e-6 underflow; beta variates of them do not become nan."""
    out = np.empty(10_000)
    draw_variates(1, 5e-7, 5e-7, 3, KEY, out)
    assert np.isfinite(out).all()
    assert abs(out.mean() - 0.5) < 6.0 * 0.5 / 100
    assert np.isin(out, (0.0, 1.0)).mean() > 0.999
