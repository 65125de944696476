"""A round of the classical picks, judged on standings full of ties, beside the plain twin."""

from __future__ import annotations

import naive
import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.lucb.rule import Ranking, new_ranking
from rai_sim.algorithms.lucb.variants import judge
from rai_sim.engine.blocks import Setting
from rai_sim.engine.jit import exposed
from rai_sim.engine.partition import Partition, new_partition, open_partition

judge_borders, judge_within = exposed(judge.judge_borders), exposed(judge.judge_within)
sort_again, opened = exposed(judge.sort_again), exposed(open_partition)

CLASSIC = [
    ((1, 9), (1, 0)),
    ((2, 3), (2, 0)),
    ((2, 2), (2, 2)),
    ((3, 2, 2), (0, 2, 0)),
    ((1, 2, 3), (1, 0, 3)),
]
M_OF_K = [((1, 9), (1, 0)), ((4, 3), (2, 0)), ((3, 2), (3, 0)), ((5, 1, 1), (2, 0, 0))]


class Standing:
    """Arms 0 .. N - 1, labels in that order, whose bounds and pulls are small integers."""

    def __init__(
        self, rng: np.random.Generator, clusters: tuple[int, ...], required: tuple[int, ...]
    ) -> None:
        """Draw one."""
        self.clusters, self.required, self.N = clusters, required, sum(clusters)
        self.mean: NDArray[np.float64] = rng.integers(0, 12, self.N).astype(float)
        self.taken = rng.integers(1, 4, self.N)
        self.lcb = self.mean - rng.integers(0, 3, self.N)
        self.ucb = self.mean + rng.integers(0, 3, self.N)

    def ours(self, order: NDArray[np.int64]) -> tuple[Ranking, Partition]:
        """Return what kernels take, the arms standing in an order."""
        s = new_ranking(self.N, len(self.clusters))
        s.order[:], s.arm_of[:] = order, np.arange(self.N)
        s.mean[:], s.taken[:] = self.mean[order], self.taken[order]
        s.lcb[:], s.ucb[:] = self.lcb[order], self.ucb[order]
        setting = Setting(
            sizes=np.array(self.clusters),
            required=np.array(self.required),
            cluster_of=np.zeros(self.N, np.int64),
            delta=0.1,
            skip_error=0.0,
            max_pulls=-1,
            key=np.zeros(2, np.uint64),
        )
        part = new_partition(setting)
        opened(part, setting.sizes)
        return s, part

    def theirs(self) -> naive._Run:
        """Return the twin's state."""
        run = naive._Run(
            lambda _: 0.0, self.N, self.clusters, self.required, list(range(self.N)), None
        )
        run.rounds = 9
        run.counts = self.taken.tolist()
        run.sums = (self.mean * self.taken).tolist()
        return run

    @property
    def bounds(self) -> tuple[dict[int, float], dict[int, float]]:
        """LCB and UCB."""
        return dict(enumerate(self.lcb.tolist())), dict(enumerate(self.ucb.tolist()))


def told(s: Ranking, part: Partition, supplied: int, picks: int) -> tuple[list[int], list[int]]:
    """Return who is to be pulled and who is named."""
    assert not s.chosen.any()
    named = part.outputs.tolist() if supplied else []
    marked = set(s.order[s.settled].tolist())
    assert marked == set(named) == set(np.flatnonzero(part.settled[0] == 9).tolist())
    return sorted(s.order[s.picks[:picks]].tolist()), named


def said(run: naive._Run, wanted: set[int]) -> tuple[list[int], list[int]]:
    """Return the same of the twin."""
    return sorted(wanted), [arm for output in run.outputs for arm in output]


def test_borders() -> None:
    """2,000 standings: picks and outputs are the twin's, ties and all; both ends are met with."""
    rng, ended = np.random.default_rng(1), 0
    for number in range(2_000):
        standing = Standing(rng, *CLASSIC[number % len(CLASSIC)])
        order = np.array(sorted(range(standing.N), key=lambda a: (-standing.mean[a], a)))
        s, part = standing.ours(order)
        mine = told(s, part, *judge_borders(s, part, standing.N, 9))
        run = standing.theirs()
        assert mine == said(run, naive._round_of_pairs(run, *standing.bounds))
        ended += bool(mine[1])
    assert 100 < ended < 1_900


def test_within() -> None:
    """2,000 standings, arms standing anyhow, lists sorted for another standing before."""
    rng, ended, three = np.random.default_rng(2), 0, 0
    for number in range(2_000):
        standing = Standing(rng, *M_OF_K[number % len(M_OF_K)])
        s, part = standing.ours(rng.permutation(standing.N))
        by = judge.Sorted(rng.permutation(standing.N), rng.permutation(standing.N))
        mine = told(s, part, *judge_within(s, by, part, standing.N, 9))
        run = standing.theirs()
        assert mine == said(run, naive._round_of_m_of_k(run, standing.clusters, *standing.bounds))
        ended += bool(mine[1])
        three += len(mine[0]) == 3
    assert 100 < ended < 1_900
    assert three > 100


def test_sorting_again() -> None:
    """Greatest first, ties to the smaller label, from any order; of no arms none."""
    rng = np.random.default_rng(3)
    for n in (1, 2, 5, 40):
        key, label = rng.integers(0, 4, n).astype(float), rng.permutation(n)
        by = rng.permutation(n)
        sort_again(by, key, label, n)
        assert by.tolist() == sorted(range(n), key=lambda x: (-key[x], label[x]))
        assert judge.new_sorted(n).by_lcb.tolist() == list(range(n))
