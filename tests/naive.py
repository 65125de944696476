"""The literal twin: the three algorithms as the specification's pseudo-code has them, slow and
plain.

Fast kernels are tested against this module, so it shares no code with the package, uses no numpy
and contains no cleverness: every settle test compares an arm with every arm of the other clusters,
one pair at a time. Whatever the text calls cluster i is index ``i - 1`` here; otherwise the paper's
symbols hold.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from naive_recommend import recommend

Pull = Callable[[int], float]
"""Returns the next reward of the arm it is given."""


@dataclass(frozen=True)
class Outcome:
    """What one run did.

    Attributes
    ----------
    pulls : int
        Total number of pulls.
    rounds : int
        R at the stop. Round-robin: rounds completed; LUCB: R of the last judged round; 0 if the cap
        came before any round.
    representatives : tuple of int
        The outputs O_1, .., O_m one after another, each in the order in which its arms joined.
        Empty when the run did not finish.
    settled : dict of int to int
        The round in which an arm left the active set, also for arms that joined no O_i.
    finished : bool
        Whether every |O_i| reached r_i (otherwise the cap on pulls stopped the run).
    counts : tuple of int
        Pulls of each arm, by arm index.
    merges : tuple of (int, int)
        Round and index i of every merge of cluster i - 1 into i that brought active arms of both
        together, in a round that did not end the run.
    recommended : tuple of int
        The representatives; where the run did not finish, what it would name at the cap.
    """

    pulls: int
    rounds: int
    representatives: tuple[int, ...]
    settled: dict[int, int]
    finished: bool
    counts: tuple[int, ...]
    merges: tuple[tuple[int, int], ...] = ()
    recommended: tuple[int, ...] = field(default=(), compare=False)


class RanOut(Exception):
    """A recording was asked for a reward that it does not hold.

    Attributes
    ----------
    arm : int
        The arm whose row is exhausted.
    pull_number : int
        Which pull of that arm failed, the first being 1.
    """

    def __init__(self, arm: int, pull_number: int) -> None:
        """Keep the arm and the 1-based number of the pull that failed."""
        super().__init__(arm, pull_number)
        self.arm = arm
        self.pull_number = pull_number


def replay(rewards: Sequence[Sequence[float]]) -> Pull:
    """Play back a recorded matrix, rows arms and columns pulls; a row that is exhausted raises
    `RanOut`."""
    taken = [0] * len(rewards)

    def pull(arm: int) -> float:
        taken[arm] += 1
        if taken[arm] > len(rewards[arm]):
            raise RanOut(arm, taken[arm])
        return rewards[arm][taken[arm] - 1]

    return pull


def bernoulli(means: Sequence[float], rng: Random) -> Pull:
    """Draw independent rewards that are 1 with the arm's mean as probability and 0 otherwise."""

    def pull(arm: int) -> float:
        return 1 if rng.random() < means[arm] else 0

    return pull


class _Run:
    """The state that all algorithms keep: A, the open sizes c~, the outputs O, sums and counts."""

    def __init__(
        self,
        pull: Pull,
        n_arms: int,
        clusters: Sequence[int],
        required: Sequence[int],
        order: Sequence[int],
        max_pulls: int | None,
    ) -> None:
        _check(n_arms, clusters, required, order)
        self.pull = pull
        self.required = list(required)
        self.place = {arm: place for place, arm in enumerate(order)}
        self.max_pulls = max_pulls
        self.active = list(range(n_arms))
        self.sizes = list(clusters)
        self.outputs: list[list[int]] = [[] for _ in clusters]
        self.sums = [0.0] * n_arms
        self.counts = [0] * n_arms
        self.settled: dict[int, int] = {}
        self.rounds = 0
        self.merges: list[tuple[int, int]] = []
        self.in_rounds = False

    def full(self, i: int) -> bool:
        """|O_i| = r_i: cluster i has named all that it was asked for."""
        return len(self.outputs[i]) == self.required[i]

    def done(self) -> bool:
        """Every |O_i| = r_i."""
        return all(self.full(i) for i in range(len(self.required)))

    def affords(self, more: int) -> bool:
        """Whether `more` pulls keep the total within the cap."""
        return self.max_pulls is None or sum(self.counts) + more <= self.max_pulls

    def sample(self, arm: int) -> None:
        """Pull an arm once. Sums run in the order of pulls, so that float rewards round as
        specified."""
        self.sums[arm] += float(self.pull(arm))
        self.counts[arm] += 1

    def partition(self) -> list[list[int]]:
        """Rank A by empirical mean, ties by place in `order`, and cut the ranking into A_1..A_m."""
        mean = {a: self.sums[a] / self.counts[a] for a in self.active}
        return self.cut(sorted(self.active, key=lambda a: (-mean[a], self.place[a])))

    def partition_by_sums(self) -> list[list[int]]:
        """Do the same by sums, for equal counts: a division might round unequal sums to a false
        tie."""
        return self.cut(sorted(self.active, key=lambda a: (-self.sums[a], self.place[a])))

    def cut(self, ranking: list[int]) -> list[list[int]]:
        """Cut a ranking into consecutive parts of the open sizes c~_1..c~_m."""
        assert len(ranking) == sum(self.sizes)
        parts = []
        start = 0
        for size in self.sizes:
            parts.append(ranking[start : start + size])
            start += size
        return parts

    def remove(self, arm: int, i: int) -> None:
        """Take an arm settled in cluster i this round out of A; it joins O_i only if there is
        room."""
        if not self.full(i):
            self.outputs[i].append(arm)
        self.active.remove(arm)
        self.settled[arm] = self.rounds
        self.sizes[i] -= 1

    def recommended(self) -> tuple[int, ...]:
        """Name what is lacking: by sums where all active arms have as many pulls in every round,
        before all pulls by the opening permutation alone."""
        key = dict.fromkeys(self.active, 0.0)
        if any(self.counts):
            key = {a: self.sums[a] / (1 if self.in_rounds else self.counts[a]) for a in self.active}
        ranking = sorted(self.active, key=lambda a: (-key[a], self.place[a]))
        return recommend(self.cut(ranking), self.outputs, self.required, key)

    def outcome(self, finished: bool) -> Outcome:
        """Report the run as it stands."""
        named = tuple(arm for output in self.outputs for arm in output)
        return Outcome(
            pulls=sum(self.counts),
            rounds=self.rounds,
            representatives=named if finished else (),
            settled=dict(self.settled),
            finished=finished,
            counts=tuple(self.counts),
            merges=tuple(
                merge for merge in self.merges if not (finished and merge[0] == self.rounds)
            ),
            recommended=named if finished else self.recommended(),
        )


def _check(
    n_arms: int, clusters: Sequence[int], required: Sequence[int], order: Sequence[int]
) -> None:
    """Reject what is no instance, lest a mistaken test compare nonsense with nonsense."""
    if sum(clusters) != n_arms or len(clusters) != len(required):
        raise ValueError(f"clusters {clusters} and required {required} do not fit {n_arms} arms")
    if not all(0 <= r <= c for c, r in zip(clusters, required, strict=True)):
        raise ValueError(f"required {required} is not between 0 and clusters {clusters}")
    if not any(required):
        raise ValueError("nothing is required")
    if sorted(order) != list(range(n_arms)):
        raise ValueError(f"order {order} is not a permutation of {n_arms} arms")


def _before(parts: list[list[int]], i: int) -> list[int]:
    """All arms of the clusters before i, in ranking order."""
    return [a for part in parts[:i] for a in part]


def _after(parts: list[list[int]], i: int) -> list[int]:
    """All arms of the clusters after i, in ranking order."""
    return [a for part in parts[i + 1 :] for a in part]


# --------------------------------------------------------------------------------------------------
# Round-robin: Vanilla and Butterscotch
# --------------------------------------------------------------------------------------------------


def vanilla(
    pull: Pull,
    n_arms: int,
    clusters: Sequence[int],
    required: Sequence[int],
    delta: float,
    *,
    order: Sequence[int],
    merging: bool = True,
    width: str = "paper",
    tuned_rounds: int = 30,
    max_pulls: int | None = None,
) -> Outcome:
    """Vanilla: one pull of every active arm a round, t_R = R.

    Parameters
    ----------
    pull : callable
        Returns the next reward of the arm it is given.
    n_arms, clusters, required, delta
        N, c, r and delta.
    order : sequence of int
        All arms; of two arms with equal empirical means the one that comes earlier here ranks
        first.
    merging : bool
        Whether neighbouring clusters that ask for nothing more are merged.
    width, tuned_rounds
        "paper", "mixture" or "stitched", and the rounds that the mixture is tuned for.
    max_pulls : int, optional
        A round that would take the total past this is not started.
    """
    alpha = delta / pairs(clusters, required, merging)

    def pulls_per_arm(R: int) -> int:
        return R

    def paper(R: int) -> float:
        return R * 2 * math.sqrt(math.log(math.pi**2 * R**2 * n_arms / (3 * delta)) / (2 * R))

    def mixture(R: int) -> float:
        L = max(math.log(1 / (2 * alpha)), 0.5)
        v, rho = R / 2, tuned_rounds / 2 / (2 * L + math.log(1 + 2 * L))
        return math.sqrt(2 * (v + rho) * math.log(math.sqrt((v + rho) / rho) / (2 * alpha) + 1))

    def stitched(R: int) -> float:
        eta, s, zeta = 2, 1.4, 3.1055472779775810  # Riemann's of s
        v, m = R / 2, 1 / 2
        level = s * math.log(math.log(eta * v / m)) + math.log(zeta / (alpha * math.log(eta) ** s))
        return float((eta**0.25 + eta**-0.25) / math.sqrt(2) * math.sqrt(v * level))

    run = _Run(pull, n_arms, clusters, required, order, max_pulls)
    chosen = {"paper": paper, "mixture": mixture, "stitched": stitched}[width]
    return _round_robin(run, merging, pulls_per_arm, chosen)


def butterscotch(
    pull: Pull,
    n_arms: int,
    clusters: Sequence[int],
    required: Sequence[int],
    delta: float,
    *,
    order: Sequence[int],
    merging: bool = True,
    width: str = "paper",
    max_pulls: int | None = None,
) -> Outcome:
    """Butterscotch: w_R is halved every round. Parameters as in `vanilla`, but that its width is
    "paper" or "pairwise"."""
    P = pairs(clusters, required, merging)

    def pulls_per_arm(R: int) -> int:
        if width == "pairwise":
            return math.ceil(2.0 ** (2 * R + 4) * math.log(math.pi**2 * R**2 * P / (6 * delta)))
        return math.ceil(2.0 ** (2 * R + 5) * math.log(math.pi**2 * R**2 * n_arms / (3 * delta)))

    def halved(R: int) -> float:
        return pulls_per_arm(R) * 2.0 ** -(R + 2)

    run = _Run(pull, n_arms, clusters, required, order, max_pulls)
    return _round_robin(run, merging, pulls_per_arm, halved)


def pairs(clusters: Sequence[int], required: Sequence[int], merging: bool) -> int:
    """The pairs of arms in different clusters; with merging, neighbours of which nothing is asked
    are one. 1 if there is none."""
    group_of: list[int] = []
    for i, size in enumerate(clusters):
        joins = merging and i > 0 and required[i - 1] == 0 and required[i] == 0
        group_of += [group_of[-1] if joins else i] * size
    n = len(group_of)
    return max(sum(group_of[a] != group_of[b] for a in range(n) for b in range(a)), 1)


def _round_robin(
    run: _Run, merging: bool, pulls_per_arm: Callable[[int], int], width: Callable[[int], float]
) -> Outcome:
    """The loop of both; `pulls_per_arm` is t_R and `width` is t_R w_R, the width in units of
    sums."""
    run.in_rounds = True
    while not run.done():
        R = run.rounds + 1
        t_R = pulls_per_arm(R)
        if not run.affords(sum(t_R - run.counts[a] for a in run.active)):
            return run.outcome(finished=False)
        run.rounds = R
        for a in run.active:
            while run.counts[a] < t_R:
                run.sample(a)
        _remove_and_merge(run, _settled_by_width(run, width(R)), merging)
    return run.outcome(finished=True)


def _settled_by_width(run: _Run, width: float) -> list[list[int]]:
    """The arms settled this round, cluster by cluster, all judged against the opening partition.

    Arm a of A_i is settled when it is beaten by more than the width by every active arm of the
    clusters before i and beats by more than the width every active arm of the clusters after i.
    """
    parts = run.partition_by_sums()
    S = run.sums
    return [
        [
            a
            for a in part
            if all(S[b] - S[a] > width for b in _before(parts, i))
            and all(S[a] - S[b] > width for b in _after(parts, i))
        ]
        for i, part in enumerate(parts)
    ]


def _remove_and_merge(run: _Run, settled: list[list[int]], merging: bool) -> None:
    """Cluster after cluster: remove its settled arms, then merge cluster i-1 into it if both are
    full."""
    for i in range(len(settled)):
        for a in settled[i]:
            run.remove(a, i)
        if merging and i > 0 and run.full(i - 1) and run.full(i):
            if run.sizes[i - 1] > 0 and run.sizes[i] > 0:
                run.merges.append((run.rounds, i))
            run.sizes[i] += run.sizes[i - 1]
            run.sizes[i - 1] = 0


# --------------------------------------------------------------------------------------------------
# LUCB
# --------------------------------------------------------------------------------------------------


def lucb(
    pull: Pull,
    n_arms: int,
    clusters: Sequence[int],
    required: Sequence[int],
    delta: float,
    *,
    order: Sequence[int],
    as_printed: bool = False,
    radius: str = "paper",
    picks: str = "all",
    max_pulls: int | None = None,
) -> Outcome:
    """LUCB: after one pull of each arm, every round pulls the arms that stand in the way.

    Parameters
    ----------
    pull, n_arms, clusters, required, delta, order
        As in `vanilla`.
    as_printed : bool
        The printed rule with its slips mended: L_i and U_i look at the neighbouring clusters only,
        and a cluster's own weakest arms are not pulled. Not delta-PC.
    radius : str
        "paper", "mixture" or "stitched".
    picks : str
        "all"; "lucb++", "k-m" or "rank", which are the classical rules.
    max_pulls : int, optional
        Pulls that would take the total past this are not made, and the run ends.
    """
    run = _Run(pull, n_arms, clusters, required, order, max_pulls)
    if not run.affords(n_arms):
        return run.outcome(finished=False)
    for a in run.active:
        run.sample(a)
    while True:
        run.rounds += 1
        if radius == "paper" and picks == "all":
            wanted = _lucb_round(run, n_arms, delta, as_printed)
        else:
            wanted = _variant_round(run, radius, picks, clusters, delta)
        if run.done():
            return run.outcome(finished=True)
        if not run.affords(len(wanted)):
            return run.outcome(finished=False)
        for a in sorted(wanted):
            run.sample(a)


def _lucb_round(run: _Run, n_arms: int, delta: float, as_printed: bool) -> set[int]:
    """Judge one round, remove its settled arms, and return the arms that it wants pulled."""
    R = run.rounds
    LCB: dict[int, float] = {}
    UCB: dict[int, float] = {}
    for a in run.active:
        mean = run.sums[a] / run.counts[a]
        radius = math.sqrt(math.log(math.pi**2 * R**3 * n_arms / (3 * delta)) / (2 * run.counts[a]))
        LCB[a] = mean - radius
        UCB[a] = mean + radius
    return _settle_and_choose(run, LCB, UCB, as_printed)


def _settle_and_choose(
    run: _Run, LCB: dict[int, float], UCB: dict[int, float], as_printed: bool
) -> set[int]:
    """Do so, given the active arms' intervals."""
    parts = run.partition()
    judged = [_Judged(parts, i, LCB, UCB, as_printed) for i in range(len(parts))]
    for i, cluster in enumerate(judged):
        for a in cluster.settled:
            run.remove(a, i)

    wanted: set[int] = set()
    for i, cluster in enumerate(judged):
        if not run.full(i):
            wanted |= cluster.wanted()
    # An arm that its own cluster settled this round may still attain another cluster's L_i or U_i.
    return {a for a in wanted if a in run.active}


class _Judged:
    """Cluster i of an LUCB round, seen against the round's opening partition."""

    def __init__(
        self,
        parts: list[list[int]],
        i: int,
        LCB: dict[int, float],
        UCB: dict[int, float],
        as_printed: bool,
    ) -> None:
        self.LCB = LCB
        self.UCB = UCB
        self.as_printed = as_printed
        if as_printed:
            self.before = parts[i - 1] if i > 0 else []
            self.after = parts[i + 1] if i + 1 < len(parts) else []
        else:
            self.before = _before(parts, i)
            self.after = _after(parts, i)
        self.L = min((LCB[b] for b in self.before), default=math.inf)
        self.U = max((UCB[b] for b in self.after), default=-math.inf)
        self.settled = [a for a in parts[i] if LCB[a] > self.U and UCB[a] < self.L]
        self.left = [a for a in parts[i] if a not in self.settled]

    def gap(self, a: int) -> float:
        """The empirical gap: how far a is from being settled, negative when it is."""
        return max(self.UCB[a] - self.L, self.U - self.LCB[a])

    def wanted(self) -> set[int]:
        """The arms to pull for this cluster, including those that another cluster settled this
        round.

        All lists are in ranking order and min and max return the first of equals, so ties go to the
        arm that ranks first.
        """
        LCB = self.LCB.__getitem__
        UCB = self.UCB.__getitem__
        picks = [
            min(self.left, key=self.gap, default=None),
            min(self.before, key=LCB, default=None),
            max(self.after, key=UCB, default=None),
        ]
        if not self.as_printed:
            if self.after:
                picks.append(min(self.left, key=LCB, default=None))
            if self.before:
                picks.append(max(self.left, key=UCB, default=None))
        return {a for a in picks if a is not None}


# The variants: other radii, other picks


def _variant_round(
    run: _Run, radius: str, picks: str, clusters: Sequence[int], delta: float
) -> set[int]:
    """Judge one round of a variant, as `_lucb_round` does."""
    LCB, UCB = _intervals(run, radius, picks, clusters, delta)
    if picks in ("lucb++", "rank"):
        return _round_of_pairs(run, LCB, UCB)
    if picks == "k-m":
        return _round_of_m_of_k(run, clusters, LCB, UCB)
    return _settle_and_choose(run, LCB, UCB, False)


def _intervals(
    run: _Run, radius: str, picks: str, clusters: Sequence[int], delta: float
) -> tuple[dict[int, float], dict[int, float]]:
    """LCB and UCB of the active arms.

    Each side is passed with probability delta / (2 N) at most, by its arm's mean, ever; with lucb++
    an LCB with delta / (2 (N - K)), a UCB with delta / (2 K).
    """
    n_arms = sum(clusters)
    down_level = up_level = delta / (2 * n_arms)
    if picks == "lucb++":
        K = sum(clusters[: _wanted_borders(run)[0]])
        down_level, up_level = delta / (2 * (n_arms - K)), delta / (2 * K)

    def side(arm: int, level: float) -> float:
        n = run.counts[arm]
        if radius == "paper":
            return math.sqrt(math.log(math.pi**2 * run.rounds**3 / (6 * level)) / (2 * n))
        v = n / 4
        if radius == "stitched":
            eta, s, zeta = 2, 1.4, 3.1055472779775810  # Riemann's of s
            logs = s * math.log(math.log(eta * v / 0.25))
            logs += math.log(zeta / (level * math.log(eta) ** s))
            return float((eta**0.25 + eta**-0.25) / math.sqrt(2) * math.sqrt(v * logs) / n)
        L = max(math.log(1 / (2 * level)), 0.5)
        rho = 300 / 4 / (2 * L + math.log(1 + 2 * L))
        if picks == "lucb++":
            inside = math.sqrt((v + rho) / rho) / (2 * level) + 1
            return math.sqrt(2 * (v + rho) * math.log(inside)) / n
        return math.sqrt((v + rho) * math.log((v + rho) / (rho * (2 * level) ** 2))) / n

    mean = {a: run.sums[a] / run.counts[a] for a in run.active}
    return (
        {a: mean[a] - side(a, down_level) for a in run.active},
        {a: mean[a] + side(a, up_level) for a in run.active},
    )


def _wanted_borders(run: _Run) -> list[int]:
    """Numbers of clusters above the borders of clusters that are asked for."""
    r = run.required
    return [i for i in range(1, len(r)) if r[i - 1] > 0 or r[i] > 0]


def _round_of_pairs(run: _Run, LCB: dict[int, float], UCB: dict[int, float]) -> set[int]:
    """Judge one round of LUCB++ or LUCBRank; name everybody once no border is open."""
    parts = run.partition()
    wanted: set[int] = set()
    for i in _wanted_borders(run):
        h = min(_before(parts, i), key=LCB.__getitem__)
        low = max(_after(parts, i - 1), key=UCB.__getitem__)
        if LCB[h] <= UCB[low]:
            wanted |= {h, low}
    if not wanted:
        for i, part in enumerate(parts):
            for a in part if run.required[i] else []:
                run.remove(a, i)
    return wanted


def _round_of_m_of_k(
    run: _Run, clusters: Sequence[int], LCB: dict[int, float], UCB: dict[int, float]
) -> set[int]:
    """Judge one round of LUCB-k-m; name the M arms of greatest LCB once they are clear of N - K
    others. Of equals the one that comes earlier in `order` is the greater."""
    run.partition()
    M, K = run.required[0], clusters[0]
    by_lcb = sorted(run.active, key=lambda a: (-LCB[a], run.place[a]))
    first, rest = by_lcb[:M], by_lcb[M:]
    rest.sort(key=lambda a: (-UCB[a], run.place[a]))
    between, last = rest[: K - M], rest[K - M :]
    if LCB[first[-1]] > UCB[last[0]]:
        for a in first:
            run.remove(a, 0)
        return set()
    fewest = [min(between, key=run.counts.__getitem__)] if between else []
    return {first[-1], last[0], *fewest}
