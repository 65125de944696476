"""Right answers as ranks: their number, all of them, and windows."""

from __future__ import annotations

import games
import numpy as np
import pytest
from answers import NO_WINDOW, draw

import rai_sim as rai
from rai_sim.bounds import answers
from rai_sim.bounds.answers import (
    MOST_ANSWERS,
    all_answers,
    alone,
    few_answers,
    number_of_answers,
    window,
    windows_of,
)
from rai_sim.problem import Problem


def test_all_answers_are_there_once() -> None:
    """Those that a loop over all choices finds, as many as are counted."""
    rng, numbers = np.random.default_rng(1), set()
    for _ in range(100):
        problem = draw(rng)
        found = [tuple(named.tolist()) for named in all_answers(problem)]
        wanted = games.answers(list(problem.clusters), list(problem.required))
        assert sorted(found) == sorted(tuple(named) for named in wanted)
        numbers.add(number_of_answers(problem))
        assert few_answers(problem) == (len(found) <= MOST_ANSWERS)
        if few_answers(problem):
            assert number_of_answers(problem) == len(found)
    assert len(numbers) > 5


def test_very_many_answers_are_not_counted() -> None:
    """It is enough that there are many; how many count as few is one constant."""
    arms = rai.Bernoulli(np.linspace(0.9, 0.1, 4_000))
    problem = Problem(arms, (2_000, 2_000), (1_000, 3))
    assert MOST_ANSWERS < number_of_answers(problem) < 10_000
    assert not few_answers(problem)
    assert number_of_answers(Problem(arms, (2_000, 2_000), (2_000, 0))) == 1
    assert few_answers(NO_WINDOW)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(answers, "MOST_ANSWERS", 11)
        assert not few_answers(NO_WINDOW)  # there are 12


def test_windows() -> None:
    """The first ones of the first cluster, the last of the last; of another all, those in its middle
    first."""
    problem = Problem(rai.Bernoulli(np.linspace(0.9, 0.1, 9)), (2, 4, 3), (1, 2, 2))
    found = [named.tolist() for named in windows_of(problem)]
    assert found == [[0, 3, 4, 7, 8], [0, 2, 3, 7, 8], [0, 4, 5, 7, 8]]
    assert window(problem, [1, 2, 6]).tolist() == [1, 2, 3, 6, 7]
    assert [named.tolist() for named in windows_of(alone(problem, 0))] == [[0]]
    assert alone(problem, 1).required == (0, 2, 0)
