"""Literal twins of the algorithms that pull as they like, `TopTwo` and `BatchedTrackAndStop`: plain
Python from their descriptions, which shares no code with the package.

What an answer costs is found by trying all sets of arms that might be moved, so arms must be few.
Arms are named by the caller's index, clusters count from 0, `before[i]` is C_{i-1}.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from naive import Outcome, Pull

Shares = Callable[[list[float], list[int]], list[float]]
"""Returns the shares of pulls by rank, for falling means and the ranks that are named."""


class _Play:
    """What is known in a run."""

    def __init__(
        self,
        pull: Pull,
        n_arms: int,
        clusters: Sequence[int],
        required: Sequence[int],
        delta: float,
        order: Sequence[int],
        threshold: str,
        max_pulls: int | None,
        factor: float,
    ) -> None:
        self.pull, self.N, self.clusters, self.required = pull, n_arms, clusters, required
        self.delta, self.order, self.threshold, self.factor = delta, order, threshold, factor
        self.place = {arm: place for place, arm in enumerate(order)}
        self.most = math.inf if max_pulls is None else max_pulls
        self.sums, self.counts, self.rounds = [0.0] * n_arms, [0] * n_arms, 0
        self.beats = [[False] * n_arms for _ in range(n_arms)]
        self.before = [sum(clusters[:i]) for i in range(len(clusters))]
        self.asked = [i for i, r in enumerate(required) if r]

    def affords(self, more: int) -> bool:
        return sum(self.counts) + more <= self.most

    def sample(self, arm: int, times: int = 1) -> None:
        for _ in range(times):
            self.sums[arm] += float(self.pull(arm))
            self.counts[arm] += 1

    def mean(self, arm: int) -> float:
        return self.sums[arm] / self.counts[arm]

    def ranking(self) -> list[int]:
        return sorted(self.order, key=lambda arm: (-self.mean(arm), self.place[arm]))

    def cluster(self, i: int) -> list[int]:
        """The arms that the ranking puts into cluster i."""
        return self.ranking()[self.before[i] : self.before[i] + self.clusters[i]]

    def cheapest(self, k: int, i: int, weight: Sequence[float]) -> tuple[float, float, set[int]]:
        """What it costs to move arm k out of cluster i, where the moved arms meet, and which."""
        down, up = self.before[i] + self.clusters[i], self.N - self.before[i]
        best: tuple[float, float, set[int]] = (math.inf, math.nan, set())
        others = [a for a in range(self.N) if a != k]
        for sign, size in ((1, down), (-1, up)):
            if size < self.N or (sign == 1 and down < self.N):
                for chosen in combinations(others, size):
                    found = self._meeting(k, chosen, sign, weight)
                    if found[0] < best[0]:
                        best = found
        return best

    def _meeting(
        self, k: int, others: Sequence[int], sign: int, weight: Sequence[float]
    ) -> tuple[float, float, set[int]]:
        """Where k, going down (sign 1) or up, and others, going the other way, meet for least."""
        x = [sign * self.mean(a) for a in range(self.N)]
        ahead = sorted((a for a in others if x[a] < x[k]), key=lambda a: x[a])
        for size in range(len(ahead), 0, -1):
            moved = [k, *ahead[:size]]
            theta = sum(weight[a] * x[a] for a in moved) / sum(weight[a] for a in moved)
            if all(x[a] < theta for a in ahead[:size]) and all(x[a] >= theta for a in ahead[size:]):
                cost = sum(weight[a] * 2 * (x[a] - theta) ** 2 for a in moved)
                return cost, sign * theta, set(moved)
        return 0.0, sign * x[k], set()

    def best(self, weight: Sequence[float]) -> tuple[float, list[tuple[float, int, int]]]:
        """What the best answer costs, and for each arm it names cost, arm, cluster; by cluster,
        then by rank."""
        named = []
        for i in self.asked:
            arms = self.cluster(i)
            cost = {k: self.cheapest(k, i, weight)[0] for k in arms}
            chosen = sorted(arms, key=lambda k: -cost[k])[: self.required[i]]
            named += [(cost[k], k, i) for k in arms if k in chosen]
        return min(cost for cost, _, _ in named), named

    def leader(self) -> list[tuple[int, int]]:
        return [(k, i) for _, k, i in self.best([1.0] * self.N)[1]]

    def judge(self) -> list[list[int]] | None:
        """The arms named by cluster, if it is time."""
        self.rounds += 1
        if self.threshold == "pairs":
            self._compare()
            placed = [
                [
                    k
                    for k in self.ranking()
                    if sum(self.beats[k]) >= self.N - self.before[i] - self.clusters[i]
                    and sum(row[k] for row in self.beats) >= self.before[i]
                ]
                for i in range(len(self.clusters))
            ]
            if all(len(arms) >= r for arms, r in zip(placed, self.required, strict=True)):
                return [arms[:r] for arms, r in zip(placed, self.required, strict=True)]
            return None
        cost, named = self.best(self.counts)
        if cost >= self.factor * math.log((1 + math.log(sum(self.counts))) / self.delta):
            return [[k for _, k, j in named if j == i] for i in range(len(self.clusters))]
        return None

    def _compare(self) -> None:
        group: list[int] = []
        for i, c in enumerate(self.clusters):
            joins = i > 0 and self.required[i - 1] == 0 and self.required[i] == 0
            group += [group[-1] if joins else i] * c
        pairs = max(sum(g != h for g, h in combinations(group, 2)), 1)
        L = max(math.log(pairs / (2 * self.delta)), 0.5)
        rho = 30 / 4 / (2 * L + math.log(1 + 2 * L))
        v = [n / 4 for n in self.counts]
        A = [n**2 / (u + rho) for n, u in zip(self.counts, v, strict=True)]
        for a, b in combinations(range(self.N), 2):
            if not (self.beats[a][b] or self.beats[b][a]) and self.mean(a) != self.mean(b):
                told = A[a] * A[b] / (2 * (A[a] + A[b])) * (self.mean(a) - self.mean(b)) ** 2
                wanted = math.log(pairs / self.delta) + sum(
                    math.log((v[c] + rho) / rho) / 2 for c in (a, b)
                )
                if told >= self.factor * wanted:
                    better, worse = (a, b) if self.mean(a) > self.mean(b) else (b, a)
                    self.beats[better][worse] = True

    def recommended(self) -> tuple[int, ...]:
        """The leader; before all pulls the clusters as the opening permutation cuts them."""
        if self.rounds:
            return tuple(k for k, _ in self.leader())
        first = zip(self.before, self.required, strict=True)
        return tuple(arm for start, r in first for arm in self.order[start : start + r])

    def outcome(self, named: list[list[int]] | None) -> Outcome:
        arms = [] if named is None else [arm for output in named for arm in output]
        return Outcome(
            pulls=sum(self.counts),
            rounds=self.rounds,
            representatives=tuple(arms),
            settled=dict.fromkeys(arms, self.rounds),
            finished=named is not None,
            counts=tuple(self.counts),
            recommended=self.recommended() if named is None else tuple(arms),
        )


def top_two(
    pull: Pull,
    n_arms: int,
    clusters: Sequence[int],
    required: Sequence[int],
    delta: float,
    *,
    order: Sequence[int],
    uniforms: Iterator[float],
    threshold: str = "pairs",
    max_pulls: int | None = None,
    factor: float = 1.0,
    inside: bool = False,
) -> Outcome:
    """TopTwo.

    Parameters
    ----------
    pull, n_arms, clusters, required, delta, order, max_pulls
        As in `naive.vanilla`.
    uniforms : iterator of float
        Numbers in [0, 1), one for each pull that is a matter of chance.
    threshold : str
        "pairs" or "gk16-unproven".
    factor : float
        Of the threshold: anything but 1 makes it a wrong one.
    inside : bool
        Under "pairs" also arms on k's own side of the border are pulled: wrong.
    """
    play = _Play(pull, n_arms, clusters, required, delta, order, threshold, max_pulls, factor)
    if not play.affords(n_arms):
        return play.outcome(None)
    for arm in order:
        play.sample(arm)
    while True:
        named = play.judge()
        if named is not None or not play.affords(1):
            return play.outcome(named)
        play.sample(_chosen(play, uniforms, inside))


def _chosen(play: _Play, uniforms: Iterator[float], inside: bool) -> int:
    """The arm that is pulled."""

    def least(arms: Sequence[int]) -> int:
        return min(arms, key=lambda a: (play.counts[a], play.place[a]))

    lagging = least(play.order)
    if play.counts[lagging] < 1.5 * math.sqrt(sum(play.counts) / play.N):
        return lagging
    (cost, theta, moved), k, i = min(
        ((play.cheapest(k, i, play.counts), k, i) for k, i in play.leader()),
        key=lambda found: found[0][0],
    )
    if cost == 0.0:
        return least([a for a in play.order if play.mean(a) == play.mean(k)])
    ranking = play.ranking()
    if play.threshold == "pairs" and not inside:
        before, after = play.before[i], play.before[i] + play.clusters[i]
        beyond = ranking[after:] if theta < play.mean(k) else ranking[:before]
        moved = {a for a in moved if a == k or a in beyond}
    nats = {a: play.counts[a] * 2 * (play.mean(a) - theta) ** 2 for a in ranking if a in moved}
    left = next(uniforms) * sum(nats.values())
    for arm, told in nats.items():
        left -= told
        if left < 0.0:
            return arm
    return list(nats)[-1]


def track_and_stop(
    pull: Pull,
    n_arms: int,
    clusters: Sequence[int],
    required: Sequence[int],
    delta: float,
    *,
    order: Sequence[int],
    shares: Shares,
    growth: float = 1.1,
    threshold: str = "pairs",
    max_pulls: int | None = None,
    factor: float = 1.0,
    even: float = 0.02,
) -> Outcome:
    """BatchedTrackAndStop, which is told the best shares; parameters as in `top_two`.

    Parameters
    ----------
    growth : float
        Pulls after a batch over those before.
    even : float
        Share of the pulls that goes to all arms alike: anything but 0.02 is wrong.
    """
    play = _Play(pull, n_arms, clusters, required, delta, order, threshold, max_pulls, factor)
    if not play.affords(16 * n_arms):
        return play.outcome(None)
    for arm in order:
        play.sample(arm, 16)
    while True:
        named = play.judge()
        t = sum(play.counts)
        aim = max(math.ceil(growth * t), t + 1)
        if named is not None or not play.affords(aim - t):
            return play.outcome(named)
        ranking = play.ranking()
        means = [play.mean(a) for a in ranking]
        w = shares(means, [ranking.index(k) for k, _ in play.leader()])
        missing = [
            max(aim * ((1 - even) * w[p] + even / n_arms) - play.counts[a], 0.0)
            for p, a in enumerate(ranking)
        ]
        made = 0
        for p, arm in enumerate(ranking):
            upto = math.floor((aim - t) * (sum(missing[: p + 1]) / sum(missing)))
            upto = aim - t if p == n_arms - 1 else min(upto, aim - t)
            play.sample(arm, max(upto - made, 0))
            made = max(upto, made)
