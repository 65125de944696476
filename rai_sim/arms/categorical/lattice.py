"""Values that are integers but for an origin and a unit."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

#: Denominators of values, and steps of a lattice, that count as short.
_LARGEST_DENOMINATOR, _LONGEST = 10_000, 1_000_000


def lattice_of(values: NDArray[np.float64]) -> tuple[float, float, NDArray[np.float64]]:
    """Return origin, unit and integer steps with values = origin + unit * steps, or (0, 1, values)
    if there is no short lattice.

    A value counts as the fraction of denominator up to 10,000 that it is within rounding: 0.1 is
    one tenth, and so is 1.1 - 1.
    """
    from fractions import Fraction  # here: few programs need it

    fractions = [Fraction(v).limit_denominator(_LARGEST_DENOMINATOR) for v in values.tolist()]
    if len(set(fractions)) < len(fractions):  # values closer than rounding stay apart
        return 0.0, 1.0, values.copy()
    if any(
        abs(float(f) - v) > 1e-14 * max(1.0, abs(v))
        for f, v in zip(fractions, values.tolist(), strict=True)
    ):
        return 0.0, 1.0, values.copy()
    origin = min(fractions)
    denominator = math.lcm(*(f.denominator for f in fractions))
    numerators = [int((f - origin) * denominator) for f in fractions]
    common = math.gcd(*numerators) or 1
    steps = [numerator // common for numerator in numerators]
    if max(steps) > _LONGEST:
        return 0.0, 1.0, values.copy()
    return float(origin), float(Fraction(common, denominator)), np.array(steps, dtype=np.float64)
