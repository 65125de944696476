"""Pilots: how many replications, how long, and what is known of those that do not end."""

import pytest
from studies import Endless, pairs

import rai_sim as rai
from rai_sim.algorithms.base import ALGORITHMS
from rai_sim.simulation.experiment import Experiment
from rai_sim.simulation.parts import Part
from rai_sim.study import Study, pilot
from rai_sim.study.pilot import Limits, load_kernels, run_pilot
from rai_sim.study.state import PILOT

EASY = Study.grid(pairs(0.4), [rai.Vanilla()], [0.1], seed=5).tasks[0].experiment


def endless(ends: int) -> Experiment:
    """Return an experiment of which so many replications end."""
    return Study.grid(pairs(0.4), [Endless(ends=ends)], [0.1]).tasks[0].experiment


def steps(seconds: list[float], most: int, limits: Limits) -> list[int]:
    """Return how many replications are run at a time where each takes so many seconds, the last
    ones as long as the last that is said."""
    clock, sizes = pilot._Clock(most, limits), list[int]()
    while (size := clock.next()) > 0:
        took = sum(seconds[min(i, len(seconds) - 1)] for i in range(clock.done, clock.done + size))
        clock.note(Part(size, took, False), size, took)
        sizes.append(size)
    return sizes


def test_a_pilot_is_the_first_replications() -> None:
    """Their pulls, errors and representatives; no more than are of use."""
    run = rai.simulate(EASY.problem, EASY.algorithm, delta=0.1, replications=40, seed=5)
    found = run_pilot(EASY, 40, Limits(20.0))
    assert (found.replications, found.pulls) == (40, run.pulls.sum())
    assert found.sums.pulls_squares == (run.pulls**2).sum()
    assert found.sums.errors == 40 - run.correct.sum()
    assert found.named.tolist() == run.representatives[: len(found.named)].tolist()
    assert found.pulls_each == run.pulls.mean()
    assert (found.given_up, found.flaw) == (False, None)
    assert found.each > 0.0


def test_how_many_are_run() -> None:
    """Sixteen, more of short ones until they took a tenth of a second, fewer of long ones; a part
    is at most four times what there is."""
    assert steps([0.02], 10**6, Limits(1.0)) == [1, PILOT - 1]
    short = steps([1e-4], 10**6, Limits(1.0))
    assert short[:3] == [1, 15, 64]
    assert 0.1 <= 1e-4 * sum(short) < 0.11
    assert steps([1e-9], 2048, Limits(1.0)) == [1, 15, 64, 320, 1600, 48]
    assert steps([1e-9], 20, Limits(1.0)) == [1, 15, 4]
    long = steps([0.2], 10**6, Limits(1.0))
    assert long == [1, 2, 1]
    assert steps([0.9], 10**6, Limits(1.0)) == [1]


def test_the_first_replication_is_not_measured_where_there_are_others() -> None:
    """Much in it happens once."""
    clock = pilot._Clock(100, Limits(10.0))
    clock.note(Part(1, 0.5, False), 1, 0.5)
    assert clock.each == 0.5
    clock.note(Part(15, 0.15, False), 15, 0.15)
    assert clock.each == pytest.approx(0.01)


@pytest.mark.parametrize("ends", [0, 1, 5])
def test_what_does_not_end_is_given_up(ends: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the time that it has; its pulls so far count, and those of all before it."""
    monkeypatch.setitem(ALGORITHMS, "endless", Endless)
    found = run_pilot(endless(ends), 100, Limits(0.15))
    assert (found.replications, found.given_up) == (ends, True)
    assert found.pulls == sum(range(10, 10 + ends)) + 1000
    assert found.pulls_each == found.pulls / (ends + 1)


def test_kernels_are_loaded_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """One replication of each law with each algorithm, whatever the instance."""
    ran = []
    monkeypatch.setattr(pilot, "run_pilot", lambda run, most, limits: ran.append((run, most)))
    tasks = Study.grid(pairs(0.4, 0.2), [rai.Vanilla(), rai.LUCB()], [0.1, 0.01]).tasks
    load_kernels([task.experiment for task in tasks], 1.0)
    assert [(run.algorithm, most) for run, most in ran] == [(rai.Vanilla(), 1), (rai.LUCB(), 1)]
