"""What it costs to make a named arm wrong that may be any of several: alternatives of
`rai_sim.engine.best_response` whose named arm is not known yet (see `rai_sim.bounds.policies`).

Columns are weights v_c >= 0 on means x_c. A row moves some of its columns, "own", whose means are on
the right side of theta, to theta from there, and some, "other", from the wrong side:

    h(v) = min over theta of the sum over own of v_c d(x_c, theta) [x_c right of theta]
           + the sum over others of v_c d(x_c, theta) [x_c left of theta],

right and left as for a move "down": right is better. The derivative in theta of all terms is
v_c (theta - x_c) / V(theta), so theta is the weighted mean of the columns that are moved.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.best_response import GAUSSIAN, divergence
from rai_sim.engine.jit import driver, kernel

#: What a row does with a column.
OWN, OTHER = 1, 2
#: Steps towards a meeting point, of which the later ones halve.
_MOST_STEPS, _NEWTON_STEPS = 80, 12


@kernel
def _meeting(
    v: NDArray[np.float64], below: NDArray[np.float64], kinds: NDArray[np.uint8], e: float
) -> float:
    """Return the distance at which a row's columns meet most cheaply, sought from e on.

    The sum of v (e - below) over moved columns grows with e and is piecewise linear: Newton's
    method, kept between two ends.
    """
    low, high = np.inf, -np.inf
    for c in range(len(v)):
        if kinds[c] != 0:
            low, high = min(low, below[c]), max(high, below[c])
    e = min(max(e, low), high)
    for step in range(_MOST_STEPS):
        weight, total = 0.0, 0.0
        for c in range(len(v)):
            if (kinds[c] == OWN and below[c] < e) or (kinds[c] == OTHER and below[c] > e):
                weight += v[c]
                total += v[c] * below[c]
        found = total / weight if weight > 0.0 else e
        if found == e:
            break
        if found > e:
            low = e
        else:
            high = e
        inside = low < found < high and step < _NEWTON_STEPS
        after = found if inside else 0.5 * (low + high)
        if not low < after < high:
            break
        e = after
    return e


@driver
def measure_policies(
    family: int,
    v: NDArray[np.float64],
    x: NDArray[np.float64],
    kinds: NDArray[np.uint8],
    origins: NDArray[np.int64],
    signs: NDArray[np.float64],
    distances: NDArray[np.float64],
    values: NDArray[np.float64],
    slopes: NDArray[np.float64],
    curves: NDArray[np.float64],
    below: NDArray[np.float64],
) -> None:
    """Write what rows cost, and how that depends on the weights.

    Parameters
    ----------
    family : int
        GAUSSIAN or BERNOULLI of `best_response`.
    v, x : (D,) float64
        Weights and means of the columns.
    kinds : (R, D) uint8
        OWN, OTHER or 0.
    origins : (R,) int64
        A column of each row, from whose mean its distances are told.
    signs : (R,) float64
        1 down, -1 up.
    distances : (R,) float64
        Where each row's columns meet; on entry where to look first.
    values : (R,) float64
        Written: nats.
    slopes, curves : (R, D) float64
        Written: the gradients, d(x, theta) of the columns that are moved, and the vectors whose
        squares are minus the second derivatives.
    below : (D,) float64
        Room.
    """
    for row in range(len(kinds)):
        sign, origin = signs[row], x[origins[row]]
        for c in range(len(v)):
            below[c] = sign * (origin - x[c])
            slopes[row, c] = curves[row, c] = 0.0
        e = _meeting(v, below, kinds[row], distances[row])
        theta, moved, total = origin - sign * e, 0.0, 0.0
        for c in range(len(v)):
            further = below[c] - e
            if (kinds[row, c] == OWN and further < 0.0) or (
                kinds[row, c] == OTHER and further > 0.0
            ):
                moved += v[c]
                slopes[row, c] = divergence(family, x[c], sign * further)
                curves[row, c] = sign * further
                total += v[c] * slopes[row, c] if v[c] > 0.0 else 0.0
        variance = 0.25 if family == GAUSSIAN else theta * (1.0 - theta)
        scale = math.sqrt(variance * moved)
        for c in range(len(v)):
            curves[row, c] = curves[row, c] / scale if scale > 0.0 else 0.0
        distances[row], values[row] = e, total


@driver
def divergences(
    family: int, x: NDArray[np.float64], thetas: NDArray[np.float64], nats: NDArray[np.float64]
) -> None:
    """Write d(x_p, theta) for all thetas and arms, (G, N)."""
    for i in range(len(thetas)):
        for p in range(len(x)):
            nats[i, p] = divergence(family, x[p], thetas[i] - x[p])
