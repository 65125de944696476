"""Ranges of replications: joined, found in indices, refused where they overlap."""

import dataclasses

import numpy as np
import pytest

import rai_sim as rai
from rai_sim.simulation.merging import joined, ranges_of, refuse_other_experiment


@pytest.mark.parametrize("ranges", [[(0, 1)], [(0, 3), (5, 9)], [(2, 4), (5, 6), (8, 10)]])
def test_ranges_are_those_of_their_indices(ranges: list[tuple[int, int]]) -> None:
    """There and back."""
    index = np.concatenate([np.arange(start, stop) for start, stop in ranges])
    assert ranges_of(index) == joined(ranges) == tuple(ranges)


def test_neighbours_are_joined() -> None:
    """Also three in a row."""
    assert joined([(0, 2), (2, 3), (3, 9), (10, 11)]) == ((0, 9), (10, 11))


@pytest.mark.parametrize("ranges", [[], [(1, 1)], [(0, 3), (2, 4)], [(5, 6), (0, 1)], [(-1, 3)]])
def test_what_is_no_range(ranges: list[tuple[int, int]]) -> None:
    """Empty, overlapping, descending or negative."""
    with pytest.raises(ValueError, match="ranges"):
        joined(ranges)


def test_other_experiments_are_named() -> None:
    """With both values; problems only by the word."""
    one = rai.simulate(rai.table_problem(), rai.Butterscotch(), replications=1).experiment
    refuse_other_experiment(one, dataclasses.replace(one))
    with pytest.raises(ValueError, match=r"they differ in seed \(0 and 7\); merge only"):
        refuse_other_experiment(one, dataclasses.replace(one, seed=7))
    other = dataclasses.replace(one, problem=rai.table_problem(2))
    with pytest.raises(ValueError, match="they differ in problem; merge only"):
        refuse_other_experiment(one, other)
