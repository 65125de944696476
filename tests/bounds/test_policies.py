"""Bounds of boxes of answers: above the D of every answer in them, and close to it."""

from __future__ import annotations

import numpy as np
import pytest
from answers import BOTH, board_of, draw
from games import answers

import rai_sim as rai
from rai_sim.bounds.game import Board, solve
from rai_sim.bounds.policies import Columns, Grid, Relaxed, size
from rai_sim.problem import Problem


@pytest.mark.parametrize("instances", [12, pytest.param(200, marks=pytest.mark.slow)])
def test_a_box_is_bounded(instances: int) -> None:
    """No answer in a box has a larger D than the bound, and a box of one answer is bounded by its
    D, or nearly so; with a set of one arm too few a bound is below some answer's D."""
    rng = np.random.default_rng(instances + 4)
    caught = 0
    for turn in range(instances):
        problem, family = draw(rng), BOTH[turn % 2]
        board, _ = board_of(problem, family)
        choices = np.array(answers(problem.clusters, problem.required))
        some = choices[rng.choice(len(choices), min(len(choices), 3))]
        low, high = some.min(axis=0), some.max(axis=0)
        inside = choices[((choices >= low) & (choices <= high)).all(axis=1)]
        truth = [solve(board, named).low for named in inside]
        game = Relaxed(board, Grid.of(board), low, high)
        assert game.solve(None, 0.0) >= max(truth) * (1.0 - 1e-9)
        for named, exact in zip(inside, truth, strict=True):
            assert game.bound_for(named, named) >= exact * (1.0 - 1e-9)
            alone = Relaxed(board, Grid.of(board), named, named).solve(None, 0.999 * exact)
            assert exact * (1.0 - 1e-9) <= alone <= exact * 1.01
        few = Board(board.family, board.means, np.maximum(board.others - 1, 0))
        caught += Relaxed(few, Grid.of(board), low, high).solve(None, 0.0) < max(truth) * 0.999
    assert caught > instances // 2


def test_columns() -> None:
    """Arms that are not named, but those that always are, and what every name may be."""
    low, high = np.array([0, 2]), np.array([0, 3])
    names, ranks = Columns.of(low, high, 5)
    assert names.tolist() == [-1, -1, -1, -1, 0, 1, 1]
    assert ranks.tolist() == [1, 2, 3, 4, 0, 2, 3]
    assert size(low, high, 5) == 7


def test_policies_that_are_handed_on_prove_no_less() -> None:
    """A half that begins with the policies of the whole is not bounded worse than they bound it."""
    problem = Problem(rai.Gaussian(np.linspace(0.9, 0.1, 12)), (4, 4, 4), (2, 2, 2))
    board, _ = board_of(problem, "gaussian")
    low, high = np.array([0, 1, 4, 5, 8, 9]), np.array([2, 3, 6, 7, 10, 11])
    game = Relaxed(board, Grid.of(board), low, high)
    whole = game.solve(None, 0.0)
    assert game.bound_for(low, high) == whole
    half = np.array([0, 1, 6, 7, 10, 11])
    inside = game.bound_for(low, half)
    assert inside <= whole
    after = Relaxed(board, Grid.of(board), low, half).solve(game.rows(), 0.0)
    assert after <= inside * 1.001


def test_what_cannot_be_told_apart_costs_nothing() -> None:
    """Means so close that squares of their differences are 0."""
    board = Board(0, np.array([2e-200, 1e-200, 0.0]), np.array([[1, 0], [0, 2], [0, 2]]))
    game = Relaxed(board, Grid.of(board), np.array([0]), np.array([0]))
    assert game.solve(None, 0.0) == 0.0
