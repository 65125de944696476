"""Vanilla's narrower widths: formulas, what certificates ask of them, replays, and error rates."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mutants import FLAT, STEEP, pathwise_findings_of_mutant
from pathwise import Misses, close_tasks, draw_tasks, misses, two_arms
from replay import (
    Instance,
    draw_instance,
    mismatches,
    run_kernel,
    run_known,
    run_twin,
    standard_errors_apart,
    twin_pulls,
    vanilla_length,
)
from scipy import stats
from scipy.special import zeta

import rai_sim as rai
from rai_sim import Vanilla
from rai_sim.algorithms.vanilla.widths import VanillaSchedule, schedule_of, widths_of
from rai_sim.engine import schedule as schedules
from rai_sim.engine.jit import driver

SHARP = [Vanilla(width="mixture"), Vanilla(merging=False, width="stitched")]
#: (pairs, delta, tuned rounds) of widths, the first usual, the last far out.
SETTINGS = [
    (9, 0.01, 30),
    (1, 0.1, 30),
    (1, 0.9, 1),
    (10**11, 1e-200, 30),
    (25, 1e-100, 1_000_000),
]


@driver
def known(schedule: Any, R0: float, R: float) -> tuple[float, float, float, float]:
    """Return W of two rounds, the bound of the later one, and the shift."""
    W0 = schedules.threshold(schedule, R0)
    return (
        W0,
        schedules.threshold(schedule, R),
        schedules.threshold_after(schedule, R0, W0, R),
        schedules.shift(schedule),
    )


def made(width: Any, setting: tuple[int, float, int]) -> VanillaSchedule:
    """Return a width's constants."""
    pairs, delta, tuned = setting
    return schedule_of(width, 10, pairs, delta, tuned)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("width", ["mixture", "stitched"])
def test_formulas(width: Any, setting: tuple[int, float, int]) -> None:
    """u(R / 2), written down by logarithms of alpha."""
    pairs, delta, tuned = setting
    log = math.log(pairs) - math.log(delta)
    for R in (1.0, 2.0, 10.0, 1e3, 1e6, 1e12):
        v = R / 2
        if width == "mixture":
            L = max(log - math.log(2), 0.5)
            rho = tuned / 2 / (2 * L + math.log(1 + 2 * L))
            # ln(x + 1), x = sqrt((v + rho) / rho) / (2 alpha)
            x = 0.5 * math.log((v + rho) / rho) + log - math.log(2)
            u = math.sqrt(2 * (v + rho) * np.logaddexp(x, 0.0))
        else:
            level = 1.4 * math.log(math.log(2 * R)) + log
            level += math.log(float(zeta(1.4))) - 1.4 * math.log(math.log(2))
            u = (2**0.25 + 2**-0.25) / math.sqrt(2) * math.sqrt(v * level)
        schedule = made(width, setting)
        assert known(schedule, 1.0, R)[1] == pytest.approx(u, rel=1e-13)
        assert widths_of(schedule, np.array([R]))[0] == pytest.approx(u, rel=1e-13)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("width", ["paper", "mixture", "stitched"])
def test_what_certificates_ask(width: Any, setting: tuple[int, float, int]) -> None:
    """W grows and is concave, on a fine grid from 1 to 1e13; W / sqrt(R + shift) does not fall; the
    bound without a logarithm lies below W, and near it for an eighth.

    Negative control: with a shift of 0 the mixture's quotient falls.
    """
    schedule = made(width, setting)
    R = np.unique(np.concatenate([np.arange(1.0, 400.0), np.geomspace(400.0, 1e13, 4_000)]))
    W = widths_of(schedule, R)
    slopes = np.diff(W) / np.diff(R)
    assert (slopes > 0).all()
    assert (np.diff(slopes) < 1e-9 * slopes[1:]).all()
    assert (np.diff(W / np.sqrt(R + schedule.shift)) > -1e-12).all()
    assert (np.diff(W / np.sqrt(R)) < -1e-9).any() == (width == "mixture")
    for R0 in (1.0, 5.0, 30.0, 1e3, 1e6, 1e12):
        for share in (0.0, 1e-9, 1e-3, 0.125, 0.5, 1.0):
            _, later, bound, _ = known(schedule, R0, R0 * (1.0 + share))
            assert bound <= later * (1.0 + 1e-14)
            assert share > 0.125 or bound >= later * (1.0 - 1e-5)


def instances(seed: int, count: int) -> list[Instance]:
    """Draw recordings that suffice for a width of about half the paper's."""
    rng = np.random.default_rng(seed)

    def length(gap: float, N: int, delta: float) -> float:
        return 0.3 * vanilla_length(gap, N, delta)

    return [draw_instance(rng, length, (0.15, 0.6)) for _ in range(count)]


@pytest.mark.parametrize("algorithm", SHARP, ids=str)
def test_replay(algorithm: Vanilla) -> None:
    """150 recordings by sure skips, 150 with the budget: every number is the twin's."""
    drawn = instances(11 + algorithm.merging, 300)
    twin = partial(run_twin, algorithm)
    assert mismatches(drawn[:150], partial(run_kernel, algorithm), twin) == []
    assert mismatches(drawn[150:], partial(run_known, algorithm), twin) == []


@pytest.mark.landing
def test_other_widths_are_noticed() -> None:
    """Negative controls: the paper's width, another tuning, a width 2 % off, other pairs."""
    drawn = instances(13, 100)
    ours = partial(run_kernel, Vanilla(width="mixture"))
    for wrong in (
        partial(run_twin, Vanilla()),
        partial(run_twin, Vanilla(width="stitched")),
        partial(run_twin, Vanilla(width="mixture", tuned_rounds=300)),
        partial(run_twin, Vanilla(width="mixture"), width=1.02),
        partial(run_twin, Vanilla(width="mixture", merging=False)),
    ):
        assert len(mismatches(drawn, ours, wrong)) >= 15


@pytest.mark.slow
@pytest.mark.parametrize("width", ["mixture", "stitched"])
def test_paths(width: Any) -> None:
    """Some 6,000 replications, up to millions of rounds, of two arms and more, on all kinds of
    rewards, with the default budget: all are the literal loop's."""
    tasks = [
        *draw_tasks(21, 12, ("words", "bits", "levels", "reals"), (2, 12), (0.05, 0.4)),
        *(
            two_arms(kind, middle, gap, 0.1)
            for kind, middle in (("words", 0.5), ("levels", 0.4), ("reals", 0.5))
            for gap in (0.005, 0.02, 0.1)
        ),
    ]
    for merging in (True, False):
        rule = Vanilla(merging=merging, width=width)
        for task in tasks:
            assert misses(rule, task, 7, 150).examples == ()
    for task in close_tasks(23, 3, (5, 8)):
        assert misses(Vanilla(width=width), task, 7, 2).examples == ()


@pytest.mark.parametrize(
    ("task", "width", "mean", "margin"),
    [
        (1, "mixture", 904, 6),
        (2, "mixture", 9_074, 84),
        (3, "mixture", 2_156, 10),
        (4, "mixture", 10_720, 90),
        (1, "stitched", 1_252, 8),
        (2, "stitched", 10_907, 90),
        (3, "stitched", 2_784, 12),
    ],
)
def test_pulls_on_the_table(task: int, width: Any, mean: float, margin: float) -> None:
    """Means of the mirrored instance with merging at delta 0.01, as a literal program measured them
    with that standard error: within 4.5 of both together."""
    pulls = rai.simulate(
        rai.table_problem(task), Vanilla(width=width), delta=0.01, replications=4_000, seed=3
    ).pulls
    error = math.hypot(margin, pulls.std() / math.sqrt(len(pulls)))
    assert abs(pulls.mean() - mean) < 4.5 * error


@pytest.mark.parametrize("algorithm", SHARP, ids=str)
def test_means_are_the_twins(algorithm: Vanilla) -> None:
    """On fresh rewards, within 4 standard errors."""
    problem = rai.Problem(rai.Bernoulli([0.97, 0.6, 0.4, 0.03]), (1, 2, 1), (0, 1, 0))
    ours = rai.simulate(problem, algorithm, delta=0.1, replications=20_000, seed=11).pulls
    assert standard_errors_apart(ours, twin_pulls(algorithm, problem, 0.1, 400, 11)) < 4


@pytest.mark.slow
def test_wrong_pairs_are_as_rare_as_they_are_said_to_be() -> None:
    """Two equal arms, 50,000 rounds, delta 0.2, one-sided: u is crossed by 2,000 walks of Gaussian
    steps less often than that; 99.9 % bound. Negative control: two thirds of the width is not
    enough."""
    rng = np.random.default_rng(5)
    R = np.arange(1.0, 50_001.0)
    W = widths_of(schedule_of("mixture", 2, 1, 0.2, 30), R)
    crossed = narrow = 0
    for _ in range(2_000):
        walk = np.cumsum(rng.standard_normal(len(R)) * math.sqrt(0.5))
        crossed += bool((walk > W).any())
        narrow += bool((walk > 2.0 / 3.0 * W).any())
    assert stats.binomtest(crossed, 2_000, 0.2, "greater").pvalue > 1e-3
    assert crossed / 2_000 > 0.05  # nor is it far too wide
    assert stats.binomtest(narrow, 2_000, 0.2, "greater").pvalue < 1e-6


def test_radii_are_half_the_width() -> None:
    """For traces: of each width; theorems go with the paper's alone."""
    problem, rounds = rai.table_problem(3), np.array([[1], [100]])
    pulls = np.full((2, 10), 5)
    for algorithm in (Vanilla(), *SHARP):
        radius = algorithm.radius(rounds, pulls, problem, 0.01)
        assert radius.shape == (2, 10)
        # c = (3, 5, 2), something is asked of the first two
        schedule = schedule_of(algorithm.width, 10, 3 * 5 + 3 * 2 + 5 * 2, 0.01, 30)
        assert radius[1, 0] == widths_of(schedule, np.array([100.0]))[0] / 200.0
    assert Vanilla().theorem == ("vanilla", "Theorem 2")
    assert Vanilla(width="mixture").theorem is Vanilla(width="stitched").theorem is None


def test_options_that_do_not_go_together() -> None:
    """Each names what is wrong, and what to do."""
    with pytest.raises(ValueError, match=r"tuned_rounds is 5 but width is 'paper'.*leave it out"):
        Vanilla(tuned_rounds=5)
    with pytest.raises(ValueError, match=r"tuned_rounds is 0; give at least 1"):
        Vanilla(width="mixture", tuned_rounds=0)
    with pytest.raises(ValueError, match=r"width must be 'paper', 'mixture' or 'stitched'"):
        Vanilla(width="wide")  # type: ignore[arg-type]


def test_what_is_the_default_is_not_told() -> None:
    """So experiments are called what they were before there was a choice."""
    assert repr(Vanilla()) == "Vanilla(merging=True)"
    assert repr(replace(Vanilla(), width="mixture", tuned_rounds=9)) == (
        "Vanilla(merging=True, width='mixture', tuned_rounds=9)"
    )


@pytest.mark.slow
def test_a_flat_width_is_not_taken_for_a_steep_one(tmp_path: Path) -> None:
    """600 replications of two arms, most rounds jumped over; negative control: as if W grew as the
    root of the rounds."""
    assert sum((misses(*trial[:4]) for trial in FLAT), start=Misses(0, (), 0)) == Misses(600, (), 0)
    missed, _ = pathwise_findings_of_mutant(tmp_path, [STEEP], FLAT)
    assert sum(missed) >= 3
