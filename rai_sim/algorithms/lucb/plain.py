"""LUCB round by round: the first pulls, and the stride on which all others fall back, and with which
some begin."""

from __future__ import annotations

import numpy as np

from rai_sim.algorithms.lucb.run import PICKS, PULLS, Run
from rai_sim.engine import law as laws
from rai_sim.engine.faults import NONE, NOT_FINITE, RECORDING_RAN_OUT, finite, report
from rai_sim.engine.jit import inlined
from rai_sim.engine.ranking import merge_sort
from rai_sim.engine.streams import State


@inlined
def pull_all_once(run: Run, state: State) -> State:
    """Pull every arm once and rank the arms."""
    s, n = run.ranking, run.ranking.order.size
    for x in range(n):
        s.mean[x], state = laws.one_pull(run.law, s.arm_of[x], 0.0, 0, state)
        if not finite(s.mean[x]):
            report(run.fault, NOT_FINITE, s.arm_of[x], 1)
        s.order[x], s.taken[x] = x, 1.0
    merge_sort(s.order, s.mean, n, s.picks, s.lcb)  # the latter two are free as yet
    for x in range(n):
        s.total[x] = s.mean[x]
    return state


@inlined
def pull_picks(run: Run, state: State) -> State:
    """Make the pulls of the round that was judged; the arms are to be ranked again."""
    law, s, clock = run.law, run.ranking, run.clock
    available, picks = np.float64(laws.pulls_available(law)), clock[PICKS]
    for j in range(picks):
        x = s.picks[j]
        arm, taken = s.arm_of[s.order[x]], int(s.taken[x])
        if s.taken[x] >= available:
            report(run.fault, RECORDING_RAN_OUT, arm, taken + 1)
            return state
        s.total[x], state = laws.one_pull(law, arm, s.total[x], taken, state)
        if not finite(s.total[x]):
            report(run.fault, NOT_FINITE, arm, taken + 1)
    if run.fault[0] == NONE:
        for j in range(picks):
            x = s.picks[j]
            s.taken[x] += 1.0
            s.mean[x] = s.total[x] / s.taken[x]
        clock[PULLS] += picks
    return state
