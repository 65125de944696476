"""The best answer, and what it costs to make it wrong.

It names in every cluster the arms that cost most to make wrong, of arms that cost the same those of
better rank (`rai_sim.engine.best_response`, Gaussian arms of standard deviation 1/2, whatever the
law). There are two of them: at the pulls made, of which GK16 asks how much it costs; and the
*leader*, at equally many pulls of every arm, for which pulls are made. Without the latter an arm
that was unlucky at first is pulled no more, and another one, that is harder to tell from those of
other clusters, is named late.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.stopping.run import ROUND, Run, settle
from rai_sim.engine.best_response import GAUSSIAN, find_cheapest_moves
from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.recommendations import note_arm, recommend


@kernel
def find_moves(run: Run, counts: NDArray[np.float64]) -> None:
    """Find the cheapest move of every arm that may be named, at numbers of pulls by rank."""
    answer = run.answer
    find_cheapest_moves(
        GAUSSIAN,
        counts,
        run.mean,
        answer.asked,
        answer.others,
        np.inf,
        answer.moves,
        answer.scratch,
        answer.ends,
    )


@inlined
def find_leader(run: Run) -> None:
    """Choose the leader."""
    if run.answer.several:
        find_moves(run, run.answer.even)
        choose(run, run.answer.leads)


@inlined
def challenger(run: Run) -> int:
    """Return the row of the cheapest move that makes the leader wrong."""
    values, leads, row = run.answer.moves.values, run.answer.leads, -1
    for j in range(leads.size):
        if leads[j] and (row < 0 or values[j] < values[row]):
            row = j
    return row


@kernel
def choose(run: Run, chosen: NDArray[np.bool_]) -> float:
    """Choose in every cluster the arms whose moves cost most; return the least of these costs."""
    values, sizes, required = run.answer.moves.values, run.setting.sizes, run.setting.required
    least, first = np.inf, 0
    for j in range(chosen.size):
        chosen[j] = False
    for i in range(sizes.size):
        if required[i] > 0:
            for _ in range(required[i]):
                best = -1
                for j in range(first, first + sizes[i]):
                    if not chosen[j] and (best < 0 or values[j] > values[best]):
                        best = j
                chosen[best] = True
                least = min(least, values[best])
            first += sizes[i]
    return least


@kernel
def give_chosen(run: Run) -> None:
    """Name the chosen arms."""
    answer, sizes, first = run.answer, run.setting.sizes, 0
    for i in range(sizes.size):
        if run.setting.required[i] > 0:
            for j in range(first, first + sizes[i]):
                if answer.chosen[j]:
                    settle(run, i, run.order[answer.asked[j]])
            first += sizes[i]


@kernel
def recommend_leader(run: Run) -> None:
    """Recommend the leader of the round that was judged; before round 1, when nothing is known, what
    the opening permutation says."""
    answer, part, budgets, sizes = run.answer, run.part, run.budgets, run.setting.sizes
    if run.clock[ROUND] == 0:
        for label in range(run.arm_of.size):
            note_arm(budgets, label, label, 0.0)
        recommend(budgets, part, part.open_sizes, run.arm_of, run.arm_of.size)
        return
    row, first, at = budgets.passed[0], 0, 0
    for i in range(sizes.size):
        if part.required[i] > 0:
            for j in range(first, first + sizes[i]):
                if answer.leads[j]:
                    budgets.named[row, at] = run.arm_of[run.order[answer.asked[j]]]
                    at += 1
            first += sizes[i]
    budgets.passed[0] += 1
