"""Butterscotch against the literal twin: on recordings every number, on fresh rewards the mean of
pulls."""

import math
from functools import partial

import numpy as np
import pytest
from replay import (
    Instance,
    butterscotch_length,
    different_stories,
    draw_instance,
    mismatches,
    opening_order,
    run_kernel,
    run_known,
    run_twin,
    standard_errors_apart,
    twin_pulls,
)

from rai_sim import (
    Bernoulli,
    Butterscotch,
    Problem,
    Recorded,
    best_arm,
    full_ranking,
    simulate,
    table_problem,
)

MERGING = [Butterscotch(merging=True), Butterscotch(merging=False)]


def instances(seed: int, count: int) -> list[Instance]:
    """Draw instances that take one to four rounds."""
    rng = np.random.default_rng(seed)
    return [draw_instance(rng, butterscotch_length, (0.05, 0.3)) for _ in range(count)]


@pytest.mark.landing
def test_a_trace_tells_what_the_twin_sees() -> None:
    """Events with pulls, states of all arms: 60 recordings each."""
    for algorithm in MERGING:
        wrong, states = different_stories(instances(31, 60), algorithm)
        assert wrong == []
        assert states > 40


@pytest.mark.parametrize("algorithm", MERGING, ids=str)
def test_replay(algorithm: Butterscotch) -> None:
    """200 runs each, with and without a budget, agree in pulls, rounds, outputs and settle
    rounds."""
    drawn = instances(1 + algorithm.merging, 200)
    twin = {id(instance): run_twin(algorithm, instance) for instance in drawn}
    assert (
        mismatches(drawn, partial(run_kernel, algorithm), lambda instance: twin[id(instance)]) == []
    )
    assert (
        mismatches(drawn, partial(run_known, algorithm), lambda instance: twin[id(instance)]) == []
    )


@pytest.mark.boundscheck
def test_the_instances_cover_what_can_happen() -> None:
    """Of 200, some finish after each of 1, 2 and 3 rounds, 10 are capped and 5 run out."""
    runs = [run_kernel(Butterscotch(), instance) for instance in instances(1, 200)]
    assert min(sum(run.finished and run.rounds == R for run in runs) for R in (1, 2, 3)) >= 5
    assert sum(run.ran_out_at > 0 for run in runs) >= 5
    assert sum(not run.finished and not run.ran_out_at for run in runs) >= 10


@pytest.mark.slow
@pytest.mark.parametrize("merging", [True, False])
def test_replay_with_the_width_of_pairs(merging: bool) -> None:
    """100 runs each, with and without a budget; negative control: the paper's pulls are seen, and
    other pairs."""
    algorithm, drawn = Butterscotch(merging=merging, width="pairwise"), instances(9 + merging, 100)
    twin = partial(run_twin, algorithm)
    assert mismatches(drawn, partial(run_kernel, algorithm), twin) == []
    assert mismatches(drawn, partial(run_known, algorithm), twin) == []
    ours = partial(run_kernel, algorithm)
    assert len(mismatches(drawn, ours, partial(run_twin, algorithm, width=0.9))) >= 10
    for wrong in (Butterscotch(merging), Butterscotch(not merging, "pairwise")):
        assert len(mismatches(drawn, ours, partial(run_twin, wrong))) >= 10


def test_the_width_of_pairs_saves_half() -> None:
    """At most 0.6 of the paper's pulls on the mirrored task 2, and on tasks of one round exactly
    those of P; no theorem bounds them."""
    papers, pairs = (
        simulate(table_problem(task=2), algorithm, delta=0.01, replications=2_000, seed=1)
        for algorithm in (Butterscotch(), Butterscotch(width="pairwise"))
    )
    assert pairs.pulls.mean() <= 0.6 * papers.pulls.mean()
    assert pairs.correct.all()
    first = math.ceil(64 * math.log(math.pi**2 * 21 / 0.06))
    best = simulate(table_problem(1), Butterscotch(width="pairwise"), delta=0.01, replications=50)
    assert best.pulls.min() == 10 * first
    assert Butterscotch(width="pairwise").theorem is None
    assert Butterscotch().theorem == ("butterscotch", "Theorem 3")


@pytest.mark.landing
def test_wrong_twins_are_noticed() -> None:
    """The comparison sees wrong widths, the other merging, and ties broken the other way round."""
    drawn = instances(5, 100)
    ours = partial(run_kernel, Butterscotch())
    assert mismatches(drawn, ours, partial(run_twin, Butterscotch(), width=1 + 1e-15)) == []
    assert len(mismatches(drawn, ours, partial(run_twin, Butterscotch(), width=0.9))) >= 10
    assert len(mismatches(drawn, ours, partial(run_twin, Butterscotch(merging=False)))) >= 2
    assert (
        len(
            mismatches(
                drawn, ours, lambda i: run_twin(Butterscotch(), i, order=opening_order(i)[::-1])
            )
        )
        >= 2
    )


@pytest.mark.parametrize(
    ("gap", "rounds"), [(1.0, 1), (0.1875, 1), (0.125, 2), (0.09375, 2), (0.0625, 3)]
)
def test_constant_arms_stop_in_the_first_round_whose_width_is_below_their_gap(
    gap: float, rounds: int
) -> None:
    """w_R = 2^-(R+2), strictly: a gap of exactly 1/8 takes a second round. Both arms have t_R pulls
    then."""
    t = math.ceil(2.0 ** (2 * rounds + 5) * math.log(math.pi**2 * rounds**2 * 2 / 0.3))
    problem = best_arm(Recorded(np.repeat([[0.0], [gap]], t, axis=1)))
    result = simulate(problem, Butterscotch(), delta=0.1, replications=3, seed=1)
    assert result.pulls.tolist() == [2 * t] * 3
    assert result.rounds.tolist() == [rounds] * 3
    assert result.representatives.tolist() == [[1]] * 3


def test_the_first_round_of_the_paper() -> None:
    """N = 10, delta = 0.01: 10 x 1037 pulls, the paper's own figure."""
    result = simulate(table_problem(task=1), Butterscotch(), delta=0.01, replications=200, seed=1)
    assert set(result.pulls.tolist()) == {10370}
    assert result.correct.all()


CHEAP = [
    (Butterscotch(), best_arm(Bernoulli([0.5, 0.635]))),
    (Butterscotch(), full_ranking(Bernoulli([0.2, 0.9, 0.33]))),
    (Butterscotch(merging=False), Problem(Bernoulli([0.9, 0.77, 0.5, 0.1]), (1, 2, 1), (0, 2, 0))),
]


@pytest.mark.parametrize(("algorithm", "problem"), CHEAP)
def test_mean_pulls_agree_with_the_twin(algorithm: Butterscotch, problem: Problem) -> None:
    """Within 4 standard errors; false alarms 6.4e-5 an instance, 6.4e-4 over the ten of all
    algorithms."""
    ours = simulate(problem, algorithm, delta=0.3, replications=20_000, seed=12).pulls
    assert standard_errors_apart(ours, twin_pulls(algorithm, problem, 0.3, 300, 12)) < 4


@pytest.mark.parametrize("value", ["yes", 1, None, np.True_, 0.0])
def test_merging_is_a_boolean(value: object) -> None:
    """Nothing else passes for one."""
    with pytest.raises(TypeError, match=r"Butterscotch: merging must be True or False; got "):
        Butterscotch(merging=value)  # type: ignore[arg-type]


def test_options() -> None:
    """Merging is on by default; options make the label and equality, and cannot be changed."""
    assert Butterscotch() == Butterscotch(merging=True) != Butterscotch(merging=False)
    assert Butterscotch(merging=False).label == "Butterscotch(merging=False)"
    with pytest.raises(AttributeError):
        Butterscotch().merging = False  # type: ignore[misc]
