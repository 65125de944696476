"""Baselines: what one would write without the package, simulating every pull.

`python_loop`         plain Python, one pull at a time (Vanilla)
`numpy_vectorised`    1,000 replications as 2-D arrays, round by round; finished replications leave
                      (Vanilla)
`numba_per_pull`      compiled, one pull at a time; every round each arm is ranked and checked
                      (Vanilla)
`numba_per_pull_butterscotch`, `numba_per_pull_lucb`
                      the same for the other two algorithms

All are for Bernoulli arms, take the same keyword arguments (the fields of `Task`) and give the same
two arrays. They share no code with the package, so that they can also check it.
`benchmarks/tuned.py` holds programs that go further by hand.

Each run meets the arms in a random order, so ties of empirical means are never broken by the true
order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from random import Random
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., Any])

#: Pulls that each run took, and whether every representative came from the cluster it was named
#: for.
Outcome: TypeAlias = tuple[NDArray[np.int64], NDArray[np.bool_]]


@dataclass(frozen=True)
class Task:
    """What is asked of a baseline.

    Parameters
    ----------
    means : sequence of float, (N,)
        The arms' success probabilities, in any order, different across the borders of clusters.
    clusters, required : sequence of int, (m,)
        Cluster sizes, best first, and how many representatives to name from each.
    delta : float
        Allowed probability of an error.
    replications : int
        Number of independent runs, R.
    seed : int
        Seed of all randomness.
    merging : bool
        Default True: neighbouring clusters that ask for nothing more are merged. LUCB never merges.
    """

    means: Sequence[float]
    clusters: Sequence[int]
    required: Sequence[int]
    delta: float
    replications: int
    seed: int
    merging: bool = True

    @property
    def cluster_of(self) -> NDArray[np.int64]:
        """The index of each arm's cluster."""
        cluster_of = np.empty(len(self.means), np.int64)
        best_first = np.argsort(-np.array(self.means), kind="stable")
        cluster_of[best_first] = np.repeat(np.arange(len(self.clusters)), self.clusters)
        return cluster_of

    @property
    def scale(self) -> float:
        """The number pi^2 N / (3 delta), which all widths hold inside their logarithm."""
        return math.pi**2 * len(self.means) / (3.0 * self.delta)


def with_keywords(run: Callable[[Task], Outcome]) -> Callable[..., Outcome]:
    """Let a function of a task take the task's fields as keyword arguments."""

    @wraps(run)
    def called(**fields: Any) -> Outcome:
        return run(Task(**fields))

    return called


# --------------------------------------------------------------------------------------------------
# Plain Python
# --------------------------------------------------------------------------------------------------


@with_keywords
def python_loop(task: Task) -> Outcome:
    """Vanilla in plain Python."""
    rng = Random(task.seed)
    cluster_of = task.cluster_of.tolist()
    pulls = np.empty(task.replications, np.int64)
    correct = np.empty(task.replications, np.bool_)
    for replication in range(task.replications):
        pulls[replication], correct[replication] = _python_run(task, cluster_of, rng)
    return pulls, correct


def _python_run(task: Task, cluster_of: Sequence[int], rng: Random) -> tuple[int, bool]:
    means, scale = task.means, task.scale
    draw, sqrt, log = rng.random, math.sqrt, math.log
    ranking = list(range(len(means)))
    rng.shuffle(ranking)
    sums = [0] * len(means)
    total_of = sums.__getitem__
    sizes, missing = list(task.clusters), list(task.required)
    watched = _python_watch(sizes)
    pulls, R, right = 0, 0, True
    while True:
        R += 1
        for arm in ranking:
            if draw() < means[arm]:
                sums[arm] += 1
        ranking.sort(key=total_of, reverse=True)  # stable, and fast on a list that is nearly sorted
        W = sqrt(2.0 * R * log(scale * R * R))
        for upper, lower, factor in watched:
            if sums[ranking[upper]] - sums[ranking[lower]] > factor * W:
                break
        else:
            if R > 1:
                continue
        settled = _python_settled([sums[arm] for arm in ranking], sizes, W)
        if settled or R == 1:
            start = 0
            for i in range(len(sizes)):
                end = start + sizes[i]
                for x in range(start, end):
                    if x in settled:
                        pulls += R
                        sizes[i] -= 1
                        if missing[i]:
                            missing[i] -= 1
                            right = right and cluster_of[ranking[x]] == i
                if task.merging and i > 0 and not missing[i - 1] and not missing[i]:
                    sizes[i] += sizes[i - 1]
                    sizes[i - 1] = 0
                start = end
            ranking = [arm for x, arm in enumerate(ranking) if x not in settled]
            if not any(missing):
                return pulls + R * len(ranking), right
            watched = _python_watch(sizes)


def _python_watch(sizes: list[int]) -> list[tuple[int, int, float]]:
    """Return ranks and factors: none is settled unless some two sums differ by more than factor
    times W."""
    watched = []
    start, n = 0, sum(sizes)
    for size in sizes:
        end = start + size
        if size == n:
            watched.append((0, 0, -1.0))
        elif size and start == 0:
            watched.append((0, end, 1.0))
        elif size and end == n:
            watched.append((start - 1, n - 1, 1.0))
        elif size:
            watched.append((start - 1, end, 2.0))
        start = end
    return watched


def _python_settled(ranked: list[int], sizes: list[int], W: float) -> set[int]:
    """Return the ranks settled at width W, given the sums in ranking order."""
    settled: set[int] = set()
    start, n = 0, len(ranked)
    for size in sizes:
        end = start + size
        most = ranked[start - 1] - W if start else math.inf
        least = ranked[end] + W if end < n else -math.inf
        settled.update(x for x in range(start, end) if least < ranked[x] < most)
        start = end
    return settled


# --------------------------------------------------------------------------------------------------
# NumPy
# --------------------------------------------------------------------------------------------------

SIDE_BY_SIDE = 1000  # replications that are alive together
_DRAWS = 1 << 15  # uniforms drawn at once: they stay in the cache
_MOST_ROUNDS = 64  # rounds drawn ahead, which the finished replications among them waste
_GONE = -(1 << 29)  # the sum of a settled arm, below all others
_FAR = 1 << 30  # farther than sums can be apart

Simulate: TypeAlias = Callable[
    [Task, np.random.Generator, NDArray[np.int64], NDArray[np.bool_]], None
]


def side_by_side(task: Task, simulate: Simulate) -> Outcome:
    """Let `simulate` fill the outcomes of 1,000 replications at a time."""
    rng = np.random.Generator(np.random.SFC64(task.seed))
    pulls = np.zeros(task.replications, np.int64)
    correct = np.ones(task.replications, np.bool_)
    for start in range(0, task.replications, SIDE_BY_SIDE):
        block = slice(start, start + SIDE_BY_SIDE)
        simulate(task, rng, pulls[block], correct[block])
    return pulls, correct


@with_keywords
def numpy_vectorised(task: Task) -> Outcome:
    """Vanilla with NumPy: a row a replication, a column an arm."""
    return side_by_side(task, lambda *arguments: _Rows(*arguments).run())


class _Rows:
    """Replications side by side, all in the same round.

    A settled arm keeps its column, with a sum below all others, until every row can spare a column.
    """

    def __init__(
        self,
        task: Task,
        rng: np.random.Generator,
        pulls: NDArray[np.int64],
        correct: NDArray[np.bool_],
    ) -> None:
        self.rng, self.pulls, self.correct = rng, pulls, correct
        self.scale, self.merging = task.scale, task.merging
        count, N = pulls.size, len(task.means)
        arm = rng.permuted(np.tile(np.arange(N), (count, 1)), axis=1)
        self.p = np.array(task.means)[arm]
        self.cluster = task.cluster_of[arm]
        self.sums = np.zeros((count, N), np.int32)
        self.sizes = np.tile(np.array(task.clusters), (count, 1))
        self.missing = np.tile(np.array(task.required), (count, 1))
        self.replication = np.arange(count)
        self.R = 0

    def run(self) -> None:
        """Play until no replication is left."""
        while self.replication.size:
            self.play()
            self.drop()

    def play(self) -> None:
        """Play as many rounds as are drawn at once."""
        L, n = self.sums.shape
        rounds = max(1, min(_MOST_ROUNDS, _DRAWS // (L * n)))
        rewards = (self.rng.random((rounds, L, n)) < self.p).view(np.int8)
        first_entry = n * np.arange(L)[:, None]
        pair, factor = _watched(self.sizes, n)
        pair += first_entry
        for reward in rewards:
            self.R += 1
            np.add(self.sums, reward, out=self.sums)
            W = math.sqrt(2.0 * self.R * math.log(self.scale * self.R * self.R))
            ranked = np.sort(self.sums, axis=1, kind="stable")  # fast where it is nearly sorted
            more, less = ranked.ravel().take(pair)
            hopeful = more - less > factor * W
            if self.R == 1:
                hopeful[:] = True  # clusters that ask for nothing merge after the first round
            if np.count_nonzero(hopeful):
                rows = np.flatnonzero(hopeful.any(axis=1))
                rows = self.settle(rows, ranked[rows, ::-1], W)
                pair[:, rows], factor[rows] = _watched(self.sizes[rows], n)
                pair[:, rows] += first_entry[rows]

    def settle(self, rows: NDArray[np.int64], S: NDArray[np.int32], W: float) -> NDArray[np.int64]:
        """Settle what can be settled in these rows, whose sums are given best first; return who
        changed."""
        settled, at = judge(S, self.sizes[rows], W)
        if self.R > 1:
            changed = settled.any(axis=1)
            rows, settled, at = rows[changed], settled[changed], at[changed]
            if not rows.size:
                return rows
        order = np.argsort(-self.sums[rows], axis=1, kind="stable")
        cluster = np.take_along_axis(self.cluster[rows], order, axis=1)
        sizes, missing = self.sizes[rows], self.missing[rows]
        right = settle_ranked(settled, at, cluster, sizes, missing, self.merging)
        done = ~missing.any(axis=1)
        replications = self.replication[rows]
        self.correct[replications] &= right
        self.pulls[replications] += self.R * (settled.sum(axis=1) + done * sizes.sum(axis=1))
        sizes[done] = 0
        settled[done] = True
        row, rank = np.nonzero(settled)
        self.sums[rows[row], order[row, rank]] = _GONE
        self.sizes[rows], self.missing[rows] = sizes, missing
        return rows

    def drop(self) -> None:
        """Drop the finished rows and the columns that no row needs; put each row's columns in
        ranking order."""
        active = self.sizes.sum(axis=1)
        keep = np.flatnonzero(active)
        width = int(active.max())
        if keep.size == active.size and width == self.sums.shape[1]:
            return
        order = np.argsort(self.sums[keep], axis=1, kind="stable")[:, self.sums.shape[1] - width :]
        self.replication, self.sizes, self.missing = (
            array[keep] for array in (self.replication, self.sizes, self.missing)
        )
        self.sums, self.p, self.cluster = (
            np.take_along_axis(array[keep], order, axis=1)
            for array in (self.sums, self.p, self.cluster)
        )


def _watched(sizes: NDArray[np.int64], n: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return a pair of columns and a factor for each row and cluster, the rows sorted in ascending
    order.

    No arm of the cluster is settled unless the columns' sums differ by more than the factor times
    W.
    """
    end = np.cumsum(sizes, axis=1)
    start = end - sizes
    first, last = start == 0, end == end[:, -1:]
    factor = np.where(first | last, 1.0, 2.0)
    factor[first & last] = -1.0  # nothing to beat
    factor[sizes == 0] = np.inf
    ranks = np.stack([np.maximum(start - 1, 0), np.maximum(end - last, 0)])
    return n - 1 - ranks, factor


def judge(
    S: NDArray[np.int32], sizes: NDArray[np.int64], W: float | NDArray[np.int32]
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return which arms are settled, given each row's sums, best first, and every arm's cluster."""
    (count, n), m = S.shape, sizes.shape[1]
    each = np.arange(count)[:, None]
    end = np.cumsum(sizes, axis=1)
    fenced = np.empty((count, n + 2), np.int32)  # place x stands in column x + 1
    fenced[:, 0], fenced[:, 1:-1], fenced[:, -1] = _FAR, S, -_FAR
    # the last column is for arms that are gone
    above, below = np.full((2, count, m + 1), -_FAR, np.int32)
    above[:, :m] = fenced[each, end - sizes]
    below[:, :m] = np.where(end < end[:, -1:], fenced[each, end + 1], -_FAR)
    at = (np.arange(n)[:, None] >= end[:, None, :]).sum(axis=2)
    return (above[each, at] - S > W) & (S - below[each, at] > W), at


def settle_ranked(
    settled: NDArray[np.bool_],
    at: NDArray[np.int64],
    cluster: NDArray[np.int64],
    sizes: NDArray[np.int64],
    missing: NDArray[np.int64],
    merging: bool,
) -> NDArray[np.bool_]:
    """Let the settled arms join the clusters they stand at, and merge: update sizes and missing.

    Return which rows have named none but arms of the right cluster.
    """
    m = sizes.shape[1]
    mine = settled[:, :, None] & (at[:, :, None] == np.arange(m))
    joins = mine & (np.cumsum(mine, axis=1) <= missing[:, None, :])
    missing -= joins.sum(axis=1)
    sizes -= mine.sum(axis=1)
    if merging:
        full = missing == 0
        for i in range(1, m):
            moved = sizes[:, i - 1] * (full[:, i - 1] & full[:, i])
            sizes[:, i] += moved
            sizes[:, i - 1] -= moved
    right: NDArray[np.bool_] = ~(joins & (cluster[:, :, None] != np.arange(m))).any(axis=(1, 2))
    return right


# --------------------------------------------------------------------------------------------------
# Numba
# --------------------------------------------------------------------------------------------------

_11, _17, _19, _23, _41, _45 = (np.uint64(v) for v in (11, 17, 19, 23, 41, 45))


def compiled(function: F) -> F:
    """Compile a function."""
    return cast(F, numba.njit(nogil=True, error_model="numpy")(function))


def inlined(function: F) -> F:
    """Compile a function that is copied into its callers."""
    return cast(F, numba.njit(inline="always", nogil=True, error_model="numpy")(function))


class Setting(NamedTuple):
    """What a kernel is told; the chances are probabilities, or what else a kernel compares its
    words with."""

    chances: NDArray[Any]
    cluster_of: NDArray[np.int64]
    clusters: NDArray[np.int64]
    required: NDArray[np.int64]
    scale: float
    merging: bool


#: Simulates one replication; advances the random state; returns the pulls and whether all named are
#: right.
Kernel: TypeAlias = Callable[[Setting, NDArray[np.uint64]], tuple[int, bool]]
#: Tells what round R is, given R, the pulls that an active arm has before it, and the scale.
Schedule: TypeAlias = Callable[[int, int, float], tuple[int, float]]


@with_keywords
def numba_per_pull(task: Task) -> Outcome:
    """Vanilla compiled: one pull at a time, one logarithm and one square root a round."""
    return run_compiled(_vanilla, task, np.array(task.means, np.float64))


@with_keywords
def numba_per_pull_butterscotch(task: Task) -> Outcome:
    """Butterscotch compiled: one pull at a time."""
    return run_compiled(_butterscotch, task, np.array(task.means, np.float64))


@with_keywords
def numba_per_pull_lucb(task: Task) -> Outcome:
    """LUCB compiled: round by round, one logarithm a round and one square root an arm and round."""
    return run_compiled(_lucb, task, np.array(task.means, np.float64))


def run_compiled(kernel: Kernel, task: Task, chances: NDArray[Any]) -> Outcome:
    """Run a kernel as often as asked."""
    pulls = np.empty(task.replications, np.int64)
    correct = np.empty(task.replications, np.bool_)
    setting = Setting(
        chances,
        task.cluster_of,
        np.array(task.clusters, np.int64),
        np.array(task.required, np.int64),
        task.scale,
        task.merging,
    )
    state = (
        np.random.SeedSequence(task.seed).generate_state(4, np.uint64).astype(np.uint64, copy=False)
    )
    _replicate(kernel, setting, state, pulls, correct)
    return pulls, correct


@compiled
def _replicate(
    kernel: Kernel,
    setting: Setting,
    state: NDArray[np.uint64],
    pulls: NDArray[np.int64],
    correct: NDArray[np.bool_],
) -> None:
    for replication in range(pulls.size):
        pulls[replication], correct[replication] = kernel(setting, state)


@inlined
def next_word(
    s0: np.uint64, s1: np.uint64, s2: np.uint64, s3: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64, np.uint64]:
    """Return 64 random bits and the state after them (xoshiro256++, Blackman and Vigna)."""
    mixed = s0 + s3
    word = ((mixed << _23) | (mixed >> _41)) + s0
    shifted = s1 << _17
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= shifted
    s3 = (s3 << _45) | (s3 >> _19)
    return word, s0, s1, s2, s3


@inlined
def unit(word: np.uint64) -> float:
    """Return a word's upper 53 bits as a number in [0, 1)."""
    return (word >> _11) * 2.0**-53


@compiled
def random_order(N: int, state: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return a random permutation."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    order = np.empty(N, np.int64)
    for x in range(N):
        word, s0, s1, s2, s3 = next_word(s0, s1, s2, s3)
        y = int(unit(word) * (x + 1))
        order[x] = order[y]
        order[y] = x
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3
    return order


# The first n places of `order` hold the active arms, best first.


@inlined
def _rank(order: NDArray[np.int64], S: NDArray[np.int64], n: int) -> None:
    """Sort by insertion, in O(N) where the order is nearly right."""
    for x in range(1, n):
        arm, y = order[x], x
        while y > 0 and S[order[y - 1]] < S[arm]:
            order[y] = order[y - 1]
            y -= 1
        order[y] = arm


@inlined
def _find_settled(
    order: NDArray[np.int64],
    S: NDArray[np.int64],
    sizes: NDArray[np.int64],
    n: int,
    W: float,
    settled: NDArray[np.bool_],
) -> bool:
    """Check every active arm; tell whether any is settled."""
    start, event = 0, False
    for i in range(sizes.size):
        end = start + sizes[i]
        above = S[order[start - 1]] if start > 0 else np.inf
        below = S[order[end]] if end < n else -np.inf
        for x in range(start, end):
            settled[x] = above - S[order[x]] > W and S[order[x]] - below > W
            event = event or settled[x]
        start = end
    return event


@compiled
def _remove_settled(
    order: NDArray[np.int64],
    settled: NDArray[np.bool_],
    sizes: NDArray[np.int64],
    missing: NDArray[np.int64],
    setting: Setting,
) -> tuple[int, bool]:
    """Let the settled arms join and leave, then merge; return how many arms stay, and whether all
    are right."""
    start, kept, right = 0, 0, True
    for i in range(sizes.size):
        end = start + sizes[i]
        for x in range(start, end):
            if settled[x]:
                sizes[i] -= 1
                if missing[i] > 0:
                    missing[i] -= 1
                    right = right and setting.cluster_of[order[x]] == i
            else:
                order[kept] = order[x]
                kept += 1
        merge(i, sizes, missing, setting.merging)
        start = end
    return kept, right


@inlined
def merge(i: int, sizes: NDArray[np.int64], missing: NDArray[np.int64], merging: bool) -> None:
    """Merge cluster i-1 into cluster i if both ask for nothing more."""
    if merging and i > 0 and missing[i - 1] == 0 and missing[i] == 0:
        sizes[i] += sizes[i - 1]
        sizes[i - 1] = 0


@inlined
def vanilla_schedule(R: int, t: int, scale: float) -> tuple[int, float]:
    """Return the pulls that round R adds to the t an arm has, and by how much sums must differ."""
    return 1, math.sqrt(2.0 * R * math.log(scale * R * R))


@inlined
def butterscotch_schedule(R: int, t: int, scale: float) -> tuple[int, float]:
    """Return the same of Butterscotch, whose arms have ceil(2^(2R+5) ln(scale R^2)) pulls after
    round R."""
    after = math.ceil(2.0 ** (2 * R + 5) * math.log(scale * R * R))
    return after - t, after * 2.0 ** -(R + 2)


def _round_robin(schedule: Schedule) -> Kernel:
    """Return the kernel that pulls all active arms in turn, by this schedule."""

    @compiled
    def kernel(setting: Setting, state: NDArray[np.uint64]) -> tuple[int, bool]:
        p, scale = setting.chances, setting.scale
        sizes, missing = setting.clusters.copy(), setting.required.copy()
        order = random_order(p.size, state)
        s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
        S, settled = np.zeros(p.size, np.int64), np.empty(p.size, np.bool_)
        n, R, t, total, right = p.size, 0, 0, 0, True
        while n > 0:
            R += 1
            more, W = schedule(R, t, scale)
            t += more
            total += n * more
            for x in range(n):
                arm = order[x]
                for _ in range(more):
                    word, s0, s1, s2, s3 = next_word(s0, s1, s2, s3)
                    S[arm] += np.int64(unit(word) < p[arm])  # no branch: it could not be foretold
            _rank(order, S, n)
            if _find_settled(order, S, sizes, n, W, settled) or R == 1:
                n, fine = _remove_settled(order, settled, sizes, missing, setting)
                right = right and fine
                if not missing.any():
                    break
        state[0], state[1], state[2], state[3] = s0, s1, s2, s3
        return total, right

    return kernel


_vanilla = _round_robin(vanilla_schedule)
_butterscotch = _round_robin(butterscotch_schedule)


@compiled
def _lucb(setting: Setting, state: NDArray[np.uint64]) -> tuple[int, bool]:
    N, m, scale = setting.chances.size, setting.clusters.size, setting.scale
    sizes, missing = setting.clusters.copy(), setting.required.copy()
    arm = random_order(N, state)
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    order, chance = np.arange(N), setting.chances[arm]
    sums, counts, mean = np.zeros(N), np.zeros(N), np.empty(N)
    LCB, UCB = np.empty(N), np.empty(N)
    pulled, settled = np.ones(N, np.bool_), np.zeros(N, np.bool_)
    L, U = np.empty(m), np.empty(m)
    at_L, at_U = np.empty(m, np.int64), np.empty(m, np.int64)
    n, R, total, right = N, 0, 0, True
    while True:
        R += 1
        spread = 0.5 * math.log(scale * R * R * R)
        for x in range(n):  # what the last round chose; before the first, every arm
            if pulled[x]:
                pulled[x] = False
                total += 1
                word, s0, s1, s2, s3 = next_word(s0, s1, s2, s3)
                sums[x] += np.float64(unit(word) < chance[x])
                counts[x] += 1.0
                mean[x] = sums[x] / counts[x]
        # rank by insertion, ties by the random order in which the arms were met
        for x in range(1, n):
            M = mean[x]
            if mean[x - 1] <= M and (mean[x - 1] < M or order[x - 1] > order[x]):
                S, c, p, a, o, y = sums[x], counts[x], chance[x], arm[x], order[x], x
                while y > 0 and (mean[y - 1] < M or (mean[y - 1] == M and order[y - 1] > o)):
                    mean[y], sums[y], counts[y] = mean[y - 1], sums[y - 1], counts[y - 1]
                    chance[y], arm[y], order[y] = chance[y - 1], arm[y - 1], order[y - 1]
                    y -= 1
                mean[y], sums[y], counts[y] = M, S, c
                chance[y], arm[y], order[y] = p, a, o
        for x in range(n):
            radius = math.sqrt(spread / counts[x])
            LCB[x] = mean[x] - radius
            UCB[x] = mean[x] + radius

        # Of equal bounds the one that ranks first counts.
        lowest, at, start = np.inf, -1, 0
        for i in range(m):
            L[i], at_L[i] = lowest, at
            end = start + sizes[i]
            if end < n:
                for x in range(start, end):
                    if LCB[x] < lowest:
                        lowest, at = LCB[x], x
            start = end
        highest, at, end = -np.inf, -1, n
        for i in range(m - 1, -1, -1):
            U[i], at_U[i] = highest, at
            start = end - sizes[i]
            if start > 0:
                for x in range(end - 1, start - 1, -1):
                    if UCB[x] >= highest:
                        highest, at = UCB[x], x
            end = start

        start, event = 0, False
        for i in range(m):
            end = start + sizes[i]
            for x in range(start, end):
                if LCB[x] > U[i] and UCB[x] < L[i]:
                    settled[x] = True
                    event = True
                    sizes[i] -= 1
                    if missing[i] > 0:
                        missing[i] -= 1
                        right = right and setting.cluster_of[arm[x]] == i
            if missing[i] > 0:
                nearest, lowest, highest = np.inf, np.inf, -np.inf
                at_nearest, at_lowest, at_highest = -1, -1, -1
                for x in range(start, end):
                    if not settled[x]:
                        gap = max(UCB[x] - L[i], U[i] - LCB[x])
                        if gap < nearest:
                            nearest, at_nearest = gap, x
                        if LCB[x] < lowest:
                            lowest, at_lowest = LCB[x], x
                        if UCB[x] > highest:
                            highest, at_highest = UCB[x], x
                pulled[at_nearest] = True
                if at_L[i] >= 0:
                    pulled[at_L[i]] = pulled[at_highest] = True
                if at_U[i] >= 0:
                    pulled[at_U[i]] = pulled[at_lowest] = True
            start = end

        if event:  # the settled arms leave, and with them the wish to pull them
            kept = 0
            for x in range(n):
                if not settled[x]:
                    mean[kept], sums[kept], counts[kept] = mean[x], sums[x], counts[x]
                    chance[kept], arm[kept], order[kept] = chance[x], arm[x], order[x]
                    pulled[kept] = pulled[x]
                    kept += 1
            for x in range(n):
                settled[x] = False
            n = kept
            if not missing.any():
                break
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3
    return total, right
