"""What a reward law offers to kernels.

A law is a NamedTuple of arrays. It offers the operations below; each law's file in `rai_sim.arms`
implements them with `rai_sim.engine.jit.implements`, and compiled code picks the version by the
law's type. `arm` is the caller's arm index, `total` the sum of the arm's first `pulls` rewards in
the law's own units (see `Law units` below), and every function gives back the random state after
its draws.

Law units. A kernel compares sums with thresholds, and sums of integers are exact. So a law may
measure rewards in steps of `unit` from `origin`: reward = origin + unit * (what the kernel sees).
The comparisons a kernel makes are between sums of equally many pulls, or between means, both of
which the shift leaves alone; thresholds are divided by `unit`. A law without such a lattice has
origin 0, unit 1.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.jit import in_place
from rai_sim.engine.streams import State
from rai_sim.support.limits import MOST_PULLS

#: The pulls available of a law that has no end: more than a replication may make.
ENDLESS = MOST_PULLS


def _no_python_version(operation: str, law: Any) -> NoReturn:
    raise TypeError(
        f"{operation} was given {type(law).__name__}, which no compiled reward law stands for; "
        "call it from a kernel, with the tuple that arms.kernel_law() returns"
    )


def one_pull(law: Any, arm: int, total: float, pulls: int, state: State) -> tuple[float, State]:
    """Return the sum after one more pull."""
    _no_python_version("one_pull", law)


# two arms near a tie took a third longer where calls handed the random state on through memory
@in_place
def more_pulls(
    law: Any, arm: int, total: float, pulls: int, k: int, state: State
) -> tuple[float, State]:
    """Return the sum after k >= 1 more pulls, drawn at once."""
    _no_python_version("more_pulls", law)


def pulls_available(law: Any) -> int:
    """Return how many pulls of each arm the law can give; `ENDLESS` unless it replays a recording."""
    _no_python_version("pulls_available", law)


def spread(law: Any) -> float:
    """Return the length, in law units, of the interval that holds every reward; infinite if there
    is none."""
    _no_python_version("spread", law)


def mean_of(law: Any, arm: int) -> float:
    """Return the arm's mean in law units, for certificates, and for tables of sums where the law is
    declared by `rai_sim.engine.jit.sums_are_binomial`: a kernel never decides by it."""
    _no_python_version("mean_of", law)


def unit(law: Any) -> float:
    """Return the length of one law unit in rewards."""
    _no_python_version("unit", law)


def proxy(law: Any) -> float:
    """Return a variance proxy, in squared law units, of which every arm's reward is sub-Gaussian;
    infinite if none is known."""
    _no_python_version("proxy", law)


def handy(law: Any, k: int) -> int:
    """Return a number of pulls from 1 to k, k >= 1, not much below k, that `more_pulls` draws
    faster than k; k itself if there is none."""
    _no_python_version("handy", law)


def has_words(law: Any) -> bool:
    """Return whether `word` gives 64 pulls at once; only laws declared by
    `rai_sim.engine.jit.gives_words` may say so."""
    _no_python_version("has_words", law)


def word(law: Any, arm: int, pulls: int, state: State) -> tuple[np.uint64, State]:
    """Return 64 pulls of rewards 0 or 1 as bits, the first pull lowest; only for laws of unit 1
    with `has_words`.

    Pulls beyond those available may be asked for, never used.
    """
    _no_python_version("word", law)


@in_place
def words(
    law: Any,
    labels: NDArray[np.int64],
    n: int,
    arm_of: NDArray[np.int64],
    pulls: int,
    bits: NDArray[np.uint64],
    tied: NDArray[np.uint64],
    state: State,
) -> State:
    """Write into `bits`, by label, what `word` gives the arms of the first n labels, one after the
    other; `tied`, (2, N + 1), may be worked in. Only laws declared by
    `rai_sim.engine.jit.gives_words` are asked."""
    _no_python_version("words", law)


def sum_between(
    law: Any, arm: int, total: float, pulls: int, k: int, later: float, later_k: int, state: State
) -> tuple[float, State]:
    """Return the sum after k more pulls, given that it will be `later` after later_k > k >= 1 more;
    only for laws declared by `rai_sim.engine.jit.gives_bridges`."""
    _no_python_version("sum_between", law)


def bridge_proxy(law: Any) -> float:
    """Return a variance proxy, in squared law units, of which an arm's next reward is sub-Gaussian
    given its past and a later sum; only for laws declared by `rai_sim.engine.jit.gives_bridges`."""
    _no_python_version("bridge_proxy", law)
