"""Stretches of LUCB's variants: what corridors promise, and paths of close arms beside the literal
loop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from locate import only
from mutants import Changed, pathwise_findings_of_mutant
from numpy.typing import NDArray
from pathwise import Misses, Task, decisions_use_used_rewards, misses, run_kernels
from replay import draw_instance, lucb_length, run_kernel, suited
from stack import RECORDING, new_stack

from rai_sim import LUCB
from rai_sim.algorithms.lucb.run import MISSING, MOST, PICKS, PULLS, RANKED, ROUND, Run
from rai_sim.algorithms.lucb.strides import CORRIDORS, PLAIN
from rai_sim.algorithms.lucb.variants import corridors, loop
from rai_sim.algorithms.lucb.variants.picks import choice_of
from rai_sim.algorithms.lucb.variants.radii import radii_of
from rai_sim.engine.blocks import Setting, new_block
from rai_sim.engine.faults import MOST_PULLS
from rai_sim.engine.jit import exposed
from rai_sim.engine.partition import open_partition
from rai_sim.engine.streams import stream_key

judge, set_sides = exposed(loop._judge_round), exposed(loop._set_sides)
open_own_corridors, opened = exposed(corridors.open_own_corridors), exposed(open_partition)

RULES = [
    LUCB(radius="mixture"),
    LUCB(radius="stitched"),
    LUCB(radius="mixture", picks="lucb++"),
    LUCB(radius="stitched", picks="rank"),
]
TASKS: dict[str, list[tuple[tuple[int, ...], tuple[int, ...]]]] = {
    "all": [((1, 4), (1, 0)), ((2, 3), (1, 0)), ((2, 2, 2), (1, 2, 1)), ((1, 1, 2), (0, 1, 0))],
    "lucb++": [((1, 4), (1, 0)), ((2, 3), (2, 0)), ((3, 1, 1), (0, 0, 1))],
    "rank": [((2, 3), (2, 0)), ((2, 2, 2), (0, 2, 0)), ((1, 1, 1, 2), (1, 1, 1, 2))],
}


def standing(
    rng: np.random.Generator,
    algorithm: LUCB,
    clusters: tuple[int, ...],
    required: tuple[int, ...],
) -> tuple[Run, loop.Variant]:
    """Return arms in the middle of a run, some 100 to 300,000 pulls behind them, ranked."""
    N = sum(clusters)
    law = new_stack(RECORDING, np.full(N, 0.5), 0.25, prefix=np.zeros((N, 1)), available=1 << 60)
    setting = Setting(
        sizes=np.array(clusters),
        required=np.array(required),
        cluster_of=np.zeros(N, np.int64),
        delta=0.1,
        skip_error=0.0,
        max_pulls=-1,
        key=stream_key(1),
    )
    choice = choice_of(algorithm.radius.name, algorithm.picks, clusters, required, 0.1)
    run = loop.new_variant_run(law, setting, new_block(1, sum(required)))
    variant, s = loop.new_variant(choice, N), run.ranking
    taken = np.round(10.0 ** rng.uniform(2.0, 5.5, N))
    spread = rng.choice([0.02, 0.1]) * rng.standard_normal(N)
    # arms that are pulled in turn have bounds alike: means follow radii, up or down
    side = rng.choice([-1.0, 1.0], N) * radii_of(choice.down, taken, taken)
    mean = 0.5 + 0.1 * spread + rng.choice([0.0, 1.0]) * side
    order = np.argsort(-mean, kind="stable")
    s.order[:], s.arm_of[:] = order, np.arange(N)
    s.mean[:], s.taken[:] = mean[order], taken[order]
    s.total[:] = s.mean * s.taken
    run.clock[MISSING] = opened(run.part, setting.sizes)
    run.clock[RANKED], run.clock[PULLS], run.clock[ROUND] = N, int(taken.sum()), int(taken.max())
    run.clock[MOST] = MOST_PULLS
    return run, variant


def picks_of(run: Run) -> set[int]:
    """Return the labels of the picks of the round that was judged."""
    s = run.ranking
    return set(s.order[s.picks[: run.clock[PICKS]]].tolist())


def judged(run: Run, variant: loop.Variant) -> tuple[int, set[int]]:
    """Judge a round of arms anywhere; return how many are settled, and the picks."""
    s, N = run.ranking, run.ranking.order.size
    rows = np.lexsort((s.order, -s.mean))
    for array in (s.order, s.mean, s.taken, s.total):
        array[:] = array[rows].copy()
    set_sides(run, variant, N, True)
    settled = judge(run, variant)
    return settled, picks_of(run)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", RULES, ids=str)
def test_whatever_happens_in_corridors_the_picks_are_the_same(algorithm: LUCB) -> None:
    """Standings at random, picks at random places in their corridors, near the walls among them,
    after any number of pulls: nobody is settled, the same arms are picked."""
    rng, tried, long = np.random.default_rng(3), 0, 0
    for number in range(3_000):
        tasks = TASKS[algorithm.picks]
        run, variant = standing(rng, algorithm, *tasks[number % len(tasks)])
        settled, before = judged(run, variant)
        if settled:
            continue
        most = open_own_corridors(run, variant.choice, variant.walls)
        if most < 2:
            continue
        tried += 1
        long += most > 100
        s, walls = run.ranking, variant.walls
        at = s.picks[: run.clock[PICKS]].copy()
        mean, taken = s.mean.copy(), s.taken.copy()
        order = s.order.copy()
        up, down = walls.up[at].copy(), walls.down[at].copy()
        for _ in range(8):
            s.order[:], s.mean[:], s.taken[:] = order, mean, taken
            j = int(rng.choice([1, int(rng.integers(1, most + 1)), most]))
            X = rng.choice([-0.9999, 0.9999, 0.0, float(rng.uniform(-1, 1))], at.size)
            X = np.where(X > 0, X * np.minimum(up, 1e9), X * np.minimum(down, 1e9))
            s.mean[at] = mean[at] + X / (taken[at] + j)
            s.taken[at] = taken[at] + j
            assert judged(run, variant) == (0, before)
    assert tried > 300
    assert long > 60


def close(kind: str, gap: float, clusters: tuple[int, ...], required: tuple[int, ...]) -> Task:
    """Return evenly spaced arms about one half."""
    N = sum(clusters)
    means = tuple(0.5 + gap * ((N - 1) / 2 - i) for i in range(N))
    return Task(kind, means, clusters, required, 0.1)


def rounds_by_stride(algorithm: LUCB, task: Task, count: int) -> NDArray[np.int64]:
    """Return how many rounds are made by which stride."""
    block = new_block(count, sum(task.required))
    algorithm.run_block(task.stack(), task.block_setting(7, 1e-12), 0, block)
    return block.rounds_by_stride


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", RULES, ids=str)
def test_paths_of_close_arms(algorithm: LUCB) -> None:
    """All kinds of rewards, tens of thousands of rounds, nearly all in stretches: every number is the
    literal loop's, with the budget and without, capped and traced."""
    found = Misses(0, (), 0)
    for number, (clusters, required) in enumerate(TASKS[algorithm.picks]):
        for kind in ("words", "bits", "levels", "reals"):
            task = close(kind, 0.03, clusters, required)
            found += misses(algorithm, task, 11, 4)
            found += misses(algorithm, task, 12, 1, skip_error=0.0)
            found += misses(algorithm, task, 13, 1, traced=True)
            found += misses(algorithm, task, 14, 2, max_pulls=5_000 + 1_000 * number)
    assert found.examples == ()
    made = rounds_by_stride(algorithm, close("words", 0.03, *TASKS[algorithm.picks][0]), 4)
    assert made[CORRIDORS] > 4 * made[PLAIN] > 0


def test_replays_are_the_same_without_the_stride() -> None:
    """Of 30 recordings, in whose runs the stride makes hundreds of rounds."""
    rng, made = np.random.default_rng(2), np.zeros(2, np.int64)
    for _ in range(30):
        drawn = draw_instance(rng, lucb_length, (0.25, 0.8))
        for instance in suited(rng, RULES[0], [drawn]):
            N = instance.n_arms
            block = new_block(1, sum(instance.required), N, arms_with_pulls=N)
            ours = run_kernel(RULES[0], instance, variance_proxy=0.25, block=block)
            made += block.rounds_by_stride[[CORRIDORS, PLAIN]]
            assert ours == run_kernel(RULES[0], instance, strides=only(PLAIN))
    assert made.min() > 500


@pytest.mark.slow
def test_without_the_stride_rounds_are_plain() -> None:
    """The mask holds; the paths are the same."""
    task = close("words", 0.05, (1, 3), (1, 0))
    found = misses(RULES[0], task, 11, 4, strides=only(PLAIN))
    assert found.examples == ()
    masked = run_kernels(RULES[0], task, task.stack(), 11, 0, 4, strides=only(PLAIN))
    free = run_kernels(RULES[0], task, task.stack(), 11, 0, 4)
    assert masked.pulls.tolist() == free.pulls.tolist()


@pytest.mark.slow
def test_over_confident_certificates_are_noticed() -> None:
    """Negative control: a law that claims a hundredth of its variance proxy."""
    found = Misses(0, (), 0)
    for kind in ("bits", "reals"):
        found += misses(RULES[0], close(kind, 0.03, (1, 3), (1, 0)), 11, 8, proxy_over=100.0)
    assert found.number >= 3


@pytest.mark.slow
def test_decisions_use_used_rewards() -> None:
    """Rewards of words that are thrown away decided nothing."""
    task = close("words", 0.08, (1, 3), (1, 0))
    found, anew = decisions_use_used_rewards(RULES[0], task, 5, 0, 6)
    assert found == []
    assert anew > 1_000


#: Faults in what corridors promise, and what they are shown by.
FAULTS: dict[str, tuple[Changed, LUCB, tuple[tuple[int, ...], tuple[int, ...]]]] = {
    "radii that do not fall": (
        Changed(
            "algorithms/lucb/variants/corridors.py",
            "own_corridors",
            "down = radius_of(choice.down, 0.0, s.taken[x] + Q) / unit",
            "down = radius_of(choice.down, 0.0, s.taken[x]) / unit",
        ),
        RULES[0],
        ((1, 3), (1, 0)),
    ),
    "a closed border is forgotten": (
        Changed(
            "algorithms/lucb/variants/corridors.py",
            "_keep_closed",
            "safe = safe and room > slack",
            "walls.up[x] = walls.down[x] = np.inf",
        ),
        RULES[3],
        ((1, 1, 1, 2), (1, 1, 1, 2)),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_planted_faults_are_found(name: str, tmp_path: Path) -> None:
    """Negative controls: paths differ."""
    fault, algorithm, (clusters, required) = FAULTS[name]
    trials: list[Any] = [
        (algorithm, close(kind, gap, clusters, required), 3, 40, {})
        for kind in ("words", "reals")
        for gap in (0.03, 0.06)
    ]
    assert sum((misses(*trial[:4]) for trial in trials), start=Misses(0, (), 0)).number == 0
    missed, _ = pathwise_findings_of_mutant(tmp_path, [fault], trials)
    assert sum(missed) >= 1
