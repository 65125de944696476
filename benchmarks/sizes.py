"""Time and memory against the number of arms: a replication of each algorithm, evenly spaced
means in thirds, beside the same pull by pull.

Every cell is measured in a process of its own, after a run that compiles or loads the kernels, so
that the peak of its memory is its own. A run of LUCB that is far from its end is capped: what is
told of it is the time a round, without what goes before the first round. A baseline that does not
end in time is left out, and so are larger ones of its kind.
"""

from __future__ import annotations

import dataclasses
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import rai_sim as rai
from benchmarks import baselines, many, rows
from benchmarks.rows import DELTA, SEED, Effort, baseline, in_fresh_process, row
from rai_sim.algorithms.base import Algorithm
from rai_sim.arms.base import Arms

SIZES = (10, 100, 1_000, 10_000, 100_000, 1_000_000)
ALGORITHMS: dict[str, Algorithm] = {
    "Vanilla": rai.Vanilla(),
    "Butterscotch": rai.Butterscotch(),
    "LUCB": rai.LUCB(),
}
BASELINES: dict[str, Callable[..., baselines.Outcome]] = {
    "Vanilla": many.numba_counted_borders,
    "Butterscotch": baselines.numba_per_pull_butterscotch,
    "LUCB": baselines.numba_per_pull_lucb,
}
#: Pulls of LUCB after the first one of every arm, and seconds that a baseline may take.
CAP, PATIENCE = 2_000_000, 60.0
#: Seconds for which short replications are repeated, and how often at most.
_ENOUGH, _REPEATS = 0.3, 1_000


class Cell(NamedTuple):
    """What a replication takes."""

    algorithm: str
    n_arms: int
    pulls: float
    rounds: float
    seconds: float
    round_seconds: float  # without what goes before the first round
    megabytes: float  # peak of memory above that after imports
    finished: bool
    rival_seconds: float | None  # pull by pull; None if it does not end in time


def in_thirds(N: int, law: Callable[..., Arms] = rai.Bernoulli) -> rai.Problem:
    """Return N arms with means evenly spaced in [0.05, 0.95], in three clusters of equal size, as
    far as N divides; ten representatives of each, or one if there are ten arms."""
    third, asked = N // 3, 10 if N > 30 else 1
    arms = law(np.linspace(0.95, 0.05, N))
    return rai.Problem(arms, (third, third, N - 2 * third), (asked, asked, asked))


def _peak() -> float:
    """Return the peak of this process's own resident memory, in megabytes."""
    with open("/proc/self/status", encoding="ascii") as status:
        line = next(line for line in status if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024e-6


def print_ours(name: str, N: int) -> None:
    """Print pulls, rounds, seconds, seconds a round, megabytes, and whether the run finished."""
    before, problem = _peak(), in_thirds(N)

    def run(replications: int, cap: int | None) -> tuple[Any, float]:
        began = time.perf_counter()
        result = rai.simulate(
            problem,
            ALGORITHMS[name],
            delta=DELTA,
            replications=replications,
            seed=SEED,
            max_pulls=cap,
        )
        return result, time.perf_counter() - began

    cap = N + CAP if name == "LUCB" else None
    run(1, N)
    _, opening = run(1, N)
    result, seconds = run(1, cap)
    peak = _peak()
    times = min(int(_ENOUGH / seconds), _REPEATS)
    if times > 1:
        result, seconds = run(times, cap)
        seconds /= times
    rounds = float(result.rounds.mean())
    print(
        result.pulls.mean(),
        rounds,
        seconds,
        max(seconds - opening, 0.0) / rounds,
        peak - before,
        int(result.finished.all()),
    )


def print_rival(name: str, N: int) -> None:
    """Print the seconds that a replication takes pull by pull."""
    function = BASELINES[name]
    baseline(function, in_thirds(10))(1)
    began = time.perf_counter()
    baseline(function, in_thirds(N))(1)
    print(time.perf_counter() - began)


def _measured(what: str, name: str, N: int, patience: float | None) -> list[float]:
    code = f"from benchmarks import sizes; sizes.{what}({name!r}, {N})"
    return [float(word) for word in in_fresh_process(code, patience=patience).split()]


def measure(sizes: tuple[int, ...] = SIZES) -> Iterator[Cell]:
    """Measure an algorithm after another, from few arms to many."""
    for name in ALGORITHMS:
        in_time = True
        for N in sizes:
            pulls, rounds, seconds, of_round, megabytes, finished = _measured(
                "print_ours", name, N, None
            )
            rival = None
            if in_time:
                try:
                    (rival,) = _measured("print_rival", name, N, PATIENCE)
                except subprocess.TimeoutExpired:
                    in_time = False
            yield Cell(name, N, pulls, rounds, seconds, of_round, megabytes, finished > 0.0, rival)


@row(
    "arms",
    "LUCB, arms in thirds: a round of 1e6 Bernoulli arms over one of 1e4",
    must=3,
    higher_is_better=False,
)
def bernoulli_arms(effort: Effort) -> tuple[float, str]:
    """Compare numbers of arms."""
    return _many_over_few(rai.Bernoulli, effort)


@row(
    "gaussian arms",
    "LUCB, arms in thirds: a round of 1e6 Gaussian arms over one of 1e4",
    must=3,
    higher_is_better=False,
)
def gaussian_arms(effort: Effort) -> tuple[float, str]:
    """Compare numbers of arms."""
    return _many_over_few(rai.Gaussian, effort)


def _many_over_few(law: Callable[..., Arms], effort: Effort) -> tuple[float, str]:
    problems = [in_thirds(N, law) for N in (10_000, 1_000_000)]
    caps = (0, CAP)  # up to the first round, and on from there
    sides = [partial(_lucb, problem, cap) for problem in problems for cap in caps]
    # a run of a million arms takes seconds
    seconds = rows.interleaved(sides, dataclasses.replace(effort, repeats=1 + effort.repeats // 4))
    few, more = (
        (seconds[2 * i + 1] - seconds[2 * i]) / float(_lucb(problem, CAP).rounds[0])
        for i, problem in enumerate(problems)
    )
    return more / few, f"{rows.seconds_text(more)} over {rows.seconds_text(few)} a round"


def _lucb(problem: rai.Problem, cap: int) -> rai.Result:
    """Run LUCB for so many pulls after the first one of every arm."""
    return rai.simulate(
        problem,
        rai.LUCB(),
        delta=DELTA,
        replications=1,
        seed=SEED,
        max_pulls=problem.n_arms + cap,
    )
