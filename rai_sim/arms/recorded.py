"""Recorded arms: rewards replayed from a matrix, such as a log of real pulls."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rai_sim.arms.base import Arms, checked_sigma, frozen_array
from rai_sim.engine import law as operations
from rai_sim.engine.jit import implements
from rai_sim.engine.streams import State
from rai_sim.support.errors import ArgumentValueError


@dataclass(frozen=True, eq=False, init=False)
class Recorded(Arms):
    """Arms that replay a recording: pull t of arm k gives `rewards[k, t]`, in every replication.

    Replications differ only in how ties are broken. A simulation that asks for more pulls than were
    recorded stops with an error naming the arm and the pull. Only certificates that hold with
    certainty are used to skip rounds, whatever `skip_error` says, so a replay is exact for any
    recording.

    Parameters
    ----------
    rewards : array_like, shape (N, T)
        One row an arm, one column a pull, in the order of the pulls.
    means : array_like, shape (N,), optional
        The means that define the clusters; the averages of the rows when None.
    sigma : float, optional
        Tell algorithms and bounds that rewards are sigma-sub-Gaussian, as rewards within 2 sigma of
        each other are. None is 1/2, for rewards in [0, 1].

    Raises
    ------
    TypeError
        If an argument does not hold numbers.
    ValueError
        If a shape is wrong, an entry is NaN or beyond 1e50, or `sigma` is not positive.

    Examples
    --------
    >>> Recorded([[1, 0, 1, 1], [0, 0, 1, 0]]).means
    array([0.75, 0.25])
    """

    rewards: NDArray[np.float64]
    means: NDArray[np.float64]
    sigma: float | None = None

    def __init__(
        self, rewards: ArrayLike, means: ArrayLike | None = None, sigma: float | None = None
    ) -> None:
        """Check and freeze the arguments."""
        table = frozen_array("rewards", rewards, 2)
        # From exact sums: rows of the same rewards in another order tie.
        averages = frozen_array(
            "means",
            [math.fsum(row.tolist()) / row.size for row in table] if means is None else means,
            1,
        )
        if len(averages) != len(table):
            raise ArgumentValueError(
                "means",
                f"means has {len(averages)} entries but rewards has {len(table)} rows; give one "
                "mean an arm",
            )
        object.__setattr__(self, "rewards", table)
        object.__setattr__(self, "means", averages)
        object.__setattr__(self, "sigma", checked_sigma(sigma))
        _ = self.rescaled  # which may leave the range of doubles

    def _over(self, scale: float) -> Recorded:
        return Recorded(self.rewards / scale, self.means / scale)

    def kernel_law(self) -> RecordedLaw:
        """Return the kernels' view of the law."""
        if self.sigma is not None:
            law: RecordedLaw = self.rescaled.kernel_law()
            return law
        prefix = np.zeros((self.n_arms, self.rewards.shape[1] + 1))
        np.cumsum(self.rewards, axis=1, out=prefix[:, 1:])
        return RecordedLaw(prefix, self.means.copy(), float(np.ptp(self.rewards)), math.inf)

    def why_not_sub_gaussian(self) -> str | None:
        """Return None if every recorded reward lies in [0, 1]; with sigma, if they lie within 2
        sigma of each other."""
        if self.sigma is not None:
            width = float(np.ptp(self.rewards))
            fine = width <= 2.0 * self.sigma
            return None if fine else f"sigma is {self.sigma}, but rewards are up to {width} apart"
        outside = np.argwhere((self.rewards < 0.0) | (self.rewards > 1.0))
        if not outside.size:
            return None
        arm, pull = (int(i) for i in outside[0])
        return f"rewards[{arm}, {pull}] is {self.rewards[arm, pull]}, outside [0, 1]"

    def _identity_parts(self) -> tuple[object, ...]:
        return (self.rewards.shape, self.rewards, self.means)


class RecordedLaw(NamedTuple):
    """What kernels know: sums of the first t rewards (N, T + 1), means (N,), the range of the
    rewards, and a variance proxy.

    The proxy is infinite: a recording need not be a sample of anything. Tests that replay samples
    of a known law set it.
    """

    prefix: NDArray[np.float64]
    mean: NDArray[np.float64]
    width: float
    variance_proxy: float


@implements(operations.one_pull, RecordedLaw)
def _one_pull(
    law: RecordedLaw, arm: int, total: float, pulls: int, state: State
) -> tuple[float, State]:
    return law.prefix[arm, pulls + 1], state


@implements(operations.more_pulls, RecordedLaw)
def _more_pulls(
    law: RecordedLaw, arm: int, total: float, pulls: int, k: int, state: State
) -> tuple[float, State]:
    return law.prefix[arm, pulls + k], state


@implements(operations.pulls_available, RecordedLaw)
def _pulls_available(law: RecordedLaw) -> int:
    return law.prefix.shape[1] - 1


@implements(operations.spread, RecordedLaw)
def _spread(law: RecordedLaw) -> float:
    return law.width


@implements(operations.mean_of, RecordedLaw)
def _mean_of(law: RecordedLaw, arm: int) -> float:
    return law.mean[arm]


@implements(operations.unit, RecordedLaw)
def _unit(law: RecordedLaw) -> float:
    return 1.0


@implements(operations.proxy, RecordedLaw)
def _proxy(law: RecordedLaw) -> float:
    return law.variance_proxy


@implements(operations.handy, RecordedLaw)
def _handy(law: RecordedLaw, k: int) -> int:
    return k


@implements(operations.has_words, RecordedLaw)
def _has_words(law: RecordedLaw) -> bool:
    return False


@implements(operations.word, RecordedLaw)
def _word(law: RecordedLaw, arm: int, pulls: int, state: State) -> tuple[np.uint64, State]:
    return np.uint64(0), state
