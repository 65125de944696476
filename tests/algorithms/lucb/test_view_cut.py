"""The cut of a level of LUCB's view into clusters, against a sort."""

import numpy as np
import pytest

from rai_sim.algorithms.lucb import view_cut
from rai_sim.algorithms.lucb.rule import new_ranking
from rai_sim.algorithms.lucb.view_guards import HOME, MEAN, allocate_view
from rai_sim.engine.jit import exposed


def test_a_cut_is_that_of_the_ranking() -> None:
    """2,000 sets of arms, many of equal means, in up to nine clusters, some of none: a cluster's
    arms are those that a sort gives it."""
    cut, rng = exposed(view_cut.cut), np.random.default_rng(7)
    for _ in range(2_000):
        m, n = int(rng.integers(1, 10)), int(rng.integers(0, 80))
        N = n + int(rng.integers(1, 9))
        v, s = allocate_view(N, m, 0), new_ranking(N, m)
        ends = np.sort(rng.integers(0, n + 1, m - 1))
        v.size[:], v.arms[:, HOME] = np.diff([0, *ends, n]), -1
        labels = rng.permutation(N)[:n]
        means = rng.integers(int(rng.choice([2, 10, 1_000])), size=n) / 7.0
        s.order[:n], s.mean[:n] = labels, means
        cut(v, s, n)
        ranked = labels[np.lexsort((labels, -means))]
        assert v.arms[ranked, HOME].tolist() == np.repeat(np.arange(m), v.size).tolist()


@pytest.mark.slow
def test_a_level_is_mended() -> None:
    """500 levels whose arms have moved and of which some are gone: each cluster has the arms that a
    sort gives it, with their numbers, and the level above hears who is gone."""
    mend, rng = exposed(view_cut.mend_cut), np.random.default_rng(8)
    for _ in range(500):
        m, N = int(rng.integers(1, 7)), int(rng.integers(1, 120))
        v, s = allocate_view(N, m, 0), new_ranking(N, m)
        n = int(rng.integers(1, N + 1))
        ends = np.array([*np.sort(rng.integers(0, n + 1, m - 1)), n])
        labels, above = rng.permutation(N)[:n], rng.permutation(N)[:n]
        means, qs = rng.integers(int(rng.choice([2, 10, 1_000])), size=n) / 7.0, rng.random(n)
        homes = np.repeat(np.arange(m), np.diff([0, *ends]))
        homes[rng.random(n) < float(rng.choice([0.0, 0.1]))] = -1
        v.lists[1, :n], v.means[1, :n], v.qs[1, :n], v.above[1, :n] = labels, means, qs, above
        v.homes[0], v.homes[1, :n], v.ends[1] = 5, homes, ends
        v.arms[labels, MEAN], v.arms[labels, HOME] = means, homes
        mend(v, s, 1, 0.5)
        left = np.flatnonzero(homes >= 0)
        left = left[np.lexsort((labels[left], -means[left]))]
        sizes = [int((homes == i).sum()) for i in range(m)]
        assert v.size.tolist() == sizes
        assert v.ends[1].tolist() == np.cumsum(sizes).tolist()
        assert set(np.flatnonzero(v.homes[0] == -1)) == set(above[homes < 0])
        for i, arms in enumerate(np.split(left, np.cumsum(sizes)[:-1])):
            here = slice(v.ends[1, i] - sizes[i], v.ends[1, i])
            found = (v.lists[1, here], v.means[1, here], v.qs[1, here], v.above[1, here])
            wanted = (labels[arms], means[arms], qs[arms], above[arms])
            assert sorted(zip(*found, strict=True)) == sorted(zip(*wanted, strict=True))
            if arms.size:
                assert (v.first[i], v.last[i]) == (labels[arms[0]], labels[arms[-1]])
                assert v.low[i] == (means[arms] - 0.5 * qs[arms]).min()
                assert v.high[i] == (means[arms] + 0.5 * qs[arms]).max()
