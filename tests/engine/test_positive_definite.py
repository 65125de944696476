"""Sums of squares and their equations, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from rai_sim.engine.positive_definite import factor, solve, sum_of_squares


@pytest.mark.boundscheck
@pytest.mark.parametrize("nonzero", [2, 5, 12])
def test_equations_are_solved(nonzero: int) -> None:
    """Of 12 unknowns, with rows of few and of many entries, and scales twelve decades apart."""
    rng = np.random.default_rng(nonzero)
    n, size = 12, 30
    slopes, curves = np.zeros((size, n)), np.zeros((size, n))
    for row in range(size):
        places = rng.choice(n, nonzero, replace=False)
        slopes[row, places], curves[row, places] = rng.normal(size=(2, nonzero))
    scale = 10.0 ** rng.uniform(-6.0, 6.0, n)
    slopes, curves = slopes * scale, curves * scale
    a, b, diagonal = rng.random(size), rng.random(size), rng.random(n) * scale**2
    matrix, upper, scales = np.full((n, n), np.nan), np.empty((n, n)), np.empty(n)
    sum_of_squares(matrix, len(slopes), slopes, a, curves, b, diagonal, np.empty(n, np.int64))
    exact = (slopes.T * a) @ slopes + (curves.T * b) @ curves + np.diag(diagonal)
    assert np.allclose(matrix, exact, rtol=1e-12, atol=0.0)
    factor(matrix, upper, scales)
    x = rng.normal(size=n) / scale
    found = np.empty(n)
    solve(matrix, upper, scales, exact @ x, found, np.empty(n))
    assert np.allclose(found * scale, x * scale, rtol=1e-8, atol=1e-10)


def test_what_is_not_positive_definite_is_told() -> None:
    """NaN comes out of it."""
    matrix, upper = np.array([[1.0, 2.0], [2.0, 1.0]]), np.empty((2, 2))
    factor(matrix, upper, np.empty(2))
    assert np.isnan(upper[1, 1])
