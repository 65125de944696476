"""What the loop of an algorithm is made of: a replication begins, arms are pulled as far as the caps
and the recording go, rounds are judged, and the replication ends.

Arms are ranked by empirical mean, equal ones in the order of the replication's opening permutation.
"""

from __future__ import annotations

import numpy as np

from rai_sim.algorithms.stopping.answers import (
    choose,
    find_leader,
    find_moves,
    give_chosen,
    recommend_leader,
)
from rai_sim.algorithms.stopping.comparisons import compare, give_placed
from rai_sim.algorithms.stopping.run import MOST, PAIRS, PULLS, ROUND, Run
from rai_sim.engine import law as laws
from rai_sim.engine.blocks import Block
from rai_sim.engine.faults import (
    NONE,
    NOT_FINITE,
    RECORDING_RAN_OUT,
    STOPPED,
    TOO_MANY_PULLS,
    finite,
    report,
    went_well,
)
from rai_sim.engine.history import keep_state, see_arm, stopped_at, traced
from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.partition import open_partition, record_arm_pulls, record_outcome
from rai_sim.engine.recommendations import cap_of, left, record_recommendations
from rai_sim.engine.stop import say_begun
from rai_sim.engine.stopping import gk16_level_of
from rai_sim.engine.streams import State, replication_stream, shuffle


@kernel
def begin(run: Run, replication: int) -> State:
    """Draw the opening permutation and set all sums to zero; return the random state."""
    clock = run.clock
    say_begun(run.history.position, replication, run.arm_of.size)
    state = replication_stream(run.setting.key, replication, run.generators)
    state = shuffle(run.arm_of, state)
    open_partition(run.part, run.setting.sizes)
    clock[ROUND], clock[PULLS] = 0, 0
    clock[MOST] = cap_of(run.budgets, run.setting.max_pulls)
    for label in range(run.arm_of.size):
        run.taken[label], run.total[label], run.order[label] = 0, 0.0, label
        run.pairs.wins[label], run.pairs.losses[label] = 0, 0
        for other in range(run.arm_of.size):
            run.pairs.judged[label, other] = label == other
    return state


@kernel
def end(run: Run, block: Block, b: int, finished: bool) -> bool:
    """Record a replication in row b of the block; return whether the next one may begin."""
    if not went_well(run.fault, b):
        return False
    cluster_of, clock = run.setting.cluster_of, run.clock
    record_outcome(block, b, run.part, cluster_of, finished, clock[ROUND], clock[PULLS])
    record_arm_pulls(block, b, run.arm_of, run.taken)
    record_recommendations(block, b, run.budgets, run.part)
    return True


@inlined
def goes_on(run: Run) -> bool:
    """Whether nothing went wrong and nobody asks to stop."""
    clock = run.clock
    if run.fault[0] == NONE and stopped_at(
        run.history, clock[ROUND], clock[PULLS], run.arm_of.size
    ):
        report(run.fault, STOPPED, 0, 0)
    return run.fault[0] == NONE


@kernel
def within_caps(run: Run, pulls: float) -> bool:
    """Whether so many more pulls may be made: within the last cap at least. At those before it the
    leader is recommended, if the caller asks for it."""
    while not _affordable(run, pulls):
        if left(run.budgets) == 0:
            return False
        recommend_leader(run)
        run.clock[MOST] = cap_of(run.budgets, run.setting.max_pulls)
        if left(run.budgets) == 0:
            return False
    return True


@inlined
def _affordable(run: Run, pulls: float) -> bool:
    """Whether the cap pays for so many more pulls; a double, for they may be beyond integers."""
    enough = pulls <= float(run.clock[MOST] - run.clock[PULLS])
    if not enough and run.setting.max_pulls < 0:
        report(run.fault, TOO_MANY_PULLS, 0, 0)
    return enough


@inlined
def pull(run: Run, label: int, k: int, state: State) -> State:
    """Make k >= 1 more pulls of an arm, if the recording has them."""
    arm, taken = run.arm_of[label], run.taken[label]
    available = laws.pulls_available(run.law)
    if k > available - taken:
        report(run.fault, RECORDING_RAN_OUT, arm, available + 1)
        return state
    total, state = _sum_after(run, label, k, state)
    if not finite(total):
        report(run.fault, NOT_FINITE, arm, taken + k)
    run.total[label], run.taken[label] = total, taken + k
    run.clock[PULLS] += k
    return state


@inlined
def _sum_after(run: Run, label: int, k: int, state: State) -> tuple[float, State]:
    """Return an arm's sum after k more pulls."""
    arm, total, taken = run.arm_of[label], run.total[label], run.taken[label]
    if k == 1:
        return laws.one_pull(run.law, arm, total, taken, state)
    return laws.more_pulls(run.law, arm, total, taken, k, state)


@kernel
def judge(run: Run, pulled: int) -> bool:
    """Rank the arms, and give an answer if one may be given; whether that was so. `pulled` is the
    label of the one arm that was pulled since the last round, -1 if several were."""
    run.clock[ROUND] += 1
    _rank(run)
    if traced(run.history):
        _see_arms(run)
    if run.rule.threshold == PAIRS:
        compare(run, pulled)
        if give_placed(run):
            return True
    find_leader(run)
    find_moves(run, run.counts)
    if run.rule.threshold == PAIRS:
        return False
    least = choose(run, run.answer.chosen)
    if least >= gk16_level_of(run.rule.level, np.float64(run.clock[PULLS])):
        give_chosen(run)
        return True
    return False


@inlined
def _rank(run: Run) -> None:
    """Sort the arms by mean, from the order of the last round; ties go to the smaller label."""
    order, mean, unit = run.order, run.mean, laws.unit(run.law)
    for p in range(order.size):
        label = order[p]
        x, q = unit * (run.total[label] / run.taken[label]), p
        while q > 0 and (mean[q - 1] < x or (mean[q - 1] == x and order[q - 1] > label)):
            mean[q], order[q] = mean[q - 1], order[q - 1]
            q -= 1
        mean[q], order[q] = x, label
    for p in range(order.size):
        run.counts[p] = np.float64(run.taken[order[p]])


@kernel
def _see_arms(run: Run) -> None:
    """Keep the state of the round, for a trace."""
    for label in range(run.arm_of.size):
        taken = run.taken[label]
        see_arm(run.history, run.arm_of[label], run.total[label] / taken, taken, run.clock[PULLS])
    keep_state(run.history, run.clock[ROUND])
