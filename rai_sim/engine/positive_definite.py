"""Linear equations with a matrix that is a sum of squares v v^T and a diagonal: made, factored and
solved in one thread.

A BLAS would share the work between threads that wait for each other, which on a busy machine takes
fifty times longer than the work (measured, N = 100); and its sums hang on how many there are.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.jit import exposed, kernel

#: Added to a diagonal that has been scaled to 1.
_RIDGE = 1e-13


@kernel
def add_squares(
    matrix: NDArray[np.float64],
    rows: int,
    slopes: NDArray[np.float64],
    slope_factors: NDArray[np.float64],
    curves: NDArray[np.float64],
    curve_factors: NDArray[np.float64],
    diagonal: NDArray[np.float64],
    places: NDArray[np.int64],
) -> None:
    """Write the sum over the first rows v of `slopes` and `curves` of v v^T times a factor, plus a
    diagonal.

    Parameters
    ----------
    matrix : (N, N) float64
        Written.
    rows : int
        How many rows, at most R.
    slopes, curves : (R, N) float64
        Rows that are 0 in the same places, mostly in many.
    slope_factors, curve_factors : (R,) float64
        Not negative.
    diagonal : (N,) float64
        Not negative.
    places : (N,) int64
        Room.
    """
    n = len(matrix)
    for p in range(n):
        for q in range(n):
            matrix[p, q] = 0.0
    for row in range(rows):
        count = 0
        for p in range(n):
            if slopes[row, p] != 0.0 or curves[row, p] != 0.0:
                places[count] = p
                count += 1
        if 4 * count < n:
            for i in range(count):
                p = places[i]
                a, b = slope_factors[row] * slopes[row, p], curve_factors[row] * curves[row, p]
                for j in range(i, count):
                    q = places[j]
                    matrix[p, q] += a * slopes[row, q] + b * curves[row, q]
        else:
            for p in range(n):
                a, b = slope_factors[row] * slopes[row, p], curve_factors[row] * curves[row, p]
                for q in range(p, n):
                    matrix[p, q] += a * slopes[row, q] + b * curves[row, q]
    for p in range(n):
        matrix[p, p] += diagonal[p]
        for q in range(p):
            matrix[p, q] = matrix[q, p]


@kernel
def factor_matrix(
    matrix: NDArray[np.float64], upper: NDArray[np.float64], scale: NDArray[np.float64]
) -> None:
    """Write U of U^T U = D M D + a ridge, D the diagonal matrix `scale` with which D M D has 1 on
    its diagonal (Cholesky). Where M is not positive definite by far, NaN comes out."""
    n = len(matrix)
    for p in range(n):
        scale[p] = 1.0 / math.sqrt(matrix[p, p])
    for p in range(n):
        for q in range(n):
            upper[p, q] = matrix[p, q] * scale[p] * scale[q]
        upper[p, p] += _RIDGE
    for k in range(n):
        pivot = 1.0 / math.sqrt(upper[k, k])
        for q in range(k, n):
            upper[k, q] *= pivot
        for p in range(k + 1, n):
            share = upper[k, p]
            if share != 0.0:
                for q in range(p, n):
                    upper[p, q] -= share * upper[k, q]


@kernel
def _substitute(upper: NDArray[np.float64], right: NDArray[np.float64]) -> None:
    """Solve U^T U x = right, in place."""
    n = len(upper)
    for k in range(n):
        right[k] /= upper[k, k]
        for q in range(k + 1, n):
            right[q] -= right[k] * upper[k, q]
    for k in range(n - 1, -1, -1):
        total = right[k]
        for q in range(k + 1, n):
            total -= upper[k, q] * right[q]
        right[k] = total / upper[k, k]


@kernel
def solve_factored(
    matrix: NDArray[np.float64],
    upper: NDArray[np.float64],
    scale: NDArray[np.float64],
    right: NDArray[np.float64],
    found: NDArray[np.float64],
    rest: NDArray[np.float64],
) -> None:
    """Write the x of M x = right, as `factor_matrix` has left it, refined twice; `rest` is room for N
    numbers."""
    n = len(matrix)
    for p in range(n):
        found[p] = 0.0
    for _ in range(3):
        for p in range(n):
            total = right[p]
            for q in range(n):
                total -= matrix[p, q] * found[q]
            rest[p] = scale[p] * total
        _substitute(upper, rest)
        for p in range(n):
            found[p] += scale[p] * rest[p]


#: The same for Python.
sum_of_squares, factor, solve = (
    exposed(add_squares),
    exposed(factor_matrix),
    exposed(solve_factored),
)
