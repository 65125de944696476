"""What tests of reward laws share: sums of pulls through kernels, and a law of each kind."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from replay import roomy_key
from scipy import special

from rai_sim.arms.base import Arms
from rai_sim.engine import law as operations
from rai_sim.engine.jit import driver
from rai_sim.engine.streams import replication_stream

Floats = NDArray[np.float64]
KEY = roomy_key(30)

# Numba reads functions from a module's globals.
one_pull, more_pulls = operations.one_pull, operations.more_pulls
pulls_available, spread, mean_of = operations.pulls_available, operations.spread, operations.mean_of
sum_between = operations.sum_between
unit_of, proxy_of = operations.unit, operations.proxy


@driver
def draw_at_once(law: Any, arm: int, k: int, key: NDArray[np.uint64], out: Floats) -> None:
    """Fill `out` with sums of k pulls, each drawn at once."""
    state = replication_stream(key, k, key[2:])
    for i in range(out.size):
        out[i], state = more_pulls(law, arm, 0.0, 0, k, state)


@driver
def draw_between(
    law: Any, arm: int, k: int, later: float, later_k: int, key: NDArray[np.uint64], out: Floats
) -> None:
    """Fill `out` with sums after 7 + k pulls, the first 7 adding up to 3 and 7 + later_k to `later`."""
    state = replication_stream(key, k, key[2:])
    for i in range(out.size):
        out[i], state = sum_between(law, arm, 3.0, 7, k, later, later_k, state)


@driver
def draw_one_by_one(law: Any, arm: int, k: int, key: NDArray[np.uint64], out: Floats) -> None:
    """Fill `out` with sums of k single pulls."""
    state = replication_stream(key, 1_000_000 + k, key[2:])
    for i in range(out.size):
        total = 0.0
        for pulls in range(k):
            total, state = one_pull(law, arm, total, pulls, state)
        out[i] = total


@driver
def add_up(
    law: Any, arm: int, jumps: NDArray[np.int64], key: NDArray[np.uint64], out: Floats
) -> None:
    """Fill `out` with one running sum after each jump, a jump of 1 being a single pull."""
    state = replication_stream(key, 0, key[2:])
    total, pulls = 0.0, 0
    for i in range(out.size):
        if jumps[i] == 1:
            total, state = one_pull(law, arm, total, pulls, state)
        else:
            total, state = more_pulls(law, arm, total, pulls, jumps[i], state)
        pulls += jumps[i]
        out[i] = total


@driver
def facts_of(law: Any, arm: int) -> tuple[int, float, float, float, float]:
    """Return what a law tells kernels besides its pulls."""
    return pulls_available(law), spread(law), mean_of(law, arm), unit_of(law), proxy_of(law)


def sums(arms: Arms, arm: int, k: int, size: int = 100_000, at_once: bool = True) -> Floats:
    """Return independent sums of k pulls, in law units."""
    out = np.empty(size)
    (draw_at_once if at_once else draw_one_by_one)(arms.kernel_law(), arm, k, KEY, out)
    return out


def sums_between(
    arms: Arms, arm: int, k: int, later: float, later_k: int, size: int = 100_000
) -> Floats:
    """Return independent sums after 7 + k pulls, the first 7 adding up to 3 and the first 7 + later_k
    to `later`, in law units."""
    out = np.empty(size)
    draw_between(arms.kernel_law(), arm, k, later, later_k, KEY, out)
    return out


# Variance proxies.


def quotients(centred: Floats, p: Floats, t: Floats) -> Floats:
    """Return 2 K(t) / t^2, where K is the cumulant generating function of a centred law."""
    cumulant: Floats = special.logsumexp(np.outer(t, centred), axis=1, b=p)
    return 2.0 * cumulant / t**2
