"""A round robin with a width of one's own: Vanilla's numbers with Vanilla's width, and errors for
widths that jumps cannot rely on."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from own_rules import OwnMixture, PapersWidth, width_of
from scipy import stats

import rai_sim as rai

TABLE = rai.table_problem(2)


@pytest.mark.slow
def test_with_vanillas_width_it_is_vanilla() -> None:
    """On 40 recordings every number, and what a trace ends with at a cap; on fresh rewards the law: Kolmogorov-Smirnov at 1e-6. Negative
    control: without merging neither."""
    rng = np.random.default_rng(2)
    others = capped = 0
    for _ in range(40):
        means = np.sort(rng.uniform(0.05, 0.95, 5))[::-1]
        rewards = (rng.random((5, 3000)) < means[:, None]).astype(float)
        problem = rai.Problem(rai.Recorded(rewards, means), (1, 2, 2), (1, 0, 0))
        runs = []
        for rule in (PapersWidth(), rai.Vanilla(), PapersWidth(merging=False)):
            runs.append(
                rai.simulate(problem, rule, delta=0.3, replications=2, seed=4, max_pulls=2_900)
            )
        for name in ("pulls", "rounds", "finished", "representatives"):
            assert getattr(runs[0], name).tolist() == getattr(runs[1], name).tolist()
        others += runs[2].pulls.tolist() != runs[1].pulls.tolist()
        mine, other = (
            rai.trace(problem, rule, 0.3, 4, max_pulls=290, rounds=[10**6])
            for rule in (PapersWidth(), rai.Vanilla())
        )
        assert mine.rounds.tolist() == other.rounds.tolist() == mine.result.rounds.tolist()
        assert np.array_equal(mine.means, other.means)
        capped += not mine.result.finished[0]
    assert others > 5
    assert capped > 5
    ours, theirs, wrong = (
        rai.simulate(TABLE, rule, replications=3_000, seed=seed).pulls
        for seed, rule in enumerate((PapersWidth(), rai.Vanilla(), OwnMixture()))
    )
    assert stats.ks_2samp(ours, theirs).pvalue > 1e-6
    assert stats.ks_2samp(wrong, theirs).pvalue < 1e-6


@pytest.mark.slow
def test_with_the_mixtures_width_it_is_the_mixture() -> None:
    """By law, of two arms far into the jumps; its radius is half of W over R."""
    problem = rai.best_arm(rai.Bernoulli([0.505, 0.495]))
    ours, theirs = (
        rai.simulate(problem, rule, replications=2_000, seed=seed).pulls
        for seed, rule in enumerate((OwnMixture(), rai.Vanilla(width="mixture")))
    )
    assert stats.ks_2samp(ours, theirs).pvalue > 1e-6
    rounds, pulls = np.array([[1], [50]]), np.ones((2, 10), np.int64)
    assert OwnMixture().radius(rounds, pulls, TABLE, 0.01) == pytest.approx(
        rai.Vanilla(width="mixture").radius(rounds, pulls, TABLE, 0.01)
    )


@pytest.mark.slow
def test_options_are_told() -> None:
    """A mixture tuned otherwise takes other numbers of pulls."""
    assert OwnMixture().label == "OwnMixture(merging=True, tuned=30.0)"
    pulls = [
        rai.simulate(TABLE, OwnMixture(tuned=tuned), replications=300, seed=1).pulls.mean()
        for tuned in (30.0, 1e7)
    ]
    assert pulls[1] > 1.3 * pulls[0]


@pytest.mark.parametrize(
    ("function", "flaw"),
    [
        (lambda R: R - 5.0, "is not a positive number at round 1, where it is -4"),
        (lambda R: 10.0 / R, "falls at round 1"),
        (lambda R: R**1.5, "is not concave at round 1"),
        (
            lambda R: 3.0 * math.sqrt(R) if R < 1000.0 else 6.0 * math.sqrt(R),
            "is not concave at round",
        ),
        (lambda R: R - 0.5, "divided by R grows at round 1"),
        (lambda R: math.nan, "is not a positive number at round 1, where it is nan"),
        (lambda R: R / (R - R), "is not a positive number at round 1, where it is inf"),
    ],
)
def test_widths_that_jumps_cannot_rely_on(function: Callable[[float], float], flaw: str) -> None:
    """Refused before anything runs, with the round; in studies too."""
    with pytest.raises(ValueError, match=f"the width of Given.* {flaw}"):
        rai.simulate(TABLE, width_of(function), replications=1, seed=1)
    with pytest.raises(ValueError, match=flaw):
        rai.Study.grid({"t": TABLE}, [width_of(function)], [0.1], replications=1)


def test_what_numba_does_not_know() -> None:
    """Said with the function's name."""

    class Worded(rai.OwnRoundRobin, known=False):
        @staticmethod
        def width(R: float, n_arms: int, delta: float, pairs: int) -> float:
            return float(str(R)) ** 0.5 if sorted({}) == [] else 1.0

    with pytest.raises(ValueError, match=r"Worded.width cannot be compiled"):
        rai.simulate(TABLE, Worded(), replications=1, seed=1)


@pytest.mark.landing
def test_what_a_width_gives_back() -> None:
    """An integer is a number; nothing is none, and is told of as such."""

    class Three(rai.OwnRoundRobin, known=False):
        @staticmethod
        def width(R: float, n_arms: int, delta: float, pairs: int) -> float:
            return 3

    class Forgetful(rai.OwnRoundRobin, known=False):
        @staticmethod
        def width(R: float, n_arms: int, delta: float, pairs: int) -> Any:
            math.sqrt(R)

    Three().check_problem(TABLE, 0.1)
    assert Three().radius(np.array([6]), np.array([6]), TABLE, 0.1).tolist() == [0.25]
    with pytest.raises(ValueError, match=r"Forgetful.width returned nothing; return W\(R\)"):
        Forgetful().check_problem(TABLE, 0.1)


def test_whole_numbers_that_overflow() -> None:
    """Compiled code is looked at, not Python, whose whole numbers have no end."""

    class Cubed(rai.OwnRoundRobin, known=False):
        @staticmethod
        def width(R: float, n_arms: int, delta: float, pairs: int) -> float:
            return math.sqrt(R * math.log(10.0 + R * pairs**4))

    Cubed().check_problem(TABLE, 0.1)
    many = rai.Problem(rai.Bernoulli(np.linspace(0.9, 0.1, 1200)), (600, 600), (600, 0))
    with pytest.raises(
        ValueError, match=r"when it is compiled, but .* in Python.*take float\(pairs"
    ):
        Cubed().check_problem(many, 0.1)


def test_options_that_are_told_anyway() -> None:
    """A name cannot be told twice."""

    class Twice(rai.OwnRoundRobin, known=False):
        pairs: float = 1.0

        @staticmethod
        def width(R: float, n_arms: int, delta: float, pairs: int, more: float) -> float:
            return math.sqrt(R)

    with pytest.raises(TypeError, match="Twice: pairs is told to width anyway"):
        Twice()
