"""A replication of `TopTwo`: judge, choose an arm, pull it."""

from __future__ import annotations

import math

import numpy as np

from rai_sim.algorithms.stopping.answers import challenger
from rai_sim.algorithms.stopping.replication import begin, end, goes_on, judge, pull, within_caps
from rai_sim.algorithms.stopping.run import PAIRS, PULLS, Run
from rai_sim.engine.best_response import GAUSSIAN, divergence
from rai_sim.engine.blocks import Block
from rai_sim.engine.jit import driver, inlined, kernel
from rai_sim.engine.references import by_reference
from rai_sim.engine.streams import State, uniform

#: Forced exploration: of t pulls every arm has so many times sqrt(t / N).
_EXPLORED = 1.5


@driver
def run_block(given: Run, first: int, block: Block) -> None:
    """Run len(block.pulls) replications, indices from `first` on."""
    run = by_reference(given)
    for b in range(block.pulls.size):
        state = begin(run, first + b)
        if not end(run, block, b, _run_one(run, state)):
            return


@kernel
def _run_one(run: Run, state: State) -> bool:
    """Run one replication; return whether it finished."""
    n = run.arm_of.size
    if not within_caps(run, np.float64(n)):
        return False
    for label in range(n):
        state = pull(run, label, 1, state)
    label = -1
    while goes_on(run):
        if judge(run, label):
            return True
        if not within_caps(run, 1.0):
            return False
        label, state = _choose(run, state)
        state = pull(run, label, 1, state)
    return False


@inlined
def _choose(run: Run, state: State) -> tuple[int, State]:
    """Return the label of the arm to pull."""
    label = _least_pulled(run)
    wanted = _EXPLORED * math.sqrt(run.clock[PULLS] / run.arm_of.size)
    if run.taken[label] < wanted:
        return label, state
    row = challenger(run)
    if not run.answer.moves.values[row] > 0.0:
        return _least_pulled_at(run, run.mean[run.answer.moves.arms[row]]), state
    return _informed(run, row, state)


@inlined
def _least_pulled(run: Run) -> int:
    """Return the label of the least pulled arm, the smallest one of several."""
    least = 0
    for label in range(1, run.taken.size):
        if run.taken[label] < run.taken[least]:
            least = label
    return least


@inlined
def _least_pulled_at(run: Run, x: float) -> int:
    """Return the label of the least pulled arm of a mean, the smallest one of several."""
    least = -1
    for p in range(run.mean.size):  # of one mean labels ascend
        label = run.order[p]
        if run.mean[p] == x and (least < 0 or run.taken[label] < run.taken[least]):
            least = label
    return least


@kernel
def _informed(run: Run, row: int, state: State) -> tuple[int, State]:
    """Return the label of a moved arm, drawn by what its pulls tell against the alternative."""
    moves, nats, total = run.answer.moves, run.nats, 0.0
    k, sign, e = moves.arms[row], moves.signs[row], moves.distances[row]
    border = run.answer.others[row, 0] if sign > 0.0 else run.mean.size - run.answer.others[row, 1]
    for p in range(run.mean.size):
        short = e if p == k else sign * (run.mean[k] - run.mean[p]) - e
        asked = p == k or moves.sets[row, p] > 0
        if run.rule.threshold == PAIRS and p != k:
            asked = asked and (p >= border) == (sign > 0.0)
        nats[p] = run.counts[p] * divergence(GAUSSIAN, 0.0, short) if asked and short > 0.0 else 0.0
        total += nats[p]
    u, state = uniform(state)
    left, last = u * total, k
    for p in range(run.mean.size):
        if nats[p] > 0.0:
            last, left = p, left - nats[p]
            if left < 0.0:
                break
    return run.order[last], state
