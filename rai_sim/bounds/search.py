"""The search for the answer that is the cheapest to prove right, among those that have to be looked
at (`rai_sim.bounds.degenne_koolen` says which, and why)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rai_sim.bounds.answers import all_answers, alone, few_answers, window, windows_of
from rai_sim.bounds.game import Board, Solution, solve
from rai_sim.bounds.tight_bound import PRECISE
from rai_sim.problem import Problem

#: Where there are more answers than a few, so many boxes of them for every arm (see
#: `rai_sim.bounds.boxes`), and none of more columns, as a game of theirs takes minutes.
BOXES_AN_ARM, MOST_COLUMNS = 20, 600
#: Answers whose mixtures are tried on others, to pass these over.
_TRIED = 4


class Search:
    """The best answer so far."""

    def __init__(self, board: Board) -> None:
        """Begin with none."""
        self.board, self.named = board, np.zeros(0, np.int64)
        self._best: Solution | None = None
        self._tried: list[Solution] = []

    @property
    def best(self) -> Solution:
        """Its game."""
        assert self._best is not None
        return self._best

    def look_at(self, named: NDArray[np.int64]) -> float:
        """Look at an answer; return an upper bound of its D."""
        least = 0.0 if self._best is None else self._best.low
        bound = min((one.bound_for(named) for one in self._tried), default=math.inf)
        if bound < least:
            return bound
        found = solve(self.board, named, least)
        self._tried = [*self._tried[1 - _TRIED :], found]
        if self._best is None or found.low > least:
            self._best, self.named = found, named
        return min(bound, found.high)

    def all_of(self, answers: Sequence[NDArray[np.int64]], enough: float = math.inf) -> float:
        """Look at answers, until a bound is `enough` or more; return an upper bound of the largest
        D, or one that is enough."""
        high = 0.0
        for named in answers:
            high = max(high, self.look_at(named))
            if high >= enough:
                break
        return high

    def around(self, problem: Problem) -> None:
        """Look at windows that lie one rank beside those of the best answer in one cluster, until
        none is better."""
        starts = [
            range(begin, begin + (c - r if r else 0) + 1)
            for begin, c, r in zip(
                problem._starts.tolist(), problem.clusters, problem.required, strict=True
            )
        ]
        last = len(starts) - 1
        centre = [
            one[0 if i == 0 else -1 if i == last else len(one) // 2] for i, one in enumerate(starts)
        ]
        self.look_at(window(problem, centre))
        seen, better = {tuple(centre)}, True
        while better:
            better = False
            for i, step in itertools.product(range(len(starts)), (-1, 1)):
                beside = [*centre[:i], centre[i] + step, *centre[i + 1 :]]
                if beside[i] in starts[i] and tuple(beside) not in seen:
                    seen.add(tuple(beside))
                    before = self.best
                    self.look_at(window(problem, beside))
                    if self.best is not before:
                        centre, better = beside, True
                        break


def look_at_answers(problem: Problem, search: Search) -> float:
    """Look at as many answers of a problem as it takes; return an upper bound of D."""
    asking = [i for i, r in enumerate(problem.required) if r]
    if len(asking) == 1:
        return search.all_of(windows_of(problem))
    if few_answers(problem):
        return search.all_of(all_answers(problem))
    return _many_answers(problem, search, asking)


def _many_answers(problem: Problem, search: Search, asking: Sequence[int]) -> float:
    """Search answers that several clusters ask for, from windows on; return an upper bound of D: if
    the search was given up, no more than what one of the clusters costs alone."""
    from rai_sim.bounds import boxes
    from rai_sim.bounds.policies import size

    search.around(problem)
    shape = boxes.Shape(search.board.means, problem.clusters, problem.required)
    whole, high = shape.all(), math.inf
    if size(whole.low, whole.high, problem.n_arms) <= MOST_COLUMNS:
        high = boxes.search(search.board, shape, search, BOXES_AN_ARM * problem.n_arms)
        if high <= search.best.low * (1.0 + PRECISE):
            return high
    for i in sorted(asking, key=lambda i: alone(problem, i).bottleneck_gap):  # hardest first
        high = min(high, Search(search.board).all_of(windows_of(alone(problem, i)), high))
    return high
