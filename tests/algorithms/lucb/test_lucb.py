"""LUCB against the literal twin: on recordings every number, on fresh rewards the mean of pulls."""

import dataclasses
from functools import partial

import numpy as np
import pytest
from replay import (
    Instance,
    Run,
    different_stories,
    draw_instance,
    lucb_length,
    mismatches,
    opening_order,
    run_kernel,
    run_known,
    run_twin,
    standard_errors_apart,
    twin_pulls,
)

from rai_sim import (
    LUCB,
    Bernoulli,
    Problem,
    Recorded,
    best_arm,
    full_ranking,
    simulate,
    table_problem,
)

RULES = [LUCB(as_printed=False), LUCB(as_printed=True)]


def instances(seed: int, count: int, gaps: tuple[float, float] = (0.25, 0.8)) -> list[Instance]:
    """Draw instances for LUCB."""
    rng = np.random.default_rng(seed)
    return [draw_instance(rng, lucb_length, gaps) for _ in range(count)]


@pytest.mark.parametrize("count", [100, pytest.param(500, marks=pytest.mark.slow)])
@pytest.mark.parametrize("algorithm", RULES, ids=str)
def test_replay_with_sure_skips(algorithm: LUCB, count: int) -> None:
    """skip_error = 0: whatever the recording, runs agree in every number."""
    drawn = instances(1 + algorithm.as_printed, count)
    assert mismatches(drawn, partial(run_kernel, algorithm), partial(run_twin, algorithm)) == []


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", RULES, ids=str)
def test_replay_with_the_default_budget(algorithm: LUCB) -> None:
    """Samples of known means, 150 runs each: one of the 300 differs with probability 3e-10 at
    most."""
    drawn = instances(3 + algorithm.as_printed, 150, (0.2, 0.6))
    assert mismatches(drawn, partial(run_known, algorithm), partial(run_twin, algorithm)) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gaps", "most_arms", "count"),
    [
        ((0.15, 0.5), 5, 100),
        ((0.25, 0.8), 16, 100),
        pytest.param((0.08, 0.15), 4, 30, marks=pytest.mark.slow),
    ],
)
def test_replay_by_words(gaps: tuple[float, float], most_arms: int, count: int) -> None:
    """Rewards 0 and 1, 64 as one word wherever Bernoulli arms would give it: 230 recordings, with
    sure skips and with the budget.

    That is how rounds in lanes and challenges of one arm are run; the budget errs in one of the
    runs with probability 3e-10 at most.
    """
    rng = np.random.default_rng(most_arms)
    drawn = [
        draw_instance(rng, lucb_length, gaps, kinds=("bernoulli",), most_arms=most_arms)
        for _ in range(4 * count)
    ]
    drawn = [instance for instance in drawn if instance.span == 1][:count]
    assert len(drawn) == count
    for skips in (run_kernel, run_known):
        assert mismatches(drawn, partial(skips, LUCB(), bits=True), partial(run_twin, LUCB())) == []
    assert (
        mismatches(
            drawn[::4], partial(run_kernel, RULES[1], bits=True), partial(run_twin, RULES[1])
        )
        == []
    )


@pytest.mark.slow
def test_a_trace_tells_what_the_twin_sees() -> None:
    """Events with pulls, states of all arms: 60 recordings of each rule by sums, 40 by words, in
    lanes and challenges."""
    drawn = instances(31, 60)
    rng = np.random.default_rng(32)
    by_words = [
        draw_instance(rng, lucb_length, (0.15, 0.5), kinds=("bernoulli",), most_arms=6)
        for _ in range(100)
    ]
    by_words = [instance for instance in by_words if instance.span == 1][:40]
    assert len(by_words) == 40
    for algorithm in RULES:
        for recordings, bits in ((drawn, False), (by_words, True)):
            wrong, states = different_stories(recordings, algorithm, bits)
            assert wrong == []
            assert states > 700


@pytest.mark.slow
def test_a_trace_tells_of_arms_outside_of_the_view() -> None:
    """120 arms, of which a round looks at few: the states of all, and when each is settled; at a cap,
    too."""
    rng = np.random.default_rng(33)
    drawn = []
    for number, cap in enumerate((None, None, 700)):
        means = np.concatenate([rng.uniform(0.6, 0.9, 20), rng.uniform(0.0, 0.2, 100)])
        order = rng.permutation(120)
        rewards = (rng.random((120, 1500)) < means[order, None]).astype(np.float64)
        drawn.append(
            Instance(
                rewards,
                means[order],
                (20, 100),
                ((2, 0), (0, 3), (2, 0))[number],
                0.1,
                cap,
                1.0,
                number,
                number,
            )
        )
    wrong, states = different_stories(drawn, LUCB())
    assert wrong == []
    assert states > 50


def test_the_instances_cover_what_can_happen() -> None:
    """Of 200, at least 90 finish after 20 rounds or more, 10 are capped, 5 run out; N goes from 1
    to 12."""
    drawn = instances(1, 200)
    runs = [run_kernel(LUCB(), instance) for instance in drawn]
    assert sum(run.finished and run.rounds > 20 for run in runs) >= 90
    assert sum(run.ran_out_at > 0 for run in runs) >= 5
    assert sum(not run.finished and not run.ran_out_at for run in runs) >= 10
    assert {instance.n_arms for instance in drawn} == set(range(1, 13))


@pytest.mark.landing
def test_wrong_twins_are_noticed() -> None:
    """The comparison sees radii of another delta, the other rule, and ties broken the other way
    round."""
    drawn = instances(5, 60)
    ours = partial(run_kernel, LUCB())

    def twin_of_another_delta(instance: Instance) -> Run:
        return run_twin(LUCB(), dataclasses.replace(instance, delta=0.8 * instance.delta))

    assert mismatches(drawn, ours, partial(run_twin, LUCB())) == []
    assert len(mismatches(drawn, ours, twin_of_another_delta)) >= 12
    assert len(mismatches(drawn, ours, partial(run_twin, LUCB(as_printed=True)))) >= 12
    assert (
        len(mismatches(drawn, ours, lambda i: run_twin(LUCB(), i, order=opening_order(i)[::-1])))
        >= 8
    )


def test_two_constant_arms() -> None:
    """Radius below 1/2: R > 2 ln(pi^2 R^3 2/0.3) is 28 > 28.36 and 29 > 28.57, so both arms take 29
    pulls."""
    result = simulate(
        best_arm(Recorded([[0] * 29, [1] * 29])), LUCB(), delta=0.1, replications=5, seed=1
    )
    assert result.pulls.tolist() == [58] * 5
    assert result.rounds.tolist() == [29] * 5
    assert result.representatives.tolist() == [[1]] * 5


def test_the_rules_differ_in_the_weakest_arm_of_a_cluster() -> None:
    """c = (2, 1), r = (1, 0), rewards 1, 3/4 | 0: ours pulls arm 1 in all 30 rounds, the other rule
    once."""
    problem = Problem(Recorded(np.repeat([[1.0], [0.75], [0.0]], 30, axis=1)), (2, 1), (1, 0))
    for as_printed, pulls in ((False, 90), (True, 61)):
        result = simulate(problem, LUCB(as_printed=as_printed), delta=0.1, replications=1, seed=1)
        assert (result.pulls[0], result.rounds[0], result.representatives.tolist()) == (
            pulls,
            30,
            [[0]],
        )


def test_the_printed_rule_errs_where_ours_does_not() -> None:
    """Table instance, r = (3, 0, 0), delta = 1 %: one run in five is wrong as printed.

    At 20 %, 5 or fewer of 100 are wrong once in 5 * 10^4; at 1 %, more than 7 once in 10^5.
    """
    problem = table_problem(task=2)
    printed, ours = (
        simulate(problem, rule, replications=100, seed=1)
        for rule in (LUCB(as_printed=True), LUCB())
    )
    assert np.count_nonzero(~printed.correct) > 5
    assert np.count_nonzero(~ours.correct) <= 7


CHEAP = [
    (LUCB(), best_arm(Bernoulli([0.2, 0.9, 0.3]))),
    (LUCB(), full_ranking(Bernoulli([0.05, 0.95, 0.5]))),
    (LUCB(as_printed=True), Problem(Bernoulli([0.97, 0.6, 0.4, 0.03]), (1, 2, 1), (0, 1, 0))),
]


@pytest.mark.slow
@pytest.mark.boundscheck
@pytest.mark.parametrize(("algorithm", "problem"), CHEAP)
def test_mean_pulls_agree_with_the_twin(algorithm: LUCB, problem: Problem) -> None:
    """Within 4 standard errors; false alarms 6.4e-5 an instance, 6.4e-4 over the ten of all
    algorithms."""
    ours = simulate(problem, algorithm, delta=0.1, replications=5_000, seed=13).pulls
    assert standard_errors_apart(ours, twin_pulls(algorithm, problem, 0.1, 150, 13)) < 4


@pytest.mark.parametrize("value", ["yes", 1, None, np.True_, 0.0])
def test_as_printed_is_a_boolean(value: object) -> None:
    """Nothing else passes for one."""
    with pytest.raises(TypeError, match=r"LUCB: as_printed must be True or False; got "):
        LUCB(as_printed=value)  # type: ignore[arg-type]


def test_options() -> None:
    """Ours is the default; options make the label and equality, and cannot be changed."""
    assert LUCB() == LUCB(as_printed=False) != LUCB(as_printed=True)
    assert LUCB(as_printed=True).label == "LUCB(as_printed=True)"
    with pytest.raises(AttributeError):
        LUCB().as_printed = True  # type: ignore[misc]
