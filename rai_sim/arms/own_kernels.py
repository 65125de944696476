"""How a user's own law is compiled: what kernels ask of it, and draws of it for a look."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine import law as operations
from rai_sim.engine.jit import driver, implements, kernel
from rai_sim.engine.streams import State, replication_stream


@driver
def draw(
    law: Any,
    arm: int,
    k: int,
    key: NDArray[np.uint64],
    generators: NDArray[np.uint64],
    out: NDArray[np.float64],
) -> None:
    """Fill `out` with single rewards; k is not needed."""
    state = replication_stream(key, 0, generators)
    for j in range(out.size):
        out[j], state = operations.one_pull(law, arm, 0.0, j, state)


@driver
def draw_sums(
    law: Any,
    arm: int,
    k: int,
    key: NDArray[np.uint64],
    generators: NDArray[np.uint64],
    out: NDArray[np.float64],
) -> None:
    """Fill `out` with sums of k rewards, each drawn at once."""
    state = replication_stream(key, 0, generators)
    for j in range(out.size):
        out[j], state = operations.more_pulls(law, arm, 0.0, j, k, state)


@cache
def announce(cls: Any, pull: FunctionType, pulls: FunctionType | None, over_unit: bool) -> None:
    """Let kernels know a law by the class of its tuple, with rewards over `used_unit` or as they
    are."""
    one, many = kernel(pull), pulls and kernel(pulls)
    if over_unit:
        one, many = _pull_over_unit(one), many and _pulls_over_unit(many)
    for operation, function in (_operations(one, many) | (_OVER_UNIT if over_unit else {})).items():
        implements(operation, cls)(function)


def _pull_over_unit(pull: Any) -> Any:
    @kernel
    def over_unit(law: Any, arm: int, state: State) -> tuple[float, State]:
        reward, state = pull(law, arm, state)
        return reward / law.used_unit, state

    return over_unit


def _pulls_over_unit(pulls: Any) -> Any:
    @kernel
    def over_unit(law: Any, arm: int, k: int, state: State) -> tuple[float, State]:
        sum_, state = pulls(law, arm, k, state)
        return sum_ / law.used_unit, state

    return over_unit


#: What kernels are told of rewards over a unit.
_OVER_UNIT: dict[Callable[..., Any], Callable[..., Any]] = {
    operations.spread: lambda law: (law.greatest_reward - law.least_reward) / law.used_unit,
    operations.mean_of: lambda law, arm: law.means[arm] / law.used_unit,
    # squares of distances are divided by it
    operations.proxy: lambda law: max(law.used_proxy / law.used_unit**2, 1e-200),
}


def _operations(pull: Any, pulls: Any) -> dict[Callable[..., Any], Callable[..., Any]]:
    """Return what `rai_sim.engine.law` asks of a law."""

    def one_pull(law: Any, arm: int, total: float, pulls: int, state: State) -> tuple[float, State]:
        reward, state = pull(law, arm, state)
        return total + reward, state

    def one_by_one(
        law: Any, arm: int, total: float, taken: int, k: int, state: State
    ) -> tuple[float, State]:
        for _ in range(k):
            reward, state = pull(law, arm, state)
            total += reward
        return total, state

    def at_once(
        law: Any, arm: int, total: float, taken: int, k: int, state: State
    ) -> tuple[float, State]:
        sum_, state = pulls(law, arm, k, state)
        return total + sum_, state

    return {
        operations.one_pull: one_pull,
        operations.more_pulls: one_by_one if pulls is None else at_once,
        operations.pulls_available: lambda law: operations.ENDLESS,
        operations.spread: lambda law: law.greatest_reward - law.least_reward,
        operations.mean_of: lambda law, arm: law.means[arm],
        operations.unit: lambda law: 1.0,
        operations.proxy: lambda law: law.used_proxy,
        operations.handy: lambda law, k: k,
        operations.has_words: lambda law: False,
        operations.word: lambda law, arm, pulls, state: (np.uint64(0), state),
    }
