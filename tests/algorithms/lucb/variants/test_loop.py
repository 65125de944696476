"""LUCB's variants against the literal twins: on recordings and on stacks every number, on fresh
rewards the mean of pulls."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import numpy as np
import pytest
from pathwise import Misses, Task, draw_tasks, misses
from replay import (
    Instance,
    Run,
    different_stories,
    draw_instance,
    lucb_length,
    mismatches,
    opening_order,
    run_kernel,
    run_twin,
    standard_errors_apart,
    suited,
    suited_task,
    twin_pulls,
)

import rai_sim as rai
from rai_sim import LUCB
from rai_sim.algorithms.lucb.strides import CORRIDORS, PLAIN
from rai_sim.engine.blocks import new_block
from rai_sim.engine.faults import STOPPED

RADII: tuple[Any, ...] = ("mixture", "stitched", "paper")
PICKS: tuple[Any, ...] = ("all", "lucb++", "k-m", "rank")
VARIANTS = [LUCB(radius=radius, picks=picks) for picks in PICKS for radius in RADII][:2]
VARIANTS += [LUCB(radius=radius, picks=picks) for picks in PICKS[1:] for radius in RADII]


def instances(algorithm: LUCB, seed: int, count: int) -> list[Instance]:
    """Draw recordings for a variant: own-count radii ask for a third of the pulls."""
    rng, found = np.random.default_rng(seed), list[Instance]()
    share = 1.0 if algorithm.radius == "paper" else 0.4

    def length(gap: float, N: int, delta: float) -> float:
        return share * lucb_length(gap, N, delta)

    while len(found) < count:
        found += suited(rng, algorithm, [draw_instance(rng, length, (0.25, 0.8))])
    return found


def tasks_of(algorithm: LUCB, seed: int, count: int) -> list[Task]:
    """Draw tasks of all kinds of rewards for a variant."""
    rng, found = np.random.default_rng(seed), list[Task]()
    for task in draw_tasks(
        seed, 4 * count, ("words", "bits", "levels", "reals"), (2, 12), (0.1, 0.4)
    ):
        one = suited_task(rng, algorithm, task.clusters, task.required)
        if one is not None:
            found.append(dataclasses.replace(task, clusters=one[0], required=one[1]))
    return found[:count]


@pytest.mark.parametrize("count", [60, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("algorithm", VARIANTS, ids=str)
def test_replay(algorithm: LUCB, count: int) -> None:
    """Whatever the recording, the cap and the end: every number is the twin's."""
    drawn = instances(algorithm, count, count)
    assert mismatches(drawn, partial(run_kernel, algorithm), partial(run_twin, algorithm)) == []


def test_the_instances_cover_what_can_happen() -> None:
    """Of 200 some finish after 20 rounds or more, some are capped, some run out."""
    algorithm = VARIANTS[0]
    runs = [run_kernel(algorithm, one) for one in instances(algorithm, 1, 200)]
    assert sum(run.finished and run.rounds > 20 for run in runs) >= 60
    assert sum(run.ran_out_at > 0 for run in runs) >= 5
    assert sum(not run.finished and not run.ran_out_at for run in runs) >= 10


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", VARIANTS, ids=str)
def test_paths(algorithm: LUCB) -> None:
    """Replications on stacks of all kinds of rewards, with every arm's pulls in some of them, and
    capped: all are the literal loop's."""
    found = Misses(0, (), 0)
    for number, task in enumerate(tasks_of(algorithm, 5, 6)):
        found += misses(algorithm, task, 7, 40)
        found += misses(algorithm, task, 8, 3, traced=True)
        found += misses(algorithm, task, 9, 10, max_pulls=100 * (number + 1))
    assert found.examples == ()
    assert found.replications == 6 * 53


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", VARIANTS, ids=str)
def test_a_trace_tells_what_the_twin_sees(algorithm: LUCB) -> None:
    """Events with pulls, states of all arms."""
    wrong, states = different_stories(instances(algorithm, 31, 40), algorithm)
    assert wrong == []
    assert states > 200


@pytest.mark.slow
@pytest.mark.parametrize("picks", PICKS)
def test_wrong_twins_are_noticed(picks: Any) -> None:
    """Negative controls: another delta, another radius, other picks, ties broken the other way
    round."""
    right = LUCB(radius="mixture", picks=picks)
    drawn = instances(right, 5, 80)
    ours = partial(run_kernel, right)

    def twin_of_another_delta(instance: Instance) -> Run:
        return run_twin(right, dataclasses.replace(instance, delta=0.8 * instance.delta))

    assert mismatches(drawn, ours, partial(run_twin, right)) == []
    assert len(mismatches(drawn, ours, twin_of_another_delta)) >= 15
    for radius in ("paper", "stitched"):
        assert len(mismatches(drawn, ours, partial(run_twin, right, radius=radius))) >= 20
    others = {"all": (), "lucb++": ("all", "rank"), "k-m": ("all",), "rank": ("all",)}
    for other in others[picks]:
        assert len(mismatches(drawn, ours, partial(run_twin, right, picks=other))) >= 10
    reverse = mismatches(drawn, ours, lambda i: run_twin(right, i, order=opening_order(i)[::-1]))
    assert len(reverse) >= 8


CHEAP = [
    (LUCB(radius="mixture"), rai.full_ranking(rai.Bernoulli([0.05, 0.95, 0.5]))),
    (LUCB(radius="stitched", picks="lucb++"), rai.best_arm(rai.Bernoulli([0.2, 0.9, 0.3]))),
    (LUCB(radius="mixture", picks="k-m"), rai.m_of_top(rai.Bernoulli([0.9, 0.8, 0.2, 0.1]), 1, 2)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "problem"), CHEAP, ids=str)
def test_mean_pulls_agree_with_the_twin(algorithm: LUCB, problem: rai.Problem) -> None:
    """On fresh rewards, within 4 standard errors."""
    ours = rai.simulate(problem, algorithm, delta=0.1, replications=5_000, seed=13).pulls
    assert standard_errors_apart(ours, twin_pulls(algorithm, problem, 0.1, 300, 13)) < 4


@pytest.mark.parametrize("algorithm", [VARIANTS[0], LUCB(radius="stitched", picks="k-m")], ids=str)
def test_a_replication_is_a_function_of_its_index(algorithm: LUCB) -> None:
    """Whatever ran before it in a block, and what was computed for that."""
    problem = rai.table_problem(1)
    block = rai.simulate(problem, algorithm, delta=0.1, replications=40, seed=3)
    for index in (0, 7, 39):
        alone = rai.simulate(
            problem, algorithm, delta=0.1, replications=1, seed=3, first_replication=index
        )
        assert alone.pulls[0] == block.pulls[index]
        assert alone.representatives.tolist() == [block.representatives[index].tolist()]


@pytest.mark.slow
def test_a_raised_flag_ends_it() -> None:
    """Before the next round, and the fault says which replication."""
    task = tasks_of(VARIANTS[0], 5, 1)[0]
    block = new_block(2, sum(task.required))
    block.history.stop[0] = 1
    VARIANTS[0].run_block(task.stack(), task.block_setting(1, 0.0), 0, block)
    assert block.fault[:2].tolist() == [STOPPED, 0]


@pytest.mark.slow
def test_all_rounds_are_counted() -> None:
    """As plain or as in corridors; all of LUCB-k-m and of the paper's radius as plain."""
    for algorithm in VARIANTS:
        task = tasks_of(algorithm, 5, 1)[0]
        block = new_block(3, sum(task.required))
        algorithm.run_block(task.stack(), task.block_setting(1, 1e-12), 0, block)
        made = block.rounds_by_stride
        assert made[PLAIN] + made[CORRIDORS] == made.sum() == block.rounds.sum() > 0
        if algorithm.picks == "k-m" or algorithm.radius == "paper":
            assert made[CORRIDORS] == 0


@pytest.mark.slow
@pytest.mark.parametrize("picks", PICKS)
def test_own_counts_ask_for_a_third_of_the_pulls(picks: Any) -> None:
    """Top three of the table instance, delta 0.01: 40 % of the paper's radius at most, without a wrong
    output in 300 runs."""
    problem = rai.table_problem(2)
    mean = {}
    for radius in ("paper", "mixture", "stitched"):
        rule = LUCB(radius=radius, picks=picks)
        result = rai.simulate(problem, rule, delta=0.01, replications=100, seed=3)
        assert result.correct.all()
        mean[radius] = result.pulls.mean()
    assert mean["mixture"] < mean["stitched"] < 0.4 * mean["paper"]


@pytest.mark.slow
@pytest.mark.parametrize("radius", ["mixture", "stitched"])
@pytest.mark.parametrize("picks", PICKS)
def test_near_ties_are_got_right(radius: Any, picks: Any) -> None:
    """Certified at delta 0.1 on the hard instances for which the picks are defined."""
    rule = LUCB(radius=radius, picks=picks)
    problems = {}
    for name, problem in rai.hard_problems(0.1, pulls=40_000).items():
        try:
            rule.check_problem(problem, 0.1)
        except ValueError:
            continue
        problems[name] = problem
    assert len(problems) >= 2
    assert rai.certify(rule, 0.1, problems=problems, seed=4).passed
