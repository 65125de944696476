"""Times of the package and its rivals on the same workloads: pytest benchmarks -n 0
--benchmark-enable.

Only the correctness of what is timed is asserted, never a time. Errors: each replication errs with
probability at most delta, so more than `_most_errors` of them are a false alarm of probability
below 1e-9. Pulls: the mean lies within 6 standard errors of a reference run of the package,
false-alarm rate 2e-9 a comparison if means are normal.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import rai_sim as rai
from benchmarks import baselines, tuned
from benchmarks.rows import DELTA, Runner, bare_kernel, baseline, package, table, two_arms
from rai_sim.algorithms.base import Algorithm


class Workload(NamedTuple):
    """An algorithm on a problem, the baselines beside it, and the replications of any call."""

    algorithm: Algorithm
    problem: rai.Problem
    rivals: tuple[str, ...] = ()
    replications: int = 1000


BASELINES: dict[str, Callable[..., baselines.Outcome]] = {
    "python_loop": baselines.python_loop,
    "numpy_vectorised": baselines.numpy_vectorised,
    "numba_per_pull": baselines.numba_per_pull,
    "numba_per_pull_butterscotch": baselines.numba_per_pull_butterscotch,
    "numba_per_pull_lucb": baselines.numba_per_pull_lucb,
    "numpy_blocks": tuned.numpy_blocks,
    "numba_tuned": tuned.numba_tuned,
    "numba_tuned_butterscotch": tuned.numba_tuned_butterscotch,
}
ARRAYS, COMPILED = ("numpy_vectorised", "numpy_blocks"), ("numba_per_pull", "numba_tuned")
WORKLOADS = {
    "Vanilla r=(1,0,0)": Workload(
        rai.Vanilla(), table(1, 0, 0), ("python_loop", *ARRAYS, *COMPILED)
    ),
    "Vanilla r=(3,0,0)": Workload(rai.Vanilla(), table(3, 0, 0), (*ARRAYS, *COMPILED)),
    "Butterscotch r=(3,0,0)": Workload(
        rai.Butterscotch(),
        table(3, 0, 0),
        ("numba_per_pull_butterscotch", "numba_tuned_butterscotch"),
    ),
    "LUCB r=(0,5,0)": Workload(rai.LUCB(), table(0, 5, 0), ("numba_per_pull_lucb",), 100),
    "Vanilla gap 1e-1": Workload(rai.Vanilla(), two_arms(1e-1), ("numba_per_pull",)),
    "Vanilla gap 1e-4": Workload(rai.Vanilla(), two_arms(1e-4)),
    "Vanilla gap 1e-4, Gaussian": Workload(rai.Vanilla(), two_arms(1e-4, "gaussian")),
    "Vanilla gap 1e-4, Categorical": Workload(rai.Vanilla(), two_arms(1e-4, "categorical")),
    "LUCB gap 1e-3": Workload(rai.LUCB(), two_arms(1e-3)),
}
PAIRS = [
    (rival, name) for name, workload in WORKLOADS.items() for rival in ("package", *workload.rivals)
]


@cache
def _reference(name: str) -> NDArray[np.int64]:
    """Return pulls of replications that no timed call has."""
    workload = WORKLOADS[name]
    return rai.simulate(
        workload.problem, workload.algorithm, delta=DELTA, replications=400, seed=20240819
    ).pulls


def _most_errors(replications: int) -> int:
    """Return how many errors are still no wonder."""
    return int(stats.binom.isf(1e-9, replications, DELTA))


def _check(
    name: str, pulls: NDArray[np.int64], correct: NDArray[np.bool_], replications: int
) -> None:
    """Judge a call's outcome."""
    assert pulls.shape == correct.shape == (replications,)
    assert np.count_nonzero(~correct) <= _most_errors(replications)
    reference = _reference(name)
    apart = abs(float(pulls.mean()) - float(reference.mean()))
    variance = float(reference.var(ddof=1)) * (1.0 / replications + 1.0 / reference.size)
    assert apart <= 6.0 * variance**0.5


@pytest.mark.parametrize(("rival", "name"), PAIRS, ids=[f"{name}-{rival}" for rival, name in PAIRS])
def test_rival(benchmark: Any, rival: str, name: str) -> None:
    """One call of the package or a baseline."""
    workload = WORKLOADS[name]
    run: Runner = package(workload.problem, workload.algorithm)
    if rival != "package":
        run = baseline(BASELINES[rival], workload.problem)
    benchmark.group = f"{name}, {workload.replications:,} replications"
    rounds = 2 if rival == "python_loop" else 5
    pulls, correct = benchmark.pedantic(
        run, args=(workload.replications,), rounds=rounds, iterations=1, warmup_rounds=1
    )
    benchmark.extra_info["pulls"] = int(pulls.sum())
    _check(name, pulls, correct, workload.replications)


def test_bare_kernel(benchmark: Any) -> None:
    """The kernel below `simulate`, which must give the same numbers."""
    workload = WORKLOADS["Vanilla r=(1,0,0)"]
    kernel, block = bare_kernel(workload.problem, workload.algorithm, 1000)
    benchmark.group = "Vanilla r=(1,0,0), 1,000 replications"
    benchmark.pedantic(kernel, rounds=5, iterations=1, warmup_rounds=1)
    pulls, correct = package(workload.problem, workload.algorithm)(1000)
    benchmark.extra_info["pulls"] = int(pulls.sum())
    assert np.array_equal(block.pulls, pulls)
    assert np.array_equal(block.correct, correct)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads(benchmark: Any, n_jobs: int) -> None:
    """20,000 replications by one worker and by two, which must give the same numbers."""
    workload = WORKLOADS["Vanilla r=(3,0,0)"]
    run = package(workload.problem, workload.algorithm, n_jobs)
    benchmark.group = "Vanilla r=(3,0,0), 20,000 replications, by workers"
    pulls, correct = benchmark.pedantic(
        run, args=(20_000,), rounds=3, iterations=1, warmup_rounds=1
    )
    benchmark.extra_info["pulls"] = int(pulls.sum())
    same_pulls, same_correct = package(workload.problem, workload.algorithm)(1000)
    assert np.array_equal(pulls[:1000], same_pulls)
    assert np.array_equal(correct[:1000], same_correct)
    assert np.count_nonzero(~correct) <= _most_errors(20_000)
