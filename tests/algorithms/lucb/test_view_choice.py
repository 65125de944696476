"""Which arms of a level of LUCB's view are chosen, against a sort of each cluster in each way."""

import numpy as np
import pytest
from numpy.typing import NDArray

from rai_sim.algorithms.lucb import view_choice
from rai_sim.algorithms.lucb.view_guards import DEPTH, View, allocate_view
from rai_sim.engine.jit import exposed
from rai_sim.engine.partition import Partition

C = 0.7
#: As the module has them: for the least LCB or greatest UCB; for small gaps; next to a border.
ROLE, GAP, QUIET, BORDER = 40, 6, 2, 3


def drawn(rng: np.random.Generator, sizes: list[int]) -> View:
    """Return a view whose first list has ranked arms of distinct numbers."""
    m, N = len(sizes), sum(sizes)
    v = allocate_view(2 * N, m, 0)  # twice as many are noted as are chosen
    v.lists[0, :N], v.means[0, :N] = rng.permutation(N), -np.sort(-rng.random(N))
    v.qs[0, :N], v.homes[0, :N] = rng.random(N), np.repeat(np.arange(m), sizes)
    v.ends[0] = np.cumsum(sizes)
    v.size[:], v.state[DEPTH] = sizes, 1
    v.L[:], v.U[:] = rng.random(m), rng.random(m)
    return v


def most_extreme(v: View, wanted: list[bool]) -> NDArray[np.bool_]:
    """Mark, by sorting, the arms that are among the most extreme in some way."""
    m, start = len(wanted), 0
    marked = np.zeros(v.hot.size, np.bool_)
    for i in range(m):
        stop = start + int(v.size[i])
        lcb, ucb = (v.means[0, start:stop] + sign * C * v.qs[0, start:stop] for sign in (-1, 1))
        means, by_L = v.means[0, start:stop], ucb - v.L[i] >= v.U[i] - lcb
        gap, never = GAP if wanted[i] else QUIET, np.full(stop - start, -np.inf)
        before, behind = bool(v.size[:i].sum()), bool(v.size[i + 1 :].sum())
        for keys, keep in (
            (-lcb, ROLE * behind),
            (ucb, ROLE * before),
            (np.where(by_L, -ucb, never), gap),
            (np.where(by_L, never, lcb), gap),
            (means, BORDER * before),
            (-means, BORDER * behind),
        ):
            best = np.argsort(-keys)[:keep]
            marked[start + best[keys[best] > -np.inf]] = True
        start = stop
    return marked


def partition(sizes: list[int], wanted: list[bool]) -> Partition:
    """Return clusters that want an arm, or have all that they are asked for."""
    m = len(sizes)
    return Partition(
        open_sizes=np.array(sizes, np.int64),
        found=np.zeros(m, np.int64),
        required=np.array(wanted, np.int64),
        offset=np.zeros(m, np.int64),
        outputs=np.empty(m, np.int32),
        settled=np.zeros((2, sum(sizes)), np.int64),
    )


@pytest.mark.slow
def test_the_most_extreme_are_chosen() -> None:
    """300 levels in up to five clusters, some of them empty, none so large that it is guessed from a
    sample how extreme is enough: those that a sort finds, and no other."""
    choose, rng = exposed(view_choice.choose), np.random.default_rng(3)
    for _ in range(300):
        m = int(rng.integers(1, 6))
        sizes = [int(size) for size in rng.choice([0, 1, 5, 30, 33], m)]
        sizes[int(rng.integers(m))] += 7  # somebody is there
        wanted = [bool(one) for one in rng.random(m) < 0.5]
        v = drawn(rng, sizes)
        choose(v, partition(sizes, wanted), 0, C)
        assert v.hot.tolist() == most_extreme(v, wanted).tolist()


@pytest.mark.slow
def test_guesses_choose_about_as_many() -> None:
    """Of 600 arms 40 are asked for in each of two ways: thresholds from a sample give each from 13
    to 160 of them, and always the most extreme."""
    choose, rng = exposed(view_choice.choose), np.random.default_rng(4)
    for _ in range(100):
        v = drawn(rng, [600, 600])
        choose(v, partition([600, 600], [True, True]), 0, C)
        for start, sign in ((0, -1), (600, 1)):
            keys = sign * v.means[0, start : start + 600] + C * v.qs[0, start : start + 600]
            hot = v.hot[start : start + 600]
            assert hot[np.argmax(keys)]
            assert 13 <= hot.sum() <= 160


@pytest.mark.slow
def test_nobody_is_chosen_of_nobody() -> None:
    """Empty clusters alone: no arm is marked."""
    v = drawn(np.random.default_rng(5), [0, 3])
    v.size[1] = 0
    exposed(view_choice.choose)(v, partition([0, 0], [True, True]), 0, C)
    assert not v.hot.any()
