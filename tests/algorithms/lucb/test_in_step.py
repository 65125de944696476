"""LUCB in step: when all arms are pulled whatever happens, and a threshold that is never above the
rule's."""

import math
from itertools import product

import numpy as np
import pytest
from standings import Standing, Twin, draw, run_of

from rai_sim.algorithms.lucb import in_step
from rai_sim.algorithms.lucb.in_step import InStep
from rai_sim.algorithms.lucb.run import PICKS
from rai_sim.engine import schedule as schedules
from rai_sim.engine.jit import driver, exposed

all_in_step = exposed(in_step.all_in_step)
N, SCALE = 2, math.pi**2 * 2 / 0.3


@driver
def threshold(schedule: InStep, R: float) -> float:
    """Return what kernels compare differences of sums with."""
    return schedules.threshold(schedule, R)


def tasks() -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return places and wishes of up to four clusters of up to two places, at least two arms."""
    return [
        (places, wants)
        for places in product(range(3), repeat=4)
        for wants in product(*(range(c + 1) for c in places))
        if sum(places) > 1 and any(wants)
    ]


def pulls_less(standing: Standing) -> bool:
    """Whether the twin's next round settles nobody and leaves an arm out."""
    judged = Twin(standing).judge()
    return not judged.settled and len(judged.picks) < standing.taken.size


@pytest.mark.parametrize("as_printed", [False, True])
def test_who_is_in_step_pulls_all_arms(as_printed: bool) -> None:
    """In every round of the twin that settles nobody, of 20 with whatever bounds. Of the other
    tasks of clusters of one place each pulls less in some; as printed, of those without empty
    ones."""
    rng, in_step_found, others = np.random.default_rng(1 + as_printed), 0, 0
    for places, wants in tasks():
        equal = draw(rng, places, wants, pulls=(10, 10), as_printed=as_printed)
        claimed = all_in_step(run_of(equal))
        if claimed or (max(places) == 1 and not (as_printed and 0 in places)):
            tries = (
                draw(rng, places, wants, pulls=(1, 50), as_printed=as_printed)
                for _ in range(20 if claimed else 500)
            )
            assert any(map(pulls_less, tries)) is not claimed, (places, wants)
            in_step_found += claimed
            others += not claimed
    assert in_step_found > 20
    assert others > 1


def test_pulls_must_be_equal() -> None:
    """After the pulls of the round that was judged, and no count is changed by asking."""
    standing = Standing((1, 1), (1, 0), np.ones((2, 9)), np.array([5, 6]), 6)
    run = run_of(standing)
    assert not all_in_step(run)
    run.clock[PICKS], run.ranking.picks[0] = 1, 0
    assert run.ranking.order[0] == 0
    assert all_in_step(run)
    assert run.ranking.taken.tolist() == [5.0, 6.0]


def settles(high: float, low: float, t: int, R: int) -> bool:
    """Whether the definition's operations tell two arms with these sums apart."""
    radius = math.sqrt(math.log(SCALE * R * R * R) / (2.0 * t))
    return high / t - radius > low / t + radius


def sums_at(
    rng: np.random.Generator, middle: float, factor: float, of_means: float = in_step._OF_MEANS
) -> tuple[float, float, int, int]:
    """Return sums whose difference is the threshold times a factor, with pulls and round."""
    t = int(math.exp(rng.uniform(0.0, 14.0)))
    R = t + int(rng.integers(50))
    low = middle * t * rng.uniform(0.5, 1.0)
    W = threshold(InStep(SCALE, float(R - t), of_means * abs(low + 2.0 * t) / t), float(R))
    return low + factor * W, low, t, R


@pytest.mark.parametrize("middle", [0.0, 1.0, 1e10, -1e10])
def test_nobody_is_settled_up_to_the_threshold(middle: float) -> None:
    """20,000 pairs whose difference is the threshold are not told apart by the rule, however large
    their means. Negative controls: many of those a hundredth above it are, and large means without
    what their rounding takes off."""
    rng = np.random.default_rng(3)
    assert not any(settles(*sums_at(rng, middle, 1.0)) for _ in range(20_000))
    assert sum(settles(*sums_at(rng, middle, 1.01)) for _ in range(1_000)) > 900
    without = sum(settles(*sums_at(rng, middle, 1.0, 0.0)) for _ in range(1_000))
    assert (without > 100) is (abs(middle) > 1.0)


@pytest.mark.parametrize("behind", [0, 3, 1_000])
def test_the_threshold_is_that_of_the_radii(behind: int) -> None:
    """Below twice t times the radius by no more than a millionth; it increases and is concave."""
    rounds = np.arange(1 + behind, 3_000 + behind, dtype=np.float64)
    found = np.array([threshold(InStep(SCALE, behind, 0.0), R) for R in rounds])
    t = rounds - behind
    exact = 2.0 * t * np.sqrt(np.log(SCALE * rounds**3) / (2.0 * t))
    assert (found < exact).all()
    assert (found > exact * (1.0 - 1e-6)).all()
    assert (np.diff(found) > 0.0).all()
    assert (np.diff(found, 2) < 0.0).all()
