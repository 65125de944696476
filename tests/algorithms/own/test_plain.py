"""A rule run by Python: the numbers of the compiled one."""

from typing import Any

import numpy as np
import pytest
from own_rules import Bell, EachOften, Elimination, Wander

import rai_sim as rai

LAWS = [
    rai.Bernoulli([0.9, 0.5, 0.2, 0.1]),
    rai.Gaussian([0.9, 0.5, 0.2, 0.1], sd=0.3),
    rai.Categorical(
        [0.5, 0.75, 1.0], [[0.1, 0.1, 0.8], [0.4, 0.5, 0.1], [0.8, 0.1, 0.1], [0.9, 0.1, 0]]
    ),
    Bell([0.9, 0.5, 0.2, 0.1]),
]


@pytest.mark.parametrize(
    ("rule", "arms"),
    [
        pytest.param(
            rule,
            arms,
            id=f"{rule}-{type(arms).__name__}",
            marks=[] if at == of else [pytest.mark.slow],
        )
        for of, rule in enumerate((EachOften(9), Elimination(0.3), Wander(25)))
        for at, arms in enumerate(LAWS)
    ],
)
def test_numbers_are_the_same(rule: Any, arms: rai.Bernoulli) -> None:
    """Five replications: pulls, rounds, outputs, correct, capped ones too."""
    problem = rai.best_arm(arms)
    for cap in (None, 37):
        ours, theirs = (
            rai.simulate(problem, one, delta=0.1, replications=5, seed=8, max_pulls=cap)
            for one in (rule, rule.in_python())
        )
        for name in ("pulls", "rounds", "finished", "correct", "representatives"):
            assert getattr(ours, name).tolist() == getattr(theirs, name).tolist()


@pytest.mark.slow
def test_it_is_the_same_experiment() -> None:
    """Results may be put together; a trace tells the same."""
    rule = Elimination(0.3)
    assert repr(rule) == repr(rule.in_python())
    problem = rai.best_arm(LAWS[0])
    ours, theirs = (rai.trace(problem, one, 0.1, seed=1) for one in (rule, rule.in_python()))
    assert ours.rounds.tolist() == theirs.rounds.tolist()
    assert np.array_equal(ours.means, theirs.means, equal_nan=True)
    assert ours.arm_pulls.tolist() == theirs.arm_pulls.tolist()
    assert [str(event) for event in ours.events] == [str(event) for event in theirs.events]


def test_python_runs_it() -> None:
    """Whatever it does besides: here it notes what it is told."""
    seen = []

    class Noting(rai.OwnRule, known=False):
        @staticmethod
        def step(task: Any, counts: Any, sums: Any, scratch: Any, arms: Any) -> int:
            seen.append((task.delta, counts.sum(), task.clusters.tolist()))
            arms[0] = 0
            return 0 if counts[0] == 3 else 1

    rai.simulate(rai.best_arm(LAWS[0]), Noting().in_python(), delta=0.2, replications=1, seed=1)
    assert seen == [(0.2, n, [1, 3]) for n in range(4)]


@pytest.mark.slow
def test_divisions_by_zero_give_what_they_do_compiled() -> None:
    """Infinite or no number, without a word: of arrays, of numbers that are told."""

    class Dividing(rai.OwnRule, known=False):
        options: float = 0.0
        scratch = 1

        @staticmethod
        def step(task: Any, counts: Any, sums: Any, scratch: Any, arms: Any) -> int:
            scratch[0] = sums[1] / counts[1] + task.n_arms / task.options + task.delta / counts[1]
            arms[0] = 0
            return 0 if counts[0] == (3 if scratch[0] != scratch[0] else 5) else 1

    problem = rai.best_arm(LAWS[0])
    for rule in (Dividing(), Dividing().in_python()):
        assert rai.simulate(problem, rule, replications=1, seed=1).pulls.tolist() == [3]
