"""Which arms a round of LUCB pulls: the choices of picks, where each is defined, and why it is
delta-PC.

Legend. N arms, clusters of sizes c, of which r_i arms are asked for.
LCB and UCB bound an arm's mean from below and above, with sides as in `radii`. *Border* i lies
between clusters i and i + 1: the C_i = c_1 + .. + c_i arms of largest empirical mean are above it.
"Above" and "below" are read off the ranking anew in every round. E is that every side that the rule
leans on holds at all times; by the levels given P(E) >= 1 - delta. No arm leaves before the end but
with "all".

`all` (the paper's, in a form that is delta-PC; `rai_sim.algorithms.lucb.rule`): any task. Sides of 2 N,
delta / (2 N) each. *Proof.* On E, by induction over settled arms, each cluster's count of active arms
is right. Let a of cluster i' be the first arm settled in another one, say i > i' (the other case is
its mirror image). UCB_a < LCB_b, so mean_a < mean_b on E, for all active b that are ranked before
cluster i, as many as there are active arms of the clusters before i. So these, which are better than
a, and a itself are all of clusters up to i' <= i - 1: one more than are active there. []

`lucb++` (Simchowitz, Jamieson and Recht 2017): tasks of `rank` (below) with one wanted border, K arms
above it: best arm and top K, those at the other end, or both. Picks and end as there. But LCBs
have level delta / (2 (N - K)), UCBs delta / (2 K). *Proof.* E: the LCBs of the N - K worst arms and the
UCBs of the K best hold; their levels add up to delta. Were one of the worst, a, above the border at
the end and so one of the best, b, below: mean_a >= LCB_a >= LCB_h > UCB_l >= UCB_b >= mean_b on E, a
contradiction. []

`rank` (LUCBRank; Katariya et al. 2018): tasks that ask for all arms of a cluster or for none. A border of
a cluster that is asked for is *wanted*. Picks: at each wanted border that is open, the arm h above it
with the least LCB and the arm l below it with the greatest UCB; it is open unless LCB_h > UCB_l. The
rule ends when no wanted border is open. Sides of 2 N, delta / (2 N) each. *Proof.* On E, at the end,
every arm above a wanted border has a larger mean than every one below, so those above are the C_i
best. A wanted cluster is what lies between two such borders, or beyond one. []

`k-m` (LUCB-k-m; Roy Chaudhuri and Kalyanakrishnan 2019): two clusters or more, r = (M, 0, .., 0): M of the top K,
K = c_1. A1 are the M arms of greatest LCB, A3 of the rest the N - K of least UCB, A2 the K - M arms left. Picks: the arm h of
A1 with the least LCB, the arm l of A3 with the greatest UCB, and the arm of A2 with the fewest pulls. It
ends when LCB_h > UCB_l, and names A1. Sides of 2 N, delta / (2 N) each. *Proof.* On E, at the end, every
arm of A1 has a larger mean than the N - K arms of A3, so it is one of the K best. []

The last two and `lucb++` pull an arm at most once a round, as the paper's radius asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from rai_sim.algorithms.lucb.variants.radii import RadiusName, Side, side_of

PicksName = Literal["all", "lucb++", "k-m", "rank"]
#: What the kernel knows picks by. `lucb++` is `rank` with levels of its own.
ALL, BORDERS, WITHIN = range(3)


class Choice(NamedTuple):
    """What the kernel knows of an algorithm's radius and picks."""

    picks: int
    down: Side  # LCB = mean - down
    up: Side  # UCB = mean + up
    alike: bool  # whether both sides are the same


def choice_of(
    radius: RadiusName,
    picks: PicksName,
    clusters: Sequence[int],
    required: Sequence[int],
    delta: float,
) -> Choice:
    """Return what the kernel knows; the picks are to be defined for the task."""
    N = sum(clusters)
    if picks == "lucb++":
        (K,) = _wanted_borders(clusters, required)
        down = side_of(radius, delta / (2.0 * (N - K)), alone=True)
        return Choice(BORDERS, down, side_of(radius, delta / (2.0 * K), alone=True), False)
    both = side_of(radius, delta / (2.0 * N), alone=False)
    return Choice({"all": ALL, "rank": BORDERS, "k-m": WITHIN}[picks], both, both, True)


def what_is_asked_for(
    picks: PicksName, clusters: Sequence[int], required: Sequence[int]
) -> str | None:
    """Return the tasks for which picks are defined, in words, if this task is none of them; None if
    it is one.

    Examples
    --------
    >>> what_is_asked_for("lucb++", (1, 9), (1, 0))
    >>> what_is_asked_for("k-m", (3, 7), (3, 1))
    'M of the top K, that is representatives of the first cluster alone'
    """
    whole = all(r in (0, c) for c, r in zip(clusters, required, strict=True))
    if picks == "lucb++" and not (whole and len(_wanted_borders(clusters, required)) == 1):
        return "best arm and top K, that is all arms on one side of one border"
    if picks == "rank" and not whole:
        return "coarse rankings, that is all arms of a cluster or none"
    if picks == "k-m" and (len(clusters) == 1 or any(required[1:])):
        return "M of the top K, that is representatives of the first cluster alone"
    return None


def _wanted_borders(clusters: Sequence[int], required: Sequence[int]) -> list[int]:
    """Return the arms above each border of a cluster that is asked for."""
    return [
        sum(clusters[: i + 1])
        for i in range(len(clusters) - 1)
        if required[i] > 0 or required[i + 1] > 0
    ]
