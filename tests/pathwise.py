"""Kernels against compiled literal loops on the same rewards, path by path: what two-sample tests and short replays cannot see.

The law here gives each arm of each replication a fixed stack of rewards: reward number j is a function of the replication's stream, the
arm and j alone, hashed, never drawn. So kernels run unmodified, jumps by certificate included, in blocks of any size, and a literal loop
(`literal`) can be run on the very same rewards. Every arm's round, cluster and pulls, and all outputs, must be equal: an event that is
skipped in one run of a million is seen with certainty.

What such a comparison cannot see is whether a kernel looks at rewards, decides, and then draws them anew: the stack gives the same ones
again. `decisions_use_used_rewards` does: it notes which bits of each word were used, and gives all others anew.

The stacks' kinds: rewards 0 and 1 as words, or as sums alone; ten levels, of unit 1/10; a continuous law without bounds known, of dyadic
fractions, whose sums are exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import literal
import numpy as np
from literal import compiled, inlined
from numpy.typing import NDArray
from replay import nothing_kept
from scipy import stats

from rai_sim import LUCB, Bernoulli, Butterscotch, Vanilla
from rai_sim.algorithms.base import Algorithm
from rai_sim.engine import law as operations
from rai_sim.engine.blocks import Setting, new_block
from rai_sim.engine.history import new_history
from rai_sim.engine.jit import gives_words, implements
from rai_sim.engine.sampling import bits_set, lanes
from rai_sim.engine.streams import State, new_generators, replication_stream, shuffle, stream_key

#: Kinds of stacks.
WORDS, BITS, LEVELS, REALS = 0, 1, 2, 3
KINDS = {"words": WORDS, "bits": BITS, "levels": LEVELS, "reals": REALS}
#: Means are multiples of 2^-DIGITS, so that a bit costs so many hashes a word.
DIGITS = 10
#: Modes of a stack: plain; note which rewards are asked for; give those that were not used anew.
PLAIN, NOTE, ANEW = 0, 1, 2
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_0, _1, _27, _30, _31 = (np.uint64(v) for v in (0, 1, 27, 30, 31))
_STEP, _ARM, _DIGIT = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1342543DE82EF95), np.uint64(0xA0761D6478BD642F)
_MIX1, _MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@gives_words
class Stack(NamedTuple):
    """What kernels and literal loops know of the rewards."""

    kind: int
    digits: NDArray[np.uint64]  # (N,) p times 2^DIGITS; for kind REALS unused
    cumulative: NDArray[np.uint64]  # (N, 10) for kind LEVELS: probabilities of at most level l, times 2^16
    mean: NDArray[np.float64]  # (N,) in law units
    variance_proxy: float
    spread: float
    unit: float
    mode: int
    calls: NDArray[np.int64]  # (C, 4) in mode NOTE: arm, first pull, pulls of each call, whether it is a word, which may be used in part
    used: NDArray[np.int64]  # (C,) in mode ANEW: how many of them were used
    cursor: NDArray[np.int64]  # (1,) the number of the next call
    course: NDArray[np.uint64]  # (2,) the replication last seen, and the state's count of calls that is to come back
    lost: NDArray[np.int64]  # (1,) how often another state came back than the last one given


@inlined
def _mix(z: np.uint64) -> np.uint64:
    """Return 64 well-mixed bits (the finaliser of SplitMix64; Steele, Lea and Flood 2014)."""
    z = (z ^ (z >> _30)) * _MIX1
    z = (z ^ (z >> _27)) * _MIX2
    return z ^ (z >> _31)


@inlined
def _key_of(state: State) -> np.uint64:
    """Return a number that tells replications apart: after the opening permutation nothing is drawn from the stream.

    The state's fourth word counts calls (`_passed_on`).
    """
    return _mix(state[0] ^ _mix(state[1] ^ _mix(state[2])))


@inlined
def _passed_on(law: Stack, state: State) -> State:
    """Return the state after a call, and note whether the one before it is that of the last call: kernels may drop none."""
    s0, s1, s2, count, generators = state
    if law.course[0] == s0 and law.course[1] != count:
        law.lost[0] += 1
    law.course[0], law.course[1] = s0, count + _1
    return s0, s1, s2, count + _1, generators


# Below, functions that are called take few arrays: handing one on is seven words, and inlined code is compiled once a call.


@compiled
def _aligned_word(digits: np.uint64, key: np.uint64, arm: int, index: int) -> np.uint64:
    """Return rewards 64 index .. 64 index + 63 of an arm as bits: from p's last binary digit to its first, or with random bits or and."""
    if digits >> np.uint64(DIGITS):
        return _ALL
    start = key ^ _mix(np.uint64(arm) * _ARM + np.uint64(index) * _STEP)
    word = _0
    for digit in range(DIGITS):
        drawn = _mix(start + np.uint64(digit + 1) * _DIGIT)
        word = (word | drawn) if (digits >> np.uint64(digit)) & _1 else (word & drawn)
    return word


@compiled
def _word_at(digits: np.uint64, key: np.uint64, arm: int, pulls: int) -> np.uint64:
    """Return rewards pulls .. pulls + 63 of an arm as bits."""
    index, shift = pulls // 64, np.uint64(pulls % 64)
    word = _aligned_word(digits, key, arm, index) >> shift
    if shift != _0:
        word |= _aligned_word(digits, key, arm, index + 1) << (np.uint64(64) - shift)
    return word


@compiled
def _sum_of_bits(digits: np.uint64, key: np.uint64, arm: int, pulls: int, k: int) -> int:
    """Return the sum of rewards pulls .. pulls + k - 1 of an arm."""
    total, j, stop = 0, pulls, pulls + k
    while j < stop:
        size = min(stop - j, 64 - j % 64)
        total += bits_set((_aligned_word(digits, key, arm, j // 64) >> np.uint64(j % 64)) & lanes(0, size))
        j += size
    return total


@compiled
def _others_added(
    total: float, kind: int, cumulative: NDArray[np.uint64], mean: float, key: np.uint64, arm: int, pulls: int, k: int
) -> float:
    """Return a sum with rewards pulls .. pulls + k - 1 of an arm added one by one, for kinds LEVELS and REALS."""
    for j in range(pulls, pulls + k):
        drawn = _mix(key ^ _mix(np.uint64(arm) * _ARM + np.uint64(j) * _STEP))
        if kind == LEVELS:
            u, level = drawn >> np.uint64(48), 0
            while u >= cumulative[arm, level]:
                level += 1
            total += float(level)
        else:
            uniforms = 0.0  # four, in multiples of 2^-16
            for part in range(4):
                uniforms += float((drawn >> np.uint64(16 * part)) & np.uint64(0xFFFF)) + 0.5
            total += mean + 0.75 * (uniforms / 65536.0 - 2.0)
    return total


@inlined
def reward(law: Stack, key: np.uint64, window: NDArray[np.uint64], arm: int, j: int) -> float:
    """Return reward number j of an arm: what literal loops see; the window keeps the arm's word, and its number plus 1."""
    if law.kind > BITS:
        return _others_added(0.0, law.kind, law.cumulative, law.mean[arm], key, arm, j, 1)
    number = np.uint64(j // 64 + 1)
    if window[arm, 0] != number:
        window[arm, 0], window[arm, 1] = number, _aligned_word(law.digits[arm], key, arm, j // 64)
    return float((window[arm, 1] >> np.uint64(j % 64)) & _1)


@inlined
def _added(law: Stack, total: float, key: np.uint64, arm: int, pulls: int, k: int) -> float:
    if law.kind > BITS:
        return _others_added(total, law.kind, law.cumulative, law.mean[arm], key, arm, pulls, k)
    return total + _sum_of_bits(law.digits[arm], key, arm, pulls, k)


@compiled
def _noted(
    mode: int, calls: NDArray[np.int64], used: NDArray[np.int64], cursor: NDArray[np.int64], arm: int, pulls: int, size: int, word: bool
) -> int:
    """Note a call; return how many of its rewards are to be those of the stack."""
    number = cursor[0]
    cursor[0] += 1
    if number >= calls.shape[0]:
        return size
    calls[number, 0], calls[number, 1], calls[number, 2], calls[number, 3] = arm, pulls, size, word
    return used[number] if mode == ANEW else size


@implements(operations.one_pull, Stack)
def _one_pull(law: Stack, arm: int, total: float, pulls: int, state: State) -> tuple[float, State]:
    if law.mode != PLAIN:
        _noted(law.mode, law.calls, law.used, law.cursor, arm, pulls, 1, False)
    return _added(law, total, _key_of(state), arm, pulls, 1), _passed_on(law, state)


@implements(operations.more_pulls, Stack)
def _more_pulls(law: Stack, arm: int, total: float, pulls: int, k: int, state: State) -> tuple[float, State]:
    if law.mode != PLAIN:
        _noted(law.mode, law.calls, law.used, law.cursor, arm, pulls, k, False)
    return _added(law, total, _key_of(state), arm, pulls, k), _passed_on(law, state)


@implements(operations.word, Stack)
def _word(law: Stack, arm: int, pulls: int, state: State) -> tuple[np.uint64, State]:
    key = _key_of(state)
    word = _word_at(law.digits[arm], key, arm, pulls)
    if law.mode != PLAIN:
        number = law.cursor[0]
        used = _noted(law.mode, law.calls, law.used, law.cursor, arm, pulls, 64, True)
        if used < 64:
            stack = lanes(0, used) if used > 0 else _0
            word = (word & stack) | (_aligned_word(law.digits[arm], ~key, arm, number) & ~stack)
    return word, _passed_on(law, state)


@implements(operations.pulls_available, Stack)
def _pulls_available(law: Stack) -> int:
    return 1 << 62


@implements(operations.spread, Stack)
def _spread(law: Stack) -> float:
    return law.spread


@implements(operations.mean_of, Stack)
def _mean_of(law: Stack, arm: int) -> float:
    return law.mean[arm]


@implements(operations.unit, Stack)
def _unit(law: Stack) -> float:
    return law.unit


@implements(operations.proxy, Stack)
def _proxy(law: Stack) -> float:
    return law.variance_proxy


@implements(operations.handy, Stack)
def _handy(law: Stack, k: int) -> int:
    return k - k % 8 if law.kind == LEVELS and k > 64 else k


@implements(operations.has_words, Stack)
def _has_words(law: Stack) -> bool:
    return law.kind == WORDS


# ---------------------------------------------------------------------------------------------------
# Settings
# ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """What replications are run on: means in falling order (rounded to what the kind can give), and the task."""

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
        N, kind = len(self.means), KINDS[self.kind]
        means, proxy, spread, unit = np.array(self.means), 0.25, 1.0, 1.0
        digits, cumulative = np.zeros(N, np.uint64), np.zeros((N, 10), np.uint64)
        if kind <= BITS:
            digits = np.round(means * 2.0**DIGITS).astype(np.uint64)
            means = digits / 2.0**DIGITS
            proxy = Bernoulli(means).kernel_law().variance_proxy  # what users' arms claim
        elif kind == LEVELS:
            cumulative = np.array([_levels(mean) for mean in means])
            weights = np.diff(cumulative.astype(np.float64), axis=1, prepend=0.0) / 65536.0
            means, proxy, spread, unit = weights @ np.arange(10.0), 81.0 / 4.0, 9.0, 0.1
        else:
            # A uniform on an interval of length 1 is sub-Gaussian with its variance, 1/12.
            means, proxy, spread = np.round(means * 4096.0) / 4096.0, 4.0 / 12.0 * 0.75**2, np.inf
        return Stack(
            kind, digits, cumulative, means, proxy, spread, unit, PLAIN, np.zeros((calls, 4), np.int64), np.zeros(calls, np.int64),
            np.zeros(1, np.int64), np.zeros(2, np.uint64), np.zeros(1, np.int64),
        )  # fmt: skip

    def block_setting(self, seed: int, skip_error: float, max_pulls: int = -1) -> Setting:
        """Return what kernels take."""
        return Setting(
            sizes=np.array(self.clusters, np.int64), required=np.array(self.required, np.int64),
            cluster_of=np.repeat(np.arange(len(self.clusters)), self.clusters).astype(np.int64), delta=self.delta, skip_error=skip_error,
            max_pulls=max_pulls, key=stream_key(seed),
        )  # fmt: skip


def _levels(mean: float) -> NDArray[np.uint64]:
    """Return cumulative probabilities, in 2^-16, of levels 0..9 whose tenths have about the given mean: a uniform law tilted."""
    levels = np.arange(10.0)
    tilt, low, high = 0.0, -8.0, 8.0
    for _ in range(60):
        tilt = (low + high) / 2
        weights = np.exp(tilt * (levels - 4.5))
        low, high = (tilt, high) if weights @ levels / weights.sum() < 10.0 * mean else (low, tilt)
    cumulative = np.round(np.cumsum(weights) / weights.sum() * 65536.0).astype(np.uint64)
    cumulative[-1] = 65536
    return cumulative


def draw_tasks(seed: int, count: int, kinds: Sequence[str], arms: tuple[int, int], gaps: tuple[float, float]) -> list[Task]:
    """Draw tasks: numbers of arms from a range, log-uniform; gaps across borders likewise; cuts, what is asked for, means, ties inside."""
    rng, tasks = np.random.default_rng(seed), list[Task]()
    while len(tasks) < count:
        N = int(np.exp(rng.uniform(np.log(arms[0]), np.log(arms[1] + 0.5))))
        cuts = np.sort(rng.choice(N - 1, size=min(N - 1, int(rng.integers(1, 4))), replace=False)) + 1
        clusters = np.diff(np.concatenate([[0], cuts, [N]])).tolist()
        required = [int(rng.integers(c + 1)) if rng.random() < 0.6 else 0 for c in clusters]
        gap = float(np.exp(rng.uniform(*np.log(gaps))))
        steps = np.where(np.isin(np.arange(1, N), cuts), gap * rng.choice([1.0, 1.0, 1.5], N - 1), 0.0)
        spare = 0.98 - steps.sum()
        if not any(required) or spare <= 0.0:
            continue
        inside = np.where(steps == 0.0, rng.choice([0.0, 1.0], N - 1) * rng.random(N - 1), 0.0)
        inside *= 0.5 * spare * rng.random() / max(inside.sum(), 1.0)
        below = np.concatenate([[0.0], np.cumsum(steps + inside)])
        top = rng.uniform(below[-1] + 0.01, 0.99)
        means = tuple(np.round(top - below, 6).tolist())
        tasks.append(Task(str(rng.choice(kinds)), means, tuple(clusters), tuple(required), float(rng.choice([0.3, 0.1, 0.01]))))
    return tasks


def two_arms(kind: str, middle: float, gap: float, delta: float) -> Task:
    """Return the best arm of two."""
    return Task(kind, (middle + gap / 2, middle - gap / 2), (1, 1), (1, 0), delta)


# ---------------------------------------------------------------------------------------------------
# Both ways
# ---------------------------------------------------------------------------------------------------


def arrays_of(outcome: literal.Outcome) -> list[NDArray[Any]]:
    """Return all that is known of runs."""
    return list(outcome)


class Runs(NamedTuple):
    """What replications first..first+count-1 did, by kernels and literally."""

    ours: literal.Outcome
    theirs: literal.Outcome

    def different(self) -> NDArray[np.bool_]:
        """Return whether anything of a replication differs; arms' pulls are compared where kernels were traced."""
        wrong = np.zeros(len(self.ours.pulls), np.bool_)
        for mine, other in zip(arrays_of(self.ours), arrays_of(self.theirs), strict=True):
            if mine.size and other.size:
                wrong |= (mine != other).reshape(len(mine), -1).any(axis=1)
        return wrong


@compiled
def _run_literally(
    rewards: Any, law: Stack, rule: int, flag: bool, setting: Setting, first: int, generators: NDArray[np.uint64], room: literal.Room,
    out: literal.Outcome,
) -> None:  # fmt: skip
    """Run the literal loop on the replications' stacks; rules as in `literal`, 2 is LUCB."""
    for b in range(out.pulls.size):
        key = _key_of(shuffle(room.order, replication_stream(setting.key, first + b, generators)))
        sizes, required, delta, cap = setting.sizes, setting.required, setting.delta, setting.max_pulls
        if rule == 2:
            literal.lucb(rewards, law, key, flag, sizes, required, delta, law.unit, cap, room, out, b)
        else:
            literal.round_robin(rewards, law, key, rule, flag, sizes, required, delta, law.unit, cap, room, out, b)


def rule_of(algorithm: Algorithm) -> tuple[int, bool]:
    """Return the literal loop's number and flag."""
    if isinstance(algorithm, LUCB):
        return 2, algorithm.as_printed
    assert isinstance(algorithm, (Vanilla, Butterscotch))
    return (literal.VANILLA if isinstance(algorithm, Vanilla) else literal.BUTTERSCOTCH), algorithm.merging


def run_literally(
    algorithm: Algorithm, task: Task, law: Stack, seed: int, first: int, count: int, max_pulls: int = -1
) -> literal.Outcome:
    """Run replications through the literal loop."""
    N, m = len(task.means), len(task.clusters)
    out, room = literal.new_outcome(count, sum(task.required), N), literal.new_room(N, m)
    _run_literally(reward, law, *rule_of(algorithm), task.block_setting(seed, 0.0, max_pulls), first, new_generators(), room, out)
    return out


def run_kernels(
    algorithm: Algorithm, task: Task, law: Stack, seed: int, first: int, count: int, skip_error: float = 1e-12, traced: bool = False,
    max_pulls: int = -1,
) -> literal.Outcome:  # fmt: skip
    """Run replications through `Algorithm.run_block`; one at a time, with arms' pulls, if traced."""
    N, parts = len(task.means), []
    for start in range(first, first + count, 1 if traced else count):
        size = 1 if traced else count
        block = new_block(size, sum(task.required), N, new_history(np.zeros(0, np.int64), N) if traced else None)
        algorithm.run_block(law, task.block_setting(seed, skip_error, max_pulls), start, block)
        assert block.fault[0] == 0
        assert law.lost[0] == 0, "a random state was dropped"
        settled = block.settled.copy()
        settled[:, 1, :][settled[:, 0, :] == 0] = 0  # not written
        pulls = block.history.pulls[-1:, 0, :].copy() if traced else np.zeros((0, N), np.int64)
        parts.append(literal.Outcome(block.pulls, block.rounds, block.finished, block.representatives, settled, pulls))
    return literal.Outcome(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def run_both(
    algorithm: Algorithm, task: Task, seed: int, first: int, count: int, *, skip_error: float = 1e-12, proxy_over: float = 1.0,
    traced: bool = False, max_pulls: int = -1,
) -> Runs:  # fmt: skip
    """Run replications both ways; `proxy_over` divides the variance proxy that the law claims: above 1 kernels are over-confident."""
    law = task.stack()
    claimed = law._replace(variance_proxy=law.variance_proxy / proxy_over)
    ours = run_kernels(algorithm, task, claimed, seed, first, count, skip_error, traced, max_pulls)
    return Runs(ours, run_literally(algorithm, task, law, seed, first, count, max_pulls))


@contextmanager
def kernels_of_tests() -> Iterator[None]:
    """Keep kernels that are compiled for stacks off the disk."""
    with nothing_kept():
        yield


@dataclass(frozen=True)
class Misses:
    """How many replications of how many differ, and the first few of them."""

    replications: int
    examples: tuple[str, ...]
    number: int

    def __add__(self, other: Misses) -> Misses:
        """Add up."""
        return Misses(self.replications + other.replications, (self.examples + other.examples)[:5], self.number + other.number)

    @property
    def excluded_rate(self) -> float:
        """The share of replications that would, if it were that of misses, have shown more of them with probability 95 %."""
        return float(stats.chi2.ppf(0.95, 2 * (self.number + 1)) / (2 * self.replications))


def misses(algorithm: Algorithm, task: Task, seed: int, count: int, workers: int = 1, **options: Any) -> Misses:
    """Run `count` replications both ways on threads, and count those that differ in anything."""
    part = max(1, min(count, 2_000, 2_000_000 // len(task.means) ** 2))

    def run(first: int) -> Misses:
        size = min(part, count - first)
        wrong = np.flatnonzero(run_both(algorithm, task, seed, first, size, **options).different())
        told = tuple(f"{algorithm}, {task.name}: seed {seed}, replication {first + b}" for b in wrong[:5].tolist())
        return Misses(size, told, len(wrong))

    with kernels_of_tests():
        found = run(0)  # compiles
        with ThreadPoolExecutor(workers) as pool:
            return sum(pool.map(run, range(part, count, part)), start=found)


# ---------------------------------------------------------------------------------------------------
# Reuse of bits
# ---------------------------------------------------------------------------------------------------


def _used(calls: NDArray[np.int64], arm_pulls: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many rewards of each call were used: those before the arm's next call that begins lower, or its last pull.

    Rewards that are asked for again, from some pull on, were thrown away from that pull on.
    """
    used, end = np.empty(len(calls), np.int64), arm_pulls.copy()
    for number in range(len(calls) - 1, -1, -1):
        arm, start, size, _word = calls[number]
        used[number] = min(max(end[arm] - start, 0), size)
        end[arm] = min(end[arm], start)
    return used


def decisions_use_used_rewards(algorithm: Algorithm, task: Task, seed: int, first: int, count: int) -> tuple[list[str], int]:
    """Run each replication again with its used rewards given again and all others drawn anew; return what changed, and how many were anew.

    Outcome and the calls themselves must stay: no decision may hang on a reward that is not used after it.
    """
    found, anew = [], 0
    with kernels_of_tests():
        for replication in range(first, first + count):
            law = task.stack(calls=100_000)._replace(mode=NOTE)
            before = run_kernels(algorithm, task, law, seed, replication, 1, traced=True)
            made = int(law.cursor[0])
            assert made <= len(law.calls), "more calls than there is room for: take an easier task"
            calls = law.calls[:made].copy()
            law.used[:made] = _used(calls, before.arm_pulls[0])
            anew += int((calls[:, 2] - law.used[:made]).sum())
            law.cursor[0] = law.course[0] = 0
            after = run_kernels(algorithm, task, law._replace(mode=ANEW), seed, replication, 1, traced=True)
            same = all(np.array_equal(a, b) for a, b in zip(arrays_of(before), arrays_of(after), strict=True))
            sums_used = bool((law.used[:made] == calls[:, 2])[calls[:, 3] == 0].all())  # a sum can be used whole or not at all
            if not (same and sums_used and int(law.cursor[0]) == made and np.array_equal(calls, law.calls[:made])):
                found.append(f"{algorithm}, {task.name}: seed {seed}, replication {replication}")
    return found, anew
