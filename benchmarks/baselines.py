"""Baselines: what one would write without the package, each made as fast as its kind allows.

`python_loop`         plain Python, one pull at a time (Vanilla)
`numpy_vectorised`    1,000 replications side by side in arrays, for few arms (Vanilla)
`numba_per_pull`      compiled, one pull at a time, judged every round (Vanilla)
`numba_per_pull_butterscotch`, `numba_per_pull_lucb`
                      the same for the other two algorithms

All are for Bernoulli arms, take the same keyword arguments and give the same two arrays. They share no code
with the package, so that they can also check it. In all of them every pull costs a random number.

Keyword arguments
-----------------
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

Returns
-------
pulls : (R,) int64
    Pulls that each run took.
correct : (R,) bool
    Whether every representative came from the cluster it was named for.

Each run meets the arms in a random order, so ties of empirical means are never broken by the true order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeAlias, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., Any])
Outcome: TypeAlias = tuple[NDArray[np.int64], NDArray[np.bool_]]


def _true_clusters(means: Sequence[float], clusters: Sequence[int]) -> list[int]:
    """Return the index of each arm's cluster."""
    cluster_of = [0] * len(means)
    best_first = iter(sorted(range(len(means)), key=lambda arm: -means[arm]))
    for i, size in enumerate(clusters):
        for _ in range(size):
            cluster_of[next(best_first)] = i
    return cluster_of


def _scale(n_arms: int, delta: float) -> float:
    """Return pi^2 N / (3 delta), which all widths hold inside their logarithm."""
    return math.pi**2 * n_arms / (3.0 * delta)


# ---------------------------------------------------------------------------------------------------
# Plain Python
# ---------------------------------------------------------------------------------------------------


def python_loop(
    *,
    means: Sequence[float],
    clusters: Sequence[int],
    required: Sequence[int],
    delta: float,
    replications: int,
    seed: int,
    merging: bool = True,
) -> Outcome:
    """Vanilla in plain Python."""
    rng = Random(seed)
    cluster_of = _true_clusters(means, clusters)
    pulls = np.empty(replications, np.int64)
    correct = np.empty(replications, np.bool_)
    for replication in range(replications):
        pulls[replication], correct[replication] = _python_run(
            means, cluster_of, clusters, required, _scale(len(means), delta), rng, merging
        )
    return pulls, correct


def _python_run(
    means: Sequence[float],
    cluster_of: Sequence[int],
    clusters: Sequence[int],
    required: Sequence[int],
    scale: float,
    rng: Random,
    merging: bool,
) -> tuple[int, bool]:
    draw, sqrt, log = rng.random, math.sqrt, math.log
    ranking = list(range(len(means)))
    rng.shuffle(ranking)
    sums = [0] * len(means)
    total_of = sums.__getitem__
    sizes, missing = list(clusters), list(required)
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
                if merging and i > 0 and not missing[i - 1] and not missing[i]:
                    sizes[i] += sizes[i - 1]
                    sizes[i - 1] = 0
                start = end
            ranking = [arm for x, arm in enumerate(ranking) if x not in settled]
            if not any(missing):
                return pulls + R * len(ranking), right
            watched = _python_watch(sizes)


def _python_watch(sizes: list[int]) -> list[tuple[int, int, float]]:
    """Return ranks and factors: none is settled unless some two sums differ by more than factor times W."""
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


# ---------------------------------------------------------------------------------------------------
# NumPy
# ---------------------------------------------------------------------------------------------------

_SIDE_BY_SIDE = 1000  # replications that are alive together
_ROWS = 128  # at most so many of them, ..
_ROUNDS = 1024  # .. and so many rounds, ..
_ENTRIES = 1 << 17  # .. and so many rewards in one step: the arrays stay in the cache
_NETWORK_ARMS = 64  # up to here a sorting network of whole-array minima and maxima beats sorting


def numpy_vectorised(
    *,
    means: Sequence[float],
    clusters: Sequence[int],
    required: Sequence[int],
    delta: float,
    replications: int,
    seed: int,
    merging: bool = True,
) -> Outcome:
    """Vanilla with NumPy: 1,000 replications side by side, those whose open sizes are equal advance together.

    Means are rounded down to multiples of 2^-32.
    """
    rng = np.random.Generator(np.random.SFC64(seed))
    pulls = np.zeros(replications, np.int64)
    correct = np.ones(replications, np.bool_)
    for start in range(0, replications, _SIDE_BY_SIDE):
        block = slice(start, start + _SIDE_BY_SIDE)
        _NumpyBlock(means, clusters, required, delta, rng, merging, pulls[block], correct[block]).run()
    return pulls, correct


class _NumpyBlock:
    """Replications side by side, each with its own clock.

    Settled arms leave: of the arrays' columns the first n hold the active arms.
    """

    def __init__(
        self,
        means: Sequence[float],
        clusters: Sequence[int],
        required: Sequence[int],
        delta: float,
        rng: np.random.Generator,
        merging: bool,
        pulls: NDArray[np.int64],
        correct: NDArray[np.bool_],
    ) -> None:
        self.rng, self.merging, self.pulls, self.correct = rng, merging, pulls, correct
        count, n_arms = pulls.size, len(means)
        self.scale = _scale(n_arms, delta)
        self.cluster_of = np.array(_true_clusters(means, clusters))
        self.limit = np.minimum(np.array(means) * 2.0**32, 2.0**32 - 1).astype(np.uint32)
        self.arm = rng.permuted(np.tile(np.arange(n_arms), (count, 1)), axis=1)
        self.sums = np.zeros((count, n_arms), np.int32)
        self.missing = np.tile(np.array(required), (count, 1))
        self.clock = np.zeros(count, np.int64)
        self.widths = np.empty(0, np.int32)
        self.waiting = {tuple(clusters): np.arange(count)}
        self.networks: dict[int, list[tuple[int, int]]] = {}
        self.memory = np.empty((2, max(_ENTRIES, n_arms)), np.int32)

    def run(self) -> None:
        """Advance the largest group of replications with equal open sizes until none is left."""
        while self.waiting:
            sizes = max(self.waiting, key=lambda key: self.waiting[key].size)
            rows = self.waiting.pop(sizes)
            limit = max(1, min(_ROWS, _ENTRIES // (8 * sum(sizes))))
            if rows.size > limit:
                self.wait(sizes, rows[limit:])
                rows = rows[:limit]
            eventful = self.advance(rows, sizes)
            if not eventful.all():
                self.wait(sizes, rows[~eventful])
            if eventful.any():
                self.remove(rows[eventful], sizes)

    def wait(self, sizes: tuple[int, ...], rows: NDArray[np.int64]) -> None:
        """Add replications to those that have these open sizes."""
        others = self.waiting.get(sizes)
        self.waiting[sizes] = rows if others is None else np.concatenate((others, rows))

    def advance(self, rows: NDArray[np.int64], sizes: tuple[int, ...]) -> NDArray[np.bool_]:
        """Pull and judge round after round, each replication up to its first event; return which had one."""
        n, count = sum(sizes), rows.size
        clock = self.clock[rows]
        rounds = max(1, min(_ROUNDS, _ENTRIES // (count * n), 16 + int(clock.max())))
        W = self.width(clock[:, None] + np.arange(1, rounds + 1))

        entries, shape = n * count * rounds, (n, count, rounds)
        words = self.rng.integers(0, 2**64, size=(entries + 1) // 2, dtype=np.uint64).view(np.uint32)
        S, ranked = self.memory[0, :entries].reshape(shape), self.memory[1, :entries].reshape(shape)
        np.less(words[:entries].reshape(shape), self.limit[self.arm[rows, :n]].T[:, :, None], out=S)
        S[:, :, 0] += self.sums[rows, :n].T
        np.cumsum(S, axis=2, out=S)
        ranked[...] = S
        event = _numpy_events(self.best_first(ranked), sizes, W)
        event[clock == 0, 0] = True  # clusters that ask for nothing merge after the first round

        first = event.argmax(axis=1)
        each = np.arange(count)
        eventful: NDArray[np.bool_] = event[each, first]
        last = np.where(eventful, first, rounds - 1)  # later rounds are as if never drawn
        self.sums[rows, :n] = S[:, each, last].T
        self.clock[rows] += last + 1
        return eventful

    def width(self, R: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return floor(W(R)), which differences of sums, being integers, exceed iff they exceed W(R)."""
        top = int(R.max())
        if top >= self.widths.size:
            t = np.arange(1, 2 * top + 1, dtype=np.float64)
            W = np.sqrt(2.0 * t * np.log(self.scale * t * t))
            self.widths = np.concatenate(([0], np.floor(W))).astype(np.int32)
        return self.widths[R]

    def best_first(self, S: NDArray[np.int32]) -> list[NDArray[np.int32]]:
        """Sort along the first axis, the largest first, overwriting S."""
        n = S.shape[0]
        if n > _NETWORK_ARMS:
            S.sort(axis=0)
            return list(S[::-1])
        if n not in self.networks:
            self.networks[n] = _sorting_network(n)
        ranked, spare = list(S), np.empty_like(S[0])
        for x, y in self.networks[n]:
            np.maximum(ranked[x], ranked[y], out=spare)
            np.minimum(ranked[x], ranked[y], out=ranked[y])
            ranked[x], spare = spare, ranked[x]
        return ranked

    def remove(self, rows: NDArray[np.int64], sizes: tuple[int, ...]) -> None:
        """Settle what can be settled in these replications, merge, and sort them by their new open sizes."""
        n, count = sum(sizes), rows.size
        R = self.clock[rows]
        W = self.width(R)[:, None]
        S = self.sums[rows, :n]
        order = np.argsort(-S, axis=1, kind="stable")
        S = np.take_along_axis(S, order, axis=1)
        arm = np.take_along_axis(self.arm[rows, :n], order, axis=1)
        missing = self.missing[rows]
        left = np.tile(np.array(sizes), (count, 1))
        settled = np.ones((count, n), np.bool_)
        wrong = np.zeros(count, np.bool_)
        start = 0
        for i, size in enumerate(sizes):
            end = start + size
            if size:
                mine = settled[:, start:end]
                if start > 0:
                    mine &= S[:, start - 1 : start] - S[:, start:end] > W
                if end < n:
                    mine &= S[:, start:end] - S[:, end : end + 1] > W
                joins = mine & (np.cumsum(mine, axis=1) <= missing[:, i : i + 1])
                wrong |= (joins & (self.cluster_of[arm[:, start:end]] != i)).any(axis=1)
                missing[:, i] -= joins.sum(axis=1)
                left[:, i] -= mine.sum(axis=1)
            if self.merging and i > 0:
                full = (missing[:, i - 1] == 0) & (missing[:, i] == 0)
                left[full, i] += left[full, i - 1]
                left[full, i - 1] = 0
            start = end

        active_first = np.argsort(settled, axis=1, kind="stable")
        self.arm[rows, :n] = np.take_along_axis(arm, active_first, axis=1)
        self.sums[rows, :n] = np.take_along_axis(S, active_first, axis=1)
        self.missing[rows] = missing
        self.correct[rows] &= ~wrong
        done = ~missing.any(axis=1)
        self.pulls[rows] += R * np.where(done, n, settled.sum(axis=1))
        rows, left = rows[~done], left[~done]
        groups: dict[tuple[int, ...], list[int]] = {}
        for row, key in zip(rows.tolist(), map(tuple, left.tolist()), strict=True):
            groups.setdefault(key, []).append(row)
        for key, members in groups.items():
            self.wait(key, np.array(members))


def _numpy_events(
    ranked: list[NDArray[np.int32]], sizes: tuple[int, ...], W: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """Return where some arm is settled, given the sums in ranking order."""
    n = len(ranked)
    event = np.zeros(W.shape, np.bool_)
    start = 0
    for size in sizes:
        end = start + size
        if size == n:
            event[...] = True
        elif size and start == 0:
            event |= ranked[0] - ranked[end] > W
        elif size and end == n:
            event |= ranked[start - 1] - ranked[n - 1] > W
        elif size:
            most, least = ranked[start - 1] - W, ranked[end] + W
            if (least < most).any():
                for S in ranked[start:end]:
                    event |= (least < S) & (S < most)  # noqa: SIM300
        start = end
    return event


def _sorting_network(n: int) -> list[tuple[int, int]]:
    """Return the comparisons of Batcher's merge exchange (Knuth, volume 3, algorithm 5.2.2M)."""
    comparisons = []
    top = 1 << max((n - 1).bit_length() - 1, 0)
    p = top if n > 1 else 0
    while p:
        q, r, d = top, 0, p
        while True:
            comparisons += [(x, x + d) for x in range(n - d) if x & p == r]
            if q == p:
                break
            d, q, r = q - p, q >> 1, p
        p >>= 1
    return comparisons


# ---------------------------------------------------------------------------------------------------
# Numba
# ---------------------------------------------------------------------------------------------------

_11, _17, _19, _23, _41, _45 = (np.uint64(v) for v in (11, 17, 19, 23, 41, 45))
_TO_UNIT = 2.0**-53
_Words: TypeAlias = tuple[np.uint64, np.uint64, np.uint64, np.uint64, np.uint64]


def _compiled(function: F) -> F:
    return cast(F, numba.njit(nogil=True, error_model="numpy")(function))


def _inlined(function: F) -> F:
    return cast(F, numba.njit(inline="always", nogil=True, error_model="numpy")(function))


def numba_per_pull(
    *,
    means: Sequence[float],
    clusters: Sequence[int],
    required: Sequence[int],
    delta: float,
    replications: int,
    seed: int,
    merging: bool = True,
) -> Outcome:
    """Vanilla compiled: one pull at a time, one logarithm and one square root a round."""
    return _numba_run(_vanilla, means, clusters, required, delta, replications, seed, merging)


def numba_per_pull_butterscotch(
    *,
    means: Sequence[float],
    clusters: Sequence[int],
    required: Sequence[int],
    delta: float,
    replications: int,
    seed: int,
    merging: bool = True,
) -> Outcome:
    """Butterscotch compiled: one pull at a time."""
    return _numba_run(_butterscotch, means, clusters, required, delta, replications, seed, merging)


def numba_per_pull_lucb(
    *,
    means: Sequence[float],
    clusters: Sequence[int],
    required: Sequence[int],
    delta: float,
    replications: int,
    seed: int,
    merging: bool = True,
) -> Outcome:
    """LUCB compiled: round by round, one logarithm a round and one square root an arm and round."""
    return _numba_run(_lucb, means, clusters, required, delta, replications, seed, merging)


def _numba_run(
    kernel: Callable[..., None],
    means: Sequence[float],
    clusters: Sequence[int],
    required: Sequence[int],
    delta: float,
    replications: int,
    seed: int,
    merging: bool,
) -> Outcome:
    pulls = np.empty(replications, np.int64)
    correct = np.empty(replications, np.bool_)
    kernel(
        np.ceil(np.array(means, np.float64) * 2.0**53).astype(np.uint64),  # u < p for u a multiple of 2^-53
        np.array(_true_clusters(means, clusters), np.int64),
        np.array(clusters, np.int64),
        np.array(required, np.int64),
        _scale(len(means), delta),
        merging,
        np.random.SeedSequence(seed).generate_state(4, np.uint64),
        pulls,
        correct,
    )
    return pulls, correct


@_inlined
def _next(s0: np.uint64, s1: np.uint64, s2: np.uint64, s3: np.uint64) -> _Words:
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


# All arrays that describe arms are in ranking order, best first; the first n places are the active arms.


@_compiled
def _rise(sums: NDArray[np.int64], chance: NDArray[np.uint64], arm: NDArray[np.int64], x: int) -> None:
    """Move the arm at place x up past those with smaller sums: insertion sort, one comparison if it stays."""
    S = sums[x]
    if x > 0 and sums[x - 1] < S:
        p, a = chance[x], arm[x]
        while x > 0 and sums[x - 1] < S:
            sums[x], chance[x], arm[x] = sums[x - 1], chance[x - 1], arm[x - 1]
            x -= 1
        sums[x], chance[x], arm[x] = S, p, a


@_compiled
def _any_settled(sums: NDArray[np.int64], sizes: NDArray[np.int64], n: int, W: float) -> bool:
    """Tell whether some arm is settled; at the two ends of the ranking the extreme arm decides."""
    start = 0
    for i in range(sizes.size):
        end = start + sizes[i]
        if end > start:
            if start == 0:
                if end == n or sums[0] - sums[end] > W:
                    return True
            elif end == n:
                if sums[start - 1] - sums[n - 1] > W:
                    return True
            else:
                most, least = sums[start - 1] - W, sums[end] + W
                if least < most:
                    for x in range(start, end):
                        if least < sums[x] < most:
                            return True
        start = end
    return False


@_compiled
def _remove_settled(
    sums: NDArray[np.int64],
    chance: NDArray[np.uint64],
    arm: NDArray[np.int64],
    sizes: NDArray[np.int64],
    missing: NDArray[np.int64],
    cluster_of: NDArray[np.int64],
    n: int,
    W: float,
    merging: bool,
) -> tuple[int, bool]:
    """Settle against the opening partition, then merge.

    Return how many arms stay, and whether all that joined were right.
    """
    right = True
    start, kept = 0, 0
    above = np.inf  # the sum of the last arm before the cluster
    for i in range(sizes.size):
        end = start + sizes[i]
        most = above - W
        least = sums[end] + W if end < n else -np.inf
        if end > start:
            above = float(sums[end - 1])
        for x in range(start, end):
            if least < sums[x] < most:
                sizes[i] -= 1
                if missing[i] > 0:
                    missing[i] -= 1
                    right = right and cluster_of[arm[x]] == i
            else:
                sums[kept], chance[kept], arm[kept] = sums[x], chance[x], arm[x]
                kept += 1
        if merging and i > 0 and missing[i - 1] == 0 and missing[i] == 0:
            sizes[i] += sizes[i - 1]
            sizes[i - 1] = 0
        start = end
    return kept, right


@_compiled
def _vanilla(
    chances: NDArray[np.uint64],
    cluster_of: NDArray[np.int64],
    clusters: NDArray[np.int64],
    required: NDArray[np.int64],
    scale: float,
    merging: bool,
    state: NDArray[np.uint64],
    pulls: NDArray[np.int64],
    correct: NDArray[np.bool_],
) -> None:
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    N = chances.size
    sums, arm, chance = np.empty(N, np.int64), np.empty(N, np.int64), np.empty(N, np.uint64)
    sizes, missing = np.empty_like(clusters), np.empty_like(required)
    for replication in range(pulls.size):
        for x in range(N):
            word, s0, s1, s2, s3 = _next(s0, s1, s2, s3)
            y = int((word >> _11) * _TO_UNIT * (x + 1))
            arm[x] = arm[y]
            arm[y] = x
        for x in range(N):
            sums[x], chance[x] = 0, chances[arm[x]]
        sizes[:], missing[:] = clusters, required
        open_places = missing.sum()
        n, R, total, right = N, 0, 0, True
        while open_places > 0:
            R += 1
            total += n
            W = math.sqrt(2.0 * R * math.log(scale * R * R))  # here, its latency hides behind the pulls
            for x in range(n):
                word, s0, s1, s2, s3 = _next(s0, s1, s2, s3)
                sums[x] += np.int64((word >> _11) < chance[x])
                _rise(sums, chance, arm, x)
            if _any_settled(sums, sizes, n, W) or R == 1:
                n, fine = _remove_settled(sums, chance, arm, sizes, missing, cluster_of, n, W, merging)
                right = right and fine
                open_places = missing.sum()
        pulls[replication], correct[replication] = total, right


@_compiled
def _butterscotch(
    chances: NDArray[np.uint64],
    cluster_of: NDArray[np.int64],
    clusters: NDArray[np.int64],
    required: NDArray[np.int64],
    scale: float,
    merging: bool,
    state: NDArray[np.uint64],
    pulls: NDArray[np.int64],
    correct: NDArray[np.bool_],
) -> None:
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    N = chances.size
    sums, arm, chance = np.empty(N, np.int64), np.empty(N, np.int64), np.empty(N, np.uint64)
    sizes, missing = np.empty_like(clusters), np.empty_like(required)
    for replication in range(pulls.size):
        for x in range(N):
            word, s0, s1, s2, s3 = _next(s0, s1, s2, s3)
            y = int((word >> _11) * _TO_UNIT * (x + 1))
            arm[x] = arm[y]
            arm[y] = x
        for x in range(N):
            sums[x], chance[x] = 0, chances[arm[x]]
        sizes[:], missing[:] = clusters, required
        open_places = missing.sum()
        n, R, t, total, right = N, 0, 0, 0, True
        while open_places > 0:
            R += 1
            more = math.ceil(2.0 ** (2 * R + 5) * math.log(scale * R * R)) - t
            t += more
            total += n * more
            for x in range(n):
                p, S = chance[x], sums[x]
                for _ in range(more):
                    word, s0, s1, s2, s3 = _next(s0, s1, s2, s3)
                    S += np.int64((word >> _11) < p)
                sums[x] = S
                _rise(sums, chance, arm, x)
            W = t * 2.0 ** -(R + 2)
            n, fine = _remove_settled(sums, chance, arm, sizes, missing, cluster_of, n, W, merging)
            right = right and fine
            open_places = missing.sum()
        pulls[replication], correct[replication] = total, right


@_compiled
def _lucb(
    chances: NDArray[np.uint64],
    cluster_of: NDArray[np.int64],
    clusters: NDArray[np.int64],
    required: NDArray[np.int64],
    scale: float,
    merging: bool,
    state: NDArray[np.uint64],
    pulls: NDArray[np.int64],
    correct: NDArray[np.bool_],
) -> None:
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    N, m = chances.size, clusters.size
    order, arm, chance = np.empty(N, np.int64), np.empty(N, np.int64), np.empty(N, np.uint64)
    sums, counts, mean = np.empty(N), np.empty(N), np.empty(N)
    LCB, UCB = np.empty(N), np.empty(N)
    pulled, settled = np.zeros(N, np.bool_), np.zeros(N, np.bool_)
    sizes, missing = np.empty_like(clusters), np.empty_like(required)
    L, U = np.empty(m), np.empty(m)
    at_L, at_U = np.empty(m, np.int64), np.empty(m, np.int64)
    for replication in range(pulls.size):
        for x in range(N):
            word, s0, s1, s2, s3 = _next(s0, s1, s2, s3)
            y = int((word >> _11) * _TO_UNIT * (x + 1))
            arm[x] = arm[y]
            arm[y] = x
        for x in range(N):
            order[x], chance[x], pulled[x] = x, chances[arm[x]], True
            sums[x], counts[x] = 0.0, 0.0
        sizes[:], missing[:] = clusters, required
        n, R, total, right = N, 0, 0, True
        while True:
            R += 1
            spread = 0.5 * math.log(scale * R * R * R)
            for x in range(n):  # what the last round chose; before the first, every arm
                if pulled[x]:
                    pulled[x] = False
                    total += 1
                    word, s0, s1, s2, s3 = _next(s0, s1, s2, s3)
                    sums[x] += np.float64((word >> _11) < chance[x])
                    counts[x] += 1.0
                    mean[x] = sums[x] / counts[x]
            for x in range(1, n):  # rank by insertion, ties by the random order in which the arms were met
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
                            right = right and cluster_of[arm[x]] == i
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
        pulls[replication], correct[replication] = total, right
