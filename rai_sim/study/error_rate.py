"""When it is known on which side of delta a task's error rate lies, and the task may stop.

The evidence is that of `certify`, a confidence sequence (`rai_sim.certification.evidence`): it
holds wherever one stops, so one may look after any replication. Looks are those of
`rai_sim.study.stopping` all the same, 256, 305, 363, ..., at which sums are known, and which of
them are taken follows from the first so many replications alone: a task's number of replications
depends neither on workers nor on interruptions, nor on what else was stored.
"""

from __future__ import annotations

from collections.abc import Callable

from rai_sim.certification.verdicts import Seen, counts_of, most_over, verdict_on
from rai_sim.simulation.statistics import OPEN, Sums
from rai_sim.study.stopping import FIRST_LOOK, Verdict, next_look

#: What `until` may be, in `Study`.
ERROR_RATE = "error rate"
#: The next look is at most at so many times the replications there are: rates may turn out
#: otherwise.
_FARTHEST = 2.0


def most_of(delta: float) -> int:
    """Return where a task stops whose error rate is too near delta to tell, if nothing else is
    asked for: the look at some 200 / delta, or at some 10^8.

    Examples
    --------
    >>> most_of(0.1)
    2048
    """
    return next_look(most_over(delta))


def follow_errors(
    delta: float, level: float, most: int, prefix: Callable[[int], Sums | None]
) -> Verdict:
    """Follow the looks as far as the replications go, until the error rate is known to lie above
    delta or below.

    Parameters
    ----------
    delta : float
        What it is compared with, in (0, 1).
    level : float
        Probability that the verdict on this task is wrong, at most.
    most : int
        Replications at which to stop in any case.
    prefix : callable
        Given n, the sums of replications 0..n-1, or None if they are not all there.

    Returns
    -------
    Verdict
        The final one, `reached` if the side is known, or the next look as far as the replications
        tell. It has no interval of the mean.

    Examples
    --------
    >>> import numpy as np
    >>> wrong = np.random.default_rng(0).random(10_000) < 0.03
    >>> yes = np.ones(10_000, bool)
    >>> verdict = follow_errors(0.1, 0.01, 10_000, lambda n: Sums.of(1 * yes[:n], 1 * yes[:n], ~wrong[:n], yes[:n]))
    >>> verdict.replications, verdict.final, verdict.reached
    (256, True, True)
    """
    n = min(FIRST_LOOK, most)
    while (seen := prefix(n)) is not None:
        known = verdict_on(seen, delta, level) != OPEN
        if known or n >= most:
            return Verdict(n, True, known)
        n = expected(seen, delta, level, most, _FARTHEST * n)
    return Verdict(n, False, False)


def expected(seen: Sums, delta: float, level: float, most: int, farthest: float) -> int:
    """Return the look at which a task will stop if errors go on as they were.

    Parameters
    ----------
    seen : Sums
        Of at least one replication.
    delta, level, most
        As in `follow_errors`.
    farthest : float
        Replications from which on no look is foreseen.

    Examples
    --------
    >>> from rai_sim.simulation.statistics import Sums
    >>> none = Sums(256, 256, 0, 0, 0, 0, 0, 0)
    >>> [expected(none, delta, 0.05, 10**6, 10**6) for delta in (0.1, 0.01, 0.001)]
    [305, 431, 4871]
    """
    n = seen.replications
    counts = counts_of(seen)
    while (n := next_look(n + 1)) < min(farthest, most):
        share = n / counts.replications
        like = Seen(n, round(share * counts.errors), round(share * counts.capped))
        if like.finding(delta, level) != OPEN:
            break
    return min(n, most)


def later(one: Verdict, other: Verdict) -> Verdict:
    """Return where a task stands of which two things are asked: the verdict that ends later, with
    the first one's interval if that is of all its replications.

    Examples
    --------
    >>> precise, known = Verdict(305, True, True, (1.0, 2.0), 0.3), Verdict(512, True, True)
    >>> later(precise, known)
    Verdict(replications=512, final=True, reached=True, interval=(nan, nan), relative_half_width=nan)
    >>> later(precise, Verdict(256, True, False)).interval
    (1.0, 2.0)
    """
    both = one.final and other.final
    if one.replications >= other.replications:
        return one._replace(final=both)
    return Verdict(other.replications, both, one.reached)
