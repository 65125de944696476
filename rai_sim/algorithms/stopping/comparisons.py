"""The threshold of pairs: who beats whom, and whether every cluster has enough arms that beat, and
are beaten by, as many as it takes.

A pair is judged until one of the two beats the other, and never again.
"""

from __future__ import annotations

import numpy as np

from rai_sim.algorithms.stopping.run import Run, settle
from rai_sim.engine import law as laws
from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.stopping import evidence_of, growth_of, precision_of


@kernel
def compare(run: Run, pulled: int) -> None:
    """Judge the pairs that may have changed: those of the arm that was pulled, or all."""
    pairs, n, unit = run.pairs, run.arm_of.size, laws.unit(run.law)
    first, stop = (0, n) if pulled < 0 else (pulled, pulled + 1)
    for a in range(first, stop):
        taken = np.float64(run.taken[a])
        pairs.mean[a] = unit * (run.total[a] / taken)
        pairs.precision[a] = precision_of(taken, run.rule.rho)
        pairs.growth[a] = growth_of(taken, run.rule.rho)
    for a in range(first, stop):
        for b in range(a + 1 if pulled < 0 else 0, n):
            if not pairs.judged[a, b] and _differ(run, a, b):
                better, worse = (a, b) if pairs.mean[a] > pairs.mean[b] else (b, a)
                pairs.wins[better] += 1
                pairs.losses[worse] += 1
                pairs.judged[a, b] = pairs.judged[b, a] = True


@inlined
def _differ(run: Run, a: int, b: int) -> bool:
    """Whether one of two arms beats the other."""
    pairs = run.pairs
    gap = abs(pairs.mean[a] - pairs.mean[b])
    nats = evidence_of(gap, pairs.precision[a], pairs.precision[b])
    return gap > 0.0 and nats >= run.rule.level + pairs.growth[a] + pairs.growth[b]


@kernel
def give_placed(run: Run) -> bool:
    """Name in every cluster the best ranked arms that beat and are beaten by as many arms as it
    takes, if there are enough of them; whether that was so."""
    if not _enough_placed(run):
        return False
    above = 0
    for i in range(run.setting.sizes.size):
        below, missing = run.mean.size - above - run.setting.sizes[i], run.setting.required[i]
        for p in range(run.mean.size):
            if missing > 0 and _placed(run, run.order[p], above, below):
                settle(run, i, run.order[p])
                missing -= 1
        above += run.setting.sizes[i]
    return True


@inlined
def _enough_placed(run: Run) -> bool:
    """Whether every cluster has as many arms as it is asked for."""
    above = 0
    for i in range(run.setting.sizes.size):
        below, missing = run.mean.size - above - run.setting.sizes[i], run.setting.required[i]
        if missing > 0:
            for label in range(run.mean.size):
                missing -= _placed(run, label, above, below)
            if missing > 0:
                return False
        above += run.setting.sizes[i]
    return True


@inlined
def _placed(run: Run, label: int, above: int, below: int) -> bool:
    """Whether an arm beats so many arms, and is beaten by so many."""
    return run.pairs.wins[label] >= below and run.pairs.losses[label] >= above
