"""Bounds against closed forms, a twin in exact fractions, and runs of the literal algorithms."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest
from naive import bernoulli as draw
from naive import butterscotch as run_butterscotch
from naive import vanilla as run_vanilla
from unchecked import unchecked

from rai_sim import Bernoulli, Gaussian, bounds
from rai_sim.problem import Problem, best_arm, coarse_ranking, full_ranking, table_problem

Bound = Callable[[Problem, float], float]
ALL: list[Bound] = [bounds.lower, bounds.vanilla, bounds.butterscotch]


def test_one_arm() -> None:
    """N = 1: nothing to tell apart; one pull, or one round of 128 ln(pi^2 / 0.03) = 741.89
    pulls."""
    problem = best_arm(Bernoulli([0.5]))
    assert bounds.lower(problem, 0.01) == 0.0
    assert bounds.vanilla(problem, 0.01) == 1.0
    assert bounds.butterscotch(problem, 0.01) == pytest.approx(741.890, abs=1e-3)


def test_one_cluster() -> None:
    """m = 1: infinite gaps, so each of three arms contributes the limit; 384 ln(pi^2 / 0.1) =
    1763.345."""
    problem = coarse_ranking(Bernoulli([0.5, 0.5, 0.25]), (3,))
    assert bounds.lower(problem, 0.1) == 0.0
    assert bounds.vanilla(problem, 0.1) == 3.0
    assert bounds.butterscotch(problem, 0.1) == pytest.approx(1763.345, abs=0.001)


def test_two_arms_half_apart() -> None:
    """g = 1/2, N = 2, delta = 0.1.

    ln(10) / (2/4) = 4.6052. 2 (104 ln(64 pi sqrt(2/0.3)) + 1) = 2 (104 x 6.25219 + 1) = 1302.455.
    2 x 128 ln(2 pi^2 / 0.3) = 256 x 4.18658 = 1071.764.
    """
    problem = best_arm(Bernoulli([0.25, 0.75]))
    assert bounds.lower(problem, 0.1) == pytest.approx(4.60517, abs=1e-5)
    assert bounds.vanilla(problem, 0.1) == pytest.approx(1302.455, abs=0.005)
    assert bounds.butterscotch(problem, 0.1) == pytest.approx(1071.764, abs=0.005)


@pytest.mark.parametrize(
    ("gap", "rounds"),
    [
        (0.25, 1),
        (math.nextafter(0.5, 0), 1),
        (0.3, 1),
        (math.nextafter(0.25, 0), 2),
        (0.125, 2),
        (math.nextafter(0.125, 0), 3),
        (2.0**-20, 19),
        (0.75 * 2.0**-20, 20),
        (2.0**-100, 99),
    ],
)
def test_the_rounds_of_theorem_3_step_exactly_at_powers_of_two(gap: float, rounds: int) -> None:
    """Two arms g < 1/2 apart: 2 x 32/g^2 ln(2 pi^2 / 0.3 R^2), R = ceil(log2(1 / (2 g)))."""
    expected = 64 / gap**2 * math.log(2 * math.pi**2 / 0.3 * rounds**2)
    assert bounds.butterscotch(best_arm(Gaussian([gap, 0.0])), 0.1) == pytest.approx(
        expected, rel=1e-12
    )


@pytest.mark.parametrize("gap", [0.5, 0.75, 1.0, 8.0, 1e200])
def test_theorem_3_never_falls_below_one_round(gap: float) -> None:
    """For g >= 1/2 the bound is the second term, 128 ln(2 pi^2 / 0.3) an arm, also where ln(R^2) >
    0."""
    expected = 256 * math.log(2 * math.pi**2 / 0.3)
    # 1e200 is more than a law accepts
    arms = unchecked(Gaussian([1.0, 0.0]), means=np.array([gap, 0.0]))
    assert bounds.butterscotch(best_arm(arms), 0.1) == pytest.approx(expected, rel=1e-12)


def test_theorem_2_never_falls_below_one_pull_an_arm() -> None:
    """At g = 100 the printed logarithm is ln(129.8 / 1e4) < 0 and the printed sum 1.98 < N = 2."""
    problem = best_arm(Gaussian([100.0, 0.0]))
    assert 26e-4 * math.log(16 * math.pi * math.sqrt(2 / 0.3) / 1e4) + 1 < 1
    assert bounds.vanilla(problem, 0.1) == 2.0


def twin(
    means: Sequence[Fraction], clusters: Sequence[int], required: Sequence[int], delta: float
) -> list[float]:
    """Return the three bounds, arm by arm, for means in falling order, with gaps as fractions."""
    n, starts = len(means), [sum(clusters[:i]) for i in range(len(clusters) + 1)]
    gaps: list[list[Fraction | float]] = []
    for begin, end in pairwise(starts):
        sides = [[means[begin - 1] - mu] if begin else [] for mu in means[begin:end]]
        gaps.append(
            [
                min([*side, *([mu - means[end]] if end < n else [])], default=math.inf)
                for side, mu in zip(sides, means[begin:end], strict=True)
            ]
        )
    bottleneck = min(
        sorted(g, reverse=True)[r - 1] for g, r in zip(gaps, required, strict=True) if r
    )
    log = math.log(n * math.pi**2 / (3 * delta))
    theorem_2 = theorem_3 = 0.0
    for gap in (max(g, bottleneck) for cluster in gaps for g in cluster):
        rounds = 0
        while gap < Fraction(1, 2 ** (rounds + 1)):
            rounds += 1
        square = float(gap) ** 2
        theorem_2 += 26 / square * math.log(16 * math.pi * math.sqrt(n / (3 * delta)) / square) + 1
        first = 32 / square * math.log(n * math.pi**2 / (3 * delta) * rounds**2) if rounds else 0.0
        theorem_3 += max(first, 128 * log)
    return [math.log(1 / delta) / (2 * float(bottleneck) ** 2), theorem_2, theorem_3]


@pytest.mark.parametrize(
    ("instance", "task", "expected"),
    [
        ("mirrored", 1, (36.841, 39923, 41465)),
        ("mirrored", 2, (921.034, 324487, 343221)),
        ("mirrored", 3, (57.565, 59540, 68291)),
        ("mirrored", 4, (921.034, 324487, 343221)),
        ("mirrored", 5, (57.565, 59540, 68291)),
        ("printed", 1, (39.975, 43687, 52694)),
        ("printed", 2, (1439.116, 643179, 662778)),
        ("printed", 3, (102.337, 98341, 109791)),
        ("printed", 4, (1439.116, 643179, 662778)),
        ("printed", 5, (57.565, 63116, 73561)),
    ],
)
def test_table_instances(instance: str, task: int, expected: tuple[float, float, float]) -> None:
    """The paper's ten arms at delta = 0.01 agree with the twin, whose gaps are exact."""
    problem = table_problem(task, instance)
    found = [bound(problem, 0.01) for bound in ALL]
    means = [Fraction(round(100 * x), 100) for x in problem.arms.means]
    exact = twin(means, (3, 5, 2), problem.required, 0.01)
    assert found == pytest.approx(exact, rel=1e-9)
    assert found == pytest.approx(expected, abs=0.5, rel=1e-5)
    assert {type(x) for x in found} == {float}


def test_the_order_of_the_arms_does_not_matter() -> None:
    """Permuted arms give the same bounds up to rounding of the sums."""
    means = [0.9, 0.7, 0.65, 0.4, 0.1]
    shuffled = [means[i] for i in (3, 0, 4, 2, 1)]
    for bound in ALL:
        values = [
            bound(Problem(Bernoulli(m), (1, 2, 2), (1, 1, 0)), 0.05) for m in (means, shuffled)
        ]
        assert values[0] == pytest.approx(values[1], rel=1e-14)


def test_extremes_overflow_to_infinity_without_a_warning() -> None:
    """The least positive delta is finite work, the least positive gap is not."""
    tiny = 5e-324
    problem = table_problem()
    # ln of the least double is -744.44.
    assert bounds.lower(problem, tiny) == pytest.approx(744.44 / (2 * 0.25**2), rel=1e-5)
    theorem_3 = 10 * 32 / 0.25**2 * (math.log(10 * math.pi**2 / 3) + 744.44)
    assert bounds.butterscotch(problem, tiny) == pytest.approx(theorem_3, rel=1e-5)
    assert bounds.vanilla(problem, tiny) < math.inf
    ends = unchecked(Gaussian([1.0, 0.0]), means=np.array([1e308, -1e308]))
    for bound in ALL:
        assert bound(best_arm(Gaussian([tiny, 0.0])), tiny) == math.inf
        assert 0.0 <= bound(full_ranking(ends), 0.1) < math.inf


def test_runs_stay_below_the_bounds() -> None:
    """Literal runs; each exceeds its bound with probability at most 1e-6: 50 runs, a false alarm
    below 5e-5.

    Butterscotch rounds t_R up, which is at most one pull an arm more.
    """
    means, clusters, required, delta = [0.95, 0.65, 0.6, 0.1], (1, 2, 1), (1, 1, 1), 1e-6
    problem = Problem(Bernoulli(means), clusters, required)
    for seed in range(25):
        pulls = [
            run(draw(means, Random(seed)), 4, clusters, required, delta, order=(0, 1, 2, 3)).pulls
            for run in (run_vanilla, run_butterscotch)
        ]
        assert 4 <= pulls[0] <= bounds.vanilla(problem, delta)
        assert 4 <= pulls[1] <= bounds.butterscotch(problem, delta) + 4


@pytest.mark.parametrize("bound", ALL)
def test_refusals(bound: Any) -> None:
    """A problem is a Problem; delta is checked by `check_delta`."""
    with pytest.raises(TypeError, match=r"problem is \[0.5\] of type list; build one: rai.Problem"):
        bound([0.5], 0.1)
    with pytest.raises(ValueError, match=r"delta is 1\.5; it must be .* between 0 and 1"):
        bound(table_problem(), 1.5)
    with pytest.raises(TypeError, match=r"delta is True; it must be .* between 0 and 1"):
        bound(table_problem(), True)


@pytest.mark.parametrize(
    "bound", [*ALL, lambda p, d: bounds.at_delta(p, d).pulls, bounds.practical]
)
def test_arms_for_which_no_bound_holds_are_warned_of(bound: Bound) -> None:
    """Gaussian arms of too large a deviation; not those whose sigma says so, nor a family that is
    asked for by name."""
    loud = best_arm(Gaussian([3.0, 1.0], sd=2.0), strict=False)
    with pytest.warns(
        UserWarning, match=r"no bound holds for these arms: sd is 2.0.* 1/2-sub-Gauss"
    ):
        assert bound(loud, 0.1) > 0.0
    assert bound(best_arm(Gaussian([3.0, 1.0], sd=2.0, sigma=2.0)), 0.1) > 0.0
    assert bounds.at_delta(loud, 0.1, "gaussian").pulls > 0.0
