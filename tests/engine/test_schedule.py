"""Schedules against the paper's formulas, and what skipped rounds may rely on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from rai_sim.algorithms.butterscotch import paper as butterscotch
from rai_sim.algorithms.vanilla.widths import paper
from rai_sim.engine import schedule as schedules
from rai_sim.engine.jit import driver

N, DELTA = 10, 0.01
BUTTERSCOTCH = butterscotch(N, DELTA)
SCALE = math.pi**2 * N / (3 * DELTA)


@driver
def facts(schedule: Any, R: float) -> tuple[bool, float, float]:
    """Return what kernels are told of a round."""
    return (
        schedules.every_round(schedule),
        schedules.pulls_after(schedule, R),
        schedules.threshold(schedule, R),
    )


def widths(schedule: Any, rounds: int) -> Any:
    """Return W of the first rounds."""
    return np.array([facts(schedule, float(R))[2] for R in range(1, rounds + 1)])


@pytest.mark.parametrize("R", [1, 2, 3, 10, 20])
def test_pulls_and_widths_are_the_papers(R: int) -> None:
    """t_R and w_R, which is R after R rounds or halved every round; W(R) = t_R w_R."""
    logarithm = math.log(math.pi**2 * R**2 * N / (3 * DELTA))
    w = 2 * math.sqrt(logarithm / (2 * R))
    every, pulls, width = facts(paper(SCALE), float(R))
    assert (every, pulls) == (True, R)
    assert width == pytest.approx(R * w, rel=1e-14)
    t = math.ceil(2 ** (2 * R + 5) * logarithm)
    every, pulls, width = facts(BUTTERSCOTCH, float(R))
    assert (every, pulls) == (False, t)
    assert width == pytest.approx(t * 2.0 ** -(R + 2), rel=1e-14)


def test_the_first_round_of_butterscotch() -> None:
    """The paper's own figure: 1037 pulls an arm, N = 10 and delta = 0.01."""
    assert facts(BUTTERSCOTCH, 1.0)[1] == 1037


def test_widths_grow_and_are_concave_where_rounds_are_skipped() -> None:
    """Negative control: Butterscotch's grow faster and faster, and it skips no rounds."""
    for scale in (2 * math.pi**2 / 3, SCALE, 1e9):
        W = widths(paper(scale), 2000)
        assert (np.diff(W) > 0).all()
        assert (np.diff(W, 2) < 0).all()
    W = widths(BUTTERSCOTCH, 20)
    assert (np.diff(W) > 0).all()
    assert (np.diff(W, 2) > 0).all()


@pytest.mark.parametrize(
    "name", ["every_round", "pulls_after", "threshold", "threshold_after", "shift", "leaps"]
)
def test_python_alone_cannot_call_operations(name: str) -> None:
    """Each refuses, and says by what it can be called."""
    arguments = {"every_round": 0, "threshold_after": 3, "shift": 0, "leaps": 0}.get(name, 1) * (
        1.0,
    )
    with pytest.raises(TypeError, match=rf"^{name} was given VanillaSchedule, .*from a kernel$"):
        getattr(schedules, name)(paper(SCALE), *arguments)
