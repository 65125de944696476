"""Kernels against literal loops on the same rewards, path by path (see `pathwise`), at sizes of the
suite's slow tests, some with array bounds checked; millions are run by scripts/verify.py.

No false alarms but those of `skip_error`: 1e-12 a replication.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import literal
import numpy as np
import pathwise
import pytest
from literal import compiled
from mutants import LOOK_AHEAD, STALE_SLOPE, Trial, pathwise_findings_of_mutant
from numpy.typing import NDArray
from pathwise import Task, decisions_use_used_rewards, draw_tasks, misses, two_arms
from replay import (
    Instance,
    butterscotch_length,
    draw_instance,
    lucb_length,
    opening_order,
    run_twin,
    suited,
    vanilla_length,
)

from rai_sim import LUCB, Butterscotch, Vanilla
from rai_sim.algorithms.base import Algorithm

pytestmark = pytest.mark.slow

#: Two arms under words, where most rounds of a run are; middle, gap, delta.
PAIRS = [
    (0.5, 0.14, 0.1),
    (0.5, 0.25, 0.01),
    (0.5, 0.4, 0.3),
    (0.8, 0.2, 0.1),
    (0.12, 0.2, 0.1),
    (0.5, 0.14, 0.01),
    (0.7, 0.3, 0.01),
]
LAWS = ("words", "bits", "levels", "reals")
#: A ranking, by sums alone.
FOUR = Task("reals", (0.8, 0.6, 0.3, 0.0), (1, 2, 1), (1, 1, 1), 0.1)


def two_arm_tasks() -> list[Task]:
    """Return ten tasks."""
    return [
        *(two_arms("words", *pair) for pair in PAIRS),
        *(two_arms(kind, 0.5, 0.25, 0.1) for kind in LAWS[1:]),
    ]


def tasks_of_many() -> list[Task]:
    """Return twenty tasks of 3 to 12 arms, half of them by words, and two of dozens."""
    some = draw_tasks(1, 10, ("words",), (3, 12), (0.12, 0.4)) + draw_tasks(
        2, 8, LAWS[1:], (3, 12), (0.2, 0.5)
    )
    return some + draw_tasks(3, 2, ("words",), (30, 100), (0.2, 0.4))


@compiled
def recorded(
    law: NDArray[np.float64], key: np.uint64, window: NDArray[np.uint64], arm: int, j: int
) -> float:
    """Return a reward of a recorded matrix, for literal loops; NaN beyond it, which settles
    nobody."""
    return law[arm, j] if j < law.shape[1] else np.nan


@compiled
def replay(
    rewards: NDArray[np.float64],
    rule: int,
    flag: bool,
    sizes: NDArray[np.int64],
    required: NDArray[np.int64],
    delta: float,
    cap: int,
    room: literal.Room,
    out: literal.Outcome,
) -> None:
    """Replay a recording through a compiled literal loop."""
    if rule == 2 or rule < 0:
        literal.lucb(
            recorded,
            rewards,
            np.uint64(0),
            flag,
            -rule - 1 if rule < 0 else 0,
            sizes,
            required,
            delta,
            1.0,
            cap,
            room,
            out,
            0,
        )
    else:
        literal.round_robin(
            recorded,
            rewards,
            np.uint64(0),
            rule,
            flag,
            sizes,
            required,
            delta,
            1.0,
            cap,
            room,
            out,
            0,
        )


@pytest.mark.parametrize(
    "algorithm",
    [
        Vanilla(),
        Vanilla(merging=False),
        Butterscotch(),
        Butterscotch(merging=False),
        LUCB(),
        LUCB(as_printed=True),
        LUCB(radius="mixture"),
        LUCB(radius="stitched", picks="rank"),
        LUCB(radius="mixture", picks="lucb++"),
        LUCB(radius="paper", picks="k-m"),
    ],
    ids=str,
)
def test_the_compiled_loops_are_the_plain_ones(algorithm: Algorithm) -> None:
    """On 150 recordings, some capped, everything that the plain twin says."""
    lengths: dict[Any, Any] = {
        Vanilla: (vanilla_length, (0.2, 0.8)),
        Butterscotch: (butterscotch_length, (0.08, 0.3)),
        LUCB: (lucb_length, (0.25, 0.8)),
    }
    rng, compared = np.random.default_rng(8), 0
    for _ in range(400):
        drawn = draw_instance(rng, *lengths[type(algorithm)], kinds=("bernoulli", "eighths"))
        instances = suited(rng, algorithm, [drawn])
        if not instances or run_twin(algorithm, instances[0]).ran_out_at:
            continue
        instance = instances[0]
        plain = run_twin(algorithm, instance)
        out = outcome_of(algorithm, instance)
        named = tuple(out.representatives[0].tolist()) if out.finished[0] else ()
        mine = (
            int(out.pulls[0]),
            int(out.rounds[0]),
            named,
            tuple(out.settled[0, 0].tolist()),
            bool(out.finished[0]),
        )
        assert mine == (
            plain.pulls,
            plain.rounds,
            plain.representatives,
            plain.settled,
            plain.finished,
        )
        assert out.arm_pulls.sum() == plain.pulls
        compared += 1
        if compared == 150:
            return
    raise AssertionError(f"{compared} recordings did not run out")


def outcome_of(algorithm: Algorithm, instance: Instance) -> literal.Outcome:
    """Replay an instance."""
    N, m = instance.n_arms, len(instance.clusters)
    out, room = literal.new_outcome(1, sum(instance.required), N), literal.new_room(N, m)
    room.order[:] = opening_order(instance)
    cap = -1 if instance.max_pulls is None else instance.max_pulls
    sizes, required = np.array(instance.clusters, np.int64), np.array(instance.required, np.int64)
    replay(
        np.ascontiguousarray(instance.rewards),
        *pathwise.rule_of(algorithm),
        sizes,
        required,
        instance.delta,
        cap,
        room,
        out,
    )
    return out


def total(algorithm: Algorithm, tasks: list[Task], each: int, **options: Any) -> pathwise.Misses:
    """Run tasks one after another."""
    return sum(
        (misses(algorithm, task, 11, each, **options) for task in tasks),
        start=pathwise.Misses(0, (), 0),
    )


def test_vanilla_with_two_arms() -> None:
    """60,000 replications of ten tasks."""
    assert total(Vanilla(), two_arm_tasks(), 6_000) == pathwise.Misses(60_000, (), 0)


def test_vanilla_with_more_arms() -> None:
    """40,000 replications of twenty tasks, with and without merging."""
    tasks = tasks_of_many()
    found = (
        total(Vanilla(), tasks[:18], 2_000)
        + total(Vanilla(merging=False), tasks[:9], 400)
        + total(Vanilla(), tasks[18:], 200)
    )
    assert found == pathwise.Misses(40_000, (), 0)


@pytest.mark.boundscheck
def test_vanilla_by_sure_skips() -> None:
    """skip_error = 0, 6,000 replications."""
    assert total(Vanilla(), two_arm_tasks()[:3], 2_000, skip_error=0.0) == pathwise.Misses(
        6_000, (), 0
    )


def test_lucb() -> None:
    """20,000 replications of twenty-six tasks: in step, by lanes, by challenges, in corridors,
    round by round; 600 more as printed."""
    tasks = two_arm_tasks() + tasks_of_many()[:16]
    found = total(LUCB(), tasks[:10], 1_000) + total(LUCB(), tasks[10:], 625)
    assert found == pathwise.Misses(20_000, (), 0)
    # As printed, a run may never end.
    assert total(LUCB(as_printed=True), tasks[10:16], 100, max_pulls=100_000) == pathwise.Misses(
        600, (), 0
    )


def test_lucb_with_a_view() -> None:
    """150 and 300 arms, of which a view holds the few that matter: 6 replications."""
    assert total(
        LUCB(), draw_tasks(5, 3, ("words", "bits"), (150, 300), (0.4, 0.6)), 2
    ) == pathwise.Misses(6, (), 0)


@pytest.mark.parametrize("algorithm", [Vanilla(), LUCB()], ids=str)
def test_arms_pulls(algorithm: Algorithm) -> None:
    """How often each arm was pulled, as traces tell: 600 replications of either algorithm."""
    tasks = [*two_arm_tasks()[3:6], *tasks_of_many()[:3]]
    assert total(algorithm, tasks, 100, traced=True) == pathwise.Misses(600, (), 0)


@pytest.mark.parametrize("algorithm", [Vanilla(), LUCB(), LUCB(as_printed=True)], ids=str)
def test_caps(algorithm: Algorithm) -> None:
    """Caps on pulls of some tens to thousands, which many runs reach in the middle of words, jumps
    and corridors: 2,400 replications; 480 traced ones tell the means there, too."""
    found = pathwise.Misses(0, (), 0)
    for task in [*two_arm_tasks()[:6], *two_arm_tasks()[7:], *tasks_of_many()[:3]]:
        for cap in (37, 800, 2_501, 6_000):
            found += misses(algorithm, task, 12, 50, max_pulls=cap)
            found += misses(algorithm, task, 13, 10, max_pulls=cap, traced=True)
    assert found == pathwise.Misses(2_880, (), 0)


def test_certificates_hold_where_little_is_asked_of_them() -> None:
    """skip_error = 0.9: the bounds' true rate of misses is far below, and half of the variance
    proxy shows.

    Of 9,000 replications of Vanilla at most 5 are missed, of 3,000 with half the proxy more than
    10; likewise LUCB, whose corridors take over where there are no words, with a third of it.
    """
    tasks = [two_arms("bits", 0.5, 0.14, 0.1), two_arms("reals", 0.5, 0.14, 0.1), FOUR]
    assert total(Vanilla(), tasks, 3_000, skip_error=0.9).number <= 5
    assert total(LUCB(), tasks[:2], 1_000, skip_error=0.9).number <= 5
    for task in tasks:
        assert misses(Vanilla(), task, 11, 3_000, skip_error=0.9, proxy_over=2.0).number > 10
    assert total(LUCB(), tasks[:2], 1_000, skip_error=0.9, proxy_over=3.0).number > 10


def test_means_so_large_that_they_round() -> None:
    """LUCB in step with means of 1e10, of which a double keeps 2e-6: 1,500 replications, one of
    which a threshold without that missed."""
    assert misses(
        LUCB(), Task("reals", (1e10 + 0.25, 1e10), (1, 1), (1, 0), 0.1), 98, 1_500
    ) == pathwise.Misses(1_500, (), 0)


def test_butterscotch() -> None:
    """600 replications of three tasks: nothing is skipped between its rounds."""
    assert total(Butterscotch(), tasks_of_many()[:3], 200) == pathwise.Misses(600, (), 0)


@pytest.mark.boundscheck
def test_over_confident_certificates_are_seen() -> None:
    """Negative control: a thirtieth of the variance proxy, in 2,000 replications each of Vanilla
    with two arms and more."""
    for task in (two_arm_tasks()[0], FOUR):
        assert misses(Vanilla(), task, 11, 2_000, proxy_over=30.0).number > 10


@pytest.mark.parametrize("algorithm", [Vanilla(), LUCB()], ids=str)
def test_no_decision_hangs_on_rewards_that_are_thrown_away(algorithm: Algorithm) -> None:
    """400 replications each: rewards not used, drawn anew, change neither the outcome nor the
    course of the draws."""
    thrown_away = 0
    for task in [*two_arm_tasks()[:4], *tasks_of_many()[:6]]:
        found, anew = decisions_use_used_rewards(algorithm, task, 11, 0, 40)
        assert found == []
        thrown_away += anew
    assert thrown_away > 10_000


def test_planted_faults_are_seen(tmp_path: Path) -> None:
    """Negative controls: the chord's slope kept from W itself on, which misses events a few times
    in 100,000 runs; a look ahead at a reward that is then thrown away, which changes nothing on a
    fixed stack.
    """
    pairs = [
        two_arms("words", middle, 0.14, delta)
        for middle in (0.8, 0.5)
        for delta in (0.3, 0.1, 0.01)
    ]
    trials: list[Trial] = [(Vanilla(), pair, seed, 60_000, {}) for seed, pair in enumerate(pairs)]
    missed, hung = pathwise_findings_of_mutant(
        tmp_path, [STALE_SLOPE, LOOK_AHEAD], trials, reuse=True
    )
    assert sum(missed) >= 1
    assert hung >= 5
