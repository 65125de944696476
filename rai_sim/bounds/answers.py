"""A problem's answers, as ranks: how many there are, all of them, and windows, arms of consecutive
ranks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rai_sim.problem import Problem

#: Where several clusters ask, so many answers are looked at one by one.
MOST_ANSWERS = 32


def number_of_answers(problem: Problem) -> int:
    """Return how many answers are right, or any number beyond MOST_ANSWERS."""
    number = 1
    for c, r in zip(problem.clusters, problem.required, strict=True):
        least = min(r, c - r)
        # a binomial coefficient is at least c if it is not 1
        number *= 1 if least == 0 else math.comb(c, least) if c <= MOST_ANSWERS else c
        if number > MOST_ANSWERS:
            break
    return number


def few_answers(problem: Problem) -> bool:
    """Whether all answers can be looked at one by one."""
    return number_of_answers(problem) <= MOST_ANSWERS


def all_answers(problem: Problem) -> list[NDArray[np.int64]]:
    """Return all answers, as ranks."""
    parts = [
        itertools.combinations(range(begin, begin + c), r)
        for begin, c, r in zip(
            problem._starts.tolist(), problem.clusters, problem.required, strict=True
        )
    ]
    return [np.array(sum(one, ()), np.int64) for one in itertools.product(*parts)]


def window(problem: Problem, starts: Sequence[int]) -> NDArray[np.int64]:
    """Return the ranks that are named where each cluster's window starts at a rank."""
    ranges = [np.arange(s, s + r) for s, r in zip(starts, problem.required, strict=True)]
    return np.concatenate(ranges).astype(np.int64)


def windows_of(problem: Problem) -> list[NDArray[np.int64]]:
    """Return the answers that suffice where one cluster alone asks: the first ones of the first
    cluster, the last ones of the last, any window of another, from the middle outwards."""
    choices = []
    for i, (c, r) in enumerate(zip(problem.clusters, problem.required, strict=True)):
        free, begin = (c - r if r else 0), int(problem._starts[i])
        if i == 0:
            offsets = [0]
        elif i == problem.n_clusters - 1:
            offsets = [free]
        else:
            offsets = sorted(range(free + 1), key=lambda o, free=free: abs(2 * o - free))  # type: ignore[misc]
        choices.append([begin + o for o in offsets])
    return [window(problem, starts) for starts in itertools.product(*choices)]


def alone(problem: Problem, i: int) -> Problem:
    """Return a problem where cluster i alone asks: D is no smaller."""
    required = [r if j == i else 0 for j, r in enumerate(problem.required)]
    return Problem(problem.arms, problem.clusters, required, strict=False)
