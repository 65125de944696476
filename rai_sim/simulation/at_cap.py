"""What replications recommend at their cap on pulls, and whether it is right: of those that stopped
before it is what they named."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.blocks import Block
from rai_sim.problem import Problem
from rai_sim.simulation.experiment import Experiment

#: In place of 1 and 0, right and wrong, where nothing is recommended at a cap.
NO_CAP = -1


class AtCap(NamedTuple):
    """Recommendations of replications: (R, sum of r) arms, and (R,) 1 or 0, whether all are right;
    `NO_CAP` where nothing is recommended, as may be with an algorithm of the user's own."""

    named: NDArray[np.int32]
    right: NDArray[np.int8]

    def cut(self, start: int, stop: int) -> AtCap:
        """Return those of rows start..stop-1."""
        return AtCap(self.named[start:stop], self.right[start:stop])


def at_cap_of(experiment: Experiment, block: Block) -> AtCap | None:
    """Return what the replications of a block recommend, each by itself; None without a cap."""
    if experiment.max_pulls is None:
        return None
    named = _in_the_end(block.finished, block.representatives, block.recommended[:, -1])
    right = is_right(experiment.problem, named).astype(np.int8)
    right[(named < 0).any(axis=1)] = NO_CAP
    return AtCap(named, right)


def what_is_recommended(
    finished: NDArray[np.bool_], named: NDArray[np.int32], at_cap: NDArray[np.int32]
) -> NDArray[np.int32] | None:
    """Return what finished replications have named, and others recommend at the cap, (R, sum of r);
    None if some recommend nothing."""
    recommended = _in_the_end(finished, named, at_cap)
    return None if (recommended < 0).any() else recommended


def _in_the_end(
    finished: NDArray[np.bool_], named: NDArray[np.int32], at_cap: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Return what finished replications have named, and others recommend; -1 for nothing."""
    recommended: NDArray[np.int32] = np.where(finished[:, None], named, at_cap)
    return recommended


def right_at_cap(
    experiment: Experiment, recommended: NDArray[np.int32] | None
) -> NDArray[np.bool_] | None:
    """Return whether recommendations at the cap are right, (R,); None without a cap, or where it is
    not known what they are."""
    if experiment.max_pulls is None or recommended is None:
        return None
    return is_right(experiment.problem, recommended)


def is_right(problem: Problem, named: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return whether all arms that are named belong to their clusters, (...) for (..., sum of r).

    Examples
    --------
    >>> import rai_sim as rai
    >>> problem = rai.top(rai.Bernoulli([0.9, 0.8, 0.1]), 2)
    >>> is_right(problem, np.array([[1, 0], [0, 2], [-1, -1]], np.int32)).tolist()
    [True, False, False]
    """
    asked = np.repeat(np.arange(problem.n_clusters), problem.required)
    right = (problem.cluster_of[named] == asked) & (named >= 0)
    return np.asarray(right.all(axis=-1))
