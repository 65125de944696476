"""The algorithms once more as the specification's pseudo-code has them, compiled: slow beside
kernels, fast enough for millions of runs.

Like `naive`, which anchors them (see `test_pathwise`), they share no code with the package; unlike
it, they see rewards through a function of (arm, number of the pull), so that whatever kernels do
with the same rewards can be compared number for number: `reward(law, key, window, arm, j)` is the
arm's reward number j, from 0; `window`, (N, 2) uint64 and zero at first, is for the function to
keep what it likes in. Sums and means are in law units, widths and radii are divided by the unit.
Arrays are by arm, `order` holds the arms in the order in which ties are broken.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., Any])
#: Rules of `round_robin`, by width; 2 is LUCB (see `pathwise`), and -v - 1 its variant v (see
#: `lucb`). MIXTURE + 8 n is tuned for n rounds.
VANILLA, BUTTERSCOTCH, MIXTURE, STITCHED, PAIRWISE = 0, 1, 3, 4, 5
#: Variants of LUCB: 3 times the picks, plus the radius.
RADII, PICKS = ("paper", "mixture", "stitched"), ("all", "lucb++", "k-m", "rank")
#: _nrt: no counts of references, which would take most of the time; callers allocate.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}


def compiled(function: F) -> F:
    """Compile a function, for this process alone."""
    return cast(F, numba.njit(**_OPTIONS)(function))


def inlined(function: F) -> F:
    """Compile a function whose call vanishes."""
    return cast(F, numba.njit(**_OPTIONS, forceinline=True)(function))


class Outcome(NamedTuple):
    """What runs did; row b belongs to run b, rounds and clusters of arms are 0 where an arm was not
    settled."""

    pulls: NDArray[np.int64]  # (B,)
    rounds: NDArray[np.int64]  # (B,)
    finished: NDArray[np.bool_]  # (B,)
    representatives: NDArray[np.int32]  # (B, sum of r), -1 where not finished
    # (B, 2, N) round; then the cluster i it joined, -1 - i where i had all it was asked for
    settled: NDArray[np.int64]
    arm_pulls: NDArray[np.int64]  # (B, N)
    means: NDArray[
        np.float64
    ]  # (B, N) empirical, of an arm when it was pulled last; 0 without pulls


def new_outcome(runs: int, required: int, arms: int) -> Outcome:
    """Allocate."""
    return Outcome(
        np.zeros(runs, np.int64),
        np.zeros(runs, np.int64),
        np.zeros(runs, np.bool_),
        np.full((runs, required), -1, np.int32),
        np.zeros((runs, 2, arms), np.int64),
        np.zeros((runs, arms), np.int64),
        np.zeros((runs, arms)),
    )


class Room(NamedTuple):
    """Memory of a run."""

    order: NDArray[np.int64]  # (N,) filled by the caller
    active: NDArray[np.int64]
    kept: NDArray[np.int64]
    place: NDArray[np.int64]
    S: NDArray[np.float64]  # sums
    mean: NDArray[np.float64]
    low: NDArray[np.float64]  # LCB
    high: NDArray[np.float64]  # UCB
    settled: NDArray[np.bool_]
    wanted: NDArray[np.bool_]
    window: NDArray[np.uint64]  # (N, 2)
    sizes: NDArray[np.int64]  # (m,) open sizes
    opening: NDArray[np.int64]  # those at the beginning of the round
    found: NDArray[np.int64]
    L: NDArray[np.float64]
    U: NDArray[np.float64]
    least: NDArray[np.int64]  # arms that attain L and U
    greatest: NDArray[np.int64]
    # the logarithm in the width or radius by round, 0 where not yet asked for: a room is for one N
    # / delta
    logs: NDArray[np.float64]


def new_room(N: int, m: int) -> Room:
    """Allocate."""
    arms: list[Any] = [
        np.zeros(N, kind) for kind in (*[np.int64] * 4, *[np.float64] * 4, *[np.bool_] * 2)
    ]
    clusters: list[Any] = [
        np.zeros(m, kind) for kind in (*[np.int64] * 3, *[np.float64] * 2, *[np.int64] * 2)
    ]
    return Room._make([*arms, np.zeros((N, 2), np.uint64), *clusters, np.zeros(1 << 14)])


@compiled
def log_term(room: Room, R: int, power: int, delta: float) -> float:
    """Return ln(pi^2 R^power N / (3 delta)).

    For LUCB in the order of operations that kernels have: gaps of two arms can be equal, as when
    their means lie evenly about the middle of L and U, and then the last bit of a radius decides
    which is picked (seen in one of 100,000 replications).
    """
    kept = R < room.logs.size  # noqa: SIM300
    if kept and room.logs[R] != 0.0:
        return room.logs[R]
    if power == 2:
        term = math.log(math.pi**2 * float(R) ** 2 * room.order.size / (3.0 * delta))
    else:
        term = math.log(math.pi**2 * room.order.size / (3.0 * delta) * R * R * R)
    if kept:
        room.logs[R] = term
    return term


@compiled
def _open(room: Room, sizes: NDArray[np.int64]) -> None:
    """Start a run: every arm active, nothing pulled."""
    for x in range(room.order.size):
        arm = room.order[x]
        room.active[x], room.place[arm] = arm, x
        room.S[arm], room.settled[arm] = 0.0, False
        room.window[arm, 0] = room.window[arm, 1] = np.uint64(0)
    for i in range(sizes.size):
        room.sizes[i], room.found[i] = sizes[i], 0


@compiled
def rank(
    active: NDArray[np.int64], n: int, key: NDArray[np.float64], place: NDArray[np.int64]
) -> None:
    """Sort arms by key, largest first, ties by place: plain insertion."""
    for x in range(1, n):
        arm, y = active[x], x
        while y > 0 and (
            key[arm] > key[active[y - 1]]
            or (key[arm] == key[active[y - 1]] and place[arm] < place[active[y - 1]])
        ):
            active[y] = active[y - 1]
            y -= 1
        active[y] = arm


@compiled
def join(
    out: Outcome,
    b: int,
    arm: int,
    i: int,
    R: int,
    required: NDArray[np.int64],
    found: NDArray[np.int64],
) -> None:
    """Put an arm settled in cluster i into its output if there is room."""
    out.settled[b, 0, arm] = R
    if found[i] == required[i]:
        out.settled[b, 1, arm] = -1 - i
        return
    out.settled[b, 1, arm] = i
    offset = 0
    for j in range(i):
        offset += required[j]
    out.representatives[b, offset + found[i]] = arm
    found[i] += 1


@compiled
def done(required: NDArray[np.int64], found: NDArray[np.int64]) -> bool:
    """Every |O_i| = r_i."""
    missing = 0
    for i in range(required.size):
        missing += required[i] - found[i]
    return missing == 0


@compiled
def unfinished(out: Outcome, b: int) -> None:
    """A run that was stopped names nobody."""
    for j in range(out.representatives.shape[1]):
        out.representatives[b, j] = -1


@compiled
def end(out: Outcome, b: int, pulls: int, R: int, finished: bool, room: Room) -> None:
    """Note how a run ended."""
    out.pulls[b], out.rounds[b], out.finished[b] = pulls, R, finished
    if not finished:
        unfinished(out, b)
    for arm in range(room.S.size):
        if out.arm_pulls[b, arm] > 0:
            out.means[b, arm] = room.S[arm] / out.arm_pulls[b, arm]


@compiled
def pairs(sizes: NDArray[np.int64], required: NDArray[np.int64], merging: bool) -> int:
    """Return the number of pairs of arms in different clusters, neighbours of which nothing is
    asked being one with merging."""
    count = 0
    for i in range(sizes.size):
        for j in range(i + 1, sizes.size):
            one = merging
            for between in range(i, j + 1):
                one = one and required[between] == 0
            if not one:
                count += sizes[i] * sizes[j]
    return max(count, 1)


@compiled
def paired_width(rule: int, R: int, alpha: float) -> float:
    """Return W of MIXTURE or STITCHED in round R, in sums of rewards."""
    v = R / 2.0
    if rule % 8 == MIXTURE:
        L = max(-math.log(2.0 * alpha), 0.5)
        rho = (rule // 8) / 2.0 / (2.0 * L + math.log(1.0 + 2.0 * L))
        inside = math.sqrt((v + rho) / rho) / (2.0 * alpha) + 1.0
        return math.sqrt(2.0 * (v + rho) * math.log(inside))
    level = 1.4 * math.log(math.log(4.0 * v)) + math.log(
        3.105547277977581 / (alpha * math.log(2.0) ** 1.4)
    )
    return (2.0**0.25 + 2.0**-0.25) / math.sqrt(2.0) * math.sqrt(v * level)


@compiled
def round_robin(
    reward: Any,
    law: Any,
    key: np.uint64,
    rule: int,
    merging: bool,
    sizes: NDArray[np.int64],
    required: NDArray[np.int64],
    delta: float,
    unit: float,
    max_pulls: int,
    room: Room,
    out: Outcome,
    b: int,
) -> None:
    """Run Vanilla or Butterscotch."""
    alpha = delta / pairs(sizes, required, merging)
    _open(room, sizes)
    active, kept, S, found, opening = room.active, room.kept, room.S, room.found, room.opening
    N, m = active.size, sizes.size
    n, R, t, pulls = N, 0, 0, 0
    while not done(required, found):
        log = log_term(room, R + 1, 2, delta)
        if rule == VANILLA:
            t_R, w_R = R + 1, 2.0 * math.sqrt(log / (2.0 * (R + 1)))
        elif rule == STITCHED or rule % 8 == MIXTURE:
            t_R, w_R = R + 1, paired_width(rule, R + 1, alpha) / (R + 1)
        elif rule == PAIRWISE:
            log = math.log(math.pi**2 * float(R + 1) ** 2 / (6.0 * alpha))
            t_R, w_R = math.ceil(2.0 ** (2 * (R + 1) + 4) * log), 2.0 ** -(R + 1 + 2)
        else:
            t_R, w_R = math.ceil(2.0 ** (2 * (R + 1) + 5) * log), 2.0 ** -(R + 1 + 2)
        if max_pulls >= 0 and pulls + n * (t_R - t) > max_pulls:
            end(out, b, pulls, R, False, room)
            return
        R += 1
        for x in range(n):
            arm = active[x]
            for j in range(t, t_R):
                S[arm] += reward(law, key, room.window, arm, j)
            out.arm_pulls[b, arm] = t_R
        pulls += n * (t_R - t)
        t = t_R
        W = t_R * w_R / unit
        rank(active, n, S, room.place)
        # The arms of the clusters before i end at rank start, those after it begin at rank stop.
        count, start = 0, 0
        for i in range(m):
            opening[i] = room.sizes[i]
        for i in range(m):
            stop = start + opening[i]
            lowest, highest = np.inf, -np.inf
            for x in range(start):
                lowest = min(lowest, S[active[x]])
            for x in range(stop, n):
                highest = max(highest, S[active[x]])
            for x in range(start, stop):
                arm = active[x]
                if lowest - S[arm] > W and S[arm] - highest > W:
                    join(out, b, arm, i, R, required, found)
                    room.sizes[i] -= 1
                else:
                    kept[count] = arm
                    count += 1
            if merging and i > 0 and found[i - 1] == required[i - 1] and found[i] == required[i]:
                room.sizes[i] += room.sizes[i - 1]
                room.sizes[i - 1] = 0
            start = stop
        n = count
        for x in range(n):
            active[x] = kept[x]
    end(out, b, pulls, R, True, room)


@compiled
def side(radius: int, one_sided: bool, level: float, R: int, n: int) -> float:
    """Return how far a side of an interval is from the mean, in rewards: its level is the
    probability that the arm's mean ever passes it."""
    if radius == 0:
        return math.sqrt(math.log(math.pi**2 * float(R) ** 3 / (6.0 * level)) / (2.0 * n))
    v = n / 4.0
    if radius == 2:
        logs = 1.4 * math.log(math.log(8.0 * v)) + math.log(
            3.105547277977581 / (level * math.log(2.0) ** 1.4)
        )
        return (2.0**0.25 + 2.0**-0.25) / math.sqrt(2.0) * math.sqrt(v * logs) / n
    L = max(-math.log(2.0 * level), 0.5)
    rho = 300.0 / 4.0 / (2.0 * L + math.log(1.0 + 2.0 * L))
    root = math.sqrt((v + rho) / rho)
    inside = root / (2.0 * level) + (1.0 if one_sided else 0.0)
    return math.sqrt(2.0 * (v + rho) * math.log(inside)) / n


@compiled
def judge_classic(
    picks: int,
    active: NDArray[np.int64],
    sizes: NDArray[np.int64],
    required: NDArray[np.int64],
    R: int,
    room: Room,
    out: Outcome,
    b: int,
) -> None:
    """Judge a round of LUCB++ or LUCBRank (`active` ranked), or of LUCB-k-m: mark who is wanted, or
    settle whom it names."""
    low, high, settled, wanted, N = room.low, room.high, room.settled, room.wanted, active.size
    for x in range(N):
        settled[x] = wanted[x] = False
    if picks == 2:
        M, K, by = required[0], sizes[0], room.kept
        for x in range(N):
            by[x] = active[x]
        rank(by, N, low, room.place)
        rest = by[M:]
        rank(rest, N - M, high, room.place)
        h, under = by[M - 1], rest[K - M]
        if low[h] > high[under]:
            for x in range(M):
                settled[by[x]] = True
                join(out, b, by[x], 0, R, required, room.found)
            return
        fewest = -1
        for x in range(K - M):
            if fewest < 0 or out.arm_pulls[b, rest[x]] < out.arm_pulls[b, fewest]:
                fewest = rest[x]
        wanted[h] = wanted[under] = True
        if fewest >= 0:
            wanted[fewest] = True
        return
    border, is_open = 0, False
    for i in range(sizes.size - 1):
        border += sizes[i]
        if required[i] + required[i + 1] > 0:
            h, under = active[0], active[border]
            for x in range(border):
                if low[active[x]] < low[h]:
                    h = active[x]
            for x in range(border, N):
                if high[active[x]] > high[under]:
                    under = active[x]
            if low[h] <= high[under]:
                wanted[h] = wanted[under] = is_open = True
    if not is_open:
        start = 0
        for i in range(sizes.size):
            for x in range(start, start + sizes[i]):
                if required[i] > 0:
                    settled[active[x]] = True
                    join(out, b, active[x], i, R, required, room.found)
            start += sizes[i]


@compiled
def levels(
    picks: int, sizes: NDArray[np.int64], required: NDArray[np.int64], delta: float
) -> tuple[float, float]:
    """Return the levels of LCBs and UCBs."""
    N = sizes.sum()
    if picks != 1:
        return delta / (2.0 * N), delta / (2.0 * N)
    i, K = 0, sizes[0]
    while required[i] + required[i + 1] == 0:
        i += 1
        K += sizes[i]
    return delta / (2.0 * (N - K)), delta / (2.0 * K)


@compiled
def lucb(
    reward: Any,
    law: Any,
    key: np.uint64,
    as_printed: bool,
    variant: int,
    sizes: NDArray[np.int64],
    required: NDArray[np.int64],
    delta: float,
    unit: float,
    max_pulls: int,
    room: Room,
    out: Outcome,
    b: int,
) -> None:
    """Run LUCB; arguments as in `round_robin`; variant 0 is the paper's or the printed rule."""
    _open(room, sizes)
    active, kept, S, found, opening = room.active, room.kept, room.S, room.found, room.opening
    mean, low, high, settled, wanted = room.mean, room.low, room.high, room.settled, room.wanted
    L, U, least, greatest, taken = room.L, room.U, room.least, room.greatest, out.arm_pulls[b]
    N, m = active.size, sizes.size
    if 0 <= max_pulls < N:
        return
    for arm in range(N):
        S[arm], taken[arm] = reward(law, key, room.window, arm, 0), 1
        mean[arm] = S[arm]
    n, R, pulls = N, 0, N
    down_level, up_level = levels(variant // 3, sizes, required, delta)
    while True:
        R += 1
        log = log_term(room, R, 3, delta)
        for x in range(n):
            arm = active[x]
            if variant == 0:
                down = up = math.sqrt(log / (2.0 * taken[arm])) / unit
            else:
                down = side(variant % 3, variant // 3 == 1, down_level, R, taken[arm]) / unit
                up = side(variant % 3, variant // 3 == 1, up_level, R, taken[arm]) / unit
            low[arm], high[arm] = mean[arm] - down, mean[arm] + up
        rank(active, n, mean, room.place)
        for i in range(m):
            opening[i] = room.sizes[i]
        # L_i and U_i and who attains them, first in the ranking; then who is settled, all against
        # the opening partition.
        start = 0
        for i in range(m if variant < 3 else 0):
            stop = start + opening[i]
            first, last = 0, n
            if as_printed:
                first = start - (opening[i - 1] if i > 0 else 0)
                last = stop + (opening[i + 1] if i + 1 < m else 0)
            L[i], U[i], least[i], greatest[i] = np.inf, -np.inf, -1, -1
            for x in range(first, start):
                if low[active[x]] < L[i]:
                    L[i], least[i] = low[active[x]], active[x]
            for x in range(stop, last):
                if high[active[x]] > U[i]:
                    U[i], greatest[i] = high[active[x]], active[x]
            for x in range(start, stop):
                arm = active[x]
                settled[arm] = low[arm] > U[i] and high[arm] < L[i]
                if settled[arm]:
                    join(out, b, arm, i, R, required, found)
                    room.sizes[i] -= 1
            start = stop
        for x in range(n):
            wanted[active[x]] = False
        if variant >= 3:
            judge_classic(variant // 3, active, sizes, required, R, room, out, b)
        if done(required, found):
            end(out, b, pulls, R, True, room)
            return
        start = 0
        for i in range(m if variant < 3 else 0):
            stop = start + opening[i]
            if found[i] < required[i]:
                nearest, weakest, strongest = -1, -1, -1
                small_gap = np.inf
                for x in range(start, stop):
                    arm = active[x]
                    if not settled[arm]:
                        gap = max(high[arm] - L[i], U[i] - low[arm])
                        if nearest < 0 or gap < small_gap:
                            nearest, small_gap = arm, gap
                        if weakest < 0 or low[arm] < low[weakest]:
                            weakest = arm
                        if strongest < 0 or high[arm] > high[strongest]:
                            strongest = arm
                for arm in (nearest, least[i], greatest[i]):
                    if arm >= 0:
                        wanted[arm] = True
                if not as_printed and stop < n and weakest >= 0:
                    wanted[weakest] = True
                if not as_printed and start > 0 and strongest >= 0:
                    wanted[strongest] = True
            start = stop
        count, picks = 0, 0
        for x in range(n):
            arm = active[x]
            if not settled[arm]:
                kept[count] = arm
                count += 1
                picks += wanted[arm]
        n = count
        for x in range(n):
            active[x] = kept[x]
        if max_pulls >= 0 and pulls + picks > max_pulls:
            end(out, b, pulls, R, False, room)
            return
        for x in range(n):
            arm = active[x]
            if wanted[arm]:
                S[arm] += reward(law, key, room.window, arm, taken[arm])
                taken[arm] += 1
                mean[arm] = S[arm] / taken[arm]
        pulls += picks
