"""Tables of an arm's rewards in a round, where sums are binomial: their numbers of trials are the
same in every replication.

Whether a round is drawn through tables hangs on the problem alone, and a table is filled when its
sum is asked for often enough: until then the sum is found without it, and is the same (see
`rai_sim.engine.sampling.outward`).
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine import law as laws
from rai_sim.engine.jit import for_type, has_binomial_sums, kernel
from rai_sim.engine.round_robin.run import ACTIVE, PER_ROUND, ROUND, TAKEN, Run
from rai_sim.engine.sampling.outward import (
    BEYOND,
    GUIDE,
    LEAST_VARIANCE,
    binomial_outward,
    entries,
    look_up,
    mode_of,
    tabulate,
)
from rai_sim.engine.streams import State, uniform

#: The bytes that all tables of a block may take: about what a core's own cache holds.
_MOST_BYTES = 1 << 20
#: Sums of more rewards have no tables: they would be long, and rounding would add up to 1e-12.
_MOST_TRIALS = 1 << 20
#: Draws after which a table is filled, which costs about as much (measured).
_OFTEN = 8


class NoTables(NamedTuple):
    """In place of `Tables` for laws whose sums are not binomial: nothing of them is compiled
    then."""

    rounds: int


class Tables(NamedTuple):
    """Tables of the first rounds: arm after arm, round after round."""

    rounds: int  # how many rounds have tables
    arms: int
    entries: NDArray[np.int64]  # by round: of the distribution function of an arm
    first: NDArray[np.int64]  # by round: where the first arm's begin
    uses: NDArray[np.uint8]  # (rounds * N,) draws so far, up to `_OFTEN`: the table is there
    F: NDArray[np.float64]
    guide: NDArray[np.uint16]


class _Kept(threading.local):
    """A thread's last tables, and what they are of: blocks of one experiment follow each other."""

    of: tuple[Any, Any] = (None, None)
    tables: Tables | NoTables = NoTables(0)


_KEPT = _Kept()


def tables_of(law: Any, pulls: NDArray[np.float64], N: int) -> Tables | NoTables:
    """Return tables for N arms that have so many pulls after each round: the thread's last ones, as
    far as they are filled, if they are of this very law and these very numbers."""
    if _KEPT.of[0] is law and _KEPT.of[1] is pulls:
        return _KEPT.tables
    tables = new_tables(law, pulls, N)
    if tables.rounds > 0:
        _KEPT.of, _KEPT.tables = (law, pulls), tables
    return tables


def new_tables(law: Any, pulls: NDArray[np.float64], N: int) -> Tables | NoTables:
    """Allocate."""
    if not has_binomial_sums(law):
        return NoTables(0)
    room, first = [], [0]
    for trials in np.diff(pulls, prepend=0.0).tolist():
        each = entries(trials)
        size = 8 * (first[-1] + N * each) + 2 * GUIDE * N * len(first)
        if trials > _MOST_TRIALS or size > _MOST_BYTES:
            break
        room.append(each)
        first.append(first[-1] + N * each)
    rounds = len(room)
    return Tables(
        rounds=rounds,
        arms=N,
        entries=np.array(room, np.int64),
        first=np.array(first),
        uses=np.zeros(rounds * N, np.uint8),
        F=np.empty(first[-1]),
        guide=np.empty(rounds * N * GUIDE, np.uint16),
    )


def _pull_sampled(tables: NoTables, run: Run, state: State) -> State:
    return pull_sampled(run, state)


@kernel
def pull_sampled(run: Run, state: State) -> State:
    """Draw the pulls of a round by the law's sampler."""
    law, standings, clock = run.race.law, run.race.standings, run.clock
    order, total, taken, k = standings.order, standings.total, clock[TAKEN], clock[PER_ROUND]
    for x in range(clock[ACTIVE]):
        total[x], state = laws.more_pulls(law, order[x], total[x], taken, k, state)
    return state


@for_type(Tables, _pull_sampled)
def pull(tables: Tables, run: Run, state: State) -> State:
    """Draw the pulls of a round as one sum an arm, through tables if the round has them."""
    r = run.clock[ROUND]
    if r >= tables.rounds:
        return pull_sampled(run, state)
    law, standings = run.race.law, run.race.standings
    order, total, k = standings.order, standings.total, np.float64(run.clock[PER_ROUND])
    uses, F, guide = tables.uses, tables.F, tables.guide
    N, room, first = tables.arms, tables.entries[r], tables.first[r]
    for x in range(run.clock[ACTIVE]):
        arm = order[x]
        table = r * N + arm
        u, state = uniform(state)
        step = BEYOND
        if uses[table] == _OFTEN:
            step = look_up(u, F, first + arm * room, guide, table * GUIDE)
        if step != BEYOND:
            total[x] += mode_of(k, laws.mean_of(law, arm)) + step
        else:
            total[x], state = _pull_untabulated(tables, run, x, u, state)
    return state


@kernel
def _pull_untabulated(
    tables: Tables, run: Run, x: int, u: float, state: State
) -> tuple[float, State]:
    """Return the sum of the arm at x after a round that no table tells, and fill one in time."""
    clock, law, standings = run.clock, run.race.law, run.race.standings
    arm, total, k = standings.order[x], standings.total[x], np.float64(clock[PER_ROUND])
    p = laws.mean_of(law, arm)
    if not k * p * (1.0 - p) >= LEAST_VARIANCE:
        return laws.more_pulls(law, arm, total, clock[TAKEN], clock[PER_ROUND], state)
    r = clock[ROUND]
    table = r * tables.arms + arm
    if tables.uses[table] < _OFTEN:
        tables.uses[table] += 1
        if tables.uses[table] == _OFTEN:
            start = tables.first[r] + arm * tables.entries[r]
            tabulate(k, p, tables.F, start, tables.guide, table * GUIDE)
    successes, state = binomial_outward(k, p, u, state)
    return total + successes, state
