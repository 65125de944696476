"""What a round-robin schedule offers to the shared loop; Vanilla and Butterscotch implement it in
their own files, LUCB in step (its threshold alone) and a user's own width in theirs.

A schedule is a NamedTuple; compiled code picks the version by its type (see
`rai_sim.engine.jit.implements`). Rounds and pulls are passed as doubles, exact up to 2^53.
"""

from __future__ import annotations

from typing import Any, NoReturn


def _no_python_version(operation: str, schedule: Any) -> NoReturn:
    raise TypeError(
        f"{operation} was given {type(schedule).__name__}, which no compiled schedule stands for; "
        "call it from a kernel"
    )


def every_round(schedule: Any) -> bool:
    """Return whether a round is one pull an arm, so that skipping rounds pays."""
    _no_python_version("every_round", schedule)


def pulls_after(schedule: Any, R: float) -> float:
    """Return t_R, the pulls an active arm has after round R >= 1."""
    _no_python_version("pulls_after", schedule)


def threshold(schedule: Any, R: float) -> float:
    """Return W(R) = t_R w_R, in sums of rewards: an arm beats another when its sum is larger by
    more than this."""
    _no_python_version("threshold", schedule)


def threshold_after(schedule: Any, R0: float, W0: float, R: float) -> float:
    """Return a lower bound of W(R), R0 <= R <= 2 R0, from W0 <= W(R0): close, without a logarithm;
    for schedules of every round."""
    _no_python_version("threshold_after", schedule)


def shift(schedule: Any) -> float:
    """Return a number of rounds such that W(R) / sqrt(R + shift) does not fall with R; infinite if
    no more is known than that W does not; for schedules of every round."""
    _no_python_version("shift", schedule)


def leaps(schedule: Any) -> bool:
    """Return whether the last two arms' jumps may be judged after the fact
    (`rai_sim.engine.round_robin.leaps`); for schedules of every round."""
    _no_python_version("leaps", schedule)
