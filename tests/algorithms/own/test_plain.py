"""A rule run by Python: the numbers of the compiled one."""

from typing import Any

import naive_recommend
import numpy as np
import pytest
from own_rules import Bell, EachOften, Elimination, Wander
from replay import Instance, opening_order

import rai_sim as rai
from rai_sim.engine.blocks import new_block
from rai_sim.simulation.experiment import Experiment
from rai_sim.simulation.workers import run_into

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
            marks=[pytest.mark.slow] if at != of else [pytest.mark.landing] if at else [],
        )
        for of, rule in enumerate((EachOften(9), Elimination(0.3), Wander(25)))
        for at, arms in enumerate(LAWS)
    ],
)
def test_numbers_are_the_same(rule: Any, arms: rai.Bernoulli) -> None:
    """Five replications: pulls, rounds, outputs, correct, capped ones too, with what they recommend."""
    problem = rai.best_arm(arms)
    for cap in (None, 37):
        ours, theirs = (
            rai.simulate(problem, one, delta=0.1, replications=5, seed=8, max_pulls=cap)
            for one in (rule, rule.in_python())
        )
        names = ("pulls", "rounds", "finished", "correct", "representatives", "recommended")
        for name in names:
            assert getattr(ours, name).tolist() == getattr(theirs, name).tolist()


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_means_are_recommended(compiled: bool) -> None:
    """Of arms that were pulled unequally often, or not at all, at ten caps of each of 20 runs: as the
    literal rule has it, the caps together and one alone. Sums in the place of means would be seen."""
    rng = np.random.default_rng(4)
    rewards, means = rng.random((5, 60)), np.array([0.9, 0.8, 0.5, 0.3, 0.1])
    problem = rai.Problem(rai.Recorded(rewards, means), (2, 2, 1), (1, 1, 0), strict=False)
    rule, caps, by_sums = Wander(40) if compiled else Wander(40).in_python(), range(1, 41, 4), 0
    blocks = []
    for some in ([*caps, 400], [21]):
        experiment = Experiment(problem, rule, 0.1, 6, 1e-12, some[-1])
        blocks.append(new_block(20, 2, arms_with_pulls=5, budgets=some))
        run_into(experiment, 0, blocks[-1])
    together, alone = blocks
    assert together.finished.all()
    assert np.array_equal(together.arm_pulls.sum(axis=1), together.pulls)
    assert np.array_equal(alone.recommended[:, 0], together.recommended[:, caps.index(21)])
    for k, cap in enumerate(caps):
        capped = rai.simulate(
            problem, rule, delta=0.1, replications=20, seed=6, max_pulls=cap, keep="arm_pulls"
        )
        assert ((cap - 1 <= capped.pulls) & (capped.pulls <= cap)).all()  # a step pulls one or two
        for b in range(20):
            instance = Instance(rewards, means, (2, 2, 1), (1, 1, 0), 0.1, cap, 1.0, 6, b)
            place = np.argsort(opening_order(instance))
            taken = capped.arm_pulls[b]  # type: ignore[index]
            sums = np.array([row[:t].sum() for row, t in zip(rewards, taken, strict=True)])
            told = []
            for key in (np.where(taken > 0, sums / np.maximum(taken, 1), -1e9), sums):
                ranked = np.lexsort((place, -key)).tolist()
                parts = [ranked[:2], ranked[2:4], ranked[4:]]
                told.append(naive_recommend.recommend(parts, ((), (), ()), (1, 1, 0), key))  # type: ignore[arg-type]
            assert tuple(together.recommended[b, k].tolist()) == told[0]
            by_sums += told[1] != told[0]
    assert by_sums > 20


@pytest.mark.slow
def test_it_is_the_same_experiment() -> None:
    """Results may be put together; a trace tells the same, to the end, be it a cap."""
    rule = Elimination(0.3)
    assert repr(rule) == repr(rule.in_python())
    problem = rai.best_arm(LAWS[0])
    whole = int(rai.trace(problem, rule, 0.1, seed=1).result.pulls[0])
    for cap in (None, whole - 1):
        ours, theirs = (
            rai.trace(problem, one, 0.1, seed=1, max_pulls=cap, rounds=[1, 10**6])
            for one in (rule, rule.in_python())
        )
        assert ours.rounds.tolist() == theirs.rounds.tolist() == [1, ours.result.rounds[0]]
        assert ours.result.finished[0] == (cap is None)
        assert np.array_equal(ours.means, theirs.means, equal_nan=True)
        assert ours.arm_pulls.tolist() == theirs.arm_pulls.tolist()
        assert ours.arm_pulls[-1].sum() == ours.result.pulls[0]
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
