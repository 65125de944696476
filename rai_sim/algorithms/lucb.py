"""LUCB: rounds that pull only the arms on which the open questions hinge.

Legend, after the paper: R round, n_a pulls of arm a, LCB and UCB = mean -+ radius, L_i the smallest LCB
before cluster i, U_i the largest UCB after it. Ranks count from 0, the best empirical mean; everything is in
law units (see `rai_sim.engine.law`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rai_sim.algorithms.base import Algorithm
from rai_sim.engine import law as laws
from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.certificates import Constraints, new_constraints
from rai_sim.engine.faults import MOST_PULLS, NONE, RECORDING_RAN_OUT, TOO_MANY_PULLS, report
from rai_sim.engine.jit import borrowed, driver, kernel
from rai_sim.engine.lucb_in_step import all_in_step, run_in_step
from rai_sim.engine.lucb_quick import quick_rounds
from rai_sim.engine.lucb_rounds import Scratch, exact_round, new_scratch, refresh
from rai_sim.engine.partition import Partition, new_partition, open_partition, record_outcome
from rai_sim.engine.ranking import merge_sort
from rai_sim.engine.streams import State, replication_stream, shuffle


@dataclass(frozen=True)
class LUCB(Algorithm):
    """Lower and upper confidence bounds (arXiv 2408.14195, Algorithm 3, in a form that is delta-PC).

    After one pull of every arm, each round ranks and cuts the active arms, settles those whose confidence
    interval is clear of all clusters before and after, and for each cluster that still lacks representatives
    pulls the arm closest to being settled, the two arms that stand most in the way (the least LCB before the
    cluster, the greatest UCB after it), and the cluster's own weakest arms.
    The radius of an arm with n pulls in round R is sqrt(ln(pi^2 R^3 N / (3 delta)) / (2 n)).

    Parameters
    ----------
    as_printed : bool, default False
        Follow the printed pseudo-code, its slips mended: look at the neighbouring clusters only and leave the
        cluster's own weakest arms alone. **Not delta-PC**: on the mirrored table instance with r = (3, 0, 0)
        it errs in about 20 % of runs at delta = 1 %. For study.

    Raises
    ------
    TypeError
        If `as_printed` is not a boolean.

    Examples
    --------
    >>> import rai_sim as rai
    >>> result = rai.simulate(rai.table_problem(task=1), rai.LUCB(), delta=0.01, replications=100, seed=1)
    >>> bool(3_000 < result.pulls.mean() < 6_000)
    True
    """

    as_printed: bool = False

    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Run len(block.pulls) replications from index `first` on and write them into `block`."""
        scale = math.pi**2 * setting.cluster_of.size / (3.0 * setting.delta)
        N, m = setting.cluster_of.size, setting.sizes.size
        _run_block(
            law, scale, self.as_printed, setting, first, block, new_scratch(N, m), new_partition(setting),
            new_constraints(N, m)
        )  # fmt: skip


@driver
def _run_block(
    law: Any, scale: float, as_printed: bool, setting: Setting, first: int, block: Block, scratch: Scratch,
    part: Partition,
    constraints: Constraints,
) -> None:  # fmt: skip
    """Run len(block.pulls) replications, indices from `first` on; scale is pi^2 N / (3 delta)."""
    law, setting, block = borrowed(law), borrowed(setting), borrowed(block)
    scratch, part, constraints = borrowed(scratch), borrowed(part), borrowed(constraints)
    for b in range(block.pulls.size):
        state = replication_stream(setting.key, first + b)
        finished, R, pulls = _run_one(
            law, scale, as_printed, setting, scratch, part, constraints, block.fault, state
        )
        if block.fault[0] != NONE:
            return
        record_outcome(block, b, part, setting.cluster_of, finished, R, pulls)


@kernel
def _run_one(
    law: Any, scale: float, as_printed: bool, setting: Setting, s: Scratch, part: Partition,
    constraints: Constraints, fault: NDArray[np.int64], state: State,
) -> tuple[bool, int, int]:  # fmt: skip
    """Run one replication; return whether it finished, its rounds and its pulls."""
    n, unit = s.order.size, laws.unit(law)
    state = shuffle(s.arm_of, state)
    missing = open_partition(part, setting.sizes)
    most = setting.max_pulls if setting.max_pulls >= 0 else MOST_PULLS
    if n > most:
        return False, 0, 0
    state = _first_pulls(law, s, unit, state)
    R, pulls, jumps, fresh, in_step = 0, n, 0, True, False
    while True:
        if fresh:
            in_step, fresh = all_in_step(s, part, n, as_printed), False
            for i in range(setting.sizes.size):
                s.wants[i] = part.found[i] < part.required[i]
        if in_step:
            R += 1
        else:
            R, pulls, jumps, state = quick_rounds(
                law, scale, as_printed, setting.skip_error, s.order, s.mean, s.inv, s.lcb, s.ucb, s.chosen,
                s.picks, s.arm_of, s.total,
                s.taken, part.open_sizes, s.wants, s.roles, s.bounds, s.words, n, R, pulls, most, jumps,
                state,
            )  # fmt: skip
        log_term = math.log(scale * R * R * R)
        before = n
        n, supplied, picks = exact_round(s, part, n, log_term, unit, R, as_printed)
        missing -= supplied
        if missing == 0:
            return True, R, pulls
        if picks > most - pulls:
            if setting.max_pulls < 0:
                report(fault, TOO_MANY_PULLS, 0, 0)
            return False, R, pulls
        fresh = n < before
        if in_step and not fresh and s.taken[s.order[0]] < laws.pulls_available(law):
            rounds = (most - pulls) // n
            made, jumps, state = run_in_step(law, scale, setting.skip_error, s, part, constraints, n, R,
            rounds, jumps, state)
            R, pulls = R + made - 1, pulls + made * n
        else:
            state = _pull_picks(law, s, picks, fault, state)
            if fault[0] != NONE:
                return False, R, pulls
            pulls += picks
            refresh(s.order, s.mean, s.inv, s.total, s.taken, n, unit)


@kernel
def _first_pulls(law: Any, s: Scratch, unit: float, state: State) -> State:
    """Pull every arm once and rank."""
    n = s.order.size
    for x in range(n):
        total, state = laws.one_pull(law, s.arm_of[x], 0.0, 0, state)
        s.order[x], s.total[x], s.taken[x], s.mean[x] = x, total, 1, total
    merge_sort(s.order, s.mean, n, s.spare_order, s.spare_mean)
    refresh(s.order, s.mean, s.inv, s.total, s.taken, n, unit)
    return state


@kernel
def _pull_picks(law: Any, s: Scratch, picks: int, fault: NDArray[np.int64], state: State) -> State:
    """Pull the picked arms once each."""
    for j in range(picks):
        label = s.order[s.picks[j]]
        if s.taken[label] >= laws.pulls_available(law):
            report(fault, RECORDING_RAN_OUT, s.arm_of[label], s.taken[label] + 1)
            return state
        s.total[label], state = laws.one_pull(law, s.arm_of[label], s.total[label], s.taken[label], state)
        s.taken[label] += 1
    return state
