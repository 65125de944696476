"""Butterscotch's loop: a ranking or none, tables or none, and blocks wherever they begin, come to
the same."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pathwise import Misses, draw_tasks, misses
from replay import Instance, butterscotch_length, draw_instance, mismatches, run_kernel, run_twin
from scipy import stats

import rai_sim as rai
from rai_sim import Bernoulli, Butterscotch, Problem, Recorded, simulate
from rai_sim.algorithms.butterscotch import loop, tables
from rai_sim.engine.blocks import Block, Setting, new_block
from rai_sim.engine.faults import NONE, STOPPED
from rai_sim.engine.streams import stream_key

COINS = Problem(Bernoulli([0.9, 0.76, 0.72, 0.6, 0.59, 0.5]), (1, 2, 3), (1, 1, 1))


def block_of(problem: Problem, count: int, first: int = 0, law: Any = None, seed: int = 1) -> Block:
    """Run replications, delta 0.1."""
    N = problem.n_arms
    setting = Setting(
        sizes=np.array(problem.clusters, np.int64),
        required=np.array(problem.required, np.int64),
        cluster_of=np.array(problem.cluster_of, np.int64),
        delta=0.1,
        skip_error=0.0,
        max_pulls=-1,
        key=stream_key(seed),
    )
    block = new_block(count, sum(problem.required), N)
    law = problem.arms.kernel_law() if law is None else law
    Butterscotch().run_block(law, setting, first, block)
    assert block.fault[0] == NONE
    return block


def settled(block: Block) -> NDArray[np.int64]:
    """Return when arms were settled, and where; zeros of the others."""
    return block.settled * (block.settled[:, :1] > 0)


def same(block: Block, other: Block) -> bool:
    """Whether all columns are the same."""
    columns = ("pulls", "rounds", "correct", "finished", "representatives")
    return np.array_equal(settled(block), settled(other)) and all(
        np.array_equal(getattr(block, one), getattr(other, one)) for one in columns
    )


@pytest.fixture
def unranked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge rounds without a ranking whenever two arms are active."""
    monkeypatch.setattr(loop, "MANY", 2)


def instances(seed: int, count: int) -> list[Instance]:
    """Draw recordings, up to 40 arms; a third with ties of sums."""
    rng = np.random.default_rng(seed)
    return [draw_instance(rng, butterscotch_length, (0.1, 0.3), most_arms=40) for _ in range(count)]


@pytest.mark.slow
@pytest.mark.parametrize("merging", [True, False])
def test_replays_without_a_ranking(merging: bool, unranked: None) -> None:
    """150 recordings of up to 40 arms: pulls, rounds, outputs in order and settle rounds are the
    twin's."""
    drawn = instances(40 + merging, 150)
    algorithm = Butterscotch(merging=merging)
    assert mismatches(drawn, partial(run_kernel, algorithm), partial(run_twin, algorithm)) == []


@pytest.mark.slow
def test_wrong_selections_are_noticed(unranked: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: ties among those that are named, broken the other way round."""
    from replay import opening_order

    drawn, algorithm = instances(41, 150), Butterscotch()

    def wrong(instance: Instance) -> Any:
        return run_twin(algorithm, instance, order=opening_order(instance)[::-1])

    assert len(mismatches(drawn, partial(run_kernel, algorithm), wrong)) >= 3


@pytest.mark.slow
def test_many_arms_on_fixed_rewards() -> None:
    """260 to 700 arms against the literal loop on the same rewards, 24 replications of 8 tasks."""
    found = Misses(0, (), 0)
    for task in draw_tasks(31, 8, ("words", "bits", "levels", "reals"), (260, 700), (0.2, 0.5)):
        found += misses(Butterscotch(), task, 12, 3)
    assert found == Misses(24, (), 0)


@pytest.mark.slow
@pytest.mark.parametrize("merging", [True, False])
def test_thousands_of_arms_on_fixed_rewards(merging: bool) -> None:
    """1,000 to 4,000 arms, 60 replications of 20 tasks."""
    found = Misses(0, (), 0)
    kinds = ("words", "bits", "levels", "reals")
    for task in draw_tasks(32 + merging, 20, kinds, (1000, 4000), (0.2, 0.5)):
        found += misses(Butterscotch(merging=merging), task, 13, 3)
    assert found == Misses(60, (), 0)


@pytest.mark.boundscheck
def test_more_borders_than_selection_takes() -> None:
    """A full ranking of 300 recorded arms, one cluster each, and of 30 clusters of ten: all arms
    far apart are named in order."""
    rewards = np.repeat(np.arange(300)[::-1, None] / 2.0, 2000, axis=1)
    arms = Recorded(rewards, rewards[:, 0])
    problem = Problem(arms, (1,) * 300, (1,) * 300, strict=False)
    named = simulate(problem, Butterscotch(), delta=0.5, replications=1, seed=1).representatives[0]
    assert named.tolist() == list(range(300))
    tens = Problem(arms, (10,) * 30, (2,) * 30, strict=False)
    named = simulate(tens, Butterscotch(), delta=0.5, replications=1, seed=1).representatives[0]
    assert named.tolist() == [10 * i + j for i in range(30) for j in range(2)]


@pytest.mark.parametrize("many", [2, 10**6])
def test_equal_arms_are_named_at_random(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of eight arms that always give 1/2 two are named, and each pair as often: chi-square over 28
    pairs at 1e-6, and its order likewise."""
    monkeypatch.setattr(loop, "MANY", many)
    problem = Problem(Recorded(np.full((8, 2000), 0.5)), (8,), (2,))
    named = simulate(problem, Butterscotch(), replications=5600, seed=3).representatives
    pairs = np.bincount(8 * named[:, 0] + named[:, 1], minlength=64).reshape(8, 8)
    assert not pairs.diagonal().any()
    assert stats.chisquare(pairs[~np.eye(8, dtype=bool)]).pvalue > 1e-6
    best_only = pairs[:, :7]  # negative control: arms in the caller's order
    assert stats.chisquare(best_only.sum(axis=1) + 500 * (np.arange(8) == 0)).pvalue < 1e-6


@pytest.mark.boundscheck
def test_rows_hang_on_the_replication_alone() -> None:
    """In one block, one by one, backwards; with tables that are filled and with new ones."""
    law = COINS.arms.kernel_law()
    whole = block_of(COINS, 60, law=law)
    assert np.unique(whole.pulls).size > 3
    for row in range(59, -1, -7):
        alone = block_of(COINS, 1, first=row)
        kept = block_of(COINS, 1, first=row, law=law)
        for block in (alone, kept):
            assert block.pulls[0] == whole.pulls[row]
            assert np.array_equal(settled(block)[0], settled(whole)[row])
            assert np.array_equal(block.representatives[0], whole.representatives[row])
    assert same(block_of(COINS, 60, law=law), whole)


def test_the_law_of_runs_through_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """10,000 runs against 10,000 by the sampler: pulls and rounds by Kolmogorov-Smirnov and t,
    outputs by chi-square, each at 1e-6. Negative control: a mean that is 0.004 off."""
    through = block_of(COINS, 10_000, seed=5)
    shifted = Bernoulli(COINS.arms.means + 0.004 * (np.arange(6) == 1)).kernel_law()
    wrong = block_of(COINS, 10_000, seed=5, law=shifted)
    monkeypatch.setattr(tables, "_MOST_BYTES", 0)
    sampled = block_of(COINS, 10_000, seed=6)
    assert least_p_value(through, sampled) > 1e-6
    assert least_p_value(wrong, sampled) < 1e-6


def least_p_value(block: Block, other: Block) -> float:
    """Compare two blocks; return the least p-value."""
    outputs = [
        np.bincount(np.ravel_multi_index(one.representatives.T, (6, 6, 6)), minlength=216)
        for one in (block, other)
    ]
    table = np.array(outputs)
    rare = table.sum(axis=0) < 40
    table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    columns = [(block.pulls, other.pulls), (block.rounds, other.rounds)]
    return float(
        min(
            *(stats.ks_2samp(a, b, method="asymp").pvalue for a, b in columns),
            *(stats.ttest_ind(a, b, equal_var=False).pvalue for a, b in columns),
            stats.chi2_contingency(table).pvalue,
        )
    )


def test_a_raised_flag_ends_a_block() -> None:
    """Of which no replication was finished."""
    problem, block = COINS, new_block(4, 3, arms_with_settle_rounds=6)
    block.history.stop[0] = True
    setting = Setting(
        sizes=np.array(problem.clusters, np.int64),
        required=np.array(problem.required, np.int64),
        cluster_of=np.array(problem.cluster_of, np.int64),
        delta=0.1,
        skip_error=0.0,
        max_pulls=-1,
        key=stream_key(1),
    )
    Butterscotch().run_block(problem.arms.kernel_law(), setting, 0, block)
    assert block.fault[:2].tolist() == [STOPPED, 0]
    assert not block.pulls.any()


def test_traces_and_arm_pulls_tell_the_same_run() -> None:
    """600 arms in thirds and a few: a traced replication is the simulated one."""
    means = np.linspace(0.95, 0.05, 600)
    for problem in (COINS, Problem(Bernoulli(means), (200, 200, 200), (3, 3, 3))):
        result = simulate(problem, Butterscotch(), delta=0.1, replications=3, seed=4)
        each = rai.arm_pulls(result)
        for replication in range(3):
            told = rai.trace(problem, Butterscotch(), delta=0.1, seed=4, replication=replication)
            assert told.pulls[-1] == result.pulls[replication]
            assert told.rounds[-1] == result.rounds[replication]
            assert told.representatives == tuple(result.representatives[replication])
            assert np.array_equal(told.arm_pulls[-1], each[replication])
