"""Arms that sleep: path by path against literal loops on the same rewards, and by law."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pathwise
import pytest
from crowds import moment
from mutants import RESTING, SLEEPERS, SMALL_RESTED, pathwise_findings_of_mutant
from pathwise import Task, close_tasks, decisions_use_used_rewards, misses
from scipy import stats

import rai_sim as rai
from rai_sim import Vanilla
from rai_sim.algorithms.vanilla.widths import paper
from rai_sim.engine.blocks import Block, new_block
from rai_sim.engine.history import new_history
from rai_sim.engine.jit import exposed
from rai_sim.engine.round_robin import loop
from rai_sim.engine.round_robin.crowd import borders, places, sleep
from rai_sim.engine.round_robin.crowd.places import (
    ASLEEP,
    ASLEEP_SINCE,
    ASLEEP_UNTIL,
    AWAKE,
    FIRST_ASLEEP,
    LEAVES_AT,
    SLEEPS,
    TRIED_AGAIN,
)
from rai_sim.engine.round_robin.run import JUMPS, new_run, width
from rai_sim.engine.strides import CROWD, without

place_borders, find_borders = exposed(borders.place_borders), exposed(borders.find_borders)
set_fences, sleeper_of = exposed(sleep._set_fences), exposed(sleep._sleeper_of)
fall_asleep = exposed(sleep._fall_asleep)
within_fences, width_of = exposed(sleep.within_fences), exposed(width)


@pytest.fixture
def resting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let two arms be a crowd to the end, and sleep from round 1,000 on."""
    for name in ("MANY", "FEW", "MANY_RESTED", "FEW_RESTED"):
        monkeypatch.setattr(places, name, 2)
    monkeypatch.setattr(places, "A_BORDER", 0)
    monkeypatch.setattr(places, "RESTED", 1000)


def sleeps(task: Task, law: Any = None, skip_error: float = 1e-12) -> int:
    """Return how often arms went to sleep in replication 0."""
    setting, block = task.block_setting(11, skip_error), new_block(1, sum(task.required))
    scale = np.pi**2 * len(task.means) / (3.0 * task.delta)
    run = new_run(task.stack(), paper(scale), True, setting, block, crowds=True)
    loop._run_block(run, 0, block)
    assert block.finished.all()
    return int(run.crowd.cells[SLEEPS])


def total(tasks: list[Task], each: int, algorithm: Vanilla, **options: Any) -> pathwise.Misses:
    """Run tasks one after another."""
    return sum(
        (misses(algorithm, task, 11, each, **options) for task in tasks),
        start=pathwise.Misses(0, (), 0),
    )


@pytest.mark.slow
@pytest.mark.usefixtures("resting")
def test_replications_are_the_literal_loops() -> None:
    """96 replications: with and without merging, capped, traced, both, with an error that is worth a
    try."""
    some = close_tasks(1, 6, (6, 20))
    found = (
        total(some, 4, Vanilla())
        + total(some, 2, Vanilla(merging=False))
        + total(some, 2, Vanilla(), skip_error=1e-6)
        + total(some, 3, Vanilla(), max_pulls=500_000)
        + total(some, 2, Vanilla(), traced=True)
        + total(some, 3, Vanilla(), traced=True, max_pulls=500_000)
    )
    assert found == pathwise.Misses(96, (), 0)


@pytest.mark.slow
@pytest.mark.usefixtures("resting")
def test_more_replications_are_the_literal_loops() -> None:
    """920 replications of up to 300 arms."""
    some, more = close_tasks(4, 20, (6, 40)), close_tasks(2, 4, (100, 300))
    found = (
        total(some, 20, Vanilla())
        + total(some, 10, Vanilla(merging=False))
        + total(some, 5, Vanilla(), max_pulls=700_000)
        + total(some, 10, Vanilla(), traced=True)
        + total(more, 5, Vanilla())
    )
    assert found == pathwise.Misses(920, (), 0)


@pytest.mark.slow
@pytest.mark.usefixtures("resting")
def test_arms_do_sleep() -> None:
    """Many times a replication; never where nothing may be left to chance."""
    counts = [sleeps(task) for task in close_tasks(1, 6, (6, 20))]
    assert sum(counts) > 50
    assert sum(count > 0 for count in counts) >= 3
    assert sleeps(close_tasks(1, 1, (6, 20))[0], skip_error=0.0) == 0


@pytest.mark.slow
@pytest.mark.usefixtures("resting")
def test_no_decision_hangs_on_rewards_that_are_thrown_away() -> None:
    """40 replications: what is left of words when sleepers are woken stays in use."""
    anew = 0
    for task in close_tasks(3, 4, (6, 20)):
        found, more = decisions_use_used_rewards(Vanilla(), task, 1, 0, 10)
        assert found == []
        anew += more
    assert anew > 1000


def outcomes(problem: rai.Problem, strides: int, count: int, asked: int = 0) -> Block:
    """Return replications, traced if rounds are asked for."""
    task = Task("words", (), tuple(problem.clusters), tuple(problem.required), 0.1)
    N = len(problem.cluster_of)
    history = new_history(np.arange(asked, 40 * asked, asked), N) if asked else None
    block = new_block(count, sum(problem.required), N, history)
    setting = task.block_setting(5 + strides % 7, 1e-12, strides=strides)
    Vanilla().run_block(problem.arms.kernel_law(), setting, 0, block)
    return block


@pytest.mark.usefixtures("resting")
def test_traced_runs_are_those_without_a_trace() -> None:
    """On a law that draws, with rounds asked for in which arms sleep; states are of rounds in which
    nobody does, sums of as many rewards."""
    problem = rai.Problem(rai.Bernoulli(np.linspace(0.55, 0.45, 40)), (20, 20), (15, 15))
    whole, traced = outcomes(problem, without(), 1), outcomes(problem, without(), 1, asked=333)
    assert whole.rounds[0] > 30_000
    assert (whole.pulls, whole.rounds) == (traced.pulls, traced.rounds)
    assert np.array_equal(whole.representatives, traced.representatives)
    kept = traced.history.rounds[: int(traced.history.cursor[1])]
    assert kept.size > 5


@pytest.mark.slow
@pytest.mark.usefixtures("resting")
def test_the_law_does_not_hang_on_sleep() -> None:
    """40 arms, 400 replications with and without crowds: pulls, rounds and outputs are alike, false
    alarm 3e-6; negative control: a task a little harder is seen."""
    problem = rai.Problem(rai.Bernoulli(np.linspace(0.6, 0.4, 40)), (20, 20), (15, 15))
    ours, theirs = outcomes(problem, without(), 400), outcomes(problem, without(CROWD), 400)
    for mine, other in (
        (ours.pulls, theirs.pulls),
        (ours.rounds, theirs.rounds),
        (ours.representatives[:, 17], theirs.representatives[:, 17]),
    ):
        assert stats.ks_2samp(mine, other).pvalue > 1e-6
    harder = rai.Problem(rai.Bernoulli(np.linspace(0.595, 0.405, 40)), (20, 20), (15, 15))
    wrong = outcomes(harder, without(), 400)
    assert stats.ks_2samp(wrong.pulls, theirs.pulls).pvalue < 1e-6


@pytest.mark.slow
@pytest.mark.usefixtures("resting")
def test_a_trace_ends_with_everybodys_state() -> None:
    """60 replications that end while most arms sleep."""
    task = Task("words", (0.8, 0.55, 0.5, *[0.4] * 20), (2, 21), (1, 0), 1e-40)
    assert sleeps(task) > 0
    assert misses(Vanilla(), task, 1, 60, traced=True).examples == ()


@pytest.mark.slow
def test_who_may_sleep_is_who_the_bound_certifies() -> None:
    """2,000 arms of three clusters, by the formula; some sleep in each cluster, and some are kept
    awake by each of the conditions."""
    rng, R, rounds = np.random.default_rng(1), 100_000, 3200
    made = moment(rng, 2000, [500, 900, 600], R=R, scale=30.0)
    run, crowd = made.run, made.run.crowd
    law, total_ = run.race.law, run.race.standings.total
    p = 0.5 + 0.02 * rng.standard_normal(2000)
    law.p[:] = p
    run.clock[JUMPS] = 0
    total_[:2000] = np.round(R * p + 150.0 * rng.standard_normal(2000))
    crowd.words[:] = 0
    place_borders(crowd, run.part)
    find_borders(run)
    assert set_fences(crowd, R, rounds)
    budget = 2.0 * 0.25 * (np.log(6000.0) + 11.0 * np.log(2.0) + 12.0 * np.log(10.0))
    ranked, mine = np.sort(total_[:2000])[::-1], []
    edges = [(ranked[cut - 1], ranked[cut]) for cut in (500, 1400)]
    margin, W, W_then = 0.5 * np.sqrt(rounds) + 2.0, width_of(run, R), width_of(run, R + rounds)

    def fence(b: int, side: int, after: float) -> Any:
        upper, lower = edges[b]
        return (upper + margin, lower - margin)[side] + after * (upper + lower) / (2.0 * R)

    def holds(D: Any, D_then: Any) -> Any:
        return bool(D_then > 0.0 and min(D_then, 2.0 * D) ** 2 >= 2.0 * 0.25 * rounds * share)

    share, reasons = budget / 0.5, set()
    for x in range(2000):
        now, then = total_[x], total_[x] + rounds * p[x]
        k = sum(now <= fence(b, 1, 0.0) for b in range(2))
        conditions, unclear = [], []
        if k > 0:
            conditions.append(holds(fence(k - 1, 1, 0) - now, fence(k - 1, 1, rounds) - then))
            up, up_then = now - fence(k - 1, 0, 0), then - fence(k - 1, 0, rounds)
            unclear.append(holds(up + W, up_then + W_then))
        if k < 2:
            conditions.append(holds(now - fence(k, 0, 0), then - fence(k, 0, rounds)))
            down, down_then = fence(k, 1, 0) - now, fence(k, 1, rounds) - then
            unclear.append(holds(down + W, down_then + W_then))
        expected = k if all(conditions) and any(unclear) else -1
        reasons.add((k, all(conditions), any(unclear)))
        assert sleeper_of(run, x, rounds, budget, W, W_then) == expected
        mine.append(expected)
    assert set(mine) == {-1, 0, 1, 2}
    assert {(k, True, False) for k in (0, 2)} <= reasons
    assert {(k, False, True) for k in (0, 1, 2)} <= reasons
    before = dict(
        zip(run.race.standings.order[:2000].tolist(), total_[:2000].tolist(), strict=True)
    )
    fall_asleep(run, rounds)  # as a first jump, with the budget of all arms
    asleep = [arm for arm in range(2000) if mine[arm] >= 0]
    awake = [arm for arm in range(2000) if mine[arm] < 0]
    assert run.race.standings.order[:2000].tolist() == awake + asleep
    assert total_[:2000].tolist() == [before[arm] for arm in awake + asleep]
    assert crowd.cells[[AWAKE, ASLEEP, FIRST_ASLEEP]].tolist() == [
        len(awake),
        len(asleep),
        len(awake),
    ]
    assert crowd.cells[[ASLEEP_SINCE, ASLEEP_UNTIL]].tolist() == [R, R + rounds]
    assert crowd.asleep_above[:2].tolist() == [mine.count(0), mine.count(0) + mine.count(1)]
    assert run.clock[JUMPS] == 1


@pytest.mark.slow
def test_few_sleepers_are_not_worth_it() -> None:
    """Where fewer than half would sleep nobody does, and it is tried again later."""
    made = moment(np.random.default_rng(2), 100, [50, 50], R=40_000, scale=30.0, spread=1.0)
    run, crowd = made.run, made.run.crowd
    run.race.standings.total[:100] = 20_000.0 + np.arange(100)[::-1]
    crowd.words[:] = 0
    run.clock[JUMPS] = 0
    place_borders(crowd, run.part)
    find_borders(run)
    fall_asleep(run, 3200)
    assert crowd.cells[ASLEEP] == run.clock[JUMPS] == 0
    assert crowd.cells[TRIED_AGAIN] == 45_000


def test_borders_are_held_against_their_fences() -> None:
    """In the lane after the last for which both sums are within; on a fence is within."""
    made = moment(np.random.default_rng(1), 10, [4, 6], R=5000, scale=1.001)
    crowd = made.run.crowd
    place_borders(crowd, made.run.part)
    crowd.cells[[ASLEEP, ASLEEP_SINCE]] = 3, 4900
    crowd.fences[:, 0], crowd.fence_pace[0] = (2500.0, 2400.0), 0.5
    for upper, lower, R, within in (
        (2550, 2450, 5000, True),
        (2551, 2450, 5000, False),
        (2550, 2449, 5000, False),
        (2551, 2451, 5002, True),
    ):
        crowd.upper[0, 7], crowd.lower[0, 7], crowd.cells[LEAVES_AT] = upper, lower, -1
        assert within_fences(crowd, 7, R) == within
        assert crowd.cells[LEAVES_AT] == (-1 if within else 7)
    crowd.cells[ASLEEP], crowd.upper[0, 7] = 0, 9999
    assert within_fences(crowd, 7, 5000)


@pytest.mark.slow
@pytest.mark.parametrize("fault", SLEEPERS)
def test_planted_faults_are_seen(fault: str, tmp_path: Path) -> None:
    """Negative controls."""
    missed, _ = pathwise_findings_of_mutant(tmp_path, [*SMALL_RESTED, SLEEPERS[fault]], RESTING)
    assert sum(missed) >= 3
