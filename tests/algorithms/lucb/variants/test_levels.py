"""Best arm by levels: paths of close arms beside the literal loop, what a try leaves behind, and
faults that must be found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from literal import compiled
from locate import only
from mutants import Changed, Edit, Set, pathwise_findings_of_mutant
from numpy.typing import NDArray
from pathwise import Misses, Task, misses, run_kernels
from stack import NOTE, WORDS, Stack, kept_apart, key_of, new_stack, reward
from statistics_checks import LEVEL, same_law

from rai_sim import LUCB, Bernoulli, Gaussian
from rai_sim.algorithms.lucb.run import MISSING, MOST, PULLS, RANKED, ROUND, UNTIL
from rai_sim.algorithms.lucb.strides import CORRIDORS, LEVELS, PLAIN
from rai_sim.algorithms.lucb.variants import levels, loop
from rai_sim.algorithms.lucb.variants.levels import MOST_ARMS
from rai_sim.algorithms.lucb.variants.loop import have_levels
from rai_sim.algorithms.lucb.variants.picks import choice_of
from rai_sim.algorithms.lucb.variants.radii import radii_of, radius_of
from rai_sim.engine.blocks import Block, new_block
from rai_sim.engine.faults import MOST_PULLS
from rai_sim.engine.streams import State
from rai_sim.engine.strides import ALL, without

RULES = [
    LUCB(radius="mixture"),
    LUCB(radius="stitched"),
    LUCB(radius="mixture", picks="lucb++"),
    LUCB(radius="stitched", picks="lucb++"),
    LUCB(radius="mixture", picks="rank"),
    LUCB(radius="stitched", picks="rank"),
]


def close(N: int, gap: float, kind: str = "words", middle: float = 0.5) -> Task:
    """Return the best of evenly spaced arms."""
    means = tuple(middle + gap * ((N - 1) / 2 - i) for i in range(N))
    return Task(kind, means, (1, N - 1), (1, 0), 0.1)


def run_of(
    algorithm: LUCB, task: Task, count: int, first: int = 0, strides: int = ALL, **caps: int
) -> Block:
    """Run replications."""
    block = new_block(count, 1, len(task.means), arms_with_pulls=len(task.means))
    with kept_apart():
        setting = task.block_setting(11, 1e-12, strides=strides, **caps)
        algorithm.run_block(task.stack(), setting, first, block)
    return block


# --------------------------------------------------------------------------------------------------
# Paths
# --------------------------------------------------------------------------------------------------


@pytest.mark.landing
@pytest.mark.parametrize("algorithm", RULES, ids=str)
def test_paths_by_levels_are_the_literal_loops(algorithm: LUCB) -> None:
    """3 to 8 arms, thousands of rounds by levels: every number is the literal loop's, with the
    budget and without, capped and traced."""
    found, made = Misses(0, (), 0), np.zeros(16, np.int64)
    for number, (N, gap) in enumerate(((5, 0.03), (3, 0.02), (8, 0.05))):
        task = close(N, gap)
        found += misses(algorithm, task, 11, 4)
        found += misses(algorithm, task, 12, 1, skip_error=0.0)
        found += misses(algorithm, task, 13, 1, traced=True)
        found += misses(algorithm, task, 14, 4, max_pulls=9_000 + 3_001 * number)
        made += run_of(algorithm, task, 4).rounds_by_stride
    assert found.examples == ()
    assert made[LEVELS] > 10_000
    assert made[PLAIN] < made[LEVELS]


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", RULES, ids=str)
def test_many_paths_by_levels(algorithm: LUCB) -> None:
    """Closer arms, and arms beside 0 and 1; with corridors and without."""
    found = Misses(0, (), 0)
    for N, gap, middle in ((4, 0.015, 0.5), (6, 0.03, 0.15), (6, 0.03, 0.85), (16, 0.04, 0.5)):
        task = close(N, gap, "words", middle)
        found += misses(algorithm, task, 21, 40)
        found += misses(algorithm, task, 22, 10, strides=without(CORRIDORS))
        found += misses(algorithm, task, 23, 10, skip_error=0.0)
        found += misses(algorithm, task, 24, 2, traced=True)
        for cap in (500, 2_000, 12_345):
            found += misses(algorithm, task, 25, 10, max_pulls=cap)
    assert found.examples == ()


@pytest.mark.landing
def test_without_the_stride_the_paths_are_the_same() -> None:
    """The mask holds, and a stack's runs do not depend on it."""
    task = close(5, 0.03)
    by_levels = run_of(RULES[0], task, 6)
    masked = run_of(RULES[0], task, 6, strides=without(LEVELS))
    plain = run_of(RULES[0], task, 6, strides=only(PLAIN))
    assert by_levels.rounds_by_stride[LEVELS] > 10_000
    assert masked.rounds_by_stride[LEVELS] == 0
    assert plain.rounds_by_stride[PLAIN] == plain.rounds.sum()
    for other in (masked, plain):
        assert np.array_equal(by_levels.arm_pulls, other.arm_pulls)
        assert np.array_equal(by_levels.rounds, other.rounds)
        assert np.array_equal(by_levels.representatives, other.representatives)


@pytest.mark.landing
def test_nothing_known_ahead_is_carried_over() -> None:
    """A replication's result is that of a block of its own, ended by a cap or not."""
    task = close(5, 0.03)
    for caps in ({}, {"max_pulls": 7_001}):
        whole = run_of(RULES[0], task, 5, **caps)
        for b in range(5):
            alone = run_of(RULES[0], task, 1, first=b, **caps)
            assert np.array_equal(alone.arm_pulls[0], whole.arm_pulls[b])
            assert alone.rounds[0] == whole.rounds[b]


@pytest.mark.slow
def test_nothing_known_ahead_of_bernoulli_arms_is_carried_over() -> None:
    """Rewards of which a stack's are not: those left over by another replication are others."""
    task, blocks = close(4, 0.03), []
    for first, count in ((0, 12), (1, 1), (5, 3), (11, 1)):
        law, block = Bernoulli(list(task.means)).kernel_law(), new_block(count, 1, 4)
        RULES[0].run_block(law, task.block_setting(3, 1e-12), first, block)
        blocks.append((first, block))
    whole = blocks[0][1]
    assert whole.rounds_by_stride[LEVELS] > 10_000
    for first, block in blocks[1:]:
        assert np.array_equal(block.pulls, whole.pulls[first : first + block.pulls.size])


# --------------------------------------------------------------------------------------------------
# One stride
# --------------------------------------------------------------------------------------------------


@compiled
def stride(run: Any, variant: Any, state: State) -> tuple[int, float]:
    """Judge a round and make rounds by levels; return how many and the level, -1 and the level if
    arms were settled."""
    loop._set_sides(run, variant, run.clock[RANKED], True)
    if loop._judge_round(run, variant) > 0:
        return -1, np.inf
    level, _bar = levels._choose_level(run, variant.levels.terms[0])
    T, state = levels.try_levels(run.law, run, variant.levels, variant.choice, state)
    return T, level


@compiled
def rounds_literally(
    law: Stack,
    window: NDArray[np.uint64],
    choice: Any,
    taken: NDArray[np.float64],
    total: NDArray[np.float64],
    T: int,
    state: State,
) -> int:
    """Pull arm 0 and the other arm of the greatest UCB so many times, as long as arm 0 leads and is
    not settled; return how often."""
    key = key_of(state)
    for R in range(T):
        best, top, mean = 0, -np.inf, total[0] / taken[0]
        for x in range(1, taken.size):
            ucb = total[x] / taken[x] + radius_of(choice.up, 0.0, taken[x])
            if ucb > top:
                best, top = x, ucb
            if total[x] / taken[x] >= mean:
                return R
        if mean - radius_of(choice.down, 0.0, taken[0]) >= top:
            return R
        for x in (0, best):
            total[x] += reward(law, key, window, x, int(taken[x]))
            taken[x] += 1.0
    return T


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", [RULES[0], RULES[3], RULES[4]], ids=str)
def test_a_stride_is_rounds_of_the_rule_down_to_the_level(algorithm: LUCB) -> None:
    """Standings at random, as after a hundred to 30,000 pulls an arm: pulls and sums after a stride
    are those of as many literal rounds, and every challenger is below the level; after a try that
    was given up all is as it was."""
    rng, tried, long = np.random.default_rng(4), np.zeros(2, np.int64), 0
    for _ in range(1_500):
        N = int(rng.integers(3, 7))
        choice = choice_of(algorithm.radius.name, algorithm.picks, (1, N - 1), (1, 0), 0.1)
        taken = np.round(10.0 ** rng.uniform(2.0, 4.5) * rng.uniform(0.5, 1.5, N))
        ups, downs = radii_of(choice.up, taken, taken), radii_of(choice.down, taken, taken)
        mean = 0.6 - ups + rng.uniform(0.0, 0.02, N) * ups
        mean[0] = min(mean[1:].max() + rng.uniform(0.2, 1.2) * downs[0], 0.59 + downs[0])
        digits = np.round(np.clip(mean, 0.05, 0.95) * 1024.0).astype(np.uint64)
        law = new_stack(WORDS, digits / 1024.0, 0.25, digits=digits)
        setting = close(N, 0.0).block_setting(1, float(rng.choice([0.0, 1e-12])))
        run = loop.new_variant_run(loop.with_pieces(law, setting), setting, new_block(1, 1))
        variant, s, clock = loop.new_variant(choice, N, True), run.ranking, run.clock
        total = np.round(mean * taken)
        rows = np.argsort(-total / taken, kind="stable")
        if rows[0] != 0:
            continue
        s.order[:], s.arm_of[:], s.taken[:] = np.arange(N), rows, taken[rows]
        s.total[:] = total[rows]
        s.mean[:] = s.total / s.taken
        run.part.open_sizes[:] = setting.sizes
        clock[MISSING], clock[RANKED], clock[MOST] = 1, N, MOST_PULLS
        clock[PULLS], clock[ROUND] = int(taken.sum()), int(taken.max())
        run.terms[UNTIL] = -1.0
        variant.levels.terms[0] = rng.choice([0.1, 0.35, 4.0])
        pulls = int(clock[PULLS])
        words = [np.uint64(word) for word in rng.integers(1 << 63, size=3).tolist()]
        state: Any = (*words, np.uint64(0), np.uint64(0))
        T, level = stride(run, variant, state)
        if T < 0 or level == np.inf:
            continue
        tried[int(T > 0)] += 1
        long += T > 100
        window, R = np.zeros((N, 2), np.uint64), int(taken.max())
        assert rounds_literally(law, window, choice, taken, total, T, state) == T
        assert np.array_equal(s.taken, taken[rows])
        assert np.array_equal(s.total, total[rows])
        assert np.array_equal(s.mean, s.total / s.taken)
        assert variant.levels.behind.held.tolist() == [0] * N
        if T > 0:
            ucb = s.mean + radii_of(choice.up, s.taken, s.taken)
            assert (ucb[1:] < level).all()
            assert (clock[ROUND], clock[PULLS]) == (R + T, pulls + 2 * T)
    assert tried.min() > 30
    assert long > 30


# --------------------------------------------------------------------------------------------------
# What was drawn binds
# --------------------------------------------------------------------------------------------------


def drawn_twice(task: Task, replication: int, strides: int) -> tuple[int, int]:
    """Return how many of the calls for rewards of a run do not begin where the arm's last one
    ended, and how many calls there were."""
    law = task.stack(calls=200_000)._replace(mode=NOTE)
    with kept_apart():
        run_kernels(RULES[0], task, law, 11, replication, 1, strides=strides)
    made = int(law.cursor[0])
    assert made <= len(law.calls)
    ends, wrong = np.zeros(len(task.means), np.int64), 0
    for arm, start, size, _word in law.calls[:made].tolist():
        wrong += start != ends[arm]
        ends[arm] = start + size
    return wrong, made


@pytest.mark.landing
def test_every_reward_is_drawn_once() -> None:
    """A stack gives rewards that are drawn anew once more, so paths do not show it: each call for
    new rewards begins where the arm's last one ended. Control: corridors throw bits of words away."""
    task, calls = close(5, 0.03), 0
    for replication in range(4):
        wrong, made = drawn_twice(task, replication, without(CORRIDORS))
        assert wrong == 0
        calls += made
    assert calls > 1_000
    assert drawn_twice(task, 0, without(LEVELS))[0] > 10


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", RULES[:4], ids=str)
def test_bernoulli_arms_take_as_many_pulls_as_without(algorithm: LUCB) -> None:
    """20,000 replications each, independent: a false alarm at 1e-8 each."""
    counts = []
    for seed, strides in ((1, ALL), (2, without(LEVELS))):
        task = close(4, 0.04)
        law, block = Bernoulli(list(task.means)).kernel_law(), new_block(20_000, 1, 4)
        setting = task.block_setting(seed, 1e-12, strides=strides)
        algorithm.run_block(law, setting, 0, block)
        assert (block.rounds_by_stride[LEVELS] > 1_000_000) == (strides == ALL)
        counts.append(block.pulls)
    assert same_law(counts[0], counts[1]) > LEVEL


# --------------------------------------------------------------------------------------------------
# Where it is used
# --------------------------------------------------------------------------------------------------


def suits(
    clusters: tuple[int, ...],
    required: tuple[int, ...],
    algorithm: LUCB = RULES[0],
    law: Any = None,
) -> bool:
    """Whether levels are used."""
    N = sum(clusters)
    task = Task("words", (0.5,) * N, clusters, required, 0.1)
    choice = choice_of(algorithm.radius.name, algorithm.picks, clusters, required, 0.1)
    law = Bernoulli([0.5] * N).kernel_law() if law is None else law
    return have_levels(law, task.block_setting(1, 1e-12), choice)


def test_where_levels_are_used() -> None:
    """The best of three arms or more, by radii of the arms' own pulls, for laws of words and
    bridges."""
    for algorithm in RULES:
        assert suits((1, 2), (1, 0), algorithm)
    assert suits((1, MOST_ARMS - 1), (1, 0))
    assert not suits((1, MOST_ARMS), (1, 0))
    assert not suits((1, 1), (1, 0))
    assert not suits((1, 3), (1, 1))
    assert not suits((1, 3), (0, 1))
    assert not suits((2, 2), (1, 0))
    assert not suits((1, 1, 2), (1, 0, 0))
    assert not suits((3, 1), (0, 1))
    assert not suits((1, 3), (1, 0), LUCB(radius="paper", picks="lucb++"))
    assert not suits((1, 3), (1, 0), LUCB(radius="mixture", picks="k-m"))
    assert not suits((1, 3), (1, 0), law=Gaussian([0.5] * 4, 1.0).kernel_law())


@pytest.mark.landing
def test_laws_that_give_no_words_do_without() -> None:
    """A Bernoulli law may give words, but not if a mean is too small: the stride makes nothing."""
    assert suits((1, 2), (1, 0), law=Bernoulli([0.5, 0.4, 2.0**-20]).kernel_law())
    for kind in ("bits", "words"):
        made = rounds_of(close(3, 0.05, kind))
        assert (made[LEVELS] > 1_000) == (kind == "words")


def rounds_of(task: Task) -> NDArray[np.int64]:
    """Return how many rounds are made by which stride, in 4 replications."""
    made: NDArray[np.int64] = run_of(RULES[0], task, 4).rounds_by_stride
    return made


# --------------------------------------------------------------------------------------------------
# Negative controls
# --------------------------------------------------------------------------------------------------

#: Faults that paths of stacks show.
FAULTS: dict[str, list[Edit]] = {
    "bars are forgotten": [
        Changed(
            "algorithms/lucb/variants/level_walks.py",
            "lead",
            "low, high = (S - bar * n - slack, y - S - slack)",
            "low, high = (1000000000.0, y - S - slack)",
        ),
        Changed(
            "algorithms/lucb/variants/level_walks.py",
            "pass_level",
            "bar * n - S - slack)",
            "1000000000.0)",
        ),
    ],
    "the leader's ceiling is forgotten": [
        Changed(
            "algorithms/lucb/variants/level_walks.py",
            "lead",
            "low, high = (S - bar * n - slack, y - S - slack)",
            "low, high = (S - bar * n - slack, 1000000000.0)",
        )
    ],
    "bridges are ten times too sure, and as long": [
        Changed(
            "algorithms/lucb/bridges.py", "keeps_above", "8.0 * d1 * d2 / k", "80.0 * d1 * d2 / k"
        ),
        Set("algorithms/lucb/bridges.py", "_CAREFUL", "10.0 * WAS"),
    ],
    "what is known is kept for the next replication": [
        Changed(
            "algorithms/lucb/ahead.py",
            "forget",
            "law.pieces.held[arm] = 0",
            "law.pieces.held[arm] += 0",
        )
    ],
    "a try that is given up drops what it walked over": [
        Changed(
            "algorithms/lucb/variants/levels.py",
            "_give_up",
            "move_top(levels.behind, run.law.pieces, arm)",
            "levels.behind.held[arm] -= 1",
        )
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_planted_faults_are_found(name: str, tmp_path: Path) -> None:
    """Paths differ, or rewards are of other pulls."""
    trials: list[Any] = [
        (algorithm, close(N, gap), 3, 60, {})
        for algorithm in (RULES[0], RULES[2])
        for N, gap in ((5, 0.03), (3, 0.02), (8, 0.05))
    ]
    # near ties, in which leaders change
    trials += [(RULES[0], close(N, 0.0005), 3, 300, {"max_pulls": 40_000}) for N in (3, 5)]
    assert sum((misses(*one[:4], **one[4]) for one in trials[-2:]), Misses(0, (), 0)).number == 0
    missed, _ = pathwise_findings_of_mutant(tmp_path, FAULTS[name], trials)
    assert sum(missed) >= 1
