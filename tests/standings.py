"""LUCB in the middle of a replication, at random or by hand: as kernels hold it and as the plain
twin does.

Arms are numbered by the order in which ties are broken, so labels, arms and places are the same
numbers. Settled arms are left out: clusters have as many places as arms are open, and ask for what
they still lack.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import naive
import numpy as np
from numpy.typing import NDArray
from stack import RECORDING, new_stack

from rai_sim.algorithms.lucb.loop import new_run
from rai_sim.algorithms.lucb.rule import compute_bounds, find_opponents, settle_and_choose
from rai_sim.algorithms.lucb.run import (
    MISSING,
    MOST,
    PULLS,
    RANKED,
    ROUND,
    WORTH,
    WORTH_A_STRETCH,
    Rule,
    Run,
)
from rai_sim.algorithms.lucb.strides import VIEW
from rai_sim.engine.blocks import Setting, new_block
from rai_sim.engine.faults import MOST_PULLS
from rai_sim.engine.jit import exposed, kernel
from rai_sim.engine.streams import State, stream_key
from rai_sim.engine.strides import without


@dataclass(frozen=True)
class Standing:
    """Some rounds have been judged and their pulls made.

    Attributes
    ----------
    places : tuple of int
        Open arms of each cluster.
    wants : tuple of int
        Representatives that it still lacks.
    rewards : (n, T) float64
        All there are, of arms that are open.
    taken : (n,) int64
        How many of them have been seen.
    R : int
        Rounds so far.
    as_printed : bool
        Which rule.
    delta : float
        Error probability.
    """

    places: tuple[int, ...]
    wants: tuple[int, ...]
    rewards: NDArray[np.float64]
    taken: NDArray[np.int64]
    R: int
    as_printed: bool = False
    delta: float = 0.1

    @property
    def total(self) -> NDArray[np.float64]:
        """Sums of the rewards seen."""
        seen = np.arange(self.rewards.shape[1]) < self.taken[:, None]
        return np.asarray(np.where(seen, self.rewards, 0.0).sum(axis=1))

    @property
    def scale(self) -> float:
        """pi^2 N / (3 delta)."""
        return math.pi**2 * len(self.taken) / (3.0 * self.delta)


class Judged(NamedTuple):
    """What a round did, in arms."""

    settled: frozenset[int]
    picks: frozenset[int]


def draw(
    rng: np.random.Generator,
    places: Sequence[int],
    wants: Sequence[int],
    *,
    pulls: tuple[int, int] = (1, 400),
    more: int = 0,
    as_printed: bool = False,
) -> Standing:
    """Draw arms whose means fall, rewards 0 and 1, pulls between two numbers, and `more` rewards to
    come."""
    n = sum(places)
    means = np.sort(rng.uniform(0.02, 0.98, n))[::-1]
    taken = rng.integers(pulls[0], pulls[1], n, endpoint=True)
    rewards = (rng.random((n, int(taken.max()) + more)) < means[:, None]).astype(np.float64)
    late = int(taken.max()) + int(rng.integers(20))
    return Standing(
        tuple(places), tuple(wants), rewards[rng.permutation(n)], taken, late, as_printed
    )


def draw_any(
    rng: np.random.Generator,
    most_open: int = 4,
    *,
    pulls: tuple[int, int] = (1, 400),
    more: int = 0,
    as_printed: bool = False,
) -> Standing:
    """Draw a standing of one to four clusters, some of them empty or without a wish."""
    while True:
        places = rng.integers(0, most_open + 1, int(rng.integers(1, 5)))
        wants = np.where(rng.random(places.size) < 0.7, rng.integers(places + 1), 0)
        if wants.any():
            return draw(
                rng, places.tolist(), wants.tolist(), pulls=pulls, more=more, as_printed=as_printed
            )


def run_of(
    standing: Standing,
    *,
    max_pulls: int = -1,
    skip_error: float = 0.0,
    strides: int | None = None,
) -> Run:
    """Return what kernels are given, the arms ranked; rewards to come are also given as words."""
    n, wants = len(standing.taken), np.array(standing.wants, np.int64)
    prefix = np.zeros((n, standing.rewards.shape[1] + 1))
    np.cumsum(standing.rewards, axis=1, out=prefix[:, 1:])
    law = new_stack(
        RECORDING,
        standing.rewards.mean(axis=1),
        0.25,
        prefix=prefix,
        available=standing.rewards.shape[1],
    )
    setting = Setting(
        sizes=np.array(standing.places, np.int64),
        required=wants,
        cluster_of=np.zeros(n, np.int64),
        delta=standing.delta,
        skip_error=skip_error,
        max_pulls=max_pulls,
        key=stream_key(1),
        strides=without(VIEW) if strides is None else strides,
    )
    rule = Rule(standing.scale, standing.as_printed)
    run = new_run(law, rule, setting, new_block(1, sum(standing.wants)))
    s, part, clock = run.ranking, run.part, run.clock
    mean = standing.total / standing.taken
    s.order[:] = sorted(range(n), key=lambda a: (-mean[a], a))
    s.mean[:], s.total[:], s.taken[:] = (
        mean[s.order],
        standing.total[s.order],
        standing.taken[s.order],
    )
    s.arm_of[:] = np.arange(n)
    part.open_sizes[:], part.found[:] = standing.places, 0
    part.offset[:], part.outputs[:], part.settled[:] = np.cumsum(wants) - wants, -1, 0
    clock[ROUND], clock[PULLS], clock[RANKED] = standing.R, standing.taken.sum(), n
    clock[MOST], clock[MISSING] = MOST_PULLS if max_pulls < 0 else max_pulls, wants.sum()
    run.terms[WORTH] = WORTH_A_STRETCH
    return run


def state_of(run: Run) -> State:
    """Return a random state, of which a recording makes no use but to shuffle arms."""
    one = np.uint64(1)
    return one, one, one, one, np.uint64(run.ranking.generators.ctypes.data)


@kernel
def _look(run: Run) -> None:
    s, n, R = run.ranking, run.clock[RANKED], run.clock[ROUND] + 1
    compute_bounds(s, n, math.log(run.rule.scale * R * R * R), 1.0)
    find_opponents(s, run.part.open_sizes, run.rule.as_printed)


@exposed
@kernel
def look(run: Run) -> None:
    """Compute the bounds of the next round and find who attains L_i and U_i."""
    _look(run)


@exposed
@kernel
def judge(run: Run) -> tuple[int, int, int]:
    """Judge the next round; return the arms settled, the outputs supplied and the picks."""
    _look(run)
    n, R = run.clock[RANKED], run.clock[ROUND] + 1
    return settle_and_choose(run.ranking, run.part, n, R, run.rule.as_printed)


class Twin:
    """The plain twin where a standing is."""

    def __init__(self, standing: Standing) -> None:
        """Begin there."""
        self.standing = standing
        n = len(standing.taken)
        self.run = naive._Run(self._next, n, standing.places, standing.wants, range(n), None)
        self.run.sums, self.run.counts = standing.total.tolist(), standing.taken.tolist()
        self.run.rounds = standing.R

    def _next(self, arm: int) -> float:
        return float(self.standing.rewards[arm, self.run.counts[arm]])

    def judge(self) -> Judged:
        """Judge the next round."""
        before = set(self.run.active)
        self.run.rounds += 1
        wanted = naive._lucb_round(
            self.run, len(self.standing.taken), self.standing.delta, self.standing.as_printed
        )
        return Judged(frozenset(before - set(self.run.active)), frozenset(wanted))

    def pull(self, picks: frozenset[int]) -> None:
        """Pull what a round picked."""
        for arm in picks:
            self.run.sample(arm)

    def follow(self, run: Run) -> Judged:
        """Make the rounds up to that of a kernel's clock, assert that they settle nobody and lead
        to the kernel's sums; return what the round after them does."""
        s = run.ranking
        while self.run.rounds < run.clock[ROUND]:
            judged = self.judge()
            assert not judged.settled
            self.pull(judged.picks)
        counts, sums = np.array(self.run.counts), np.array(self.run.sums)
        assert np.array_equal(s.taken, counts[s.order])
        assert np.array_equal(s.total, sums[s.order])
        assert np.array_equal(s.mean, sums[s.order] / counts[s.order])
        assert run.clock[PULLS] == counts.sum()
        return self.judge()
