"""Small multiples: the same figure of each instance, on the same scales."""

import pickle
from typing import Any

import pytest
from figures import figure_of, legend_of, part, picture
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import rai_sim as rai
from rai_sim.plotting import calibration, distribution, mean_pulls, normalised_pulls, panels, paper
from rai_sim.study import StudyResults


def panels_of(ax: Axes) -> list[Axes]:
    """Return the panels behind an empty frame."""
    return [one for one in figure_of(ax).axes if one is not ax and one.get_title(loc="left")]


@pytest.mark.landing
@picture
def test_picture_of_panels(study: StudyResults) -> Figure:
    """Five instances, the last row not full."""
    return figure_of(panels(study, draw=normalised_pulls))


@pytest.mark.slow
@pytest.mark.slow
@picture
def test_picture_of_panels_in_one_column(study: StudyResults) -> Figure:
    """The same instances, two side by side."""
    with paper(columns=1):
        return figure_of(panels(study))


@pytest.mark.slow
@pytest.mark.slow
@picture
def test_picture_of_panels_in_a_callers_figure(study: StudyResults) -> Figure:
    """In the place of one of two axes, with the legend below them."""
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    panels(part(study, "two arms", 0.1, 0.01), left, by="delta", against="gap", columns=1)
    calibration(part(study, "top fifth, n = 10"), right)
    return figure


@pytest.mark.landing
def test_every_instance_has_a_panel(study: StudyResults) -> None:
    """With what the function draws of it alone; scales are shared, the legend is one."""
    ax = panels(study)
    made = panels_of(ax)
    names = list(dict.fromkeys(task.instance for task in study.tasks))
    assert [one.get_title(loc="left") for one in made] == names
    assert len({one.get_ylim() for one in made}) == len({one.get_xlim() for one in made}) == 1
    assert {one.get_yscale() for one in made} == {"log"}
    assert all(one.xaxis_inverted() for one in made)
    for name, panel in zip(names, made, strict=True):
        alone = mean_pulls(part(study, name))
        for line, other in zip(panel.get_lines(), alone.get_lines(), strict=True):
            assert line.get_xydata().tolist() == other.get_xydata().tolist()  # type: ignore[union-attr]
        assert panel.get_legend() is None
    assert legend_of(ax) == legend_of(mean_pulls(part(study, names[0])))


def test_panels_can_be_pickled(study: StudyResults) -> None:
    """Those of a last row that is not full, too."""
    ax = panels(study)
    assert len(panels_of(ax)) % 3
    again = pickle.loads(pickle.dumps(figure_of(ax)))
    assert [one.get_title(loc="left") for one in again.axes] == [
        one.get_title(loc="left") for one in figure_of(ax).axes
    ]


def test_scales_of_their_own(study: StudyResults) -> None:
    """Where they are asked for."""
    made = panels_of(panels(study, share=False))
    assert len({one.get_ylim() for one in made}) == len(made)


def test_algorithms_look_the_same_in_all(runs: list[rai.Result]) -> None:
    """Though not every panel has all of them."""
    own = rai.Vanilla(merging=False)
    problem = rai.table_problem(task=1)
    only = rai.simulate(problem, own, replications=50, seed=0)
    ax = panels(
        [
            runs[2],
            runs[1],
            rai.simulate(problem, rai.Vanilla(width="stitched"), replications=50, seed=0),
            only,
        ],
        draw=distribution,
    )
    colours: dict[Any, set[Any]] = {}
    for one in panels_of(ax):
        for line in one.get_lines():
            colours.setdefault(line.get_label(), set()).add(line.get_color())
    named = {label: found for label, found in colours.items() if not label.startswith("_")}
    assert all(len(found) == 1 for found in named.values())
    assert len({next(iter(found)) for found in named.values()}) == len(named) == 3


def test_panels_by_algorithm(runs: list[rai.Result]) -> None:
    """Options reach the function."""
    ax = panels(runs, by="algorithm", draw=distribution, columns=2, kind="histogram")
    titles = [one.get_title(loc="left") for one in panels_of(ax)]
    assert titles == ["Vanilla", "Vanilla (merging=False)", "Butterscotch", "LUCB"]
    assert not any("band" in label for label in legend_of(ax))


@pytest.mark.slow
def test_seeds_have_panels_of_their_own() -> None:
    """Two results of one problem that differ in their seed."""
    problem = rai.table_problem()
    some = [rai.simulate(problem, rai.Vanilla(), replications=20, seed=seed) for seed in (0, 1)]
    titles = [one.get_title(loc="left") for one in panels_of(panels(some, draw=distribution))]
    assert titles == ["r = 1,0,0, seed 0", "r = 1,0,0, seed 1"]


@pytest.mark.slow
def test_problems_of_one_name_have_panels_of_their_own() -> None:
    """Other means, the same question."""
    problems = [rai.best_arm(rai.Bernoulli([0.9, low])) for low in (0.1, 0.2)]
    some = [rai.simulate(one, rai.Vanilla(), replications=20, seed=0) for one in problems]
    titles = [one.get_title(loc="left") for one in panels_of(panels(some, draw=distribution))]
    assert titles == ["r = 1,0, no. 1", "r = 1,0, no. 2"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"by": "gap"}, "by is 'gap'; choose 'instance', 'delta', 'algorithm'"),
        ({"draw": 3}, "draw is 3; give a function"),
        ({"columns": 0}, "columns is 0"),
        ({"ax": Figure().add_axes((0, 0, 1, 1))}, "ax is in no grid of subplots"),
    ],
)
def test_bad_input(given: Any, words: str, runs: list[rai.Result]) -> None:
    """Name, value, remedy."""
    with pytest.raises((ValueError, TypeError), match=words):
        panels(runs, **given)


@pytest.mark.slow
def test_too_many_panels_are_refused() -> None:
    """More than a page holds."""
    problems = [rai.best_arm(rai.Bernoulli([0.9, 0.1 + k / 100])) for k in range(13)]
    some = [rai.simulate(one, rai.Butterscotch(), replications=2, seed=0) for one in problems]
    with pytest.raises(ValueError, match="results makes 13 panels; a figure shows at most 12"):
        panels(some, draw=distribution)
