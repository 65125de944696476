"""A baseline for many arms: pull by pull, compiled, with what a programmer would do about the
ranking.

Whether an arm is settled hangs on its sum and on the sums beside the borders of the clusters, and
sums are integers: so arms are counted by sum, the borders are walked to from the last ones, and no
ranking is kept (`numba_counted_borders`, Vanilla). Arms that are settled in the same round join in
the order of their sums, equal ones in the random order in which the run meets the arms.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from benchmarks.baselines import (
    Outcome,
    Setting,
    Task,
    compiled,
    inlined,
    merge,
    next_word,
    random_order,
    run_compiled,
    unit,
    with_keywords,
)


@with_keywords
def numba_counted_borders(task: Task) -> Outcome:
    """Vanilla compiled: one pull at a time, borders by counting."""
    return run_compiled(_counted, task, np.array(task.means, np.float64))


@inlined
def _borders(
    count: NDArray[np.int64],
    sizes: NDArray[np.int64],
    R: int,
    above: NDArray[np.float64],
    below: NDArray[np.float64],
) -> None:
    """Note for every cluster the least sum of the arms before it and the greatest of those after,
    walking down the counts."""
    value, passed = R, count[R]  # `passed` arms have this sum or more
    n = sizes.sum()
    start = 0
    for i in range(sizes.size):
        end = start + sizes[i]
        above[i], below[i] = np.inf, -np.inf
        if start > 0:
            while passed < start:
                value -= 1
                passed += count[value]
            above[i] = value
        if end < n and end > start:
            at, seen = value, passed
            while seen < end + 1:
                at -= 1
                seen += count[at]
            below[i] = at
        start = end


@compiled
def _counted(setting: Setting, state: NDArray[np.uint64]) -> tuple[int, bool]:
    p, scale = setting.chances, setting.scale
    sizes, missing = setting.clusters.copy(), setting.required.copy()
    N, m = p.size, sizes.size
    order = random_order(N, state)
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    chance = p[order]
    S, count = np.zeros(N, np.int64), np.zeros(1024, np.int64)
    above, below = np.empty(m), np.empty(m)
    events, joins = np.empty(N, np.int64), np.empty(N, np.int64)
    count[0] = N
    n, R, total, right = N, 0, 0, True
    while n > 0:
        R += 1
        total += n
        if count.size == R:
            longer = np.zeros(2 * R, np.int64)
            longer[:R] = count
            count = longer
        for x in range(n):
            word, s0, s1, s2, s3 = next_word(s0, s1, s2, s3)
            reward = np.int64(unit(word) < chance[x])
            count[S[x]] -= reward
            S[x] += reward
            count[S[x]] += reward
        W = math.sqrt(2.0 * R * math.log(scale * R * R))
        if W >= R and R > 1:  # no two sums are so far apart
            continue
        _borders(count, sizes, R, above, below)
        found = 0
        for x in range(n):
            for i in range(m):
                if above[i] - S[x] > W and S[x] - below[i] > W and sizes[i] > 0:
                    events[found], joins[found] = x, i
                    found += 1
                    break
        if found == 0 and R > 1:
            continue
        for i in range(m):
            while missing[i] > 0:  # the best of those that join it is named next
                best = -1
                for e in range(found):
                    if joins[e] == i and (best < 0 or S[events[e]] > S[events[best]]):
                        best = e
                if best < 0:
                    break
                missing[i] -= 1
                sizes[i] -= 1
                right = right and setting.cluster_of[order[events[best]]] == i
                joins[best] = -1
            for e in range(found):
                sizes[i] -= joins[e] == i
            merge(i, sizes, missing, setting.merging)
        if not missing.any():
            break
        for e in range(found):
            count[S[events[e]]] -= 1
            S[events[e]] = -1
        kept = 0
        for x in range(n):
            if S[x] >= 0:
                S[kept], chance[kept], order[kept] = S[x], chance[x], order[x]
                kept += 1
        n = kept
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3
    return total, right
