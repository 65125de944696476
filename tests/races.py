"""Races in the middle of a replication, for tests of what kernels do there; and what a round would
settle, arm by arm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

import rai_sim as rai
from rai_sim.algorithms.vanilla.widths import paper
from rai_sim.engine.blocks import Setting
from rai_sim.engine.certificates import Race, constrain, new_constraints
from rai_sim.engine.jit import exposed
from rai_sim.engine.ranking import new_standings
from rai_sim.engine.streams import stream_key
from rai_sim.engine.words import new_words

constrained = exposed(constrain)


def ranked_race(
    sums: Sequence[float],
    sizes: Sequence[int],
    means: Sequence[float] | None = None,
    scale: float = 1000.0,
) -> tuple[Race, float]:
    """Return a race of Bernoulli arms, and G: the arm at rank x has label x and index N - 1 - x.

    Sums fall; means are those of the arms by rank, 1/2 if not given.
    """
    N = len(sums)
    standings = new_standings(N)
    standings.order[:], standings.total[:] = np.arange(N), sums
    standings.arm_of[:] = np.arange(N)[::-1]
    race = Race(
        law=rai.Bernoulli([0.5] * N if means is None else means[::-1]).kernel_law(),
        schedule=paper(scale),
        standings=standings,
        constraints=new_constraints(N, len(sizes)),
        words=new_words(N),
    )
    return race, constrained(race.constraints, standings.total, np.array(sizes), N)


def setting_of(sizes: list[int], required: list[int], max_pulls: int = -1) -> Setting:
    """Return what kernels take; arms are numbered cluster by cluster."""
    return Setting(
        sizes=np.array(sizes),
        required=np.array(required),
        cluster_of=np.repeat(np.arange(len(sizes)), sizes),
        delta=0.1,
        skip_error=0.0,
        max_pulls=max_pulls,
        key=stream_key(1),
    )


def settled_ranks(sums: Sequence[float], sizes: Sequence[int], W: float) -> list[int]:
    """Return the ranks that are apart by more than W from every arm of the other clusters."""
    cluster_of = np.repeat(np.arange(len(sizes)), sizes)
    return [
        x
        for x in range(len(sums))
        if all(
            abs(sums[x] - sums[y]) > W for y in range(len(sums)) if cluster_of[y] != cluster_of[x]
        )
    ]


def widths(scale: float, R: NDArray[np.int64] | float) -> NDArray[np.float64]:
    """Return Vanilla's W(R) = R w_R, pi^2 N / (3 delta) being the scale."""
    R = np.asarray(R, float)
    return np.asarray(R * 2.0 * np.sqrt(np.log(scale * R * R) / (2.0 * R)))


def draw_races(seed: int, count: int, most_arms: int = 6) -> Iterator[tuple[list[int], list[int]]]:
    """Draw sums that fall, with ties, and sizes of clusters, some of them empty."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        N = int(rng.integers(2, most_arms + 1))
        cuts = np.sort(rng.integers(0, N + 1, rng.integers(1, 4)))
        yield (
            np.sort(rng.integers(0, 12, N))[::-1].tolist(),
            np.diff([0, *cuts.tolist(), N]).tolist(),
        )
