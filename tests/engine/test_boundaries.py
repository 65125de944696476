"""What boundaries have in common."""

import math

import numpy as np
import pytest
from scipy.special import zeta

from rai_sim.engine import boundaries
from rai_sim.engine.boundaries import tuned


def test_zeta() -> None:
    """The constant of stitching."""
    assert pytest.approx(zeta(1.4), rel=1e-15) == boundaries.ZETA


@pytest.mark.parametrize("alpha", [0.1, 1e-3, 1e-10])
def test_tuned_mixtures_are_nearly_the_narrowest_at_v0(alpha: float) -> None:
    """Of a thousand rho the best one's boundary at v0 is at most 2 % lower; a thirtieth
    of rho, or thirty times as much, is seen."""

    def u(rho: float) -> float:
        x = 1.0 + rho
        return math.sqrt(2.0 * x * math.log(math.sqrt(x / rho) / (2.0 * alpha) + 1.0))

    rho = tuned(-math.log(2.0 * alpha), 1.0)
    best = min(map(u, np.geomspace(1e-3, 1e2, 1000)))
    assert u(rho) <= 1.02 * best
    assert min(u(30.0 * rho), u(rho / 30.0)) > 1.02 * best
