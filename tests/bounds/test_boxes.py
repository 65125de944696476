"""The search for the best answer: against enumeration, with budgets, and with bounds that are
wrong."""

from __future__ import annotations

import itertools
from collections import OrderedDict

import numpy as np
import pytest
from answers import BOTH, NO_WINDOW, board_of, draw
from games import answers

import rai_sim as rai
from rai_sim.bounds import answers as all_of
from rai_sim.bounds import asymptotic, degenne_koolen, search
from rai_sim.bounds.boxes import Shape
from rai_sim.bounds.game import solve
from rai_sim.bounds.policies import Relaxed
from rai_sim.bounds.tight_bound import Family, TightBound
from rai_sim.problem import Problem


def by_enumeration(problem: Problem, family: Family) -> float:
    """Return 1/D with the best of all answers."""
    board, unit = board_of(problem, family)
    choices = answers(problem.clusters, problem.required)
    return 1.0 / max(solve(board, np.array(named)).low for named in choices) / unit / unit


def searched(problem: Problem, family: Family = "gaussian", budget: float = 1000.0) -> TightBound:
    """Return the bound by branch and bound, however few answers there are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(all_of, "MOST_ANSWERS", 0)
        patch.setattr(search, "BOXES_AN_ARM", budget)
        patch.setattr(asymptotic, "_known", OrderedDict())
        return degenne_koolen(problem, family)


@pytest.mark.landing
@pytest.mark.parametrize("instances", [12, pytest.param(400, marks=pytest.mark.slow)])
def test_the_search_finds_what_enumeration_does(instances: int) -> None:
    """Within 1e-6, and knows it."""
    rng = np.random.default_rng(instances + 3)
    for turn in range(instances):
        problem, family = draw(rng), BOTH[turn % 2]
        found = searched(problem, family)
        assert found.complete
        assert found.value == pytest.approx(by_enumeration(problem, family), rel=1e-6)


def test_the_answer_need_not_be_a_window() -> None:
    """The windows are 0.04 % worse, and are where the search begins."""
    assert searched(NO_WINDOW).answer == ((0, 2), (4, 5, 6))
    assert searched(NO_WINDOW, budget=0.0).answer != ((0, 2), (4, 5, 6))


def test_bounds_that_are_too_low_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """With bounds that are too low the search misses the best answer and calls what it found the
    best, as comparison with enumeration tells."""
    truth, fair = by_enumeration(NO_WINDOW, "gaussian"), Relaxed.solve
    assert searched(NO_WINDOW).value == pytest.approx(truth, rel=1e-6)

    def eager(self: Relaxed, *arguments: object) -> float:
        return 0.8 * fair(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Relaxed, "solve", eager)
    found = searched(NO_WINDOW)
    assert found.complete
    assert found.value > truth * 1.0003


@pytest.mark.landing
def test_a_budget_that_is_too_small_is_told() -> None:
    """Whatever the budget, 1/D is between the value and what the gap says; more is no worse; with
    enough the search ends."""
    for problem in (NO_WINDOW, draw(np.random.default_rng(8)), draw(np.random.default_rng(9))):
        truth, before = by_enumeration(problem, "gaussian"), np.inf
        for budget in (0.0, 0.2, 1.0, 4.0, 1000.0):
            found = searched(problem, budget=budget)
            assert found.value <= truth * (1.0 + 1e-8)
            assert found.value * (1.0 + found.gap) >= truth * (1.0 - 1e-8)
            assert found.gap <= before * (1.0 + 1e-9) + 1e-8
            before = found.gap
        assert found.complete


def test_results_do_not_hang_on_what_was_asked_before() -> None:
    """Bit by bit."""
    one, other = searched(NO_WINDOW), searched(NO_WINDOW)
    assert one is not other
    assert (one.value, one.gap, one.answer) == (other.value, other.gap, other.answer)
    assert one.weights.tolist() == other.weights.tolist()


def test_boxes_lose_no_answer() -> None:
    """Of answers that name the first ones of equal arms, a clipped box holds those that it held
    before, and none is outside of the first box; one that is told to be empty is."""
    rng = np.random.default_rng(6)
    empty = 0
    for _ in range(60):
        problem = draw(rng, 8)
        means = np.sort(problem.arms.means)[::-1].round(1)
        shape = Shape(means, problem.clusters, problem.required)
        cluster = np.repeat(np.arange(problem.n_clusters), problem.clusters)

        def first(
            named: list[int], means: np.ndarray = means, cluster: np.ndarray = cluster
        ) -> bool:
            return not any(
                k > 0
                and means[k] == means[k - 1]
                and cluster[k] == cluster[k - 1]
                and k - 1 not in named
                for k in named
            )

        kept = np.array([t for t in answers(problem.clusters, problem.required) if first(t)])
        whole = shape.all()
        assert ((kept >= whole.low) & (kept <= whole.high)).all()
        ends = np.sort(rng.integers(whole.low, whole.high + 1, (2, len(whole.low))), axis=0)
        inside = kept[((kept >= ends[0]) & (kept <= ends[1])).all(axis=1)]
        box = shape.clipped(ends[0], ends[1], 1.0, None)
        if box is None:
            empty += 1
            assert len(inside) == 0
        else:
            assert ((inside >= box.low) & (inside <= box.high)).all()
            t = shape.answer(rng.integers(0, len(means), len(box.low)), box)
            assert ((box.low <= t) & (t <= box.high)).all()
            assert len(set(t.tolist())) == len(t)
    assert empty > 0


#: Clusters, what they ask for, and how many answers that makes.
LARGE = {
    "two halves": ((10, 10), (5, 5), 63_504),
    "four clusters": ((5, 5, 5, 5), (2, 2, 2, 2), 10_000),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_many_answers(name: str) -> None:
    """The value is known, no window beside the answer is better, and no smaller question costs
    more."""
    sizes, asked, number = LARGE[name]
    assert len(list(itertools.islice(answers(sizes, asked), number + 1))) == number
    problem = Problem(rai.Gaussian(np.linspace(0.95, 0.05, 20)), sizes, asked)
    whole = degenne_koolen(problem)
    assert whole.complete
    for i, r in enumerate(asked):
        fewer = [*asked[:i], r - 1, *asked[i + 1 :]]
        less = degenne_koolen(Problem(problem.arms, sizes, fewer))
        assert less.complete
        assert less.value < whole.value


@pytest.mark.slow
def test_fifty_arms() -> None:
    """Five clusters of ten, 100,000 answers, and three of 184 million: in seconds."""
    means = np.sort(np.random.default_rng(1).uniform(0.05, 0.95, 50))[::-1]
    for asked in ((1,) * 5, (3, 0, 3, 0, 3)):
        assert degenne_koolen(Problem(rai.Gaussian(means), (10,) * 5, asked)).complete
