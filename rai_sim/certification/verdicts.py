"""Verdicts on the error rates of many tasks, corrected for their number: the one place of that.

A verdict says that the probability of an error lies above delta, or that it is at most delta, or
leaves it open. It rests on the confidence sequence of `rai_sim.certification.evidence`, so it
holds however often one looks, whenever one stops, and whatever decided how many replications there
are: their number, a precision, the verdict itself.

*The correction is Bonferroni's.* Of n tasks each is judged at alpha / n. Only one of the verdicts
on a task can be wrong: "above" where the probability is at most delta, "below" where it is larger;
and it is given with probability alpha / n at most. So with probability 1 - alpha all verdicts on
all tasks are right, at all times together. Nothing is supposed of how tasks depend on each other:
those of a study share the streams of their replications. (Holm's procedure would judge some tasks
more mildly as others are decided. A task's verdict, and where it stops, would then depend on the
replications of others; and where verdicts go in two directions it needs tasks to be independent.)

A replication that the cap of pulls ended may have erred: it counts as right where a rate is to be
shown to lie above delta, and as wrong where it is to be shown not to.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from rai_sim.certification.evidence import Evidence
from rai_sim.simulation.statistics import ABOVE, BELOW, OPEN, Sums
from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.values import real
from rai_sim.support.wording import all_but, count, percent, short

#: The probability that any verdict on any of several tasks is wrong, if nothing else is asked for.
ALPHA = 0.05
#: An instance may have so many replications over delta: one of 27 whose rate is 3/2 delta shows it
#: with probability 0.96 and more.
_MOST_OVER_DELTA = 200.0
#: And never more than these: of smaller deltas no number that can be run shows on which side of them
#: a rate lies.
_MOST = 10**8


class Seen(NamedTuple):
    """Replications, how many of them count against the claim, and how many more might."""

    replications: int = 0
    errors: int = 0
    capped: int = 0

    def readings(self, delta: float) -> tuple[Evidence, Evidence]:
        """Return what is known of the rate, those that might be errors taken for none, and for
        errors."""
        return (
            Evidence(self.errors, self.replications, delta),
            Evidence(self.errors + self.capped, self.replications, delta),
        )

    def finding(self, delta: float, level: float) -> str:
        """Return on which side of delta the rate lies."""
        least, most = self.readings(delta)
        return ABOVE if least.is_above(level) else BELOW if most.is_below(level) else OPEN


def check_alpha(alpha: object) -> float:
    """Return what the probability of a wrong verdict may be at most, a float in (0, 1).

    Raises
    ------
    TypeError, ValueError
        If it is none.
    """
    level = real("alpha", alpha)
    if not 0.0 < level < 1.0:
        raise ArgumentValueError(
            "alpha",
            f"alpha is {short.repr(alpha)}; it must be a probability strictly between 0 and 1, "
            "such as 0.01",
        )
    return level


def most_over(delta: float) -> int:
    """Return the most replications that a verdict is waited for, if nothing else is asked for.

    Examples
    --------
    >>> most_over(0.01), most_over(1e-100)
    (20000, 100000000)
    """
    return min(math.ceil(_MOST_OVER_DELTA / delta), _MOST)


def level_of_each(alpha: float, tasks: int) -> float:
    """Return the level at which each of several tasks is judged, so that all verdicts are right
    with probability 1 - alpha.

    Examples
    --------
    >>> level_of_each(0.05, 10)
    0.005
    """
    return alpha / max(tasks, 1)


def verdict_on(seen: Sums, delta: float, level: float) -> str:
    """Return on which side of delta a task's error rate lies.

    Parameters
    ----------
    seen : Sums
        What the task's replications add up to.
    delta : float
        In (0, 1).
    level : float
        That of the one task: `level_of_each`.

    Returns
    -------
    {"above delta", "below delta", "open"}
        "below delta" is said of a probability of at most delta.

    Examples
    --------
    >>> from rai_sim.simulation.statistics import NOTHING
    >>> verdict_on(NOTHING, 0.1, 0.05)
    'open'
    """
    return counts_of(seen).finding(delta, level)


def counts_of(seen: Sums) -> Seen:
    """Return replications, errors, and how many more the cap hides."""
    return Seen(seen.replications, seen.errors, seen.replications - seen.finished)


def how_sure(alpha: float, tasks: int) -> str:
    """Return what may be said of all verdicts together, in words.

    Examples
    --------
    >>> how_sure(0.05, 54)
    'verdicts on 54 tasks, all right with probability 95 % (Bonferroni), wherever they stop'
    """
    return (
        f"verdicts on {count(tasks, 'task')}, all right with probability {all_but(alpha, percent)} "
        "(Bonferroni), wherever they stop"
    )
