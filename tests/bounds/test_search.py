"""The search for the answer that is the cheapest to prove right: which ones are looked at, and what
is known where not all of them are."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import pytest
from answers import NO_WINDOW, board_of

import rai_sim as rai
from rai_sim.bounds import answers as all_of
from rai_sim.bounds import asymptotic, degenne_koolen, search
from rai_sim.bounds.answers import all_answers, windows_of
from rai_sim.bounds.game import solve
from rai_sim.bounds.search import Search, look_at_answers
from rai_sim.problem import Problem


def test_the_best_answer_is_kept() -> None:
    """Whatever the order in which answers are looked at; what is told of each bounds its D, and of
    those passed over no more than the best one's."""
    board, _ = board_of(NO_WINDOW, "gaussian")
    answers = all_answers(NO_WINDOW)
    exact = [solve(board, named).low for named in answers]
    for order in (range(12), range(11, -1, -1)):
        found, best = Search(board), -1
        for number in order:
            high = found.look_at(answers[number])
            assert high >= exact[number] * (1.0 - 1e-9)
            best = number if best < 0 or exact[number] > exact[best] else best
            assert found.best.low == pytest.approx(exact[best], rel=1e-8)
        assert found.named.tolist() == [0, 2, 4, 5, 6]


def test_enough_is_enough() -> None:
    """Answers are looked at until one may be as good as asked for."""
    board, _ = board_of(NO_WINDOW, "gaussian")
    found = Search(board)
    high = found.all_of(windows_of(NO_WINDOW), enough=0.0)
    assert high >= found.best.low > 0.0
    assert found.named.tolist() == windows_of(NO_WINDOW)[0].tolist()
    assert found.all_of([], enough=0.0) == 0.0


def test_windows_are_walked_to_the_best_one() -> None:
    """Step by step, from the middle: of a middle cluster the arms that are farthest from those of
    both others, wherever they lie."""
    means = np.array([0.9, *np.linspace(0.7, 0.3, 9), 0.2])
    problem = Problem(rai.Bernoulli(means), (1, 9, 1), (0, 2, 0))
    board, _ = board_of(problem, "gaussian")
    walked, all_windows = Search(board), Search(board)
    walked.around(problem)
    look_at_answers(problem, all_windows)  # one cluster asks: windows are all it takes
    assert walked.named.tolist() == all_windows.named.tolist()
    assert walked.named.tolist() != [5, 6]  # where the walk began
    assert walked.best.low == pytest.approx(all_windows.best.low, rel=1e-9)


def test_with_too_many_answers_the_bound_is_a_proof_and_the_gap_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a budget of one answer, and of no box: what each cluster's question costs alone bounds both, the answer
    of windows found is as good as they come, and the truth lies between."""
    problems = [
        NO_WINDOW,
        Problem(rai.Bernoulli([0.95, 0.9, 0.8, 0.5, 0.48, 0.4, 0.35, 0.3]), (2, 5, 1), (1, 2, 1)),
    ]
    for problem in problems:
        whole = degenne_koolen(problem)
        with monkeypatch.context() as patch:
            patch.setattr(all_of, "MOST_ANSWERS", 1)
            patch.setattr(search, "BOXES_AN_ARM", 0)
            patch.setattr(asymptotic, "_known", OrderedDict())
            found = degenne_koolen(problem)
        assert whole.complete
        assert not found.complete
        assert found.value <= whole.value * (1.0 + 1e-7)
        assert found.value * (1.0 + found.gap) >= whole.value * (1.0 - 1e-7)
        assert found.value * (1.0 + found.gap) <= whole.value * 1.001
        alone = [
            degenne_koolen(
                Problem(
                    problem.arms,
                    problem.clusters,
                    [r if i == j else 0 for j, r in enumerate(problem.required)],
                )
            ).value
            for i, r in enumerate(problem.required)
            if r
        ]
        assert found.value == pytest.approx(max(alone), rel=1e-7)
