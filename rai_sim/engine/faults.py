"""Reasons for which a kernel stops before its block is done, and the errors they become."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.jit import inlined, kernel
from rai_sim.support.errors import ArgumentValueError, Named, WordedOverflowError
from rai_sim.support.limits import MOST_PULLS as MOST_PULLS

#: fault[0] is one of these; fault[1] and fault[2] are an arm and a pull number (1-based) where that
#: says something. Of a block that was asked to stop, fault[1] is the number of replications that
#: were finished.
NONE, RECORDING_RAN_OUT, TOO_MANY_PULLS, NOT_FINITE, STOPPED = 0, 1, 2, 3, 4
#: A user's own rule asked for `fault[1]` arms, more than there are or fewer than none; or named
#: something that is no arm, or an arm twice: `fault[1]`, at place `fault[2]`.
WRONG_COUNT, WRONG_ARM = 5, 6


class KernelStopped(Exception):
    """A block was asked to stop; `.replications` of it, its first rows, were finished."""

    def __init__(self, replications: int) -> None:
        """Keep how many."""
        super().__init__(replications)
        self.replications = replications


@kernel
def report(fault: NDArray[np.int64], code: int, arm: int, pull: int) -> None:
    """Note a fault."""
    fault[0], fault[1], fault[2] = code, arm, pull


@inlined
def went_well(fault: NDArray[np.int64], b: int) -> bool:
    """Whether the replication of row b was run to its end; of a block that was asked to stop, note
    that b of them were finished."""
    if fault[0] == STOPPED:
        fault[1] = b
    return fault[0] == NONE


@inlined
def finite(x: float) -> bool:
    """Whether a sum can be judged: every comparison with NaN is false, and what is computed from it
    or from an infinity is no index."""
    return abs(x) < np.inf


def wrong_count(returned: str) -> ArgumentValueError:
    """Return the error of a user's own rule whose `step` returned no number of arms.

    Examples
    --------
    >>> str(wrong_count("nothing"))
    'algorithm: step returned nothing; return how many of `arms` are to be pulled, ...'
    """
    return ArgumentValueError(
        "algorithm",
        f"algorithm: step returned {returned}; return how many of `arms` are to be pulled, from 1 to "
        "N, or 0 if they are the answer: an integer, in every case",
    )


def raise_fault(fault: NDArray[np.int64]) -> NoReturn:
    """Raise the error that a noted fault stands for."""
    code, arm, pull = (int(v) for v in fault)
    if code == STOPPED:
        raise KernelStopped(arm)
    if code == RECORDING_RAN_OUT:
        raise ArgumentValueError(
            "rewards",
            f"rewards: the recording of arm {arm} ran out: pull {pull} was asked for but only "
            f"{pull - 1} are recorded; record more pulls, raise delta, or cap the replications with ",
            Named("max_pulls"),
        )
    if code == NOT_FINITE:
        raise ArgumentValueError(
            "arms",
            f"arms: the sum of arm {arm}'s rewards is not finite at pull {pull}; "
            "a law must give finite rewards whose sums stay within the range of doubles: mend or "
            "rescale it",
        )
    if code == WRONG_COUNT:
        raise wrong_count(str(arm))
    if code == WRONG_ARM:
        raise ArgumentValueError(
            "algorithm",
            f"algorithm: step wrote {arm} into arms[{pull}]; an arm to be pulled is a number from 0 "
            "to N - 1, and an answer names each arm once at most",
        )
    raise WordedOverflowError(
        f"a replication would pass {MOST_PULLS} pulls (2^62); the gaps are too small to finish: "
        "cap it with ",
        Named("max_pulls"),
    )
