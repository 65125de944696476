"""What a traced replication leaves behind: the state of every arm, at rounds asked for, when an arm is
settled, and when the run ends, be it at a cap.

Kernels write it where they know the state anyway: after a check, at the end of a jump, or in the
middle of a word of rounds that is drawn. So a traced replication draws what it draws without. A
round that is asked for but jumped over is stood for by the first one after it at which the kernel
stopped. Round robin's last rounds before a cap are drawn for what is recommended there, so a trace asks
for that. Where nothing is traced the arrays are empty, and a kernel pays a comparison.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.jit import inlined, kernel
from rai_sim.engine.stop import ACTIVE, PULLS, ROUND, new_flag, new_position, raised, say
from rai_sim.support.limits import MOST_PULLS

#: A round that is never reached, and to which a word of rounds can be added.
NEVER = MOST_PULLS + MOST_PULLS // 2
#: Cells of `History.cursor`: the next round asked for, and how many states are kept.
_NEXT, _KEPT = 0, 1


class History(NamedTuple):
    """Room for the states of one replication; K rounds asked for, N arms by the caller's index."""

    asked: NDArray[np.int64]  # (K + 1,) ascending, the last NEVER
    cursor: NDArray[np.int64]  # (2,)
    # (1,) raised by who wants the kernel to stop (see rai_sim.engine.stop); here as every kernel
    # has it at hand
    stop: NDArray[np.int64]
    # (4,) how far the replication is, traced or not; written where `stop` is looked at
    position: NDArray[np.int64]
    rounds: NDArray[np.int64]  # (K,) of each state
    # (K + 1, 2, N) of each arm; of all arms when its state was seen last; the last row as of the
    # last look
    pulls: NDArray[np.int64]
    means: NDArray[np.float64]  # (K + 1, N) empirical, in law units; the last row likewise


def new_history(asked: NDArray[np.int64], arms: int) -> History:
    """Allocate for one replication; rounds are asked for in ascending order."""
    K = len(asked)
    return History(
        asked=np.append(asked, NEVER).astype(np.int64),
        cursor=np.zeros(2, np.int64),
        stop=new_flag(),
        position=new_position(),
        rounds=np.zeros(K, np.int64),
        pulls=np.zeros((K + 1, 2, arms), np.int64),
        means=np.full((K + 1, arms), np.nan),
    )


def no_history() -> History:
    """Allocate what says that nothing is traced."""
    none = np.zeros(0, np.int64)
    return History(
        asked=np.full(1, NEVER),
        cursor=np.zeros(2, np.int64),
        stop=new_flag(),
        position=new_position(),
        rounds=none,
        pulls=np.zeros((0, 2, 0), np.int64),
        means=np.zeros((0, 0)),
    )


def states_kept(history: History) -> int:
    """Return how many states are kept."""
    return int(history.cursor[_KEPT])


@inlined
def stopped_at(history: History, R: int, pulls: int, active: int) -> bool:
    """Say how far the replication is; return whether it is to stop there."""
    say(history.position, ROUND, R)
    say(history.position, PULLS, pulls)
    say(history.position, ACTIVE, active)
    return raised(history.stop)


@inlined
def traced(history: History) -> bool:
    """Whether the replication is traced."""
    return history.means.shape[0] > 0


@inlined
def next_asked(history: History) -> int:
    """Return the next round whose state is wanted, NEVER if there is none."""
    return history.asked[history.cursor[_NEXT]]


@inlined
def see_arm(history: History, arm: int, mean: float, taken: int, pulls: int) -> None:
    """Note an active arm's state when `pulls` pulls have been made in all."""
    last = history.rounds.size
    history.means[last, arm] = mean
    history.pulls[last, 0, arm], history.pulls[last, 1, arm] = taken, pulls


@kernel
def keep_state(history: History, R: int) -> None:
    """Keep all arms' states, as noted last, if one is due by round R."""
    if next_asked(history) > R:
        return
    last, row = history.rounds.size, history.cursor[_KEPT]
    history.rounds[row] = R
    for arm in range(history.means.shape[1]):
        history.means[row, arm] = history.means[last, arm]
        history.pulls[row, 0, arm], history.pulls[row, 1, arm] = (
            history.pulls[last, 0, arm],
            history.pulls[last, 1, arm],
        )
    history.cursor[_KEPT] += 1
    while next_asked(history) <= R:
        history.cursor[_NEXT] += 1
