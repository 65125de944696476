"""The game of weights, in plain Python: shares no code with the package."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import brentq, linprog

Divergence = Callable[[float, float], float]


def gaussian(a: float, b: float) -> float:
    """Return the divergence of a Gaussian law of standard deviation 1/2 and mean b from one of
    mean a."""
    return 2.0 * (a - b) ** 2


def bernoulli(a: float, b: float) -> float:
    """Return kl(a, b)."""
    terms = ((a, b), (1.0 - a, 1.0 - b))
    if any(p > 0.0 >= q for p, q in terms):
        return math.inf
    return sum(p * math.log(p / q) for p, q in terms if p > 0.0)


#: By name, and by the numbers that kernels have for them.
FAMILIES: list[tuple[str, Divergence]] = [("gaussian", gaussian), ("bernoulli", bernoulli)]


def alternatives(
    clusters: Sequence[int], named: Sequence[int]
) -> list[tuple[int, int, tuple[int, ...]]]:
    """Return for the ranks that an answer names who is wrong, in which direction (1 down, -1 up),
    and who passes: every set of as many others as it takes."""
    n, found = sum(clusters), []
    for k in named:
        i = next(i for i in range(len(clusters)) if k < sum(clusters[: i + 1]))
        rest = [j for j in range(n) if j != k]
        for sign, others in ((1, sum(clusters[: i + 1])), (-1, n - sum(clusters[:i]))):
            found += [(k, sign, those) for those in itertools.combinations(rest, others)]
    return found


def cost(
    d: Divergence,
    w: Sequence[float],
    x: Sequence[float],
    move: tuple[int, int, tuple[int, ...]],
) -> float:
    """Return what an alternative costs, by a search for the least of a convex function."""
    k, sign, those = move

    def at(theta: float) -> float:
        moved = [j for j in (*those,) if sign * (theta - x[j]) > 0.0]
        return sum(w[j] * d(x[j], theta) for j in (k, *moved) if w[j] > 0.0)

    low, high = min(x[k], *(x[j] for j in those)), max(x[k], *(x[j] for j in those))
    low, high = (low, x[k]) if sign > 0 else (x[k], high)
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    for _ in range(90):
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        if at(a) <= at(b):
            high = b
        else:
            low = a
    return at(0.5 * (low + high))


def value_on_grid(
    d: Divergence, x: Sequence[float], clusters: Sequence[int], named: Sequence[int], points: int
) -> float:
    """Return D of an answer with alternatives on a grid of theta alone, so many points between
    neighbouring means, by a linear program: never below the true one, and close to it."""
    rows, ordered = set(), sorted(set(x))
    pieces = [np.linspace(a, b, points) for a, b in itertools.pairwise(ordered)]
    grid = sorted({float(theta) for piece in pieces for theta in piece})
    for k, sign, those in alternatives(clusters, named):
        for theta in (theta for theta in grid if sign * (x[k] - theta) >= 0.0):
            moved = [j for j in those if sign * (theta - x[j]) > 0.0]
            row = [0.0] * len(x)
            for j in (k, *moved):
                row[j] = d(x[j], theta)
            if not any(map(math.isinf, row)):
                rows.add(tuple(row))
    table = np.array(sorted(rows))
    # more than another row in every place: it binds nobody
    minimal = table[
        [not ((table <= row).all(axis=1) & (table < row).any(axis=1)).any() for row in table]
    ]
    scale = minimal.max()
    found = linprog(
        [0.0] * len(x) + [-1.0],
        A_ub=np.column_stack([-minimal / scale, np.ones(len(minimal))]),
        b_ub=np.zeros(len(minimal)),
        A_eq=[[1.0] * len(x) + [0.0]],
        b_eq=[1.0],
        bounds=[(0.0, None)] * len(x) + [(None, None)],
    )
    assert found.status == 0
    return float(-found.fun * scale)


def answers(clusters: Sequence[int], required: Sequence[int]) -> list[list[int]]:
    """Return every right answer, as ranks."""
    starts = [sum(clusters[:i]) for i in range(len(clusters))]
    parts = [
        itertools.combinations(range(start, start + c), r)
        for start, c, r in zip(starts, clusters, required, strict=True)
    ]
    return [[k for part in one for k in part] for one in itertools.product(*parts)]


def best_arm(d: Divergence, means: Sequence[float]) -> float:
    """Return T* of the best arm (Garivier and Kaufmann 2016, Theorem 5): with one pull of the best
    arm, x_a(y) of arm a leave y nats against it; y where the sum of d(mu_1, m_a) / d(mu_a, m_a) is
    1."""
    first, *rest = sorted(means, reverse=True)

    def pooled(a: float, x: float) -> float:
        return (first + x * a) / (1.0 + x)

    def nats(a: float, x: float) -> float:
        return d(first, pooled(a, x)) + x * d(a, pooled(a, x))

    def pulls(a: float, y: float) -> float:
        most = 1.0
        while nats(a, most) < y:
            most *= 2.0
        return float(brentq(lambda x: nats(a, x) - y, 0.0, most, xtol=1e-15, rtol=1e-14))

    def excess(y: float) -> float:
        met = [pooled(a, pulls(a, y)) for a in rest]
        return sum(d(first, m) / d(a, m) for a, m in zip(rest, met, strict=True)) - 1.0

    most = min(d(first, a) for a in rest)
    y = float(brentq(excess, most * 1e-3, most * (1.0 - 1e-3), xtol=1e-18, rtol=1e-14))
    return (1.0 + sum(pulls(a, y) for a in rest)) / y
