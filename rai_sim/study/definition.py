"""What a study wants: which tasks, how many replications of each, and what is kept of them.

A method belongs here if it says what is wanted; what runs a study, or reads its results, is in
`grid`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from rai_sim.certification.verdicts import ALPHA, check_alpha, level_of_each
from rai_sim.simulation.statistics import Sums
from rai_sim.study.arguments import (
    check_keep,
    check_precision,
    check_tasks,
    check_until,
    refuse_both,
)
from rai_sim.study.error_rate import follow_errors, later, most_of
from rai_sim.study.ledger import Pieces
from rai_sim.study.stopping import Verdict, follow
from rai_sim.study.task import Task
from rai_sim.support.checks import check_count

#: Replications of a task if neither their number nor a precision is given, and the most a precision
#: may take.
_REPLICATIONS, _MOST_REPLICATIONS = 1000, 10**8


@dataclass(frozen=True, eq=False)
class Definition:
    """What is wanted of a study; `Study`, which is one that can be run, says what the fields mean
    and which values they may have."""

    tasks: Sequence[Task]
    replications: int | None = None
    precision: float | None = None
    most_replications: int | None = None
    keep: str = "replications"
    until: str | None = None
    alpha: float = ALPHA

    def __post_init__(self) -> None:
        """Check everything."""
        object.__setattr__(self, "tasks", check_tasks(self.tasks))
        self._check_numbers()
        check_keep(self.keep, self.tasks)

    def _check_numbers(self) -> None:
        """Check what says how many replications there are to be."""
        for name in ("precision", "until"):
            refuse_both(self.replications, name, getattr(self, name))
        if self.until is not None:
            object.__setattr__(self, "until", check_until(self.until))
        object.__setattr__(self, "alpha", check_alpha(self.alpha))
        if self.precision is not None:
            object.__setattr__(self, "precision", check_precision(self.precision))
        elif self.until is None:
            n = (
                _REPLICATIONS
                if self.replications is None
                else check_count("replications", self.replications, 1)
            )
            object.__setattr__(self, "replications", n)
        if self.most_replications is not None:
            most = check_count("most_replications", self.most_replications, 2)
            object.__setattr__(self, "most_replications", most)

    def verdict(self, task: Task, pieces: Pieces) -> Verdict:
        """Return where a task stands.

        Parameters
        ----------
        task : Task
            The task.
        pieces : Pieces
            What there is of it in a store (`rai_sim.study.ledger`).

        Returns
        -------
        Verdict
            How many replications are needed, and whether that is final (`rai_sim.study.stopping`).
        """
        if self.replications is not None:
            return Verdict(self.replications, not pieces.gaps(0, self.replications), False)

        def prefix(n: int) -> Sums | None:
            # Sums stored by a study with another limit may not be cut at ours: then a few more
            # replications count.
            return pieces.prefix(n) or (None if pieces.gaps(0, n) else pieces.total_sums(n)[1])

        found = [
            *([] if self.precision is None else [follow(self.precision, self.most, prefix)]),
            *([] if self.until is None else [self._follow_errors(task, prefix)]),
        ]
        return reduce(later, found)

    def _follow_errors(self, task: Task, prefix: Callable[[int], Sums | None]) -> Verdict:
        delta = task.experiment.delta
        return follow_errors(delta, self.level, self.most_of_errors(delta), prefix)

    @property
    def decides(self) -> bool:
        """Whether the replications themselves decide how many there are to be."""
        return self.replications is None

    @property
    def most(self) -> int:
        """The most replications that a precision may take."""
        return _MOST_REPLICATIONS if self.most_replications is None else self.most_replications

    def most_of_errors(self, delta: float) -> int:
        """Return the most replications that a verdict on an error rate may take.

        Parameters
        ----------
        delta : float
            The task's delta.

        Returns
        -------
        int
            `most_replications` where that is given.
        """
        return most_of(delta) if self.most_replications is None else self.most_replications

    @property
    def level(self) -> float:
        """The level at which a single task's error rate is judged."""
        return level_of_each(self.alpha, len(self.tasks))

    @property
    def limit(self) -> int | None:
        """A number of replications at which sums of the first so many must be known, if it is no
        look."""
        if self.replications is not None:
            return self.replications
        return self.most if self.precision is not None else self.most_replications

    def describe(self) -> dict[str, Any]:
        """Return what is wanted, for the record of a run; the tasks themselves are written into the
        store.

        Examples
        --------
        >>> import rai_sim as rai
        >>> study = rai.Study.grid([rai.table_problem()], [rai.Vanilla()], [0.1], replications=50)
        >>> told = study.describe()
        >>> told["tasks"], told["replications"], told["algorithms"]
        (1, 50, ['Vanilla(merging=True)'])
        """
        return {
            "tasks": len(self.tasks),
            "replications": self.replications,
            "precision": self.precision,
            "until": self.until,
            "alpha": self.alpha,
            "most_replications": self.limit if self.decides else None,
            "keep": self.keep,
            "tasks_sha256": hashlib.sha256(
                " ".join(sorted(task.key for task in self.tasks)).encode()
            ).hexdigest(),
            "seeds": sorted({task.experiment.seed for task in self.tasks}),
            "skip_errors": sorted({task.experiment.skip_error for task in self.tasks}),
            "deltas": sorted({task.experiment.delta for task in self.tasks}),
            "algorithms": sorted(
                {
                    algorithm.label
                    # few objects of many tasks
                    for algorithm in {
                        id(task.experiment.algorithm): task.experiment.algorithm
                        for task in self.tasks
                    }.values()
                }
            ),
            "instances": sorted({task.instance for task in self.tasks}),
        }
