"""Kernels against compiled literal loops on the same rewards, path by path: what two-sample tests
and short replays cannot see.

The law gives each arm of each replication a fixed stack of rewards (`stack`). So kernels run
unmodified, jumps by certificate included, and a literal loop (`literal`) can be run on the very
same rewards. Every arm's round, cluster and pulls, and all outputs, must be equal: an event that is
skipped in one run of a million is seen with certainty.

What such a comparison cannot see is whether a kernel looks at rewards, decides, and then draws them
anew: the stack gives the same ones again. `decisions_use_used_rewards` does: it notes which bits of
each word were used, and gives all others anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import literal
import numpy as np
from literal import compiled
from numpy.typing import NDArray
from scipy import stats
from stack import (
    ANEW,
    BITS,
    DIGITS,
    LEVELS,
    NOTE,
    REALS,
    WORDS,
    Stack,
    kept_apart,
    key_of,
    new_stack,
    reward,
)

from rai_sim import LUCB, Bernoulli, Butterscotch, Vanilla
from rai_sim.algorithms.base import Algorithm
from rai_sim.engine.blocks import Setting, new_block
from rai_sim.engine.history import new_history
from rai_sim.engine.streams import new_generators, replication_stream, shuffle, stream_key
from rai_sim.engine.strides import ALL

#: The kinds of stacks that tasks may be of.
KINDS = {"words": WORDS, "bits": BITS, "levels": LEVELS, "reals": REALS}


# --------------------------------------------------------------------------------------------------
# Settings
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """What replications are run on: means in falling order (rounded to what the kind can give), and
    the task."""

    kind: str
    means: tuple[float, ...]
    clusters: tuple[int, ...]
    required: tuple[int, ...]
    delta: float

    @property
    def name(self) -> str:
        """What is run, in a line."""
        few = ", ".join(f"{mean:g}" for mean in self.means[:10])
        arms = f"{len(self.means)} arms ({few}{' ..' if len(self.means) > 10 else ''})"
        return f"{self.kind}, {arms}, c={self.clusters} r={self.required}, delta {self.delta:g}"

    def stack(self, calls: int = 0) -> Stack:
        """Return the law; with room for as many calls to be noted."""
        kind, means, proxy = KINDS[self.kind], np.array(self.means), 0.25
        others: dict[str, Any] = {}
        if kind <= BITS:
            digits = np.round(means * 2.0**DIGITS).astype(np.uint64)
            others = {"digits": digits}
            means = digits / 2.0**DIGITS
            proxy = Bernoulli(means).kernel_law().variance_proxy  # what users' arms claim
        elif kind == LEVELS:
            cumulative = np.array([_levels(mean) for mean in means])
            weights = np.diff(cumulative.astype(np.float64), axis=1, prepend=0.0) / 65536.0
            others = {"cumulative": cumulative, "spread": 9.0, "unit": 0.1}
            means, proxy = weights @ np.arange(10.0), 81.0 / 4.0
        else:
            # A uniform on an interval of length 1 is sub-Gaussian with its variance, 1/12.
            others = {"spread": np.inf}
            means, proxy = np.round(means * 4096.0) / 4096.0, 4.0 / 12.0 * 0.75**2
        room = {"calls": np.zeros((calls, 4), np.int64), "used": np.zeros(calls, np.int64)}
        return new_stack(kind, means, proxy, **others, **room)

    def block_setting(
        self, seed: int, skip_error: float, max_pulls: int = -1, strides: int = ALL
    ) -> Setting:
        """Return what kernels take."""
        return Setting(
            sizes=np.array(self.clusters, np.int64),
            required=np.array(self.required, np.int64),
            cluster_of=np.repeat(np.arange(len(self.clusters)), self.clusters).astype(np.int64),
            delta=self.delta,
            skip_error=skip_error,
            max_pulls=max_pulls,
            key=stream_key(seed),
            strides=strides,
        )


def _levels(mean: float) -> NDArray[np.uint64]:
    """Return cumulative probabilities, in 2^-16, of levels 0..9 whose tenths have about the given
    mean: a uniform law tilted."""
    levels = np.arange(10.0)
    tilt, low, high = 0.0, -8.0, 8.0
    for _ in range(60):
        tilt = (low + high) / 2
        weights = np.exp(tilt * (levels - 4.5))
        low, high = (tilt, high) if weights @ levels / weights.sum() < 10.0 * mean else (low, tilt)
    cumulative = np.round(np.cumsum(weights) / weights.sum() * 65536.0).astype(np.uint64)
    cumulative[-1] = 65536
    return cumulative


def draw_tasks(
    seed: int, count: int, kinds: Sequence[str], arms: tuple[int, int], gaps: tuple[float, float]
) -> list[Task]:
    """Draw tasks: numbers of arms from a range, log-uniform; gaps across borders likewise; cuts,
    what is asked for, means, ties inside."""
    rng, tasks = np.random.default_rng(seed), list[Task]()
    while len(tasks) < count:
        N = int(np.exp(rng.uniform(np.log(arms[0]), np.log(arms[1] + 0.5))))
        cuts = (
            np.sort(rng.choice(N - 1, size=min(N - 1, int(rng.integers(1, 4))), replace=False)) + 1
        )
        clusters = np.diff(np.concatenate([[0], cuts, [N]])).tolist()
        required = [int(rng.integers(c + 1)) if rng.random() < 0.6 else 0 for c in clusters]
        gap = float(np.exp(rng.uniform(*np.log(gaps))))
        steps = np.where(
            np.isin(np.arange(1, N), cuts), gap * rng.choice([1.0, 1.0, 1.5], N - 1), 0.0
        )
        spare = 0.98 - steps.sum()
        if not any(required) or spare <= 0.0:
            continue
        inside = np.where(steps == 0.0, rng.choice([0.0, 1.0], N - 1) * rng.random(N - 1), 0.0)
        inside *= 0.5 * spare * rng.random() / max(inside.sum(), 1.0)
        below = np.concatenate([[0.0], np.cumsum(steps + inside)])
        top = rng.uniform(below[-1] + 0.01, 0.99)
        means = tuple(np.round(top - below, 6).tolist())
        tasks.append(
            Task(
                str(rng.choice(kinds)),
                means,
                tuple(clusters),
                tuple(required),
                float(rng.choice([0.3, 0.1, 0.01])),
            )
        )
    return tasks


def close_tasks(seed: int, count: int, arms: tuple[int, int]) -> list[Task]:
    """Draw tasks whose means are all within 0.04 of one half, 0.008 apart at the cuts at least, so
    that rounds are tens of thousands."""
    rng, tasks = np.random.default_rng(seed), list[Task]()
    for _ in range(count):
        N = int(rng.integers(arms[0], arms[1] + 1))
        cuts = np.sort(rng.choice(N - 1, size=int(rng.integers(1, 4)), replace=False)) + 1
        steps = 0.08 * rng.dirichlet(np.ones(N - 1))
        steps[cuts - 1] = np.maximum(steps[cuts - 1], 0.008)
        means = 0.54 - np.concatenate([[0.0], np.cumsum(steps)])
        clusters = np.diff(np.concatenate([[0], cuts, [N]])).tolist()
        required = [1 + int(rng.integers(c)) for c in clusters]
        tasks.append(
            Task("words", tuple(np.round(means, 6).tolist()), tuple(clusters), tuple(required), 0.1)
        )
    return tasks


def two_arms(kind: str, middle: float, gap: float, delta: float) -> Task:
    """Return the best arm of two."""
    return Task(kind, (middle + gap / 2, middle - gap / 2), (1, 1), (1, 0), delta)


# --------------------------------------------------------------------------------------------------
# Both ways
# --------------------------------------------------------------------------------------------------


def arrays_of(outcome: literal.Outcome) -> list[NDArray[Any]]:
    """Return all that is known of runs."""
    return list(outcome)


class Runs(NamedTuple):
    """What replications first..first+count-1 did, by kernels and literally."""

    ours: literal.Outcome
    theirs: literal.Outcome

    def different(self) -> NDArray[np.bool_]:
        """Return whether anything of a replication differs."""
        wrong = np.zeros(len(self.ours.pulls), np.bool_)
        for mine, other in zip(arrays_of(self.ours), arrays_of(self.theirs), strict=True):
            if mine.size and other.size:
                wrong |= (mine != other).reshape(len(mine), -1).any(axis=1)
        return wrong

    def told(self, b: int) -> str:
        """Return what differs of replication first + b, ours before theirs; "nothing" if all is
        the same."""
        texts = []
        for name in literal.Outcome._fields:
            mine, other = getattr(self.ours, name), getattr(self.theirs, name)
            if mine.size and other.size and (wrong := np.argwhere(mine[b] != other[b])).size:
                at = tuple(wrong[0].tolist())
                place = f" {list(at)}" if at else ""
                texts.append(f"{name}{place} {mine[b][at]}, literally {other[b][at]}")
        return "; ".join(texts) or "nothing"


# Two entry points, as either takes seconds to compile.


@compiled
def _run_lucb(
    rewards: Any,
    law: Stack,
    rule: int,
    flag: bool,
    setting: Setting,
    first: int,
    generators: NDArray[np.uint64],
    room: literal.Room,
    out: literal.Outcome,
) -> None:
    """Run the literal loop of LUCB on the replications' stacks; rules as in `literal`."""
    variant = -rule - 1 if rule < 0 else 0
    for b in range(out.pulls.size):
        key = key_of(shuffle(room.order, replication_stream(setting.key, first + b, generators)))
        literal.lucb(
            rewards,
            law,
            key,
            flag,
            variant,
            setting.sizes,
            setting.required,
            setting.delta,
            law.unit,
            setting.max_pulls,
            room,
            out,
            b,
        )


@compiled
def _run_round_robin(
    rewards: Any,
    law: Stack,
    rule: int,
    flag: bool,
    setting: Setting,
    first: int,
    generators: NDArray[np.uint64],
    room: literal.Room,
    out: literal.Outcome,
) -> None:
    """Run the literal loop of round robin likewise."""
    for b in range(out.pulls.size):
        key = key_of(shuffle(room.order, replication_stream(setting.key, first + b, generators)))
        literal.round_robin(
            rewards,
            law,
            key,
            rule,
            flag,
            setting.sizes,
            setting.required,
            setting.delta,
            law.unit,
            setting.max_pulls,
            room,
            out,
            b,
        )


def rule_of(algorithm: Algorithm) -> tuple[int, bool]:
    """Return the literal loop's number and flag."""
    if isinstance(algorithm, LUCB):
        variant = literal.RADII.index(algorithm.radius) + 3 * literal.PICKS.index(algorithm.picks)
        return (-variant - 1, False) if variant else (2, algorithm.as_printed)
    assert isinstance(algorithm, (Vanilla, Butterscotch))
    rules = {
        Vanilla: {
            "paper": literal.VANILLA,
            "mixture": literal.MIXTURE,
            "stitched": literal.STITCHED,
        },
        Butterscotch: {"paper": literal.BUTTERSCOTCH, "pairwise": literal.PAIRWISE},
    }
    rule = rules[type(algorithm)][algorithm.width]
    if rule == literal.MIXTURE:
        assert isinstance(algorithm, Vanilla)
        rule += 8 * algorithm.tuned_rounds
    return rule, algorithm.merging


def run_literally(
    algorithm: Algorithm,
    task: Task,
    law: Stack,
    seed: int,
    first: int,
    count: int,
    max_pulls: int = -1,
) -> literal.Outcome:
    """Run replications through the literal loop."""
    N, m = len(task.means), len(task.clusters)
    out, room = literal.new_outcome(count, sum(task.required), N), literal.new_room(N, m)
    rule, flag = rule_of(algorithm)
    run = _run_lucb if rule == 2 or rule < 0 else _run_round_robin
    run(
        reward,
        law,
        rule,
        flag,
        task.block_setting(seed, 0.0, max_pulls),
        first,
        new_generators(),
        room,
        out,
    )
    return out


def run_kernels(
    algorithm: Algorithm,
    task: Task,
    law: Stack,
    seed: int,
    first: int,
    count: int,
    skip_error: float = 1e-12,
    traced: bool = False,
    max_pulls: int = -1,
    strides: int = ALL,
) -> literal.Outcome:
    """Run replications through `Algorithm.run_block`; one at a time if traced: then means at the end
    are told. What is recommended at a cap is asked for then, for that draws the last sums."""
    N, parts = len(task.means), []
    for start in range(first, first + count, 1 if traced else count):
        size = 1 if traced else count
        history = new_history(np.zeros(0, np.int64), N) if traced else None
        caps = (max_pulls,) if traced and max_pulls >= 0 else ()
        block = new_block(size, sum(task.required), N, history, arms_with_pulls=N, budgets=caps)
        algorithm.run_block(
            law, task.block_setting(seed, skip_error, max_pulls, strides), start, block
        )
        assert block.fault[0] == 0
        assert block.rounds_by_stride.sum() == block.rounds.sum()
        assert law.lost[0] == 0, "a random state was dropped"
        settled = block.settled.copy()
        settled[:, 1, :][settled[:, 0, :] == 0] = 0  # not written
        if traced:
            assert np.array_equal(block.history.pulls[-1, 0], block.arm_pulls[0])
        parts.append(
            literal.Outcome(
                pulls=block.pulls,
                rounds=block.rounds,
                finished=block.finished,
                representatives=block.representatives,
                settled=settled,
                arm_pulls=block.arm_pulls,
                means=np.nan_to_num(block.history.means[-1:]),  # no rows if it is not traced
            )
        )
    return literal.Outcome(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def run_both(
    algorithm: Algorithm,
    task: Task,
    seed: int,
    first: int,
    count: int,
    *,
    skip_error: float = 1e-12,
    proxy_over: float = 1.0,
    traced: bool = False,
    max_pulls: int = -1,
    strides: int = ALL,
) -> Runs:
    """Run replications both ways; `proxy_over` divides the variance proxy that the law claims:
    above 1 kernels are over-confident.

    `strides` is the mask of those that kernels may use.
    """
    law = task.stack()
    claimed = law._replace(variance_proxy=law.variance_proxy / proxy_over)
    ours = run_kernels(
        algorithm, task, claimed, seed, first, count, skip_error, traced, max_pulls, strides
    )
    return Runs(ours, run_literally(algorithm, task, law, seed, first, count, max_pulls))


@dataclass(frozen=True)
class Misses:
    """How many replications of how many differ, and the first few of them."""

    replications: int
    examples: tuple[str, ...]
    number: int

    def __add__(self, other: Misses) -> Misses:
        """Add up."""
        return Misses(
            self.replications + other.replications,
            (self.examples + other.examples)[:5],
            self.number + other.number,
        )

    @property
    def excluded_rate(self) -> float:
        """The share of replications that would, if it were that of misses, have shown more of them
        with probability 95 %."""
        return float(stats.chi2.ppf(0.95, 2 * (self.number + 1)) / (2 * self.replications))


def misses(
    algorithm: Algorithm, task: Task, seed: int, count: int, workers: int = 1, **options: Any
) -> Misses:
    """Run `count` replications both ways on threads, and count those that differ in anything."""
    part = max(1, min(count, 2_000, 2_000_000 // len(task.means) ** 2))

    def run(first: int) -> Misses:
        size = min(part, count - first)
        runs = run_both(algorithm, task, seed, first, size, **options)
        wrong = np.flatnonzero(runs.different())
        told = tuple(
            f"{algorithm}, {task.name}: seed {seed}, replication {first + b}: {runs.told(b)}"
            for b in wrong[:5].tolist()
        )
        return Misses(size, told, len(wrong))

    with kept_apart():
        found = run(0)  # compiles
        with ThreadPoolExecutor(workers) as pool:
            return sum(pool.map(run, range(part, count, part)), start=found)


# --------------------------------------------------------------------------------------------------
# Reuse of bits
# --------------------------------------------------------------------------------------------------


def _used(calls: NDArray[np.int64], arm_pulls: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many rewards of each call were used: those before the arm's next call that begins
    lower, or its last pull.

    Rewards that are asked for again, from some pull on, were thrown away from that pull on.
    """
    used, end = np.empty(len(calls), np.int64), arm_pulls.copy()
    for number in range(len(calls) - 1, -1, -1):
        arm, start, size, _word = calls[number]
        used[number] = min(max(end[arm] - start, 0), size)
        end[arm] = min(end[arm], start)
    return used


def decisions_use_used_rewards(
    algorithm: Algorithm, task: Task, seed: int, first: int, count: int
) -> tuple[list[str], int]:
    """Run each replication again with its used rewards given again and all others drawn anew;
    return what changed, and how many were anew.

    Outcome and the calls themselves must stay: no decision may hang on a reward that is not used
    after it.
    """
    found, anew = [], 0
    with kept_apart():
        for replication in range(first, first + count):
            law = task.stack(calls=100_000)._replace(mode=NOTE)
            before = run_kernels(algorithm, task, law, seed, replication, 1, traced=True)
            made = int(law.cursor[0])
            assert made <= len(law.calls), "more calls than there is room for: take an easier task"
            calls = law.calls[:made].copy()
            law.used[:made] = _used(calls, before.arm_pulls[0])
            anew += int((calls[:, 2] - law.used[:made]).sum())
            law.cursor[0] = law.course[0] = 0
            after = run_kernels(
                algorithm, task, law._replace(mode=ANEW), seed, replication, 1, traced=True
            )
            same = all(
                np.array_equal(a, b)
                for a, b in zip(arrays_of(before), arrays_of(after), strict=True)
            )
            # a sum can be used whole or not at all
            sums_used = bool((law.used[:made] == calls[:, 2])[calls[:, 3] == 0].all())
            if not (
                same
                and sums_used
                and int(law.cursor[0]) == made
                and np.array_equal(calls, law.calls[:made])
            ):
                found.append(f"{algorithm}, {task.name}: seed {seed}, replication {replication}")
    return found, anew
