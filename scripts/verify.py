"""Slow statistical checks of the simulator against its literal twin and theory, with a table of
what passed.

False alarms: the comparisons of laws, error rates and samplers share a probability of 1e-3
(Bonferroni), those of means have 6.4e-4 together, each certification 1e-2. Seeds are fixed, so a verdict is the same every
time. The checks called "negative control" hand a wrong twin, or a rule known to err, to the same
comparison: they pass if it is caught.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import distribution
import numpy as np
from numpy.typing import NDArray
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from coins import Coin
from kills import kill, kill_parts
from mutants import (
    LATE_STATE,
    LENGTHENED_LUCB,
    LENGTHENED_SKIP,
    LOOK_AHEAD,
    SHOWN_BY,
    STALE_SLOPE,
    Trial,
    mutant,
    pathwise_findings_of_mutant,
    pulls_of_mutant,
)
from pathwise import Misses, Task, decisions_use_used_rewards, draw_tasks, misses, two_arms
from replay import (
    KINDS,
    butterscotch_length,
    different_stories,
    draw_instance,
    lucb_length,
    roomy_key,
    run_kernel,
    run_known,
    run_twin,
    standard_errors_apart,
    suited,
    suited_task,
    twin_pulls,
    vanilla_length,
)
from statistics_checks import Law, convolved_law, fit, hypergeometric_law, independence
from view_guards import mismatches_without_guards

import rai_sim as rai
from rai_sim import LUCB, BatchedTrackAndStop, Butterscotch, TopTwo, Vanilla
from rai_sim.algorithms.base import Algorithm
from rai_sim.engine import law as laws
from rai_sim.engine.jit import driver
from rai_sim.engine.sampling import bernoulli_word, bits_set, hypergeometric
from rai_sim.engine.sampling.outward import (
    BEYOND,
    GUIDE,
    binomial_outward,
    entries,
    look_up,
    mode_of,
    tabulate,
)
from rai_sim.engine.streams import replication_stream, uniform

#: A p-value at most this small is an alarm. About 95 are computed: 1e-3 shared by 100.
LEVEL = 1e-3 / 100
SEED = 20240819


@dataclass(frozen=True)
class Size:
    """How much is drawn: replays an algorithm, runs a comparison, draws a sampler; kills of
    studies; replications path by path."""

    replays: int
    whole_law: int
    mean_twins: int
    error_runs: int
    draws: int
    kills: int
    duels: int
    vanilla_paths: int
    lucb_paths: int


FULL = Size(
    replays=4_000,
    whole_law=20_000,
    mean_twins=300,
    error_runs=5_000,
    draws=4_000_000,
    kills=200,
    duels=5_000_000,
    vanilla_paths=500_000,
    lucb_paths=100_000,
)
QUICK = Size(
    replays=400,
    whole_law=2_000,
    mean_twins=40,
    error_runs=1_000,
    draws=200_000,
    kills=20,
    duels=500_000,
    vanilla_paths=50_000,
    lucb_paths=10_000,
)


class Verdict(NamedTuple):
    """What a check found."""

    name: str
    passed: bool
    detail: str


Check = Callable[[Size, Executor, int], Verdict]
Draw = Callable[[NDArray[np.float64]], None]

#: The algorithms' names in tables.
SHORT = {
    Vanilla(): "Vanilla",
    Vanilla(merging=False): "Vanilla, no merging",
    Butterscotch(): "Butterscotch",
    Butterscotch(merging=False): "Butterscotch, no merging",
    LUCB(): "LUCB",
    LUCB(as_printed=True): "LUCB as printed",
}
#: LUCB with other radii and picks.
VARIANTS = [
    LUCB(radius=radius, picks=picks)
    for radius in ("mixture", "stitched", "paper")
    for picks in ("all", "lucb++", "k-m", "rank")
    if (radius, picks) != ("paper", "all")
]
SHORT |= {one: f"LUCB, {one.radius}, {one.picks}" for one in VARIANTS}
BY_LEVELS = [one for one in VARIANTS if str(one.radius) != "paper" and one.picks != "k-m"]
#: Those that pull as they like and stop by a proven threshold; their replays are tests.
ADAPTIVE = {TopTwo(): "TopTwo", BatchedTrackAndStop(): "track and stop in batches"}


class Case(NamedTuple):
    """An algorithm on a problem."""

    name: str
    algorithm: Algorithm
    problem: rai.Problem
    delta: float = 0.1

    @property
    def label(self) -> str:
        """Algorithm and problem in words."""
        return f"{SHORT[self.algorithm]}: {self.name}"


# --------------------------------------------------------------------------------------------------
# Replays: every number of every run
# --------------------------------------------------------------------------------------------------

LENGTHS: dict[type[Algorithm], tuple[Callable[[float, int, float], float], tuple[float, float]]] = {
    Vanilla: (vanilla_length, (0.15, 0.8)),
    Butterscotch: (butterscotch_length, (0.05, 0.3)),
    LUCB: (lucb_length, (0.2, 0.8)),
}


def replays(algorithm: Algorithm, size: Size, pool: Executor, jobs: int) -> Verdict:
    """Kernel and twin agree in every number, with sure skips and with the default budget."""
    share = max(1, size.replays // (4 * jobs))
    wrong = sum(pool.map(partial(count_mismatches, algorithm, share), range(4 * jobs)), start=0)
    detail = (
        f"{wrong} mismatches in {2 * share * 4 * jobs:,} runs on {share * 4 * jobs:,} recordings"
    )
    return Verdict(f"replay, {SHORT[algorithm]}", wrong == 0, detail)


def word_replays(size: Size, pool: Executor, jobs: int) -> Verdict:
    """As `replays`, for LUCB and rewards 0 and 1 that come as words: rounds in lanes, challenges of
    one arm."""
    share = max(1, size.replays // (4 * jobs))
    found = list(pool.map(partial(count_word_mismatches, share), range(4 * jobs)))
    wrong, runs = (sum(column) for column in zip(*found, strict=True))
    return Verdict(
        "replay by words, LUCB",
        wrong == 0,
        f"{wrong} mismatches in {runs:,} runs on {runs // 2:,} recordings",
    )


def count_word_mismatches(count: int, part: int) -> tuple[int, int]:
    """Count the runs that differ from the twin's, and the runs."""
    rng = np.random.default_rng([SEED, part])
    gaps, most_arms = [((0.08, 0.3), 4), ((0.15, 0.5), 8), ((0.25, 0.9), 16), ((0.15, 0.5), 5)][
        part % 4
    ]
    drawn = [
        draw_instance(rng, lucb_length, gaps, kinds=("bernoulli",), most_arms=most_arms)
        for _ in range(count)
    ]
    drawn = [instance for instance in drawn if instance.span == 1]
    twin = [run_twin(LUCB(), instance) for instance in drawn]
    ours = [
        [run(LUCB(), instance, bits=True) for instance in drawn] for run in (run_kernel, run_known)
    ]
    return sum(a != b for runs in ours for a, b in zip(runs, twin, strict=True)), 2 * len(drawn)


def traces(algorithm: Algorithm, size: Size, pool: Executor, jobs: int) -> Verdict:
    """What traced kernels tell, by sums and by words, is what the twin sees: events, and states at
    every round or one an octave."""
    share = max(1, size.replays // (16 * jobs))
    found = list(pool.map(partial(count_different_stories, algorithm, share), range(4 * jobs)))
    wrong, states = (sum(column) for column in zip(*found, strict=True))
    detail = f"{wrong} of {share * 4 * jobs:,} recordings told differently, {states:,} states"
    return Verdict(f"traces, {SHORT[algorithm]}", wrong == 0 and states > 0, detail)


def count_different_stories(algorithm: Algorithm, count: int, part: int) -> tuple[int, int]:
    """Count the recordings of which traced kernel and twin tell different things, and the states
    compared."""
    rng = np.random.default_rng([SEED + 1, part])
    length, gaps = LENGTHS[type(algorithm)]
    bits = part % 2 == 1 and not isinstance(algorithm, Butterscotch)  # whose rounds are no words
    drawn = suited(
        rng,
        algorithm,
        [
            draw_instance(rng, length, gaps, kinds=("bernoulli",) if bits else KINDS)
            for _ in range(count)
        ],
    )
    wrong, states = different_stories(
        [instance for instance in drawn if instance.span == 1 or not bits], algorithm, bits
    )
    return len(wrong), states


def late_state(size: Size, pool: Executor, jobs: int) -> Verdict:
    """Negative control: states that are noted a round late are told from the twin's."""
    with TemporaryDirectory() as folder:
        environment = mutant(Path(folder), [LATE_STATE])
        code = (
            "import sys; sys.path.insert(0, sys.argv[1]); import numpy as np; from rai_sim import "
            "Vanilla; import replay\n"
            "drawn = [replay.draw_instance(np.random.default_rng(i), replay.vanilla_length, (0.2, "
            "0.8)) for i in range(40)]\n"
            "print(len(replay.different_stories(drawn, Vanilla())[0]))"
        )
        command = [sys.executable, "-c", code, str(Path(__file__).parents[1] / "tests")]
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, env=environment, cwd=folder
        )
    found = int(done.stdout)
    return Verdict(
        "negative control, traces: a round late",
        found > 10,
        f"{found} of 40 recordings told differently",
    )


def lengthened_lucb(j: int, size: Size, pool: Executor, jobs: int) -> Verdict:
    """Each of LUCB's jumps made too long, alone: paths show it."""
    with TemporaryDirectory() as folder:
        (found,), _ = pathwise_findings_of_mutant(
            Path(folder), LENGTHENED_LUCB[j : j + 1], SHOWN_BY[j : j + 1], jobs
        )
    return Verdict(
        f"negative control, paths, LUCB: {LENGTHENED_LUCB[j].function}",
        found > 0,
        f"{found} of {SHOWN_BY[j][3]} differ",
    )


def guards_left_out(size: Size, pool: Executor, jobs: int) -> Verdict:
    """Each guard of LUCB's view left out, alone: runs without a view notice it; with all guards
    they agree."""
    with TemporaryDirectory() as folder:
        none, found = mismatches_without_guards(Path(folder))
    detail = f"{none} mismatches with all guards; " + ", ".join(
        f"{name} {count}" for name, count in found.items()
    )
    return Verdict(
        "negative control, guards of LUCB's view", none == 0 and min(found.values()) > 0, detail
    )


def count_mismatches(algorithm: Algorithm, count: int, part: int) -> int:
    """Count the runs that differ from the twin's."""
    length, gaps = LENGTHS[type(algorithm)]
    rng = np.random.default_rng([SEED, part])
    drawn = suited(rng, algorithm, [draw_instance(rng, length, gaps) for _ in range(count)])
    twin = [run_twin(algorithm, instance) for instance in drawn]
    ours = [[run(algorithm, instance) for instance in drawn] for run in (run_kernel, run_known)]
    return sum(a != b for runs in ours for a, b in zip(runs, twin, strict=True))


# --------------------------------------------------------------------------------------------------
# Paths: kernels against compiled literal loops on the same rewards
# --------------------------------------------------------------------------------------------------

KINDS_OF_REWARDS = ("words", "bits", "levels", "reals")
#: Middle, gap and delta of two arms; from some 150 to 12,000 rounds.
PAIRS = [
    (0.5, 0.14, 0.1),
    (0.5, 0.14, 0.3),
    (0.5, 0.2, 0.01),
    (0.5, 0.25, 0.01),
    (0.5, 0.3, 0.3),
    (0.5, 0.4, 0.1),
    (0.8, 0.14, 0.1),
    (0.8, 0.2, 0.1),
    (0.2, 0.25, 0.01),
    (0.12, 0.2, 0.1),
    (0.93, 0.1, 0.3),
    (0.5, 0.06, 0.1),
]


def duel_tasks() -> list[Task]:
    """Return tasks of two arms: three quarters of them by words."""
    others = [two_arms(kind, 0.5, gap, 0.1) for kind in KINDS_OF_REWARDS[1:] for gap in (0.2, 0.4)]
    return [*(two_arms("words", *pair) for pair in PAIRS), *others]


def vanilla_tasks() -> list[Task]:
    """Return tasks of 3 to 12 arms, and of up to 60."""
    kinds = ("words", *KINDS_OF_REWARDS)
    return draw_tasks(SEED, 90, kinds, (3, 12), (0.1, 0.4)) + draw_tasks(
        SEED + 1, 10, kinds, (13, 60), (0.2, 0.4)
    )


def lucb_tasks() -> list[Task]:
    """Return tasks of 2 to 10 arms."""
    return draw_tasks(SEED + 2, 50, ("words", *KINDS_OF_REWARDS), (2, 10), (0.15, 0.5))


def paths(
    name: str,
    algorithm: Algorithm,
    tasks: Sequence[Task],
    runs: int,
    jobs: int,
    max_pulls: int = -1,
) -> Verdict:
    """Every arm's round and cluster, pulls, rounds and outputs are those of the literal loop, in
    every replication."""
    found = Misses(0, (), 0)
    for seed, task in enumerate(tasks):
        found += misses(
            algorithm,
            task,
            SEED + seed,
            max(1, runs // len(tasks)),
            workers=jobs,
            max_pulls=max_pulls,
        )
    rate = f"rates above {found.excluded_rate:.1e} excluded"
    told = f"{found.number} of {found.replications:,} replications differ on {len(tasks)} tasks, {rate}"
    return Verdict(f"paths, {name}", found.number == 0, "; ".join([told, *found.examples]))


def duels(size: Size, pool: Executor, jobs: int) -> Verdict:
    """Vanilla with two arms."""
    return paths("Vanilla, two arms", Vanilla(), duel_tasks(), size.duels, jobs)


def leaps(size: Size, pool: Executor, jobs: int) -> Verdict:
    """Vanilla with two arms and narrower widths, gaps so small that leaps make most rounds."""
    tasks = [two_arms("words", *far) for far in ((0.5, 0.02, 0.01), (0.8, 0.015, 0.1))]
    found = [
        paths(f"Vanilla, {rule.width}, leaps", rule, tasks, size.vanilla_paths // 100, jobs)
        for rule in (Vanilla(width="mixture"), Vanilla(width="stitched"))
    ]
    return Verdict(
        "paths, Vanilla, leaps",
        all(verdict.passed for verdict in found),
        "; ".join(verdict.detail for verdict in found),
    )


def vanilla_paths(merging: bool, size: Size, pool: Executor, jobs: int) -> Verdict:
    """Vanilla with more arms."""
    rule = Vanilla(merging=merging)
    return paths(
        f"{SHORT[rule]}, 3 to 60 arms", rule, vanilla_tasks(), size.vanilla_paths // 2, jobs
    )


def many_arms(algorithm: Algorithm, size: Size, pool: Executor, jobs: int) -> Verdict:
    """100 to 4,000 arms: 200 replications of Vanilla, 20 of LUCB, whose view holds a few of
    them."""
    tasks = draw_tasks(SEED + 3, 20, ("words", "bits"), (100, 4_000), (0.4, 0.6))
    runs = size.vanilla_paths // (2_500 if isinstance(algorithm, Vanilla) else 25_000)
    return paths(f"{SHORT[algorithm]}, 100 to 4,000 arms", algorithm, tasks, runs, jobs)


def lucb_paths(as_printed: bool, size: Size, pool: Executor, jobs: int) -> Verdict:
    """LUCB, in step, by lanes, by challenges, in corridors, round by round."""
    rule = LUCB(as_printed=as_printed)
    # as printed, a run may never end
    runs, cap = (size.lucb_paths // 10, 200_000) if as_printed else (size.lucb_paths, -1)
    return paths(f"{SHORT[rule]}, 2 to 10 arms", rule, lucb_tasks(), runs, jobs, cap)


def variant_paths(algorithm: LUCB, size: Size, pool: Executor, jobs: int) -> Verdict:
    """LUCB with another radius or other picks, in corridors and round by round; the evenly spaced
    arms are some ten thousands of rounds."""
    rng, tasks = np.random.default_rng(SEED), list[Task]()
    even = [
        Task(kind, (0.54, 0.51, 0.48, 0.45), (1, 1, 2), (0, 1, 0), 0.1)
        for kind in ("words", *KINDS_OF_REWARDS)
    ]
    for task in [*lucb_tasks(), *even]:
        found = suited_task(rng, algorithm, task.clusters, task.required)
        if found is not None:
            tasks.append(replace(task, clusters=found[0], required=found[1]))
    runs = size.lucb_paths // 20
    return paths(f"{SHORT[algorithm]}, 2 to 10 arms", algorithm, tasks, runs, jobs)


def level_paths(algorithm: LUCB, size: Size, pool: Executor, jobs: int) -> Verdict:
    """LUCB with another radius on the best of 3 to 24 close arms, of which most rounds are made by
    levels."""
    rng, tasks = np.random.default_rng(SEED + 5), list[Task]()
    while len(tasks) < 20:
        N, gap = int(rng.integers(3, 25)), rng.uniform(0.02, 0.05)
        means = rng.uniform(0.1, 0.9) - gap * np.sort(np.append(rng.uniform(1.0, N, N - 1), 0.0))
        if means[-1] > 0.02:
            delta = float(rng.choice([0.3, 0.1, 1e-3]))
            tasks.append(Task("words", tuple(means.tolist()), (1, N - 1), (1, 0), delta))
    name = f"{SHORT[algorithm]}, 3 to 24 close arms"
    return paths(name, algorithm, tasks, size.lucb_paths // 5, jobs)


def butterscotch_paths(size: Size, pool: Executor, jobs: int) -> Verdict:
    """Butterscotch, whose rounds are sums of thousands of rewards."""
    return paths(
        "Butterscotch, 3 to 12 arms",
        Butterscotch(),
        vanilla_tasks()[:20],
        size.vanilla_paths // 100,
        jobs,
    )


def used_rewards(algorithm: Algorithm, size: Size, pool: Executor, jobs: int) -> Verdict:
    """Rewards that are thrown away, drawn anew, change neither the outcome nor the course of the
    draws."""
    changed: list[str] = []
    anew = 0
    tasks = [*duel_tasks()[:10], *draw_tasks(SEED + 4, 30, ("words",), (3, 10), (0.2, 0.5))]
    each = size.vanilla_paths // 10_000
    for task in tasks:
        found, drawn = decisions_use_used_rewards(algorithm, task, SEED, 0, each)
        changed += found
        anew += drawn
    detail = f"{len(changed)} of {each * len(tasks):,} replications change with {anew:,} unused rewards drawn anew"
    return Verdict(
        f"decisions use used rewards, {SHORT[algorithm]}",
        not changed and anew > 0,
        "; ".join([detail, *changed[:3]]),
    )


def over_confident(size: Size, pool: Executor, jobs: int) -> Verdict:
    """Negative control: certificates with a thirtieth of the variance proxy."""
    found = misses(
        Vanilla(), two_arms("words", *PAIRS[0]), SEED, 5_000, workers=jobs, proxy_over=30.0
    )
    detail = f"{found.number} of {found.replications:,} differ"
    return Verdict("negative control, paths: a thirtieth of the proxy", found.number > 0, detail)


def planted_faults(size: Size, pool: Executor, jobs: int) -> Verdict:
    """Negative controls: the slope of a chord kept for a line that begins above it; a look at a
    reward that is then thrown away. As long in a quick run: the first misses once in 125,000."""
    each = FULL.duels // 20
    with TemporaryDirectory() as folder:
        pairs = [(0.8, 0.14, 0.1), (0.5, 0.14, 0.3)]
        trials: list[Trial] = [
            (Vanilla(), two_arms("words", *pair), seed, each, {}) for seed, pair in enumerate(pairs)
        ]
        found, hung = pathwise_findings_of_mutant(
            Path(folder), [STALE_SLOPE, LOOK_AHEAD], trials, jobs, reuse=True
        )
    missed = sum(found)
    detail = f"a stale slope misses in {missed} of {2 * each:,} replications; a look ahead changes {hung} of 40"
    return Verdict("negative controls, paths: planted faults", missed > 0 and hung > 0, detail)


# --------------------------------------------------------------------------------------------------
# Whole laws of pulls
# --------------------------------------------------------------------------------------------------

THREE, RANKED = [0.2, 0.9, 0.3], [0.05, 0.95, 0.5]
STARS = rai.Categorical(
    [0.2, 0.4, 0.6, 0.8, 1.0], [[0.1, 0.1, 0.1, 0.2, 0.5], [0.5, 0.2, 0.1, 0.1, 0.1]]
)
MIDDLE = rai.Problem(rai.Bernoulli([0.97, 0.6, 0.4, 0.03]), (1, 2, 1), (0, 1, 0))
ENDS = rai.Problem(rai.Bernoulli([0.98, 0.9, 0.5, 0.45, 0.05, 0.05]), (2, 2, 2), (1, 0, 1))
WHOLE_LAW = [
    Case("best of two, gap 0.4", Vanilla(), rai.best_arm(rai.Bernoulli([0.3, 0.7]))),
    Case("best of two, gap 0.2", Vanilla(), rai.best_arm(rai.Bernoulli([0.6, 0.4]))),
    Case("best of three", Vanilla(), rai.best_arm(rai.Bernoulli(THREE))),
    Case("ranking of three", Vanilla(), rai.full_ranking(rai.Bernoulli(RANKED))),
    Case("middle of four", Vanilla(), MIDDLE),
    Case("ends of six", Vanilla(merging=False), ENDS),
    Case(
        "Gaussian, best of three", Vanilla(), rai.best_arm(rai.Gaussian([-0.1, 0.9, 0.2], sd=0.4))
    ),
    Case("five stars, best of two", Vanilla(), rai.best_arm(STARS)),
    Case("best of two, near 1/8", Butterscotch(), rai.best_arm(rai.Bernoulli([0.5, 0.63])), 0.3),
    Case("best of two", LUCB(), rai.best_arm(rai.Bernoulli([0.3, 0.7]))),
    Case("best of three", LUCB(), rai.best_arm(rai.Bernoulli(THREE))),
    Case("ranking of three", LUCB(), rai.full_ranking(rai.Bernoulli(RANKED))),
    Case("middle of four", LUCB(), MIDDLE),
    # On many other problems the printed rule's pulls have a heavy tail, in which a literal run
    # would be lost.
    Case("middle of four", LUCB(as_printed=True), MIDDLE),
]


def whole_law(case: Case, size: Size, pool: Executor, jobs: int) -> Verdict:
    """Pulls of simulate and of the twin have one law, by Kolmogorov-Smirnov and chi-square on
    quantiles."""
    p, detail = compare_laws(case, size.whole_law, pool, jobs)
    return Verdict(f"law of pulls, {case.label}", p > LEVEL, detail)


def wrong_width(case: Case, size: Size, pool: Executor, jobs: int) -> Verdict:
    """A twin whose width is 3 % too small is told from simulate."""
    p, detail = compare_laws(case, size.whole_law, pool, jobs, width=0.97)
    return Verdict(f"negative control, width 3 % smaller, {case.label}", p <= LEVEL, detail)


def compare_laws(
    case: Case, runs: int, pool: Executor, jobs: int, width: float = 1.0
) -> tuple[float, str]:
    """Return the smaller p-value of the two tests, and what was compared."""
    theirs = many_twin_pulls(case, runs, pool, jobs, width)
    result = rai.simulate(
        case.problem, case.algorithm, delta=case.delta, replications=runs, seed=SEED, n_jobs=jobs
    )
    smirnov, quantiles = two_sample(result.pulls, theirs)
    detail = (
        f"{runs:,} runs each, means {result.pulls.mean():,.1f} and {theirs.mean():,.1f}; "
        f"p = {smirnov:.2g} (KS), {quantiles:.2g} (chi-square)"
    )
    return min(smirnov, quantiles), detail


LATE = ["rai.top(rai.Bernoulli([0.97, 0.96, 0.04]), 2)", "rai.best_arm(rai.Bernoulli([0.9, 0.1]))"]


def lengthened_skip(size: Size, pool: Executor, jobs: int) -> Verdict:
    """A kernel that skips a round too many is told from the twin on two problems, the kernel itself
    on none."""
    runs = 20_000  # whatever the size: one round late is little
    options: Any = {"delta": 0.3, "replications": runs, "seed": SEED}
    with TemporaryDirectory() as folder:
        broken = pulls_of_mutant(Path(folder), LENGTHENED_SKIP, LATE, "rai.Vanilla()", **options)
    sound, late = [], []
    for expression, pulls in zip(LATE, broken, strict=True):
        case = Case(expression, Vanilla(), eval(expression), 0.3)
        theirs = many_twin_pulls(case, runs, pool, jobs)
        sound.append(
            min(two_sample(rai.simulate(case.problem, Vanilla(), **options).pulls, theirs))
        )
        late.append(min(two_sample(pulls, theirs)))
    detail = f"p = {late[0]:.2g}, {late[1]:.2g}; without the fault {sound[0]:.2g}, {sound[1]:.2g}"
    passed = max(late) <= LEVEL < min(sound)
    return Verdict("negative control, skips one round longer, Vanilla", passed, detail)


def two_sample(ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> tuple[float, float]:
    """Return the p-values of the Kolmogorov-Smirnov and the chi-square test that two samples have
    one law."""
    smirnov = float(stats.ks_2samp(ours, theirs, method="asymp").pvalue)
    pooled = np.concatenate([ours, theirs])
    edges = np.unique(np.quantile(pooled, np.arange(1, 25) / 25, method="inverted_cdf"))
    table = np.array(
        [np.bincount(np.searchsorted(edges, x), minlength=len(edges) + 1) for x in (ours, theirs)]
    )
    if table[:, -1].sum() < 50:  # the last quantile is the largest value, or nearly
        table = np.column_stack([table[:, :-2], table[:, -2:].sum(axis=1)])
    return smirnov, independence(table)


def many_twin_pulls(
    case: Case, runs: int, pool: Executor, jobs: int, width: float = 1.0
) -> NDArray[np.int64]:
    """Run the twin on all workers."""
    share = math.ceil(runs / (4 * jobs))
    draw = partial(twin_pulls, case.algorithm, case.problem, case.delta, share, width=width)
    return np.concatenate(list(pool.map(draw, range(SEED, SEED + 4 * jobs))))[:runs]


# --------------------------------------------------------------------------------------------------
# Means of pulls on larger instances
# --------------------------------------------------------------------------------------------------

FOUR, SIX = [0.2, 0.8, 0.4, 0.6], [0.9, 0.55, 0.8, 0.2, 0.5, 0.1]
MEANS = [
    Case("table, task 1", Vanilla(), rai.table_problem(1), 0.01),
    Case("table, task 3", Vanilla(merging=False), rai.table_problem(3), 0.01),
    Case("ranking of four", Vanilla(), rai.full_ranking(rai.Bernoulli(FOUR)), 0.01),
    Case("middle of six", Vanilla(), rai.Problem(rai.Bernoulli(SIX), (2, 2, 2), (0, 2, 0)), 0.01),
    Case("table, task 2", Butterscotch(), rai.table_problem(2), 0.01),
    Case(
        "ranking of four",
        Butterscotch(merging=False),
        rai.full_ranking(rai.Bernoulli([0.1, 0.9, 0.63, 0.5])),
        0.01,
    ),
    Case(
        "middle of six",
        Butterscotch(),
        rai.Problem(rai.Bernoulli([0.9, 0.6, 0.73, 0.2, 0.5, 0.1]), (2, 2, 2), (0, 2, 0)),
        0.01,
    ),
    Case("table, task 1", LUCB(), rai.table_problem(1), 0.01),
    Case("ranking of four", LUCB(), rai.full_ranking(rai.Bernoulli(FOUR)), 0.01),
    Case("middle of six", LUCB(), rai.Problem(rai.Bernoulli(SIX), (2, 2, 2), (0, 2, 0)), 0.01),
]


def mean_pulls(case: Case, size: Size, pool: Executor, jobs: int) -> Verdict:
    """Means of simulate and of the twin agree within 4 standard errors (6.3e-5 each, 6.3e-4
    all)."""
    theirs = many_twin_pulls(case, size.mean_twins, pool, jobs)
    runs = 10 * len(theirs)
    ours = rai.simulate(
        case.problem, case.algorithm, delta=case.delta, replications=runs, seed=SEED, n_jobs=jobs
    ).pulls
    apart = standard_errors_apart(ours, theirs)
    means = f"{ours.mean():,.1f} ({runs:,} runs) and {theirs.mean():,.1f} ({len(theirs):,})"
    return Verdict(
        f"mean of pulls, {case.label}", apart < 4, f"{means}: {apart:.2f} standard errors"
    )


# --------------------------------------------------------------------------------------------------
# Error rates
# --------------------------------------------------------------------------------------------------


def near_ties(gap: float) -> dict[str, rai.Problem]:
    """Problems in which neighbouring clusters are `gap` apart."""
    steps = [0.5 + 2 * gap, 0.5 + gap, 0.5, 0.5, 0.5 - gap, 0.5 - 2 * gap]
    return {
        "best of five": rai.best_arm(rai.Bernoulli([0.5, 0.5, 0.5 + gap, 0.5, 0.5])),
        "top three of seven": rai.top(rai.Bernoulli([0.5 + gap] * 3 + [0.5] * 3 + [0.2]), 3),
        "middle of six": rai.Problem(rai.Bernoulli(steps), (2, 2, 2), (0, 2, 0)),
        "ends of six": rai.Problem(rai.Bernoulli(steps), (2, 2, 2), (1, 0, 1)),
    }


#: LUCB's rounds are dearer.
ERRORS = [
    Case(name, algorithm, problem)
    for algorithm, gap in (
        (Vanilla(), 0.01),
        (Vanilla(merging=False), 0.01),
        (Butterscotch(), 0.01),
        (Butterscotch(merging=False), 0.01),
        (LUCB(), 0.06),
    )
    for name, problem in near_ties(gap).items()
]
ERRING = Case("table, task 2", LUCB(as_printed=True), rai.table_problem(2), 0.01)


def error_rate(case: Case, size: Size, pool: Executor, jobs: int) -> Verdict:
    """Errors do not show that they are more frequent than delta."""
    p, detail = errors_above_delta(case, size.error_runs, jobs)
    return Verdict(f"error rate, {case.label}", p > LEVEL, detail)


def erring_rule(size: Size, pool: Executor, jobs: int) -> Verdict:
    """The printed LUCB, which errs in a fifth of runs, is caught at delta = 1 %."""
    p, detail = errors_above_delta(ERRING, size.error_runs // 10, jobs)
    return Verdict(f"negative control, error rate, {ERRING.label}", p <= LEVEL, detail)


def errors_above_delta(case: Case, runs: int, jobs: int) -> tuple[float, str]:
    """Return the p-value of the one-sided exact binomial test that the error rate is at most
    delta."""
    result = rai.simulate(
        case.problem, case.algorithm, delta=case.delta, replications=runs, seed=SEED, n_jobs=jobs
    )
    assert result.finished.all()
    errors = int(np.count_nonzero(~result.correct))
    p = float(stats.binomtest(errors, runs, case.delta, alternative="greater").pvalue)
    mean = f"mean pulls {result.pulls.mean():,.0f}"
    return p, f"{errors:,} of {runs:,} wrong, delta {case.delta:g}, {mean}; p = {p:.2g}"


# --------------------------------------------------------------------------------------------------
# Certification: ours on hard instances, and the test's own error rates
# --------------------------------------------------------------------------------------------------

#: A level at which there are alarms to be counted.
ALPHA = 0.2


def certified(
    algorithm: Algorithm, delta: float, claim: str, size: Size, pool: Executor, jobs: int
) -> Verdict:
    """What is claimed of an algorithm holds on all hard instances, with confidence 99 %."""
    found, seconds = certification(algorithm, delta, claim, size, jobs)
    detail = f"{found.statements[0]}; {seconds:.0f} s"
    name = (SHORT | ADAPTIVE)[algorithm]
    return Verdict(f"certified, {claim}, delta {delta:g}, {name}", found.passed, detail)


def printed_caught(delta: float, size: Size, pool: Executor, jobs: int) -> Verdict:
    """Negative control: the printed LUCB is rejected, within a minute."""
    found, seconds = certification(LUCB(as_printed=True), delta, "error", size, jobs)
    passed = bool(found.violations) and seconds < 60.0
    detail = f"{found.statements[0]}; {seconds:.1f} s"
    return Verdict(f"negative control, certified, delta {delta:g}, LUCB as printed", passed, detail)


def defined(algorithm: Algorithm, problem: rai.Problem) -> bool:
    """Whether an algorithm is defined for a problem."""
    try:
        algorithm.check_problem(problem, 0.1)
    except ValueError:
        return False
    return True


def certification(
    algorithm: Algorithm, delta: float, claim: str, size: Size, jobs: int
) -> tuple[rai.Certification, float]:
    """Certify on all ready-made instances for which the algorithm is defined, which are shorter in a
    quick run, and for algorithms that look at most pulls; return the seconds, too."""
    short = size is not FULL or algorithm in ADAPTIVE
    ready_made = rai.hard_problems(delta, pulls=20_000 if short else 200_000)
    problems = {name: one for name, one in ready_made.items() if defined(algorithm, one)}
    if claim == "pulls":
        problems |= {
            f"{instance} table, task {task}": rai.table_problem(task, instance)
            for instance in ("mirrored", "printed")
            for task in range(1, 6)
        }
    began = time.perf_counter()
    found = rai.certify(algorithm, delta, problems=problems, claim=claim, seed=SEED, n_jobs=jobs)
    return found, time.perf_counter() - began


def false_alarms(
    error: float, least: float, most: float, size: Size, pool: Executor, jobs: int
) -> Verdict:
    """Of an algorithm that errs with probability `error` times delta a certification at alpha = 20
    % says so with a frequency between two bounds."""
    tests = size.error_runs // 2
    share = math.ceil(tests / (4 * jobs))
    alarms = sum(pool.map(partial(count_alarms, 0.1 * error, share), range(4 * jobs)))
    rate, n = alarms / (share * 4 * jobs), share * 4 * jobs
    detail = f"{alarms:,} alarms in {n:,} tests at alpha = {ALPHA:g}, {100 * rate:.2f} %"
    control = "negative control, " if least > 0.0 else ""
    return Verdict(f"{control}alarms of certify at {error:g} delta", least <= rate <= most, detail)


def count_alarms(error: float, count: int, part: int) -> int:
    """Count the certifications that find a coin of this error to be above 0.1."""
    table = {"table": rai.table_problem()}
    return sum(
        bool(
            rai.certify(
                Coin(error=error), 0.1, problems=table, alpha=ALPHA, seed=part * count + i
            ).violations
        )
        for i in range(count)
    )


# --------------------------------------------------------------------------------------------------
# Samplers
# --------------------------------------------------------------------------------------------------


@driver
def draw_sums(
    law: Any, arm: int, k: int, key: NDArray[np.uint64], stream: int, out: NDArray[np.float64]
) -> None:
    """Draw sums of k pulls."""
    state = replication_stream(key, stream, key[2:])
    for i in range(out.size):
        out[i], state = laws.more_pulls(law, arm, 0.0, 0, k, state)


@driver
def draw_tabulated(
    k: int,
    p: float,
    F: NDArray[np.float64],
    guide: NDArray[np.uint16],
    key: NDArray[np.uint64],
    stream: int,
    out: NDArray[np.float64],
) -> None:
    """Draw sums of k trials through a table, those beyond it by walking."""
    state, trials = replication_stream(key, stream, key[2:]), np.float64(k)
    tabulate(trials, p, F, 0, guide, 0)
    for i in range(out.size):
        u, state = uniform(state)
        step = look_up(u, F, 0, guide, 0)
        if step != BEYOND:
            out[i] = mode_of(trials, p) + step
        else:
            out[i], state = binomial_outward(trials, p, u, state)


@driver
def draw_word_counts(
    expansion: np.uint64, key: NDArray[np.uint64], out: NDArray[np.float64]
) -> None:
    """Draw the ones of 64 bits."""
    state = replication_stream(key, 0, key[2:])
    for i in range(out.size):
        word, state = bernoulli_word(expansion, state)
        out[i] = bits_set(word)


@driver
def draw_hypergeometric(
    k: int, successes: int, h: int, key: NDArray[np.uint64], out: NDArray[np.float64]
) -> None:
    """Draw the successes among the first h of k."""
    state = replication_stream(key, 0, key[2:])
    for i in range(out.size):
        out[i], state = hypergeometric(k, successes, h, state)


def sampler(
    name: str, law: Law, draw: Draw, whole: bool, size: Size, pool: Executor, jobs: int
) -> Verdict:
    """Draws come from their law: chi-square on up to 200 bins."""
    out = np.empty(size.draws)
    draw(out)
    p = fit(law, out, 200, whole)
    return Verdict(f"sampler, {name}", p > LEVEL, f"{size.draws:,} draws; p = {p:.2g}")


def caught_sampler(
    name: str,
    wrong: Law,
    arms: rai.Poisson | rai.Beta | rai.StudentT | rai.Uniform,
    key: NDArray[np.uint64],
    size: Size,
    pool: Executor,
    jobs: int,
) -> Verdict:
    """Negative control: single pulls of arms are compared with a law that is a little off."""
    out = np.empty(size.draws)
    draw_sums(arms.kernel_law(), 0, 1, key, 0, out)
    p = fit(wrong, out, 200, isinstance(arms, rai.Poisson))
    detail = f"{size.draws:,} draws; p = {p:.2g}"
    return Verdict(f"negative control, sampler, {name}", p <= LEVEL, detail)


def samplers() -> list[Check]:
    """Return the checks of all samplers."""
    key = roomy_key(SEED)
    checks: list[Check] = []

    def add(name: str, law: Law, draw: Draw, whole: bool = True) -> None:
        checks.append(partial(sampler, name, law, draw, whole))

    grid = [
        (1, 0.3),
        (7, 0.75),
        (64, 0.5),
        (65, 0.1),
        (1000, 0.999),
        (10**4, 0.02),
        (10**6, 1e-5),
        (10**6, 0.4),
        (10**9, 1 - 1e-6),
        (10**9, 0.5),
        (10**12, 0.3),
        (10**14, 0.8),
    ]
    for stream, (k, p) in enumerate(grid):
        bernoulli = rai.Bernoulli([p]).kernel_law()
        add(
            f"Bernoulli sums, k = {k:,}, p = {p:g}",
            stats.binom(k, p),
            partial(draw_sums, bernoulli, 0, k, key, stream),
        )
    for stream, (k, p) in enumerate(((1037, 0.5), (1037, 0.01), (3823, 0.85), (70_001, 0.36))):
        table, guide = np.empty(entries(k)), np.empty(GUIDE, np.uint16)
        add(
            f"Bernoulli sums through a table, k = {k:,}, p = {p:g}",
            stats.binom(k, p),
            partial(draw_tabulated, k, p, table, guide, key, stream),
        )
    for stream, k in enumerate((1, 50, 10**6, 10**14)):
        gaussian = rai.Gaussian([0.3], sd=0.4).kernel_law()
        add(
            f"Gaussian sums, k = {k:,}",
            stats.norm(0.3 * k, 0.4 * math.sqrt(k)),
            partial(draw_sums, gaussian, 0, k, key, stream),
            whole=False,
        )
    stars = np.array([0.1, 0.05, 0.15, 0.3, 0.4])
    for stream, k in enumerate((1, 3, 20, 64, 1000)):
        categorical = rai.Categorical([0.0, 0.25, 0.5, 0.75, 1.0], [stars]).kernel_law()
        add(
            f"Categorical sums, k = {k:,}",
            convolved_law(stars, k),
            partial(draw_sums, categorical, 0, k, key, stream),
        )
    for stream, (k, sd) in enumerate(((1, 0.2), (50, 2.0))):
        by_arm = rai.Gaussian([0.7, 0.3], sd=[1.0, sd]).kernel_law()
        add(
            f"Gaussian sums, deviation {sd:g} of an arm, k = {k:,}",
            stats.norm(0.3 * k, sd * math.sqrt(k)),
            partial(draw_sums, by_arm, 1, k, key, stream),
            whole=False,
        )
    for stream, (mean, concentration) in enumerate(
        ((0.5, 0.1), (0.2, 1.0), (0.9, 4.0), (0.3, 50.0), (0.6, 1e6))
    ):
        alpha, beta = mean * concentration, (1.0 - mean) * concentration
        add(
            f"Beta pulls, mean {mean:g}, concentration {concentration:g}",
            stats.beta(alpha, beta),
            partial(draw_sums, rai.Beta([mean], concentration).kernel_law(), 0, 1, key, stream),
            whole=False,
        )
    uniforms = rai.Uniform([0.0, -1.0], [1.0, 3.0]).kernel_law()
    for k, law in ((1, stats.uniform(-1.0, 4.0)), (2, stats.triang(0.5, -2.0, 8.0))):
        draw = partial(draw_sums, uniforms, 1, k, key, k)
        add(f"Uniform sums, k = {k}", law, draw, whole=False)
    for stream, (k, mean) in enumerate(
        ((1, 0.2), (1, 9.9), (1, 10.1), (7, 4.0), (1000, 0.3), (10**6, 2.5), (10**12, 700.0))
    ):
        counts = rai.Poisson([mean]).kernel_law()
        add(
            f"Poisson sums, k = {k:,}, mean {mean:g}",
            stats.poisson(k * mean),
            partial(draw_sums, counts, 0, k, key, stream),
        )
    for stream, df in enumerate((1.2, 2.0, 5.0, 1000.0)):
        heavy = rai.StudentT([0.3], df, scale=2.0).kernel_law()
        add(
            f"pulls of Student's t, df {df:g}",
            stats.t(df, 0.3, 2.0),
            partial(draw_sums, heavy, 0, 1, key, stream),
            whole=False,
        )
    checks += [
        partial(caught_sampler, "Beta", stats.beta(1.03, 1.97), rai.Beta([1 / 3], 3.0), key),
        partial(caught_sampler, "Poisson", stats.poisson(20.1), rai.Poisson([20.0]), key),
        partial(caught_sampler, "Student's t", stats.t(3.4), rai.StudentT([0.0], 3.0, 1.0), key),
        partial(caught_sampler, "Uniform", stats.uniform(0, 1.01), rai.Uniform([0.0], [1.0]), key),
    ]
    for p in (0.5, 0.3, 2e-3, 0.998):
        add(
            f"words, p = {p:g}",
            stats.binom(64, p),
            partial(draw_word_counts, np.uint64(int(p * 2.0**64)), key),
        )
    for k, successes, h in (
        (100, 3, 40),
        (64, 30, 32),
        (10**5, 4 * 10**4, 10**3),
        (10**9, 3 * 10**8, 5 * 10**8),
    ):
        add(
            f"hypergeometric, {successes:,} of {k:,}, {h:,} drawn",
            hypergeometric_law(k, successes, h),
            partial(draw_hypergeometric, k, successes, h, key),
        )
    return checks


# --------------------------------------------------------------------------------------------------
# Limits of size: peak memory of processes of their own
# --------------------------------------------------------------------------------------------------

_PEAK = """
import sys, time
import rai_sim as rai
def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1000
"""
_STUDY = (
    _PEAK
    + """
def run(n):
    study = rai.Study.grid({"x": rai.table_problem(task=1)}, [rai.Butterscotch()], [0.1], replications=n, keep="aggregates")
    assert study.run(sys.argv[1], n_jobs=int(sys.argv[3])).progress() == (n, n)
    return peak()
n = int(sys.argv[2])
print(run(n // 5), run(n))
"""
)
_LOAD = (
    _PEAK
    + """
from rai_sim.arms import movielens
before, began = peak(), time.perf_counter()
arms = movielens.load(sys.argv[1])
print(before, peak(), time.perf_counter() - began, arms.n_arms)
"""
)


def aggregates_in_bounded_memory(size: Size, pool: Executor, jobs: int) -> Verdict:
    """Of 25 times as many replications as there are draws (1e8 at full size) the sums need no more
    memory than of a fifth of them."""
    n = 25 * size.draws
    with TemporaryDirectory() as folder:
        few, many = map(float, _in_fresh_process(_STUDY, folder, str(n), str(jobs)))
        disk = sum(path.stat().st_size for path in Path(folder).iterdir())
    detail = f"peak {few:.0f} MB after {n // 5:.0e} replications, {many:.0f} MB after {n:.0e}; {disk / 1e6:.2f} MB on disk"
    return Verdict("aggregates of many replications", many - few < 30.0, detail)


def many_ratings(size: Size, pool: Executor, jobs: int) -> Verdict:
    """Five times as many ratings as there are draws (2e7 at full size, as many as MovieLens 20M)
    are read in a minute and 1.5 GB."""
    n = 5 * size.draws
    with TemporaryDirectory() as folder:
        path = Path(folder) / "ratings.csv"
        write_ratings(n, path)
        before, after, seconds, arms = map(float, _in_fresh_process(_LOAD, str(path)))
    detail = f"{n:,} ratings in {seconds:.1f} s, peak {after - before:.0f} MB above import"
    return Verdict(
        "many ratings", arms == 50 and seconds < 60.0 and after - before < 1500.0, detail
    )


def write_ratings(n: int, path: Path) -> None:
    """Write n ratings of 10,000 movies, each user's of other movies, in the form of MovieLens
    20M."""
    rng = np.random.default_rng(SEED)
    with path.open("w", encoding="ascii") as file:
        file.write("userId,movieId,rating,timestamp\n")
        for start in range(0, n, 1_000_000):
            index = np.arange(start, min(start + 1_000_000, n))
            user, movie = index // 150 + 1, (index % 150 * 67 + index // 150) % 10_000 + 1
            stars = rng.integers(1, 11, len(index)) / 2
            file.writelines(
                f"{u},{m},{s},1112486027\n"
                for u, m, s in zip(user.tolist(), movie.tolist(), stars.tolist(), strict=True)
            )


def _in_fresh_process(code: str, *arguments: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


# --------------------------------------------------------------------------------------------------
# Studies that are killed and gone on with
# --------------------------------------------------------------------------------------------------


def kills(keep: str, size: Size, pool: Executor, jobs: int) -> Verdict:
    """No replication is lost or doubled, no part set aside, and in the end all is as if nobody had
    killed the study: 100 rounds a store."""
    found = kill(size.kills // 2, keep, SEED, to_each=min(50, size.kills // 2))
    detail = f"{found.advances} rounds got on, {found.unfinished} files left unfinished; " + (
        "; ".join(found.faults[:3]) or "no fault"
    )
    return Verdict(
        f"{found.rounds} rounds of kills, {keep}",
        not found.faults and found.advances >= found.rounds // 10,
        detail,
    )


def killed_parts(
    where: str, keep: str, amount: str, size: Size, pool: Executor, jobs: int
) -> Verdict:
    """Sixteen parts in as many processes at once, each killed twelve times on average, come to what
    one process alone does; in folders of their own, which are merged, or in one, or without parts,
    by claims."""
    parts, wanted = 16, size.kills
    with TemporaryDirectory() as place:
        found = kill_parts(Path(place), parts, amount, wanted, where, keep, SEED)
    words = "to a precision" if float(amount) < 1.0 else f"{amount} replications"
    return Verdict(
        f"{parts} processes killed, {where}, {keep}, {words}",
        not found.faults and found.killed >= wanted // 2,
        f"{found.killed} kills; " + ("; ".join(found.faults[:3]) or "no fault"),
    )


# --------------------------------------------------------------------------------------------------
# Tests that are too slow for every run of the tests
# --------------------------------------------------------------------------------------------------


def slow_tests(size: Size, pool: Executor, jobs: int) -> Verdict:
    """Run the tests that are marked as slow: negative controls that compile kernels anew, kills."""
    root = Path(__file__).resolve().parent.parent
    command = [sys.executable, "-m", "pytest", "-m", "slow", "-n", str(jobs), "tests"]
    ran = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    last = ran.stdout.strip().splitlines()[-1:]
    failed = [line for line in ran.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return Verdict("tests marked as slow", ran.returncode == 0, "; ".join([*last, *failed]))


# --------------------------------------------------------------------------------------------------
# What is shipped
# --------------------------------------------------------------------------------------------------


def shipped(
    name: str, look: Callable[[], distribution.Finding], size: Size, pool: Executor, jobs: int
) -> Verdict:
    """Wheel, source distribution and API reference, in environments of their own."""
    return Verdict(name, *distribution.safely(look))


# --------------------------------------------------------------------------------------------------
# All of them
# --------------------------------------------------------------------------------------------------

CHECKS: dict[str, list[Check]] = {
    "replay": [
        *(partial(replays, algorithm) for algorithm in SHORT),
        word_replays,
        *(partial(traces, algorithm) for algorithm in SHORT),
        late_state,
        *(partial(lengthened_lucb, j) for j in range(len(LENGTHENED_LUCB))),
        guards_left_out,
    ],
    "paths": [
        duels,
        leaps,
        partial(vanilla_paths, True),
        partial(vanilla_paths, False),
        partial(many_arms, Vanilla()),
        butterscotch_paths,
        partial(lucb_paths, False),
        partial(lucb_paths, True),
        *(partial(variant_paths, algorithm) for algorithm in VARIANTS),
        *(partial(level_paths, algorithm) for algorithm in BY_LEVELS),
        partial(many_arms, LUCB()),
        partial(used_rewards, Vanilla()),
        partial(used_rewards, LUCB()),
        over_confident,
        planted_faults,
    ],
    "law": [
        *(partial(whole_law, case) for case in WHOLE_LAW),
        partial(wrong_width, WHOLE_LAW[0]),
        partial(wrong_width, WHOLE_LAW[3]),
        lengthened_skip,
    ],
    "mean": [partial(mean_pulls, case) for case in MEANS],
    "error": [*(partial(error_rate, case) for case in ERRORS), erring_rule],
    "certify": [
        *(
            partial(certified, algorithm, delta, "error")
            for algorithm in (Vanilla(), Butterscotch(), LUCB())
            for delta in (0.1, 0.01)
        ),
        *(partial(certified, algorithm, 0.1, "error") for algorithm in (*VARIANTS, *ADAPTIVE)),
        *(
            partial(certified, algorithm, delta, "pulls")
            for algorithm in (Vanilla(), Vanilla(merging=False), Butterscotch())
            for delta in (0.1, 0.01)
        ),
        partial(printed_caught, 0.1),
        partial(printed_caught, 0.01),
        partial(false_alarms, 1.0, 0.0, ALPHA),
        partial(false_alarms, 1.5, 0.9, 1.0),
    ],
    "sampler": samplers(),
    "size": [aggregates_in_bounded_memory, many_ratings],
    "kills": [
        *(partial(kills, keep) for keep in ("replications", "aggregates")),
        *(
            partial(killed_parts, where, keep, amount)
            for where in ("apart", "shared", "claims")
            for keep, amount in (("replications", "3000"), ("aggregates", "0.01"))
        ),
    ],
    "distribution": [partial(shipped, *one) for one in distribution.all_of_it()],
    "suite": [slow_tests],
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the checks and print a line for each; return 1 if any failed, 130 if Ctrl-C ended it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="a tenth of the draws")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=sorted(CHECKS),
        default=list(CHECKS),
        help="groups of checks to run",
    )
    parser.add_argument("--jobs", type=int, default=2, help="worker processes (2)")
    options = parser.parse_args(arguments)
    size = QUICK if options.quick else FULL
    failed: list[str] = []
    count, interrupted, started = 0, False, time.perf_counter()
    with ProcessPoolExecutor(options.jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            for check in (check for group in options.only for check in CHECKS[group]):
                verdict = _timed(check, size, pool, options.jobs)
                count += 1
                if not verdict.passed:
                    failed.append(verdict.name)
        except KeyboardInterrupt:
            interrupted = True
            pool.shutdown(cancel_futures=True)
    print(
        f"{count - len(failed)} of {count} checks passed in "
        f"{time.perf_counter() - started:,.0f} s"
        + (", then interrupted" if interrupted else "")
        + "".join(f"\nFAILED: {name}" for name in failed)
    )
    return 130 if interrupted else int(bool(failed))


def _timed(check: Check, size: Size, pool: Executor, jobs: int) -> Verdict:
    """Run a check and print what it found, and how long that took."""
    began = time.perf_counter()
    verdict = check(size, pool, jobs)
    mark = "pass" if verdict.passed else "FAIL"
    seconds = time.perf_counter() - began
    print(f"{mark}  {verdict.name:<64} {seconds:6.1f} s  {verdict.detail}", flush=True)
    return verdict


if __name__ == "__main__":
    sys.exit(main())
