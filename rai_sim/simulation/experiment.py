"""What decides the numbers of a simulation."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from rai_sim.algorithms.base import Algorithm
from rai_sim.engine.streams import STREAM_VERSION
from rai_sim.problem import Problem


@dataclass(frozen=True, eq=False)
class Experiment:
    """Everything that decides what a replication of a given index does.

    Parameters
    ----------
    problem : Problem
        Arms, clusters and required representatives.
    algorithm : Algorithm
        The algorithm with its options.
    delta : float
        Error probability the algorithm is run with.
    seed : int
        Seed of all streams; the drawn one if the simulation was given None.
    skip_error : float
        Total variation per replication that skipping rounds may cost; 0 skips only what is certain.
    max_pulls : int or None
        Pulls at which a replication is given up; None for no cap.

    Examples
    --------
    >>> import rai_sim as rai
    >>> experiment = Experiment(rai.table_problem(task=2), rai.Vanilla(), 0.01, 0, 1e-12, None)
    >>> experiment.identity()
    'Experiment:Vanilla(merging=True):delta=0.01:seed=0:skip_error=1e-12:max_pulls=None:Problem:Bernoulli:...'
    """

    problem: Problem
    algorithm: Algorithm
    delta: float
    seed: int
    skip_error: float
    max_pulls: int | None
    #: Why it cannot be run here, and the remedy: of experiments from a store
    #: (`rai_sim.study.stored`); None for all others.
    why_not_run: ClassVar[str | None] = None

    def identity(self) -> str:
        """Return a text that two experiments share exactly when equal indices stand for equal
        replications.

        Returns
        -------
        str
            A readable head, and a SHA-256 of everything that defines the numbers, `STREAM_VERSION`
            included.
        """
        return self._identity

    @cached_property
    def key(self) -> str:
        """The SHA-256 alone, 64 hexadecimal digits."""
        return self.identity().rpartition(":")[2]

    @cached_property
    def _identity(self) -> str:
        parts = dict(self._parts)
        digest = hashlib.sha256(repr((STREAM_VERSION, sorted(parts.items()))).encode()).hexdigest()
        problem, algorithm = str(parts.pop("problem")).rpartition(":")[0], parts.pop("algorithm")
        options = ":".join(f"{name}={value}" for name, value in parts.items())
        return f"Experiment:{algorithm}:{options}:{problem}:{digest}"

    @cached_property
    def _parts(self) -> dict[str, object]:
        # Plain Python numbers: the repr of a NumPy scalar of the same value is another text.
        return {
            "problem": self.problem.identity(),
            "algorithm": repr(self.algorithm),
            "delta": float(self.delta),
            "seed": int(self.seed),
            "skip_error": float(self.skip_error),
            "max_pulls": None if self.max_pulls is None else int(self.max_pulls),
        }

    def differences(self, other: Experiment) -> tuple[str, ...]:
        """Return the names of the parts in which two experiments differ; empty if they are one
        experiment.

        Examples
        --------
        >>> import rai_sim as rai
        >>> a, b = (Experiment(rai.table_problem(), rai.LUCB(), 0.01, seed, 1e-12, None) for seed in (0, 1))
        >>> a.differences(b)
        ('seed',)
        """
        if self is other:
            return ()
        return tuple(name for name, value in self._parts.items() if value != other._parts[name])

    def __eq__(self, other: object) -> bool:
        """Compare by `identity`."""
        return isinstance(other, Experiment) and self.identity() == other.identity()

    def __hash__(self) -> int:
        """Hash the identity."""
        return hash(self.identity())
