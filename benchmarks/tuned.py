"""Tuned programs: how far an expert could still go by hand, with every pull simulated.

`numpy_blocks`        1,000 replications with a clock each; those whose open sizes are equal advance
                      by blocks of
                      rounds, sorted by a network of whole-array minima and maxima (Vanilla)
`numba_tuned`, `numba_tuned_butterscotch`
                      arms kept in ranking order while they are pulled, words compared with integer
                      thresholds, and no arm looked at unless the borders of its cluster say that
                      one may be settled

They are shown beside the table; no bar is set against them. They are called like the baselines, and
the compiled ones give the same runs as theirs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.baselines import (
    Kernel,
    Outcome,
    Schedule,
    Setting,
    Task,
    butterscotch_schedule,
    compiled,
    judge,
    merge,
    next_word,
    random_order,
    run_compiled,
    settle_ranked,
    side_by_side,
    vanilla_schedule,
    with_keywords,
)

# --------------------------------------------------------------------------------------------------
# NumPy
# --------------------------------------------------------------------------------------------------

_ROWS = 128  # at most so many replications, ..
_ROUNDS = 1024  # .. and so many rounds, ..
_ENTRIES = 1 << 17  # .. and so many rewards in one step: the arrays stay in the cache
_NETWORK_ARMS = 64  # up to here a sorting network of whole-array minima and maxima beats sorting


@with_keywords
def numpy_blocks(task: Task) -> Outcome:
    """Vanilla with NumPy, by blocks of rounds; means are rounded down to multiples of 2^-32."""
    return side_by_side(task, lambda *arguments: _NumpyBlock(*arguments).run())


class _NumpyBlock:
    """Replications side by side, each with its own clock.

    Settled arms leave: of the arrays' columns the first n hold the active arms.
    """

    def __init__(
        self,
        task: Task,
        rng: np.random.Generator,
        pulls: NDArray[np.int64],
        correct: NDArray[np.bool_],
    ) -> None:
        self.rng, self.merging, self.pulls, self.correct = rng, task.merging, pulls, correct
        count, n_arms = pulls.size, len(task.means)
        self.scale = task.scale
        self.cluster_of = task.cluster_of
        self.limit = np.minimum(np.array(task.means) * 2.0**32, 2.0**32 - 1).astype(np.uint32)
        self.arm = rng.permuted(np.tile(np.arange(n_arms), (count, 1)), axis=1)
        self.sums = np.zeros((count, n_arms), np.int32)
        self.missing = np.tile(np.array(task.required), (count, 1))
        self.clock = np.zeros(count, np.int64)
        self.widths = np.empty(0, np.int32)
        self.waiting = {tuple(task.clusters): np.arange(count)}
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
        """Pull and judge round after round, each replication up to its first event; return which
        had one."""
        n, count = sum(sizes), rows.size
        clock = self.clock[rows]
        rounds = max(1, min(_ROUNDS, _ENTRIES // (count * n), 16 + int(clock.max())))
        W = self.width(clock[:, None] + np.arange(1, rounds + 1))

        entries, shape = n * count * rounds, (n, count, rounds)
        words = self.rng.integers(0, 2**64, size=(entries + 1) // 2, dtype=np.uint64).view(
            np.uint32
        )
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
        """Return floor(W(R)), which differences of sums, being integers, exceed iff they exceed
        W(R)."""
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
        """Settle what can be settled in these replications, merge, and sort them by their new open
        sizes."""
        n = sum(sizes)
        R = self.clock[rows]
        S = self.sums[rows, :n]
        order = np.argsort(-S, axis=1, kind="stable")
        S = np.take_along_axis(S, order, axis=1)
        arm = np.take_along_axis(self.arm[rows, :n], order, axis=1)
        left, missing = np.tile(np.array(sizes), (rows.size, 1)), self.missing[rows]
        settled, at = judge(S, left, self.width(R)[:, None])
        right = settle_ranked(settled, at, self.cluster_of[arm], left, missing, self.merging)

        active_first = np.argsort(settled, axis=1, kind="stable")
        self.arm[rows, :n] = np.take_along_axis(arm, active_first, axis=1)
        self.sums[rows, :n] = np.take_along_axis(S, active_first, axis=1)
        self.missing[rows] = missing
        self.correct[rows] &= right
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


# --------------------------------------------------------------------------------------------------
# Numba
# --------------------------------------------------------------------------------------------------

_11 = np.uint64(11)


@with_keywords
def numba_tuned(task: Task) -> Outcome:
    """Vanilla compiled."""
    return run_compiled(_vanilla, task, _thresholds(task))


@with_keywords
def numba_tuned_butterscotch(task: Task) -> Outcome:
    """Butterscotch compiled."""
    return run_compiled(_butterscotch, task, _thresholds(task))


def _thresholds(task: Task) -> NDArray[np.uint64]:
    """Return what a word's upper 53 bits are below iff the uniform they stand for is below the
    mean."""
    return np.ceil(np.array(task.means, np.float64) * 2.0**53).astype(np.uint64)


# All arrays that describe arms are in ranking order, best first; the first n places are the active
# arms.


@compiled
def _rise(
    sums: NDArray[np.int64], chance: NDArray[np.uint64], arm: NDArray[np.int64], x: int
) -> None:
    """Move the arm at place x up past those with smaller sums: insertion sort, one comparison if it
    stays."""
    S = sums[x]
    if x > 0 and sums[x - 1] < S:
        p, a = chance[x], arm[x]
        while x > 0 and sums[x - 1] < S:
            sums[x], chance[x], arm[x] = sums[x - 1], chance[x - 1], arm[x - 1]
            x -= 1
        sums[x], chance[x], arm[x] = S, p, a


@compiled
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


@compiled
def _remove_settled(
    sums: NDArray[np.int64],
    chance: NDArray[np.uint64],
    arm: NDArray[np.int64],
    sizes: NDArray[np.int64],
    missing: NDArray[np.int64],
    setting: Setting,
    n: int,
    W: float,
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
                    right = right and setting.cluster_of[arm[x]] == i
            else:
                sums[kept], chance[kept], arm[kept] = sums[x], chance[x], arm[x]
                kept += 1
        merge(i, sizes, missing, setting.merging)
        start = end
    return kept, right


def _round_robin(schedule: Schedule) -> Kernel:
    """Return the kernel that pulls all active arms in turn, by this schedule."""

    @compiled
    def kernel(setting: Setting, state: NDArray[np.uint64]) -> tuple[int, bool]:
        N, scale = setting.chances.size, setting.scale
        sizes, missing = setting.clusters.copy(), setting.required.copy()
        arm = random_order(N, state)
        s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
        sums, chance = np.zeros(N, np.int64), setting.chances[arm]
        n, R, t, total, right = N, 0, 0, 0, True
        while n > 0:
            R += 1
            more, W = schedule(R, t, scale)  # here, its latency hides behind the pulls
            t += more
            total += n * more
            for x in range(n):
                p, S = chance[x], sums[x]
                for _ in range(more):
                    word, s0, s1, s2, s3 = next_word(s0, s1, s2, s3)
                    S += np.int64((word >> _11) < p)
                sums[x] = S
                _rise(sums, chance, arm, x)
            if _any_settled(sums, sizes, n, W) or R == 1:
                n, fine = _remove_settled(sums, chance, arm, sizes, missing, setting, n, W)
                right = right and fine
                if not missing.any():
                    break
        state[0], state[1], state[2], state[3] = s0, s1, s2, s3
        return total, right

    return kernel


_vanilla = _round_robin(vanilla_schedule)
_butterscotch = _round_robin(butterscotch_schedule)
