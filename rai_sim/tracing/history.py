"""A replication run again with its history, and the pulls of each arm, for which it often is. What
is told of one replication is in `rai_sim.tracing.trace`."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.blocks import Block, new_block
from rai_sim.engine.faults import KernelStopped
from rai_sim.engine.history import new_history
from rai_sim.simulation.experiment import Experiment
from rai_sim.simulation.result import Result
from rai_sim.simulation.workers import caps_of, run_into
from rai_sim.support.checks import check_count, short
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError


def run_with_history(experiment: Experiment, replication: int, rounds: NDArray[np.int64]) -> Block:
    """Run one replication with its history and its states at some rounds; round 1 is always asked
    for, as clusters may merge in it, and what is recommended at a cap, as that is when the last sums
    are drawn there."""
    problem = experiment.problem
    while True:
        block = new_block(
            1,
            sum(problem.required),
            problem.n_arms,
            new_history(np.union1d(rounds, [1]), problem.n_arms),
            budgets=caps_of(experiment),
        )
        with suppress(KernelStopped):  # by a signal whose handler does not want an end
            run_into(experiment, replication, block)
            return block


def arm_pulls(result: Result, replications: int = 100) -> NDArray[np.int64]:
    """Return the pulls of each arm in the first finished replications of a result: what it keeps
    (`keep="arm_pulls"`), else they are run again for it.

    Parameters
    ----------
    result : Result
        What `simulate` or a study returned.
    replications : int, default 100
        How many at most.

    Returns
    -------
    (R, N) int64
        Row sums are the replications' pulls.

    Raises
    ------
    TypeError, ValueError
        If `result` is no Result, or `replications` no positive integer; ValueError for an algorithm
        that keeps no history.

    Examples
    --------
    >>> import rai_sim as rai
    >>> result = rai.simulate(rai.table_problem(), rai.LUCB(), replications=50, seed=0)
    >>> pulls = rai.arm_pulls(result, 20)
    >>> pulls.shape, bool((pulls.sum(axis=1) == result.pulls[:20]).all())
    ((20, 10), True)
    """
    if not isinstance(result, Result):
        raise ArgumentTypeError(
            "result", f"result is {short.repr(result)}; give what rai.simulate returned"
        )
    wanted = check_count("replications", replications, 1)
    every = np.arange(result.problem.n_arms)
    return pulls_of_arms(result, wanted, every)


def pulls_of_arms(result: Result, wanted: int, arms: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the columns of `arm_pulls` that belong to some arms, without keeping the others.

    Examples
    --------
    >>> import rai_sim as rai
    >>> result = rai.simulate(rai.table_problem(), rai.LUCB(), replications=50, seed=0)
    >>> bool((pulls_of_arms(result, 20, np.array([7, 2])) == rai.arm_pulls(result, 20)[:, [7, 2]]).all())
    True
    """
    if result.arm_pulls is not None:
        rows = np.flatnonzero(result.finished)[:wanted]
        return result.arm_pulls[np.ix_(rows, arms)]
    indices = result.replication_index[result.finished][:wanted]
    found = np.empty((len(indices), len(arms)), np.int64)
    for row, index in enumerate(indices.tolist()):
        block = run_with_history(result.experiment, index, np.empty(0, np.int64))
        pulls = block.history.pulls[-1, 0]
        found[row] = pulls[arms]
        if pulls.sum() != block.pulls[0]:
            raise ArgumentValueError(
                "result",
                f"algorithm {result.algorithm.label} keeps no pulls by arm: its kernel does not "
                "write block.history (see rai_sim.engine.history)",
            )
    return found


def keeps_history(experiment: Experiment) -> bool:
    """Return whether replications of an experiment can be run again here with the pulls of each
    arm.

    Examples
    --------
    >>> import rai_sim as rai
    >>> keeps_history(Experiment(rai.table_problem(), rai.Vanilla(), 0.01, 0, 1e-12, None))
    True
    """
    if experiment.why_not_run is not None:
        return False
    if type(experiment.algorithm).__module__.startswith("rai_sim."):
        return True
    # an algorithm of the user's own may leave the history out
    block = run_with_history(experiment, 0, np.empty(0, np.int64))
    return int(block.history.pulls[-1, 0].sum()) == int(block.pulls[0])
