"""Whole runs of crowds, path by path, against literal loops on the same rewards.

The number of arms from which on there is a crowd is set to two for small tasks: such crowds are
slow, but all that can happen to a large one happens to them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pathwise
import pytest
from budgets import depend_on_strides
from mutants import CROWDED, CROWDS, SMALL_CROWDS, pathwise_findings_of_mutant
from pathwise import Task, decisions_use_used_rewards, draw_tasks, misses
from scipy import stats
from stack import RECORDING, kept_apart, new_stack

import rai_sim as rai
from rai_sim import Vanilla
from rai_sim.engine.blocks import Block, Setting, new_block
from rai_sim.engine.faults import RECORDING_RAN_OUT
from rai_sim.engine.history import new_history
from rai_sim.engine.round_robin.crowd import places
from rai_sim.engine.streams import stream_key
from rai_sim.engine.strides import CROWD, LAST_TWO, SUMS, WORDS, without


@pytest.fixture
def crowded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let two arms be a crowd, stay one to the end, and be counted rather than sorted."""
    monkeypatch.setattr(places, "MANY", 2)
    monkeypatch.setattr(places, "FEW", 2)
    monkeypatch.setattr(places, "A_BORDER", 0)
    monkeypatch.setattr(places, "FEW_AWAKE", 0)


def spread_out(N: int, clusters: tuple[int, ...], required: tuple[int, ...], delta: float) -> Task:
    """Return means evenly spaced."""
    return Task("words", tuple(np.linspace(0.95, 0.05, N).tolist()), clusters, required, delta)


#: What large crowds are for.
LARGE = [
    spread_out(1000, (333, 333, 334), (10, 10, 10), 0.1),
    spread_out(1500, (500, 1000), (50, 10), 0.3),
    spread_out(1200, (300, 300, 300, 300), (30, 0, 30, 5), 0.1),
    Task("words", (0.8, *[0.5] * 1199), (1, 1199), (1, 0), 0.01),
    Task("words", (*[0.8] * 400, *[0.5] * 400, *[0.2] * 400), (400, 400, 400), (3, 400, 0), 0.1),
    pytest.param(spread_out(4000, (1300, 1400, 1300), (10, 10, 10), 0.01), marks=pytest.mark.slow),
]


@pytest.mark.slow
@pytest.mark.parametrize("task", LARGE, ids=lambda task: task.name)
def test_large_crowds(task: Task) -> None:
    """A replication each is the literal loop's: pulls, rounds, outputs, who is settled when."""
    for merging in (True, False):
        assert misses(Vanilla(merging=merging), task, 5, 1).examples == ()


def total(tasks: list[Task], each: int, algorithm: Vanilla, **options: Any) -> pathwise.Misses:
    """Run tasks one after another."""
    return sum(
        (misses(algorithm, task, 11, each, **options) for task in tasks),
        start=pathwise.Misses(0, (), 0),
    )


@pytest.mark.slow
@pytest.mark.usefixtures("crowded")
@pytest.mark.parametrize("times", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_small_crowds(times: int) -> None:
    """2,622 replications, and five times as many: with and without merging, sure skips alone,
    capped, traced, both."""
    some = draw_tasks(1, 12, ("words",), (2, 12), (0.12, 0.4))
    more = draw_tasks(3, 6, ("words",), (30, 100), (0.2, 0.4))
    found = (
        total(some, 100 * times, Vanilla())
        + total(some, 60 * times, Vanilla(merging=False))
        + total(more, 12 * times, Vanilla())
        + total(more, 40 * times, Vanilla(), skip_error=0.0)
        + total(some + more, 10 * times, Vanilla(), max_pulls=3_000)
        + total(some[:4] + more[:2], 20 * times, Vanilla(), traced=True)
        + total(some + more, 5 * times, Vanilla(), traced=True, max_pulls=3_000)
    )
    assert found == pathwise.Misses(2_622 * times, (), 0)


@pytest.mark.slow
@pytest.mark.usefixtures("crowded")
def test_no_decision_hangs_on_rewards_that_are_thrown_away() -> None:
    """80 replications: a word's rounds after a cut stay in use."""
    anew = 0
    for task in draw_tasks(8, 4, ("words",), (3, 12), (0.2, 0.4)):
        found, more = decisions_use_used_rewards(Vanilla(), task, 1, 0, 20)
        assert found == []
        anew += more
    assert anew > 1000


@pytest.mark.slow
@pytest.mark.usefixtures("crowded")
def test_small_crowds_that_are_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    """2,880 replications, as those that are counted."""
    monkeypatch.setattr(places, "FEW_AWAKE", 100)
    some = draw_tasks(1, 12, ("words",), (2, 12), (0.12, 0.4))
    more = draw_tasks(3, 6, ("words",), (30, 100), (0.2, 0.4))
    found = (
        total(some, 200, Vanilla())
        + total(more, 40, Vanilla())
        + total(some, 20, Vanilla(), traced=True)
    )
    assert found == pathwise.Misses(2_880, (), 0)


@pytest.mark.slow
@pytest.mark.usefixtures("crowded")
def test_caps_in_crowds(monkeypatch: pytest.MonkeyPatch) -> None:
    """630 recommendations within words and sleep, which begins early here, are those of sums alone,
    and all rounds are a crowd's."""
    monkeypatch.setattr(places, "RESTED", 500)
    monkeypatch.setattr(places, "MANY_RESTED", 2)
    monkeypatch.setattr(places, "FEW_RESTED", 2)
    tasks = draw_tasks(1, 12, ("words",), (2, 12), (0.12, 0.4))
    tasks += draw_tasks(3, 6, ("words",), (30, 100), (0.2, 0.4))
    found, compared, made = depend_on_strides(Vanilla(), tasks, 5, 1 << SUMS)
    assert (found, compared) == ([], 630)
    assert made[CROWD] == made.sum() > 0


def rounds_by_stride(task: Task, strides: int, law: Any = None) -> dict[int, int]:
    """Return the rounds that each stride made in two replications; of the stack unless a law is
    given."""
    block, law = new_block(2, sum(task.required)), task.stack() if law is None else law
    Vanilla().run_block(law, task.block_setting(3, 1e-12, strides=strides), 0, block)
    assert block.rounds_by_stride.sum() == block.rounds.sum()
    return {int(s): int(block.rounds_by_stride[s]) for s in np.flatnonzero(block.rounds_by_stride)}


@pytest.mark.slow
def test_crowds_are_entered_and_left() -> None:
    """By 1,000 arms from the start on, for the last few by other strides; not where the mask has
    none; not by fewer arms, nor by laws without words."""
    task = spread_out(1000, (333, 333, 334), (333, 10, 10), 0.1)
    made = rounds_by_stride(task, without())
    assert made[CROWD] > 1000
    assert set(made) <= {CROWD, SUMS, WORDS, LAST_TWO}
    assert len(made) > 1
    assert CROWD not in rounds_by_stride(task, without(CROWD))
    assert CROWD not in rounds_by_stride(
        spread_out(999, (333, 333, 333), (10, 10, 10), 0.1), without()
    )
    assert CROWD not in rounds_by_stride(replace(task, kind="bits"), without())


def test_with_more_borders_a_crowd_is_larger() -> None:
    """Nine clusters of 1,008 arms are ranked, 8,000 are a crowd; on a law whose kernel other tests
    compile, too."""
    for N, crowded in ((1008, False), (8001, True)):
        sizes = tuple(np.diff(np.linspace(0, N, 10).astype(int)).tolist())
        task = spread_out(N, sizes, (1, *[0] * 8), 0.3)
        law = rai.Bernoulli(list(task.means)).kernel_law()
        made = rounds_by_stride(task, without(), law)
        assert (CROWD in made) == crowded


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_traced_runs_are_those_without_a_trace(seed: int) -> None:
    """On a law that draws, with rounds asked for inside of words: a crowd that is left for a jump
    is left after the same word. Three replications, one of which went another way in the first
    version."""
    means = [0.62, 0.53, *[0.5] * 1010]
    problem = rai.Problem(rai.Bernoulli(means), (2, 1010), (2, 0))
    whole = rai.simulate(problem, Vanilla(), delta=0.01, replications=3, seed=seed)
    law = problem.arms.kernel_law()
    for replication in range(3):
        block = new_block(1, 2, 0, new_history(np.arange(10, 120_000, 10), len(means)))
        setting = Setting(
            sizes=np.array(problem.clusters),
            required=np.array(problem.required),
            cluster_of=np.array(problem.cluster_of),
            delta=0.01,
            skip_error=1e-12,
            max_pulls=-1,
            key=stream_key(seed),
        )
        Vanilla().run_block(law, setting, replication, block)
        assert block.pulls[0] == whole.pulls[replication]
        assert block.rounds[0] == whole.rounds[replication]


@pytest.mark.slow
@pytest.mark.usefixtures("crowded")
def test_a_recording_that_ends_names_the_first_active_arm() -> None:
    """By the caller's index: nobody of those settled before, nor a label."""
    means, pulls = np.array([0.99, 0.65, 0.6, 0.03, 0.02, 0.02]), 150
    rewards = np.random.default_rng(0).random((6, pulls)) < means[:, None]
    prefix = np.hstack([np.zeros((6, 1)), np.cumsum(rewards, axis=1)])
    law = new_stack(RECORDING, means, 0.25, prefix=prefix, available=pulls)
    task = Task("words", tuple(means.tolist()), (2, 1, 3), (2, 1, 0), 0.9)
    faults = []
    with kept_apart():
        for strides in (without(), without(CROWD)):
            for replication in range(3):
                block = new_block(1, 3, 6)
                setting = task.block_setting(1, 1e-12, strides=strides)
                Vanilla(merging=False).run_block(law, setting, replication, block)
                assert block.fault[0] == RECORDING_RAN_OUT
                faults.append(block.fault.tolist())
    assert faults[:3] == faults[3:]
    assert {arm for _, arm, _ in faults} == {1}


def samples(problem: rai.Problem, delta: float, strides: int) -> Block:
    """Return 400 replications."""
    block = new_block(400, sum(problem.required))
    setting = Setting(
        sizes=np.array(problem.clusters),
        required=np.array(problem.required),
        cluster_of=np.array(problem.cluster_of),
        delta=delta,
        skip_error=1e-12,
        max_pulls=-1,
        key=stream_key(strides % 97),
        strides=strides,
    )
    Vanilla().run_block(problem.arms.kernel_law(), setting, 0, block)
    return block


@pytest.mark.slow
@pytest.mark.usefixtures("crowded")
def test_the_law_does_not_hang_on_crowds() -> None:
    """300 arms, 400 replications with and without: pulls, rounds and outputs are alike, false alarm
    3e-6; negative control: delta 0.02 in the place of 0.01 is seen."""
    problem = rai.Problem(rai.Bernoulli(np.linspace(0.95, 0.05, 300)), (100, 100, 100), (5, 5, 5))
    ours, theirs = samples(problem, 0.01, without()), samples(problem, 0.01, without(CROWD))
    assert ours.rounds_by_stride[CROWD] > 0.5 * ours.rounds.sum()
    for mine, other in (
        (ours.pulls, theirs.pulls),
        (ours.rounds, theirs.rounds),
        (ours.representatives[:, 7], theirs.representatives[:, 7]),
    ):
        assert stats.ks_2samp(mine, other).pvalue > 1e-6
    wrong = samples(problem, 0.02, without())
    assert stats.ks_2samp(wrong.pulls, theirs.pulls).pvalue < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("fault", CROWDS)
def test_planted_faults_are_seen(fault: str, tmp_path: Path) -> None:
    """Negative controls: arms that were settled counted for too long, zones a sum too wide, arms beside
    a border overlooked, words drawn anew after a look at them."""
    missed, hung = pathwise_findings_of_mutant(
        tmp_path, [*SMALL_CROWDS, CROWDS[fault]], CROWDED, reuse=True
    )
    assert sum(missed) + hung >= 3
