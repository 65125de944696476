"""How far a long replication is: what kernels say while they run, and what is made of it."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

import rai_sim as rai
from rai_sim.algorithms.base import Algorithm
from rai_sim.engine.faults import KernelStopped
from rai_sim.engine.stop import ACTIVE, PULLS, REPLICATION, ROUND, new_position
from rai_sim.problem import Problem
from rai_sim.simulation.experiment import Experiment
from rai_sim.simulation.underway import Lookout, Sight, underway
from rai_sim.simulation.workers import block_for, run_into

_CLOSE = np.array([0.5, 0.4999999, 0.4999998])
_MANY = np.repeat([0.5, 0.4999999], 1000)
#: One replication of each would take minutes to hours, most of it in one stride, with all arms
#: active; and how many first pulls there are, and pulls a round, least and most.
CASES: dict[str, tuple[Algorithm, Problem, int, int, int]] = {
    "sums": (rai.Vanilla(), rai.full_ranking(rai.Gaussian(_CLOSE)), 0, 3, 3),
    "words": (rai.Vanilla(), rai.full_ranking(rai.Bernoulli(_CLOSE)), 0, 3, 3),
    "last two": (rai.Vanilla(), rai.best_arm(rai.Gaussian(_CLOSE[:2])), 0, 2, 2),
    "last two, sure": (rai.Vanilla(), rai.best_arm(rai.Bernoulli(_CLOSE[:2])), 0, 2, 2),
    "many": (rai.Vanilla(), rai.top(rai.Bernoulli(_MANY), 1000), 0, 2000, 2000),
    "in step": (rai.LUCB(), rai.best_arm(rai.Gaussian(_CLOSE[:2])), 2, 2, 2),
    "in step, sure": (rai.LUCB(), rai.best_arm(rai.Bernoulli(_CLOSE[:2])), 2, 2, 2),
    "corridors": (rai.LUCB(), rai.top(rai.Gaussian(_CLOSE), 1), 3, 1, 3),
    "challenge": (rai.LUCB(), rai.top(rai.Bernoulli(_CLOSE), 1), 3, 1, 3),
    "lanes": (rai.LUCB(), rai.top(rai.Bernoulli([*_CLOSE, 0.4999997]), 2), 4, 1, 4),
}
#: The kernel of many arms is compiled for this alone.
MARKS = {"many": pytest.mark.landing}


def experiment_of(algorithm: Algorithm, problem: Problem) -> Experiment:
    """Return what jumps by sure bounds alone: long ones would be over at once."""
    return Experiment(problem, algorithm, 0.1, 1, 0.0, None)


@pytest.mark.parametrize("name", [pytest.param(one, marks=MARKS.get(one, ())) for one in CASES])
def test_a_kernel_says_how_far_it_is_in_every_stride(name: str) -> None:
    """Rounds and pulls grow while it runs, and belong together when it has been stopped."""
    algorithm, problem, first, least, most = CASES[name]
    experiment = experiment_of(algorithm, problem)
    run_into(replace(experiment, max_pulls=1), 0, block_for(experiment, 1))  # compiles
    block, seen, n = block_for(experiment, 1), list[list[int]](), problem.n_arms

    def run() -> None:
        with pytest.raises(KernelStopped):
            run_into(experiment, 17, block)

    kernel = threading.Thread(target=run)
    kernel.start()
    position, until = block.history.position, time.monotonic() + 30.0
    while len(seen) < 5 and kernel.is_alive() and time.monotonic() < until:
        cells = position.tolist()
        if cells[REPLICATION] == 17 and cells[ROUND] > (seen[-1][ROUND] if seen else 0):
            seen.append(cells)
        time.sleep(0.01)
    block.history.stop[0] = 1
    kernel.join(30.0)
    assert not kernel.is_alive()
    assert len(seen) == 5
    seen.append(position.tolist())
    assert [cells[REPLICATION] for cells in seen] == [17] * 6
    assert [cells[ACTIVE] for cells in seen] == [n] * 6
    assert all(a[PULLS] <= b[PULLS] for a, b in pairwise(seen))
    R, pulls = seen[-1][ROUND], seen[-1][PULLS]
    assert first + least * R <= pulls <= first + most * R


def test_positions_are_of_the_replication_that_runs() -> None:
    """After a block that of its last one; arms that were settled are not left."""
    problem = rai.Problem(rai.Bernoulli([0.9, 0.5, 0.45, 0.1]), (1, 2, 1), (1, 2, 1))
    for algorithm in (rai.Vanilla(), rai.Butterscotch(), rai.LUCB()):
        experiment = Experiment(problem, algorithm, 0.1, 1, 1e-12, None)
        block = block_for(experiment, 20)
        assert block.history.position.tolist() == [-1] * 4
        run_into(experiment, 5, block)
        cells = block.history.position.tolist()
        assert cells[REPLICATION] == 24
        # the last look is one before the end
        assert 0 <= cells[ROUND] <= block.rounds[-1]
        assert 0 <= cells[PULLS] <= block.pulls[-1]
        assert 2 <= cells[ACTIVE] <= 4


def position_of(*cells: int) -> NDArray[np.int64]:
    """Return a position."""
    position = new_position()
    position[:] = cells
    return position


VANILLA = experiment_of(rai.Vanilla(), rai.table_problem())


def test_who_looks_tells_of_what_takes_long() -> None:
    """A second after it was first seen; not of a replication that has just begun, nor when it is
    over."""
    lookout, position = Lookout(lambda _: ""), new_position()
    with underway(VANILLA, position):
        assert [lookout.words(now) for now in (0.0, 5.0)] == ["", ""]  # the kernel says nothing
        position[:] = 3, 10, 100, 10
        assert [lookout.words(now) for now in (6.0, 6.9)] == ["", ""]
        position[:] = 3, 2_345_678, 9_876_543_210, 2
        assert lookout.words(7.0) == (
            "replication 3: round 2.35e6, 9.88e9 pulls, 2 of 10 arms left"
        )
        position[:] = 4, 7, 70, 10
        assert [lookout.words(now) for now in (7.5, 8.4)] == ["", ""]
        assert lookout.words(8.6) == "replication 4: round 7, 70 pulls, 10 of 10 arms left"
    assert lookout.words(9.0) == ""
    with underway(VANILLA, position):  # the same once more: another run of it
        assert lookout.words(10.0) == ""


def test_of_several_the_longest_is_told_of() -> None:
    """With the number of the others, and its name; those of somebody else are not looked at."""
    other = experiment_of(rai.LUCB(), rai.table_problem())
    lookout = Lookout(lambda one: "table" if one is VANILLA else None)
    with underway(other, position_of(0, 1, 1, 1)), underway(VANILLA, position_of(8, 20, 90, 5)):
        assert lookout.words(0.0) == ""
        with (
            underway(VANILLA, position_of(7, 1, 10, 10)),
            underway(VANILLA, position_of(6, 1, 10, 10)),
        ):
            assert lookout.words(1.0) == (
                "replication 8: round 20, 90 pulls, 5 of 10 arms left (table)"
            )
            assert lookout.words(2.0) == (
                "replication 8: round 20, 90 pulls, 5 of 10 arms left; 2 more under way (table)"
            )
    assert lookout.words(3.0) == ""


def test_numbers_of_a_million_arms_stay_short() -> None:
    """A line of a terminal holds them."""
    words = str(Sight("", 0.0, 999_999, 10**15, 10**18, 10**6, 10**6))
    assert words == (
        "replication 999999: round 1.00e15, 1.00e18 pulls, 1,000,000 of 1,000,000 arms left"
    )
