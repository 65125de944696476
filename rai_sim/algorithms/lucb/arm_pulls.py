"""Pulls of each arm, where they are kept: an arm that is settled leaves the ranking, so they are
noted whenever arms are, and at a replication's end."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.lucb.rule import Ranking
from rai_sim.algorithms.lucb.run import COLD, PULLS, RANKED, Run
from rai_sim.algorithms.lucb.view import NoView
from rai_sim.algorithms.lucb.view_guards import HOME, TAKEN, View
from rai_sim.engine.blocks import Block
from rai_sim.engine.jit import for_type, inlined, kernel


@inlined
def keeps_arm_pulls(run: Run) -> bool:
    """Whether they are kept."""
    return run.arm_pulls.size > 0


@kernel
def note_ranked(run: Run, n: int) -> None:
    """Note the pulls of the ranking's first n arms."""
    s = run.ranking
    for x in range(n):
        run.arm_pulls[s.arm_of[s.order[x]]] = int(s.taken[x])


def _none_cold(v: NoView, s: Ranking, arm_pulls: NDArray[np.int64]) -> None:
    pass


@for_type(View, _none_cold)
def _note_cold(v: Any, s: Ranking, arm_pulls: NDArray[np.int64]) -> None:
    """Note the pulls that active arms have as the view knows them: the ranking has those of arms
    that are not cold."""
    for a in range(v.arms.shape[0]):
        if v.arms[a, HOME] >= 0:
            arm_pulls[s.arm_of[a]] = int(v.arms[a, TAKEN])


@kernel
def record_arm_pulls(run: Run, block: Block, b: int) -> None:
    """Write the pulls of each arm into row b, if they are kept."""
    if not keeps_arm_pulls(run):
        return
    if run.clock[PULLS] == 0:  # the cap does not pay for one pull of each arm: there is no ranking
        for arm in range(run.arm_pulls.size):
            block.arm_pulls[b, arm] = 0
        return
    if run.clock[COLD] > 0:
        _note_cold(run.views, run.ranking, run.arm_pulls)
    note_ranked(run, run.clock[RANKED])
    for arm in range(run.arm_pulls.size):
        block.arm_pulls[b, arm] = run.arm_pulls[arm]
