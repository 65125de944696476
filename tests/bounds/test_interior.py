"""Interior-point methods on functions whose optimum is known."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from rai_sim.bounds import interior
from rai_sim.bounds.interior import Measured, least_weight

Floats = NDArray[np.float64]


def two_arms(w: Floats) -> Measured:
    """w_0 w_1 / (w_0 + w_1): least total 4, at (2, 2)."""
    a, b = w
    total = a + b
    slopes = np.array([[b * b, a * a]]) / total**2
    return Measured(
        np.array([a * b / total]), slopes, np.sqrt(2.0 / total**3) * np.array([[b, -a]])
    )


def two_lines(w: Floats) -> Measured:
    """w_0 + w_1 and w_0 + 2 w_2: least total 1, at (1, 0, 0)."""
    slopes = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 2.0]])
    return Measured(slopes @ w, slopes, np.zeros((2, 3)))


@pytest.mark.parametrize(
    ("measure", "start", "least", "at"),
    [
        (two_arms, [0.1, 7.0], 4.0, [2.0, 2.0]),
        (two_lines, [1.0, 5.0, 0.2], 1.0, [1.0, 0.0, 0.0]),
    ],
)
@pytest.mark.parametrize("slow", [False, True])
def test_the_optimum_is_found_and_certified(
    measure: interior.Measure,
    start: list[float],
    least: float,
    at: list[float],
    slow: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By the fast method, and by the slow one where the fast one gives up at once."""
    if slow:
        fast, calls = interior._primal_dual, list[int]()

        def lame(*given: object) -> None:
            calls.append(1)
            if len(calls) > 1:
                fast(*given)  # type: ignore[arg-type]

        monkeypatch.setattr(interior, "_primal_dual", lame)
    found = least_weight(measure, np.array(start), 1e-9)
    assert 1.0 / found.high <= least * (1.0 + 1e-12)
    assert 1.0 / found.low >= least * (1.0 - 1e-12)
    assert found.high / found.low < 1.0 + 1e-9
    assert np.allclose(found.weights / found.weights.sum(), np.array(at) / least, atol=1e-4)
    q = found.multipliers
    slopes = measure(found.beside).slopes
    assert found.high == pytest.approx((q @ slopes).max() / q.sum(), rel=1e-12)


def test_the_slow_way_arrives_on_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the fast one from its stages, which only look: to a few digits."""
    monkeypatch.setattr(
        interior, "_primal_dual", lambda measure, now, best: best.see(now.w, now.q, measure(now.w))
    )
    found = least_weight(two_arms, np.array([0.1, 7.0]), 1e-5)
    assert found.high / found.low < 1.0 + 1e-5
    assert found.low < 0.25 < found.high * (1.0 + 1e-12)
