"""Vanilla against the literal twin: on recordings every number, on fresh rewards the mean of
pulls."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from replay import (
    Instance,
    Run,
    different_stories,
    draw_instance,
    mismatches,
    opening_order,
    run_kernel,
    run_known,
    run_twin,
    standard_errors_apart,
    twin_pulls,
    vanilla_length,
)

from rai_sim import Bernoulli, Problem, Recorded, Vanilla, best_arm, full_ranking, simulate
from rai_sim.algorithms.vanilla.widths import paper
from rai_sim.engine import schedule as schedules
from rai_sim.engine.jit import driver

MERGING = [Vanilla(merging=True), Vanilla(merging=False)]


def instances(seed: int, count: int, gaps: tuple[float, float] = (0.25, 0.8)) -> list[Instance]:
    """Draw instances for Vanilla."""
    rng = np.random.default_rng(seed)
    return [draw_instance(rng, vanilla_length, gaps) for _ in range(count)]


@pytest.mark.parametrize("count", [100, pytest.param(500, marks=pytest.mark.slow)])
@pytest.mark.parametrize("algorithm", MERGING, ids=str)
def test_replay_with_sure_skips(algorithm: Vanilla, count: int) -> None:
    """skip_error = 0: whatever the recording, runs agree in every number."""
    drawn = instances(1 + algorithm.merging, count)
    assert mismatches(drawn, partial(run_kernel, algorithm), partial(run_twin, algorithm)) == []


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", MERGING, ids=str)
def test_replay_with_the_default_budget(algorithm: Vanilla) -> None:
    """Samples of known means, 500 runs each: one of the 1,000 differs with probability 1e-9 at
    most."""
    drawn = instances(3 + algorithm.merging, 500, (0.15, 0.7))
    assert mismatches(drawn, partial(run_known, algorithm), partial(run_twin, algorithm)) == []


@pytest.mark.slow
@pytest.mark.parametrize("skips", [run_kernel, run_known])
def test_replay_of_rewards_0_and_1_by_words(skips: Callable[..., Run]) -> None:
    """240 runs in which 64 rewards of an arm come as one word wherever Bernoulli arms would give
    it."""
    rng = np.random.default_rng(6)
    drawn = [
        draw_instance(rng, vanilla_length, (0.12, 0.5), kinds=("bernoulli",)) for _ in range(450)
    ]
    drawn = [instance for instance in drawn if instance.span == 1][:240]
    assert len(drawn) == 240
    for algorithm in MERGING:
        ours = partial(skips, algorithm, bits=True)
        assert mismatches(drawn[algorithm.merging :: 2], ours, partial(run_twin, algorithm)) == []


@pytest.mark.slow
def test_replay_of_many_arms_by_words() -> None:
    """Six runs of 100 arms, whose ranking is repaired by another routine."""
    rng = np.random.default_rng(9)
    drawn = []
    for number in range(6):
        means = np.concatenate(
            [rng.uniform(0.6, 0.9, 30), rng.uniform(0.3, 0.5, 40), rng.uniform(0.0, 0.2, 30)]
        )
        order = rng.permutation(100)
        rewards = (rng.random((100, 3000)) < means[order, None]).astype(np.float64)
        required = (30, 0, 0) if number % 4 < 2 else (0, 7, 1)
        drawn.append(
            Instance(rewards, means[order], (30, 40, 30), required, 0.1, None, 1.0, number, number)
        )
    for algorithm in MERGING:
        assert (
            mismatches(
                drawn[algorithm.merging :: 2],
                partial(run_kernel, algorithm, bits=True),
                partial(run_twin, algorithm),
            )
            == []
        )


@pytest.mark.landing
def test_a_trace_tells_what_the_twin_sees() -> None:
    """Events with pulls, states of all arms: 60 recordings of each rule by sums, 40 by words, and
    states in the middle of words."""
    drawn = instances(31, 60)
    by_words = [
        draw_instance(
            np.random.default_rng(seed), vanilla_length, (0.12, 0.5), kinds=("bernoulli",)
        )
        for seed in range(100)
    ]
    by_words = [instance for instance in by_words if instance.span == 1][:40]
    assert len(by_words) == 40
    for algorithm in MERGING:
        for recordings, bits in ((drawn, False), (by_words, True)):
            wrong, states = different_stories(recordings, algorithm, bits)
            assert wrong == []
            assert states > 1000


@pytest.mark.boundscheck
def test_the_instances_cover_what_can_happen() -> None:
    """Of 200, at least 90 finish after 20 rounds or more, 10 are capped, 5 run out; N goes from 1
    to 12."""
    drawn = instances(1, 200)
    runs = [run_kernel(Vanilla(), instance) for instance in drawn]
    assert sum(run.finished and run.rounds > 20 for run in runs) >= 90
    assert sum(run.ran_out_at > 0 for run in runs) >= 5
    assert sum(not run.finished and not run.ran_out_at for run in runs) >= 10
    assert {instance.n_arms for instance in drawn} == set(range(1, 13))


@pytest.mark.landing
def test_wrong_twins_are_noticed() -> None:
    """The comparison sees a width 2 % off, the other merging, and ties broken the other way
    round."""
    drawn = instances(5, 100)
    ours = partial(run_kernel, Vanilla())
    assert mismatches(drawn, ours, partial(run_twin, Vanilla(), width=1 + 1e-15)) == []
    assert len(mismatches(drawn, ours, partial(run_twin, Vanilla(), width=1.02))) >= 40
    assert len(mismatches(drawn, ours, partial(run_twin, Vanilla(merging=False)))) >= 20
    assert (
        len(mismatches(drawn, ours, lambda i: run_twin(Vanilla(), i, order=opening_order(i)[::-1])))
        >= 5
    )


def test_two_constant_arms() -> None:
    """g = 1, N = 2: R > 2 ln(pi^2 R^2 2/0.3) is 20 > 20.36 and 21 > 20.55, so both arms take 21
    pulls."""
    result = simulate(
        best_arm(Recorded([[0] * 21, [1] * 21])), Vanilla(), delta=0.1, replications=5, seed=1
    )
    assert result.pulls.tolist() == [42] * 5
    assert result.rounds.tolist() == [21] * 5
    assert result.representatives.tolist() == [[1]] * 5


@pytest.mark.parametrize("gap", [0.3, 0.1, 0.05])
def test_pulls_of_two_arms_are_where_width_and_gap_meet(gap: float) -> None:
    """The mean of 2,000 runs lies within 3 % of 2 R, R = 2/g^2 ln(pi^2 R^2 N / (3 delta)).

    The standard error is below 0.7 %; the first passage of a line by a walk has a mean within 2 %
    of it here.
    """
    problem = best_arm(Bernoulli([0.5 - gap / 2, 0.5 + gap / 2]))
    result = simulate(problem, Vanilla(), delta=0.01, replications=2_000, seed=1)
    assert result.pulls.mean() == pytest.approx(2 * vanilla_length(gap, 2, 0.01), rel=0.03)
    assert result.correct.all()


CHEAP = [
    (Vanilla(), best_arm(Bernoulli([0.2, 0.9, 0.3]))),
    (Vanilla(), full_ranking(Bernoulli([0.05, 0.95, 0.5]))),
    (Vanilla(), Problem(Bernoulli([0.97, 0.6, 0.4, 0.03]), (1, 2, 1), (0, 1, 0))),
    (
        Vanilla(merging=False),
        Problem(Bernoulli([0.98, 0.9, 0.5, 0.45, 0.05]), (2, 2, 1), (1, 0, 1)),
    ),
]


@pytest.mark.slow
@pytest.mark.boundscheck
@pytest.mark.parametrize(("algorithm", "problem"), CHEAP)
def test_mean_pulls_agree_with_the_twin(algorithm: Vanilla, problem: Problem) -> None:
    """Within 4 standard errors; false alarms 6.4e-5 an instance, 6.4e-4 over the ten of all
    algorithms."""
    ours = simulate(problem, algorithm, delta=0.1, replications=20_000, seed=11).pulls
    assert standard_errors_apart(ours, twin_pulls(algorithm, problem, 0.1, 400, 11)) < 4


@pytest.mark.parametrize("value", ["yes", 1, None, np.True_, 0.0])
def test_merging_is_a_boolean(value: object) -> None:
    """Nothing else passes for one."""
    with pytest.raises(TypeError, match=r"Vanilla: merging must be True or False; got "):
        Vanilla(merging=value)  # type: ignore[arg-type]


def test_options() -> None:
    """Merging is on by default; options make the label and equality, and cannot be changed."""
    assert Vanilla() == Vanilla(merging=True) != Vanilla(merging=False)
    assert Vanilla(merging=False).label == "Vanilla(merging=False)"
    with pytest.raises(AttributeError):
        Vanilla().merging = False  # type: ignore[misc]


def test_widths_are_bounded_without_logarithms() -> None:
    """From W at an earlier round, up to twice as late: never above W, and within 1e-5 of it up to
    an eighth later."""
    for scale in (20.0, 3e3, 1e9):
        for R0 in (1.0, 30.0, 1e3, 1e6, 1e12):
            for share in (0.0, 1e-9, 1e-3, 0.05, 0.125, 0.5, 1.0):
                R = R0 * (1.0 + share)
                bound, W = widths(paper(scale), R0, R)
                assert bound <= W * (1.0 + 1e-14)
                assert share > 0.125 or bound >= W * (1.0 - 1e-5)


@driver
def widths(schedule: Any, R0: float, R: float) -> tuple[float, float]:
    """Return the bound and the width itself."""
    return schedules.threshold_after(
        schedule, R0, schedules.threshold(schedule, R0), R
    ), schedules.threshold(schedule, R)
