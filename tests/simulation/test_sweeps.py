"""Where experiments lie along an axis, and what tells lines apart."""

from dataclasses import replace

import pytest

import rai_sim as rai
from rai_sim.simulation.sweeps import abscissa, check_axis, family_of, swept_parameters
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
