"""A replication that is being run: what it is given, and the numbers that change from round to
round."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine import law as laws
from rai_sim.engine import schedule as schedules
from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.certificates import Race, new_constraints
from rai_sim.engine.faults import MOST_PULLS
from rai_sim.engine.history import History
from rai_sim.engine.jit import inlined, kernel, may_give_words
from rai_sim.engine.partition import Partition, new_partition
from rai_sim.engine.ranking import new_standings
from rai_sim.engine.recommendations import Budgets, cap_of, new_budgets
from rai_sim.engine.round_robin.crowd import places
from rai_sim.engine.round_robin.leaps import Ahead, new_ahead
from rai_sim.engine.round_robin.many import NoCrowd, no_crowd, start
from rai_sim.engine.round_robin.roster.lists import Roster, allocate_roster
from rai_sim.engine.streams import new_generators
from rai_sim.engine.strides import WORDS, allowed
from rai_sim.engine.vectors import LANES
from rai_sim.engine.words import new_words

#: Cells of `Run.clock`: the last round whose pulls are made; the pulls made so far, of all arms and
#: of each active one; the active arms; the outputs that are missing; the jumps that were certified
#: up to an error.
ROUND, PULLS, TAKEN, ACTIVE, MISSING, JUMPS = 0, 1, 2, 3, 4, 5
#: The pulls an arm of the next round, and the last rounds for which the cap and the recording
#: suffice at that rate.
PER_ROUND, LAST_PAID, LAST_RECORDED = 6, 7, 8
#: The rounds of the drawn words that are over, 64 if no words are left; the round in which sums are
#: next looked at, whether they are finite; for how many rounds from the start no arm can be
#: settled, the same for all replications.
OVER, AUDIT, QUIET = 9, 10, 11
_CELLS = 12
#: Cells of `Run.terms`, in law units: W of the last round, and of the last round of the words; G of
#: the last round; the budget of the next jump, negative if it has to be computed anew, as it
#: depends on the active arms; and that of a first jump with two arms.
WIDTH, WIDTH_AFTER, GAP, BUDGET, LEAST_BUDGET = 0, 1, 2, 3, 4
_TERMS = 5
#: W of the first rounds, where most checks are, is computed once a block.
_TABULATED = 4096


class Run(NamedTuple):
    """One replication after another."""

    race: Race
    merging: bool
    setting: Setting
    part: Partition
    budgets: Budgets
    widths: NDArray[np.float64]  # W by round in law units, NaN where not yet asked for
    history: History
    fault: NDArray[np.int64]
    generators: NDArray[np.uint64]  # of the replication's stream
    clock: NDArray[np.int64]
    terms: NDArray[np.float64]
    ahead: Ahead
    crowd: Any  # `Crowd`, `Roster` or `NoCrowd`


def new_run(
    law: Any, schedule: Any, merging: bool, setting: Setting, block: Block, crowds: bool = False
) -> Run:
    """Allocate for a block of replications; `crowds` if a round is one pull an arm."""
    N, m = setting.cluster_of.size, setting.sizes.size
    return Run(
        race=Race(
            law=law,
            schedule=schedule,
            standings=new_standings(N),
            constraints=new_constraints(N, m),
            words=new_words(N),
        ),
        merging=merging,
        setting=setting,
        part=new_partition(setting),
        budgets=new_budgets(block, setting),
        widths=np.full(_TABULATED, np.nan),
        history=block.history,
        fault=block.fault,
        generators=new_generators(),
        clock=np.zeros(_CELLS, np.int64),
        terms=np.zeros(_TERMS),
        ahead=new_ahead(),
        crowd=new_crowd(law, N, m) if crowds else no_crowd(),
    )


def new_crowd(law: Any, N: int, m: int) -> places.Crowd | Roster | NoCrowd:
    """Allocate for N arms in m clusters, if they may become a crowd."""
    if not places.may_be_many(N, m):
        return no_crowd()
    if may_give_words(law):
        return places.allocate_crowd(N)
    return allocate_roster(N)


@inlined
def start_clock(run: Run, missing: int) -> None:
    """Set the clock to the time before round 1."""
    clock = run.clock
    for cell in range(QUIET):
        clock[cell] = 0
    clock[ACTIVE], clock[MISSING], clock[OVER] = run.race.standings.order.size, missing, LANES
    run.terms[BUDGET] = -1.0
    start(run.crowd)
    count_rounds(run)


@inlined
def count_rounds(run: Run) -> None:
    """Find out for how many rounds the cap and the recording suffice, at the next one's rate."""
    law, schedule, clock = run.race.law, run.race.schedule, run.clock
    R, taken = clock[ROUND], clock[TAKEN]
    most = cap_of(run.budgets, run.setting.max_pulls)
    paid, recorded = (most - clock[PULLS]) // clock[ACTIVE], laws.pulls_available(law) - taken
    clock[PER_ROUND] = 1
    if not schedules.every_round(schedule):
        clock[PER_ROUND] = per_round = _pulls_after(schedule, R + 1) - taken
        paid, recorded = paid // per_round, recorded // per_round
    clock[LAST_PAID], clock[LAST_RECORDED] = R + paid, R + recorded


@inlined
def _pulls_after(schedule: Any, R: int) -> int:
    """Return t_R, within what two caps of pulls can be."""
    return int(min(schedules.pulls_after(schedule, np.float64(R)), 2.0 * MOST_PULLS - 1024.0))


@kernel
def record_arm_pulls(run: Run, block: Block, b: int) -> None:
    """Write the pulls of each arm into row b, if they are kept: t_R of the round that settled it,
    or of the last one."""
    if block.arm_pulls.shape[0] == 0:
        return
    schedule, settled = run.race.schedule, run.part.settled
    for arm in range(settled.shape[1]):
        R, taken = settled[0, arm], run.clock[TAKEN]
        if R > 0:
            taken = R if schedules.every_round(schedule) else _pulls_after(schedule, R)
        block.arm_pulls[b, arm] = taken


@inlined
def last_round(run: Run) -> int:
    """Return the last round for which the cap and the recording suffice."""
    return min(run.clock[LAST_PAID], run.clock[LAST_RECORDED])


@inlined
def by_words(run: Run) -> bool:
    """Whether rounds may be made by words."""
    return laws.has_words(run.race.law) and allowed(run.setting.strides, WORDS)


@inlined
def enough_arms(run: Run, least: int, per_border: int) -> bool:
    """Whether the active arms are at least as many as asked for, and as the square of the borders
    asks for."""
    borders = -1
    for size in run.part.open_sizes:
        borders += size > 0
    return run.clock[ACTIVE] >= max(least, per_border * borders * borders)


@inlined
def width(run: Run, R: int) -> float:
    """Return W(R) in law units, from the table if it is there."""
    law, schedule, widths = run.race.law, run.race.schedule, run.widths
    if widths.size <= R:
        return schedules.threshold(schedule, np.float64(R)) / laws.unit(law)
    W = widths[R]
    if W != W:
        W = widths[R] = schedules.threshold(schedule, np.float64(R)) / laws.unit(law)
    return W
