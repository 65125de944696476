"""Shares in a kernel, against the tight bound's and in plain Python."""

from __future__ import annotations

import games
import numpy as np
import pytest
from numpy.typing import NDArray

import rai_sim as rai
from rai_sim.algorithms.stopping.run import new_answer
from rai_sim.algorithms.track_and_stop.shares import ENOUGH, Game, find_shares, new_game
from rai_sim.engine.jit import exposed
from rai_sim.engine.stop import new_flag


def game_of(clusters: list[int], named: list[int]) -> Game:
    """Return a game of an answer, to begin with at even shares."""
    sizes = np.array(clusters)
    answer = new_answer(sizes, sizes)
    game = new_game(int(sizes.sum()), len(named))
    game.named[:], game.others[:] = named, answer.others[named]
    game.shares[:] = 1.0 / sizes.sum()
    return game


def solved(game: Game, means: list[float] | NDArray[np.float64], stop: int = 0) -> float:
    """Find the shares; return the gap that is told."""
    flag = new_flag()
    flag[0] = stop
    return exposed(find_shares)(game, np.array(means, np.float64), flag)


def value(clusters: list[int], named: list[int], w: list[float], means: list[float]) -> float:
    """Return what the cheapest alternative costs, in plain Python."""
    return min(
        games.cost(games.gaussian, w, means, move) for move in games.alternatives(clusters, named)
    )


@pytest.mark.landing
@pytest.mark.parametrize("task", [1, 2, 3, 4, 5])
def test_shares_of_the_tables(task: int) -> None:
    """Guarantee all but a hundredth of the value that the tight bound has."""
    problem = rai.table_problem(task=task)
    bound = rai.bounds.degenne_koolen(problem)
    order = np.argsort(-problem.arms.means, kind="stable")
    rank = np.argsort(order)
    named = sorted(int(rank[arm]) for arms in bound.answer for arm in arms)
    means = problem.arms.means[order].tolist()
    game = game_of(list(problem.clusters), named)
    gap = solved(game, means)
    assert 0.0 <= gap <= ENOUGH
    assert game.shares.sum() == pytest.approx(1.0)
    found = value(list(problem.clusters), named, game.shares.tolist(), means)
    assert (1.0 - ENOUGH) / bound.value < found < 1.000001 / bound.value


@pytest.mark.slow
def test_random_answers() -> None:
    """The gap told is one: no shares of 60 others are better by more. 25 games of up to seven
    arms, warm starts from others' shares among them."""
    rng = np.random.default_rng(2)
    for _ in range(25):
        n = int(rng.integers(2, 8))
        cut = np.flatnonzero(rng.random(n - 1) < 0.5) + 1
        if not len(cut):
            cut = np.array([1])
        clusters = np.diff([0, *cut, n]).tolist()
        named = sorted(rng.choice(n, int(rng.integers(1, n + 1)), replace=False).tolist())
        scale = 10.0 ** rng.uniform(-8.0, 0.0)
        means = (scale * np.sort(rng.random(n))[::-1]).tolist()
        game = game_of(clusters, named)
        game.shares[:] = rng.dirichlet(np.full(n, 0.3)) if rng.random() < 0.5 else 1.0 / n
        gap = solved(game, means)
        assert gap <= ENOUGH
        found = value(clusters, named, game.shares.tolist(), means)
        near = [0.9 * game.shares + 0.1 * rng.dirichlet(np.full(n, 0.5)) for _ in range(40)]
        others = [*near, *rng.dirichlet(np.ones(n), 20)]
        best = max(value(clusters, named, w.tolist(), means) for w in others)
        assert found >= (1.0 - gap) * best * (1.0 - 1e-9)


@pytest.mark.landing
def test_many_arms() -> None:
    """The best 30 of 60, of which each may fall behind any of the others."""
    means = np.linspace(0.9, 0.1, 60)
    game = game_of([30, 30], list(range(30)))
    assert solved(game, means) <= ENOUGH
    assert game.shares[25:35].sum() > 0.6


@pytest.mark.landing
def test_arms_that_are_tied_at_a_border() -> None:
    """Nothing is to be won: shares are even."""
    game = game_of([1, 2], [0])
    game.shares[:] = [0.7, 0.2, 0.1]
    assert solved(game, [0.5, 0.5, 0.2]) == 1.0
    assert game.shares.tolist() == pytest.approx([1 / 3] * 3)


@pytest.mark.landing
def test_a_raised_flag_ends_the_search() -> None:
    """With shares that are no good, but shares."""
    game = game_of([2, 3, 3], [0, 3])
    assert solved(game, np.linspace(0.9, 0.2, 8), stop=1) > ENOUGH
    assert game.shares.sum() == pytest.approx(1.0)
