"""How a replication of LUCB begins, and what a block keeps of it at its end; both loops ask here."""

from __future__ import annotations

from rai_sim.algorithms.lucb.arm_pulls import record_arm_pulls
from rai_sim.algorithms.lucb.run import PULLS, ROUND, Run
from rai_sim.engine.blocks import Block
from rai_sim.engine.faults import went_well
from rai_sim.engine.jit import inlined
from rai_sim.engine.partition import record_outcome
from rai_sim.engine.recommendations import record_recommendations
from rai_sim.engine.stop import say_begun
from rai_sim.engine.streams import State, replication_stream


@inlined
def begin(run: Run, replication: int) -> State:
    """Say that a replication begins; return the state of its stream."""
    say_begun(run.history.position, replication, run.ranking.order.size)
    return replication_stream(run.setting.key, replication, run.ranking.generators)


@inlined
def end(run: Run, block: Block, b: int, finished: bool) -> bool:
    """Record a replication in row b of the block; return whether the next one may begin."""
    if not went_well(run.fault, b):
        return False
    cluster_of, clock = run.setting.cluster_of, run.clock
    record_outcome(block, b, run.part, cluster_of, finished, clock[ROUND], clock[PULLS])
    record_arm_pulls(run, block, b)
    record_recommendations(block, b, run.budgets, run.part)
    return True
