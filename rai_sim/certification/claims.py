"""What is claimed of an algorithm, and what counts against it in a replication."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from rai_sim import bounds
from rai_sim.algorithms.base import Algorithm
from rai_sim.problem import Problem
from rai_sim.simulation.result import Result
from rai_sim.simulation.theorems import allowed_pulls, upper_bound
from rai_sim.support.checks import check_count
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError, OrNone
from rai_sim.support.limits import MOST_PULLS
from rai_sim.support.values import is_choice
from rai_sim.support.wording import short

#: A replication is given up at so many times what Theorems 2 and 3 allow, the larger one: on hard
#: instances some 25 times what Vanilla takes.
_CAP = 4.0


class Claim(ABC):
    """A claim that something happens in a replication with probability at most delta, on every
    instance."""

    #: What `certify` calls it.
    name: ClassVar[str]
    #: What happened, of several replications; in a table; and its probability.
    event: ClassVar[str]
    title: ClassVar[str]
    rate: ClassVar[str]
    #: The verdict where the claim does not hold.
    refuted: str

    @abstractmethod
    def cap(self, problem: Problem, algorithm: Algorithm, delta: float) -> int:
        """Return the pulls at which a replication is given up."""

    @abstractmethod
    def counts(self, result: Result) -> tuple[int, int]:
        """Return in how many replications it happened, and in how many more it might have."""


class DeltaPC(Claim):
    """An algorithm is delta-PC: with probability at most delta it stops with a wrong output."""

    name, refuted = "error", "not delta-PC"
    event, title, rate = "outputs are wrong", "errors", "error rate"

    def __init__(self, max_pulls: int | None) -> None:
        """Keep the cap of all instances, None for one by the theorems."""
        self._max_pulls = None if max_pulls is None else check_count("max_pulls", max_pulls, 1)

    def cap(self, problem: Problem, algorithm: Algorithm, delta: float) -> int:
        """Return the cap that was given, or four times what the theorems allow.

        Theorem 3 alone knows what a first round of Butterscotch takes, however easy the instance.
        """
        if self._max_pulls is not None:
            return self._max_pulls
        return _whole(
            _CAP * max(bounds.vanilla(problem, delta), bounds.butterscotch(problem, delta))
        )

    def counts(self, result: Result) -> tuple[int, int]:
        """Count wrong outputs, and replications that the cap ended: they might have erred."""
        finished = int(np.count_nonzero(result.finished))
        right = int(np.count_nonzero(result.correct))
        return finished - right, result.replications - finished


class PullsBound(Claim):
    """A theorem's bound on an algorithm's pulls is exceeded with probability at most delta."""

    name, event = "pulls", "replications took more pulls than the bound"
    title, rate = "above bound", "rate above the bound"

    def __init__(self, algorithm: Algorithm, max_pulls: int | None) -> None:
        """Find the theorem."""
        if max_pulls is not None:
            raise ArgumentValueError(
                "max_pulls",
                f"max_pulls is {short.repr(max_pulls)} but the claim is about pulls, so every "
                "replication is given up at the bound: leave it out",
                OrNone(", or give None"),
            )
        if algorithm.theorem is None:
            raise ArgumentValueError(
                "claim",
                f"claim is 'pulls' but no theorem bounds the pulls of {algorithm.label}; choose "
                "'error', or an algorithm that has a theorem",
            )
        self.refuted = f"{algorithm.theorem[1]} is violated"

    def cap(self, problem: Problem, algorithm: Algorithm, delta: float) -> int:
        """Return the bound, rounded up as the theorem's reading has it: who would pass it is not
        finished."""
        _, pulls = upper_bound(problem, algorithm, delta)
        assert pulls is not None  # or there would be no such claim
        most = allowed_pulls(pulls, problem)
        if not most <= MOST_PULLS:  # to be given up before the bound would be no violation
            raise ArgumentValueError(
                "problems",
                f"problems holds {problem!r}, where the bound is {most:.3g} pulls, more than the "
                f"{MOST_PULLS:,} that are simulated; take a wider gap",
            )
        return _whole(most)

    def counts(self, result: Result) -> tuple[int, int]:
        """Count replications that did not end within the bound; of none it is unknown."""
        return int(np.count_nonzero(~result.finished)), 0


def _whole(pulls: float) -> int:
    return math.floor(min(pulls, float(MOST_PULLS)))


#: What may be claimed.
CLAIMS = (DeltaPC.name, PullsBound.name)


def claim_called(name: str, algorithm: Algorithm, max_pulls: int | None) -> Claim:
    """Return the claim of a name.

    Raises
    ------
    TypeError, ValueError
        If there is none of that name, or none such of the algorithm, or the cap does not fit it.

    Examples
    --------
    >>> import rai_sim as rai
    >>> claim_called("pulls", rai.Butterscotch(), None).refuted
    'Theorem 3 is violated'
    """
    if not is_choice(name, CLAIMS):
        error = ArgumentValueError if isinstance(name, str) else ArgumentTypeError
        known = " or ".join(map(repr, CLAIMS))
        raise error("claim", f"claim is {short.repr(name)}; choose {known}")
    return DeltaPC(max_pulls) if name == DeltaPC.name else PullsBound(algorithm, max_pulls)
