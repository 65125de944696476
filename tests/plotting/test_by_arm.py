"""Pulls by arm in a study's figures: of whom, in how many replications."""

from dataclasses import replace
from pathlib import Path

import pytest
from figures import part

import rai_sim as rai
from rai_sim.plotting import by_arm
from rai_sim.plotting.choice import choose
from rai_sim.plotting.inputs import Case, cases_of
from rai_sim.plotting.style import own_axes
from rai_sim.study import StudyResults


@pytest.mark.landing
def test_figures_of_several_algorithms(study: StudyResults) -> None:
    """Of more than two arms: against gaps for both instances, as a map and as shares for the first,
    with words for the other."""
    drawings = list(by_arm.by_arm(cases_of(study), everything=False))
    assert [drawing.name for drawing in drawings] == ["pulls-by-gap"] * 2 + [
        "arm-map",
        "allocation",
    ]
    assert drawings[2].caption.startswith(
        "top fifth, n = 5, δ = 0.01: mean pulls of each arm, by algorithm, in replications that were "
        "run again for it. (1 of 2 such figures"
    )
    assert drawings[2].size[1] < drawings[3].size[1]
    assert not list(by_arm.by_arm(cases_of(part(study, "two arms")), everything=True))


def test_one_algorithm_has_no_map(study: StudyResults) -> None:
    """There is nothing to compare."""
    some = part(study, "top fifth", 0.1).select(algorithm="vanilla")
    names = {drawing.name for drawing in by_arm.by_arm(cases_of(some), everything=True)}
    assert names == {"pulls-by-gap", "allocation"}


def test_replications_are_run_again_once(
    study: StudyResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three figures of the same cases share their pulls by arm."""
    counted: list[Case] = []
    count = Case.pulls_by_arm.__globals__["arm_pulls"]

    def counting(result: rai.Result, number: int) -> object:
        counted.append(result)  # type: ignore[arg-type]
        return count(result, number)

    monkeypatch.setattr("rai_sim.plotting.inputs.arm_pulls", counting)
    some = part(study, "top fifth, n = 5", 0.1).select(algorithm=["vanilla", "butterscotch"])
    for drawing in by_arm.by_arm(cases_of(some), everything=False):
        drawing.draw(own_axes())
    assert len(counted) == 2


def test_lucb_is_left_out_where_it_is_too_dear(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Pulls by arm of fewer than 30 replications are not drawn, and captions and titles say of whom
    and why; else at least 30 are run."""
    results = rai.Study.grid(
        {"x": rai.table_problem(task=2)}, [rai.Vanilla(), rai.LUCB()], [0.1], replications=40
    ).run(tmp_path / "store")
    case = next(case for case in cases_of(results) if case.label == "LUCB")
    assert by_arm.replications_again(replace(case, mean=0.0)) == 100
    monkeypatch.setattr(by_arm, "_PULLS", 2.0 * case.mean)
    assert by_arm.replications_again(case) == 30
    assert "Without" not in next(
        drawing.caption for drawing in choose(results) if drawing.name == "pulls-by-gap"
    )
    monkeypatch.setattr(by_arm, "_MOST_PULLS", 29.0 * case.mean)
    drawing = next(drawing for drawing in choose(results) if drawing.name == "pulls-by-gap")
    assert (
        "Without LUCB, of which 30 replications, the fewest that make an interval, take too long"
        in drawing.caption
    )
    ax = drawing.draw(own_axes())
    assert ax.get_title(loc="left") == "x, δ = 0.1, without LUCB"
    assert not [label for label in ax.get_legend_handles_labels()[1] if "LUCB" in label]
    alone = choose(results.select(algorithm="lucb"))
    assert "pulls-by-gap" not in [drawing.name for drawing in alone]
    assert "Pulls by arm are not drawn: 30 replications" in next(
        drawing.caption for drawing in alone if drawing.name == "histogram"
    )
