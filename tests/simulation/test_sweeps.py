"""Where experiments lie along an axis, and what tells lines apart."""

import math
import re
from dataclasses import replace

import pytest

import rai_sim as rai
from rai_sim.simulation.sweeps import (
    abscissa,
    check_axis,
    distinct_places,
    family_of,
    swept_parameters,
    twice_at_a_place,
)
from rai_sim.study import Task

TASK = Task(
    "mine, n = 10, ratio = 0.5",
    rai.Study.grid([rai.table_problem()], [rai.Vanilla()], [0.01]).tasks[0].experiment,
    {"n": 10, "ratio": 0.5, "k": 3, "law": "bernoulli", "strict": True},
)
BY_HAND = Task("by hand", TASK.experiment)


def test_places_along_axes() -> None:
    """Delta, the number of arms, the bottleneck gap, and numeric parameters."""
    axes = ("delta", "n", "gap", "ratio", "k")
    assert [abscissa(TASK, axis) for axis in axes] == [0.01, 10.0, 0.25, 0.5, 3.0]


@pytest.mark.parametrize("axis", ["law", "strict", "other"])
def test_what_is_no_number_is_no_axis(axis: str) -> None:
    """Texts and truth values neither; the numbers that there are are named."""
    message = f"against is '{axis}', which instance 'mine.* or a parameter: k, n, ratio$"
    with pytest.raises(ValueError, match=message):
        abscissa(TASK, axis)


def test_a_single_cluster_has_no_gap() -> None:
    """It has nothing to be told apart."""
    problem = rai.coarse_ranking(rai.Bernoulli([0.5, 0.4]), (2,))
    task = rai.Study.grid([problem], [rai.Vanilla()], [0.01]).tasks[0]
    with pytest.raises(ValueError, match="a problem of a single cluster has an infinite one"):
        abscissa(task, "gap")


def test_one_cluster_is_one() -> None:
    """Not "1 clusters"."""
    problem = rai.coarse_ranking(rai.Bernoulli([0.5, 0.4]), (2,))
    task = Task("by hand", replace(TASK.experiment, problem=problem))
    assert family_of(task, "n") == "Bernoulli, 1 cluster, required 2"


def test_families_are_names_without_what_was_swept() -> None:
    """Of instances made by hand the law and what is asked; against delta the instance itself."""
    assert swept_parameters(TASK) == ["n", "ratio"]
    assert family_of(TASK, "n") == family_of(TASK, "ratio") == "mine"
    assert family_of(TASK, "delta") == TASK.instance
    assert swept_parameters(BY_HAND) == []
    assert family_of(BY_HAND, "n") == "Bernoulli, 3 clusters, required 1,0,0"
    assert family_of(BY_HAND, "gap") == "Bernoulli, clusters 3,5,2, required 1,0,0"


def test_an_axis_is_a_text() -> None:
    """An array would be compared with each name, and have no truth value."""
    assert check_axis("gap") == "gap"
    for wrong in (3, None, ["n"]):
        with pytest.raises(TypeError, match=r"^against is .*; give 'delta', 'n', 'gap' or a param"):
            check_axis(wrong)


def test_gaps_that_differ_by_rounding_are_one_place() -> None:
    """Whatever its size; numbers along other axes are as they were given; an infinite gap is one."""
    for gap in (0.25, 1e-3, 1e-9):
        here, there = (0.5 + gap) - 0.5, (0.3 + gap) - 0.3
        assert there != gap
        assert distinct_places([gap, here, there], "gap") == [min(gap, here, there)]
        assert twice_at_a_place([gap, 2.0 * gap, there], "gap") == max(gap, there)
    assert distinct_places([0.2, 0.1, 0.2001, math.inf, math.inf], "gap") == [
        0.1,
        0.2,
        0.2001,
        math.inf,
    ]
    assert distinct_places([1e6, 1e6 + 0.5], "n") == [1e6, 1e6 + 0.5]
    assert twice_at_a_place([3.0, 4.0, 3.0], "n") == 3.0
    assert twice_at_a_place([], "gap") is None


@pytest.mark.parametrize("axis", [[], None, 3])
def test_an_axis_is_a_name(axis: object) -> None:
    """Also what has no hash is refused by its value."""
    with pytest.raises(TypeError, match=re.escape(f"against is {axis}; give 'delta', 'n'")):
        abscissa(TASK, axis)  # type: ignore[arg-type]


def test_a_number_beyond_all_doubles_is_no_place() -> None:
    """An axis could not show it."""
    task = Task("mine", TASK.experiment, {"scale": 10**400})
    with pytest.raises(ValueError, match="instance 'mine' has no number for"):
        abscissa(task, "scale")
