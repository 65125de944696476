"""A replication of `BatchedTrackAndStop`: judge, find shares, make a batch."""

from __future__ import annotations

import math

import numpy as np

from rai_sim.algorithms.stopping.replication import begin, end, goes_on, judge, pull, within_caps
from rai_sim.algorithms.stopping.run import PULLS, Run
from rai_sim.algorithms.track_and_stop.shares import Game, find_shares
from rai_sim.engine.blocks import Block
from rai_sim.engine.faults import NONE
from rai_sim.engine.jit import driver, inlined, kernel
from rai_sim.engine.references import by_reference
from rai_sim.engine.streams import State

#: Pulls of every arm in round 1.
FIRST = 16
#: Share of the pulls that goes to all arms alike.
EVEN = 0.02


@driver
def run_block(given: Run, room: Game, growth: float, first: int, block: Block) -> None:
    """Run len(block.pulls) replications, indices from `first` on."""
    run, game = by_reference(given), by_reference(room)
    for b in range(block.pulls.size):
        state = begin(run, first + b)
        if not end(run, block, b, _run_one(run, game, growth, state)):
            return


@kernel
def _run_one(run: Run, game: Game, growth: float, state: State) -> bool:
    """Run one replication; return whether it finished."""
    n = run.arm_of.size
    if not within_caps(run, np.float64(FIRST * n)):
        return False
    for label in range(n):
        state = pull(run, label, FIRST, state)
        game.shares[label] = 1.0 / n
    while goes_on(run):
        if judge(run, -1):
            return True
        t = np.float64(run.clock[PULLS])
        aim = max(np.ceil(growth * t), t + 1.0)  # a double: it may be beyond integers
        if not within_caps(run, aim - t):
            return False
        _prepare(run, game)
        find_shares(game, run.mean, run.history.stop)
        state = _make_batch(run, game, aim, state)
    return False


@inlined
def _prepare(run: Run, game: Game) -> None:
    """Write who is named."""
    answer, k = run.answer, 0
    for j in range(answer.leads.size):
        if answer.leads[j]:
            game.named[k] = answer.asked[j]
            game.others[k, 0], game.others[k, 1] = answer.others[j, 0], answer.others[j, 1]
            k += 1


@kernel
def _make_batch(run: Run, game: Game, aim: float, state: State) -> State:
    """Raise the pulls to `aim` in all."""
    n, missing = run.order.size, 0.0
    for p in range(n):
        share = (1.0 - EVEN) * game.shares[p] + EVEN / n
        game.tried[p] = max(aim * share - run.counts[p], 0.0)
        missing += game.tried[p]
    batch, made, upto = int(aim) - run.clock[PULLS], 0, 0.0
    for p in range(n):
        upto += game.tried[p]
        until = min(math.floor(batch * (upto / missing)), batch) if p < n - 1 else batch
        if until > made and run.fault[0] == NONE:
            state = pull(run, run.order[p], until - made, state)
            made = until
    return state
