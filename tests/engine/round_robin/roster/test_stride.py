"""Whole runs of rosters, path by path, against literal loops on the same rewards, and by law.

For small tasks two arms are a roster, and rewards that might come as words are drawn otherwise: all
that can happen to a large roster happens to them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pathwise
import pytest
from budgets import depend_on_strides
from mutants import ROSTERED, ROSTERS, SMALL_ROSTERS, pathwise_findings_of_mutant
from numpy.typing import NDArray
from pathwise import Task, close_tasks, decisions_use_used_rewards, draw_tasks, misses
from rosters import beside, watch
from scipy import stats
from stack import NOTE, kept_apart

import rai_sim as rai
from rai_sim import Vanilla
from rai_sim.arms.base import Arms
from rai_sim.engine.blocks import Block, Setting, new_block
from rai_sim.engine.faults import NOT_FINITE, RECORDING_RAN_OUT
from rai_sim.engine.history import new_history, states_kept
from rai_sim.engine.jit import exposed
from rai_sim.engine.round_robin import run
from rai_sim.engine.round_robin.crowd import places
from rai_sim.engine.round_robin.roster import lists, stride
from rai_sim.engine.round_robin.roster.lists import ALL_DUE, LEFT_BELOW, PER_BORDER
from rai_sim.engine.streams import stream_key
from rai_sim.engine.strides import ALL, CROWD, SUMS, without

settle = exposed(stride._settle)
KINDS = ("bits", "levels", "reals")


@pytest.fixture
def wordless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no law give words."""
    monkeypatch.setattr(run, "may_give_words", lambda law: False)


@pytest.fixture
def rostered(wordless: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let two arms be a roster, as long as no jump is far better."""
    monkeypatch.setattr(places, "MANY", 2)
    monkeypatch.setattr(places, "A_BORDER", 0)
    monkeypatch.setattr(lists, "FEW", 2)
    monkeypatch.setattr(lists, "A_ROUND", 0)


def total(tasks: list[Task], each: int, algorithm: Vanilla, **options: Any) -> pathwise.Misses:
    """Run tasks one after another."""
    return sum(
        (misses(algorithm, task, 11, each, **options) for task in tasks),
        start=pathwise.Misses(0, (), 0),
    )


def far_apart(seed: int, count: int, arms: tuple[int, int]) -> list[Task]:
    """Draw tasks of some thousand rounds, of each kind in turn."""
    tasks = draw_tasks(seed, count, KINDS, arms, (0.12, 0.4))
    return [replace(task, kind=KINDS[i % 3]) for i, task in enumerate(tasks)]


def close(seed: int, count: int, arms: tuple[int, int]) -> list[Task]:
    """Draw tasks of hundreds of thousands of rounds, of each kind in turn."""
    return [
        replace(task, kind=KINDS[i % 3]) for i, task in enumerate(close_tasks(seed, count, arms))
    ]


def spread_out(kind: str, N: int, clusters: tuple[int, ...], required: tuple[int, ...]) -> Task:
    """Return means evenly spaced."""
    return Task(kind, tuple(np.linspace(0.95, 0.05, N).tolist()), clusters, required, 0.1)


#: What large rosters are for.
LARGE = [
    spread_out("reals", 1000, (333, 333, 334), (10, 10, 10)),
    spread_out("levels", 1500, (500, 1000), (50, 10)),
    spread_out("bits", 1200, (300, 300, 300, 300), (30, 0, 30, 5)),
    Task("reals", (0.8, *[0.5] * 1199), (1, 1199), (1, 0), 0.01),
    Task("levels", (*[0.8] * 400, *[0.5] * 400, *[0.2] * 400), (400, 400, 400), (3, 400, 0), 0.1),
    *(
        pytest.param(
            spread_out(kind, 4000, (1300, 1400, 1300), (10, 10, 10)), marks=pytest.mark.slow
        )
        for kind in ("reals", "levels")
    ),
]


@pytest.mark.slow
@pytest.mark.usefixtures("wordless")
@pytest.mark.parametrize("task", LARGE, ids=lambda task: task.name)
def test_large_rosters(task: Task) -> None:
    """A replication each is the literal loop's: pulls, rounds, outputs, who is settled when."""
    made = rounds_by_stride(task, ALL)
    assert made[CROWD] > 0.3 * made.sum()
    for merging in (True, False):
        assert misses(Vanilla(merging=merging), task, 5, 1).examples == ()


@pytest.mark.slow
@pytest.mark.usefixtures("rostered")
def test_small_rosters() -> None:
    """5,940 replications: with and without merging, sure skips alone, capped, traced, both."""
    some, more = far_apart(1, 12, (2, 12)), far_apart(3, 6, (30, 100))
    found = (
        total(some, 200, Vanilla())
        + total(some, 100, Vanilla(merging=False))
        + total(more, 40, Vanilla())
        + total(more, 40, Vanilla(), skip_error=0.0)
        + total(some + more, 50, Vanilla(), max_pulls=3_000)
        + total(some[:4] + more[:2], 100, Vanilla(), traced=True)
        + total(some + more, 20, Vanilla(), traced=True, max_pulls=3_000)
    )
    assert found == pathwise.Misses(5_940, (), 0)


@pytest.mark.slow
@pytest.mark.usefixtures("rostered")
def test_rosters_of_long_runs() -> None:
    """15 replications of hundreds of thousands of rounds, in which arms rest for thousands."""
    found = total(close(1, 3, (6, 20)), 3, Vanilla()) + total(close(2, 3, (30, 60)), 2, Vanilla())
    assert found == pathwise.Misses(15, (), 0)


@pytest.mark.slow
@pytest.mark.usefixtures("rostered")
def test_more_replications_are_the_literal_loops() -> None:
    """Some 8,000, a few of them long."""
    some, more = far_apart(4, 30, (2, 30)), far_apart(5, 9, (50, 300))
    found = (
        total(some, 200, Vanilla())
        + total(some, 50, Vanilla(merging=False))
        + total(more, 20, Vanilla())
        + total(more, 20, Vanilla(), skip_error=0.0)
        + total(some, 10, Vanilla(), traced=True)
        + total(close(4, 6, (6, 40)), 5, Vanilla())
        + total(close(6, 3, (100, 300)), 1, Vanilla())
    )
    assert found == pathwise.Misses(found.replications, (), 0)


@pytest.mark.slow
@pytest.mark.usefixtures("rostered")
def test_caps_in_rosters() -> None:
    """630 recommendations, many of arms at rest, are those of sums alone; nearly half of the
    rounds are a roster's."""
    tasks = far_apart(2, 12, (2, 12)) + far_apart(4, 6, (30, 100))
    found, compared, made = depend_on_strides(Vanilla(), tasks, 5, 1 << SUMS)
    assert (found, compared) == ([], 630)
    assert made[CROWD] > 20_000


def rounds_by_stride(task: Task, strides: int) -> NDArray[np.int64]:
    """Return the rounds that each stride made in a replication."""
    block = new_block(1, sum(task.required))
    with kept_apart():
        Vanilla().run_block(task.stack(), task.block_setting(3, 1e-12, strides=strides), 0, block)
    assert block.rounds_by_stride.sum() == block.rounds[0]
    return block.rounds_by_stride


@pytest.mark.slow
@pytest.mark.usefixtures("wordless")
def test_rosters_are_entered_and_left() -> None:
    """By 1,000 arms when jumps are short, but not where the mask has none, by fewer arms, or if nothing
    can be certified; for the last few arms other strides are used again."""
    task = spread_out("reals", 1000, (333, 333, 334), (333, 10, 10))
    assert rounds_by_stride(task, ALL)[CROWD] > 1000
    assert rounds_by_stride(task, without(CROWD))[CROWD] == 0
    fewer = spread_out("reals", 999, (333, 333, 333), (10, 10, 10))
    assert rounds_by_stride(fewer, ALL)[CROWD] == 0
    block, blind = new_block(1, 353), task.block_setting(3, 0.0, max_pulls=100_000)
    with kept_apart():
        Vanilla().run_block(task.stack(), blind, 0, block)
    assert block.rounds_by_stride[CROWD] == 0


@pytest.mark.slow
@pytest.mark.usefixtures("rostered")
def test_most_rewards_are_drawn_in_sums() -> None:
    """Of runs of 200 arms, less than one draw in four rewards; where rewards are bounded that is so if
    nothing may be left to chance, too."""
    for kind, skip_error in (("reals", 1e-12), ("levels", 1e-12), ("levels", 0.0), ("bits", 0.0)):
        task = spread_out(kind, 200, (60, 70, 70), (5, 5, 5))
        law = task.stack(1_000_000)._replace(mode=NOTE)
        block = new_block(1, sum(task.required))
        with kept_apart():
            Vanilla().run_block(law, task.block_setting(11, skip_error), 0, block)
        assert block.rounds_by_stride[CROWD] > 0.5 * block.rounds[0]
        sizes = law.calls[: law.cursor[0], 2]
        assert len(sizes) < 0.25 * block.pulls[0]


@pytest.mark.slow
@pytest.mark.usefixtures("rostered")
def test_no_decision_hangs_on_rewards_that_are_thrown_away() -> None:
    """60 replications: no reward is asked for twice."""
    for task in far_apart(8, 3, (3, 12)):
        assert decisions_use_used_rewards(Vanilla(), task, 1, 0, 20) == ([], 0)


@pytest.mark.parametrize(
    ("sum_", "all_due"),
    [(100.0, 0), (95.0, 1), (60.0, 1), (55.0, 0), (50.0, 1), (10.0, 1), (5.0, 0)],
)
def test_all_are_due_once_an_arm_beside_a_border_is_settled(sum_: float, all_due: int) -> None:
    """Above the border or below it; not if others are."""
    sums = [100.0, 95.0, 60.0, 55.0, 50.0, 10.0, 5.0]
    made = watch(np.random.default_rng(1), [2, 3, 2], R=100, sums=sums)
    run_, roster = made.run._replace(merging=False), made.roster
    roster.cells[[LEFT_BELOW, PER_BORDER]] = 1, 0
    roster.beside[:4] = beside(made.sums, made.cuts)
    roster.label[0], roster.sum_[0] = roster.label_of[sums.index(sum_)], sum_
    settle(roster, run_, 1)
    assert roster.cells[ALL_DUE] == all_due
    assert np.flatnonzero(run_.part.settled[0]).tolist() == [sums.index(sum_)]


# --------------------------------------------------------------------------------------------------
# By law
# --------------------------------------------------------------------------------------------------


def law_of(name: str, means: NDArray[np.float64]) -> Arms:
    """Return arms of a law that draws."""
    if name == "Gaussian":
        return rai.Gaussian(means)
    thirds = np.stack([1.0 - means - 0.1, np.full(len(means), 0.2), means - 0.1], axis=1)
    return rai.Categorical([0.0, 0.5, 1.0], np.clip(thirds, 0.0, 1.0) / thirds.sum(1)[:, None])


def outcomes(
    arms: Arms,
    count: int,
    *,
    delta: float = 0.01,
    strides: int = ALL,
    asked: int = 0,
    first: int = 0,
    seed: int = 1,
) -> Block:
    """Return replications of three clusters, traced if rounds are asked for."""
    N = len(arms.means)
    clusters = np.array([N // 3, N // 3, N - 2 * (N // 3)])
    history = new_history(np.arange(asked, 60 * asked, asked), N) if asked else None
    block = new_block(count, 15, N, history)
    setting = Setting(
        sizes=clusters,
        required=np.array([5, 5, 5]),
        cluster_of=np.repeat(np.arange(3), clusters),
        delta=delta,
        skip_error=1e-12,
        max_pulls=-1,
        key=stream_key(seed),
        strides=strides,
    )
    Vanilla().run_block(arms.kernel_law(), setting, first, block)
    return block


EVEN = np.linspace(0.9, 0.1, 300)


@pytest.mark.slow
@pytest.mark.usefixtures("rostered")
@pytest.mark.parametrize("law", ["Gaussian", pytest.param("Categorical", marks=pytest.mark.slow)])
def test_the_law_does_not_hang_on_rosters(law: str) -> None:
    """300 arms, 400 replications with and without: pulls, rounds and outputs are alike, false alarm
    3e-6 a law; negative control: delta 0.02 in the place of 0.01 is seen. Wrong sums show here;
    wrong certificates show in the replays above."""
    arms = law_of(law, EVEN)
    ours, theirs = outcomes(arms, 400), outcomes(arms, 400, strides=without(CROWD), seed=2)
    assert ours.rounds_by_stride[CROWD] > 0.5 * ours.rounds.sum()
    for mine, other in (
        (ours.pulls, theirs.pulls),
        (ours.rounds, theirs.rounds),
        (ours.representatives[:, 7], theirs.representatives[:, 7]),
    ):
        assert stats.ks_2samp(mine, other).pvalue > 1e-6
    wrong = outcomes(arms, 400, delta=0.02, seed=3)
    assert stats.ks_2samp(wrong.pulls, theirs.pulls).pvalue < 1e-6


def recording(N: int, T: int, seed: int, kind: str) -> rai.Recorded:
    """Record rewards 0 and 1, reals near their means, or such about a large number, whose sums are
    rounded."""
    rng, means = np.random.default_rng(seed), np.linspace(0.9, 0.1, N)[:, None]
    if kind == "bits":
        return rai.Recorded((rng.random((N, T)) < means).astype(float), means[:, 0])
    rewards = np.clip(means + 0.3 * rng.uniform(-1.0, 1.0, (N, T)), 0.0, 1.0)
    return rai.Recorded(rewards + (1e9 if kind == "far from 0" else 0.0), means[:, 0])


@pytest.mark.slow
@pytest.mark.usefixtures("rostered")
@pytest.mark.parametrize("kind", ["bits", "reals", "far from 0"])
def test_replays_are_the_same_without_a_roster(kind: str) -> None:
    """Five recordings of 60 arms and 300 rounds' worth of ties, and one of 300: in every number."""
    for seed, N in ((1, 60), (2, 60), (3, 60), (4, 60), (5, 60), (6, 300)):
        arms = recording(N, 6000, seed, kind)
        ours, theirs = outcomes(arms, 4), outcomes(arms, 4, strides=without(CROWD))
        assert ours.fault[0] == theirs.fault[0] == 0
        assert ours.rounds_by_stride[CROWD] > 0.3 * ours.rounds.sum()
        for name in ("pulls", "rounds", "finished", "representatives", "settled"):
            assert np.array_equal(getattr(ours, name), getattr(theirs, name))


@pytest.mark.slow
def test_a_large_replay_is_the_same_without_a_roster() -> None:
    """1,000 arms, with the numbers of arms that are the package's."""
    arms = recording(1000, 4000, 1, "bits")
    ours, theirs = outcomes(arms, 2), outcomes(arms, 2, strides=without(CROWD))
    assert ours.rounds_by_stride[CROWD] > 0.5 * ours.rounds.sum()
    for name in ("pulls", "rounds", "representatives"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name))


@pytest.mark.slow
@pytest.mark.usefixtures("rostered")
def test_a_recording_that_ends_is_told() -> None:
    """As it is without a roster."""
    arms = recording(30, 500, 1, "reals")
    ours, theirs = outcomes(arms, 1), outcomes(arms, 1, strides=without(CROWD))
    assert ours.rounds_by_stride[CROWD] > 0
    assert ours.fault[0] == theirs.fault[0] == RECORDING_RAN_OUT
    assert ours.fault[2] == theirs.fault[2] == 501


@pytest.mark.slow
@pytest.mark.usefixtures("rostered")
def test_a_sum_that_is_not_finite_is_told() -> None:
    """In the round in which it is seen, with the arm."""
    arms = recording(30, 6000, 1, "reals")
    law = arms.kernel_law()
    law.prefix[7, 1200:] = np.nan
    block = new_block(1, 15)
    setting = Task("bits", (), (10, 10, 10), (5, 5, 5), 0.01).block_setting(1, 0.0)
    Vanilla().run_block(law, setting, 0, block)
    assert block.fault[:2].tolist() == [NOT_FINITE, 7]
    assert block.fault[2] >= 1200


@pytest.mark.slow
@pytest.mark.usefixtures("rostered")
@pytest.mark.parametrize("law", ["Gaussian", pytest.param("Categorical", marks=pytest.mark.slow)])
def test_traced_runs_are_those_without_a_trace(law: str) -> None:
    """On laws that draw, with rounds asked for in which arms rest; states are of rounds in which
    nobody does, and the last is of the last round."""
    arms = law_of(law, np.linspace(0.9, 0.1, 60))
    whole = outcomes(arms, 3)
    for replication in range(3):
        traced = outcomes(arms, 1, asked=100, first=replication)
        assert traced.pulls[0] == whole.pulls[replication]
        assert traced.rounds[0] == whole.rounds[replication]
        assert np.array_equal(traced.representatives[0], whole.representatives[replication])
        kept = states_kept(traced.history)
        assert kept > 5
        assert traced.history.pulls[-1, 0].max() == whole.rounds[replication]
        active = whole.settled[replication, 0] == 0
        assert (traced.history.pulls[-1, 0][active] == whole.rounds[replication]).all()


@pytest.mark.slow
@pytest.mark.parametrize("fault", ROSTERS)
def test_planted_faults_are_seen(fault: str, tmp_path: Path) -> None:
    """Negative controls."""
    missed, _ = pathwise_findings_of_mutant(tmp_path, [*SMALL_ROSTERS, ROSTERS[fault]], ROSTERED)
    assert sum(missed) >= 3
