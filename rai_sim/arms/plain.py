"""What most reward laws tell kernels alike: they have no end, no words, and no lattice of their own."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from rai_sim.engine import law as operations
from rai_sim.engine.jit import implements
from rai_sim.engine.streams import State

Law = TypeVar("Law", bound=Any)


def plain(law: Law) -> Law:
    """Class decorator of a NamedTuple that begins with `mean` (N,), `width` and `variance_proxy`, in
    law units, and may have a `unit`: implement all operations of `rai_sim.engine.law` but those
    that draw."""
    for operation, function in (
        (operations.pulls_available, _pulls_available),
        (operations.spread, _spread),
        (operations.mean_of, _mean_of),
        (operations.unit, _unit if "unit" in law._fields else _one),
        (operations.proxy, _proxy),
        (operations.handy, _handy),
        (operations.has_words, _has_words),
        (operations.word, _word),
    ):
        implements(operation, law)(function)
    return law


def pull_by_pull(law: Law) -> Law:
    """Class decorator of a law of whose sums nothing is known: `more_pulls` adds up one pull after
    another, so that jumps cost time by their length."""
    implements(operations.more_pulls, law)(_one_by_one)
    return law


def _one_by_one(
    law: Any, arm: int, total: float, pulls: int, k: int, state: State
) -> tuple[float, State]:
    for _ in range(k):
        total, state = operations.one_pull(law, arm, total, pulls, state)
    return total, state


def _pulls_available(law: Any) -> int:
    return operations.ENDLESS


def _spread(law: Any) -> float:
    width: float = law.width
    return width


def _mean_of(law: Any, arm: int) -> float:
    mean: float = law.mean[arm]
    return mean


def _unit(law: Any) -> float:
    unit: float = law.unit
    return unit


def _one(law: Any) -> float:
    return 1.0


def _proxy(law: Any) -> float:
    proxy: float = law.variance_proxy
    return proxy


def _handy(law: Any, k: int) -> int:
    return k


def _has_words(law: Any) -> bool:
    return False


def _word(law: Any, arm: int, pulls: int, state: State) -> tuple[np.uint64, State]:
    return np.uint64(0), state
