"""Strides: counters add up to the rounds, each is used somewhere, and the law of a run does not
hang on which may be used.

The numbers of round robin's, of Butterscotch's and of LUCB's are in `rai_sim.engine.strides`,
`rai_sim.algorithms.butterscotch.strides` and `rai_sim.algorithms.lucb.strides`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pathwise
import pytest
from numpy.typing import NDArray
from pathwise import Task, draw_tasks, misses, two_arms
from scipy import stats

import rai_sim as rai
from rai_sim import LUCB, Butterscotch, Vanilla
from rai_sim.algorithms.base import Algorithm
from rai_sim.algorithms.butterscotch.strides import CHECKS
from rai_sim.algorithms.lucb.strides import CORRIDORS, IN_STEP, LANES, LAST_ARM, PLAIN, VIEW
from rai_sim.engine.blocks import Block, Setting, new_block
from rai_sim.engine.streams import stream_key
from rai_sim.engine.strides import ALL, FIRST_OWN, LAST_TWO, SUMS, WORDS, holds, without

#: Of LUCB the strides that can be left out, the view too, and all of them; of Vanilla likewise.
LUCBS = {
    "in step": (IN_STEP,),
    "lanes": (LANES,),
    "last arm": (LAST_ARM,),
    "lanes and last arm": (LANES, LAST_ARM),
    "corridors": (CORRIDORS,),
    "all but plain": (IN_STEP, LANES, LAST_ARM, CORRIDORS, VIEW),
}
VANILLAS = {"words": (WORDS,), "last two": (LAST_TWO,), "all but sums": (WORDS, LAST_TWO)}

MAY_BE_USED: dict[type[Algorithm], set[int]] = {
    Vanilla: {SUMS, WORDS, LAST_TWO},
    Butterscotch: {CHECKS},
    LUCB: {PLAIN, IN_STEP, LANES, LAST_ARM, CORRIDORS},
}

PROBLEMS: dict[str, rai.Problem] = {
    "two": rai.best_arm(rai.Bernoulli([0.7, 0.4])),
    "four": rai.best_arm(rai.Bernoulli([0.75, 0.5, 0.45, 0.4])),
    "middle": rai.Problem(rai.Bernoulli([0.95, 0.6, 0.4, 0.05]), (1, 2, 1), (0, 2, 0)),
    "ranking": rai.full_ranking(rai.Bernoulli([0.2, 0.5, 0.8])),
    "many": rai.best_arm(rai.Bernoulli([0.9, *[0.2] * 99])),
    "gaussian": rai.best_arm(rai.Gaussian([0.7, 0.4, 0.3], sd=0.4)),
    "categorical": rai.top(
        rai.Categorical([0.0, 0.5, 1.0], [[0.1, 0.1, 0.8], [0.3, 0.2, 0.5], [0.7, 0.2, 0.1]]), 2
    ),
    "recorded": rai.best_arm(
        rai.Recorded(
            np.random.default_rng(1).random((3, 20_000)) * [[0.9], [0.5], [0.4]], [0.45, 0.25, 0.2]
        )
    ),
}


def setting_of(
    problem: rai.Problem,
    seed: int = 1,
    strides: int = ALL,
    max_pulls: int = -1,
    skip_error: float = 1e-12,
) -> Setting:
    """Return what kernels take, delta 0.05."""
    return Setting(
        sizes=np.array(problem.clusters, np.int64),
        required=np.array(problem.required, np.int64),
        cluster_of=np.array(problem.cluster_of, np.int64),
        delta=0.05,
        skip_error=skip_error,
        max_pulls=max_pulls,
        key=stream_key(seed),
        strides=strides,
    )


def block_of(problem: rai.Problem, algorithm: Algorithm, count: int, **options: Any) -> Block:
    """Run replications through a kernel."""
    block = new_block(count, sum(problem.required))
    algorithm.run_block(problem.arms.kernel_law(), setting_of(problem, **options), 0, block)
    assert block.fault[0] == 0
    return block


def used(block: Block) -> set[int]:
    """Return the strides that made rounds."""
    return set(np.flatnonzero(block.rounds_by_stride).tolist())


def test_a_mask_without_strides_holds_all_others() -> None:
    """And the default holds all."""
    mask = without(WORDS, CORRIDORS)
    assert [holds(mask, stride) for stride in (SUMS, WORDS, LAST_TWO, PLAIN, CORRIDORS, VIEW)] == [
        True,
        False,
        True,
        True,
        False,
        True,
    ]
    assert without() == ALL == setting_of(PROBLEMS["two"]).strides
    assert max(SUMS, WORDS, LAST_TWO) < FIRST_OWN


#: Among many arms and on lattices: kernels of their own, or such as other tests hold to numbers.
BRIEFLY = [
    pytest.param(name, marks=[pytest.mark.slow] if name in ("many", "categorical") else [])
    for name in PROBLEMS
]


@pytest.mark.parametrize("cap", [-1, 700])
@pytest.mark.parametrize("name", BRIEFLY)
def test_counters_add_up_to_the_rounds(name: str, cap: int) -> None:
    """On all laws, finished and capped, 20 replications of each algorithm."""
    for algorithm in (
        Vanilla(),
        Vanilla(merging=False),
        Butterscotch(),
        LUCB(),
        LUCB(as_printed=True),
    ):
        if algorithm == LUCB(as_printed=True) and cap < 0:
            continue  # a run may never end
        block = block_of(PROBLEMS[name], algorithm, 20, max_pulls=cap)
        assert block.rounds_by_stride.sum() == block.rounds.sum()
        assert block.rounds_by_stride.min() >= 0
        assert used(block) <= MAY_BE_USED[type(algorithm)]


@pytest.mark.parametrize(
    ("algorithm", "name", "strides"),
    [
        (Vanilla(), "two", {WORDS, LAST_TWO}),
        (Vanilla(), "four", {WORDS}),
        (Vanilla(), "gaussian", {SUMS, LAST_TWO}),
        (Butterscotch(), "four", {CHECKS}),
        (LUCB(), "two", {PLAIN, IN_STEP}),
        (LUCB(), "four", {PLAIN, LAST_ARM}),
        (LUCB(), "middle", {PLAIN, LANES}),
        (LUCB(), "gaussian", {PLAIN, CORRIDORS}),
    ],
)
def test_each_is_used(algorithm: Algorithm, name: str, strides: set[int]) -> None:
    """These at least; a counter that nobody raises would not be noticed above."""
    assert used(block_of(PROBLEMS[name], algorithm, 50)) >= strides


@pytest.mark.parametrize("off", [*LUCBS.values(), *VANILLAS.values()])
@pytest.mark.parametrize("name", BRIEFLY)
def test_what_is_left_out_makes_no_rounds(name: str, off: Sequence[int]) -> None:
    """On every problem, where most are used otherwise; and the rounds still add up."""
    algorithm = Vanilla() if off[0] < FIRST_OWN else LUCB()
    block = block_of(PROBLEMS[name], algorithm, 10, strides=without(*off))
    assert not used(block) & set(off)
    assert block.rounds_by_stride.sum() == block.rounds.sum()


def tasks(name: str) -> list[Task]:
    """Return tasks on which strides are used: a pair and some of more arms, by words or by other
    laws."""
    kinds = ("words",) if name != "corridors" else ("words", "bits", "levels", "reals")
    return [two_arms("words", 0.5, 0.3, 0.1), *draw_tasks(21, 6, kinds, (3, 10), (0.2, 0.5))]


@pytest.mark.slow
@pytest.mark.parametrize("name", LUCBS)
def test_runs_of_lucb_without_some(name: str) -> None:
    """Against the literal loop on the same rewards, 700 replications each, half of them by sure
    strides; 150 more capped."""
    found = pathwise.Misses(0, (), 0)
    for task in tasks(name):
        for skip_error in (1e-12, 0.0):
            found += misses(
                LUCB(), task, 22, 50, strides=without(*LUCBS[name]), skip_error=skip_error
            )
    for task in tasks(name)[:3]:
        found += misses(
            LUCB(as_printed=True), task, 23, 50, strides=without(*LUCBS[name]), max_pulls=3_000
        )
    assert found == pathwise.Misses(850, (), 0)


@pytest.mark.slow
def test_runs_without_a_view() -> None:
    """150 to 300 arms: 6 replications."""
    found = pathwise.Misses(0, (), 0)
    for task in draw_tasks(5, 3, ("words",), (150, 300), (0.4, 0.6)):
        found += misses(LUCB(), task, 11, 2, strides=without(VIEW))
    assert found == pathwise.Misses(6, (), 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", VANILLAS)
def test_runs_of_vanilla_without_some(name: str) -> None:
    """Against the literal loop on the same rewards, 2,800 replications each, half of them by sure
    strides."""
    found = pathwise.Misses(0, (), 0)
    for task in tasks("words"):
        for skip_error in (1e-12, 0.0):
            found += misses(
                Vanilla(), task, 24, 200, strides=without(*VANILLAS[name]), skip_error=skip_error
            )
    assert found == pathwise.Misses(2_800, (), 0)


def pulls_of(
    problem: rai.Problem, algorithm: Algorithm, seed: int, off: Sequence[int]
) -> NDArray[np.int64]:
    """Return the pulls of 2,000 replications."""
    return block_of(problem, algorithm, 2_000, seed=seed, strides=without(*off)).pulls


@pytest.mark.parametrize(
    ("name", "off"),
    [
        ("two", "in step"),
        ("ranking", "in step"),
        ("four", "last arm"),
        ("middle", "lanes"),
        ("four", "lanes and last arm"),
        ("gaussian", "corridors"),
        ("middle", "all but plain"),
    ],
)
def test_the_law_of_lucb_without_some(name: str, off: str) -> None:
    """2,000 pulls against 2,000: Kolmogorov-Smirnov and a two-sample t, each at 1e-5; all fourteen
    at 1.4e-4."""
    assert_same_law(
        pulls_of(PROBLEMS[name], LUCB(), 1, ()), pulls_of(PROBLEMS[name], LUCB(), 2, LUCBS[off])
    )


@pytest.mark.parametrize(
    ("name", "off"),
    [("two", "last two"), ("four", "words"), ("gaussian", "last two"), ("two", "all but sums")],
)
def test_the_law_of_vanilla_without_some(name: str, off: str) -> None:
    """Likewise, eight tests."""
    assert_same_law(
        pulls_of(PROBLEMS[name], Vanilla(), 1, ()),
        pulls_of(PROBLEMS[name], Vanilla(), 2, VANILLAS[off]),
    )


#: Gaps near 1/8, the width of round 1: one round suffices or does not.
NEAR: dict[str, rai.Problem] = {
    "two": rai.best_arm(rai.Bernoulli([0.5, 0.635])),
    "middle": rai.Problem(rai.Bernoulli([0.76, 0.64, 0.5, 0.35]), (1, 2, 1), (0, 2, 0)),
    "gaussian": rai.best_arm(rai.Gaussian([0.63, 0.5, 0.3], sd=0.4)),
    "categorical": rai.best_arm(
        rai.Categorical([0.0, 0.5, 1.0], [[0.2, 0.2, 0.6], [0.3, 0.25, 0.45]])
    ),
    "many": rai.top(rai.Bernoulli([*[0.6] * 10, *[0.465] * 290]), 10),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name not in ("two", "middle") else [])
        for name in NEAR
    ],
)
def test_the_law_of_butterscotch_without_its_own(name: str) -> None:
    """Likewise, ten tests; without it rounds are made by sums."""
    problem, count = NEAR[name], 2_000
    others = block_of(problem, Butterscotch(), count, seed=2, strides=without(CHECKS))
    assert used(others) == {SUMS}
    assert np.unique(others.pulls).size > 1
    assert_same_law(block_of(problem, Butterscotch(), count, seed=1).pulls, others.pulls)


@pytest.mark.slow
def test_fixed_rewards_without_butterscotchs_own() -> None:
    """Every number is the same."""
    problem = PROBLEMS["recorded"]
    ours, others = (
        block_of(problem, Butterscotch(), 100, strides=mask) for mask in (ALL, without(CHECKS))
    )
    for column in ("pulls", "rounds", "finished", "representatives"):
        assert np.array_equal(getattr(ours, column), getattr(others, column))


def assert_same_law(sample: NDArray[np.int64], other: NDArray[np.int64]) -> None:
    """Accept with probability 2e-5 less than 1."""
    assert stats.ks_2samp(sample, other).pvalue > 1e-5
    assert stats.ttest_ind(sample, other, equal_var=False).pvalue > 1e-5
