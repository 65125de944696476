"""Baselines and tuned programs do the same work: as each other, as sums done by hand, as the
literal twin.

Seeds are fixed. A statistical comparison fails when two means are more than four standard errors
apart, which happens by chance once in 16,000 comparisons; there are 78 of different runs, so a
fresh set of seeds fails once in 200.
"""

from __future__ import annotations

import importlib.util
import math
import sys
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.baselines import (
    Outcome,
    numba_per_pull,
    numba_per_pull_butterscotch,
    numba_per_pull_lucb,
    numpy_vectorised,
    python_loop,
)
from benchmarks.many import numba_counted_borders
from benchmarks.tuned import numba_tuned, numba_tuned_butterscotch, numpy_blocks

Baseline = Callable[..., Outcome]

VANILLA: list[tuple[Baseline, int]] = [
    (python_loop, 120),
    (numpy_vectorised, 1000),
    (numpy_blocks, 1000),
    (numba_per_pull, 2000),
    (numba_tuned, 2000),
    (numba_counted_borders, 2000),
]
BUTTERSCOTCH: list[Baseline] = [numba_per_pull_butterscotch, numba_tuned_butterscotch]
TABLE: dict[str, Any] = {
    "means": [0.85, 0.8, 0.65, 0.6, 0.4, 0.36, 0.35, 0.3, 0.15, 0.1],
    "clusters": (3, 5, 2),
    "delta": 0.01,
}


def standard_errors_apart(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Return how far apart two sample means are, in standard errors of their difference."""
    error = math.sqrt(a.var() / a.size + b.var() / b.size)
    return 0.0 if a.mean() == b.mean() else abs(a.mean() - b.mean()) / error


@pytest.mark.parametrize("merging", [True, False])
@pytest.mark.parametrize("required", [(1, 0, 0), (2, 2, 0), (0, 0, 1)])
def test_the_vanillas_agree(required: tuple[int, ...], merging: bool) -> None:
    """Mean pulls agree, and at delta = 1 % hardly a run of theirs errs."""
    outcomes = [
        run(**TABLE, required=required, replications=runs, seed=11, merging=merging)
        for run, runs in VANILLA
    ]
    for (a, _), (b, _) in combinations(outcomes, 2):
        assert standard_errors_apart(a, b) < 4.0
    for (run, runs), (pulls, correct) in zip(VANILLA, outcomes, strict=True):
        assert pulls.shape == correct.shape == (runs,), run
        assert pulls.dtype == np.int64
        assert correct.dtype == np.bool_
        assert correct.mean() > 0.99


@pytest.mark.parametrize(("run", "runs"), VANILLA)
def test_merging_is_told_from_not_merging(run: Baseline, runs: int) -> None:
    """The comparison can fail: merging saves more than a quarter of the pulls, which it must
    see."""
    a, _ = run(**TABLE, required=(1, 0, 0), replications=runs, seed=12, merging=True)
    b, _ = run(**TABLE, required=(1, 0, 0), replications=runs, seed=12, merging=False)
    assert standard_errors_apart(a, b) > 4.0


def test_errors_are_counted_alike() -> None:
    """With delta = 5, which allows anything, about one run in six errs; the best arm is given
    last."""
    outcomes = [
        run(
            means=[0.4, 0.6],
            clusters=(1, 1),
            required=(1, 0),
            delta=5.0,
            replications=2000,
            seed=13,
        )
        for run, _ in VANILLA
    ]
    for (a, right_a), (b, right_b) in combinations(outcomes, 2):
        assert standard_errors_apart(a, b) < 4.0
        assert standard_errors_apart(right_a, right_b) < 4.0
    for _, right in outcomes:
        assert 0.75 < right.mean() < 0.95


def test_many_arms_agree() -> None:
    """With 70 arms numpy_blocks sorts in another way."""
    problem: dict[str, Any] = {
        "means": [0.1, 0.9] * 35,
        "clusters": (35, 35),
        "required": (35, 0),
        "delta": 0.1,
        "seed": 14,
    }
    b, right_b = numba_per_pull(**problem, replications=300)
    assert right_b.mean() > 0.9
    for run in (numpy_vectorised, numpy_blocks):
        a, right_a = run(**problem, replications=30)
        assert standard_errors_apart(a, b) < 4.0
        assert right_a.all()


@pytest.mark.parametrize("merging", [True, False])
@pytest.mark.parametrize("required", [(1, 0, 0), (3, 0, 0), (0, 5, 0), (3, 5, 2)])
@pytest.mark.parametrize(
    ("described", "tuned"),
    [(numba_per_pull, numba_tuned), (numba_per_pull_butterscotch, numba_tuned_butterscotch)],
)
def test_tuning_changes_no_run(
    described: Baseline, tuned: Baseline, required: tuple[int, ...], merging: bool
) -> None:
    """From one seed come the same runs; at delta = 1 some of Vanilla's err."""
    task = TABLE | {
        "delta": 1.0,
        "required": required,
        "replications": 300,
        "seed": 18,
        "merging": merging,
    }
    (a, right_a), (b, right_b) = described(**task), tuned(**task)
    assert np.array_equal(a, b)
    assert np.array_equal(right_a, right_b)


CERTAIN: dict[str, Any] = {
    "means": [0.0, 1.0],
    "clusters": (1, 1),
    "required": (1, 0),
    "delta": 0.1,
    "seed": 15,
}


@pytest.mark.parametrize(("run", "runs"), VANILLA)
def test_vanilla_with_certain_rewards(run: Baseline, runs: int) -> None:
    """Sums differ by R > sqrt(2 R ln(pi^2 R^2 2/0.3)) first at R = 21."""
    pulls, correct = run(**CERTAIN, replications=7)
    assert pulls.tolist() == [42] * 7
    assert correct.all()


@pytest.mark.parametrize("run", BUTTERSCOTCH)
def test_butterscotch_with_certain_rewards(run: Baseline) -> None:
    """A difference of 1 exceeds w_1 = 1/8: one round of ceil(128 ln(pi^2 2/0.3)) = ceil(535.88)
    each."""
    pulls, correct = run(**CERTAIN, replications=7)
    assert pulls.tolist() == [2 * 536] * 7
    assert correct.all()


def test_lucb_with_certain_rewards() -> None:
    """Both arms are pulled every round, until the radius is below 1/2."""
    R = next(R for R in range(1, 1000) if math.log(math.pi**2 * R**3 * 2 / 0.3) / (2 * R) < 0.25)
    pulls, correct = numba_per_pull_lucb(**CERTAIN, replications=7)
    assert pulls.tolist() == [2 * R] * 7
    assert correct.all()


@pytest.mark.parametrize("run", [*(run for run, _ in VANILLA), *BUTTERSCOTCH, numba_per_pull_lucb])
def test_one_cluster(run: Baseline) -> None:
    """With nothing to beat, all arms are settled after the first round."""
    means = [0.2, 0.7, 0.5]
    pulls, correct = run(
        means=means, clusters=(3,), required=(2,), delta=0.1, replications=5, seed=16
    )
    first_round = math.ceil(128 * math.log(math.pi**2 * 3 / 0.3)) if run in BUTTERSCOTCH else 1
    assert pulls.tolist() == [3 * first_round] * 5
    assert correct.all()


@pytest.fixture(scope="module")
def naive() -> ModuleType:
    """Load the literal twin."""
    path = Path(__file__).parents[1] / "tests" / "naive.py"
    spec = importlib.util.spec_from_file_location("literal_twin", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("run", "twin", "means", "required"),
    [
        (numba_per_pull, "vanilla", [0.9, 0.6, 0.35, 0.1], (1, 1, 0)),
        (numba_tuned, "vanilla", [0.9, 0.6, 0.35, 0.1], (1, 1, 0)),
        (numba_per_pull_butterscotch, "butterscotch", [0.8, 0.64, 0.35, 0.2], (1, 1, 1)),
        (numba_tuned_butterscotch, "butterscotch", [0.8, 0.64, 0.35, 0.2], (1, 1, 1)),
        (numba_per_pull_lucb, "lucb", [0.9, 0.6, 0.35, 0.1], (1, 1, 0)),
        (numba_per_pull_lucb, "lucb", [0.9, 0.6, 0.35, 0.1], (0, 2, 0)),
    ],
)
def test_the_literal_twin_agrees(
    naive: ModuleType, run: Baseline, twin: str, means: list[float], required: tuple[int, ...]
) -> None:
    """Mean pulls agree on an instance where settling takes more than one round."""
    clusters, delta = (1, 2, 1), 0.1
    fast, _ = run(
        means=means, clusters=clusters, required=required, delta=delta, replications=3000, seed=17
    )
    rng = Random(17)
    slow = []
    for _ in range(60):
        order = rng.sample(range(4), 4)
        pull = naive.bernoulli(means, rng)
        slow.append(getattr(naive, twin)(pull, 4, clusters, required, delta, order=order).pulls)
    assert fast.std() > 0
    assert standard_errors_apart(fast, np.array(slow)) < 4.0
